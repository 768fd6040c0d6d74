"""Multiclass measures of scores: top-k accuracy, ranked probability score, and sums over classes."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from scorespace.errors import MeasureError
from scorespace.measures.average import by_class
from scorespace.measures.decomposition import cal, ref, unc
from scorespace.measures.measure import INF, NO_CASES, NOT_SIMULATED, Formula, Measure, measure
from scorespace.measures.probability import Base, Eps, brier, brier_skill, check_log_options, logloss
from scorespace.measures.ranking import auc
from scorespace.tables import Array, ClassTable, ConfusionTable, ratio
from scorespace.tables.labels import check_order, distances


@measure(
    title="Top-k accuracy",
    range=(0, 1),
    best="high",
    undefined=NO_CASES,
    aliases=("top_k_accuracy", "top_k_accuracy_score", "top_k_acc", "hits_at_k"),
    interval="logit-t",
    coverage_note=NOT_SIMULATED,
)
def top_k(t: ClassTable, *, k: Annotated[int, "number of classes considered"] = 2) -> Array:
    """Share of cases whose class has one of the k highest scores; ties share the places: Σ [rank ≤ k] / n.

    >>> from scorespace.tables import class_table
    >>> top_k(class_table(["a", "b", "c", "a"], [[0.6, 0.3, 0.1], [0.5, 0.3, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1]]))
    0.75
    """
    if k < 1:
        raise MeasureError(f"k={k} must be at least 1.", hint="a whole number, such as k=2")
    own = np.take_along_axis(t.score, t.label[None, :], axis=0)
    above, tied = (t.score > own).sum(axis=0), (t.score == own).sum(axis=0)
    return _mean(t, np.clip((k - above) / tied, 0, 1))


@brier.on
def _brier(t: ClassTable) -> Array:
    """Squared distance from the outcome, summed over the classes, from 0 to 2: Σ Σ_k (p_k − y_k)² / n."""
    own = np.take_along_axis(t.score, t.label[None, :], axis=0)[0]
    return _mean(t, np.einsum("kn,kn->n", t.score, t.score) - 2 * own + 1)


@logloss.on
def _logloss(t: ClassTable, *, base: Base = None, eps: Eps = 0.0) -> Array:
    """Mean negative log probability of the actual class: −Σ log p_y / n."""
    check_log_options(base, eps)
    own = np.take_along_axis(t.score, t.label[None, :], axis=0)[0]
    with np.errstate(divide="ignore"):
        losses = -np.log(np.clip(own, eps, 1.0)) + 0.0  # 0, not −0
    return _mean(t, losses / (1.0 if base is None else np.log(base)))


def zero_probability_weight(t: ClassTable) -> float:
    """Weight of the cases whose class has probability 0, which make the log loss infinite."""
    own = np.take_along_axis(t.score, t.label[None, :], axis=0)[0]
    return float(t.case_weight[own == 0].sum())


@unc.on
def _unc(t: ClassTable) -> Array:
    share = ratio(t.class_totals, t.total[..., None])
    return (share * (1 - share)).sum(axis=-1)


@brier_skill.on
def _brier_skill(t: ClassTable) -> Array:
    base = _unc(t)
    return np.where(base > 0, 1 - ratio(_brier(t), base), np.nan)


def _mean(t: ClassTable, loss: Array) -> Array:
    """Weighted mean of the losses of the cases; an infinite loss of weight 0 adds nothing."""
    weight = t.case_weight
    is_infinite = np.isinf(loss)
    total = weight @ np.where(is_infinite, 0.0, loss)
    if is_infinite.any():
        total = np.where(weight[..., is_infinite].sum(axis=-1) > 0, np.inf, total)
    return ratio(total, t.total)


def _one_vs_rest_auc(t: ClassTable) -> Array:
    """One-vs-rest AUC of all classes at once, from the concordant pairs."""
    totals, pairs = t.class_totals, t.concordant_pairs()
    others = np.where(np.eye(len(t.classes), dtype=bool), 0.0, pairs).sum(axis=-1)
    return ratio(others, totals * (totals.sum(axis=-1, keepdims=True) - totals))


def _sum_over_classes(measure: Measure) -> Formula:
    """The measure as the sum of its one-vs-rest values."""
    return lambda t: by_class(measure, t).sum(axis=-1)


auc.each[ClassTable], auc.pairs[ClassTable] = _one_vs_rest_auc, ClassTable.pair_areas
cal.functions[ClassTable], ref.functions[ClassTable] = map(_sum_over_classes, (cal, ref))
brier.ranges[ClassTable] = cal.ranges[ClassTable] = (0, 2)
ref.ranges[ClassTable] = unc.ranges[ClassTable] = (0, 1)


@measure(
    coverage_note=NOT_SIMULATED,
    title="Mean class distance",
    range=(0, INF),
    best="low",
    undefined=NO_CASES,
    aliases=("mean_absolute_class_distance", "mean_class_distance"),
)
def class_distance(t: ConfusionTable) -> Array:
    """Mean number of classes between decision and truth, for ordered classes: Σ |i − j| · n_ij / n.

    >>> from scorespace.tables import confusion
    >>> class_distance(confusion([[3, 1, 0], [0, 2, 0], [1, 0, 3]], classes=["1", "2", "3"]))
    0.3
    """
    return ratio((t.matrix * distances(t.classes, t.ordinal)).sum(axis=(-2, -1)), t.total)


@measure(
    coverage_note=NOT_SIMULATED,
    title="Ranked probability score",
    range=(0, 1),
    best="low",
    undefined=NO_CASES,
    aliases=("ranked_probability_score",),
    probability=True,
    interval="log-t",
)
def rps(t: ClassTable) -> Array:
    """Mean squared difference of cumulative probabilities, for ordered classes: Σ_k (F_k − [y ≤ k])² / (K − 1).

    For two classes it is the Brier score (Epstein 1969).
    """
    check_order(t.classes, t.ordinal)
    size = len(t.classes)
    below = np.cumsum(t.score, axis=0)[:-1]
    happened = t.label[None, :] <= np.arange(size - 1)[:, None]
    loss = ((below - happened) ** 2).sum(axis=0) / (size - 1)
    return ratio((t.case_weight * loss).sum(axis=-1), t.total)
