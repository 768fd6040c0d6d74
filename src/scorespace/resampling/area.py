"""The interval of an area under the ROC curve: DeLong's, on the logit scale, and Newcombe's for few cases."""

from __future__ import annotations

import math

import numpy as np

from scorespace.frozen import dataclass
from scorespace.measures.ranking import auc
from scorespace.resampling.limits import kish
from scorespace.resampling.share import normal_quantile
from scorespace.special import expit, logit
from scorespace.tables import Array, ScoreTable


def delong_variance(table: ScoreTable) -> float:
    """DeLong's variance of the AUC: var(V10)/P + var(V01)/N, from the placements at each score.

    NaN when a class has fewer than two cases, or cases have weights: a weighted form is not known to be right.
    Found once for all who ask.
    """
    if "delong_variance" not in table.__dict__:
        table.__dict__["delong_variance"] = float(delong_variances(table))
    variance: float = table.__dict__["delong_variance"]
    return variance


def delong_variances(table: ScoreTable) -> Array:
    """DeLong's variance of the AUC for every replicate of a table."""
    n_pos, n_neg = table.n_pos, table.n_neg
    enough = table.whole and np.all(n_pos >= 2) and np.all(n_neg >= 2)
    if table.cell_squares is not None or not enough:  # replicates have the same cases per class
        return np.full(n_pos.shape, np.nan)
    return _placement_variance(table.neg, table.pos, n_neg, n_pos) + _placement_variance(
        table.pos[..., ::-1], table.neg[..., ::-1], n_pos, n_neg
    )


@dataclass(frozen=True)
class WeightedVariance:
    """DeLong's variance of a weighted AUC, how many equal cases each class is worth, and how many bear the spread."""

    variance: float
    sizes: tuple[float, float]
    borne: float


def weighted_variance(table: ScoreTable) -> WeightedVariance:
    """DeLong's variance with weights: Σ w² (V − A)² / (Σw)² over each class, times m / (m − 1), m = (Σw)² / Σw².

    1 + 2k / (1 − k/n) cases bear the spread, k = (Σ U²)² / Σ U⁴ over the influences U of n cases, and at most as many
    as the rarer class has. Cases of one score and class weigh alike, or as much as they do on average.
    """
    area, own = auc(table), np.asarray(table.squares)[table.positive]
    total, cases, second, fourth = 0.0, [], 0.0, 0.0
    sizes = []
    sides = (
        (table.pos, own, table.neg[::-1].cumsum()[::-1] - table.neg / 2, table.n_neg),
        (table.neg, np.asarray(table.squares).sum(axis=0) - own, np.cumsum(table.pos) - table.pos / 2, table.n_pos),
    )
    for weight, squares, others, n_others in sides:
        apart, whole = others / n_others - area, float(weight.sum())
        unit = np.divide(squares, weight, out=np.zeros_like(apart), where=weight > 0)
        influence, number = unit * apart / whole, kish(weight, squares)
        size = max(2.0, whole * whole / float(squares.sum()))
        own_part = float(number @ influence**2)
        total += own_part * size / (size - 1)
        second, fourth = second + own_part, fourth + float(number @ influence**4)
        sizes.append(size)
        cases.append(max(2.0, float(number.sum())))
    k = second * second / fourth if fourth > 0 else sum(cases)
    borne = 1 + 2 * k / max(1e-9, 1 - k / sum(cases))
    return WeightedVariance(total, (sizes[0], sizes[1]), max(2.0, min(borne, *cases)))


def _placement_variance(judged: Array, others: Array, n_judged: Array, n_others: Array) -> Array:
    """Variance of the mean share of the other class that lies before each judged case, ties half."""
    placement = np.cumsum(others, axis=-1)
    placement -= others / 2
    placement /= n_others[..., None]
    placement -= (np.vecdot(judged, placement) / n_judged)[..., None]
    placement *= placement
    return np.asarray(np.vecdot(judged, placement) / (n_judged - 1) / n_judged)


def delong(table: ScoreTable, level: float = 0.95) -> tuple[float, float]:
    """DeLong's interval for the AUC, cut to [0, 1].

    >>> from scorespace.tables import score_table
    >>> low, high = delong(score_table([0, 0, 1, 1, 1], [0.1, 0.6, 0.4, 0.7, 0.9]))
    >>> round(low, 4), round(high, 4)
    (0.3714, 1.0)
    """
    from_table = auc(table)
    half = normal_quantile(level) * math.sqrt(delong_variance(table))
    if math.isnan(half):
        return math.nan, math.nan
    return max(0.0, from_table - half), min(1.0, from_table + half)


def delong_logit(table: ScoreTable, level: float = 0.95) -> tuple[float, float]:
    """DeLong's interval on the logit scale: expit(logit A ± z·se / (A (1 − A))); NaN for an area of 0 or 1.

    >>> from scorespace.tables import score_table
    >>> low, high = delong_logit(score_table([0, 0, 1, 1, 1], [0.1, 0.6, 0.4, 0.7, 0.9]))
    >>> round(low, 4), round(high, 4)
    (0.1523, 0.9929)
    """
    area = auc(table)
    error = math.sqrt(delong_variance(table))
    if math.isnan(error) or not 0 < area < 1:
        return math.nan, math.nan
    half = normal_quantile(level) * error / (area * (1 - area))
    return float(expit(logit(area) - half)), float(expit(logit(area) + half))
