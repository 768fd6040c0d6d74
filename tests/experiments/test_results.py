import math

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.naive_bayes import GaussianNB

import scorespace as ss
from experiments.runs import IRIS, folded, numbers, summary
from scorespace.errors import DataError, MeasureError, ScoreSpaceError
from scorespace.experiments.results import benchmark_summary, predictions, share_tested
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
    ratio = share_tested(open_run(folded()), "cancer", "tree")
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
    """Twice the answers on the same cases are not twice the cases."""
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
    given = predictions(run, "iris")
    assert np.unique(given.columns["fold"]).size == 2
    assert [one.code for one in given.notes] == ["SS073"]
    assert benchmark_summary(run).result("iris", "nb").over.folds == 2


def test_what_cannot_be_asked():
    with pytest.raises(ScoreSpaceError, match="holds several data sets"):
        ss.evaluate(folded())
    with pytest.raises(ScoreSpaceError, match="a run knows its own"):
        ss.evaluate(folded(), dataset="iris", truth="y")
    with pytest.raises(ScoreSpaceError, match="is for the directory of a run"):
        ss.evaluate({"y": [1, 0], "s": [1, 0]}, truth="y", scores="s", dataset="iris")
    with pytest.raises(ScoreSpaceError, match="no data set 'irys'"):
        ss.evaluate(folded(), dataset="irys")
    with pytest.raises(ScoreSpaceError, match="no learner 'forest'"):
        benchmark_summary(folded(), learners=["forest"])
    with pytest.raises(MeasureError, match="suits no data set"):
        summary("mae")
    with pytest.raises(MeasureError, match="one measure"):
        summary("auc, brier")
    with pytest.raises(DataError, match="holds no run"):
        benchmark_summary("nowhere")
