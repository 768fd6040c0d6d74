"""Test and interval of Jeffreys' divergence of two rows of counts: PSI, CSI and the information value.

Without a difference, divergence / (1/N + 1/M) has about a χ² distribution with B − 1 degrees of freedom; with one, a
noncentral χ² distribution (Kullback 1959, "Information Theory and Statistics", chapter 6).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.special import chdtrc, chndtrinc

from scorespace.inference.interval import Interval, IntervalRequest, interval, undefined_interval
from scorespace.measures.request import Request
from scorespace.measures.scorecard import BINS, counts_in_bins
from scorespace.tables import ScoreTable


class DivergenceTest(NamedTuple):
    """Limits of a divergence, the value expected by chance, and the χ² test of no difference."""

    low: float
    high: float
    expected: float
    statistic: float
    df: int
    p: float


def divergence_test(value: float, bins: int, n: float, m: float, level: float = 0.95) -> DivergenceTest:
    """Test and interval of a divergence over bins between samples of n and m cases.

    >>> found = divergence_test(0.011005328484514907, 10, 1000, 1000)
    >>> round(found.expected, 3), round(found.p, 3), round(found.high, 4)
    (0.018, 0.788, 0.0145)
    """
    scale, df = 1 / n + 1 / m, bins - 1
    if df < 1:
        return DivergenceTest(math.nan, math.nan, 0.0, 0.0, df, math.nan)
    statistic = value / scale
    limits = []
    for share in ((1 + level) / 2, (1 - level) / 2):
        noncentrality = float(chndtrinc(statistic, df, share)) if chdtrc(df, statistic) < 1 - share else 0.0
        limits.append(max(0.0, noncentrality) * scale)
    return DivergenceTest(limits[0], limits[1], df * scale, statistic, df, float(chdtrc(df, statistic)))


def _is_information_value(request: Request) -> bool:
    return request.measure.name == "iv" and request.table.thresholded and not request.stated


@interval("noncentral-chi2", "noncentral χ² of a divergence in bins", suits=_is_information_value, declared=True)
def divergence_interval(plan: IntervalRequest) -> Interval:
    """Divergences for which the observed one is a quantile of the noncentral χ² distribution; from 0 where none is.

    The percentile bootstrap never contains 0, since every sample differs by chance.
    """
    table = plan.request.table.inside(ScoreTable)
    n, m = float(table.n_pos), float(table.n_neg)
    counts = counts_in_bins(table, int(plan.request.spec.arguments.get("bins", BINS)))
    bins = int(((counts[0] + counts[1]) > 0).sum())
    if bins < 2 or not (n and m) or not math.isfinite(plan.value):
        return undefined_interval("there is only one bin")
    found = divergence_test(plan.value, bins, n, m, plan.level)
    return Interval(found.low, found.high, "noncentral-chi2", chance=found.expected)
