"""Formulas with the numbers put in: the text agrees with the value, and with the lecture's example."""

import math
import re

import pytest

from scorespace.measures import find
from scorespace.report.formulas import formula, measures_of_decisions, worked
from scorespace.tables import Counts

BUY = Counts(tp=6, fp=1, fn=2, tn=3)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ppv", "PPV = 6 / (6 + 1) = 0.857"),
        ("f1", "F1 = 2 · 6 / (2 · 6 + 1 + 2) = 0.800"),
        ("acc", "Accuracy = (6 + 3) / 12 = 0.750"),
        ("mcc", "MCC = (6·3 − 1·2) / √(8 · 4 · 7 · 5) = 0.478"),
        ("kappa", "Cohen's kappa = (0.750 − 0.528) / (1 − 0.528) = 0.471"),
        ("tp", "TP = 6"),
        ("nec", "Normalised expected cost = 0.250"),
    ],
)
def test_the_numbers_are_put_in(name, text):
    assert worked(find(name), BUY) == text


def test_no_cases_are_undefined():
    assert worked(find("ppv"), Counts(0, 0, 2, 3)) == "PPV = 0 / (0 + 0) = undefined, 0 / 0"


@pytest.mark.parametrize("measure", measures_of_decisions(), ids=lambda measure: measure.name)
def test_every_formula_gives_its_value(measure):
    # The shown numbers, computed by Python's own arithmetic; rates are rounded to three decimals.
    *_, shown = worked(measure, BUY).rpartition(" = ")[0].rpartition(" = ")
    if formula(measure) in ("TP", "FP", "FN", "TN"):
        return
    python = re.sub(r"√([\d.]+|\([^()]*\))", r"((\1)**0.5)", shown)
    for sign, operator in (("−", "-"), ("·", "*"), ("²", "**2")):
        python = python.replace(sign, operator)
    assert eval(python, {"max": max}) == pytest.approx(float(measure(BUY)), abs=4e-3)
    assert not math.isnan(float(measure(BUY)))
