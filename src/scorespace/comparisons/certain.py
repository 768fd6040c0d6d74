"""What is certain of a test between coarse tables: its difference, interval and p, whatever the order inside bins."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from scorespace.comparisons.answer import Comparison
from scorespace.comparisons.question import Question
from scorespace.results import note
from scorespace.special import ndtr, ndtri

Bounds = tuple[float, float]
UNKNOWN: Bounds = (math.nan, math.nan)


def certain(found: Comparison, question: Question[Any]) -> Comparison:
    """The answer to a question about coarse tables, widened by what the bins leave open of the difference."""
    if found.certified is not None or not any(table.coarse for table in question.tables):
        return found
    return widened(found, difference_bounds(question))


def difference_bounds(question: Question[Any]) -> Bounds:
    """What the difference lies between, from what the measure of each model lies between."""
    ends = [
        (request.certified or UNKNOWN) if table.coarse else (request.value, request.value)
        for request, table in zip(question.measured, question.tables, strict=True)
    ]
    (low, high), (least, most), *others = (*ends, *((value, value) for value in question.fixed))
    return UNKNOWN if others else (low - most, high - least)


def widened(found: Comparison, bounds: Bounds, spread: float = 1.0) -> Comparison:
    """An answer that holds wherever in its bounds the difference is, with up to `spread` times its standard error.

    The interval reaches as much further as the bounds do; p is that of the difference nearest to zero: as many standard
    errors as p stands for, less in that proportion.

    >>> found = Comparison("a", "b", "delong", "auc", 0.1, 0.02, 0.18, p=0.0143)
    >>> again = widened(found, (0.08, 0.12))
    >>> round(again.low, 2), round(again.high, 2), round(again.p, 3)
    (0.0, 0.2, 0.05)
    """
    if any(map(math.isnan, bounds)) or math.isnan(found.difference):
        text = "the scores were counted in bins, and what that leaves open of this difference is not known"
        return replace(found, certified=UNKNOWN, notes=(*found.notes, note("SS008", f"{text}.")))
    (low, high), middle = bounds, found.difference
    if low == high and spread == 1:
        return replace(found, certified=bounds)
    below, above = (middle - found.low) * spread, (found.high - middle) * spread
    nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    p = found.p
    if nearest == 0:
        p = math.nan if math.isnan(p) else 1.0
    elif 0 < p < 1:
        tails = 2 if found.alternative == "two-sided" else 1
        p = max(p, tails * float(ndtr(float(ndtri(p / tails)) * nearest / abs(middle) / spread)))
    return replace(found, low=low - below, high=high + above, p=p, certified=bounds)
