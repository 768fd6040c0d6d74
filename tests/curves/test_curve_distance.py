"""The distance between two curves, against hand-made areas and a fine grid."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scorespace.curves import Curve, roc
from scorespace.curves.curve import CurveDistance, distance
from scorespace.tables import score_table


def curve(*points):
    x, y = np.array(points, dtype=float).T
    return Curve("roc", x, y, np.zeros(x.size), "x", "y")


DIAGONAL = curve((0, 0), (1, 1))


def test_a_curve_is_no_distance_from_itself():
    assert distance(DIAGONAL, curve((0, 0), (0.25, 0.25), (1, 1))) == CurveDistance(0.0, 0.0, 0.0)


def test_above_the_diagonal_the_area_is_that_of_the_triangle():
    # (0, 0), (0.2, 0.8), (1, 1): area under it 0.08 + 0.72 = 0.8, so 0.3 above the diagonal.
    found = distance(curve((0, 0), (0.2, 0.8), (1, 1)), DIAGONAL)
    assert (found.area, found.largest, found.at) == pytest.approx((0.3, 0.6, 0.2))


def test_curves_that_cross_are_two_triangles():
    # 0.5 above at x = 0 falls to 0.5 below at x = 1: two triangles of ½ · ½ · ½.
    found = distance(curve((0, 0.5), (1, 0.5)), DIAGONAL)
    assert (found.area, found.largest) == pytest.approx((0.25, 0.5))


def test_vertical_steps_have_no_width_and_two_heights():
    step = curve((0, 0), (0.5, 0), (0.5, 1), (1, 1))
    found = distance(step, DIAGONAL)
    assert (found.area, found.largest, found.at) == pytest.approx((0.25, 0.5, 0.5))


def test_undefined_curves_have_no_distance():
    assert np.isnan(distance(roc(score_table([1, 1], [0.2, 0.3])), DIAGONAL).area)


samples = st.integers(2, 30).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(lambda y: 0 < sum(y) < len(y)),
        st.lists(st.integers(0, 8).map(lambda k: k / 8), min_size=n, max_size=n),
    )
)


@settings(max_examples=40)
@given(samples, samples)
def test_it_is_the_mean_gap_on_a_fine_grid_and_does_not_depend_on_the_order(first, second):
    a, b = (roc(score_table(*sample)) for sample in (first, second))
    found = distance(a, b)
    grid = (np.arange(20_000) + 0.5) / 20_000
    gaps = np.abs(np.interp(grid, a.x, a.y) - np.interp(grid, b.x, b.y))
    assert found.area == pytest.approx(gaps.mean(), abs=1e-3)
    assert found.largest >= gaps.max() - 1e-12
    assert distance(b, a).area == pytest.approx(found.area, abs=1e-12)
    assert found.area >= abs(a.area() - b.area()) - 1e-12
