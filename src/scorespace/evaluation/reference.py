"""Reference sets: small data with exact values, and the digits of them that this installation reaches."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.resources import files
from typing import Any, Final

import numpy as np

from scorespace.calibration.tests import spiegelhalter
from scorespace.comparisons.datasets import dataset_table, wilcoxon
from scorespace.comparisons.delong import delong_covariance
from scorespace.comparisons.mcnemar import mcnemar_p
from scorespace.comparisons.t_tests import paired_t
from scorespace.errors import ScoreSpaceError
from scorespace.evaluation.api import measure
from scorespace.report.document import Grid
from scorespace.results import Row
from scorespace.tables import score_table
from scorespace.tables.paired import pair_table

PROMISED: Final = 14.0
"""Digits that every value has, unless its set states a reason."""
MOST: Final = 16.0


@dataclass(frozen=True)
class ReferenceSet:
    """Data with the exact values of their measures; `reasons` say why a value has fewer digits, "*" for all values."""

    id: str
    kind: str
    why: str
    data: dict[str, Any]
    expected: dict[str, str | None]
    reasons: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CheckedValue:
    """A value of a reference set as it was computed; None if it was refused."""

    measure: str
    expected: str | None
    found: float | None
    digits: float
    reason: str = ""

    @property
    def is_as_promised(self) -> bool:
        """Whether all promised digits are reached, or a reason is stated."""
        return self.digits >= PROMISED or bool(self.reason)


def reference_sets() -> list[ReferenceSet]:
    """Return the reference sets of the package, with doubles read from hexadecimal text."""
    text = (files("scorespace.data") / "reference.json").read_text("utf-8")
    return [ReferenceSet(**(one | {"data": _read(one["data"])})) for one in json.loads(text)]


def _read(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _read(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_read(one) for one in value]
    return float.fromhex(value) if isinstance(value, str) and value.lstrip("-")[:2] in ("0x", "in") else value


def correct_digits(found: float, expected: str | None) -> float:
    """Number of correct significant digits: −log₁₀ of the relative error, 16 for the nearest double.

    For an expected 0 the error is absolute. `expected` None means undefined: NaN.

    >>> correct_digits(0.1 + 0.2, "0.3"), correct_digits(0.3334, "0.33333333333333333333")
    (15.8, 3.7)
    """
    if expected is None or expected == "inf":
        return MOST * (math.isnan(found) if expected is None else found == math.inf)
    if not math.isfinite(found):
        return 0.0
    if found == float(expected):
        return MOST
    exact = Fraction(expected)
    error = abs(Fraction(found) - exact) / (abs(exact) or 1)
    return min(MOST, max(0.0, math.log10(error.denominator) - math.log10(error.numerator)))


@dataclass(frozen=True)
class CheckedSet:
    """The values of a reference set as this installation computes them."""

    reference: ReferenceSet
    values: tuple[CheckedValue, ...]

    @property
    def is_as_promised(self) -> bool:
        """Whether every value has the promised digits or a reason."""
        return all(value.is_as_promised for value in self.values)

    @property
    def digits(self) -> float:
        """Fewest correct digits of the values without a stated reason; NaN if all have one."""
        return min((value.digits for value in self.values if not value.reason), default=math.nan)

    def remarks(self) -> dict[str, list[str]]:
        """Values with fewer digits than promised, grouped by the reason; no reason is ""."""
        found: dict[str, list[str]] = {}
        for value in self.values:
            if value.reason or not value.is_as_promised:
                reached = "" if value.found is None else f" {_cut(value.digits)}"
                found.setdefault(value.reason, []).append(f"{value.measure}{reached}")
        return found

    def row(self) -> Row:
        """The set as a row of JSON and CSV."""
        digits = None if math.isnan(self.digits) else float(_cut(self.digits))
        texts = ("id", "kind", "why")
        return {name: getattr(self.reference, name) for name in texts} | {
            "values": len(self.values),
            "digits": digits,
            "as_promised": self.is_as_promised,
            "remarks": "; ".join(f"{', '.join(names)}: {reason}" for reason, names in self.remarks().items()),
        }


def _cut(digits: float) -> str:
    """Digits with one decimal, rounded down."""
    return f"{math.floor(10 * digits) / 10:.1f}"


def check_reference() -> list[CheckedSet]:
    """Compute all reference sets of the package.

    >>> all(one.is_as_promised for one in check_reference())
    True
    """
    return [CheckedSet(one, tuple(check_set(one))) for one in reference_sets()]


def reference_grid(checked: list[CheckedSet]) -> Grid:
    """A row per set: its values, the digits reached, and what it is about."""
    rows = []
    for one in checked:
        digits = "-" if math.isnan(one.digits) else _cut(one.digits)
        about = [one.reference.why]
        for reason, names in one.remarks().items():
            all_refused = len(names) == len(one.values) and reason
            about.append(reason if all_refused else f"{', '.join(names)}: {reason or 'fewer digits than promised'}")
        rows.append((one.reference.id, str(len(one.values)), digits, ". ".join(about)))
    return Grid(("set", "values", "digits", "about"), tuple(rows), prose=True)


def summary(checked: list[CheckedSet]) -> str:
    """Whether all values are as promised, in one sentence."""
    values = [value for one in checked for value in one.values]
    missed = sum(not value.is_as_promised for value in values)
    explained = sum(bool(value.reason) for value in values)
    return (
        f"{len(checked)} sets, {len(values)} values: {len(values) - missed - explained} have at least {PROMISED:.0f} "
        f"correct digits, {explained} do not for a stated reason, {missed} are wrong."
    )


def check_set(one: ReferenceSet) -> list[CheckedValue]:
    """Compute all values of a reference set, as users would."""
    return [_checked(one, name, expected) for name, expected in one.expected.items()]


def _checked(one: ReferenceSet, name: str, expected: str | None) -> CheckedValue:
    try:
        found: float | None = _value(one.kind, one.data, name)
    except ScoreSpaceError:
        found = None
    digits = 0.0 if found is None else correct_digits(found, expected)
    reason = "" if digits >= PROMISED else one.reasons.get(name, one.reasons.get("*", ""))
    if reason.startswith("refused") != (found is None):
        reason = ""  # a reason to refuse a value excuses no wrong one
    return CheckedValue(name, expected, found, digits, reason)


def _value(kind: str, data: dict[str, Any], name: str) -> float:
    if kind == "numbers":
        return measure(name, truth=data["y"], prediction=data["p"], weight=data.get("w"))
    if kind == "classes":
        return measure(name, truth=data["truth"], decision=data["decision"])
    if kind == "probabilities":
        return measure(name, truth=data["truth"], score=data["score"])
    return _binary_value(data, name) if kind == "binary" else _pairs_value(data, name)


def _binary_value(data: dict[str, Any], name: str) -> float:
    times = data.get("times", 1)
    truth, score = np.repeat(data["y"], times), np.repeat(data["s"], times)
    if name == "delong_variance":
        return float(delong_covariance(pair_table(truth, {"s": score}, positive=1))[1][0, 0])
    if name == "spiegelhalter_z":
        return float(spiegelhalter(score_table(truth, score, positive=1)).statistic)
    return measure(name, truth=truth, score=score, positive=1, weight=data.get("w"))


def _pairs_value(data: dict[str, Any], name: str) -> float:
    test, _, what = name.partition("_")
    if test == "mcnemar":
        method: Any = {"exact": "exact", "midp": "midp", "cc": "corrected"}[what.removesuffix("_p")]
        statistic, p = mcnemar_p(data["b"], data["c"], method)
        return statistic if what == "cc" else p
    differences = np.asarray(data["d"], dtype=np.float64)
    if test == "wilcoxon":
        found = wilcoxon(dataset_table({"a": differences, "b": 0 * differences}, best="high"))
        return found.statistic if what == "w" else found.p
    tested = paired_t(differences)
    return tested.statistic if what == "t" else tested.p
