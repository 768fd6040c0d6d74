"""Operating points: thresholds with just enough digits to classify every case alike, and top-ranked cases."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from typing import Any, ClassVar, Final

import numpy as np

from scorespace.options import format_value
from scorespace.results import decimals

_MIN_DIGITS: Final = 4
_MAX_DIGITS: Final = 17  # significant digits that distinguish any two doubles
Scale = tuple[float, float] | None
"""Lowest and highest value of the rating scale that scores were computed from; None for plain scores."""


@dataclass(frozen=True)
class TopCases:
    """An operating point by rank: the `size` cases with the highest scores, or that percentage of them.

    `per` names the periods, such as days, in each of which this number of cases is selected.

    >>> f"{TopCases(200)}, {TopCases(2.5, percent=True)}", TopCases(2.5, percent=True).of(1000)
    ('top200, top2.5%', 25.0)
    """

    size: float
    percent: bool = False
    per: str | None = None

    def of(self, total: Any) -> Any:
        """Number of cases, given the total."""
        return self.size / 100 * total if self.percent else self.size

    def __str__(self) -> str:
        per = "" if self.per is None else f" per {self.per}"
        return f"top{format_value(self.size)}{'%' if self.percent else ''}{per}"

    def __format__(self, form: str) -> str:
        return str(self)


class FirstDocuments(TopCases):
    """The first documents of each query: nDCG@10.

    >>> str(FirstDocuments(10))
    '10'
    """

    in_name: ClassVar[bool] = True
    """Whether it is part of the name of a measure, rather than a threshold."""

    def __str__(self) -> str:
        return format_value(self.size)


At = float | TopCases
"""An operating point: a threshold, or the cases with the highest scores."""


class Threshold(float):
    """A threshold with a short text that classifies every case of its sample alike.

    `shown` is the value in the user's units, if scores are ratings on a scale; `chosen` is true if the threshold was
    chosen from data, not stated by the user.

    >>> at = round_threshold(0.123306, below=0.12328)
    >>> at, at.text
    (0.123306, '0.1233')
    """

    text: str
    shown: float
    chosen: bool

    def __new__(cls, at: float, text: str, shown: float | None = None, chosen: bool = True) -> Threshold:
        threshold = super().__new__(cls, at)
        threshold.text, threshold.shown, threshold.chosen = text, float(at) if shown is None else shown, chosen
        return threshold

    def __getnewargs__(self) -> tuple[float, str, float, bool]:  # type: ignore[override]
        return float(self), self.text, self.shown, self.chosen


def threshold_text(at: float) -> str:
    """Format a threshold so that it can be typed again: its own text, or all of its digits.

    >>> threshold_text(0.32), threshold_text(-1.5), threshold_text(0.1 + 0.2), threshold_text(12345.0)
    ('0.32', '-1.5', '0.30000000000000004', '12345')
    """
    if isinstance(at, Threshold):
        return at.text
    if not math.isfinite(at):
        return decimals(at)
    return next(text for text in _candidate_texts(at) if float(text) == at)


def round_threshold(at: float, below: float, scale: Scale = None) -> Threshold:
    """Round a threshold down to the fewest digits, at least four, that stay above the next lower score.

    The text is in the units of the scale.

    >>> round_threshold(0.123153, below=0.1231).text, round_threshold(0.7, below=0.2).text
    ('0.12315', '0.7')
    """
    if not math.isfinite(at):
        return Threshold(at, threshold_text(at))
    value = to_scale_units(at, scale)
    exact = Decimal(repr(value))  # the shortest decimal, not the exact binary value
    for digits in range(_leading_digits(value), _MAX_DIGITS):
        places = Decimal(1).scaleb(exact.adjusted() - digits + 1)
        rounded = float(exact.quantize(places, rounding=ROUND_FLOOR))
        if below < from_scale_units(rounded, scale) <= at:
            return Threshold(at, threshold_text(rounded), value)
    return Threshold(at, threshold_text(value), value)


def to_scale_units(at: float, scale: Scale) -> float:
    """Convert a threshold from [0, 1] to the units of the rating scale.

    >>> to_scale_units(0.65, (0, 10)), to_scale_units(0.65, None)
    (6.5, 0.65)
    """
    return float(at) if scale is None else float(f"{scale[0] + at * (scale[1] - scale[0]):.15g}")


def from_scale_units(at: float, scale: Scale) -> float:
    """Convert a threshold from the units of the rating scale to [0, 1], exactly as the scores are converted.

    >>> from_scale_units(6.5, (0, 10))
    0.65
    """
    return float(at) if scale is None else (float(at) - scale[0]) / (scale[1] - scale[0])


def user_threshold(at: float, scale: Scale) -> Threshold:
    """A threshold that the user stated in the units of the scale."""
    return Threshold(from_scale_units(at, scale), threshold_text(float(at)), float(at), chosen=False)


def common_threshold(at: float, scores: Iterable[Any], scale: Scale = None) -> Threshold:
    """Round one threshold for several models; `scores` are those of each model, in any order."""
    lower = [float(values[values < at].max(initial=-math.inf)) for values in map(np.asarray, scores)]
    return round_threshold(at, max(lower, default=-math.inf), scale)


def round_thresholds(at: Any, scores: Any) -> list[Threshold]:
    """Round several thresholds, each to the digits that distinguish it from the next lower score.

    >>> [threshold.text for threshold in round_thresholds([math.inf, 0.91234], [0.5, 0.9123, 0.91234])]
    ['∞', '0.91234']
    """
    ordered = np.append(-np.inf, np.unique(scores))
    below = ordered[np.searchsorted(ordered[1:], at, side="left")]
    return [round_threshold(float(threshold), float(low)) for threshold, low in zip(at, below, strict=True)]


def _leading_digits(at: float) -> int:
    """Smallest number of significant digits shown: four, and all digits before the decimal point."""
    return max(_MIN_DIGITS, math.floor(math.log10(abs(at))) + 1) if 1 <= abs(at) < 1e15 else _MIN_DIGITS


def _candidate_texts(at: float) -> Iterable[str]:
    return (f"{at:.{digits}g}" for digits in range(_leading_digits(at), _MAX_DIGITS + 1))
