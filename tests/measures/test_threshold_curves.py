"""The curve of a measure over the thresholds."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal

from laws.strategies import samples
from scorespace.curves import CURVES, sweep
from scorespace.errors import MeasureError
from scorespace.measures import parse
from scorespace.measures.confusion import fbeta, ppv
from scorespace.measures.threshold_curves import best, threshold
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


# --- the best under a constraint


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ({"measure": "ppv", "at_least": "tpr=0.9"}, 3 / 4),  # from the highest score down: + − + + − −
        ({"measure": "ppv", "at_least": "tpr=0.3"}, 1.0),
        ({"measure": "fpr", "at_least": "tpr=0.5"}, 1 / 3),  # lower is better
        ({"measure": "tpr", "at_most": "fpr=0"}, 1 / 3),
        ({"measure": "tpr", "at_most": "fpr=0.4", "at_least": "acc=0.5 ppv=0.5"}, 1.0),
        ({}, 3 / 4),
    ],
)
def test_the_best_under_a_constraint(options, value):
    table = score_table([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.4, 0.3, 0.1])
    assert best(table, **options) == pytest.approx(value)


def test_no_threshold_keeps_the_bounds():
    table = score_table([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.4, 0.3, 0.1])
    assert np.isnan(best(table, measure="ppv", at_least="tpr=0.9", at_most="fpr=0.1"))
    assert best.reason(np.nan) == "undefined: no threshold satisfies the constraints"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"at_least": "tpr"}, "the bound 'tpr' cannot be parsed.\n  hint: MEASURE=NUMBER, such as tpr=0.9"),
        ({"measure": "auc"}, "auc covers all thresholds, so it has no curve over them.\n  hint: such as f1 or ppv"),
        (
            {"measure": "prevalence"},
            "prevalence has no optimum: neither direction is better.\n  hint: a measure with a direction, such as f1",
        ),
    ],
)
def test_bounds_that_cannot_be_kept(options, message):
    with pytest.raises(MeasureError) as found:
        best(score_table([1, 0], [0.9, 0.1]), **options)
    assert str(found.value) == message


def test_the_best_is_written_and_read_back():
    text = "best(measure=ppv, at_least=tpr=0.9 npv=0.5)"
    assert str(parse(text)) == text


def test_without_bounds_the_best_is_over_all_thresholds():
    table = score_table([1, 0, 1, 0, 0, 0], [0.9, 0.6, 0.4, 0.3, 0.2, 0.1])
    assert best(table, measure="f1") == 0.8  # 2 of 2 positives among 3
    assert best(table, measure="acc") == pytest.approx(5 / 6)
    assert best(table) == best(table, measure="ppv", at_least="tpr=0.9") == pytest.approx(2 / 3)
