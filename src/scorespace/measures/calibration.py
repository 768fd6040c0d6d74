"""Whether probabilities say what happens: distances by bins, in the large, and by a logistic fit."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final, Literal

import numpy as np

from scorespace.curves.calibration import check_bins, groups_reached
from scorespace.measures.cox import dot, logistic_fit, logits, offset_fit
from scorespace.measures.decomposition import BY_CHANCE, grouped, share_of
from scorespace.measures.measure import INF, Formula, by_size
from scorespace.measures.probability import of_probabilities
from scorespace.tables import Array, ScoreTable, ratio

_of_groups = partial(of_probabilities, range=(0, 1), best="low", interval="inverted", of_several="top")
_neither = partial(of_probabilities, range=(-INF, INF), best=None)
BINS: Final = 15
"""Bins of ECE and MCE, as in Guo et al. (2017)."""
Bins = Annotated[int, "number of bins"]
By = Annotated[Literal["width", "count"], "bins of equal width, or of equal count"]


def _certain_ece(formula: Formula, t: ScoreTable, *, bins: Bins = BINS, by: By = "width") -> list[Array]:
    """Only cases of a bin that straddles two groups can be in the other one; each moves both sums by at most one."""
    _, distance, inward, outward = _certain_groups(t, bins, by)
    middle, moved = ratio(distance.sum(), t.total), ratio(inward.sum() + outward.sum(), t.total)
    return [np.maximum(middle - moved, 0.0), np.minimum(middle + moved, 1.0)]


def _certain_groups(t: ScoreTable, bins: int, by: str) -> tuple[Array, Array, Array, Array]:
    """By group: cases, |positives − Σ s|, and the weight of cases that may belong to it, or elsewhere.

    A bin counts for the lowest group that it may reach into.
    """
    check_bins(by, bins, ("width", "count"))
    lowest, highest = groups_reached(t, bins, by)
    cases = t.counts.sum(axis=-2, dtype=np.float64)
    apart = t.pos - t.binned.first.sum(axis=0)
    size, gap = (np.bincount(lowest, one, bins) for one in (cases, apart))
    torn = highest > lowest
    outward = np.bincount(lowest[torn], cases[torn], bins)
    inward = np.zeros(bins + 1)
    np.add.at(inward, lowest[torn] + 1, cases[torn])
    np.subtract.at(inward, highest[torn] + 1, cases[torn])
    return size, np.abs(gap), np.cumsum(inward)[:-1], outward


@_of_groups(
    title="Expected calibration error",
    aliases=("expected_calibration_error",),
    biased=BY_CHANCE,
    certain=_certain_ece,
)
def ece(t: ScoreTable, *, bins: Bins = BINS, by: By = "width") -> Array:
    """Mean distance of mean score and rate over bins of equal width or count: Σ n_k |o_k − f_k| / n."""
    _, hits, scores = grouped(t, bins, by)
    return ratio(np.abs(hits - scores).sum(axis=-1), t.total)


def _certain_mce(formula: Formula, t: ScoreTable, *, bins: Bins = BINS, by: By = "width") -> list[Array]:
    size, distance, inward, outward = _certain_groups(t, bins, by)
    moved = inward + outward
    fewest = size - outward
    least = share_of(np.maximum(distance - moved, 0.0), size + inward)
    most = np.where(
        fewest > 0, np.minimum(share_of(distance + moved, fewest), 1.0), np.where(size + inward > 0, 1.0, 0.0)
    )
    return [least.max(initial=0.0), most.max(initial=0.0)]


@_of_groups(
    title="Maximum calibration error",
    aliases=("maximum_calibration_error", "max_calibration_error"),
    biased="too high on small samples: it is the largest of many distances",
    covers="it holds the truth in up to all samples",
    certain=_certain_mce,
)
def mce(t: ScoreTable, *, bins: Bins = BINS, by: By = "width") -> Array:
    """Largest distance of mean score and rate over bins of equal width or count: max |o_k − f_k|."""
    cases, hits, scores = grouped(t, bins, by)
    return np.where(t.total > 0, share_of(np.abs(hits - scores), cases).max(axis=-1, initial=0.0), np.nan)


def _certain_cal_large(formula: Formula, t: ScoreTable) -> list[Array]:
    """Exact, from the sum of the scores."""
    return [ratio(t.n_pos - t.binned.first.sum(), t.total)]


@_neither(
    title="Calibration in the large",
    range=(-1, 1),
    aliases=("calibration_in_the_large", "mean_calibration"),
    certain=_certain_cal_large,
)
def cal_large(t: ScoreTable) -> Array:
    """Share of positives minus mean score, positive where scores are too low: o − mean p."""
    return ratio(t.n_pos - dot(t.pos + t.neg, t.score), t.total)


_NO_OVERLAP = "the classes do not overlap in scores between 0 and 1, or all these scores are the same"


@_neither(
    title="Calibration slope",
    undefined=_NO_OVERLAP,
    aliases=("calibration_slope", "cox_slope"),
    interval="shifted",
    covers="of scores with heavy tails, and of weighted ones, it holds the truth in 86 to 90 % of samples",
)
def cal_slope(t: ScoreTable) -> Array:
    """Slope b of the logistic fit logit P(y) = a + b · logit p: below 1 for overconfident scores.

    Scores of exactly 0 and 1 have no finite logit and are left out.
    """
    return logistic_fit(*logits(t)).slope


@_neither(
    title="Calibration intercept, with the slope",
    undefined=_NO_OVERLAP,
    aliases=("calibration_intercept", "cox_intercept"),
)
def cal_intercept(t: ScoreTable) -> Array:
    """Intercept a of the logistic fit logit P(y) = a + b · logit p, fitted together with the slope b.

    Not the intercept for a slope of 1, which is `cal_offset`. Scores of 0 and 1 are left out.
    """
    return logistic_fit(*logits(t)).intercept


def _certain_cal_offset(formula: Formula, t: ScoreTable) -> list[Array] | None:
    """It falls with every score; but a bin that holds 0 or 1 and other scores would be left out or not."""
    torn = t.bins is not None and bool(np.any(t.bins.loose & ((t.bins.low == 0) | (t.bins.high == 1))))
    return None if torn else by_size(formula, t)


@_neither(
    title="Calibration intercept, for slope 1",
    undefined="a class has no scores between 0 and 1",
    aliases=("calibration_offset", "offset_intercept"),
    certain=_certain_cal_offset,
)
def cal_offset(t: ScoreTable) -> Array:
    """Intercept a of logit P(y) = a + logit p, the slope held at 1: positive where scores are too low.

    Scores of 0 and 1 are left out.
    """
    return offset_fit(*logits(t))
