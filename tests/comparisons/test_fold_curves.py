from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import scorespace as ss
from scorespace.comparisons.fold_curves import average_over_folds
from scorespace.curves import calibration, hull, pr, rejection, roc, smooth
from scorespace.curves.brier import brier_curve, interventions_avoided, net_benefit, standardised_net_benefit
from scorespace.curves.cost import cost_curve
from scorespace.curves.gain import gain, lift_curve
from scorespace.curves.macro_average import average_roc
from scorespace.errors import CurveError
from scorespace.tables import score_table
from scorespace.tables.paired import pair_table


def folded(size=200, folds=5, seed=0):
    draws = np.random.default_rng(seed)
    truth = draws.integers(0, 2, size)
    score = np.round(draws.normal(size=size) + truth, 1)
    fold = draws.integers(0, folds, size).astype(np.int32)  # of different sizes
    return replace(pair_table(truth, {"nb": score}), fold=fold), truth, score, fold


def test_vertical_is_the_mean_of_the_curves_at_each_rate():
    pairs, truth, score, fold = folded()
    found = average_over_folds(pairs, "nb", roc)
    curves = [roc(score_table(truth[fold == k], score[fold == k])) for k in range(5)]
    each = np.array([[curve.tpr_at(x) for x in found.curve.x] for curve in curves])
    assert found.curve.y == pytest.approx(each.mean(axis=0))
    assert found.curve.area() == pytest.approx(average_roc(curves).area(), abs=0.01)
    wide = stats.t.ppf(0.975, 4) * np.sqrt(1 / 5 + 1 / 4) * each.std(axis=0, ddof=1)
    assert found.band.low == pytest.approx(np.clip(each.mean(axis=0) - wide, 0, 1))
    assert found.band.high == pytest.approx(np.clip(each.mean(axis=0) + wide, 0, 1))


def test_by_threshold_is_the_mean_of_both_rates():
    pairs, truth, score, fold = folded()
    found = average_over_folds(pairs, "nb", roc, "threshold")
    for place in (0, 7, found.curve.x.size - 1):
        at = found.curve.threshold[place]
        rates = [[np.mean(score[(fold == k) & (truth == label)] >= at) for label in (0, 1)] for k in range(5)]
        assert (found.curve.x[place], found.curve.y[place]) == pytest.approx(tuple(np.mean(rates, axis=0)))


def test_precision_and_recall():
    pairs, truth, score, fold = folded()
    found = average_over_folds(pairs, "nb", pr)
    curves = [pr(score_table(truth[fold == k], score[fold == k])) for k in range(5)]
    expected = np.mean([curve.y[np.flatnonzero(curve.x == 0)[-1]] for curve in curves])
    assert found.curve.y[0] == pytest.approx(expected)
    assert np.isfinite(average_over_folds(pairs, "nb", pr, "threshold").curve.y[1:]).all()


def test_folds_of_one_class_are_left_out_and_counted():
    pairs, truth, _, fold = folded()
    alone = np.where((fold == 2) & (truth == 1), 1, fold).astype(np.int32)
    found = average_over_folds(replace(pairs, fold=alone), "nb", roc)
    assert (found.folds, found.undefined) == (5, 1)
    assert repr(found).startswith("roc, averaged by vertical over 5 folds, 1 undefined; roc band: 95 % pointwise")


@pytest.mark.parametrize(
    "kind", [gain, lift_curve, cost_curve, brier_curve, net_benefit, standardised_net_benefit, interventions_avoided]
)
def test_other_curves_are_the_mean_of_those_of_the_folds(kind):
    """At the scores of the folds, where each curve has a point of its own, by the curve's own function."""
    pairs, truth, score, fold = folded()
    pairs = replace(pair_table(truth, {"nb": _probable(score)}), fold=fold)
    found = average_over_folds(pairs, "nb", kind)
    tables = [score_table(truth[fold == k], _probable(score)[fold == k]) for k in range(5)]
    for place in (20, 50, 80):
        x = found.curve.x[place]
        assert found.curve.y[place] == pytest.approx(np.mean([_own(kind, table, x) for table in tables]))
    assert np.all(found.band.low <= found.curve.y + 1e-12)


def _probable(score):
    return np.round(1 / (1 + np.exp(-score)), 3)


def _own(kind, table, x):
    """A curve at a place, from its definition on the cases of one fold."""
    at = table.at(x)
    tp, fp, fn, tn = (float(getattr(at, name)) for name in ("tp", "fp", "fn", "tn"))
    total = tp + fp + fn + tn
    if kind in (gain, lift_curve):
        own = kind(table)
        return np.interp(x, own.x, own.y)
    if kind is cost_curve:
        c = roc(table)
        return np.min(x * (1 - c.y) + (1 - x) * c.x)
    if kind is brier_curve:
        return 2 * ((1 - x) * fn + x * fp) / total
    if kind is interventions_avoided:
        return (tn - fn * (1 - x) / x) / total
    benefit = (tp - fp * x / (1 - x)) / total
    return benefit if kind is net_benefit else benefit / ((tp + fn) / total)


@pytest.mark.parametrize("kind", [hull, smooth, rejection])
def test_traced_curves_are_the_mean_of_those_of_the_folds(kind):
    _, truth, score, fold = folded()
    pairs = replace(pair_table(truth, {"nb": _probable(score)}), fold=fold)
    found = average_over_folds(pairs, "nb", kind)
    own = [kind(score_table(truth[fold == k], _probable(score)[fold == k])) for k in range(5)]
    assert found.curve.y == pytest.approx(np.mean([np.interp(found.curve.x, one.x, one.y) for one in own], axis=0))


def test_gain_and_lift_by_threshold():
    pairs, truth, score, fold = folded()
    found = average_over_folds(pairs, "nb", gain, "threshold")
    at = found.curve.threshold[7]
    shares = [np.mean(score[fold == k] >= at) for k in range(5)]
    reached = [np.mean(score[(fold == k) & (truth == 1)] >= at) for k in range(5)]
    assert (found.curve.x[7], found.curve.y[7]) == pytest.approx((np.mean(shares), np.mean(reached)))
    assert average_over_folds(pairs, "nb", lift_curve, "threshold").curve.y[-1] == pytest.approx(1.0)


def test_the_ratio_of_a_run_widens_the_band():
    pairs, *_ = folded()
    usual, known = (
        average_over_folds(pairs, "nb", roc).band,
        average_over_folds(replace(pairs, ratio=1.0), "nb", roc).band,
    )
    place = 30
    wide = [(one.y[place] - one.low[place]) for one in (usual, known)]
    assert wide[1] / wide[0] == pytest.approx(np.sqrt((1 / 5 + 1) / (1 / 5 + 1 / 4)))


def test_one_class_of_several_and_numbers():
    draws = np.random.default_rng(1)
    truth, fold = draws.integers(0, 3, 150), np.arange(150) % 3
    scores = draws.random((150, 3)) + np.eye(3)[truth]
    columns = {f"p_{k}": scores[:, k] for k in range(3)}
    names = {"nb": {str(k): f"p_{k}" for k in range(3)}}
    held = ss.evaluate({"y": truth, "fold": fold, **columns}, truth="y", scores=names, fold="fold")
    found = held.average_curve("roc", "nb[1]")
    own = [roc(score_table(truth[fold == k] == 1, scores[fold == k, 1])) for k in range(3)]
    each = np.array([[curve.tpr_at(x) for x in found.curve.x] for curve in own])
    assert found.curve.y == pytest.approx(each.mean(axis=0))
    number = draws.normal(size=150)
    said = number + draws.normal(size=150)
    held = ss.evaluate({"y": number, "fold": fold, "m": said}, truth="y", predictions="m", fold="fold")
    over = held.average_curve("rroc", "m")
    curves = [ss.rroc(ss.residual_table(number[fold == k], said[fold == k])) for k in range(3)]
    assert over.curve.x[-1] == pytest.approx(min(one.x.max() for one in curves))
    assert over.curve.y == pytest.approx(np.mean([np.interp(over.curve.x, one.x, one.y) for one in curves], axis=0))


def test_what_is_not_averaged():
    pairs, *_ = folded()
    with pytest.raises(CurveError) as caught:
        average_over_folds(pairs, "nb", calibration)
    assert caught.value.problem == "calibration is not averaged over folds: its points differ from fold to fold."
    with pytest.raises(CurveError) as caught:
        average_over_folds(pairs, "nb", cost_curve, "threshold")
    assert caught.value.problem == "cost is not averaged by threshold: its points do not belong to thresholds."
    with pytest.raises(CurveError, match="roc is averaged"):
        average_over_folds(pairs, "nb", roc, normalised=False)
    with pytest.raises(CurveError, match="average='sideways'"):
        average_over_folds(pairs, "nb", roc, "sideways")
    with pytest.raises(CurveError, match="fewer than two folds"):
        average_over_folds(replace(pairs, fold=np.zeros_like(pairs.fold)), "nb", roc)
