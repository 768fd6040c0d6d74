"""Measures as functions of the threshold."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal

from laws.strategies import samples
from scorespace.curves import sweep
from scorespace.measures.confusion import fbeta, ppv
from scorespace.tables import score_table

TABLE = score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])


@given(samples())
def test_every_value_is_that_at_its_threshold(sample):
    table = sample.table()
    curve = sweep(table, ppv)
    assert_array_equal(curve.y, [ppv(table.at(threshold)) for threshold in curve.threshold])


def test_undefined_values_stay_in_the_curve():
    assert np.isnan(sweep(TABLE, ppv).y[0])


def test_options():
    assert sweep(TABLE, fbeta, beta=2).y.tolist() == pytest.approx([0, 5 / 9, 10 / 11, 5 / 6])


def test_titles():
    curve = sweep(TABLE, ppv)
    assert (curve.kind, curve.x_title, curve.y_title) == ("threshold", "Threshold", "Positive predictive value")
