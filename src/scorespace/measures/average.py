"""Averages over classes, derived for every measure: of decisions between K classes, and of the scores of K classes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any, Final

import numpy as np

from scorespace.errors import MeasureError
from scorespace.measures.measure import Measure
from scorespace.tables import Array, ClassTable, ConfusionTable, Counts, ScoreTable, ratio

AVERAGES: Final = ("micro", "macro", "weighted")
"""Averages over the classes, each against the rest."""
OVER_PAIRS: Final = ("hand_till", "hand_till_weighted")
"""Averages over the pairs of classes, for measures of scores."""

Averaged = Callable[[Any], Array]


def average(measure: Measure, how: str, **options: Any) -> Averaged:
    """The measure averaged over the classes of a confusion table, or of a class table.

    micro: of the summed counts, or of all scores in one table; macro: plain mean of the classes, each
    against the rest; weighted: mean weighted by the number of cases; hand_till: mean over the pairs of
    classes, by the score of either. What is undefined for a class is left out of the mean.

    >>> from scorespace.measures.confusion import tpr
    >>> from scorespace.tables import confusion
    >>> round(float(average(tpr, "macro")(confusion([[5, 0, 1], [0, 2, 2], [1, 1, 3]]))), 4)
    0.6444
    """
    if measure.table is Counts and how in AVERAGES:
        return _average_of_decisions(measure, how, options)
    if measure.table is ScoreTable:
        return _average_of_scores(measure, how, options)
    raise MeasureError(f"{measure.name}[{how}] is not available: it averages scores, not decisions.")


def _average_of_decisions(measure: Measure, how: str, options: dict[str, Any]) -> Averaged:
    def averaged(table: ConfusionTable) -> Array:
        c = table.one_vs_rest
        if how == "micro":
            summed = Counts(c.tp.sum(axis=-1), c.fp.sum(axis=-1), c.fn.sum(axis=-1), c.tn.sum(axis=-1))
            return np.asarray(measure.function(summed, **options))
        values = measure.function(c, **options)
        return _mean(values, np.ones_like(values) if how == "macro" else table.class_totals)

    return averaged


def _average_of_scores(measure: Measure, how: str, options: dict[str, Any]) -> Averaged:
    def averaged(table: ClassTable) -> Array:
        if how == "micro":
            function, pooled = measure.fit(table.pooled)
            return np.asarray(function(pooled, **options))
        if how in OVER_PAIRS:
            return _mean_of_pairs(_of_pairs(measure, table, options), table.class_totals, how)
        values = by_class(measure, table, **options)
        return _mean(values, np.ones_like(values) if how == "macro" else table.class_totals)

    return averaged


def by_class(measure: Measure, table: ClassTable | ConfusionTable, **options: Any) -> Array:
    """The measure (…, K) with each class in turn against the rest.

    >>> from scorespace.measures.ranking import auc
    >>> from scorespace.tables import class_table
    >>> by_class(auc, class_table(["a", "b", "c"], [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.4, 0.3, 0.3]]))
    array([1.  , 1.  , 0.75])
    """
    if measure.table is Counts:
        decided = table.decisions if isinstance(table, ClassTable) else table
        return np.asarray(measure.function(decided.one_vs_rest, **options))
    if isinstance(table, ConfusionTable):
        raise MeasureError(f"{measure.name} of each class needs scores of the classes, not decisions.")
    if measure.name == "auc":  # all at once, from the pairs: a case of the class against one of any other
        totals, pairs = table.class_totals, table.concordant_pairs()
        others = np.where(np.eye(len(table.classes), dtype=bool), 0.0, pairs).sum(axis=-1)
        return ratio(others, totals * (totals.sum(axis=-1, keepdims=True) - totals))
    fitted = (measure.fit(table.one_vs_rest(k)) for k in range(len(table.classes)))
    return np.stack([np.asarray(function(one, **options)) for function, one in fitted], axis=-1)


def _of_pairs(measure: Measure, table: ClassTable, options: dict[str, Any]) -> Array:
    """The measure (…, K, K) of each class, by its own score, against each other one."""
    if measure.name == "auc":
        return table.pair_areas()
    size = len(table.classes)
    values = np.full((*table.total.shape, size, size), np.nan)
    for i, j in permutations(range(size), 2):
        function, one = measure.fit(table.one_vs_one(i, j))
        values[..., i, j] = function(one, **options)
    return values


def _mean_of_pairs(values: Array, totals: Array, how: str) -> Array:
    """Hand and Till's mean over pairs {i, j} of ½·(A(i|j) + A(j|i)); weighted by the share of each class i."""
    ordered = (values + np.swapaxes(values, -1, -2)) / 2
    weights = np.ones_like(ordered) if how == "hand_till" else np.broadcast_to(totals[..., None], ordered.shape)
    flat = (*ordered.shape[:-2], -1)
    return _mean(ordered.reshape(flat), weights.reshape(flat))


def undefined_classes(measure: Measure, table: ConfusionTable | ClassTable, **options: Any) -> list[str]:
    """The classes that a macro or weighted average has to leave out."""
    values = by_class(measure, table, **options)
    return [name for name, value in zip(table.classes, values, strict=True) if np.isnan(value)]


def _mean(values: Array, weights: Array) -> Array:
    defined = ~np.isnan(values)
    used = np.where(defined, np.broadcast_to(weights, values.shape), 0.0)
    return ratio((np.where(defined, values, 0.0) * used).sum(axis=-1), used.sum(axis=-1))
