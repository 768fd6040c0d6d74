"""Smooth calibration curve: a restricted cubic spline of the logit of the score, fitted by logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final, Self

import numpy as np
from scipy.special import expit, logit

from scorespace.curves.brier import probabilities
from scorespace.curves.curve import Curve, unit_square_with_diagonal
from scorespace.errors import ScoreSpaceError
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.class_scores import TOP
from scorespace.tables.weighted_quantiles import run_starts

RIDGE: Final = 0.3
_POINTS: Final = 101
_CLIP: Final = 1e-6  # scores of 0 and 1 have no logit
_TINY: Final = 1e-9
_MAX_STEPS: Final = 50
_MAX_ROWS: Final = 4096  # distinct scores above which neighbours are merged for the fit
MANY_RARE: Final = 200
"""Cases of the rarer class from which five knots follow waves that four cannot."""
_KNOT_SHARES: Final = {3: (0.1, 0.5, 0.9), 4: (0.05, 0.35, 0.65, 0.95), 5: (0.05, 0.275, 0.5, 0.725, 0.95)}

Knots = Annotated[int | None, "knots of the spline: 3, 4 or 5; by default 4, and 5 from 200 cases of the rarer class"]
Ridge = Annotated[float, "ridge penalty of the curve, which keeps it finite for separated classes"]


@dataclass(frozen=True)
class SplineFit:
    """A fitted calibration curve logit c = logit p + columns · coefficients; coefficients (…, k).

    `knots` are on the logit scale; `turn` makes the columns of the spline orthonormal over the cases. `hessian` is the
    negated Hessian of the penalised likelihood.
    """

    knots: Array
    turn: Array
    coefficients: Array
    hessian: Array

    def columns(self, x: Array) -> Array:
        """Orthonormal columns of the spline at logits."""
        return np.asarray(_spline(x, self.knots)[:, : len(self.turn)] @ self.turn)

    def rate(self, score: Array) -> Array:
        """Rates of positives (…, n) at scores."""
        x = _logit(score)
        return np.asarray(expit(x + self.coefficients @ self.columns(x).T))

    def error(self, score: Array) -> Array:
        """Standard error of the logit of the rate at scores, of a single fit."""
        columns = self.columns(_logit(score))
        return np.asarray(np.sqrt(np.einsum("ni,ij,nj->n", columns, np.linalg.inv(self.hessian), columns)))


@dataclass(frozen=True, eq=False, repr=False)
class SmoothCalibrationCurve(Curve):
    """Smooth rate of positives (y) at scores (x), from the lowest to the highest score.

    Parameters
    ----------
    kind : str
        Name of the kind of curve.
    x, y : ndarray of shape (n_points,)
        Scores and rates.
    threshold : ndarray of shape (n_points,)
        The scores.
    x_title, y_title : str
        Titles of the axes.
    fit : SplineFit
        The fitted spline.
    certified_low, certified_high : ndarray, optional
        Bounds of y for a binned table.
    """

    fit: SplineFit

    def at(self, places: Array) -> Self:
        """The curve with a subset of its points.

        Parameters
        ----------
        places : ndarray of int
            Indices of the points.

        Returns
        -------
        SmoothCalibrationCurve
            The curve through these points.
        """
        chosen: dict[str, Any] = {name: column[places] for name, column in self.columns.items()}
        return type(self)(self.kind, **chosen, x_title=self.x_title, y_title=self.y_title, fit=self.fit)


@unit_square_with_diagonal(
    title="Smooth calibration curve",
    x="Score",
    y="Smooth rate",
    aliases=("calibration_smooth", "flexible_calibration"),
    chance_name="calibrated",
    probability=True,
    also=(TOP,),
)
def smooth_calibration(table: ScoreTable, *, ridge: Ridge = RIDGE, knots: Knots = None) -> SmoothCalibrationCurve:
    """Rate of positives as a smooth function of the score: logit c = logit p + β + restricted cubic spline(logit p).

    Knots are quantiles of the cases; coefficients have a small ridge penalty. The curve ends at the lowest and the
    highest score.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.
    ridge : float
        Penalty of the coefficients besides the intercept.
    knots : {3, 4, 5}, optional
        Number of knots; by default 4, and 5 from 200 cases of the rarer class.

    Returns
    -------
    SmoothCalibrationCurve
        Scores (x) and rates (y).

    References
    ----------
    Austin, P. C., & Steyerberg, E. W. (2019). The Integrated Calibration Index (ICI) and related metrics for
    quantifying the calibration of logistic regression models. Statistics in Medicine, 38(21), 4051-4065.

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> smooth_calibration(score_table([0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.4, 0.6, 0.7, 0.9])).y[[0, 50, 100]].round(2)
    array([0.17, 0.47, 0.94])
    """
    probabilities(table)
    fit = fit_spline(table, knots, ridge)
    cases = table.counts.sum(axis=-2)
    at = table.score[cases > 0]
    x = np.unique(np.linspace(at[-1], at[0], _POINTS)) if at.size else np.full(1, np.nan)
    y = fit.rate(x)
    return SmoothCalibrationCurve(smooth_calibration.name, x, y, x, smooth_calibration.x, smooth_calibration.y, fit=fit)


def fit_spline(table: ScoreTable, knots: int | None = None, ridge: float = RIDGE) -> SplineFit:
    """Fit the smooth calibration curve of a table and of all its replicates; NaN where only one class is present.

    All replicates share the knots, which are quantiles of their pooled cases.
    """
    if knots is not None and knots not in _KNOT_SHARES:
        raise ScoreSpaceError(f"knots={knots} is not supported.", hint="knots=3, 4 or 5")
    if not 0 <= ridge < np.inf:
        raise ScoreSpaceError(f"ridge={ridge:g} is not a penalty.", hint="ridge=0.3, or 0 for none")
    pos, neg = (np.asarray(column, dtype=np.float64) for column in table.columns)
    x, pos, neg = _merge(_logit(table.score), pos, neg)
    cases = pos + neg
    pooled = cases.reshape(-1, x.size).mean(axis=0)
    if knots is None:
        rarer = min(float(np.mean(side.sum(axis=-1))) for side in (pos, neg))
        knots = 5 if rarer >= MANY_RARE else 4
    places = np.unique(_case_quantiles(x, pooled, np.array(_KNOT_SHARES[knots])))
    filled = pooled > 0
    n_distinct = int(run_starts(x[filled]).size)
    basis = _spline(x, places)[:, : max(1, min(3 if places.size == 3 else 9, n_distinct))]
    share = np.sqrt(ratio(pooled, pooled.sum()))[:, None]
    _, upper = np.linalg.qr(basis * share)
    scale = np.abs(np.diag(upper))
    kept = np.r_[True, scale[1:] > 1e-8 * max(1.0, float(scale.max(initial=0.0)))].astype(bool)
    width = int(np.argmin(kept)) if not kept.all() else kept.size
    turn = np.linalg.inv(upper[:width, :width]) if np.isfinite(upper).all() and scale[0] > 0 else np.eye(1)
    turn[:, 0] *= np.sign(turn[0, 0])
    coefficients, hessian = penalised_logistic(x, basis[:, : len(turn)] @ turn, pos, cases, ridge)
    both = (pos.sum(axis=-1) > 0) & (neg.sum(axis=-1) > 0)
    return SplineFit(places, turn, np.where(both[..., None], coefficients, np.nan), hessian)


def penalised_logistic(x: Array, columns: Array, pos: Array, cases: Array, ridge: float) -> tuple[Array, Array]:
    """Fit logit rate = x + columns · coefficients by Newton's method with step halving, all replicates together.

    Returns coefficients (…, k), all but the first penalised, and the negated Hessian (…, k, k).
    """
    width = columns.shape[1]
    penalty = np.diag([0.0] + [ridge] * (width - 1))
    products = (columns[:, :, None] * columns[:, None, :]).reshape(-1, width * width)
    shape = pos.shape[:-1]
    pos, cases = pos.reshape(-1, x.size), np.broadcast_to(cases, pos.shape).reshape(-1, x.size)
    coefficients = np.zeros((len(pos), width))

    def log_likelihood(at: Array) -> Array:
        eta = x + at @ columns.T
        penalised = np.einsum("ri,ij,rj->r", at, penalty, at) / 2
        return np.asarray((pos * eta - cases * np.logaddexp(0.0, eta)).sum(axis=1) - penalised)

    current = log_likelihood(coefficients)
    hessian = np.zeros((len(pos), width, width))
    for _ in range(_MAX_STEPS):
        rate = expit(x + coefficients @ columns.T)
        gradient = (pos - cases * rate) @ columns - coefficients @ penalty
        curvature = cases * rate * (1 - rate)
        hessian = (curvature @ products).reshape(-1, width, width) + penalty + _TINY * np.eye(width)
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        size = np.abs(step).max(axis=1)
        if not (size > _TINY).any():
            break
        for _ in range(_MAX_STEPS):  # steps overshoot where rates are near 0 or 1
            proposed = log_likelihood(coefficients + step)
            too_far = (proposed < current - _TINY) & (np.abs(step).max(axis=1) > _TINY)
            if not too_far.any():
                break
            step = np.where(too_far[:, None], step / 2, step)
        coefficients, current = coefficients + step, proposed
        if (size < 1e-7).all():
            break
    return coefficients.reshape(*shape, width), hessian.reshape(*shape, width, width)


def _spline(x: Array, knots: Array) -> Array:
    """Columns of a restricted cubic spline: 1, x, and one cubic per knot but the last two; linear outside."""
    columns = [np.ones_like(x), x]
    if knots.size >= 3:
        *inner, before, last = knots.tolist()
        unit = (last - knots[0]) ** 2
        for knot in inner:
            cubic = np.maximum(x - knot, 0) ** 3
            cubic -= np.maximum(x - before, 0) ** 3 * (last - knot) / (last - before)
            cubic += np.maximum(x - last, 0) ** 3 * (before - knot) / (last - before)
            columns.append(cubic / unit)
    return np.stack(columns, axis=1)


def _logit(score: Array) -> Array:
    return np.asarray(logit(np.clip(score, _CLIP, 1 - _CLIP)))


def _merge(x: Array, pos: Array, neg: Array) -> tuple[Array, Array, Array]:
    """Merge neighbouring logits of a large table, each at its mean logit."""
    if x.size <= _MAX_ROWS:
        return x, pos, neg
    cases = (pos + neg).reshape(-1, x.size).sum(axis=0)
    reached = np.cumsum(cases) / cases.sum()
    span = (x[0] - x) / max(float(x[0] - x[-1]), _TINY)
    starts = run_starts(((reached + span) * _MAX_ROWS / 2).astype(np.int64))
    sums = np.add.reduceat(cases, starts)
    middle = np.where(sums > 0, np.add.reduceat(cases * x, starts) / np.where(sums > 0, sums, 1), x[starts])
    return middle, np.add.reduceat(pos, starts, axis=-1), np.add.reduceat(neg, starts, axis=-1)


def _case_quantiles(x: Array, cases: Array, shares: Array) -> Array:
    """Quantiles of cases at descending x, interpolated between neighbours (type 7 of Hyndman and Fan 1996)."""
    reached = np.cumsum(cases[::-1])
    ascending = x[::-1]
    position = max(float(reached[-1]) - 1, 0.0) * shares if reached.size else shares
    low = np.searchsorted(reached, np.floor(position + _TINY), side="right").clip(0, x.size - 1)
    high = np.searchsorted(reached, np.ceil(position - _TINY), side="right").clip(0, x.size - 1)
    share = position - np.floor(position + _TINY)
    return np.asarray(ascending[low] + share * (ascending[high] - ascending[low]))


def distance_quantiles(distance: Array, cases: Array, share: float) -> Array:
    """Quantile over the cases of distances (…, n), interpolated between neighbours as in `_case_quantiles`."""
    order = np.argsort(distance, axis=-1)
    ordered = np.take_along_axis(distance, order, axis=-1)
    reached = np.cumsum(np.take_along_axis(np.broadcast_to(cases, distance.shape), order, axis=-1), axis=-1)
    position = np.maximum(reached[..., -1:] - 1, 0.0) * share
    below, above = np.floor(position + _TINY), np.ceil(position - _TINY)
    last = distance.shape[-1] - 1
    low, high = ((reached <= at).sum(axis=-1, keepdims=True).clip(0, last) for at in (below, above))
    first, second = (np.take_along_axis(ordered, place, axis=-1) for place in (low, high))
    return np.asarray((first + (position - below) * (second - first))[..., 0])
