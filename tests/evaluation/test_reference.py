"""Reference sets: exact values, and the digits of them that are reached."""

import importlib
import math
import re
import runpy
import sys
import warnings
from pathlib import Path

import pytest

from scorespace.evaluation import reference
from scorespace.evaluation.reference import check_set, correct_digits, reference_sets

SETS = reference_sets()
SCRIPT = Path(__file__).parents[2] / "benchmarks" / "reference_sets.py"


@pytest.mark.parametrize("one", SETS, ids=lambda one: one.id)
def test_every_value_has_14_digits_or_a_reason(one):
    missed = [value for value in check_set(one) if not value.is_as_promised]
    assert missed == []


def test_reasons_are_of_values_that_need_one():
    stated = {(one.id, name) for one in SETS for name in one.reasons}
    needed = {
        (one.id, name) for one in SETS for value in check_set(one) if value.reason for name in (value.measure, "*")
    }
    assert stated <= needed


def test_reasons_excuse_known_digits_only():
    least = {
        (one.id, value.measure.partition("@")[0]): math.floor(value.digits)
        for one in SETS
        for value in check_set(one)
        if value.reason and value.found is not None
    }
    single = {("B13-float32", name): 0 for name in ("acc", "tpr", "ppv", "f1", "bacc", "kappa", "mcc")}
    expected = {("B02-signed-zero", "mean_score"): 12, ("R06-cancellation", "bias"): 0, **single}
    expected |= {("B16-many-ties", "cal"): 13}
    assert least == expected


def test_twelve_sets_and_twenty_eight():
    assert len({one.id for one in SETS}) == len(SETS) == 40
    assert {one.kind for one in SETS} == {"binary", "numbers", "classes", "probabilities", "pairs"}


def test_the_correlation_of_numacc():
    one = next(one for one in SETS if one.id == "R02-numacc")
    digits = {value.measure: value.digits for value in check_set(one)}
    assert digits["pearson"] >= 14  # 5.9 from the moments of truth and error
    assert digits["rae"] >= 14


def test_the_file_is_that_of_its_script(monkeypatch):
    pytest.importorskip("mpmath")
    monkeypatch.setattr(sys, "argv", ["reference_sets.py", "--check"])
    assert runpy.run_path(str(SCRIPT))["main"]() == 0


@pytest.mark.parametrize(
    ("found", "expected", "digits"),
    [
        (0.5, "0.5", 16),
        (1 / 3, "0.333333333333333333333333333333", 16),
        (1.001, "1", 3),
        (-1.0, "1", 0),
        (1e-9, "0", 9),
        (0.0, "0", 16),
        (math.nan, None, 16),
        (0.0, None, 0),
        (math.inf, "inf", 16),
        (1e308, "inf", 0),
        (math.nan, "1", 0),
        (math.inf, "1", 0),
    ],
)
def test_correct_digits(found, expected, digits):
    assert correct_digits(found, expected) == pytest.approx(digits, abs=1e-9)


@pytest.mark.parametrize("name", ["B01-ties", "B12-weights-2^53", "R04-1e300"])
def test_a_wrong_value_is_not_as_promised(monkeypatch, name):
    monkeypatch.setattr(reference, "_value", lambda *_: 0.123)
    assert not any(value.is_as_promised for value in check_set(next(one for one in SETS if one.id == name)))


def test_other_programs_are_measured_alike(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    digits = importlib.import_module("digits")
    few = ("B05-huge-weights", "B07-constant", "R01-offset-1e15", "K01-absent-class", "P01-pairs")
    monkeypatch.setattr(digits, "reference_sets", lambda: [one for one in SETS if one.id in few])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = digits.tables().splitlines()
    assert not any(line.startswith("| scorespace |") for line in told)  # all its values have 14 digits
    assert any(re.match(r"\| scikit-learn \| B05-huge-weights \| kappa [0-9.]+, mcc [0-9.]+ \|", line) for line in told)
    assert "| scikit-learn | B07-constant | ppv, mcc (number for undefined) |" in told
    assert any(re.match(r"\| scipy \| R01-offset-1e15 \| pearson [0-9.]+ \|", line) for line in told)
    assert digits.kind_of("1", 0.0, None) == "refused"
    assert digits.kind_of("1", 0.0, math.nan) == "NaN for a number"
