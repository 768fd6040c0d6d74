"""The best threshold for a measure."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings

from laws.strategies import samples
from scorespace.decisions import best_threshold
from scorespace.errors import MeasureError
from scorespace.measures import measures
from scorespace.measures.confusion import acc, bacc, err, pp_rate, ppv, tpr, youden
from scorespace.measures.cost import cost
from scorespace.measures.ranking import auc
from scorespace.tables import Counts, score_table

TABLE = score_table([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.4, 0.3, 0.1])
WITH_BEST = [measure for measure in measures() if measure.table is Counts and measure.best]


@pytest.mark.parametrize("measure", [acc, err, youden, bacc])
def test_the_highest_of_equally_good_thresholds(measure):
    # 5 of 6 are right at 0.8 and at 0.4, and ⅔ − 0 = 1 − ⅓.
    assert best_threshold(TABLE, measure).threshold == 0.8


@pytest.mark.parametrize("measure", WITH_BEST, ids=lambda measure: measure.name)
@given(sample=samples(both=True, most=8))
@settings(max_examples=20)
def test_no_threshold_is_better(measure, sample):
    table = sample.table()
    values = measure(table.sweep)
    assume(not np.isnan(values).all())
    found = best_threshold(table, measure)
    best = np.nanmax(values) if measure.best == "high" else np.nanmin(values)
    assert found.value == pytest.approx(best, rel=1e-12)  # ties are up to rounding
    assert measure(table.at(found.threshold)) == found.value


def test_costs_move_the_threshold():
    assert best_threshold(TABLE, cost, fp=10, fn=1).threshold == 0.8
    assert best_threshold(TABLE, cost, fp=1, fn=10).threshold == 0.4


def test_predicting_nothing_may_be_best():
    assert best_threshold(score_table([1, 0, 0], [1, 2, 3]), acc).threshold == math.inf


def test_undefined_values_are_passed_over():
    found = best_threshold(TABLE, ppv)
    assert (found.threshold, found.value) == (0.9, 1)


def test_a_measure_that_is_never_defined_has_no_threshold():
    found = best_threshold(score_table([0, 0], [1, 2]), tpr)
    assert math.isnan(found.threshold)
    assert math.isnan(found.value)


def test_youden_and_least_error_are_different_rules():
    table = score_table([0] * 8 + [1, 1], [1, 1, 1, 1, 1, 1, 2, 2, 2, 3])
    assert best_threshold(table, youden).threshold == 2
    assert best_threshold(table, err).threshold == 3


def test_a_measure_without_direction_is_refused():
    told = "^pp_rate has no best value: neither direction is better.\n  hint: a measure with a best end, such as f1$"
    with pytest.raises(MeasureError, match=told):
        best_threshold(TABLE, pp_rate)


def test_a_measure_of_all_thresholds_is_refused():
    with pytest.raises(MeasureError, match=r"^auc cannot be computed from counts."):
        best_threshold(TABLE, auc)


def test_text():
    assert repr(best_threshold(TABLE, acc)) == "threshold 0.8: 0.833333"
