"""Areas in which the size of the scores counts and not their order alone."""

from __future__ import annotations

from functools import partial

import numpy as np

from scorespace.curves.midpoint import Midpoint, Recentre, midpoints
from scorespace.curves.smooth import sides, soft_ends, softened
from scorespace.measures.measure import ONE_CLASS, Formula, by_order, measure
from scorespace.measures.ranking import concordant_pairs
from scorespace.tables import Array, ScoreTable, ratio

_of_pairs = partial(measure, range=(0, 1), best="high", undefined=ONE_CLASS, probability=True, within_classes=True)


def _certain_smauc(
    formula: Formula, t: ScoreTable, *, midpoint: Midpoint = "mean", recentre: Recentre = False
) -> list[Array] | None:
    """The soft labels of each bin are known, or lie between ends; their order in it is the worst or the best."""
    found = soft_ends(t, midpoint, recentre)
    if found is None:
        return None
    least, most = found
    size, loose = t.pos + t.neg, t.binned.loose
    heights = np.array([least.sum(), most.sum()])
    if heights[0] < size.sum() / 2 < heights[1]:
        heights = np.append(heights, size.sum() / 2)
    pairs = heights * (size.sum() - heights)
    if not pairs.min() > 0 or not t.n_pos * t.n_neg > 0:  # NaN is not, either
        return None
    ends = []
    for up, across, own in ((least, size - most, 0.0), (most, size - least, 1.0)):
        after = across.sum() - np.cumsum(across)
        ends.append(float(up @ after + (up * across) @ np.where(loose, own, 0.5)))
    return [np.asarray(ends[0] / pairs.max()), np.minimum(ends[1] / pairs.min(), 1.0)]


def _certain_ease(formula: Formula, t: ScoreTable, *, midpoint: Midpoint = "mean") -> list[Array] | None:
    """The ease of a side is a straight line over its scores; in the bin that holds the midpoint it is next to none."""
    found = sides(t, midpoint)
    least, most = found.ends
    if not (least > 1e-9 and most < 1 - 1e-9):
        return None

    def eased(positive: bool, middle: tuple[float, float]) -> tuple[Array, Array]:
        above = found.line(positive, -middle[0] / (1 - middle[0]), 1 / (1 - middle[0]))
        return above, found.line(positive, 1.0, -1 / middle[1])

    open_ = ~(found.high | found.low)
    top, bottom = (t.binned.high - least) / (1 - least), 1 - t.binned.low / most
    wrong: list[float] = []
    right: list[float] = []
    for middle, reach in (((most, least), 0.0), ((least, most), 1.0)):  # the ease of high scores falls with the middle
        (above, below), (others, own) = eased(True, middle), eased(False, middle)
        for sums, up, down in ((wrong, others, below), (right, above, own)):
            sums.append(float(np.maximum(up[found.high], 0).sum() + np.maximum(down[found.low], 0).sum()))
        wrong[-1] += reach * float((t.pos * bottom + t.neg * top)[open_].sum())
        right[-1] += reach * float((t.pos * top + t.neg * bottom)[open_].sum())
    if not wrong[0] + right[0] > 0:  # all scores may lie at the midpoint, and then there is no ease
        return None
    return [np.asarray(wrong[k] / (wrong[k] + right[1 - k])) for k in (0, 1)]


@_of_pairs(
    title="Area under the smooth ROC curve",
    undefined=f"{ONE_CLASS}, or the soft labels are all of one class",
    within_classes=False,
    beside="auc",
    aliases=("smooth_auc", "smroc_auc"),
    interval="class-area",
    covers="near 1 it holds the truth in 89 to 100 % of samples, where low scores weigh most in 87 to 89 %",
    certain=_certain_smauc,
)
def smauc(t: ScoreTable, *, midpoint: Midpoint = "mean", recentre: Recentre = False) -> Array:
    """AUC of soft labels, each case c of a positive and 1 − c of a negative: c = s if appropriate, else 1 − s.

    A score is appropriate when a positive lies above the midpoint, or a negative at or below it. `midpoint` is
    mean, cross_weighted, median, class_medians, half or a number; `recentre` moves it to 0.5 first. Read it
    beside AUC: under imbalance it mostly measures the larger class.
    """
    soft = softened(t, midpoint, recentre)
    found = ratio(concordant_pairs(soft), soft.n_pos * soft.n_neg)
    return np.where(t.n_pos * t.n_neg > 0, np.clip(found, 0, 1), np.nan)


@measure(
    title="Error weighed by ease",
    range=(0, 1),
    best="low",
    undefined="every score lies at the midpoint, or a class that the midpoint needs is absent",
    probability=True,
    aliases=("ease_weighted_error",),
    interval="log-t",
    certain=_certain_ease,
)
def ease_err(t: ScoreTable, *, midpoint: Midpoint = "mean") -> Array:
    """Error rate in which a case counts as much as it was easy, a measure of this package: Σ e · [wrong side] / Σ e.

    The ease e of a case is how far its score lies from the midpoint, as a share of the way to 0 or 1. So an error in
    doubt costs little, a sure one as much as a sure success earns.

    >>> from scorespace.tables import score_table
    >>> doubtful, sure = score_table([1, 0, 0], [0.9, 0.55, 0.1]), score_table([1, 0, 0], [0.9, 1.0, 0.1])
    >>> round(ease_err(doubtful, midpoint=0.5), 4), round(ease_err(sure, midpoint=0.5), 4)
    (0.0588, 0.3846)
    """
    pos, neg = t.pos, t.neg
    middle = midpoints(t.score, pos, neg, midpoint)[..., None]
    above = t.score > middle
    ease = ratio(np.abs(t.score - middle), np.where(above, 1 - middle, np.where(middle > 0, middle, 1.0)))
    every = np.vecdot(pos + neg, ease)
    return np.clip(ratio(np.vecdot(np.where(above, neg, pos), ease), every), 0, 1)


_OF_FEW = "with 20 positives in 2 000 cases, and where high scores weigh most, it holds the truth in 87 to 91 %"


@_of_pairs(title="Scored AUC", aliases=("scored_auc",), certain=by_order, interval="logit-t", covers=_OF_FEW)
def sauc(t: ScoreTable) -> Array:
    """By how much positives are scored above negatives: the mean over all pairs of max(0, s₊ − s₋)."""
    pos, neg = t.pos, t.neg
    above = np.cumsum(pos * t.score, axis=-1) - t.score * np.cumsum(pos, axis=-1)  # Σ (s₊ − s₋) over s₊ ≥ s₋
    lead = np.einsum("...i,...i->...", np.maximum(above, 0), neg)
    return np.clip(ratio(lead, t.n_pos * t.n_neg), 0, 1)


def _certain_prob_auc(formula: Formula, t: ScoreTable) -> list[Array]:
    """Exact, from the sum of the scores of each class."""
    of_pos = t.binned.first[t.positive].sum()
    apart = ratio(of_pos, t.n_pos) - ratio(t.binned.first.sum() - of_pos, t.n_neg)
    return [np.clip((apart + 1) / 2, 0, 1)]


@_of_pairs(title="Probabilistic AUC", aliases=("probabilistic_auc",), certain=_certain_prob_auc)
def prob_auc(t: ScoreTable) -> Array:
    """How far the mean scores of the classes lie apart: (mean s of positives − mean s of negatives + 1) / 2."""
    apart = ratio(t.pos @ t.score, t.n_pos) - ratio(t.neg @ t.score, t.n_neg)
    return np.clip((apart + 1) / 2, 0, 1)
