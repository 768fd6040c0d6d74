"""Measures of calibration: distances of the scores from their smooth calibration curve.

Reference: Austin and Steyerberg (2019), "The Integrated Calibration Index (ICI) and related metrics for quantifying
the calibration of logistic regression models", Statistics in Medicine 38.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from scorespace.curves.smooth_calibration import RIDGE, Knots, Ridge, distance_quantiles, fit_spline
from scorespace.measures.decomposition import BY_CHANCE
from scorespace.measures.measure import ONE_CLASS
from scorespace.measures.probability import probability_measure
from scorespace.tables import Array, ScoreTable, ratio

_distance = partial(
    probability_measure,
    range=(0, 1),
    best="low",
    interval="test-inversion-smooth",
    multiclass_default="top",
    undefined=ONE_CLASS,
    biased=BY_CHANCE,
)


def _distances(t: ScoreTable, knots: int | None, ridge: float) -> tuple[Array, Array]:
    """|score − smooth rate| and the number of cases, at each score; fitted once for all measures of a table."""
    cache = t.__dict__.setdefault("smooth_distances", {})
    if (knots, ridge) not in cache:
        distance = np.abs(fit_spline(t, knots, ridge).rate(t.score) - t.score)
        cache[knots, ridge] = distance, np.asarray(t.pos + t.neg, dtype=np.float64)
    found: tuple[Array, Array] = cache[knots, ridge]
    return found


@_distance(
    title="Integrated calibration index",
    aliases=("integrated_calibration_index",),
    coverage_note="curves with more bends than the spline can follow: covers in 71 to 95 % of samples",
)
def ici(t: ScoreTable, *, knots: Knots = None, ridge: Ridge = RIDGE) -> Array:
    """Mean |score − smooth rate| over the cases, of the smooth calibration curve (Austin & Steyerberg 2019)."""
    distance, cases = _distances(t, knots, ridge)
    return ratio((distance * cases).sum(axis=-1), cases.sum(axis=-1))


@_distance(
    title="Median calibration distance",
    coverage_note="curves with more bends than the spline can follow: covers in 79 to 93 % of samples",
)
def e50(t: ScoreTable, *, knots: Knots = None, ridge: Ridge = RIDGE) -> Array:
    """Median |score − smooth rate| over the cases, of the smooth calibration curve."""
    return distance_quantiles(*_distances(t, knots, ridge), 0.5)


@_distance(
    title="90th percentile of the calibration distance",
    coverage_note="curves with more bends than the spline can follow: covers in 79 to 92 % of samples",
)
def e90(t: ScoreTable, *, knots: Knots = None, ridge: Ridge = RIDGE) -> Array:
    """90th percentile of |score − smooth rate| over the cases, of the smooth calibration curve."""
    return distance_quantiles(*_distances(t, knots, ridge), 0.9)


@_distance(
    title="Maximum calibration distance",
    aliases=("max_calibration_distance",),
    coverage_note="it rests on the outermost cases; curves with a bend at the end: covers in 26 to 91 % of samples",
)
def emax(t: ScoreTable, *, knots: Knots = None, ridge: Ridge = RIDGE) -> Array:
    """Largest |score − smooth rate| over the cases, of the smooth calibration curve."""
    distance, cases = _distances(t, knots, ridge)
    return np.where(cases > 0, distance, np.where(np.isnan(distance), np.nan, 0.0)).max(axis=-1)
