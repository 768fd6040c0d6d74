"""What is certain of a number from a coarse table, whatever the order of the cases inside its bins.

A measure says beside its formula how it is bounded: `certain=by_order` and the like, or a function of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from scorespace.measures.average import ALL_AVERAGES, MICRO, OVER_PAIRS, average, averaging_table, mean_of
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.class_bins import parts_of
from scorespace.measures.measure import Bounds, Measure
from scorespace.tables import ClassBins, Counts, Table

UNCERTAIN = "not certified: no bounds are known for it on coarse scores"


def certified(spec: MeasureSpec, table: Table) -> Bounds | None:
    """The lowest and the highest value that a measure of a coarse table can have; None where none are known.

    >>> from scorespace.measures.catalog import parse
    >>> from scorespace.tables import score_table
    >>> certified(parse("auc"), score_table([1, 0, 1, 0], [0.9, 0.41, 0.4, 0.1]).rounded(51))
    (0.75, 1.0)
    """
    measure, options = spec.measure, dict(spec.options)
    if spec.of in ALL_AVERAGES and spec.of not in table.class_names:
        return _of_average(spec, table)
    found = measure.fit(table, spec.of, spec.at, str(spec))
    if found.kind is Counts:
        corners = _corners(table, found.table, spec)
        if corners is None:
            return _ends(found.function(found.table, **options))
        return _ends(found.function(corners, **options)) if measure.monotone else None
    if not found.table.coarse:
        return _ends(found.function(found.table, **options))
    if found.kind is ClassBins:
        return _of_sum(measure, cast(ClassBins, found.table), options)
    bounds = None if measure.certain is None else measure.certain(found.function, found.table, **options)
    return None if bounds is None else _ends(bounds)


def _of_average(spec: MeasureSpec, table: Table) -> Bounds | None:
    """The bounds of an average over classes, or over pairs of them: the averages of their bounds."""
    measure, options = spec.measure, dict(spec.options)
    over = averaging_table(measure, table, str(spec.of), str(spec))
    if not over.coarse:
        return _ends(average(measure, str(spec.of), **options)(over))
    alone = replace(spec, of=None)
    if spec.of == MICRO:
        return certified(alone, over.pooled(measure.table))
    paired = spec.of in OVER_PAIRS
    parts: Any = over.pairwise(measure.table) if paired else enumerate(over.each(measure.table))
    ends = np.full((2, *[len(over.class_names)] * (2 if paired else 1)), np.nan)
    for *place, one in parts:
        found = certified(alone, one) if one.coarse else _ends(measure.fit(one).function(one, **options))
        if found is None:
            return None
        ends[(slice(None), *place)] = found
    low, high = (float(mean_of(end, over.class_totals, str(spec.of))) for end in ends)
    return low, high


def _of_sum(measure: Measure, table: ClassBins, options: dict[str, Any]) -> Bounds | None:
    """The bounds of a measure of probabilities that is a sum over the classes."""
    parts = parts_of(measure, table)
    found = [(weight, certified(MeasureSpec(measure.name, tuple(options.items())), one)) for weight, one in parts]
    if any(ends is None for _, ends in found):
        return None
    low, high = (sum(weight * ends[side] for weight, ends in found if ends is not None) for side in (0, 1))
    return float(low), float(high)


def _corners(table: Table, exact: Any, spec: MeasureSpec) -> Counts | None:
    """The four extremes of the outcomes at a threshold inside a bin; None where they are known."""
    if spec.at is None or not table.coarse:
        return None
    most, fewest = table.around(spec.at, spec.of)
    tp = np.array([most.tp, most.tp, fewest.tp, fewest.tp], dtype=np.float64)  # type: ignore[attr-defined]
    fp = np.array([most.fp, fewest.fp, most.fp, fewest.fp], dtype=np.float64)  # type: ignore[attr-defined]
    if tp[0] == tp[2] and fp[0] == fp[1]:
        return None
    return Counts(tp, fp, exact.p - tp, exact.n - fp)


def _ends(values: Any) -> Bounds:
    """The lowest and the highest of some values; undefined where one of them is."""
    found = np.asarray(values, dtype=np.float64)
    return float(found.min()), float(found.max())
