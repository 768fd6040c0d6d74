"""How far two curves lie apart, over the axis that they share."""

from __future__ import annotations

import numpy as np

from scorespace.curves.curve import Curve
from scorespace.frozen import dataclass
from scorespace.tables import Array


@dataclass(frozen=True)
class CurveDistance:
    """The area between two curves, and their largest vertical distance with the x at which it is reached."""

    area: float
    largest: float
    at: float


def distance(a: Curve, b: Curve) -> CurveDistance:
    """∫ |a(x) − b(x)| dx and max |a(x) − b(x)|, exact for curves that are straight between their points.

    >>> line = np.array([0.0, 1.0])
    >>> step, ramp = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0])
    >>> nothing = np.zeros(3)
    >>> distance(Curve("roc", step, ramp, nothing, "x", "y"), Curve("roc", line, line, nothing, "x", "y"))
    CurveDistance(area=0.5, largest=1.0, at=0.0)
    """
    if any(np.isnan(axis).any() for axis in (a.x, a.y, b.x, b.y)):
        return CurveDistance(np.nan, np.nan, np.nan)
    x = np.union1d(a.x, b.x)
    # Where a curve climbs vertically it has two heights: one as reached from the left, one as left to the right.
    low, high = np.subtract(_heights(a, x), _heights(b, x))
    start, end, width = high[:-1], low[1:], np.diff(x)
    sizes = np.abs(start) + np.abs(end)
    crossing = start * end < 0  # two triangles instead of one trapezium
    squares = np.divide(start**2 + end**2, sizes, out=np.zeros_like(sizes), where=crossing)
    area = float((np.where(crossing, squares, sizes) / 2 * width).sum())
    gaps = np.maximum(np.abs(low), np.abs(high))
    place = int(gaps.argmax())
    return CurveDistance(area, float(gaps[place]), float(x[place]))


def _heights(curve: Curve, x: Array) -> tuple[Array, Array]:
    """The lowest and the highest height of a rising curve at each x."""
    low = np.interp(-x, -curve.x[::-1], curve.y[::-1])  # of equal places, interp takes the last
    return low, np.interp(x, curve.x, curve.y)
