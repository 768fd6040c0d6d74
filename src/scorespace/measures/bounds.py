"""Certified bounds of measures on binned scores, for any order of the cases inside the bins.

A measure declares how it is bounded: `bounds=by_order` or similar, or a function of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from scorespace.measures.average import ALL_AVERAGES, MICRO, PAIR_AVERAGES, average, averaging_table, class_mean
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.measure import Bounds, Measure
from scorespace.measures.multiclass_bins import parts_of
from scorespace.tables import ClassBins, Counts, Table

NOT_CERTIFIED = "not certified: no bounds are known for binned scores"


def certified(spec: MeasureSpec, table: Table) -> Bounds | None:
    """Lowest and highest possible value of a measure of a binned table; None if no bounds are known.

    >>> from scorespace.measures.catalog import parse
    >>> from scorespace.tables import score_table
    >>> certified(parse("auc"), score_table([1, 0, 1, 0], [0.9, 0.41, 0.4, 0.1]).rounded(51))
    (0.75, 1.0)
    """
    measure, options = spec.measure, spec.arguments
    if spec.of in ALL_AVERAGES and spec.of not in table.class_names:
        return _average_bounds(spec, table)
    resolved = measure.fit(table, spec.of, spec.at, str(spec), options=options)
    if resolved.kind is Counts:
        corners = _corners(table, resolved.table, spec)
        if corners is None:
            return _range(resolved.function(resolved.table, **options))
        return _range(resolved.function(corners, **options)) if measure.monotone else None
    if not resolved.table.coarse:
        return _range(resolved.function(resolved.table, **options))
    if resolved.kind is ClassBins:
        return _sum_bounds(measure, cast(ClassBins, resolved.table), options)
    bounds = None if measure.bounds is None else measure.bounds(resolved.function, resolved.table, **options)
    return None if bounds is None else _range(bounds)


def _average_bounds(spec: MeasureSpec, table: Table) -> Bounds | None:
    """Bounds of an average over classes or pairs of classes: the averages of their bounds."""
    measure, options = spec.measure, spec.arguments
    over = averaging_table(measure, table, str(spec.of), str(spec))
    if not over.coarse:
        return _range(average(measure, str(spec.of), **options)(over))
    single = replace(spec, of=None)
    if spec.of == MICRO:
        return certified(single, over.pooled(measure.table))
    is_pairwise = spec.of in PAIR_AVERAGES
    parts: Any = over.pairwise(measure.table) if is_pairwise else enumerate(over.each(measure.table))
    ends = np.full((2, *[len(over.class_names)] * (2 if is_pairwise else 1)), np.nan)
    for *place, part in parts:
        bounds = certified(single, part) if part.coarse else _range(measure.fit(part).function(part, **options))
        if bounds is None:
            return None
        ends[(slice(None), *place)] = bounds
    low, high = (float(class_mean(end, over.class_totals, str(spec.of))) for end in ends)
    return low, high


def _sum_bounds(measure: Measure, table: ClassBins, options: dict[str, Any]) -> Bounds | None:
    """Bounds of a probability measure that is a sum over classes."""
    parts = parts_of(measure, table)
    bounds = [(weight, certified(MeasureSpec(measure.name, tuple(options.items())), part)) for weight, part in parts]
    if any(ends is None for _, ends in bounds):
        return None
    low, high = (sum(weight * ends[side] for weight, ends in bounds if ends is not None) for side in (0, 1))
    return float(low), float(high)


def _corners(table: Table, exact: Any, spec: MeasureSpec) -> Counts | None:
    """The four extreme outcomes at a threshold inside a bin; None if the outcomes are exact."""
    if spec.at is None or not table.coarse:
        return None
    most, fewest = table.bounds_at(spec.at, spec.of)
    tp = np.array([most.tp, most.tp, fewest.tp, fewest.tp], dtype=np.float64)  # type: ignore[attr-defined]
    fp = np.array([most.fp, fewest.fp, most.fp, fewest.fp], dtype=np.float64)  # type: ignore[attr-defined]
    if tp[0] == tp[2] and fp[0] == fp[1]:
        return None
    return Counts(tp, fp, exact.p - tp, exact.n - fp)


def _range(values: Any) -> Bounds:
    """Lowest and highest value; NaN if a value is undefined."""
    array = np.asarray(values, dtype=np.float64)
    return float(array.min()), float(array.max())
