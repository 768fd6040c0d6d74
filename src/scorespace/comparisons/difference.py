"""Confidence interval and p value of a difference, from its replicates or from the intervals of both values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
from scipy.special import ndtr, stdtr, stdtrit

from scorespace.comparisons.result import Comparison
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.estimate import UNCOUNTED
from scorespace.inference.interval import Interval, IntervalRequest, bootstrap_interval, resolve_interval
from scorespace.measures.request import Request
from scorespace.results import grouped
from scorespace.tables import Array

Bounds = tuple[float, float]
SAME_IN_ALL: Final = "all bootstrap replicates gave the same value, so neither p nor an interval is informative"
_MAX_Z: Final = 8.0  # limit of z, beyond which the level is 1 in floating point
_MIN_Z: Final = 1e-9
_Z_TOLERANCE: Final = 1e-11
_MAX_ITERATIONS: Final = 60


def add_replicate_test(
    comparison: Comparison,
    replicates: Array,
    alike: str | None = None,
    *,
    range: Bounds = (-math.inf, math.inf),
    least: float = 0.0,
    fewest: float = math.inf,
) -> Comparison:
    """Add interval, statistic and p from replicates of the difference to a comparison.

    `alike` is the reason for p = 1 if the difference is 0 in all of them; without it, equal replicates are not
    informative. With few cases of the rarest class (`fewest`) quantiles alone reject too often: then the wider interval
    and the larger p of quantiles and Student's t with `fewest` − 1 degrees of freedom are used. The interval is clipped
    to the range of a difference, and p is at least `least`.

    >>> add_replicate_test(Comparison("a", "b", "bootstrap", "auc", 0.1), np.array([0.05, 0.1, 0.15, -0.01])).p
    0.8
    """
    values = replicates[np.isfinite(replicates)]
    n_undefined = replicates.size - values.size
    remark = (
        f"excludes {grouped(n_undefined)} of {grouped(replicates.size)} undefined replicates" if n_undefined else None
    )
    if not values.size:
        return replace(comparison, reason="the measure is undefined in every replicate")
    level, difference = comparison.level, comparison.difference
    low, high = (float(q) for q in np.quantile(values, [(1 - level) / 2, (1 + level) / 2]))
    error = float(values.std(ddof=1)) if np.ptp(values) > 1e-12 else 0.0  # equal values differ by rounding
    if error == 0:
        if alike is None:
            return replace(comparison, reason=SAME_IN_ALL)
        is_zero = abs(difference) <= 1e-12
        reason = alike if is_zero else "the difference is the same in every replicate"
        z, p = (0.0, 1.0) if is_zero else (math.nan, math.nan)
        return replace(comparison, low=low, high=high, statistic=z, p=p, reason=reason)
    if not low <= difference <= high:  # resampling inflates maxima such as KS above the estimate
        shift = difference - float(np.median(values))
        values, low, high = values + shift, low + shift, high + shift
        comparison = replace(comparison, test=f"{comparison.test}, centred")
    tail = 0.0
    if fewest < math.inf:
        df = max(1.0, fewest - 1)
        half = float(stdtrit(df, (1 + level) / 2)) * error
        low, high = min(low, difference - half), max(high, difference + half)
        tail = 2 * float(stdtr(df, -abs(difference) / error))
    low, high = max(low, range[0]), min(high, range[1])
    # Twice the share of replicates beyond zero, so that p and the interval agree.
    beyond = min(int((values <= 0).sum()), int((values >= 0).sum()))
    p = min(1.0, max(least, tail, 2 * (1 + beyond) / (1 + values.size)))
    return replace(comparison, low=low, high=high, statistic=difference / error, p=p, reason=remark)


def least_p(units: int) -> float:
    """Smallest two-sided p value of a sign test with n cases: 2 · 2⁻ⁿ.

    >>> least_p(2), least_p(6)
    (0.5, 0.03125)
    """
    return min(1.0, 2.0 ** (1 - min(units, 1000)))


def mover_interval(a: float, of_a: Bounds, b: float, of_b: Bounds, correlation: float = 0.0) -> Bounds:
    """Interval of a − b from the intervals of both (MOVER; Newcombe 1998, Zou and Donner 2008).

    low = a − b − √(l² − 2 r l u + u²) with l = a − low of a, u = high of b − b; the upper limit likewise. It stays
    within the range of a difference, since both intervals stay within theirs.

    >>> tuple(round(x, 4) for x in mover_interval(0.8, (0.49, 0.94), 0.4, (0.17, 0.69)))
    (-0.0245, 0.6693)
    """

    def half_width(x: float, y: float) -> float:
        return math.sqrt(max(x * x - 2 * correlation * x * y + y * y, 0.0))  # in this order NaN stays NaN

    low, high = half_width(a - of_a[0], of_b[1] - b), half_width(of_a[1] - a, b - of_b[0])
    return a - b - low, a - b + high


def interval_at(request: Request, model: str, draws: BootstrapDraws, level: float) -> Interval:
    """Return the default interval of a measure of a model; groups are resampled as a whole."""
    value = request.value
    reason = request.reason(value) or (None if draws.tables[model].counted else UNCOUNTED)
    if reason is not None:
        return Interval(math.nan, math.nan, None, reason)
    kind = bootstrap_interval if draws.grouped else resolve_interval(request, None)
    return kind.of(IntervalRequest(request, model, draws.tables[model], value, level, draws))


def boundary_z(bounds: Callable[[float], Bounds], target: float) -> float:
    """Return the z value at which the limit of an interval touches the target; NaN without an interval.

    `bounds` returns the interval for a level. 1 minus the level that touches is the p value of the corresponding test.

    >>> round(boundary_z(lambda level: (0.6 - level, 0.6 + level), 0.5), 6)  # the level is 0.1
    0.125661
    """

    def distance(z: float) -> float:
        """Distance of the target from the interval; negative inside."""
        low, high = bounds(_level_of_z(z))
        return max(low - target, target - high)

    near, far = 0.0, 1.0
    outside, inside = distance(_MIN_Z), distance(far)
    while inside > 0 and far < _MAX_Z:
        near, outside, far = far, inside, 2 * far
        inside = distance(far)
    if math.isnan(inside) or math.isnan(outside):
        return math.nan
    if inside > 0:
        return _MAX_Z
    if outside <= 0:
        return 0.0
    z = last = math.inf
    side = 0
    for _ in range(_MAX_ITERATIONS):  # regula falsi, Illinois variant
        # A limit clipped to the range of the measure may equal the target for many levels: then bisection.
        z = (near * inside - far * outside) / (inside - outside) if inside < 0 else (near + far) / 2
        gap = distance(z)
        if gap > 0:
            near, outside, inside, side = z, gap, inside / 2 if side > 0 else inside, 1
        else:
            far, inside, outside, side = z, gap, outside / 2 if side < 0 else outside, -1
        if abs(z - last) < _Z_TOLERANCE:
            break
        last = z
    return z


def add_interval_test(
    comparison: Comparison, bounds: Callable[[float], Bounds], target: float, least: float
) -> Comparison:
    """Add the p value at which the interval just reaches the target, at least `least`, to a comparison."""
    z = boundary_z(bounds, target)
    p = min(1.0, max(least, 2 * float(ndtr(-z))))
    return replace(comparison, statistic=math.copysign(z, comparison.difference), p=p)


def _level_of_z(z: float) -> float:
    return float(1 - 2 * ndtr(-z))
