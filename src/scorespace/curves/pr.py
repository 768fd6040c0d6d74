"""Precision-recall curves with non-linear interpolation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from scorespace.curves.curve import Curve, unit_square
from scorespace.tables import Array, Counts, ScoreTable, ratio


@dataclass(frozen=True, eq=False, repr=False)
class PrCurve(Curve):
    """Recall (x) and precision (y); between points TP and FP grow linearly, so the curve is non-linear."""

    table: ScoreTable

    @property
    def counts(self) -> Counts:
        """Outcomes at every threshold, also for a thinned curve."""
        return self.table.sweep

    def area(self) -> float:
        """Area under the exactly interpolated curve, as `auprc` (Davis & Goadrich 2006)."""
        return float(pr_area(self.counts))

    def line(self) -> Curve:
        """The curve with interpolated points; only mixtures of two thresholds reach the points in between."""
        if not self.counts.p[-1] > 0:
            return self
        curve = self.interpolated()
        # Interpolated points carry the threshold of the end of their segment.
        is_end = np.append(curve.threshold[1:] != curve.threshold[:-1], True)
        return replace(curve, threshold=np.where(is_end, curve.threshold, np.nan))

    def interpolated(self, step: float = 0.01) -> Self:
        """The curve with interpolated points at most `step` apart in recall."""
        counts, thresholds = self.counts, self.table.thresholds
        total = counts.p[-1]
        if not total:  # without positives there is no recall
            return self
        gained = np.diff(counts.tp)
        pieces = np.maximum(1, np.ceil(ratio(gained, total * step))).astype(np.intp)
        place = np.repeat(np.arange(gained.size), pieces)
        share = (np.arange(place.size) - np.repeat(np.cumsum(pieces) - pieces, pieces) + 1) / pieces[place]
        tp = counts.tp[place] + share * gained[place]
        fp = counts.fp[place] + share * np.diff(counts.fp)[place]
        outcomes = Counts(np.append(0, tp), np.append(0, fp), total - np.append(0, tp), counts.n[-1] - np.append(0, fp))
        threshold = np.append(thresholds[0], thresholds[place + 1])
        curve = replace(self, x=ratio(outcomes.tp, outcomes.p), y=_precision(outcomes), threshold=threshold)
        return replace(curve, certified_low=None, certified_high=None)  # bounds hold for the original points only


def _prevalence(table: ScoreTable) -> float:
    """Precision of random guessing."""
    return float(ratio(table.n_pos, table.total))


@unit_square(
    title="Precision-recall curve",
    x="Recall",
    y="Precision",
    aliases=("precision_recall", "prc"),
    level=_prevalence,
    area="the area under the exactly interpolated curve",
)
def pr(table: ScoreTable) -> PrCurve:
    """Precision (PPV) against recall (TPR) at every threshold.

    At recall 0 it starts with the precision of the highest scores, not with 1.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.

    Returns
    -------
    PrCurve
        Recall (x) and precision (y).

    References
    ----------
    Davis, J., & Goadrich, M. (2006). The relationship between precision-recall and ROC curves. In Proceedings of the
    23rd International Conference on Machine Learning, 233-240.

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> pr(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])).y
    array([1.        , 1.        , 0.66666667, 0.5       ])
    """
    counts = table.sweep
    return PrCurve("pr", ratio(counts.tp, counts.p), _precision(counts), table.thresholds, pr.x, pr.y, table)


def _precision(counts: Counts) -> Array:
    """Precision along a sweep; where nothing is predicted positive, the limit of the first segment."""
    precision = ratio(counts.tp, counts.pp)
    first = int(np.argmax(counts.pp > 0))  # scores of zero weight predict nothing
    precision[:first] = precision[first]
    return precision


def pr_area(counts: Counts) -> Array:
    """Exact area under PR curves (last axis: thresholds), integrating precision over TP on each segment.

    With FP = a + h·TP on a segment, ∫ TP/(TP + FP) dTP = ΔTP/(1+h) − a/(1+h)² · ln(PP₁/PP₀).
    """
    tp, fp = counts.tp, counts.fp
    size = tp.shape[-1] - 1
    # Area is added only where TP increases: a subset of the thresholds, for all replicates at once.
    rises = np.flatnonzero(tp[..., 1:] > tp[..., :-1])
    owner = rises // size if size else rises
    start = rises + owner  # every replicate has one threshold more than it has steps
    before_tp, before_fp = tp.ravel()[start], fp.ravel()[start]
    gained_tp, gained_fp = tp.ravel()[start + 1] - before_tp, fp.ravel()[start + 1] - before_fp
    before, gained = before_tp + before_fp, gained_tp + gained_fp
    share = gained_tp / gained  # 1 / (1 + h)
    # a = FP₀ − h·TP₀; it vanishes on a first segment, where the logarithm would be infinite.
    intercept = before_fp - gained_fp * before_tp / gained_tp
    growth = np.log1p(np.divide(gained, before, out=np.zeros_like(gained), where=before > 0))
    pieces = gained_tp * share - intercept * share**2 * growth
    area = np.bincount(owner, pieces, minlength=max(1, tp[..., 0].size)).reshape(tp.shape[:-1])
    return ratio(area, counts.p[..., -1])
