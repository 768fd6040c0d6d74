"""Columns of numbers that come from users: scores and weights, refused where nothing could be computed from them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError, ScoreError, WeightError
from scorespace.results import grouped
from scorespace.tables.labels import array_of, is_missing

Array = NDArray[Any]
MOST_EXACT: Final = 2.0**53
"""From here on, doubles do not hold every whole number."""
LEAST_SIZE: Final = 1e-70
MOST_SIZE: Final = 1e70
"""Between these sizes the fourth power of a number is one: what measures and their variances multiply."""


def scores_of(score: Any, size: int) -> NDArray[np.float64]:
    """The scores as float64 (float32 widens exactly), refused when missing, infinite or not numbers."""
    array = array_of(score)
    if array.dtype == object:
        array = _numbers(array)
    if array.dtype.kind not in "fiub":
        raise ScoreError("scores must be numbers.", seen=f"values of type {array.dtype}", hint="decisions=… for labels")
    if array.shape != (size,):
        raise ScoreError(
            "truth and score differ in length.",
            seen=f"{size} labels and scores of shape {array.shape}",
            hint="one score for each label",
        )
    values = array.astype(np.float64, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum()  # one fast pass; the sum of finite scores may overflow, so look again
    if not np.isfinite(total):
        unusable = int((~np.isfinite(values)).sum())
        if unusable:
            raise ScoreError(
                "score has missing or infinite values.",
                seen=f"{grouped(unusable)} of {grouped(size)} cases",
                hint="drop those cases, or replace infinities by the largest finite score",
            )
    return values


def nearest_single(threshold: Any) -> Array:
    """Thresholds as a column of single-precision numbers holds them where they are written alike, else as they are.

    >>> nearest_single([0.7, np.nextafter(2.0, 3.0)])
    array([0.69999999, 2.        ])
    """
    found = np.array(threshold, dtype=np.float64)
    with np.errstate(over="ignore"):
        single = found.astype(np.float32)
    for place in np.argwhere((single != found) & np.isfinite(found)):
        key = tuple(place)
        if str(single[key]) == str(found[key]):
            found[key] = single[key]
    return found


def _numbers(array: Array) -> Array:
    """An array of objects as numbers, None as NaN, where they are numbers."""
    if any(issubclass(kind, (str, bytes)) for kind in set(map(type, array))):
        return array.astype(str)  # text that looks like a number is still text
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        marked = np.fromiter(map(is_missing, array), dtype=bool, count=array.size)
        return np.where(marked, np.nan, array).astype(np.float64) if marked.any() else array.astype(str)


def weights_of(weight: Any, size: int) -> NDArray[np.float64]:
    """Case weights as float64, refused when of another length, negative, missing, infinite or all zero."""
    try:
        given = array_of(weight)
        if given.dtype.kind in "cSUmM":
            raise TypeError
        values = given.astype(np.float64)
    except (TypeError, ValueError):
        raise WeightError("weights must be numbers.", seen=f"{weight!r:.60}", hint="one number for each case") from None
    if values.shape != (size,):
        raise WeightError(
            "truth and weight differ in length.",
            seen=f"{size} labels and weights of shape {values.shape}",
            hint="one weight for each label",
        )
    if not np.isfinite(values).all() or (values < 0).any():
        bad = int((~np.isfinite(values) | (values < 0)).sum())
        raise WeightError(
            "weights must be finite and not negative.",
            seen=f"{grouped(bad)} of {grouped(size)} weights are not",
            hint="weight 0 leaves a case out",
        )
    if not values.any():
        raise WeightError("all weights are zero: there is nothing to evaluate.", hint="a weight above 0, or none")
    refuse_uncountable(values, "the weights")
    return values


def refuse_uncountable(weights: Array, what: str) -> None:
    """Refuse weights whose sum is beyond the numbers that doubles count without gaps, or whose products are none."""
    if (weights / MOST_EXACT).sum() >= 1:
        raise WeightError(
            f"{what} add up to more than can be counted.",
            seen="a sum above 9 007 199 254 740 992, from where doubles leave out numbers",
            hint="divide all of them by the same number",
        )
    light = (weights > 0) & (weights < LEAST_SIZE)
    if light.any():
        raise WeightError(
            f"{what} are too small to be multiplied.",
            seen=f"{grouped(int(light.sum()))} between 0 and 1e-70",
            hint="multiply all of them by the same number, or set these to 0",
        )


def refuse_sizes(numbers: Array, what: str) -> None:
    """Refuse finite numbers whose squares are no numbers: huge ones, and nothing but tiny ones."""
    largest = float(np.abs(numbers).max(initial=0.0))
    if largest > MOST_SIZE:
        raise ScoreError(
            f"{what} beyond 1e70, whose squares cannot be added up.",
            seen=f"{grouped(int((np.abs(numbers) > MOST_SIZE).sum()))} of {grouped(numbers.size)}",
            hint="divide all of them by the same number, or take their logarithms",
        )
    if 0 < largest < LEAST_SIZE:
        raise ScoreError(
            f"{what} below 1e-70 alone, whose squares cannot be added up.",
            seen=f"at most {largest:.3g}",
            hint="multiply all of them by the same number",
        )


def nominal_level(given: Any) -> float:
    """A share of truths that prediction intervals were made to hold, checked."""
    try:
        level = float(given)
    except (TypeError, ValueError):
        level = np.nan
    if not 0 < level < 1:
        raise DataError(
            "the level of prediction intervals is a share between 0 and 1.", seen=repr(given), hint="LOW,HIGH,0.9"
        )
    return level
