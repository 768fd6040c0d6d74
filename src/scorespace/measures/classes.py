"""Measures of the scores of several classes: sums over the classes, or of the highest scores."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from scorespace.errors import MeasureError
from scorespace.measures.average import by_class
from scorespace.measures.decomposition import cal, ref, unc
from scorespace.measures.measure import NO_CASES, NOT_SIMULATED, Formula, Measure, measure
from scorespace.measures.probability import Base, Eps, brier, brier_skill, check_log_options, logloss
from scorespace.measures.ranking import auc
from scorespace.tables import Array, ClassTable, ratio


@measure(
    title="Top-k accuracy",
    range=(0, 1),
    best="high",
    undefined=NO_CASES,
    aliases=("top_k_accuracy", "top_k_accuracy_score", "top_k_acc", "hits_at_k"),
    interval="logit-t",
    covers=NOT_SIMULATED,
)
def top_k(t: ClassTable, *, k: Annotated[int, "how many classes may be named"] = 2) -> Array:
    """Share of cases whose class is among those of the k highest scores, ties sharing the places: Σ [rank ≤ k] / n.

    >>> from scorespace.tables import class_table
    >>> top_k(class_table(["a", "b", "c", "a"], [[0.6, 0.3, 0.1], [0.5, 0.3, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1]]))
    0.75
    """
    if k < 1:
        raise MeasureError(f"k={k} names no class.", hint="a whole number from 1 on, such as k=2")
    own = np.take_along_axis(t.score, t.label[None, :], axis=0)
    above, tied = (t.score > own).sum(axis=0), (t.score == own).sum(axis=0)
    return _mean(t, np.clip((k - above) / tied, 0, 1))


@brier.on
def _brier(t: ClassTable) -> Array:
    """Squared distance from what happened, summed over the classes, from 0 to 2: Σ Σ_k (p_k − y_k)² / n."""
    own = np.take_along_axis(t.score, t.label[None, :], axis=0)[0]
    return _mean(t, np.einsum("kn,kn->n", t.score, t.score) - 2 * own + 1)


@logloss.on
def _logloss(t: ClassTable, *, base: Base = None, eps: Eps = 0.0) -> Array:
    """Mean surprise at the class that happened: −Σ log p_y / n."""
    check_log_options(base, eps)
    own = np.take_along_axis(t.score, t.label[None, :], axis=0)[0]
    with np.errstate(divide="ignore"):
        surprise = -np.log(np.clip(own, eps, 1.0)) + 0.0  # 0, not −0
    return _mean(t, surprise / (1.0 if base is None else np.log(base)))


def impossible_cases(t: ClassTable) -> float:
    """The weight of the cases whose class was given no chance, which make the log loss infinite."""
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
    """The mean over the cases of a loss of each; a case of weight 0 adds nothing, whatever its loss."""
    weight = t.case_weight
    lost = np.isinf(loss)
    found = weight @ np.where(lost, 0.0, loss)
    if lost.any():
        found = np.where(weight[..., lost].sum(axis=-1) > 0, np.inf, found)
    return ratio(found, t.total)


def _auc_of_each_class(t: ClassTable) -> Array:
    """All at once, from the pairs: a case of the class against one of any other."""
    totals, pairs = t.class_totals, t.concordant_pairs()
    others = np.where(np.eye(len(t.classes), dtype=bool), 0.0, pairs).sum(axis=-1)
    return ratio(others, totals * (totals.sum(axis=-1, keepdims=True) - totals))


def _summed(measure: Measure) -> Formula:
    """The measure as the sum of those of each class against the rest."""
    return lambda t: by_class(measure, t).sum(axis=-1)


auc.each[ClassTable], auc.pairs[ClassTable] = _auc_of_each_class, ClassTable.pair_areas
cal.functions[ClassTable], ref.functions[ClassTable] = map(_summed, (cal, ref))
brier.ranges[ClassTable] = cal.ranges[ClassTable] = (0, 2)
ref.ranges[ClassTable] = unc.ranges[ClassTable] = (0, 1)
