from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from scorespace.comparisons.averaged import average
from scorespace.curves import calibration, gain, pr, roc
from scorespace.curves.classes import average_roc
from scorespace.errors import CurveError
from scorespace.tables import score_table
from scorespace.tables.pair import pair_table


def folded(size=200, folds=5, seed=0):
    draws = np.random.default_rng(seed)
    truth = draws.integers(0, 2, size)
    score = np.round(draws.normal(size=size) + truth, 1)
    fold = draws.integers(0, folds, size).astype(np.int32)  # of different sizes
    return replace(pair_table(truth, {"nb": score}), fold=fold), truth, score, fold


def test_vertical_is_the_mean_of_the_curves_at_each_rate():
    pairs, truth, score, fold = folded()
    found = average(pairs, "nb", roc)
    curves = [roc(score_table(truth[fold == k], score[fold == k])) for k in range(5)]
    each = np.array([[curve.tpr_at(x) for x in found.curve.x] for curve in curves])
    assert found.curve.y == pytest.approx(each.mean(axis=0))
    assert found.curve.area() == pytest.approx(average_roc(curves).area(), abs=0.01)
    wide = stats.t.ppf(0.975, 4) * np.sqrt(1 / 5 + 1 / 4) * each.std(axis=0, ddof=1)
    assert found.band.low == pytest.approx(np.clip(each.mean(axis=0) - wide, 0, 1))
    assert found.band.high == pytest.approx(np.clip(each.mean(axis=0) + wide, 0, 1))


def test_by_threshold_is_the_mean_of_both_rates():
    pairs, truth, score, fold = folded()
    found = average(pairs, "nb", roc, "threshold")
    for place in (0, 7, found.curve.x.size - 1):
        at = found.curve.threshold[place]
        rates = [[np.mean(score[(fold == k) & (truth == label)] >= at) for label in (0, 1)] for k in range(5)]
        assert (found.curve.x[place], found.curve.y[place]) == pytest.approx(tuple(np.mean(rates, axis=0)))


def test_precision_and_recall():
    pairs, truth, score, fold = folded()
    found = average(pairs, "nb", pr)
    curves = [pr(score_table(truth[fold == k], score[fold == k])) for k in range(5)]
    expected = np.mean([curve.y[np.flatnonzero(curve.x == 0)[-1]] for curve in curves])
    assert found.curve.y[0] == pytest.approx(expected)
    assert np.isfinite(average(pairs, "nb", pr, "threshold").curve.y[1:]).all()


def test_folds_of_one_class_are_left_out_and_counted():
    pairs, truth, _, fold = folded()
    alone = np.where((fold == 2) & (truth == 1), 1, fold).astype(np.int32)
    found = average(replace(pairs, fold=alone), "nb", roc)
    assert (found.folds, found.undefined) == (5, 1)
    assert repr(found).startswith("roc, averaged by vertical over 5 folds, 1 undefined; roc band: 95 % at each point")


def test_what_is_not_averaged():
    pairs, *_ = folded()
    with pytest.raises(CurveError, match="gain is not averaged"):
        average(pairs, "nb", gain)
    with pytest.raises(CurveError, match="calibration is not averaged"):
        average(pairs, "nb", calibration)
    with pytest.raises(CurveError, match="no way to"):
        average(pairs, "nb", roc, "sideways")
    with pytest.raises(CurveError, match="fewer than two folds"):
        average(replace(pairs, fold=np.zeros_like(pairs.fold)), "nb", roc)
