"""Interval of a mean that few cases bear: Student's t with the effective number of cases, corrected for skewness.

References: Johnson (1978), "Modified t tests and confidence intervals for asymmetrical populations", JASA 73;
Satterthwaite (1946), "An approximate distribution of estimates of variance components", Biometrics Bulletin 2.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple, cast

from scipy.special import stdtrit

from scorespace.inference.interval import Interval, IntervalRequest, interval, undefined_interval
from scorespace.measures.request import Request
from scorespace.results import count_noun
from scorespace.tables.case_costs import CostSums, Moments

FEW_BEARING: Final = 10.0
"""Number of cases that bear a mean below which an interval has a remark."""


class SkewedLimits(NamedTuple):
    """Limits of a mean, and the number of cases that bear it."""

    low: float
    high: float
    bearing: float


def skew_k(moments: Moments, level: float = 0.95, *, log: bool = False, value: float | None = None) -> SkewedLimits:
    """Limits m ± t·se, t with 2k / (1 − k/n) degrees of freedom and k = (ΣU²)² / ΣU⁴; longer to the skewed side.

    U are the deviations of n cases from their mean. The side that the skewness g of U points to is longer by
    se · g/√n · (2t² + 1)/6. `log`: on the log scale, for values that cannot be negative. `value` is the estimate where
    the moments are those of its influence, as for a ratio.

    >>> from scorespace.tables.case_costs import moments_of_cases
    >>> import numpy as np
    >>> low, high, bearing = skew_k(moments_of_cases(np.array([0.0] * 90 + [1.0] * 10)))
    >>> round(low, 3), round(high, 3), round(bearing, 1)
    (0.038, 0.174, 12.3)
    """
    mean = moments.mean if value is None else value
    n, second = moments.cases, moments.second
    if n < 2 or not math.isfinite(mean):
        return SkewedLimits(math.nan, math.nan, 0.0)
    if second <= 1e-24 * n * mean**2:
        return SkewedLimits(mean, mean, n)
    error = math.sqrt(second / (n * (n - 1)))
    skew = (moments.third / n) / (second / n) ** 1.5
    bearing = min(n, second**2 / moments.fourth)
    t = float(stdtrit(2 * bearing / max(1e-9, 1 - bearing / n), (1 + level) / 2))
    is_log = log and mean > 0
    unit = error / mean if is_log else error
    longer = unit * (skew / math.sqrt(n)) * (2 * t * t + 1) / 6
    below, above = t * unit + max(0.0, -longer), t * unit + max(0.0, longer)
    if is_log:
        return SkewedLimits(mean * math.exp(-below), mean * math.exp(above), bearing)
    return SkewedLimits(mean - below, mean + above, bearing)


def bearing_remark(limits: SkewedLimits) -> str | None:
    """The remark on an interval that rests on few cases."""
    if not 0 < limits.bearing < FEW_BEARING:
        return None
    number = max(1, round(limits.bearing))
    return f"rests on about {count_noun(number, 'case')}; the interval is likely to be too short"


def savings_moments(sums: CostSums) -> Moments:
    """Mean of the cost relative to the cheaper constant rule, with the moments of its influence (L − r·L₀) / C₀."""
    acting, waiting = sums.mean_of_acting, sums.mean_of_waiting
    base = min(acting, waiting)
    ratio = sums.mean / base
    factors = ((1 - ratio, 0.0), (-ratio, 1.0)) if acting <= waiting else ((1.0, -ratio), (0.0, 1 - ratio))
    moments = sums.moments(*factors)
    powers = (value / base**j for j, value in zip((2, 3, 4), moments[2:], strict=True))
    return Moments(ratio, moments.cases, *powers)


def _is_of_case_costs(request: Request) -> bool:
    return request.table.closed_form


@interval(
    "skew-k",
    "Student's t with the number of cases that bear a mean, corrected for skewness",
    suits=_is_of_case_costs,
    general=True,
    weighted=True,
    instead="skew-k",
    time_series_fallback="none",
)
def skew_k_interval(plan: IntervalRequest) -> Interval:
    """Limits of `skew_k`; on the log scale for costs that cannot be negative, and of 1 − ratio for savings.

    Simulated coverage of the cost at a threshold, amounts lognormal (docs/coverage.md): 0.92 to 0.97 where 12 or more
    positives are expected to be missed, 0.86 with 3.
    """
    sums = cast(CostSums, plan.request.table)
    is_share = plan.request.measure.name == "savings"
    if is_share:
        moments = savings_moments(sums)
        limits = skew_k(moments, plan.level, log=True, value=moments.mean)
        limits = SkewedLimits(1 - limits.high, 1 - limits.low, limits.bearing)
    else:
        limits = skew_k(sums.moments((1, 0), (0, 1)), plan.level, log=sums.nonnegative)
    if math.isnan(limits.low):
        return undefined_interval("there are fewer than two cases")
    if limits.low == limits.high:
        return undefined_interval("all cases cost the same")
    return Interval(limits.low, limits.high, "skew-k", bearing_remark(limits))
