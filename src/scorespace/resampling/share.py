"""The interval of a share: of hits among trials, by Wilson, exact by Clopper and Pearson, or for what is rare."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scorespace.special import betaincinv, ndtri

Limits = tuple[Any, Any]


def normal_quantile(level: float) -> float:
    """Half width of a two-sided normal interval of that level, in standard errors."""
    return float(ndtri((1 + level) / 2))


def pair(low: ArrayLike, high: ArrayLike) -> Limits:
    """Both limits as arrays, or as plain numbers when there is one interval."""
    ends = np.asarray(low), np.asarray(high)
    return ends if ends[0].ndim else (ends[0].item(), ends[1].item())


def wilson(hits: ArrayLike, trials: ArrayLike, level: float = 0.95) -> Limits:
    """Wilson's interval for a proportion; NaN without trials. Trials need not be whole (Kish's number of cases).

    >>> tuple(round(x, 4) for x in wilson(8, 10))
    (0.4902, 0.9433)
    """
    found, tried = np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    z = normal_quantile(level)
    with np.errstate(divide="ignore", invalid="ignore"):
        share, shrink = found / tried, 1 + z * z / tried
        centre = (share + z * z / (2 * tried)) / shrink
        half = z * np.sqrt(share * (1 - share) / tried + z * z / (4 * tried * tried)) / shrink
    # The limits reach 0 and 1 exactly in theory; rounding must not pull them inside.
    low = np.where(found <= 0, 0.0, np.maximum(0.0, centre - half))
    high = np.where(found >= tried, 1.0, np.minimum(1.0, centre + half))
    return pair(np.where(tried > 0, low, np.nan), np.where(tried > 0, high, np.nan))


def clopper_pearson(hits: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """The exact interval of Clopper and Pearson: quantiles of Beta(x, n − x + 1) and Beta(x + 1, n − x).

    >>> tuple(round(x, 4) for x in clopper_pearson(8, 10))
    (0.4439, 0.9748)
    """
    if not trials > 0:
        return math.nan, math.nan
    tail = (1 - level) / 2
    hits = round(hits) if abs(hits - round(hits)) < 1e-9 * max(1.0, trials) else hits  # a share times its trials
    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, tail))
    high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - tail))
    return low, high


def rare_share(hits: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """The exact lower limit and Jeffreys' upper one, for shares of which the rare ones weigh most.

    One rare and dear case lifts Wilson's lower limit above the truth in 15 % of samples, and none lifts his upper one
    far above it: costs of cases that are handed over were below their interval in 8 to 12 % of samples, and hold now.

    >>> tuple(round(x, 4) for x in rare_share(1, 200))
    (0.0001, 0.0231)
    """
    if not trials > 0:
        return math.nan, math.nan
    low, _ = clopper_pearson(hits, trials, level)
    return low, 1.0 if hits >= trials else float(betaincinv(hits + 0.5, trials - hits + 0.5, (1 + level) / 2))
