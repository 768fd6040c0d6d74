"""The precision-recall curve."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws.strategies import samples
from scorespace.curves import pr
from scorespace.tables import confusion, score_table

TABLE = score_table([1, 0, 1, 0, 0, 1], [6, 5, 4, 3, 2, 2])


def test_points_by_hand():
    curve = pr(TABLE)
    assert curve.x.tolist() == pytest.approx([0, 1 / 3, 1 / 3, 2 / 3, 2 / 3, 1])
    assert curve.y.tolist() == pytest.approx([1, 1, 1 / 2, 2 / 3, 1 / 2, 1 / 2])


def test_it_starts_with_the_precision_of_the_first_scores():
    # Not with the made-up point (0, 1) that inflates the area (scikit-learn 4223, 5073).
    assert pr(score_table([1, 0, 0], [2, 2, 1])).y[0] == 0.5


def test_a_constant_score_is_level_at_the_prevalence():
    assert pr(score_table([1, 0, 0, 0], [1, 1, 1, 1])).y.tolist() == [0.25, 0.25]


def test_crisp_decisions_that_are_never_positive_start_at_the_prevalence():
    table = confusion([[0, 3], [0, 4]], classes=["p", "n"], positive="p").score_table()
    assert pr(table).y[0] == pytest.approx(3 / 7)


def test_interpolated_points_lie_on_the_bend():
    # From TP 1, FP 0 to TP 2, FP 1: halfway TP 1.5 and FP 0.5, so precision ¾; a straight line would have 5/6.
    curve = pr(score_table([1, 1, 0], [2, 1, 1])).interpolated(0.25)
    halfway = int(np.argmin(np.abs(curve.x - 0.75)))
    assert curve.x[halfway] == pytest.approx(0.75)
    assert curve.y[halfway] == pytest.approx(1.5 / 2)


@given(samples(both=True), st.sampled_from([0.5, 0.1, 0.03]))
def test_interpolated_points_are_close(sample, step):
    assert np.diff(pr(sample.table()).interpolated(step).x).max() <= step + 1e-12


@given(samples(both=True))
def test_interpolated_keeps_the_points_of_the_curve(sample):
    curve = pr(sample.table())
    fine = curve.interpolated(0.1)
    points = set(zip(fine.x.round(12), fine.y.round(12), strict=True))
    assert set(zip(curve.x.round(12), curve.y.round(12), strict=True)) <= points


@given(samples(both=True))
def test_interpolation_does_not_change_the_area(sample):
    curve = pr(sample.table())
    assert curve.interpolated(0.05).area() == pytest.approx(curve.area(), abs=1e-9)


@given(samples(both=True))
def test_many_straight_pieces_approach_the_exact_area(sample):
    fine = pr(sample.table()).interpolated(0.002)
    assert np.trapezoid(fine.y, fine.x) == pytest.approx(fine.area(), abs=1e-3)


@pytest.mark.filterwarnings("error")
def test_without_positives_everything_is_undefined():
    curve = pr(score_table([0, 0], [1, 2]))
    assert np.isnan(curve.x).all()
    assert np.isnan(curve.area())
    assert np.isnan(curve.interpolated().x).all()


def test_a_thinned_curve_can_be_interpolated():
    truth, score = np.arange(1000) % 2, np.arange(1000)
    assert np.diff(pr(score_table(truth, score)).thinned(50).interpolated(0.1).x).max() <= 0.1 + 1e-12
