"""Averages over classes: what is averaged is said."""

import numpy as np
import pytest

from scorespace.errors import MeasureError
from scorespace.measures import average, find
from scorespace.measures.average import undefined_classes
from scorespace.measures.confusion import ppv, tpr
from scorespace.measures.ranking import auc
from scorespace.tables import confusion

TABLE = confusion([[5, 0, 1], [0, 2, 2], [1, 1, 3]], classes=["a", "b", "c"])
LACKING = confusion(["a", "a", "b"], ["a", "b", "b"], classes=["a", "b", "z"])


def test_macro_is_the_plain_mean():
    assert average(tpr, "macro")(TABLE) == pytest.approx((5 / 6 + 2 / 4 + 3 / 5) / 3)


def test_weighted_is_the_mean_by_class_size():
    assert average(ppv, "weighted")(TABLE) == pytest.approx((6 * 5 / 6 + 4 * 2 / 3 + 5 * 3 / 6) / 15)


def test_micro_is_of_the_summed_outcomes():
    assert average(ppv, "micro")(TABLE) == pytest.approx(10 / 15)


def test_weighted_recall_is_accuracy():
    assert average(tpr, "weighted")(TABLE) == pytest.approx(find("acc")(TABLE))


@pytest.mark.parametrize("how", ["macro", "weighted"])
def test_a_class_without_cases_does_not_count_as_zero(how):
    # It did in torchmetrics (1664).
    assert average(tpr, how)(LACKING) == pytest.approx({"macro": (1 / 2 + 1) / 2, "weighted": 2 / 3}[how])


def test_classes_left_out_are_named():
    assert undefined_classes(tpr, LACKING) == ["z"]


def test_nothing_is_left_out_of_a_full_table():
    assert undefined_classes(tpr, TABLE) == []


def test_an_average_of_nothing_is_undefined():
    nothing = confusion([[0, 0], [0, 3]], classes=["p", "n"])
    assert np.isnan(average(find("lr_pos"), "macro")(nothing))


def test_an_average_of_scores_is_refused():
    with pytest.raises(MeasureError, match=r"^auc\[macro\] is not available: auc is not a measure of decisions.$"):
        average(auc, "macro")
