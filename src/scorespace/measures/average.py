"""Averages over classes, derived for every measure: of decisions between K classes, and of the scores of K classes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from scorespace.measures.measure import Formula, Measure
from scorespace.tables import Array, NoTableError, Table, ratio

MICRO: Final = "micro"
MACRO: Final = "macro"
AVERAGES: Final = (MICRO, MACRO, "weighted")
"""Averages over the classes, each against the rest."""
EVENLY: Final = ("hand_till", "one_vs_one")
OVER_PAIRS: Final = (*EVENLY, "hand_till_weighted", "one_vs_one_weighted")
"""Averages over the pairs of classes, evenly or weighted by their cases: two names each."""
ALL_AVERAGES: Final = (*AVERAGES, *OVER_PAIRS)


def average(measure: Measure, how: str, **options: Any) -> Formula:
    """The measure averaged over the classes of a confusion table, or of a class table.

    micro: of the summed counts, or of all scores in one table; macro: plain mean of the classes, each
    against the rest; weighted: mean weighted by the number of cases; hand_till: mean over the pairs of
    classes, by the score of either, or of decisions on the cases of both that are decided for either
    (one_vs_one is another name for it). What is undefined for a class is left out of the mean.

    >>> from scorespace.measures.confusion import tpr
    >>> from scorespace.tables import confusion
    >>> round(float(average(tpr, "macro")(confusion([[5, 0, 1], [0, 2, 2], [1, 1, 3]]))), 4)
    0.6444
    """

    def averaged(table: Table) -> Array:
        if how == MICRO:
            found = measure.fit(table.pooled(measure.table))
            return np.asarray(found.function(found.table, **options))
        parts = _of_pairs(measure, table, options) if how in OVER_PAIRS else by_class(measure, table, **options)
        return mean_of(parts, table.class_totals, how)

    return averaged


def mean_of(values: Array, totals: Array, how: str) -> Array:
    """The mean of the values of the classes (…, K), or of pairs of them (…, K, K), with so many cases of each."""
    if how not in OVER_PAIRS:
        return _mean(values, np.ones_like(values) if how == "macro" else totals)
    # Hand and Till's mean over pairs {i, j} of ½·(A(i|j) + A(j|i)); weighted by the share of each class i.
    ordered = (values + np.swapaxes(values, -1, -2)) / 2
    weights = np.ones_like(ordered) if how in EVENLY else np.broadcast_to(totals[..., None], ordered.shape)
    flat = (*ordered.shape[:-2], -1)
    return _mean(ordered.reshape(flat), weights.reshape(flat))


def averaging_table(measure: Measure, table: Table, how: str, asked: str) -> Table:
    """The table inside the given one over whose classes a measure is averaged; `asked` is what an error calls it."""
    try:
        over = table.averaged_over(measure.table)
        measure.refuse_scores(over)
        if how in OVER_PAIRS:
            next(iter(over.pairwise(measure.table)), None)  # refuses what has no pairs
        return over
    except NoTableError as error:
        raise measure.refused(error, asked) from None


def by_class(measure: Measure, table: Table, **options: Any) -> Array:
    """The measure (…, K) with each class in turn against the rest.

    >>> from scorespace.measures.ranking import auc
    >>> from scorespace.tables import class_table
    >>> by_class(auc, class_table(["a", "b", "c"], [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.4, 0.3, 0.3]]))
    array([1.  , 1.  , 0.75])
    """
    over = averaging_table(measure, table, "macro", f"{measure.name} of each class")
    if type(over) in measure.each:
        return np.asarray(measure.each[type(over)](over, **options))
    parts: list[Table] = over.each(measure.table)
    fitted = [measure.fit(one) for one in parts]
    return np.stack([np.asarray(one.function(one.table, **options)) for one in fitted], axis=-1)


def _of_pairs(measure: Measure, table: Table, options: dict[str, Any]) -> Array:
    """The measure (…, K, K) of each class, by its own score, against each other one."""
    if type(table) in measure.pairs:
        return np.asarray(measure.pairs[type(table)](table, **options))
    size = table.class_totals.shape[-1]
    values = np.full((*table.total.shape, size, size), np.nan)
    for i, j, one in table.pairwise(measure.table):
        found = measure.fit(one)
        values[..., i, j] = found.function(found.table, **options)
    return values


def undefined_classes(measure: Measure, table: Table, **options: Any) -> list[str]:
    """The classes that a macro or weighted average has to leave out."""
    absent = np.isnan(by_class(measure, table, **options))
    return [name for name, undefined in zip(table.class_names, absent, strict=True) if undefined]


def _mean(values: Array, weights: Array) -> Array:
    defined = ~np.isnan(values)
    used = np.where(defined, np.broadcast_to(weights, values.shape), 0.0)
    return ratio((np.where(defined, values, 0.0) * used).sum(axis=-1), used.sum(axis=-1))
