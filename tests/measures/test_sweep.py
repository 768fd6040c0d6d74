"""The curve of a measure over the thresholds."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal

from laws.strategies import samples
from scorespace.curves import CURVES, sweep
from scorespace.errors import MeasureError
from scorespace.measures.confusion import fbeta, ppv
from scorespace.measures.sweep import threshold
from scorespace.tables import score_table

FOUR = score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])


def test_it_is_a_kind_of_curve():
    assert CURVES.find("threshold") is CURVES.find("sweep") is threshold


@given(sample=samples())
def test_it_is_the_measure_at_every_threshold(sample):
    table = sample.table()
    assert_array_equal(threshold(table, measure="ppv").y, [ppv(table.at(t)) for t in table.thresholds])


def test_a_measure_with_options():
    found = threshold(FOUR, measure="fbeta(beta=2)")
    assert found == sweep(FOUR, fbeta, beta=2)
    assert found.y_title == "F-beta"


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("auc", "auc covers all thresholds, so it has no curve over them.\n  hint: such as f1 or ppv"),
        ("tpr@0.5", "tpr@0.5 names a threshold, but its curve is over all thresholds.\n  hint: tpr"),
        ("tpr[1]", "tpr[1] names a class, but its curve is over all thresholds.\n  hint: tpr"),
        ("precison", "there is no measure 'precison'.\n  hint: did you mean precision?"),
    ],
)
def test_what_has_no_curve_is_refused(measure, message):
    with pytest.raises(MeasureError) as caught:
        threshold(FOUR, measure=measure)
    assert str(caught.value) == message


def test_undefined_values_are_gaps():
    assert np.isnan(threshold(FOUR, measure="ppv").y[0])
