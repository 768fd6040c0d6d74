"""The report of the published experiment, by brute force: fold by fold with scikit-learn's weighted AUC."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score

from scorespace.errors import DataError
from scorespace.experiments.data import Dataset
from scorespace.experiments.run import benchmark
from scorespace.experiments.smooth import Cell, SmoothReport, _findings, smooth_report

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
    cells = [Cell(f"d{k}", name, 10, 0, *(0.5 + source.random(4) / 4)) for k in range(12) for name in ("one", "two")]
    report = SmoothReport(tuple(cells), ())
    found = list(_findings(report))
    assert [one.claim for one in found] == [
        "smAUC of one varies less over the folds than its AUC",
        "smAUC of one varies less over the folds than its AUC, for its distance from ½",
        "smAUC of two varies less over the folds than its AUC",
        "smAUC of two varies less over the folds than its AUC, for its distance from ½",
        "smAUC tells one and two further apart than AUC",
        "smAUC tells one and two further apart than AUC, in standard deviations",
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
    with pytest.raises(DataError, match="no data set with two classes"):
        smooth_report(run)
