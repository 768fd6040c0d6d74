"""Interval and p of a difference: from its replicates, or from the intervals of the two numbers it is made of."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from scorespace.comparisons.answer import Comparison
from scorespace.measures.request import Request
from scorespace.resampling.draw import Draws
from scorespace.resampling.estimate import UNCOUNTED
from scorespace.resampling.interval import Interval, Plan, bootstrap_interval, chosen
from scorespace.results import grouped
from scorespace.special import ndtr, stdtr, stdtrit
from scorespace.tables import Array

Bounds = tuple[float, float]
SAME: Final = "the measure is the same in every replicate, from which nothing follows about chance"
_FARTHEST: Final = 8.0  # standard errors beyond which floating point knows no level
_NEAREST: Final = 1e-9
_CLOSE: Final = 1e-11
_STEPS: Final = 60


def judged(
    found: Comparison,
    drawn: Array,
    alike: str | None = None,
    *,
    range: Bounds = (-math.inf, math.inf),
    least: float = 0.0,
    fewest: float = math.inf,
) -> Comparison:
    """The comparison with interval, statistic and p from replicates of its difference.

    `alike` says why p is 1 when the difference is 0 in all of them; without it, equal replicates say nothing.
    With few cases of the rarest class (`fewest`) quantiles alone reject too often: of them and of Student's t, with
    one degree of freedom less than such cases, the wider interval and the larger p count. The interval is cut to the
    range of a difference, and p is at least `least`.

    >>> judged(Comparison("a", "b", "bootstrap", "auc", 0.1), np.array([0.05, 0.1, 0.15, -0.01])).p
    0.8
    """
    values = drawn[np.isfinite(drawn)]
    lost = drawn.size - values.size
    left_out = f"leaves out {grouped(lost)} of {grouped(drawn.size)} undefined replicates" if lost else None
    if not values.size:
        return replace(found, reason="the measure is undefined in every replicate")
    level, difference = found.level, found.difference
    low, high = (float(q) for q in np.quantile(values, [(1 - level) / 2, (1 + level) / 2]))
    error = float(values.std(ddof=1)) if np.ptp(values) > 1e-12 else 0.0  # equal ones differ by rounding
    if error == 0:
        if alike is None:
            return replace(found, reason=SAME)
        same = abs(difference) <= 1e-12
        reason = alike if same else "the difference is the same in every replicate"
        z, p = (0.0, 1.0) if same else (math.nan, math.nan)
        return replace(found, low=low, high=high, statistic=z, p=p, reason=reason)
    if not low <= difference <= high:  # drawing cases twice lifts maxima such as KS above the value itself
        shift = difference - float(np.median(values))
        values, low, high = values + shift, low + shift, high + shift
        found = replace(found, test=f"{found.test}, centred")
    tail = 0.0
    if fewest < math.inf:
        freedom = max(1.0, fewest - 1)
        half = float(stdtrit(freedom, (1 + level) / 2)) * error
        low, high = min(low, difference - half), max(high, difference + half)
        tail = 2 * float(stdtr(freedom, -abs(difference) / error))
    low, high = max(low, range[0]), min(high, range[1])
    # The share of replicates on the other side of zero, so that p and the interval agree.
    beyond = min(int((values <= 0).sum()), int((values >= 0).sum()))
    p = min(1.0, max(least, tail, 2 * (1 + beyond) / (1 + values.size)))
    return replace(found, low=low, high=high, statistic=difference / error, p=p, reason=left_out)


def least_p(units: int) -> float:
    """The smallest p that so many cases can give when each of them may speak for either side: 2 · 2⁻ⁿ.

    >>> least_p(2), least_p(6)
    (0.5, 0.03125)
    """
    return min(1.0, 2.0 ** (1 - min(units, 1000)))


def combined(a: float, of_a: Bounds, b: float, of_b: Bounds, correlation: float = 0.0) -> Bounds:
    """The interval of a − b from the intervals of both, as Newcombe does for shares (MOVER).

    low = a − b − √(l² − 2 r l u + u²) with l = a − low of a, u = high of b − b; the upper bound likewise. It never
    leaves the range of a difference, since the two intervals do not leave theirs.

    >>> tuple(round(x, 4) for x in combined(0.8, (0.49, 0.94), 0.4, (0.17, 0.69)))
    (-0.0245, 0.6693)
    """

    def reach(x: float, y: float) -> float:
        return math.sqrt(max(x * x - 2 * correlation * x * y + y * y, 0.0))  # in this order NaN stays NaN

    low, high = reach(a - of_a[0], of_b[1] - b), reach(of_a[1] - a, b - of_b[0])
    return a - b - low, a - b + high


def interval_at(request: Request, model: str, draws: Draws, level: float) -> Interval:
    """The usual interval of a measure of a model, the one that is shown of it; groups of cases are drawn whole."""
    value = request.value
    reason = request.reason(value) or (None if draws.tables[model].counted else UNCOUNTED)
    if reason is not None:
        return Interval(math.nan, math.nan, None, reason)
    kind = bootstrap_interval if draws.grouped else chosen(request, None)
    return kind.of(Plan(request, model, draws.tables[model], value, level, draws))


def inverted(bounds: Callable[[float], Bounds], target: float) -> float:
    """How many standard errors an interval must reach to hold the target: where its bound touches it; NaN without one.

    `bounds` gives the interval by level. 1 minus the level that touches is the p of the test that agrees with it.

    >>> round(inverted(lambda level: (0.6 - level, 0.6 + level), 0.5), 6)  # the level 0.1
    0.125661
    """

    def beyond(z: float) -> float:
        """How far the target lies outside of the interval; below zero, how far inside."""
        low, high = bounds(_level(z))
        return max(low - target, target - high)

    near, far = 0.0, 1.0
    outside, inside = beyond(_NEAREST), beyond(far)
    while inside > 0 and far < _FARTHEST:
        near, outside, far = far, inside, 2 * far
        inside = beyond(far)
    if math.isnan(inside) or math.isnan(outside):
        return math.nan
    if inside > 0:
        return _FARTHEST
    if outside <= 0:
        return 0.0
    z = last = math.inf
    side = 0
    for _ in range(_STEPS):  # secants; the end that stays twice is weighed half (Illinois)
        # A bound that is cut to the range of the measure may lie on the target for many levels: then halves.
        z = (near * inside - far * outside) / (inside - outside) if inside < 0 else (near + far) / 2
        gap = beyond(z)
        if gap > 0:
            near, outside, inside, side = z, gap, inside / 2 if side > 0 else inside, 1
        else:
            far, inside, outside, side = z, gap, outside / 2 if side < 0 else outside, -1
        if abs(z - last) < _CLOSE:
            break
        last = z
    return z


def touching(found: Comparison, bounds: Callable[[float], Bounds], target: float, least: float) -> Comparison:
    """The comparison with the p at which its interval would just reach the target, and not below `least`."""
    z = inverted(bounds, target)
    p = min(1.0, max(least, 2 * float(ndtr(-z))))
    return replace(found, statistic=math.copysign(z, found.difference), p=p)


def _level(z: float) -> float:
    return float(1 - 2 * ndtr(-z))
