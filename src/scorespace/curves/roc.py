"""The ROC curve: what is found against what is falsely alarmed, over all thresholds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from scorespace.curves.curve import DIAGONAL, UNIT, Curve, curve
from scorespace.curves.hull import Hull, hull
from scorespace.errors import MeasureError
from scorespace.tables import Array, ScoreTable, ratio


@dataclass(frozen=True, eq=False, repr=False)
class RocCurve(Curve):
    """False positive rate (x) and true positive rate (y); tied scores draw one diagonal segment."""

    table: ScoreTable

    def hull(self) -> Hull:
        """The upper convex hull: the best that mixing its thresholds can reach."""
        return hull(self.table)

    def partial_area(
        self,
        *,
        fpr_low: float | None = None,
        fpr_high: float | None = None,
        tpr_low: float | None = None,
        tpr_high: float | None = None,
        corrected: bool = False,
    ) -> float:
        """Area over a range of FPR, or beside a range of TPR; see `partial_area`."""
        area = partial_area(
            self.x, self.y, fpr_low=fpr_low, fpr_high=fpr_high, tpr_low=tpr_low, tpr_high=tpr_high, corrected=corrected
        )
        return float(area)

    def tpr_at(self, fpr: ArrayLike) -> Array:
        """The highest TPR reached at that FPR, between points by straight lines."""
        wanted = np.asarray(fpr, dtype=np.float64)
        return value_at(self.x, self.y, wanted)

    def fpr_at(self, tpr: ArrayLike) -> Array:
        """The lowest FPR at which that TPR is reached, between points by straight lines."""
        wanted = np.asarray(tpr, dtype=np.float64)
        return 1 - value_at(1 - self.y[::-1], 1 - self.x[::-1], 1 - wanted)

    def simplified(self) -> Self:
        """The same curve without the points on straight lines, by exact cross products of the counts."""
        counts = self.table.sweep[np.searchsorted(-self.table.thresholds, -self.threshold)]
        ahead_x, ahead_y = np.diff(counts.fp), np.diff(counts.tp)
        turns = ahead_x[:-1] * ahead_y[1:] != ahead_x[1:] * ahead_y[:-1]
        kept = np.concatenate([[True], turns, [True]])
        return replace(self, x=self.x[kept], y=self.y[kept], threshold=self.threshold[kept])


@curve(
    title="ROC curve",
    x="False positive rate",
    y="True positive rate",
    x_ends=UNIT,
    y_ends=UNIT,
    square=True,
    chance=DIAGONAL,
    area="the AUC",
)
def roc(table: ScoreTable) -> RocCurve:
    """What is found against what is falsely alarmed: TPR and FPR at every threshold, +inf first.

    >>> from scorespace.tables import score_table
    >>> roc(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])).y
    array([0. , 0.5, 1. , 1. ])
    """
    counts = table.sweep
    return RocCurve(
        "roc",
        ratio(counts.fp, counts.n),
        ratio(counts.tp, counts.p),
        table.thresholds,
        roc.x,
        roc.y,
        table,
    )


def partial_area(
    fpr: Array,
    tpr: Array,
    *,
    fpr_low: float | None = None,
    fpr_high: float | None = None,
    tpr_low: float | None = None,
    tpr_high: float | None = None,
    corrected: bool = False,
) -> Array:
    """Area under ROC curves (last axis: points) over a range of FPR, or of TNR over a range of TPR.

    `corrected` is McClish's ½·(1 + (area − min)/(max − min)): ½ on the diagonal, 1 when perfect.

    >>> x, y = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.5, 1.0])
    >>> float(partial_area(x, y, fpr_high=0.5))
    0.3125
    """
    by_tpr = tpr_low is not None or tpr_high is not None
    if by_tpr and (fpr_low is not None or fpr_high is not None):
        raise MeasureError("a partial area is over a range of FPR or of TPR, not of both.")
    low, high = (tpr_low, tpr_high) if by_tpr else (fpr_low, fpr_high)
    low, high = 0.0 if low is None else low, 1.0 if high is None else high
    if not 0 <= low < high <= 1:
        axis = "tpr" if by_tpr else "fpr"
        raise MeasureError(
            f"{axis}_low={low:g}, {axis}_high={high:g} is not a range of rates.", hint="0 ≤ low < high ≤ 1"
        )
    if by_tpr:  # swap the axes: the same area in the mirrored space of TNR against FNR
        fpr, tpr = 1 - tpr[..., ::-1], 1 - fpr[..., ::-1]
        low, high = 1 - high, 1 - low
    area = _area_between(fpr, tpr, low, high)
    if not corrected:
        return area
    least, most = (high * high - low * low) / 2, high - low
    return (1 + (area - least) / (most - least)) / 2


def _area_between(x: Array, y: Array, low: float, high: float) -> Array:
    """Trapezoids cut at both bounds; vertical steps have no width and add nothing."""
    start, end = np.clip(x[..., :-1], low, high), np.clip(x[..., 1:], low, high)
    width = x[..., 1:] - x[..., :-1]
    rise = np.divide(y[..., 1:] - y[..., :-1], width, out=np.zeros_like(width), where=width > 0)
    middle = y[..., :-1] + rise * ((start + end) / 2 - x[..., :-1])
    area = (middle * (end - start)).sum(axis=-1)
    return np.where(np.isnan(x[..., -1]) | np.isnan(y[..., -1]), np.nan, area)


def value_at(x: Array, y: Array, at: float | Array) -> Array:
    """The highest y of a rising curve at one or many x, or of many curves (last axis: points) at one x.

    >>> float(value_at(np.array([0.0, 0.0, 0.5, 1.0]), np.array([0.0, 0.4, 0.8, 1.0]), 0.25))
    0.6
    """
    reached = np.asarray(at, dtype=np.float64) + 1e-12  # rates are quotients: 1 − 0.9 must find the point at 0.1
    passed = np.searchsorted(x, reached, side="right") if x.ndim == 1 else (x <= reached).sum(axis=-1)
    last = np.clip(passed - 1, 0, x.shape[-1] - 1)
    after = np.minimum(last + 1, x.shape[-1] - 1)
    left, right, low, high = _picked(x, last), _picked(x, after), _picked(y, last), _picked(y, after)
    width = np.asarray(right - left)
    share = np.divide(at - left, width, out=np.zeros_like(width), where=width > 0)
    found = low + np.clip(share, 0, 1) * (high - low)
    return np.where(np.isnan(x[..., -1]) | np.isnan(y[..., -1]), np.nan, found)


def _picked(values: Array, place: Array) -> Array:
    """The values at places: many places of one curve, or one place of each curve."""
    return values[place] if values.ndim == 1 else np.take_along_axis(values, place[..., None], axis=-1)[..., 0]
