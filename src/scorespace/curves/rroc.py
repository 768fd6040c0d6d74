"""RROC space: how much is over- and under-predicted as all predictions are shifted (Hernández-Orallo 2013)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, ClassVar, Literal

import numpy as np

from scorespace.curves.curve import Curve, curve
from scorespace.curves.pool import pools
from scorespace.errors import CurveError, DataError
from scorespace.frozen import dataclass
from scorespace.results import Row, plain
from scorespace.tables import Array
from scorespace.tables.pieces import over_pieces
from scorespace.tables.residual import ResidualTable

OVER, UNDER = "Over-prediction", "Under-prediction"


@dataclass(frozen=True)
class Shift:
    """A shift of all predictions, and what it does: all shifts from `shift` to `upto` cost the same.

    `loss` is 2α · under + 2(1 − α) · over, in the unit of the axes; `share` of the cases are then predicted too high.
    """

    shift: float
    upto: float
    over: float
    under: float
    loss: float
    share: float


@dataclass(frozen=True, eq=False, repr=False)
class RrocCurve(Curve):
    """Over-prediction (x ≥ 0) against under-prediction (y ≤ 0) at every shift that an error is, rising.

    The perfect corner is (0, 0); the curve is concave, so that it is its own hull. `own` is the model as it is, with
    no shift, and `weight` that of all cases, by which sums are larger than means.

    >>> from scorespace.tables.residual import residual_table
    >>> c = rroc(residual_table([1, 2, 3], [2, 2, 2]))
    >>> c.x, c.threshold
    (array([0.        , 0.33333333, 1.        ]), array([-1.,  0.,  1.]))
    >>> round(c.area(), 6), c.best(2 / 3).shift
    (0.333333, 0.0)
    """

    own: tuple[float, float] = (0.0, 0.0)
    weight: float = 1.0
    along: ClassVar[str] = "shift"

    def area(self) -> float:
        """The area over the curve, up to the perfect corner: on mean axes half the variance of the errors."""
        return float(-np.trapezoid(self.y, self.x))

    def facts(self) -> Row:
        return plain({"own": {"over": self.own[0], "under": self.own[1]}, "area_over": self.area()})

    def best(self, alpha: float) -> Shift:
        """The shift of least asymmetric loss: the one at which the share α of the cases is predicted too high."""
        check_alpha(alpha)
        loss = 2 * (1 - alpha) * self.x - 2 * alpha * self.y
        least = np.flatnonzero(loss <= loss.min() + 1e-12 * np.abs(loss).max())
        first, last = int(least[0]), int(least[-1])
        # Slope of the side before: the share under, over the share over; so the share over is 1 / (1 + slope).
        share = 0.0 if first == 0 else 1 / (1 + _slope(self, first - 1, first))
        ends = float(self.threshold[first]), float(self.threshold[last])
        return Shift(*ends, float(self.x[first]), float(-self.y[first]), float(loss[first]), share)

    def loss(self, alpha: float) -> float:
        """The asymmetric loss of the model as it is."""
        check_alpha(alpha)
        return 2 * (1 - alpha) * self.own[0] - 2 * alpha * self.own[1]

    def __repr__(self) -> str:
        return f"{super().__repr__()}, area over it {self.area():.4g}"

    def iso_cost(self, alpha: float) -> tuple[float, float]:
        """Slope and height at x = 0 of the line of equal loss that touches the curve: slope (1 − α) / α."""
        best = self.best(alpha)
        slope = (1 - alpha) / alpha
        return slope, -best.under - slope * best.over


def _slope(curve: RrocCurve, a: int, b: int) -> float:
    return float((curve.y[b] - curve.y[a]) / (curve.x[b] - curve.x[a])) if curve.x[b] > curve.x[a] else np.inf


def check_alpha(alpha: float) -> None:
    """Refuse an asymmetry that is no share."""
    if not 0 < alpha < 1:
        raise CurveError(
            f"alpha={alpha:g} is not a share of the loss.", hint="between 0 and 1; 2/3 for under twice over"
        )


@curve(
    title="RROC curve", x=OVER, y=UNDER, square=True, area="the area over the curve: half the variance of the errors"
)
def rroc(
    table: ResidualTable,
    *,
    axes: Annotated[Literal["mean", "sum"], "means over the cases, or sums, on the axes"] = "mean",
) -> RrocCurve:
    """Over- against under-prediction as all predictions are shifted by q, e = ŷ − y: Σ (e + q)₊ and Σ (e + q)₋."""
    if axes not in ("mean", "sum"):
        raise CurveError(f"axes={axes!r} is unknown.", hint="mean or sum")
    shift, passed = _levels(table)
    if not shift.size:
        raise DataError("there are no cases to draw a curve of.", hint="at least one case")
    total = float(passed[-1])
    unit = total if axes == "mean" else 1.0
    over, under = np.zeros(shift.size), passed
    steps, reached = over[1:], passed[:-1]
    np.subtract(shift[1:], shift[:-1], out=steps)
    steps /= unit

    def areas(rows: slice) -> None:
        """In place and piece by piece: of so many points, taking memory is what takes the time."""
        short = (reached[rows] - total) * steps[rows]
        steps[rows] *= reached[rows]
        reached[rows] = short

    over_pieces(areas, steps.size)
    under[-1] = 0.0
    np.cumsum(over, out=over)
    np.cumsum(under[::-1], out=under[::-1])
    error = table.numbers.error  # the sums of all terms, which the table would tell, take as long as the sort
    size, lean = (float(each.sum() if table.weight is None else table.weight @ each) for each in (np.abs(error), error))
    own = (size + lean) / 2 / unit, (lean - size) / 2 / unit
    sides = OVER if axes == "mean" else f"{OVER}, sum", UNDER if axes == "mean" else f"{UNDER}, sum"
    return RrocCurve("rroc", over, under, shift, *sides, own, total)


def _levels(table: ResidualTable) -> tuple[Array, Array]:
    """The shifts at which errors vanish, rising, and the weight of all cases over-predicted beyond each."""
    if table.weight is None:
        shift = np.negative(table.numbers.error)
        shift.sort()  # sorting values is several times faster than sorting places
        passed = np.arange(1.0, shift.size + 1)
    else:
        order = table.numbers.by_error[::-1]
        order = order[table.weight[order] > 0]
        shift, passed = -table.numbers.error[order], np.cumsum(table.weight[order], dtype=np.float64)
    last = shift[1:] != shift[:-1]
    if not last.all():
        ends = np.append(last, True)
        shift, passed = shift[ends], passed[ends]
    return shift + 0.0 if shift.size and not shift.all() else shift, passed  # no shift is 0 and not −0


# --- several models


@dataclass(frozen=True)
class AlphaRange:
    """Between which shares of the loss for under-prediction a model, shifted as suits, is best."""

    model: str
    alpha_low: float
    alpha_high: float

    def row(self) -> Row:
        return plain(asdict(self))


@dataclass(frozen=True, eq=False)
class RrocHull:
    """The best that shifted models reach: the concave hull of their curves, and whose corner each is."""

    x: Array
    y: Array
    model: tuple[str, ...]

    def ranges(self) -> list[AlphaRange]:
        """The ranges of α in which each model is best, rising; neighbouring corners of one model joined."""
        slope = np.diff(self.y) / np.diff(self.x)
        alpha = np.concatenate([[0.0], 1 / (1 + slope), [1.0]])
        found: list[AlphaRange] = []
        for place, name in enumerate(self.model):
            low, high = float(alpha[place]), float(alpha[place + 1])
            if found and found[-1].model == name:
                found[-1] = AlphaRange(name, found[-1].alpha_low, high)
            elif high > low:
                found.append(AlphaRange(name, low, high))
        return found


def rroc_hull(curves: Mapping[str, RrocCurve]) -> RrocHull:
    """The common hull of several models; a model that has no corner on it is dominated.

    >>> from scorespace.tables.residual import residual_table
    >>> near, far = (rroc(residual_table([0.0, 0, 0], e)) for e in ([-1, 0, 1], [-2, 0, 2]))
    >>> rroc_hull({"near": near, "far": far}).ranges()
    [AlphaRange(model='near', alpha_low=0.0, alpha_high=1.0)]
    """
    names = list(curves)
    owner = np.concatenate([np.full(one.x.size, place) for place, one in enumerate(curves.values())])
    x, y = (np.concatenate([getattr(one, side) for one in curves.values()]) for side in ("x", "y"))
    order = np.lexsort((owner, -y, x))  # of equal points that of the model named first
    x, y, owner = x[order], y[order], owner[order]
    kept = np.append(True, x[1:] > x[:-1])
    x, y, owner = x[kept], y[kept], owner[kept]
    top = int(np.argmax(y))  # beyond the first point without under-prediction nothing is better
    x, y, owner = x[: top + 1], y[: top + 1], owner[: top + 1]
    corners = pools(np.diff(y) / np.diff(x), np.diff(x)) if x.size > 1 else np.zeros(1, dtype=np.intp)
    return RrocHull(x[corners], y[corners], tuple(names[int(one)] for one in owner[corners]))
