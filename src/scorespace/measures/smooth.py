"""AUC variants that depend on score values, not only on their order."""

from __future__ import annotations

from functools import partial

import numpy as np

from scorespace.curves.midpoint import Midpoint, Recentre, midpoints
from scorespace.curves.smooth import soft_label_bounds, softened, split_at_midpoint
from scorespace.measures.measure import ONE_CLASS, Formula, bounds_by_order, measure
from scorespace.measures.ranking import concordant_pairs
from scorespace.tables import Array, ScoreTable, ratio

_pair_measure = partial(measure, range=(0, 1), best="high", undefined=ONE_CLASS, probability=True, stratified=True)


def _smauc_bounds(
    formula: Formula, t: ScoreTable, *, midpoint: Midpoint = "mean", recentre: Recentre = False
) -> list[Array] | None:
    """Bounds from those of the soft labels in each bin, in the worst and the best order inside it."""
    soft_bounds = soft_label_bounds(t, midpoint, recentre)
    if soft_bounds is None:
        return None
    least, most = soft_bounds
    size, loose = t.pos + t.neg, t.binned.is_mixed
    heights = np.array([least.sum(), most.sum()])
    if heights[0] < size.sum() / 2 < heights[1]:
        heights = np.append(heights, size.sum() / 2)
    pairs = heights * (size.sum() - heights)
    if not pairs.min() > 0 or not t.n_pos * t.n_neg > 0:  # also if NaN
        return None
    ends = []
    for up, across, share in ((least, size - most, 0.0), (most, size - least, 1.0)):
        after = across.sum() - np.cumsum(across)
        ends.append(float(up @ after + (up * across) @ np.where(loose, share, 0.5)))
    return [np.asarray(ends[0] / pairs.max()), np.minimum(ends[1] / pairs.min(), 1.0)]


def _ease_bounds(formula: Formula, t: ScoreTable, *, midpoint: Midpoint = "mean") -> list[Array] | None:
    """On each side of the midpoint the ease is linear in the score; in the bin of the midpoint it is almost zero."""
    sums = split_at_midpoint(t, midpoint)
    least, most = sums.ends
    if not (least > 1e-9 and most < 1 - 1e-9):
        return None

    def ease_sums(positive: bool, middle: tuple[float, float]) -> tuple[Array, Array]:
        above = sums.line(positive, -middle[0] / (1 - middle[0]), 1 / (1 - middle[0]))
        return above, sums.line(positive, 1.0, -1 / middle[1])

    undetermined = ~(sums.high | sums.low)
    top, bottom = (t.binned.high - least) / (1 - least), 1 - t.binned.low / most
    wrong: list[float] = []
    right: list[float] = []
    for middle, reach in (
        ((most, least), 0.0),
        ((least, most), 1.0),
    ):  # ease of high scores decreases with the midpoint
        (above, below), (others, own) = ease_sums(True, middle), ease_sums(False, middle)
        for totals, up, down in ((wrong, others, below), (right, above, own)):
            totals.append(float(np.maximum(up[sums.high], 0).sum() + np.maximum(down[sums.low], 0).sum()))
        wrong[-1] += reach * float((t.pos * bottom + t.neg * top)[undetermined].sum())
        right[-1] += reach * float((t.pos * top + t.neg * bottom)[undetermined].sum())
    # All scores may be at the midpoint, so that the total ease may be zero but for rounding.
    if not wrong[0] + right[0] > 1e-12 * float((t.pos + t.neg).sum()):
        return None
    return [np.asarray(wrong[k] / (wrong[k] + right[1 - k])) for k in (0, 1)]


@_pair_measure(
    title="Area under the smooth ROC curve",
    undefined=f"{ONE_CLASS}, or the soft labels are all of one class",
    stratified=False,
    companion="auc",
    aliases=("smooth_auc", "smroc_auc"),
    interval="logit-area",
    coverage_note="values near 1: covers in 89 to 100 % of samples; heavily weighted low scores: in 83 to 90 %",
    bounds=_smauc_bounds,
)
def smauc(t: ScoreTable, *, midpoint: Midpoint = "mean", recentre: Recentre = False) -> Array:
    """AUC of soft labels; a case counts as c positives and 1 − c negatives: c = s if appropriate, else 1 − s.

    A score is appropriate if a positive is above the midpoint, or a negative at or below it. `midpoint` is mean,
    cross_weighted, median, class_medians, half or a number; `recentre` maps it to 0.5 first. Report it together with
    AUC: under class imbalance it mostly reflects the larger class.
    """
    soft = softened(t, midpoint, recentre)
    area = ratio(concordant_pairs(soft), soft.n_pos * soft.n_neg)
    return np.where(t.n_pos * t.n_neg > 0, np.clip(area, 0, 1), np.nan)


@measure(
    title="Error weighted by ease",
    range=(0, 1),
    best="low",
    undefined="every score is at the midpoint, or a class that the midpoint needs is absent",
    probability=True,
    aliases=("ease_weighted_error",),
    interval="log-t",
    bounds=_ease_bounds,
)
def ease_err(t: ScoreTable, *, midpoint: Midpoint = "mean") -> Array:
    """Error rate weighted by the ease e of each case (specific to scorespace): Σ e · [wrong side] / Σ e.

    The ease of a case is the distance of its score from the midpoint, relative to that of 0 or 1. An error near the
    midpoint costs little, a confident one as much as a confident success gains.

    >>> from scorespace.tables import score_table
    >>> near, far = score_table([1, 0, 0], [0.9, 0.55, 0.1]), score_table([1, 0, 0], [0.9, 1.0, 0.1])
    >>> round(ease_err(near, midpoint=0.5), 4), round(ease_err(far, midpoint=0.5), 4)
    (0.0588, 0.3846)
    """
    pos, neg = t.pos, t.neg
    middle = midpoints(t.score, pos, neg, midpoint)[..., None]
    above = t.score > middle
    ease = ratio(np.abs(t.score - middle), np.where(above, 1 - middle, np.where(middle > 0, middle, 1.0)))
    total = np.vecdot(pos + neg, ease)
    return np.clip(ratio(np.vecdot(np.where(above, neg, pos), ease), total), 0, 1)


_FEW_POSITIVES = "20 positives in 2 000 cases, and heavily weighted high scores: covers in 86 to 91 % of samples"


@_pair_measure(
    title="Scored AUC",
    aliases=("scored_auc",),
    bounds=bounds_by_order,
    interval="logit-t",
    coverage_note=_FEW_POSITIVES,
)
def sauc(t: ScoreTable) -> Array:
    """Mean amount by which positives score higher than negatives: mean over all pairs of max(0, s₊ − s₋)."""
    pos, neg = t.pos, t.neg
    above = np.cumsum(pos * t.score, axis=-1) - t.score * np.cumsum(pos, axis=-1)  # Σ (s₊ − s₋) over s₊ ≥ s₋
    difference = np.einsum("...i,...i->...", np.maximum(above, 0), neg)
    return np.clip(ratio(difference, t.n_pos * t.n_neg), 0, 1)


def _prob_auc_bounds(formula: Formula, t: ScoreTable) -> list[Array]:
    """Exact, from the sum of the scores of each class."""
    of_pos = t.binned.first[t.positive].sum()
    difference = ratio(of_pos, t.n_pos) - ratio(t.binned.first.sum() - of_pos, t.n_neg)
    return [np.clip((difference + 1) / 2, 0, 1)]


@_pair_measure(title="Probabilistic AUC", aliases=("probabilistic_auc",), bounds=_prob_auc_bounds)
def prob_auc(t: ScoreTable) -> Array:
    """Difference of the mean scores of the classes: (mean s of positives − mean s of negatives + 1) / 2."""
    difference = ratio(t.pos @ t.score, t.n_pos) - ratio(t.neg @ t.score, t.n_neg)
    return np.clip((difference + 1) / 2, 0, 1)
