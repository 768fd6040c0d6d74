"""Rejection: accuracy on the cases that are kept, the area of that curve, and Chow's rule."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from laws.strategies import samples
from scorespace.costs import Condition, CostMatrix
from scorespace.curves import chow, rejection
from scorespace.curves.rejection import margin_table, multiclass_chow
from scorespace.errors import ConditionError, ScoreError
from scorespace.tables import class_table, score_table

some = settings(max_examples=50)
eighths = st.integers(0, 8).map(lambda k: k / 8)  # exact distances, many ties


def correct(sample, at):
    return (np.asarray(sample.score) >= at) == np.asarray(sample.truth)


@given(samples(score=eighths), eighths)
@some
def test_accuracy_of_the_kept_by_hand(sample, at):
    right, weight = correct(sample, at), np.asarray(sample.weight)
    margin = np.abs(np.asarray(sample.score) - at)
    kept = [margin >= least for least in np.unique(margin)]
    curve = rejection(sample.table(), at)
    assert_allclose(curve.x, [1 - weight[k].sum() / weight.sum() for k in kept], atol=1e-12)
    assert_allclose(curve.y, [np.average(right[k], weights=weight[k]) for k in kept], atol=1e-12)
    assert_allclose(curve.threshold, np.unique(margin))


def areas(right, margin):
    """AURC by its definition, for each order of the cases in which the more certain come first."""
    n = len(right)
    for order in permutations(range(n)):
        if all(margin[a] >= margin[b] for a, b in pairwise(order)):
            errors = np.cumsum([not right[i] for i in order])
            yield (errors / np.arange(1, n + 1)).mean()


@given(st.lists(st.tuples(st.integers(0, 1), eighths), min_size=1, max_size=6))
@some
def test_area_is_the_mean_over_all_orders_within_ties(cases):
    truth, score = zip(*cases, strict=True)
    right = [(s >= 0.5) == y for s, y in zip(score, truth, strict=True)]
    margin = [abs(s - 0.5) for s in score]
    found = rejection(score_table(truth, score, positive=1)).area()
    assert found == pytest.approx(np.mean(list(areas(right, margin))), abs=1e-12)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=30))
@some
def test_area_without_ties_is_its_definition(truth):
    score = 0.5 + np.arange(len(truth), 0, -1) / 100  # falling margins, all decided positive
    errors = np.cumsum([not y for y in truth])
    expected = np.mean(errors / np.arange(1, len(truth) + 1))
    assert rejection(score_table(truth, score, positive=1)).area() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("right", "wrong"), [(1, 0), (7, 3), (50, 50), (0, 4)])
def test_area_of_the_best_order(right, wrong):
    # All that are right before all that are wrong: no error until k passes `right`.
    n = right + wrong
    expected = sum((k - right) / k for k in range(right + 1, n + 1)) / n
    table = score_table([1] * right + [0] * wrong, 0.5 + np.arange(n, 0, -1) / (2 * n), positive=1)
    assert rejection(table).area() == pytest.approx(expected, abs=1e-12)


def test_area_of_the_best_order_of_many_cases():
    # For many cases and an error of e the area tends to e + (1 − e)·ln(1 − e).
    n, e = 200_000, 0.25
    truth = np.arange(n) < (1 - e) * n
    table = score_table(truth, np.linspace(1, 0.5, n))
    assert rejection(table).area() == pytest.approx(e + (1 - e) * np.log(1 - e), abs=1e-5)


def test_a_certainty_that_tells_nothing_keeps_the_error():
    assert rejection(score_table([1, 0, 1, 1], [0.7] * 4)).area() == pytest.approx(0.25)


def test_tied_margins_leave_together():
    # 0.7 and 0.3 are equally far from 0.5, though not in floating point; so are 0.6 and 0.4.
    assert 0.7 - 0.5 != 0.5 - 0.3
    curve = rejection(score_table([1, 0, 0, 0], [0.7, 0.3, 0.6, 0.4]))
    assert_allclose(curve.x, [0, 0.5])
    assert_allclose(curve.y, [0.75, 1])


@pytest.mark.parametrize("scale", [1e-14, 1, 1e300])
def test_margins_of_any_size_stay_apart(scale):
    score = scale * np.array([4, 3, -1, -2])
    curve = rejection(score_table([1, 0, 1, 0], score), at=0)
    assert_allclose(curve.threshold, scale * np.array([1, 2, 3, 4]), rtol=1e-12)


def test_rejecting_everything_is_left_out():
    curve = rejection(score_table([1, 0], [0.9, 0.2]))
    assert curve.x.tolist() == [0, 0.5]


def test_margins_are_a_table_of_right_and_wrong():
    table = margin_table(score_table([1, 0, 1, 0], [0.75, 0.5, 0.25, 0]))
    assert table.classes == ("wrong", "right")
    assert (table.score.tolist(), table.pos.tolist(), table.neg.tolist()) == ([0.5, 0.25, 0], [1, 1, 0], [0, 1, 1])


# --- Chow's rule


@given(samples(score=eighths), st.sampled_from([0, 1 / 8, 0.25, 3 / 8, 0.5]))
@some
def test_chow_case_by_case(sample, cost):
    right, weight = correct(sample, 0.5), np.asarray(sample.weight)
    p = np.asarray(sample.score)
    rejected = np.maximum(p, 1 - p) < 1 - cost
    price = np.where(rejected, cost, np.where(right, 0, 1))
    found = chow(sample.table(), cost)
    assert (found.low, found.high) == (cost, 1 - cost)
    assert found.rejected == pytest.approx(np.average(rejected, weights=weight))
    assert found.cost == pytest.approx(np.average(price, weights=weight), abs=1e-12)
    if rejected.all():
        assert np.isnan(found.accuracy)
    else:
        assert found.accuracy == pytest.approx(np.average(right[~rejected], weights=weight[~rejected]))


def test_chow_is_the_cheapest_for_calibrated_probabilities():
    # Ten cases at each p, of which p·10 are positive; no other zone around 0.5 costs less.
    p = np.repeat(np.arange(11) / 10, 10)
    truth = np.tile(np.arange(10), 11) < np.round(p * 10)
    table = score_table(truth, p)
    for cost in (0.05, 0.15, 0.25, 0.35, 0.45):
        errors = np.minimum(p, 1 - p)  # expected, of the likelier class
        zones = [np.where(np.maximum(p, 1 - p) < edge, cost, errors).mean() for edge in np.linspace(0.5, 1.01, 52)]
        assert chow(table, cost).cost == pytest.approx(min(zones))


@pytest.mark.parametrize(("cost", "written"), [(-0.1, "-0.1"), (0.6, "0.6"), (float("nan"), "nan")])
def test_a_rejection_dearer_than_half_an_error_is_refused(cost, written):
    with pytest.raises(ConditionError) as caught:
        chow(score_table([1, 0], [0.9, 0.1]), cost)
    assert str(caught.value) == f"a rejection cost of {written} errors is never optimal.\n  hint: between 0 and 0.5"


def test_chow_refuses_scores_that_are_not_probabilities():
    with pytest.raises(ScoreError) as caught:
        chow(score_table([1, 0], [3, -2]), 0.2)
    assert str(caught.value) == (
        "these scores are not probabilities.\n  seen: values from -2 to 3\n  hint: recalibrate them first"
    )


# --- Chow's rule beside costs


prices = st.integers(-8, 8).map(lambda k: k / 2)


def expected(sample, condition):
    """Of every case, the expected cost of an alarm and of none, where the classes are as common as stated."""
    truth, p = np.asarray(sample.truth, float), np.asarray(sample.score)
    share = truth.mean()
    there = share if condition.prevalence is None else condition.prevalence
    positives, negatives = there / share, (1 - there) / (1 - share)
    p = p * positives / (p * positives + (1 - p) * negatives)
    weight = np.where(truth, positives, negatives) / truth.size
    alarm, quiet = p * condition.tp + (1 - p) * condition.fp, p * condition.fn + (1 - p) * condition.tn
    return truth, weight, alarm, quiet


@given(
    samples(score=st.integers(1, 31).map(lambda k: k / 32)),
    st.tuples(prices, prices, st.integers(1, 8), st.integers(1, 8)),
    st.floats(0.05, 0.95),
    st.sampled_from([None, 0.07, 0.4]),
)
@some
def test_chow_beside_costs_case_by_case(sample, costs, how, prevalence):
    """Each case has the decision of least expected cost, unless handing it over is cheaper: with gains, elsewhere."""
    tp, tn, more_fp, more_fn = costs
    dearest = max(tp, tn)
    condition = Condition(fp=dearest + more_fp, fn=dearest + more_fn, tp=tp, tn=tn, prevalence=prevalence)
    least, most = min(tp, tn), tn + condition.calibrated_threshold * (condition.fn - tn)
    cost = least + how * (most - least)
    assume(0 < sum(sample.truth) < len(sample.truth))
    truth, weight, alarm, quiet = expected(sample, condition)
    best = np.minimum(alarm, quiet)
    assume(np.abs(best - cost).min() > 1e-9)
    assume(np.abs(alarm - quiet)[best < cost].min(initial=1) > 1e-9)
    given_up, flagged = best > cost, alarm < quiet
    price = np.where(flagged, np.where(truth, condition.tp, condition.fp), np.where(truth, condition.fn, condition.tn))
    found = chow(score_table(sample.truth, sample.score), cost, condition)
    assert found.cost == pytest.approx(float(weight @ np.where(given_up, cost, price)))
    assert found.rejected == pytest.approx(float(weight[given_up].sum()))
    assert sum(sum(one.values()) for one in found.outcomes) == truth.size


def test_costs_between_which_nothing_is_in_doubt():
    with pytest.raises(ConditionError, match="error is cheaper"):
        chow(score_table([1, 0], [0.6, 0.4]), 0.2, Condition(fp=1, fn=5, tp=2))


@given(
    st.lists(st.tuples(st.integers(0, 2), *[st.integers(1, 16)] * 3), min_size=1, max_size=12),
    st.lists(prices, min_size=6, max_size=6),
    st.integers(1, 64).map(lambda k: k / 16 + 1e-4),
)
@some
def test_chow_of_several_classes_case_by_case(cases, others, more):
    """min_k Σ_j p_j · cost[j, k] is paid by the matrix, or the case is handed over where that is more."""
    a, b, c, d, e, f = others
    lowest = min(others) - 1
    costs = CostMatrix(("a", "b", "c"), [[lowest, a, b], [c, lowest, d], [e, f, lowest]])
    cost = lowest + more
    label = [case[0] for case in cases]
    p = np.array([np.array(case[1:]) / sum(case[1:]) for case in cases])
    spent, handed, right = [], 0, 0
    for row, actual in zip(p, label, strict=True):
        means = [sum(row[j] * costs.matrix[j, k] for j in range(3)) for k in range(3)]
        assume(abs(min(means) - cost) > 1e-9)
        assume(sorted(means)[1] - min(means) > 1e-9)
        away = min(means) > cost
        handed += away
        spent.append(cost if away else costs.matrix[actual, int(np.argmin(means))])
        right += not away and int(np.argmin(means)) == actual
    table = class_table([("a", "b", "c")[k] for k in label], p, classes=("a", "b", "c"))
    found = multiclass_chow(table, cost, costs)
    assert found.cost == pytest.approx(np.mean(spent))
    assert found.rejected == pytest.approx(handed / len(cases))
    assert found.accuracy == pytest.approx(
        right / (len(cases) - handed) if handed < len(cases) else np.nan, nan_ok=True
    )
    (outcomes,) = found.outcomes
    assert set(outcomes) >= set(costs.matrix.ravel())  # also what no case cost


def test_what_expected_costs_of_several_classes_need():
    costs = CostMatrix(("a", "b", "c"), 1 - np.eye(3))
    table = class_table(["a", "b", "c"], np.eye(3) * 5, classes=("a", "b", "c"))
    with pytest.raises(ConditionError, match="need probabilities"):
        multiclass_chow(table, 0.5, costs)
    with pytest.raises(ConditionError, match="any decision"):
        multiclass_chow(table, -1, costs)
