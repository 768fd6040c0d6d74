"""RROC space: the curve by brute force, its own point, the lines of equal loss, and the hull of several models."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from scorespace.curves import rroc, rroc_hull
from scorespace.errors import CurveError
from scorespace.tables import residual_table

RNG = np.random.default_rng(5)
ERROR = np.round(RNG.normal(1, 3, 40), 1)  # with ties
TABLE = residual_table(np.zeros(40), ERROR)


def point(shift, error=ERROR):
    return np.maximum(error + shift, 0).mean(), np.minimum(error + shift, 0).mean()


def test_every_point_is_that_of_its_shift():
    curve = rroc(TABLE)
    assert_allclose(np.stack([curve.x, curve.y]).T, [point(shift) for shift in curve.threshold], atol=1e-12)
    assert (np.diff(curve.threshold) > 0).all()
    assert curve.x[0] == curve.y[-1] == 0


def test_the_model_as_it_is():
    assert_allclose(rroc(TABLE).own, point(0.0))


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_losses_as_it_is_and_at_the_best_shift(alpha):
    def loss(shift):
        return np.where(ERROR + shift > 0, 2 * (1 - alpha), -2 * alpha) @ (ERROR + shift) / ERROR.size

    curve = rroc(TABLE)
    assert curve.loss(alpha) == pytest.approx(loss(0.0))
    best = curve.best(alpha)
    assert best.loss == pytest.approx(min(loss(-error) for error in ERROR))
    # Of the cases that the shift does not put on the truth itself, this share is predicted too high.
    assert best.share == pytest.approx((ERROR + best.shift - 1e-9 > 0).mean(), abs=1e-12)


def test_between_two_points_the_curve_is_straight_and_it_is_concave():
    curve = rroc(TABLE)
    for shift in (-1.23, 0.05, 2.0):
        x, y = point(shift)
        assert np.interp(x, curve.x, curve.y) == pytest.approx(y)
    assert (np.diff(np.diff(curve.y) / np.diff(curve.x)) <= 1e-12).all()


def test_weights_are_copies():
    weight = RNG.integers(1, 4, 40)
    a = rroc(residual_table(np.zeros(40), ERROR, weight=weight))
    b = rroc(residual_table(np.zeros(weight.sum()), np.repeat(ERROR, weight)))
    assert_allclose(a.x, b.x)
    assert_allclose(a.y, b.y, atol=1e-12)


def test_sum_axes_are_means_times_the_cases():
    assert_allclose(rroc(TABLE, axes="sum").x, 40 * rroc(TABLE).x)


def test_the_line_of_equal_loss_touches_the_curve():
    curve = rroc(TABLE)
    slope, height = curve.iso_cost(2 / 3)
    assert slope == pytest.approx(0.5)
    assert (curve.y <= height + slope * curve.x + 1e-12).all()
    assert np.isclose(curve.y, height + slope * curve.x).any()


def test_alpha_is_a_share():
    with pytest.raises(CurveError, match="alpha=2"):
        rroc(TABLE).best(2)
    with pytest.raises(CurveError, match="axes='both' is unknown"):
        rroc(TABLE, axes="both")


def test_the_best_model_of_each_range_is_the_one_of_least_loss():
    others = {"a": ERROR, "b": RNG.standard_t(2, 40), "c": 3 * ERROR}
    curves = {name: rroc(residual_table(np.zeros(40), error)) for name, error in others.items()}
    ranges = rroc_hull(curves).ranges()
    assert ranges[0].alpha_low == 0
    assert ranges[-1].alpha_high == 1
    for before, after in pairwise(ranges):
        assert before.alpha_high == after.alpha_low
    for alpha in np.linspace(0.01, 0.99, 50):
        named = next(one.model for one in ranges if one.alpha_low <= alpha <= one.alpha_high)
        losses = {name: curve.best(alpha).loss for name, curve in curves.items()}
        assert losses[named] == pytest.approx(min(losses.values()))


def test_a_dominated_model_is_best_nowhere():
    curves = {"near": rroc(TABLE), "far": rroc(residual_table(np.zeros(40), 2 * ERROR))}
    assert {one.model for one in rroc_hull(curves).ranges()} == {"near"}


def test_equal_models_go_to_the_first():
    curves = {"one": rroc(TABLE), "two": rroc(TABLE)}
    assert [one.model for one in rroc_hull(curves).ranges()] == ["one"]


def test_the_repr_is_the_answer():
    assert repr(rroc(residual_table([1, 2, 3], [2, 2, 2]))) == (
        "rroc curve: 3 points, Under-prediction against Over-prediction, area over it 0.3333"
    )


def test_perfect_predictions_are_one_point():
    curve = rroc(residual_table([1.0, 2.0], [1.0, 2.0]))
    assert curve.area() == 0
    assert curve.best(0.5).loss == 0
    assert rroc_hull({"perfect": curve}).ranges()[0].model == "perfect"
