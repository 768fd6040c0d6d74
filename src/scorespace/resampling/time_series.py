"""Errors in time order: their long-run variance, and blocks of consecutive times that are resampled together.

References: Lazarus, Lewis, Stock and Watson (2018), "HAR inference: recommendations for practice", Journal of Business
and Economic Statistics 36 (equal-weighted cosines); Politis and Romano (1994), "The stationary bootstrap", JASA 89;
Patton, Politis and White (2009), correction to "Automatic block-length selection for the dependent bootstrap",
Econometric Reviews 28.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from scorespace.tables import Array
from scorespace.tables.pair import PairTable

_BIAS: Final = 0.03  # of a long-run variance, by its autocorrelation at one step
_LEAST_COSINES: Final = 2


def long_run_variance(apart: Array) -> tuple[float, int]:
    """T times the variance of a mean of T numbers that are related over time, and its degrees of freedom ν.

    Equal-weighted cosines, Ω = Σ cⱼ² / ν with cⱼ = √(2/T) Σ xₜ cos(π j (t − ½) / T) for j = 1 … ν, and about t of ν. Of
    autocorrelation ρ at one step its relative bias is (π²/6) (ν/T)² · 2ρ / (1 − ρ)²; ν keeps it below 3 %, with ρ the
    one of one step and a standard error, or of two steps if that is longer. Mean differences of such numbers that are 0
    were called other than 0 in 4 to 6 % of samples (30 to 120 times, ρ to 0.7), without it in up to 42 %.
    """
    times, whole = apart.size, float(apart @ apart)
    if whole <= 0 or times < 4:
        return 0.0, max(1, times - 1)
    one, two = (float(apart[lag:] @ apart[:-lag]) / whole for lag in (1, 2))
    related = max(one + (1 + 3 * one) / times + 1 / math.sqrt(times), math.sqrt(max(0.0, two + 2 / times)))
    related = min(max(related, 1e-3), 0.97)
    wanted = times * math.sqrt(6 * _BIAS / math.pi**2 * (1 - related) ** 2 / (2 * related))
    count = int(min(max(_LEAST_COSINES, wanted), times - 1))
    waves = np.cos(np.pi * np.outer(np.arange(1, count + 1), np.arange(times) + 0.5) / times)
    return float(((waves @ apart) ** 2).mean()) * 2 / times, count


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
