import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics

import scorespace as ss
from scorespace.comparisons import folds
from scorespace.comparisons.fold_means import over_folds, summed_up
from scorespace.comparisons.folds import by_fold
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.tables.pair import pair_table

DRAWS = np.random.default_rng(4)
TRUTH = DRAWS.integers(0, 2, 300)
SCORE = np.round(DRAWS.normal(size=300) + TRUTH + np.repeat([0, 1, 2], 100), 2)  # each fold on a scale of its own
FOLD = np.repeat([0, 1, 2], 100).astype(np.int32)


def test_mean_and_pooled_are_other_numbers():
    pairs = replace(pair_table(TRUTH, {"nb": SCORE}), fold=FOLD)
    (found,) = over_folds(pairs, {"nb": [parse("auc")]})
    each = [metrics.roc_auc_score(TRUTH[k == FOLD], SCORE[k == FOLD]) for k in range(3)]
    assert found.mean == pytest.approx(np.mean(each))
    assert found.sd == pytest.approx(np.std(each, ddof=1))
    assert found.pooled == pytest.approx(metrics.roc_auc_score(TRUTH, SCORE))
    assert found.pooled < found.mean - 0.02
    assert repr(found) == f"nb auc {found.text} (mean over 3 folds), pooled {found.pooled:.3f}"


def test_undefined_folds_are_counted_and_left_out():
    found = summed_up("nb", parse("auc"), np.array([[0.5, math.nan], [0.7, math.nan]]), 0.6)
    assert (found.mean, found.folds, found.undefined) == (pytest.approx(0.6), 4, 2)
    nothing = summed_up("nb", parse("auc"), np.full((2, 2), math.nan), 0.6)
    assert (nothing.text, nothing.undefined) == ("–", 4)
    assert nothing.row()["mean"] is None


def test_without_folds_there_is_nothing():
    pairs = pair_table(TRUTH, {"nb": SCORE})
    assert over_folds(pairs, {"nb": [parse("auc")]}) == ()
    assert over_folds(None, {}) == ()
    assert over_folds(replace(pairs, fold=np.zeros_like(FOLD)), {"nb": [parse("auc")]}) == ()


def test_in_parts_it_is_the_same(monkeypatch):
    repeat = np.tile([0, 1, 2], 100).astype(np.int32)
    for given in ({"nb": SCORE}, {"nb": SCORE, "b": SCORE**2}):
        pairs = replace(pair_table(TRUTH, given), fold=FOLD, repeat=repeat)
        request = bind(parse("auc"), pairs.tables[0])
        whole = by_fold(pairs, "nb", request)
        monkeypatch.setattr(folds, "_CELLS", 10)
        assert by_fold(pairs, "nb", request) == pytest.approx(whole)
        monkeypatch.undo()


def test_an_evaluation_tells_both():
    data = {"y": TRUTH, "nb": SCORE, "fold": FOLD}
    found = ss.evaluate(data, truth="y", scores="nb", fold="fold", measures="auc, ks")
    assert [(one.model, str(one.spec)) for one in found.over_folds] == [("nb", "auc"), ("nb", "ks")]
    assert found.to_dict()["folds"][0]["pooled"] == pytest.approx(metrics.roc_auc_score(TRUTH, SCORE))
    assert "mean ± sd" in repr(found)
    assert "folds" not in ss.evaluate(data, truth="y", scores="nb").to_dict()
