"""Validation of numeric columns: scores, weights and levels."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError, ScoreError, WeightError
from scorespace.results import grouped
from scorespace.tables.labels import is_missing, to_array

Array = NDArray[Any]
MAX_EXACT_INTEGER: Final = 2.0**53
"""Above this, doubles cannot represent every integer."""
MIN_MAGNITUDE: Final = 1e-70
MAX_MAGNITUDE: Final = 1e70
"""Range of magnitudes whose fourth power is representable, as variances of squared errors need."""


def validate_scores(score: Any, size: int) -> NDArray[np.float64]:
    """Return the scores as float64 (float32 converts exactly); refuse missing, infinite and non-numeric ones."""
    array = to_array(score)
    if array.dtype == object:
        array = _as_numbers(array)
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
        total = values.sum()  # one fast pass; a sum of finite scores may overflow, hence the second test
    if not np.isfinite(total):
        invalid = int((~np.isfinite(values)).sum())
        if invalid:
            raise ScoreError(
                "score has missing or infinite values.",
                seen=f"{grouped(invalid)} of {grouped(size)} cases",
                hint="drop those cases, or replace infinities by the largest finite score",
            )
    return values


def nearest_single(threshold: Any) -> Array:
    """Round thresholds to float32 if they print alike as float32, as typed thresholds of a float32 column should.

    >>> nearest_single([0.7, np.nextafter(2.0, 3.0)])
    array([0.69999999, 2.        ])
    """
    values = np.array(threshold, dtype=np.float64)
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    for index in np.argwhere((single != values) & np.isfinite(values)):
        key = tuple(index)
        if str(single[key]) == str(values[key]):
            values[key] = single[key]
    return values


def _as_numbers(array: Array) -> Array:
    """Convert an object array to numbers, None to NaN; anything else becomes text."""
    if any(issubclass(kind, (str, bytes)) for kind in set(map(type, array))):
        return array.astype(str)  # numbers written as text stay text
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        missing = np.fromiter(map(is_missing, array), dtype=bool, count=array.size)
        return np.where(missing, np.nan, array).astype(np.float64) if missing.any() else array.astype(str)


def validate_weights(weight: Any, size: int) -> NDArray[np.float64]:
    """Return case weights as float64; refuse a wrong length and negative, missing, infinite or all-zero weights."""
    try:
        column = to_array(weight)
        if column.dtype.kind in "cSUmM":
            raise TypeError
        values = column.astype(np.float64)
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
            seen=f"{grouped(bad)} of {grouped(size)} weights are invalid",
            hint="weight 0 excludes a case",
        )
    if not values.any():
        raise WeightError("all weights are zero: there is nothing to evaluate.", hint="a weight above 0, or no weights")
    check_weight_sum(values, "the weights")
    return values


def check_weight_sum(weights: Array, what: str) -> None:
    """Refuse weights whose sum exceeds the exact integers of doubles, or whose products underflow."""
    if (weights / MAX_EXACT_INTEGER).sum() >= 1:
        raise WeightError(
            f"the sum of {what} is too large.",
            seen="a sum above 9 007 199 254 740 992, where doubles skip integers",
            hint="divide all of them by the same number",
        )
    light = (weights > 0) & (weights < MIN_MAGNITUDE)
    if light.any():
        raise WeightError(
            f"{what} are too small: their products underflow.",
            seen=f"{grouped(int(light.sum()))} between 0 and 1e-70",
            hint="multiply all of them by the same number, or set these to 0",
        )


def check_magnitudes(numbers: Array, what: str) -> None:
    """Refuse finite numbers whose squares overflow, or all underflow."""
    largest = float(np.abs(numbers).max(initial=0.0))
    if largest > MAX_MAGNITUDE:
        raise ScoreError(
            f"{what} beyond 1e70, whose squares overflow.",
            seen=f"{grouped(int((np.abs(numbers) > MAX_MAGNITUDE).sum()))} of {grouped(numbers.size)}",
            hint="divide all of them by the same number, or take their logarithms",
        )
    if 0 < largest < MIN_MAGNITUDE:
        raise ScoreError(
            f"{what} of at most 1e-70, whose squares underflow.",
            seen=f"at most {largest:.3g}",
            hint="multiply all of them by the same number",
        )


def nominal_level(given: Any) -> float:
    """Validate the nominal coverage of prediction intervals."""
    try:
        level = float(given)
    except (TypeError, ValueError):
        level = np.nan
    if not 0 < level < 1:
        raise DataError(
            "the nominal level of prediction intervals must be between 0 and 1.", seen=repr(given), hint="LOW,HIGH,0.9"
        )
    return level
