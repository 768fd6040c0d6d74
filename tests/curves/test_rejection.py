"""Rejection: accuracy on the cases that are kept, the area of that curve, and Chow's rule."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from laws.strategies import samples
from scorespace.curves import chow, rejection
from scorespace.curves.rejection import margin_table
from scorespace.errors import ConditionError, ScoreError
from scorespace.tables import score_table

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
    assert str(caught.value) == f"a rejection that costs {written} errors is no choice.\n  hint: between 0 and 0.5"


def test_chow_refuses_scores_that_are_not_probabilities():
    with pytest.raises(ScoreError) as caught:
        chow(score_table([1, 0], [3, -2]), 0.2)
    assert str(caught.value) == (
        "these scores are not probabilities.\n"
        "  seen: values from -2 to 3\n"
        "  hint: recalibrate them first; scores outside [0, 1] are never squashed"
    )
