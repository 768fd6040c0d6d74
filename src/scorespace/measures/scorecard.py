"""Measures of scorecards: information value and divergence of the scores of two classes.

References: Siddiqi (2006), "Credit Risk Scorecards", Wiley (weight of evidence, information value); Thomas, Edelman and
Crook (2002), "Credit Scoring and Its Applications", SIAM (divergence); Kullback (1959), "Information Theory and
Statistics", Wiley (the test).
"""

from __future__ import annotations

from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import MeasureError
from scorespace.measures.measure import INF, NOT_SIMULATED, measure
from scorespace.tables import Array, ScoreTable, ratio

BINS: Final = 10
ADDED: Final = 0.5
"""Added to every count, so that an empty bin has a finite weight of evidence."""

_ROUNDING: Final = 1e-24  # relative variance of equal scores

Bins = Annotated[int, "bins with about equally many cases; equal scores share one"]


def quantile_bins(score: Array, cases: Array, bins: int) -> NDArray[np.intp]:
    """Bin of each distinct score, lowest first: by the share of cases with a lower score; equal scores share a bin.

    >>> quantile_bins(np.array([0.9, 0.4, 0.1]), np.array([2.0, 1.0, 1.0]), 2).tolist()
    [1, 0, 0]
    """
    order = np.argsort(score, kind="stable")
    below = np.cumsum(cases[order]) - cases[order]
    bin_ = np.floor(bins * below / max(cases.sum(), 1e-300) + 1e-9).astype(np.intp)
    found = np.empty(score.size, dtype=np.intp)
    found[order] = np.unique(bin_, return_inverse=True)[1]
    return found


def jeffreys_divergence(first: Array, second: Array, add: float = ADDED) -> Array:
    """Σ (f − s) · ln(f / s) of the shares of two rows of counts (last axis), with `add` added to every count.

    Bins without a case in either row do not count.
    """
    used = (np.asarray(first) + np.asarray(second)) > 0
    shares = []
    for counts in (first, second):
        filled = np.where(used, np.asarray(counts, dtype=np.float64) + add, 0.0)
        shares.append(np.asarray(ratio(filled, filled.sum(axis=-1, keepdims=True))))
    f, s = shares
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where((f == s) | ~used, 0.0, (f - s) * np.log(f / s))
    return np.asarray(terms.sum(axis=-1))


def counts_in_bins(t: ScoreTable, bins: int) -> tuple[Array, Array]:
    """Positives and negatives in quantile bins of the cases of each replicate (…, bins), lowest scores first."""
    if bins < 2:
        raise MeasureError(f"bins={bins:g} is not a number of bins.", hint="2 or more, such as bins=10")
    size = min(int(bins), max(1, t.score.size))
    cases = t.pos + t.neg
    total = cases.sum(axis=-1, keepdims=True)
    below = total - np.cumsum(cases, axis=-1)
    bin_ = np.clip(np.floor(bins * ratio(below, total) + 1e-9), 0, bins - 1)
    if bins > size:  # at most as many bins as scores: number those that occur
        bin_ = np.cumsum(np.diff(bin_[..., ::-1], axis=-1, prepend=bin_[..., -1:]) > 0, axis=-1)[..., ::-1]
    rows = bin_.reshape(-1, t.score.size).astype(np.intp)
    place = (np.arange(rows.shape[0])[:, None] * size + rows).ravel()
    shape = (*cases.shape[:-1], size)
    positives, negatives = (
        np.bincount(place, side.ravel(), rows.shape[0] * size).reshape(shape) for side in (t.pos, t.neg)
    )
    return positives, negatives


@measure(
    title="Information value",
    range=(0, INF),
    best="high",
    undefined="a class has no cases",
    infinite="a bin has cases of one class only; add=0.5 avoids it",
    aliases=("information_value",),
    interval="noncentral-chi2",
    biased="upwards: about (B − 1) (1/n₁ + 1/n₀) by chance in B bins",
)
def iv(
    t: ScoreTable, *, bins: Bins = BINS, add: Annotated[float, "added to every count of a bin and class"] = ADDED
) -> Array:
    """Information value Σ (g − b) · ln(g / b), g and b the shares of negatives and of positives in quantile bins."""
    positives, negatives = counts_in_bins(t, bins)
    value = jeffreys_divergence(negatives, positives, add)
    return np.where((t.n_pos > 0) & (t.n_neg > 0), value, np.nan)


@measure(
    title="Divergence",
    range=(0, INF),
    best="high",
    undefined="a class has no cases, or all scores are equal",
    infinite="all scores of each class are equal",
    stratified=True,
    coverage_note=NOT_SIMULATED,
)
def divergence(t: ScoreTable) -> Array:
    """Squared difference of the mean scores relative to the mean variance: (μ₁ − μ₀)² / (½ (σ₁² + σ₀²))."""
    means, variances = [], []
    for counts in (t.pos, t.neg):
        total = counts.sum(axis=-1)
        mean = ratio(counts @ t.score, total)
        means.append(mean)
        centred = (t.score - np.asarray(mean)[..., None]) ** 2
        variance = np.asarray(ratio((counts * centred).sum(axis=-1), total))
        variances.append(np.where(variance > _ROUNDING * np.abs(t.score).max(initial=0.0) ** 2, variance, 0.0))
    gap = np.abs(np.asarray(means[0]) - np.asarray(means[1]))
    gap = np.where(gap > 1e-12 * np.abs(t.score).max(initial=0.0), gap, 0.0)
    spread = (variances[0] + variances[1]) / 2
    return np.where(np.isnan(means[0]) | np.isnan(means[1]), np.nan, ratio(gap**2, spread))
