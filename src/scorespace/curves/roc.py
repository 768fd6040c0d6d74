"""The ROC curve: what is found against what is falsely alarmed, over all thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike

from scorespace.curves.curve import Curve, in_roc_space
from scorespace.curves.hull import Hull, hull
from scorespace.errors import CurveError, MeasureError
from scorespace.frozen import dataclass
from scorespace.results import Row, decimals
from scorespace.tables import Array, ScoreTable, ratio

_SAME: Final = 1e-12  # rates are quotients: nearer ones are the same


@dataclass(frozen=True, eq=False, repr=False)
class RocCurve(Curve):
    """False positive rate (x) and true positive rate (y), or counts; tied scores draw one diagonal segment.

    `part` is the range of rates whose area is told and shaded, if any.
    """

    table: ScoreTable
    part: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    @property
    def beside_area(self) -> dict[str, float]:
        """The partial area that was asked for, plain and after McClish."""
        if not self.part:
            return {}
        return {"part": self.partial_area(**self.part), "corrected": self.partial_area(**self.part, corrected=True)}

    @property
    def chance(self) -> tuple[tuple[float, float], ...]:
        """The diagonal, where the axes are counts: it ends at all negatives and all positives."""
        counted = self.kind != roc.name
        return ((0.0, 0.0), (float(self.x[-1]), float(self.y[-1]))) if counted else ()

    @property
    def area_text(self) -> str:
        """The area, or the part that is shaded, plain and after McClish."""
        if not self.part:
            return super().area_text
        part, corrected = map(decimals, self.beside_area.values())
        return f"{part} ({corrected} corrected)"

    def facts(self) -> Row:
        return {**self.part, **self.beside_area} if self.part else {}

    def outline(self) -> Array:
        """The edge of the part: rows of points (x, y) along the curve, cut at both ends of the range.

        A step of the curve at an end of the range belongs to it: without, the edge would cut the corner.

        >>> from scorespace.tables import score_table
        >>> roc(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]), fpr_high=0.25).outline().tolist()
        [[0.0, 0.0], [0.0, 0.5], [0.25, 0.75]]
        """
        along = int(any(name.startswith("tpr") for name in self.part))
        low, high = (
            next((value for name, value in self.part.items() if name.endswith(end)), rest)
            for end, rest in (("low", 0.0), ("high", 1.0))
        )
        points = np.stack([self.x, self.y], axis=-1)
        inner = points[(points[:, along] > low - _SAME) & (points[:, along] < high + _SAME)]
        ends = {at: (self.fpr_at(at) if along else self.tpr_at(at)) for at in (low, high)}
        cut = [np.array([value, at] if along else [at, value], dtype=np.float64) for at, value in ends.items()]
        found = np.concatenate([cut, inner])
        found = found[np.argsort(found.sum(axis=1), kind="stable")]  # which rises along the curve
        return found[np.append(True, np.diff(found.sum(axis=1)) > _SAME)]

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
        return float(partial_area(self.x, self.y, fpr_low, fpr_high, tpr_low, tpr_high, corrected))

    def tpr_at(self, fpr: ArrayLike) -> Array:
        """The highest TPR reached at that FPR, between points by straight lines."""
        return value_at(self.x, self.y, np.asarray(fpr, dtype=np.float64))

    def fpr_at(self, tpr: ArrayLike) -> Array:
        """The lowest FPR at which that TPR is reached, between points by straight lines."""
        return 1 - value_at(1 - self.y[::-1], 1 - self.x[::-1], 1 - np.asarray(tpr, dtype=np.float64))

    def simplified(self) -> Self:
        """The same curve without the points on straight lines, by exact cross products of the counts."""
        counts = self.table.sweep[np.searchsorted(-self.table.thresholds, -self.threshold)]
        ahead_x, ahead_y = np.diff(counts.fp), np.diff(counts.tp)
        turns = ahead_x[:-1] * ahead_y[1:] != ahead_x[1:] * ahead_y[:-1]
        kept = np.concatenate([[True], turns, [True]])
        return self.at(np.flatnonzero(kept))


@in_roc_space(title="ROC curve", area="the AUC")
def roc(
    table: ScoreTable,
    *,
    normalised: Annotated[bool, "rates on both axes, and not counts (PN or coverage space)"] = True,
    fpr_low: Annotated[float | None, "lower end of a range of FPR whose area is told and shaded"] = None,
    fpr_high: Annotated[float | None, "upper end of a range of FPR"] = None,
    tpr_low: Annotated[float | None, "lower end of a range of TPR, instead of FPR"] = None,
    tpr_high: Annotated[float | None, "upper end of a range of TPR, instead of FPR"] = None,
) -> RocCurve:
    """What is found against what is falsely alarmed: TPR and FPR at every threshold, +inf first.

    Not `normalised`, its axes are counts of negatives and positives, so that its shape shows how many there are.

    >>> from scorespace.tables import score_table
    >>> roc(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])).y
    array([0. , 0.5, 1. , 1. ])
    """
    counts = table.sweep
    ends = {"fpr_low": fpr_low, "fpr_high": fpr_high, "tpr_low": tpr_low, "tpr_high": tpr_high}
    part: dict[str, Any] = {name: end for name, end in ends.items() if end is not None}
    if not normalised:
        if part:
            raise CurveError("a partial area is one of rates, and not of counts.", hint="roc(fpr_high=0.2)")
        titles = "False positives", "True positives"
        return RocCurve("roc_counts", counts.fp, counts.tp, table.thresholds, *titles, table)
    rates = ratio(counts.fp, counts.n), ratio(counts.tp, counts.p)
    if part:
        partial_area(*rates, **part)  # refuses what is no range
    return RocCurve("roc", *rates, table.thresholds, roc.x, roc.y, table, part=part)


def partial_area(
    fpr: Array,
    tpr: Array,
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
        raise MeasureError(
            "a partial area is over a range of FPR or of TPR, not of both.", hint="fpr_high=0.2, or tpr_low=0.8"
        )
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
    reached = np.asarray(at, dtype=np.float64) + _SAME  # rates are quotients: 1 − 0.9 must find the point at 0.1
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
