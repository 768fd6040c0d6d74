"""The ROC curve: what is found against what is falsely alarmed, over all thresholds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from scorespace.curves.curve import Curve
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
        return _interpolated(np.asarray(fpr, dtype=np.float64), self.x, self.y, side="right")

    def fpr_at(self, tpr: ArrayLike) -> Array:
        """The lowest FPR at which that TPR is reached, between points by straight lines."""
        return _interpolated(np.asarray(tpr, dtype=np.float64), self.y, self.x, side="left")

    def simplified(self) -> Self:
        """The same curve without the points on straight lines, by exact cross products of the counts."""
        counts = self.table.sweep[np.searchsorted(-self.table.thresholds, -self.threshold)]
        ahead_x, ahead_y = np.diff(counts.fp), np.diff(counts.tp)
        turns = ahead_x[:-1] * ahead_y[1:] != ahead_x[1:] * ahead_y[:-1]
        kept = np.concatenate([[True], turns, [True]])
        return replace(self, x=self.x[kept], y=self.y[kept], threshold=self.threshold[kept])


def roc(table: ScoreTable) -> RocCurve:
    """The ROC curve of a score table: FPR and TPR at every threshold, +inf first.

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
        "False positive rate",
        "True positive rate",
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


def _interpolated(at: Array, along: Array, value: Array, side: str) -> Array:
    """Linear interpolation on a curve with vertical steps: the last (right) or first (left) value there."""
    if side == "right":
        after = np.searchsorted(along, at, side="right").clip(1, along.size - 1)
        inside = np.where(at >= along[-1], along.size - 1, after)
    else:
        inside = np.searchsorted(along, at, side="left").clip(1, along.size - 1)
        if np.any(at <= along[0]):
            inside = np.where(at <= along[0], 1, inside)
    before = inside - 1
    width = along[inside] - along[before]
    share = np.divide(at - along[before], width, out=np.ones_like(at, dtype=float), where=width > 0)
    result = value[before] + np.clip(share, 0, 1) * (value[inside] - value[before])
    return (
        np.where(at >= along[-1], value[-1], result) if side == "right" else np.where(at <= along[0], value[0], result)
    )
