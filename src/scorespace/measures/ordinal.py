"""Measures of classes that have an order: how far decisions and probabilities are off, and not only whether."""

from __future__ import annotations

import numpy as np

from scorespace.measures.measure import INF, NO_CASES, NOT_SIMULATED, measure
from scorespace.tables import Array, ClassTable, ConfusionTable, ratio
from scorespace.tables.labels import check_order, distances


@measure(
    covers=NOT_SIMULATED,
    title="Mean class distance",
    range=(0, INF),
    best="low",
    undefined=NO_CASES,
    aliases=("mean_absolute_class_distance", "mean_class_distance"),
)
def class_distance(t: ConfusionTable) -> Array:
    """How many classes decisions are off on average, of classes in order: Σ |i − j| · n_ij / n.

    >>> from scorespace.tables import confusion
    >>> class_distance(confusion([[3, 1, 0], [0, 2, 0], [1, 0, 3]], classes=["1", "2", "3"]))
    0.3
    """
    return ratio((t.matrix * distances(t.classes, t.ordinal)).sum(axis=(-2, -1)), t.total)


@measure(
    covers=NOT_SIMULATED,
    title="Ranked probability score",
    range=(0, 1),
    best="low",
    undefined=NO_CASES,
    aliases=("ranked_probability_score",),
    probability=True,
    interval="log-t",
)
def rps(t: ClassTable) -> Array:
    """Squared distance of the probabilities summed up to each class, in order: Σ_k (F_k − [y ≤ k])² / (K − 1), mean.

    Of two classes it is the Brier score.
    """
    check_order(t.classes, t.ordinal)
    size = len(t.classes)
    below = np.cumsum(t.score, axis=0)[:-1]
    happened = t.label[None, :] <= np.arange(size - 1)[:, None]
    loss = ((below - happened) ** 2).sum(axis=0) / (size - 1)
    return ratio((t.case_weight * loss).sum(axis=-1), t.total)
