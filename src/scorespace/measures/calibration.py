"""Measures of calibration: binned errors, calibration in the large, and logistic recalibration."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final, Literal

import numpy as np

from scorespace.curves.calibration import check_bins, possible_groups
from scorespace.measures.decomposition import BY_CHANCE, group_sums_of, share_of
from scorespace.measures.logistic_recalibration import dot, logistic_fit, logits, offset_fit
from scorespace.measures.measure import INF, Formula, bounds_by_score
from scorespace.measures.probability import probability_measure
from scorespace.tables import Array, ScoreTable, ratio

_binned_error = partial(
    probability_measure, range=(0, 1), best="low", interval="test-inversion", multiclass_default="top"
)
_undirected_measure = partial(probability_measure, range=(-INF, INF), best=None)
BINS: Final = 15
"""Number of bins of ECE and MCE, as in Guo et al. (2017)."""
Bins = Annotated[int, "number of bins"]
By = Annotated[Literal["width", "count"], "bins of equal width, or of equal count"]


def _ece_bounds(formula: Formula, t: ScoreTable, *, bins: Bins = BINS, by: By = "width") -> list[Array]:
    """Only cases of a bin that straddles two groups can be in the other one; each changes both sums by at most one."""
    _, distance, inward, outward = _group_bounds(t, bins, by)
    value, change = ratio(distance.sum(), t.total), ratio(inward.sum() + outward.sum(), t.total)
    return [np.maximum(value - change, 0.0), np.minimum(value + change, 1.0)]


def _group_bounds(t: ScoreTable, bins: int, by: str) -> tuple[Array, Array, Array, Array]:
    """Of each group: cases, |positives − Σ s|, and the weights of cases that may also belong to it, or elsewhere.

    A bin is assigned to the lowest group that it may belong to.
    """
    check_bins(by, bins, ("width", "count"))
    lowest, highest = possible_groups(t, bins, by)
    cases = t.counts.sum(axis=-2, dtype=np.float64)
    difference = t.pos - t.binned.first.sum(axis=0)
    size, gap = (np.bincount(lowest, values, bins) for values in (cases, difference))
    straddles = highest > lowest
    outward = np.bincount(lowest[straddles], cases[straddles], bins)
    inward = np.zeros(bins + 1)
    np.add.at(inward, lowest[straddles] + 1, cases[straddles])
    np.subtract.at(inward, highest[straddles] + 1, cases[straddles])
    return size, np.abs(gap), np.cumsum(inward)[:-1], outward


@_binned_error(
    title="Expected calibration error",
    aliases=("expected_calibration_error",),
    biased=BY_CHANCE,
    bounds=_ece_bounds,
)
def ece(t: ScoreTable, *, bins: Bins = BINS, by: By = "width") -> Array:
    """Weighted mean of |observed rate − mean score| over bins of equal width or count: Σ n_k |o_k − f_k| / n."""
    _, hits, scores = group_sums_of(t, bins, by)
    return ratio(np.abs(hits - scores).sum(axis=-1), t.total)


def _mce_bounds(formula: Formula, t: ScoreTable, *, bins: Bins = BINS, by: By = "width") -> list[Array]:
    size, distance, inward, outward = _group_bounds(t, bins, by)
    change = inward + outward
    fewest = size - outward
    least = share_of(np.maximum(distance - change, 0.0), size + inward)
    most = np.where(
        fewest > 0, np.minimum(share_of(distance + change, fewest), 1.0), np.where(size + inward > 0, 1.0, 0.0)
    )
    return [least.max(initial=0.0), most.max(initial=0.0)]


@_binned_error(
    title="Maximum calibration error",
    aliases=("maximum_calibration_error", "max_calibration_error"),
    biased="too high in small samples: it is the largest of many distances",
    coverage_note="covers the true value in up to all samples",
    bounds=_mce_bounds,
)
def mce(t: ScoreTable, *, bins: Bins = BINS, by: By = "width") -> Array:
    """Largest |observed rate − mean score| over bins of equal width or count: max |o_k − f_k|."""
    cases, hits, scores = group_sums_of(t, bins, by)
    return np.where(t.total > 0, share_of(np.abs(hits - scores), cases).max(axis=-1, initial=0.0), np.nan)


def _cal_large_bounds(formula: Formula, t: ScoreTable) -> list[Array]:
    """Exact, from the sum of the scores."""
    return [ratio(t.n_pos - t.binned.first.sum(), t.total)]


@_undirected_measure(
    title="Calibration in the large",
    range=(-1, 1),
    aliases=("calibration_in_the_large", "mean_calibration"),
    bounds=_cal_large_bounds,
)
def cal_large(t: ScoreTable) -> Array:
    """Prevalence minus mean score, positive if scores are too low: o − mean p."""
    return ratio(t.n_pos - dot(t.pos + t.neg, t.score), t.total)


def _oe_bounds(formula: Formula, t: ScoreTable) -> list[Array]:
    """Exact, from the sum of the scores."""
    return [ratio(t.n_pos, t.binned.first.sum())]


@_undirected_measure(
    title="Observed to expected ratio (O:E)",
    range=(0, INF),
    undefined="there are no positives, and the sum of the scores is 0",
    infinite="the sum of the scores is 0",
    aliases=("o_e", "observed_expected"),
    interval="oe-score",
    bounds=_oe_bounds,
)
def oe(t: ScoreTable) -> Array:
    """Positives relative to the sum of the scores, above 1 if scores are too low: Σy / Σp."""
    return ratio(t.n_pos, dot(t.pos + t.neg, t.score))


_NO_OVERLAP = "the classes do not overlap in scores between 0 and 1, or all these scores are the same"


@_undirected_measure(
    title="Calibration slope",
    undefined=_NO_OVERLAP,
    aliases=("calibration_slope", "cox_slope"),
    interval="bias-shifted",
    coverage_note="scores with heavy tails, weighted cases: covers in 86 to 90 % of samples",
)
def cal_slope(t: ScoreTable) -> Array:
    """Slope b of the logistic recalibration logit P(y) = a + b · logit p; below 1 for overconfident scores (Cox 1958).

    Scores of exactly 0 and 1 have no finite logit and are omitted.
    """
    return logistic_fit(*logits(t)).slope


@_undirected_measure(
    title="Calibration intercept, with the slope",
    undefined=_NO_OVERLAP,
    aliases=("calibration_intercept", "cox_intercept"),
)
def cal_intercept(t: ScoreTable) -> Array:
    """Intercept a of the logistic recalibration logit P(y) = a + b · logit p, fitted together with the slope b.

    The intercept for slope 1 is `cal_offset`. Scores of 0 and 1 are omitted.
    """
    return logistic_fit(*logits(t)).intercept


def _cal_offset_bounds(formula: Formula, t: ScoreTable) -> list[Array] | None:
    """It decreases with every score; unknown if a bin holds 0 or 1 and other scores, since 0 and 1 are omitted."""
    has_mixed_bin = t.bins is not None and bool(np.any(t.bins.is_mixed & ((t.bins.low == 0) | (t.bins.high == 1))))
    return None if has_mixed_bin else bounds_by_score(formula, t)


@_undirected_measure(
    title="Calibration intercept, for slope 1",
    undefined="a class has no scores between 0 and 1",
    aliases=("calibration_offset", "offset_intercept"),
    bounds=_cal_offset_bounds,
)
def cal_offset(t: ScoreTable) -> Array:
    """Intercept a of logit P(y) = a + logit p, with the slope fixed at 1; positive if scores are too low.

    Scores of 0 and 1 are omitted.
    """
    return offset_fit(*logits(t))
