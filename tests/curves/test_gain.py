"""Cumulative gain and lift."""

import numpy as np
import pytest
from hypothesis import given

from laws.strategies import samples
from scorespace.curves import gain, lift_curve
from scorespace.measures.confusion import lift, pp_rate, tpr
from scorespace.tables import score_table

both = samples(both=True)


@given(both)
def test_gain_runs_from_corner_to_corner(sample):
    curve = gain(sample.table())
    assert (curve.x[0], curve.y[0]) == (0, 0)
    assert (curve.x[-1], curve.y[-1]) == (1, 1)


@given(both)
def test_gain_is_tpr_against_the_share_targeted(sample):
    table = sample.table()
    curve = gain(table)
    assert curve.x.tolist() == pp_rate(table.sweep).tolist()
    assert curve.y.tolist() == tpr(table.sweep).tolist()


@given(both)
def test_lift_ends_at_one(sample):
    curve = lift_curve(sample.table())
    assert curve.x[-1] == 1
    assert curve.y[-1] == pytest.approx(1)


@given(both)
def test_lift_is_the_measure_at_each_score(sample):
    table = sample.table()
    assert lift_curve(table).y.tolist() == lift(table.sweep[1:]).tolist()


@given(both)
def test_lift_starts_at_the_first_score(sample):
    assert lift_curve(sample.table()).threshold.tolist() == sample.table().score.tolist()


def test_best_lift_is_one_over_the_prevalence():
    assert lift_curve(score_table([1, 0, 0, 0], [4, 3, 2, 1])).y[0] == 4


def test_a_constant_score_gains_nothing():
    curve = gain(score_table([1, 0, 0], [1, 1, 1]))
    assert (curve.x.tolist(), curve.y.tolist()) == ([0, 1], [0, 1])


def test_gain_without_positives_is_undefined():
    assert np.isnan(gain(score_table([0, 0], [1, 2])).y).all()
