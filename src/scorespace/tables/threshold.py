"""Thresholds as people read and type them: with the digits that keep every case on its side."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_FLOOR, Decimal
from typing import Any, Final

import numpy as np

from scorespace.results import decimals

_FEWEST: Final = 4
Scale = tuple[float, float] | None
"""The ends of a scale that scores were rated on, lowest first; None where they are as they were given."""

_MOST: Final = 17  # significant digits that tell any two floating-point numbers apart


class Threshold(float):
    """A threshold that knows the text which does the same to every case of its sample.

    `shown` is the number in the units of the user, where scores are ratings on a scale; `chosen` says that cases chose
    it, and nobody stated it.

    >>> at = rounded_threshold(0.123306, below=0.12328)
    >>> at, at.text
    (0.123306, '0.1233')
    """

    text: str
    shown: float
    chosen: bool

    def __new__(cls, at: float, text: str, shown: float | None = None, chosen: bool = True) -> Threshold:
        found = super().__new__(cls, at)
        found.text, found.shown, found.chosen = text, float(at) if shown is None else shown, chosen
        return found

    def __getnewargs__(self) -> tuple[float, str, float, bool]:  # type: ignore[override]
        return float(self), self.text, self.shown, self.chosen


def threshold_text(at: float) -> str:
    """A threshold for people, who may type it again: the text that it knows, or else all of its digits.

    >>> threshold_text(0.32), threshold_text(-1.5), threshold_text(0.1 + 0.2), threshold_text(12345.0)
    ('0.32', '-1.5', '0.30000000000000004', '12345')
    """
    if isinstance(at, Threshold):
        return at.text
    if not math.isfinite(at):
        return decimals(at)
    return next(text for text in _texts(at) if float(text) == at)


def rounded_threshold(at: float, below: float, scale: Scale = None) -> Threshold:
    """A threshold with the fewest digits, at least four, that stay above the next lower score; rounded towards it.

    With a scale, the text is in its units.

    >>> rounded_threshold(0.123153, below=0.1231).text, rounded_threshold(0.7, below=0.2).text
    ('0.12315', '0.7')
    """
    if not math.isfinite(at):
        return Threshold(at, threshold_text(at))
    whole = in_units(at, scale)
    exact = Decimal(repr(whole))  # 0.3 is meant, and not the nearest number that floating point has
    for digits in range(_first(whole), _MOST):
        places = Decimal(1).scaleb(exact.adjusted() - digits + 1)
        found = float(exact.quantize(places, rounding=ROUND_FLOOR))
        if below < of_units(found, scale) <= at:
            return Threshold(at, threshold_text(found), whole)
    return Threshold(at, threshold_text(whole), whole)


def in_units(at: float, scale: Scale) -> float:
    """A threshold of scores between 0 and 1 in the units of the scale that they were rated on.

    >>> in_units(0.65, (0, 10)), in_units(0.65, None)
    (6.5, 0.65)
    """
    return float(at) if scale is None else float(f"{scale[0] + at * (scale[1] - scale[0]):.15g}")


def of_units(at: float, scale: Scale) -> float:
    """A threshold in the units of a scale as one of scores between 0 and 1: as the scores themselves are mapped.

    >>> of_units(6.5, (0, 10))
    0.65
    """
    return float(at) if scale is None else (float(at) - scale[0]) / (scale[1] - scale[0])


def typed_threshold(at: float, scale: Scale) -> Threshold:
    """A threshold that somebody stated in the units of a scale."""
    return Threshold(of_units(at, scale), threshold_text(float(at)), float(at), chosen=False)


def common_threshold(at: float, scores: Iterable[Any], scale: Scale = None) -> Threshold:
    """The same for several models: `scores` are those of each, in any order."""
    lower = [float(one[one < at].max(initial=-math.inf)) for one in map(np.asarray, scores)]
    return rounded_threshold(at, max(lower, default=-math.inf), scale)


def rounded_among(at: Any, scores: Any) -> list[Threshold]:
    """Several thresholds, each with the digits that tell it from the next lower of the scores.

    >>> [one.text for one in rounded_among([math.inf, 0.91234], [0.5, 0.9123, 0.91234])]
    ['∞', '0.91234']
    """
    ordered = np.append(-np.inf, np.unique(scores))
    below = ordered[np.searchsorted(ordered[1:], at, side="left")]
    return [rounded_threshold(float(one), float(low)) for one, low in zip(at, below, strict=True)]


def _first(at: float) -> int:
    """The fewest digits that a number is told with: four, and all of those before the point."""
    return max(_FEWEST, math.floor(math.log10(abs(at))) + 1) if 1 <= abs(at) < 1e15 else _FEWEST


def _texts(at: float) -> Iterable[str]:
    return (f"{at:.{digits}g}" for digits in range(_first(at), _MOST + 1))
