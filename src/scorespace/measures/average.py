"""Averages of measures over classes: one-vs-rest (micro, macro, weighted) and one-vs-one (Hand & Till 2001)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from scorespace.measures.measure import Formula, Measure
from scorespace.tables import Array, NoTableError, Table, ratio

MICRO: Final = "micro"
MACRO: Final = "macro"
AVERAGES: Final = (MICRO, MACRO, "weighted")
"""Averages over one-vs-rest values."""
UNWEIGHTED_PAIR_AVERAGES: Final = ("hand_till", "one_vs_one")
PAIR_AVERAGES: Final = (*UNWEIGHTED_PAIR_AVERAGES, "hand_till_weighted", "one_vs_one_weighted")
"""Averages over pairs of classes, unweighted or weighted by class size; two names each."""
ALL_AVERAGES: Final = (*AVERAGES, *PAIR_AVERAGES)


def average(measure: Measure, how: str, **options: Any) -> Formula:
    """The measure averaged over the classes of a confusion table or a class table.

    micro: of the summed counts, or of all scores pooled; macro: unweighted mean of one-vs-rest values; weighted: mean
    weighted by class size; hand_till or one_vs_one: mean over pairs of classes, by the score of each, or for decisions
    on the cases of both that were decided for either. Undefined values are omitted from the mean.

    >>> from scorespace.measures.confusion import tpr
    >>> from scorespace.tables import confusion
    >>> round(float(average(tpr, "macro")(confusion([[5, 0, 1], [0, 2, 2], [1, 1, 3]]))), 4)
    0.6444
    """

    def averaged(table: Table) -> Array:
        if how == MICRO:
            resolved = measure.fit(table.pooled(measure.table))
            return np.asarray(resolved.function(resolved.table, **options))
        parts = _pair_values(measure, table, options) if how in PAIR_AVERAGES else by_class(measure, table, **options)
        return class_mean(parts, table.class_totals, how)

    return averaged


def class_mean(values: Array, totals: Array, how: str) -> Array:
    """Mean of the values of classes (…, K), or of pairs of classes (…, K, K), given the class sizes."""
    if how not in PAIR_AVERAGES:
        return _mean(values, np.ones_like(values) if how == "macro" else totals)
    # Hand & Till (2001): mean over pairs {i, j} of ½·(A(i|j) + A(j|i)); optionally weighted by the size of class i.
    symmetric = (values + np.swapaxes(values, -1, -2)) / 2
    weights = (
        np.ones_like(symmetric)
        if how in UNWEIGHTED_PAIR_AVERAGES
        else np.broadcast_to(totals[..., None], symmetric.shape)
    )
    flat = (*symmetric.shape[:-2], -1)
    return _mean(symmetric.reshape(flat), weights.reshape(flat))


def averaging_table(measure: Measure, table: Table, how: str, label: str) -> Table:
    """The derived table over whose classes a measure is averaged; `label` is its name in errors."""
    try:
        over = table.averaged_over(measure.table)
        measure.refuse_scores(over)
        if how in PAIR_AVERAGES:
            next(iter(over.pairwise(measure.table)), None)  # raises NoTableError if there are no pairs
        return over
    except NoTableError as error:
        raise measure.refused(error, label) from None


def by_class(measure: Measure, table: Table, **options: Any) -> Array:
    """One-vs-rest values of the measure, shape (…, K).

    >>> from scorespace.measures.ranking import auc
    >>> from scorespace.tables import class_table
    >>> by_class(auc, class_table(["a", "b", "c"], [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.4, 0.3, 0.3]]))
    array([1.  , 1.  , 0.75])
    """
    over = averaging_table(measure, table, "macro", f"{measure.name} of each class")
    if type(over) in measure.each:
        return np.asarray(measure.each[type(over)](over, **options))
    parts: list[Table] = over.each(measure.table)
    resolved = [measure.fit(part) for part in parts]
    return np.stack([np.asarray(part.function(part.table, **options)) for part in resolved], axis=-1)


def _pair_values(measure: Measure, table: Table, options: dict[str, Any]) -> Array:
    """One-vs-one values of the measure, shape (…, K, K), by the score of the row's class."""
    if type(table) in measure.pairs:
        return np.asarray(measure.pairs[type(table)](table, **options))
    size = table.class_totals.shape[-1]
    values = np.full((*table.total.shape, size, size), np.nan)
    for i, j, pair in table.pairwise(measure.table):
        resolved = measure.fit(pair)
        values[..., i, j] = resolved.function(resolved.table, **options)
    return values


def undefined_classes(measure: Measure, table: Table, **options: Any) -> list[str]:
    """Classes that a macro or weighted average omits because the measure is undefined."""
    is_undefined = np.isnan(by_class(measure, table, **options))
    return [name for name, undefined in zip(table.class_names, is_undefined, strict=True) if undefined]


def _mean(values: Array, weights: Array) -> Array:
    defined = ~np.isnan(values)
    used_weights = np.where(defined, np.broadcast_to(weights, values.shape), 0.0)
    return ratio((np.where(defined, values, 0.0) * used_weights).sum(axis=-1), used_weights.sum(axis=-1))
