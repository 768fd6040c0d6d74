"""The precision-recall curve, with the correct path between its points."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np

from scorespace.curves.curve import Curve, in_square
from scorespace.frozen import dataclass
from scorespace.tables import Array, Counts, ScoreTable, ratio


@dataclass(frozen=True, eq=False, repr=False)
class PrCurve(Curve):
    """Recall (x) and precision (y); between points it bends, because TP and FP grow in proportion."""

    table: ScoreTable

    @property
    def counts(self) -> Counts:
        """The outcomes at every threshold, also of a thinned curve."""
        return self.table.sweep

    def area(self) -> float:
        """Area under the exactly interpolated curve, as `auprc`."""
        return float(pr_area(self.counts))

    def line(self) -> Curve:
        """The curve along its bends; only mixing two thresholds reaches the points between those of the curve."""
        if not self.counts.p[-1] > 0:
            return self
        bent = self.interpolated()
        # Points along a bend bear the threshold of its end.
        reached = np.append(bent.threshold[1:] != bent.threshold[:-1], True)
        return replace(bent, threshold=np.where(reached, bent.threshold, np.nan))

    def interpolated(self, step: float = 0.01) -> Self:
        """The curve with points added along its bends, at most that far apart in recall."""
        counts, thresholds = self.counts, self.table.thresholds
        total = counts.p[-1]
        if not total:  # without positives there is no recall to move along
            return self
        gained = np.diff(counts.tp)
        pieces = np.maximum(1, np.ceil(ratio(gained, total * step))).astype(np.intp)
        place = np.repeat(np.arange(gained.size), pieces)
        share = (np.arange(place.size) - np.repeat(np.cumsum(pieces) - pieces, pieces) + 1) / pieces[place]
        tp = counts.tp[place] + share * gained[place]
        fp = counts.fp[place] + share * np.diff(counts.fp)[place]
        grown = Counts(np.append(0, tp), np.append(0, fp), total - np.append(0, tp), counts.n[-1] - np.append(0, fp))
        threshold = np.append(thresholds[0], thresholds[place + 1])
        bent = replace(self, x=ratio(grown.tp, grown.p), y=_precision(grown), threshold=threshold)
        return replace(bent, certified_low=None, certified_high=None)  # what is certain is of its own points


def _prevalence(table: ScoreTable) -> float:
    """The precision of guessing."""
    return float(ratio(table.n_pos, table.total))


@in_square(
    title="Precision-recall curve",
    x="Recall",
    y="Precision",
    aliases=("precision_recall", "prc"),
    level=_prevalence,
    area="the area under the exactly interpolated curve",
)
def pr(table: ScoreTable) -> PrCurve:
    """How many alarms are right against how many positives are found: PPV and TPR at every threshold.

    At recall 0 it starts with the precision of the first scores, not with 1.

    >>> from scorespace.tables import score_table
    >>> pr(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])).y
    array([1.        , 1.        , 0.66666667, 0.5       ])
    """
    counts = table.sweep
    return PrCurve("pr", ratio(counts.tp, counts.p), _precision(counts), table.thresholds, pr.x, pr.y, table)


def _precision(counts: Counts) -> Array:
    """Precision along a sweep, with the limit of the first segment where nothing is predicted positive."""
    precision = ratio(counts.tp, counts.pp)
    first = int(np.argmax(counts.pp > 0))  # scores without weight predict nothing either
    precision[:first] = precision[first]
    return precision


def pr_area(counts: Counts) -> Array:
    """Exact area under PR curves (last axis: thresholds), integrating precision over TP on each segment.

    With FP = a + h·TP on a segment, ∫ TP/(TP + FP) dTP = ΔTP/(1+h) − a/(1+h)² · ln(PP₁/PP₀).
    """
    tp, fp = counts.tp, counts.fp
    size = tp.shape[-1] - 1
    # Only where positives are found does the curve gain area: a part of the thresholds, of all replicates at once.
    rises = np.flatnonzero(tp[..., 1:] > tp[..., :-1])
    owner = rises // size if size else rises
    start = rises + owner  # every replicate has one threshold more than steps
    before_tp, before_fp = tp.ravel()[start], fp.ravel()[start]
    gained_tp, gained_fp = tp.ravel()[start + 1] - before_tp, fp.ravel()[start + 1] - before_fp
    before, gained = before_tp + before_fp, gained_tp + gained_fp
    share = gained_tp / gained  # 1 / (1 + h)
    # a = FP₀ − h·TP₀; it vanishes on a first segment, where the logarithm would be infinite.
    intercept = before_fp - gained_fp * before_tp / gained_tp
    growth = np.log1p(np.divide(gained, before, out=np.zeros_like(gained), where=before > 0))
    pieces = gained_tp * share - intercept * share**2 * growth
    found = np.bincount(owner, pieces, minlength=max(1, tp[..., 0].size)).reshape(tp.shape[:-1])
    return ratio(found, counts.p[..., -1])
