"""ROC curves: true positive rate against false positive rate over all thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike

from scorespace.curves.curve import Curve, roc_space_curve
from scorespace.curves.hull import Hull, hull
from scorespace.errors import CurveError, MeasureError
from scorespace.results import Row, decimals
from scorespace.tables import Array, ScoreTable, ratio

_TOLERANCE: Final = 1e-12  # rates are quotients: values closer than this are equal


@dataclass(frozen=True, eq=False, repr=False)
class RocCurve(Curve):
    """False positive rate (x) and true positive rate (y), or counts; tied scores give one diagonal segment.

    `part` is the range of rates whose partial area is reported and shaded, if any.
    """

    table: ScoreTable
    part: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    @property
    def beside_area(self) -> dict[str, float]:
        """The partial AUC over the requested range, plain and standardised (McClish 1989)."""
        if not self.part:
            return {}
        return {"part": self.partial_area(**self.part), "corrected": self.partial_area(**self.part, corrected=True)}

    @property
    def chance(self) -> tuple[tuple[float, float], ...]:
        """The diagonal for count axes, which ends at all negatives and all positives."""
        has_counts = self.kind != roc.name
        return ((0.0, 0.0), (float(self.x[-1]), float(self.y[-1]))) if has_counts else ()

    @property
    def area_text(self) -> str:
        """The area, or the partial area, plain and standardised."""
        if not self.part:
            return super().area_text
        part, corrected = map(decimals, self.beside_area.values())
        return f"{part} ({corrected} corrected)"

    def facts(self) -> Row:
        return {**self.part, **self.beside_area} if self.part else {}

    def outline(self) -> Array:
        """Outline of the partial area: points (x, y) along the curve, clipped at both ends of the range.

        Vertical steps at an end of the range are included.

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
        inner = points[(points[:, along] > low - _TOLERANCE) & (points[:, along] < high + _TOLERANCE)]
        ends = {at: (self.fpr_at(at) if along else self.tpr_at(at)) for at in (low, high)}
        limits = [np.array([value, at] if along else [at, value], dtype=np.float64) for at, value in ends.items()]
        outline = np.concatenate([limits, inner])
        outline = outline[np.argsort(outline.sum(axis=1), kind="stable")]  # x + y increases along the curve
        return outline[np.append(True, np.diff(outline.sum(axis=1)) > _TOLERANCE)]

    def hull(self) -> Hull:
        """Upper convex hull: the best points that mixtures of its thresholds reach."""
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
        """Partial area over a range of FPR or of TPR; see `partial_area`."""
        return float(partial_area(self.x, self.y, fpr_low, fpr_high, tpr_low, tpr_high, corrected))

    def tpr_at(self, fpr: ArrayLike) -> Array:
        """Highest TPR at a given FPR, by linear interpolation."""
        return value_at(self.x, self.y, np.asarray(fpr, dtype=np.float64))

    def fpr_at(self, tpr: ArrayLike) -> Array:
        """Lowest FPR at a given TPR, by linear interpolation."""
        return 1 - value_at(1 - self.y[::-1], 1 - self.x[::-1], 1 - np.asarray(tpr, dtype=np.float64))

    def simplified(self) -> Self:
        """The curve without collinear points, by exact cross products of the counts."""
        counts = self.table.sweep[np.searchsorted(-self.table.thresholds, -self.threshold)]
        dx, dy = np.diff(counts.fp), np.diff(counts.tp)
        turns = dx[:-1] * dy[1:] != dx[1:] * dy[:-1]
        is_vertex = np.concatenate([[True], turns, [True]])
        return self.at(np.flatnonzero(is_vertex))


@roc_space_curve(title="ROC curve", area="the AUC")
def roc(
    table: ScoreTable,
    *,
    normalised: Annotated[bool, "rates on both axes instead of counts (PN or coverage space)"] = True,
    fpr_low: Annotated[float | None, "lower end of a range of FPR whose partial area is reported and shaded"] = None,
    fpr_high: Annotated[float | None, "upper end of a range of FPR"] = None,
    tpr_low: Annotated[float | None, "lower end of a range of TPR, instead of FPR"] = None,
    tpr_high: Annotated[float | None, "upper end of a range of TPR, instead of FPR"] = None,
) -> RocCurve:
    """True positive rate against false positive rate at every threshold, +inf first.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.
    normalised : bool
        Rates on both axes instead of counts (PN or coverage space).
    fpr_low, fpr_high : float, optional
        Range of FPR whose partial area is reported and shaded.
    tpr_low, tpr_high : float, optional
        Range of TPR, instead of FPR.

    Returns
    -------
    RocCurve
        False positive rate (x) and true positive rate (y).

    References
    ----------
    Fawcett, T. (2006). An introduction to ROC analysis. Pattern Recognition Letters, 27(8), 861-874.

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> roc(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])).y
    array([0. , 0.5, 1. , 1. ])
    """
    counts = table.sweep
    ends = {"fpr_low": fpr_low, "fpr_high": fpr_high, "tpr_low": tpr_low, "tpr_high": tpr_high}
    part: dict[str, Any] = {name: end for name, end in ends.items() if end is not None}
    if not normalised:
        if part:
            raise CurveError("a partial area needs rates, not counts.", hint="roc(fpr_high=0.2)")
        titles = "False positives", "True positives"
        return RocCurve("roc_counts", counts.fp, counts.tp, table.thresholds, *titles, table)
    rates = ratio(counts.fp, counts.n), ratio(counts.tp, counts.p)
    if part:
        partial_area(*rates, **part)  # validates the range
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

    `corrected` is McClish's (1989) ½·(1 + (area − min)/(max − min)): ½ on the diagonal, 1 if perfect.

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
    if by_tpr:  # swap the axes: the same area in the space of TNR against FNR
        fpr, tpr = 1 - tpr[..., ::-1], 1 - fpr[..., ::-1]
        low, high = 1 - high, 1 - low
    area = _area_between(fpr, tpr, low, high)
    if not corrected:
        return area
    least, most = (high * high - low * low) / 2, high - low
    return (1 + (area - least) / (most - least)) / 2


def _area_between(x: Array, y: Array, low: float, high: float) -> Array:
    """Trapezoids clipped at both bounds; vertical steps add nothing."""
    start, end = np.clip(x[..., :-1], low, high), np.clip(x[..., 1:], low, high)
    width = x[..., 1:] - x[..., :-1]
    rise = np.divide(y[..., 1:] - y[..., :-1], width, out=np.zeros_like(width), where=width > 0)
    middle = y[..., :-1] + rise * ((start + end) / 2 - x[..., :-1])
    area = (middle * (end - start)).sum(axis=-1)
    return np.where(np.isnan(x[..., -1]) | np.isnan(y[..., -1]), np.nan, area)


def value_at(x: Array, y: Array, at: float | Array) -> Array:
    """Highest y of an increasing curve at one or many x, or of many curves (last axis: points) at one x.

    >>> float(value_at(np.array([0.0, 0.0, 0.5, 1.0]), np.array([0.0, 0.4, 0.8, 1.0]), 0.25))
    0.6
    """
    reached = np.asarray(at, dtype=np.float64) + _TOLERANCE  # 1 − 0.9 must find the point at 0.1
    passed = np.searchsorted(x, reached, side="right") if x.ndim == 1 else (x <= reached).sum(axis=-1)
    last = np.clip(passed - 1, 0, x.shape[-1] - 1)
    after = np.minimum(last + 1, x.shape[-1] - 1)
    left, right, low, high = _take(x, last), _take(x, after), _take(y, last), _take(y, after)
    width = np.asarray(right - left)
    share = np.divide(at - left, width, out=np.zeros_like(width), where=width > 0)
    value = low + np.clip(share, 0, 1) * (high - low)
    return np.where(np.isnan(x[..., -1]) | np.isnan(y[..., -1]), np.nan, value)


def _take(values: Array, place: Array) -> Array:
    """Values at many indices of one curve, or at one index of each curve."""
    return values[place] if values.ndim == 1 else np.take_along_axis(values, place[..., None], axis=-1)[..., 0]
