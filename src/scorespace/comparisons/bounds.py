"""Certified bounds of a test between binned tables: difference, interval and p for any order within the bins."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from scipy.special import ndtr, ndtri

from scorespace.comparisons.design import Design
from scorespace.comparisons.result import Comparison
from scorespace.results import note

Bounds = tuple[float, float]
UNKNOWN_BOUNDS: Bounds = (math.nan, math.nan)


def certify(comparison: Comparison, design: Design[Any]) -> Comparison:
    """Widen the result of a test between binned tables by the binning error of the difference."""
    if comparison.certified is not None or not any(table.coarse for table in design.tables):
        return comparison
    return widen_by_bounds(comparison, difference_bounds(design))


def difference_bounds(design: Design[Any]) -> Bounds:
    """Certified bounds of the difference, from those of each model."""
    bounds = [
        (request.certified or UNKNOWN_BOUNDS) if table.coarse else (request.value, request.value)
        for request, table in zip(design.measured, design.tables, strict=True)
    ]
    (low, high), (other_low, other_high), *others = (*bounds, *((value, value) for value in design.fixed))
    return UNKNOWN_BOUNDS if others else (low - other_high, high - other_low)


def widen_by_bounds(comparison: Comparison, bounds: Bounds, spread: float = 1.0) -> Comparison:
    """Make a comparison valid for any difference within the bounds, with up to `spread` times its standard error.

    The interval is extended by the bounds; p is that of the difference nearest to zero, with z reduced in proportion.

    >>> found = Comparison("a", "b", "delong", "auc", 0.1, 0.02, 0.18, p=0.0143)
    >>> again = widen_by_bounds(found, (0.08, 0.12))
    >>> round(again.low, 2), round(again.high, 2), round(again.p, 3)
    (0.0, 0.2, 0.05)
    """
    if any(map(math.isnan, bounds)) or math.isnan(comparison.difference):
        text = "the scores were binned, and the binning error of this difference is unknown"
        return replace(comparison, certified=UNKNOWN_BOUNDS, notes=(*comparison.notes, note("SS008", f"{text}.")))
    (low, high), difference = bounds, comparison.difference
    if low == high and spread == 1:
        return replace(comparison, certified=bounds)
    below, above = (difference - comparison.low) * spread, (comparison.high - difference) * spread
    nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    p = comparison.p
    if nearest == 0:
        p = math.nan if math.isnan(p) else 1.0
    elif 0 < p < 1:
        tails = 2 if comparison.alternative == "two-sided" else 1
        p = max(p, tails * float(ndtr(float(ndtri(p / tails)) * nearest / abs(difference) / spread)))
    return replace(comparison, low=low - below, high=high + above, p=p, certified=bounds)
