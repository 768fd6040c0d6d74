"""RROC curves: over- and under-prediction as all predictions are shifted (Hernández-Orallo 2013)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from scorespace.curves.curve import Curve, curve
from scorespace.curves.isotonic import pool_adjacent_violators
from scorespace.errors import CurveError, DataError
from scorespace.results import Row, to_json_types
from scorespace.tables import Array
from scorespace.tables.chunks import map_chunks
from scorespace.tables.regression import ResidualTable

OVER, UNDER = "Over-prediction", "Under-prediction"


@dataclass(frozen=True)
class Shift:
    """A shift of all predictions and its effect: all shifts from `shift` to `upto` have the same loss.

    `loss` is 2α · under + 2(1 − α) · over, in the unit of the axes; `share` is the share of cases predicted too high.
    """

    shift: float
    upto: float
    over: float
    under: float
    loss: float
    share: float


@dataclass(frozen=True, eq=False, repr=False)
class RrocCurve(Curve):
    """Over-prediction (x ≥ 0) against under-prediction (y ≤ 0) at every shift that makes an error zero, ascending.

    The ideal point is (0, 0); the curve is concave, so it is its own hull.

    Parameters
    ----------
    kind : str
        Name of the kind of curve, such as "roc".
    x, y : ndarray of shape (n_points,)
        Coordinates of the points.
    threshold : ndarray of shape (n_points,)
        The shift of each point.
    x_title, y_title : str
        Titles of the axes.
    own : tuple of float
        Over- and under-prediction of the unshifted model.
    weight : float
        Total weight of the cases, the ratio of sums to means.
    certified_low, certified_high : ndarray, optional
        Bounds of y for a binned table; NaN where they are unknown.

    Examples
    --------
    >>> from scorespace.tables.regression import residual_table
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
        """Area over the curve; with means on the axes, half the variance of the errors."""
        return float(-np.trapezoid(self.y, self.x))

    def facts(self) -> Row:
        """The point of the unshifted model, and the area over the curve."""
        return to_json_types({"own": {"over": self.own[0], "under": self.own[1]}, "area_over": self.area()})

    def best(self, alpha: float) -> Shift:
        """The shift of lowest asymmetric loss, at which the share α of the cases is predicted too high.

        Parameters
        ----------
        alpha : float
            The quantile of the asymmetric loss, between 0 and 1; 0.5 if both errors cost the same.

        Returns
        -------
        Shift
            The range of optimal shifts, and the over- and under-prediction and loss there.
        """
        check_alpha(alpha)
        loss = 2 * (1 - alpha) * self.x - 2 * alpha * self.y
        least = np.flatnonzero(loss <= loss.min() + 1e-12 * np.abs(loss).max())
        first, last = int(least[0]), int(least[-1])
        # The slope of the segment before is (share under) / (share over), so the share over is 1 / (1 + slope).
        share = 0.0 if first == 0 else 1 / (1 + _slope(self, first - 1, first))
        ends = float(self.threshold[first]), float(self.threshold[last])
        return Shift(*ends, float(self.x[first]), float(-self.y[first]), float(loss[first]), share)

    def loss(self, alpha: float) -> float:
        """Asymmetric loss of the unshifted model.

        Parameters
        ----------
        alpha : float
            The quantile of the asymmetric loss, between 0 and 1; 0.5 if both errors cost the same.

        Returns
        -------
        float
            The mean loss, or the sum if the axes are sums.
        """
        check_alpha(alpha)
        return 2 * (1 - alpha) * self.own[0] - 2 * alpha * self.own[1]

    def __repr__(self) -> str:
        return f"{super().__repr__()}, area over it {self.area():.4g}"

    def iso_cost(self, alpha: float) -> tuple[float, float]:
        """Slope (1 − α) / α and intercept of the iso-loss line that touches the curve.

        Parameters
        ----------
        alpha : float
            The quantile of the asymmetric loss, between 0 and 1; 0.5 if both errors cost the same.

        Returns
        -------
        tuple of float
            Slope and intercept.
        """
        best = self.best(alpha)
        slope = (1 - alpha) / alpha
        return slope, -best.under - slope * best.over


def _slope(curve: RrocCurve, a: int, b: int) -> float:
    return float((curve.y[b] - curve.y[a]) / (curve.x[b] - curve.x[a])) if curve.x[b] > curve.x[a] else np.inf


def check_alpha(alpha: float) -> None:
    """Refuse an alpha outside (0, 1)."""
    if not 0 < alpha < 1:
        raise CurveError(
            f"alpha={alpha:g} must be between 0 and 1.", hint="2/3 if under-prediction costs twice as much"
        )


@curve(
    title="RROC curve", x=OVER, y=UNDER, square=True, area="the area over the curve: half the variance of the errors"
)
def rroc(
    table: ResidualTable,
    *,
    axes: Annotated[Literal["mean", "sum"], "means over the cases, or sums, on the axes"] = "mean",
) -> RrocCurve:
    """Over- against under-prediction as all predictions are shifted by q, with e = ŷ − y: Σ (e + q)₊ and Σ (e + q)₋.

    Parameters
    ----------
    table : ResidualTable
        True and predicted numbers; see `residual_table`.
    axes : {"mean", "sum"}
        Means over the cases, or sums, on the axes.

    Returns
    -------
    RrocCurve
        The curve, with the point of the unshifted model.

    References
    ----------
    Hernández-Orallo, J. (2013). ROC curves for regression. Pattern Recognition, 46(12), 3395-3411.

    Examples
    --------
    >>> from scorespace.tables.regression import residual_table
    >>> round(rroc(residual_table([1, 2, 3], [2, 2, 2])).area(), 6)
    0.333333
    """
    if axes not in ("mean", "sum"):
        raise CurveError(f"axes={axes!r} is unknown.", hint="mean or sum")
    shift, passed = _shifts(table)
    if not shift.size:
        raise DataError("there are no cases.", hint="at least one case")
    total = float(passed[-1])
    unit = total if axes == "mean" else 1.0
    over, under = np.zeros(shift.size), passed
    steps, reached = over[1:], passed[:-1]
    np.subtract(shift[1:], shift[:-1], out=steps)
    steps /= unit

    def areas(rows: slice) -> None:
        """Computed in place and in chunks, because memory bandwidth dominates for many points."""
        short = (reached[rows] - total) * steps[rows]
        steps[rows] *= reached[rows]
        reached[rows] = short

    map_chunks(areas, steps.size)
    under[-1] = 0.0
    np.cumsum(over, out=over)
    np.cumsum(under[::-1], out=under[::-1])
    error = table.numbers.error  # cheaper than the sums of all terms in the table
    absolute, signed = (
        float(values.sum() if table.weight is None else table.weight @ values) for values in (np.abs(error), error)
    )
    own = (absolute + signed) / 2 / unit, (signed - absolute) / 2 / unit
    sides = OVER if axes == "mean" else f"{OVER}, sum", UNDER if axes == "mean" else f"{UNDER}, sum"
    return RrocCurve("rroc", over, under, shift, *sides, own, total)


def _shifts(table: ResidualTable) -> tuple[Array, Array]:
    """Shifts at which an error becomes zero, ascending, and the weight of the cases over-predicted beyond each."""
    if table.weight is None:
        shift = np.negative(table.numbers.error)
        shift.sort()  # sorting values is several times as fast as sorting indices
        passed = np.arange(1.0, shift.size + 1)
    else:
        order = table.numbers.by_error[::-1]
        order = order[table.weight[order] > 0]
        shift, passed = -table.numbers.error[order], np.cumsum(table.weight[order], dtype=np.float64)
    last = shift[1:] != shift[:-1]
    if not last.all():
        ends = np.append(last, True)
        shift, passed = shift[ends], passed[ends]
    return shift + 0.0 if shift.size and not shift.all() else shift, passed  # 0 instead of −0


# --- several models


@dataclass(frozen=True)
class AlphaRange:
    """Range of α, the weight of under-prediction, in which a model is best after the optimal shift."""

    model: str
    alpha_low: float
    alpha_high: float

    def row(self) -> Row:
        return to_json_types(asdict(self))


@dataclass(frozen=True, eq=False)
class RrocHull:
    """Concave hull of the curves of several models, with the model of each vertex."""

    x: Array
    y: Array
    model: tuple[str, ...]

    def ranges(self) -> list[AlphaRange]:
        """Ranges of α in which each model is best, ascending; neighbouring vertices of one model are joined."""
        slope = np.diff(self.y) / np.diff(self.x)
        alpha = np.concatenate([[0.0], 1 / (1 + slope), [1.0]])
        ranges: list[AlphaRange] = []
        for place, name in enumerate(self.model):
            low, high = float(alpha[place]), float(alpha[place + 1])
            if ranges and ranges[-1].model == name:
                ranges[-1] = AlphaRange(name, ranges[-1].alpha_low, high)
            elif high > low:
                ranges.append(AlphaRange(name, low, high))
        return ranges


def rroc_hull(curves: Mapping[str, RrocCurve]) -> RrocHull:
    """Common hull of several models; a model without a vertex on it is dominated.

    Parameters
    ----------
    curves : mapping of str to RrocCurve
        The curve of each model.

    Returns
    -------
    RrocHull
        The common hull, with the model of each vertex.

    References
    ----------
    Hernández-Orallo, J. (2013). ROC curves for regression. Pattern Recognition, 46(12), 3395-3411.

    Examples
    --------
    >>> from scorespace.tables.regression import residual_table
    >>> near, far = (rroc(residual_table([0.0, 0, 0], e)) for e in ([-1, 0, 1], [-2, 0, 2]))
    >>> rroc_hull({"near": near, "far": far}).ranges()
    [AlphaRange(model='near', alpha_low=0.0, alpha_high=1.0)]
    """
    names = list(curves)
    owner = np.concatenate([np.full(curve.x.size, place) for place, curve in enumerate(curves.values())])
    x, y = (np.concatenate([getattr(curve, side) for curve in curves.values()]) for side in ("x", "y"))
    order = np.lexsort((owner, -y, x))  # of equal points, that of the first model
    x, y, owner = x[order], y[order], owner[order]
    is_first = np.append(True, x[1:] > x[:-1])
    x, y, owner = x[is_first], y[is_first], owner[is_first]
    top = int(np.argmax(y))  # points beyond the first without under-prediction are never better
    x, y, owner = x[: top + 1], y[: top + 1], owner[: top + 1]
    vertices = (
        pool_adjacent_violators(np.diff(y) / np.diff(x), np.diff(x)) if x.size > 1 else np.zeros(1, dtype=np.intp)
    )
    return RrocHull(x[vertices], y[vertices], tuple(names[int(index)] for index in owner[vertices]))
