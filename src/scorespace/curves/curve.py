"""A curve: points in order of falling threshold, with what its axes mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from scorespace.results import SCHEMA, ByValue, Note, Row, plain
from scorespace.tables import Array


@dataclass(frozen=True, eq=False)
class Curve(ByValue):
    """Points (x, y), each reached at a threshold; between them the curve is straight.

    >>> x, y = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.5, 1.0])
    >>> Curve("roc", x, y, np.array([np.inf, 0.8, 0.1]), "fpr", "tpr").area()
    0.75
    """

    kind: str
    x: Array
    y: Array
    threshold: Array
    x_title: str
    y_title: str

    @property
    def notes(self) -> tuple[Note, ...]:
        return ()

    def area(self) -> float:
        """Area under the curve by the trapezoids between its points; NaN when a point is undefined."""
        return float(np.trapezoid(self.y, self.x))

    def thinned(self, most: int = 400) -> Self:
        """A curve with about that many points that looks the same: evenly spaced along its length.

        Both ends stay, and every dropped point lies within 2/most of the axes' spans from a kept one.
        """
        if self.x.size <= most:
            return self
        steps = np.abs(np.diff(self.x)) / _span(self.x) + np.abs(np.diff(self.y)) / _span(self.y)
        along = np.concatenate([[0.0], np.cumsum(np.nan_to_num(steps, posinf=0.0))])
        kept = np.unique(np.searchsorted(along, np.linspace(0, along[-1], most + 1)).clip(0, self.x.size - 1))
        kept = np.union1d(kept, [0, self.x.size - 1])
        return replace(self, x=self.x[kept], y=self.y[kept], threshold=self.threshold[kept])

    def rows(self) -> list[Row]:
        """One row per point; the threshold +inf and undefined values are None."""
        columns = (plain(values) for values in (self.x, self.y, self.threshold))
        return [{"x": x, "y": y, "threshold": threshold} for x, y, threshold in zip(*columns, strict=True)]

    def to_dict(self) -> Row:
        return {"schema": SCHEMA, "kind": self.kind, "x": self.x_title, "y": self.y_title, "rows": self.rows()}

    def __repr__(self) -> str:
        return f"{self.kind} curve: {self.x.size} points, {self.y_title} against {self.x_title}"


def _span(values: Array) -> float:
    finite = values[np.isfinite(values)]
    return float(np.ptp(finite)) or 1.0 if finite.size else 1.0
