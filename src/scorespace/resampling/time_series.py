"""Errors in time order: their long-run variance, and blocks of consecutive times that are resampled together.

References: Newey and West (1987), "A simple, positive semi-definite, heteroskedasticity and autocorrelation consistent
covariance matrix", Econometrica 55; Andrews and Monahan (1992), "An improved heteroskedasticity and autocorrelation
consistent covariance matrix estimator", Econometrica 60 (prewhitening); Politis and Romano (1994), "The stationary
bootstrap", JASA 89; Patton, Politis and White (2009), correction to "Automatic block-length selection for the
dependent bootstrap", Econometric Reviews 28.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from scorespace.tables import Array
from scorespace.tables.pair import PairTable

_MOST: Final = 0.97  # autocorrelation beyond which a series is too close to a random walk to be prewhitened


def variance_inflation(values: Array) -> float:
    """Long-run variance of a series over its variance: how much less a mean is known than that of independent values.

    Prewhitened with the lag-1 autocorrelation, corrected for its bias by (1 + 3r) / n, then Bartlett weights on
    ⌊4 (n / 100)^(2/9)⌋ lags.

    >>> rng = np.random.default_rng(0)
    >>> round(variance_inflation(rng.normal(size=5000)), 1)
    1.0
    """
    centred = values - values.mean()
    squares, times = float(centred @ centred), values.size
    if squares <= 0 or times < 3:
        return 1.0
    first = float(centred[1:] @ centred[:-1]) / squares
    first = min(_MOST, first + (1 + 3 * first) / times)
    white = centred[1:] - first * centred[:-1]
    lags = min(int(4 * (times / 100) ** (2 / 9)), white.size - 1)
    products = [float(white[k:] @ white[: white.size - k]) for k in range(lags + 1)]
    total = products[0] + 2 * sum((1 - k / (lags + 1)) * products[k] for k in range(1, lags + 1))
    return max(0.0, total) / white.size / (1 - first) ** 2 / (squares / times)


def by_time(values: Array, time: Array) -> Array:
    """The sums of the values at each time, in time order."""
    return np.bincount(np.unique(time, return_inverse=True)[1], values)


def block_length(values: Array) -> float:
    """Mean length of the blocks of a stationary bootstrap, chosen from the autocorrelations (Patton et al. 2009)."""
    times = values.size
    centred = values - values.mean()
    squares = float(centred @ centred)
    if squares <= 0 or times < 8:
        return 1.0
    in_a_row = max(5, int(math.log10(times)))
    most = min(times - 2, math.ceil(math.sqrt(times)) + in_a_row)
    covariance = np.array([float(centred[k:] @ centred[: times - k]) / times for k in range(most + 1)])
    inside = np.cumsum(centred**2)  # the squares of either end without its last lags, as the first ones are centred
    ends = [math.sqrt((inside[-1] - inside[k]) * inside[times - k - 2]) / times for k in range(most + 1)]
    small = np.abs(covariance / ends) < 2 * math.sqrt(math.log10(times) / times)
    runs = np.convolve(small[:-1], np.ones(in_a_row), mode="valid") == in_a_row
    lags = min(2 * max(int(np.argmax(runs)), 1), most) if runs.any() else most
    lag = np.arange(1, lags + 1)
    flat_top = np.minimum(1.0, 2 * (1 - lag / lags))
    spectrum = covariance[0] + 2 * float(flat_top @ covariance[1 : lags + 1])
    slope = 2 * float((flat_top * lag) @ covariance[1 : lags + 1])
    longest = math.ceil(min(3 * math.sqrt(times), times / 3))
    return float(np.clip((slope**2 / spectrum**2) ** (1 / 3) * times ** (1 / 3), 1.0, longest))


def longest_block(pairs: PairTable) -> float:
    """The block length that the errors of all models and their sizes ask for."""
    found, time = [1.0], np.asarray(pairs.time)
    for table, cell in zip(pairs.tables, pairs.cell, strict=True):
        error = table.numbers.error[cell]
        count = by_time(np.ones(error.size), time)
        found += [block_length(by_time(one, time) / count) for one in (error, np.abs(error), error**2)]
    return max(found)


def block_counts(times: int, length: float, rng: np.random.Generator, count: int) -> Array:
    """How often each of so many times is drawn in a stationary bootstrap of blocks of that mean length, circular."""
    restart = rng.random((count, times)) < 1 / length
    restart[:, 0] = True
    start = rng.integers(0, times, (count, times))
    place = np.arange(times)
    last = np.maximum.accumulate(np.where(restart, place, 0), axis=1)
    drawn = (np.take_along_axis(start, last, axis=1) + place - last) % times
    drawn += times * np.arange(count)[:, None]
    return np.bincount(drawn.ravel(), minlength=count * times).reshape(count, times)
