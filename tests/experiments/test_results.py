import math
import sys
from functools import cache

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

import scorespace as ss
from helpers.runs import CANCER, IRIS, folded, numbers, summary
from scorespace.errors import DataError, MeasureError, ScoreSpaceError
from scorespace.experiments.results import benchmark_summary
from scorespace.experiments.run_predictions import prediction_columns_of_run, ratio_of_test_to_training
from scorespace.experiments.store import open_run


def by_split(dataset, learner, score, part="test"):
    """A measure in every split, straight from the predictions."""
    said = open_run(folded()).predictions(dataset, learner, part=part)
    found = []
    for repeat in range(2):
        for fold in range(3):
            chosen = (said["repeat"] == repeat) & (said["fold"] == fold)
            columns = np.stack([said[name][chosen] for name in said if name.startswith("p_")], axis=-1)
            found.append(score(said["truth"][chosen], columns))
    return np.array(found)


def area(truth, scores):
    if scores.shape[1] == 2:
        return metrics.roc_auc_score(truth == "1", scores[:, 1])
    return metrics.roc_auc_score(truth, scores, multi_class="ovo")


def test_means_over_folds_and_pooled():
    found = summary("auc[hand_till]")
    one = found.result("iris", "naive_bayes").over
    each = by_split("iris", "naive_bayes", area)
    assert one.mean == pytest.approx(each.mean())
    assert one.sd == pytest.approx(each.std(ddof=1))
    assert (one.folds, one.undefined) == (6, 0)
    said = open_run(folded()).predictions("iris", "naive_bayes", part="test")
    whole = area(said["truth"], np.stack([said[name] for name in said if name.startswith("p_")], axis=-1))
    assert one.pooled == pytest.approx(whole)


def test_decisions_are_by_the_highest_score():
    found = summary("acc")
    for dataset in ("cancer", "iris"):
        names = open_run(folded()).of(dataset).classes
        each = by_split(dataset, "tree", lambda truth, p, n=names: np.mean(np.array(n)[p.argmax(axis=1)] == truth))
        assert found.result(dataset, "tree").over.mean == pytest.approx(each.mean())
    rate = benchmark_summary(folded(), measure="tpr", datasets=["cancer"]).result("cancer", "tree").over.mean
    each = by_split("cancer", "tree", lambda truth, p: np.mean((p[:, 1] > p[:, 0])[truth == "1"]))
    assert rate == pytest.approx(each.mean())


def test_the_corrected_t_is_the_formula():
    found = benchmark_summary(folded(), measure="auc", datasets=["cancer"])
    (one,) = found.comparisons["cancer"]
    difference = by_split("cancer", "naive_bayes", area) - by_split("cancer", "tree", area)
    ratio = ratio_of_test_to_training(open_run(folded()), "cancer", "tree")
    assert ratio == pytest.approx(1 / 2, abs=0.01)
    t = difference.mean() / math.sqrt((1 / 6 + ratio) * difference.var(ddof=1))
    assert one.statistic == pytest.approx(t, rel=1e-6)
    assert one.p == pytest.approx(2 * stats.t.sf(abs(t), 5), rel=1e-6)


def test_ranks_are_those_of_the_means():
    found = summary()
    assert found.spec.canonical == "auc[hand_till]"
    assert found.ranking is not None
    means = np.array([[found.result(d, x).over.mean for x in found.learners] for d in found.datasets])
    assert [*found.ranking.average_ranks.values()] == pytest.approx(stats.rankdata(-means, axis=1).mean(axis=0))
    assert found.best("cancer") == "naive_bayes"
    assert found.to_dict()["ranking"]["data"]["datasets"] == 2


def test_training_stands_beside_test():
    found = summary("auc[hand_till]")
    fit = found.result("cancer", "tree").fit
    assert fit.training == pytest.approx(by_split("cancer", "tree", area, part="train").mean())
    assert fit.test == pytest.approx(by_split("cancer", "tree", area).mean())
    assert any(one.code == "SS070" and "tree overfits" in one.text for one in found.notes)


def test_one_data_set_is_evaluated_like_any_predictions():
    found = ss.evaluate(folded(), dataset="cancer", measures="auc")
    assert found.models.name == "folded: cancer"
    assert found == ss.evaluate(open_run(folded()), dataset="cancer", measures="auc")
    each = by_split("cancer", "tree", area)
    over = {one.model: one for one in found.over_folds}
    assert over["tree"].mean == pytest.approx(each.mean())
    (one,) = found.compare()
    assert one.test == "corrected t"
    codes = [one.code for one in found.notes]
    assert "SS016" in codes
    assert "SS070" in codes
    assert not any("too narrow" in one.text for one in found.notes)


def test_intervals_draw_cases_and_not_answers():
    """Twice the predictions for the same cases are not twice the cases."""
    found = ss.evaluate(folded(), dataset="cancer", measures="auc")
    said = open_run(folded()).predictions("cancer", "naive_bayes", part="test")
    alone = ss.evaluate(
        {"y": said["truth"], "p": said["p_1"]},
        truth="y",
        scores="p",
        positive="1",
        measures="auc",
        interval="bootstrap",  # as with groups
    )
    wide, narrow = (one.summary[0].high - one.summary[0].low for one in (found, alone))
    assert found.summary[0].model == "naive_bayes"
    assert wide > 1.2 * narrow


def test_numbers():
    found = benchmark_summary(numbers())
    assert str(found.spec) == "r2"
    assert found.best("line") == "linear"
    assert found.ranking is None
    assert found.words.startswith("linear")
    assert ss.evaluate(numbers()).over_folds[0].folds == 4


class Odd(GaussianNB):
    """Fails where the first row is not among those to learn from."""

    def fit(self, features, truth):
        if not (features == IRIS[0][0]).all(axis=1).any():
            raise ValueError("odd")
        return super().fit(features, truth)


def test_learners_that_failed_somewhere_share_what_all_finished(tmp_path):
    path = tmp_path / "run"
    ss.benchmark({"nb": GaussianNB(), "odd": Odd()}, {"iris": IRIS}, "3", path, workers=1)
    run = open_run(path)
    given = prediction_columns_of_run(run, "iris")
    assert np.unique(given.columns["fold"]).size == 2
    assert [one.code for one in given.notes] == ["SS073"]
    assert benchmark_summary(run).result("iris", "nb").over.folds == 2


def test_what_cannot_be_asked():
    with pytest.raises(ScoreSpaceError, match="several data sets"):
        ss.evaluate(folded())
    with pytest.raises(ScoreSpaceError, match="truth=… names a column"):
        ss.evaluate(folded(), dataset="iris", truth="y")
    with pytest.raises(ScoreSpaceError, match="is for the directory of a run"):
        ss.evaluate({"y": [1, 0], "s": [1, 0]}, truth="y", scores="s", dataset="iris")
    with pytest.raises(ScoreSpaceError, match="data set 'irys'"):
        ss.evaluate(folded(), dataset="irys")
    with pytest.raises(ScoreSpaceError, match="no learner 'forest'"):
        benchmark_summary(folded(), learners=["forest"])
    with pytest.raises(MeasureError, match="mae applies"):
        summary("mae")
    with pytest.raises(MeasureError, match="one measure"):
        summary("auc, brier")
    with pytest.raises(
        DataError,
        match=("run directory"),
    ):
        benchmark_summary("nowhere")


# --- what is not folds


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """Runs of one data set by notations that are no plain folds."""
    draws = np.random.default_rng(3)
    truth = np.arange(40) % 2
    data = ss.dataset(
        {"x": truth + draws.normal(size=40), "z": draws.normal(size=40), "g": np.arange(40) // 8, "y": truth},
        "y",
        name="d",
        groups=["g"],
    )

    @cache
    def made(how):
        path = tmp_path_factory.mktemp("odd") / "run"
        ss.benchmark(["naive_bayes", "logistic", "majority"], data, how, path, workers=1)
        return path

    return made


def test_cases_tested_alone_are_one_sample(odd):
    """Within a fold of one case there is no area; the answers of all fits are compared as those of one model."""
    held = ss.evaluate(odd("loo"))
    assert held.over_folds == ()
    assert [one.text for one in held.notes if one.code == "SS019"] == [
        (
            "every case was tested alone (loo), so predictions of 40 fits are pooled: a learner that "
            "predicts class shares ranks each case against its own class."
        )
    ]
    assert held.measures("auc").rows()[1]["value"] == 0  # the majority of the others is never one's own
    assert math.isfinite(held.compare("naive_bayes", "logistic").rows()[0]["p"])
    found = ss.benchmark_summary(odd("loo"))
    assert found.result("d", "majority").over.mean == 0
    assert repr(found.result("d", "majority").over) == "majority auc 0.000"


def test_one_sample_held_out_is_no_fold(odd):
    held = ss.evaluate(odd("holdout:0.4"))
    assert held.over_folds == ()
    assert not [one for one in held.notes if one.code == "SS019"]
    assert (
        ss.benchmark_summary(odd("holdout:0.4"))
        .comparisons["d"]
        .words.startswith("logistic and majority: there is only one fold, so its variance is unknown.")
    )


def test_groups_left_out_in_pairs_are_repeats(odd):
    """Each case is tested with every other group: its answers are drawn together, and no case is taken for four."""
    held = ss.evaluate(odd("lpgo:2:g"))
    assert held.models.pairs.group is not None
    assert np.unique(held.models.pairs.group).size == 5
    assert ss.benchmark_summary(odd("lpgo:2:g")).result("d", "logistic").values.shape == (10, 1)


@pytest.mark.parametrize("how", ["logo:g", "2x3", "holdout:0.4", "loo"])
def test_a_run_knows_which_rows_belong_together(odd, how):
    """The groups of the data are drawn whole for its intervals, however rows were split: the same as by hand."""
    run = ss.evaluate(odd(how))
    said = run.models.pairs
    answers = ss.open_run(odd(how)).predictions("d", "logistic", part="test")
    assert answers["group"].tolist() == (answers["row"] // 8).tolist()
    columns = {"y": answers["truth"], "logistic": answers["p_1"], "g": answers["row"] // 8}
    by_hand = ss.evaluate(columns, truth="y", scores="logistic", group="g", positive="1")
    mine, other = (one.measures("brier", model="logistic")[0] for one in (run, by_hand))
    assert (mine.value, mine.low, mine.high) == pytest.approx((other.value, other.low, other.high))
    assert np.unique(said.group).size == np.unique(answers["row"] // 8).size


@pytest.mark.parametrize(("how", "ratio"), [("lpgo:2:g", 2 / 3), ("logo:g", 1 / 4), ("3xholdout:0.4", 2 / 3)])
def test_comparisons_know_the_ratio_of_the_run(odd, how, ratio):
    """The same p from `compare` and from the summary: t = d̄ / √((1/J + n_te/n_tr) s²) of the run's own splits."""
    held, summed = ss.evaluate(odd(how)), ss.benchmark_summary(odd(how))
    assert held.models.pairs.ratio == pytest.approx(ratio)
    one, other = (summed.result("d", name).values.ravel() for name in ("logistic", "naive_bayes"))
    gaps = one - other
    t = gaps.mean() / np.sqrt((1 / gaps.size + ratio) * gaps.var(ddof=1))
    wanted = 2 * stats.t.sf(abs(t), gaps.size - 1)
    pair = next(one for one in summed.comparisons["d"] if {one.a, one.b} == {"logistic", "naive_bayes"})
    assert pair.p == pytest.approx(wanted)
    assert held.compare("logistic", "naive_bayes", test="corrected_t").rows()[0]["p"] == pytest.approx(wanted)


# --- learners that fail


class Fails(ClassifierMixin, BaseEstimator):
    """It fails always, or where the first training row is above a limit, or leaves the process."""

    def __init__(self, above=-np.inf, leaves=False):
        self.above, self.leaves = above, leaves

    def fit(self, X, y):  # noqa: N803
        if self.leaves:
            sys.exit(3)
        if X[0, 0] > self.above:
            raise RuntimeError("no \x1b[31mluck")
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):  # noqa: N803
        high = 1 / (1 + np.exp(-X[:, 0]))
        return np.stack([1 - high, high], axis=1)


def test_who_always_fails_is_left_out_and_told(tmp_path):
    learners = {"nb": "naive_bayes", "never": Fails(), "gone": Fails(leaves=True)}
    run = ss.benchmark(learners, {"cancer": CANCER}, "2", tmp_path / "r", workers=1)
    assert {one["error"] for one in run.errors} == {"RuntimeError: no \\x1b[31mluck", "SystemExit: 3"}
    held = ss.evaluate(run.path)
    assert list(held.models) == ["nb"]
    told = [f"every fit of {name} on cancer failed, so it is excluded." for name in ("gone", "never")]
    assert [one.text for one in held.notes if one.code == "SS073"] == told
    found = ss.benchmark_summary(run)
    assert found.learners == ("nb",)
    assert [one.text for one in found.notes if one.code == "SS073"] == told


def test_repeats_that_lost_a_fold_are_still_compared(tmp_path):
    features = np.random.default_rng(0).normal(size=(60, 2))
    data = {"d": (features, np.arange(60) % 2)}
    run = ss.benchmark({"nb": "naive_bayes", "some": Fails(0.3)}, data, "2x3", tmp_path / "r", workers=1)
    lost = len(run.errors)
    assert 0 < lost < 5
    found = ss.benchmark_summary(run)
    assert found.result("d", "nb").values.size == 6 - lost
    assert math.isfinite(ss.evaluate(run.path).compare("nb", "some").rows()[0]["p"])


def test_names_that_differ_by_case_alone(tmp_path):
    features, codes = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    data = {"d": (features, np.array(["x", "X"])[codes])}
    run = ss.benchmark({"A": "naive_bayes", "a": "majority"}, data, "2", tmp_path / "r", workers=1)
    said = run.predictions("d", "A")
    assert said["p_x"] + said["p_X"] == pytest.approx(np.ones(60))
    assert [*ss.evaluate(run.path).models] == ["A", "a"]
