"""Cost curves, lines of equal cost, and the cost line of each threshold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from laws.strategies import counts, samples
from scorespace.curves import cost_curve, hull, iso_line
from scorespace.curves.cost import envelope
from scorespace.measures.confusion import bacc
from scorespace.measures.ranking import auc
from scorespace.tables import confusion, score_table

some = settings(max_examples=50)
GRID = np.linspace(0, 1, 101)


def crisp(c):
    return confusion([[c.tp, c.fn], [c.fp, c.tn]], classes=["p", "n"], positive="p")


@given(counts(least=1))
@some
def test_a_crisp_classifier_is_its_line_and_the_trivial_ones(c):
    curve = cost_curve(crisp(c))
    line = GRID * c.fn / c.p + (1 - GRID) * c.fp / c.n
    assert_allclose(np.interp(GRID, curve.x, curve.y), np.minimum(line, np.minimum(GRID, 1 - GRID)), atol=1e-12)


@given(counts(least=1))
@some
def test_auc_of_a_crisp_classifier_is_its_macro_accuracy(c):
    assert auc(crisp(c)) == pytest.approx((c.tp / c.p + c.tn / c.n) / 2)
    assert bacc(c) == pytest.approx(auc(crisp(c)))


@given(samples(both=True))
@some
def test_the_threshold_of_a_point_holds_up_to_the_next(sample):
    table = sample.table()
    curve = cost_curve(table)
    middle = (curve.x[:-1] + curve.x[1:]) / 2
    c = table.at(curve.threshold[:-1])
    assert_allclose(middle * c.fn / c.p + (1 - middle) * c.fp / c.n, np.interp(middle, curve.x, curve.y), atol=1e-12)


@given(samples(both=True))
@some
def test_bends_and_edges_of_the_hull_are_dual(sample):
    found = hull(sample.table())
    inner = found.slope[(found.slope > 0) & (found.slope < np.inf)]
    assert_allclose(envelope(found).x, [0, *(1 / (1 + inner)), 1])


def test_by_hand():
    # Hull (0, 0), (0, ½), (½, 1), (1, 1): the one edge of slope 1 bends the curve at ½.
    curve = cost_curve(score_table([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]))
    assert (curve.x.tolist(), curve.y.tolist()) == ([0, 0.5, 1], [0, 0.25, 0])
    assert curve.threshold.tolist() == [0.9, 0.7, 0.1]


def test_perfect_scores_cost_nothing():
    curve = cost_curve(score_table([1, 1, 0], [3, 2, 1]))
    assert (curve.x.tolist(), curve.y.tolist(), curve.area()) == ([0, 1], [0, 0], 0)


def test_useless_scores_cost_as_much_as_the_trivial_rules():
    curve = cost_curve(score_table([0, 1], [1, 1]))
    assert (curve.x.tolist(), curve.y.tolist(), curve.area()) == ([0, 0.5, 1], [0, 0.5, 0], 0.25)


# --- lines of equal cost

rates = st.floats(0, 1)


@given(st.just(0.0) | st.floats(0.001, 1000), rates, rates)
@some
def test_a_line_crosses_the_square_through_its_point(slope, fpr, tpr):
    line = iso_line(slope, fpr, tpr)
    for x, y in zip(line.fpr, line.tpr, strict=True):
        assert y - tpr == pytest.approx(slope * (x - fpr), abs=1e-8)
        assert min(x, 1 - x, y, 1 - y) == pytest.approx(0, abs=1e-12)
    assert line.fpr[0] <= fpr + 1e-9
    assert line.fpr[1] >= fpr - 1e-9


def test_a_line_through_a_corner_of_the_square_has_no_length():
    assert iso_line(1, 0, 1) == iso_line(1, 0.0, 1.0)
    assert iso_line(1, 0, 1).fpr == (0, 0)


@pytest.mark.parametrize(("slope", "fpr", "tpr"), [(0, (0, 1), (0.6, 0.6)), (np.inf, (0.2, 0.2), (0, 1))])
def test_flat_and_vertical_lines(slope, fpr, tpr):
    line = iso_line(slope, 0.2, 0.6)
    assert (line.fpr, line.tpr) == (fpr, tpr)


# --- the line of each threshold


def test_lines_of_the_thresholds_on_the_hull():
    curve = cost_curve(score_table([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]))
    assert curve.lines.tolist() == [[0, 1], [0, 0.5], [0.5, 0], [1, 0]]


def test_the_curve_is_the_lower_envelope_of_its_lines():
    rng = np.random.default_rng(5)
    truth = rng.random(2000) < 0.4
    curve = cost_curve(score_table(truth, rng.normal(truth, 1)))
    lowest = (GRID[:, None] * curve.lines[:, 1] + (1 - GRID[:, None]) * curve.lines[:, 0]).min(axis=1)
    assert_allclose(lowest, np.interp(GRID, curve.x, curve.y), atol=1e-12)
