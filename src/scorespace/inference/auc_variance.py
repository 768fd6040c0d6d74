"""Variance of the AUC by DeLong et al. (1988), also with weights, and its normal and logit confidence intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from scorespace.inference.interval_formulas import effective_sample_size
from scorespace.inference.proportion import normal_quantile
from scorespace.measures.ranking import auc
from scorespace.tables import Array, ScoreTable


def delong_variance(table: ScoreTable) -> float:
    """DeLong's variance of the AUC: var(V10)/P + var(V01)/N, from the placements at each score.

    NaN when a class has fewer than two cases, or cases have weights: see `weighted_variance`. Cached on the table.
    """
    if "delong_variance" not in table.__dict__:
        table.__dict__["delong_variance"] = float(delong_variances(table))
    variance: float = table.__dict__["delong_variance"]
    return variance


def delong_variances(table: ScoreTable) -> Array:
    """DeLong's variance of the AUC for every replicate of a table."""
    n_pos, n_neg = table.n_pos, table.n_neg
    has_two_per_class = table.whole and np.all(n_pos >= 2) and np.all(n_neg >= 2)
    if table.cell_squares is not None or not has_two_per_class:  # replicates have the same class sizes
        return np.full(n_pos.shape, np.nan)
    return _placement_variance(table.neg, table.pos, n_neg, n_pos) + _placement_variance(
        table.pos[..., ::-1], table.neg[..., ::-1], n_pos, n_neg
    )


@dataclass(frozen=True)
class WeightedVariance:
    """DeLong's variance of a weighted AUC, effective class sizes, and the Satterthwaite number of cases."""

    variance: float
    sizes: tuple[float, float]
    df_cases: float


def weighted_variance(table: ScoreTable) -> WeightedVariance:
    """DeLong's variance with weights: Σ w² (V − A)² / (Σw)² over each class, times m / (m − 1), m = (Σw)² / Σw².

    The Satterthwaite number of cases is 1 + 2k / (1 − k/n), k = (Σ U²)² / Σ U⁴ over the influences U of n cases, at
    most the effective size of the rarer class. Cases of one score and class have their mean weight.
    """
    area, pos_squares = auc(table), np.asarray(table.squares)[table.positive]
    total, cases, second, fourth = 0.0, [], 0.0, 0.0
    sizes = []
    sides = (
        (table.pos, pos_squares, table.neg[::-1].cumsum()[::-1] - table.neg / 2, table.n_neg),
        (
            table.neg,
            np.asarray(table.squares).sum(axis=0) - pos_squares,
            np.cumsum(table.pos) - table.pos / 2,
            table.n_pos,
        ),
    )
    for weight, squares, others, n_others in sides:
        deviation, class_weight = others / n_others - area, float(weight.sum())
        unit = np.divide(squares, weight, out=np.zeros_like(deviation), where=weight > 0)
        influence, effective = unit * deviation / class_weight, effective_sample_size(weight, squares)
        size = max(2.0, class_weight * class_weight / float(squares.sum()))
        variance = float(effective @ influence**2)
        total += variance * size / (size - 1)
        second, fourth = second + variance, fourth + float(effective @ influence**4)
        sizes.append(size)
        cases.append(max(2.0, float(effective.sum())))
    k = second * second / fourth if fourth > 0 else sum(cases)
    df_cases = 1 + 2 * k / max(1e-9, 1 - k / sum(cases))
    return WeightedVariance(total, (sizes[0], sizes[1]), max(2.0, min(df_cases, *cases)))


def _placement_variance(cases: Array, others: Array, n_cases: Array, n_others: Array) -> Array:
    """Variance of the mean placement of the cases of one class among the other, ties counting half."""
    placement = np.cumsum(others, axis=-1)
    placement -= others / 2
    placement /= n_others[..., None]
    placement -= (np.vecdot(cases, placement) / n_cases)[..., None]
    placement *= placement
    return np.asarray(np.vecdot(cases, placement) / (n_cases - 1) / n_cases)


def delong_interval(table: ScoreTable, level: float = 0.95) -> tuple[float, float]:
    """DeLong's confidence interval for the AUC, clipped to [0, 1].

    >>> from scorespace.tables import score_table
    >>> low, high = delong_interval(score_table([0, 0, 1, 1, 1], [0.1, 0.6, 0.4, 0.7, 0.9]))
    >>> round(low, 4), round(high, 4)
    (0.3714, 1.0)
    """
    area = auc(table)
    half = normal_quantile(level) * math.sqrt(delong_variance(table))
    if math.isnan(half):
        return math.nan, math.nan
    return max(0.0, area - half), min(1.0, area + half)


def delong_logit(table: ScoreTable, level: float = 0.95) -> tuple[float, float]:
    """DeLong's interval on the logit scale: expit(logit A ± z·se / (A (1 − A))); NaN for an AUC of 0 or 1.

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
