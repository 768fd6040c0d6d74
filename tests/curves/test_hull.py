"""The ROC convex hull of one score table."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy.spatial import ConvexHull

from laws.strategies import samples, stacked_scores
from scorespace.curves import hull, roc
from scorespace.curves.hull import hull_edges
from scorespace.tables import score_table

both = samples(both=True)


@given(both)
def test_no_point_of_the_curve_lies_above_the_hull(sample):
    curve, found = roc(sample.table()), hull(sample.table())
    inside = curve.x > 0  # on the left edge the hull is vertical
    assert (curve.y[inside] <= np.interp(curve.x[inside], found.x, found.y) + 1e-12).all()


@given(both)
def test_slopes_fall(sample):
    slopes = hull(sample.table()).slope
    assert (slopes[:-1] > slopes[1:]).all()


@given(both)
def test_probabilities_fall(sample):
    shares = hull(sample.table()).probability
    assert (np.diff(shares) < 0).all()


@given(both)
def test_corners_are_points_of_the_curve(sample):
    curve, found = roc(sample.table()), hull(sample.table())
    place = np.searchsorted(-curve.threshold, -found.threshold)
    assert_allclose(curve.x[place], found.x, atol=1e-12)
    assert_allclose(curve.y[place], found.y, atol=1e-12)


@given(both)
def test_probability_is_what_the_slope_says(sample):
    table = sample.table()
    found, odds = hull(table), float(table.n_pos / table.n_neg)
    expected = [1.0 if np.isinf(m) else odds * m / (1 + odds * m) for m in found.slope]
    assert_allclose(found.probability, expected, rtol=1e-12)


@given(both)
def test_area_of_qhull(sample):
    curve = roc(sample.table())
    points = np.column_stack([[*curve.x, 1.0, 0.0, 1.0], [*curve.y, 0.0, 0.0, 1.0]])
    assert hull(sample.table()).area() == pytest.approx(ConvexHull(points).volume, abs=1e-9)


def test_collinear_points_are_dropped():
    # Three blocks of equal slope that rounding would keep apart.
    truth, score = [], []
    for block in range(3):
        truth += [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]
        score += [-block] * 10
    assert hull(score_table(truth, score)).x.tolist() == [0, 1]


def test_a_curve_below_the_diagonal_has_the_diagonal_as_hull():
    found = hull(score_table([0, 0, 1, 1], [4, 3, 2, 1]))
    assert (found.x.tolist(), found.y.tolist()) == ([0, 1], [0, 1])


def test_perfect_scores():
    found = hull(score_table([1, 1, 0], [3, 2, 1]))
    assert (found.x.tolist(), found.y.tolist(), found.probability.tolist()) == ([0, 0, 1], [0, 1, 1], [1, 0])


def test_thresholds_run_from_infinity_downwards():
    assert hull(score_table([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1])).threshold.tolist() == [np.inf, 0.9, 0.6, 0.1]


@given(stacked_scores())
def test_edges_of_replicates_are_those_of_each(stack):
    together = hull_edges(stack.pos, stack.neg)
    for r in range(len(stack.pos)):
        alone, mine = hull_edges(stack.pos[r], stack.neg[r]), together.owner == r
        assert together.end[mine].tolist() == alone.end.tolist()
        assert together.pos[mine].tolist() == alone.pos.tolist()
        assert together.neg[mine].tolist() == alone.neg.tolist()


def test_many_replicates_do_not_mix():
    # BootstrapDraws are kept apart by an offset: it must not swallow small differences in share.
    pos = np.tile([500_001.0, 500_000.0], (2000, 1))
    neg = np.tile([500_000.0, 500_001.0], (2000, 1))
    assert hull_edges(pos, neg).owner.size == 4000


@given(arrays(np.uint8, (2, 6), elements=st.integers(0, 3)))
def test_small_counts_mean_what_large_ones_do(counts):
    small, plain = hull_edges(*counts), hull_edges(*counts.astype(np.float64))
    for name in ("owner", "end", "pos", "neg"):
        assert_allclose(getattr(small, name), getattr(plain, name))


def test_a_long_line_is_hulled_in_pieces(monkeypatch):
    rng = np.random.default_rng(4)
    pos, neg = rng.poisson(3.0, 5000).astype(float), rng.poisson(3.0, 5000).astype(float)
    whole = hull_edges(pos, neg)
    room = sys.modules["scorespace.curves.hull"]  # whose name is that of the curve, too
    monkeypatch.setattr(room, "_MIN_ROWS_FOR_CHUNKS", 1000)
    monkeypatch.setattr(room, "CHUNK_ROWS", 700)
    monkeypatch.setattr("scorespace.tables.chunks.CHUNK_ROWS", 700)
    assert vars(hull_edges(pos, neg)).keys() == vars(whole).keys()
    for name, column in vars(hull_edges(pos, neg)).items():
        assert_allclose(column, getattr(whole, name))
