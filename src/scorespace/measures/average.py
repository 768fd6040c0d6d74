"""Averages over classes, derived for every measure of counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from scorespace.errors import MeasureError
from scorespace.measures.measure import Measure
from scorespace.tables import Array, ConfusionTable, Counts, ratio

AVERAGES: Final = ("micro", "macro", "weighted")


def average(measure: Measure, how: str, **options: Any) -> Callable[[ConfusionTable], Array]:
    """The measure averaged over the classes of a confusion table.

    micro: of the summed counts; macro: plain mean of the classes; weighted: mean weighted by the
    number of cases. Classes for which the measure is undefined are left out of the mean.

    >>> from scorespace.measures.confusion import tpr
    >>> from scorespace.tables import confusion
    >>> round(float(average(tpr, "macro")(confusion([[5, 0, 1], [0, 2, 2], [1, 1, 3]]))), 4)
    0.6444
    """
    if measure.table is not Counts:
        raise MeasureError(f"{measure.name}[{how}] is not available: {measure.name} is not a measure of decisions.")

    def micro(table: ConfusionTable) -> Array:
        c = table.one_vs_rest
        summed = Counts(c.tp.sum(axis=-1), c.fp.sum(axis=-1), c.fn.sum(axis=-1), c.tn.sum(axis=-1))
        return np.asarray(measure.function(summed, **options))

    def macro(table: ConfusionTable) -> Array:
        values = measure.function(table.one_vs_rest, **options)
        return _mean(values, np.ones_like(values))

    def weighted(table: ConfusionTable) -> Array:
        values = measure.function(table.one_vs_rest, **options)
        return _mean(values, np.broadcast_to(table.class_totals, values.shape))

    return {"micro": micro, "macro": macro, "weighted": weighted}[how]


def undefined_classes(measure: Measure, table: ConfusionTable, **options: Any) -> list[str]:
    """The classes that a macro or weighted average has to leave out."""
    values = measure.function(table.one_vs_rest, **options)
    return [name for name, value in zip(table.classes, values, strict=True) if np.isnan(value)]


def _mean(values: Array, weights: Array) -> Array:
    defined = ~np.isnan(values)
    used = np.where(defined, weights, 0.0)
    return ratio((np.where(defined, values, 0.0) * used).sum(axis=-1), used.sum(axis=-1))
