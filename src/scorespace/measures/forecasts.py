"""Forecasts: errors relative to the size of the series, or to a naive forecast of the training series.

References: Hyndman and Koehler (2006), "Another look at measures of forecast accuracy", International Journal of
Forecasting 22; Makridakis, Spiliotis and Assimakopoulos (2022), "M5 accuracy competition", the same journal 38.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import numpy as np

from scorespace.errors import MeasureError
from scorespace.measures.measure import INF, measure
from scorespace.tables import Array, ratio
from scorespace.tables.regression import ResidualTable

_NO_TRAINING: Final = "there is no training series (--train), it is too short, or its naive forecast has no error"
_scaled = partial(measure, range=(0, INF), best="low", interval="skew-t")

Season = Annotated[int, "steps back of the naive forecast: 1, or the length of a season such as 12"]


@_scaled(
    title="Weighted absolute percentage error",
    undefined="all truths are 0",
    aliases=("weighted_absolute_percentage_error", "mad_mean_ratio"),
)
def wape(t: ResidualTable) -> Array:
    """Sum of absolute errors relative to the sum of absolute truths, 1 being 100 %: Σ|ŷ − y| / Σ|y|."""
    total = t.cells @ np.abs(t.numbers.truth)
    return ratio(t.cells @ np.abs(t.numbers.error), np.where(total > 0, total, np.nan))


@_scaled(title="Mean absolute scaled error", undefined=_NO_TRAINING, aliases=("mean_absolute_scaled_error",))
def mase(t: ResidualTable, *, season: Season = 1) -> Array:
    """Mean absolute error relative to that of the naive forecast in the training series: mean|e| / mean|y_t − y_t₋ₘ|.

    Below 1 it is smaller than that of repeating the value of m steps before, one step ahead.
    """
    return ratio(t.cells @ np.abs(t.numbers.error), t.total) / naive_error(t, season)


@_scaled(
    title="Root mean squared scaled error",
    undefined=_NO_TRAINING,
    aliases=("root_mean_squared_scaled_error",),
    coverage_note="50 skewed errors: covers in 86 % of samples",
)
def rmsse(
    t: ResidualTable,
    *,
    season: Season = 1,
    from_first: Annotated[bool, "training series from its first value that is not 0, as in the M5 competition"] = False,
) -> Array:
    """Root mean squared error relative to that of the naive forecast: √(mean e² / mean (y_t − y_t₋ₘ)²)."""
    mean = ratio(t.cells @ t.numbers.error**2, t.total)
    return np.sqrt(mean / naive_error(t, season, power=2, from_first=from_first))


def naive_error(t: ResidualTable, season: int, *, power: int = 1, from_first: bool = False) -> float:
    """Mean of |y_t − y_{t−m}|, or of its power, in the training series; NaN without one, or if it is 0.

    >>> from scorespace.tables.regression import residual_table
    >>> naive_error(residual_table([1.0], [2.0], history=[3, 5, 4, 6]), 1)
    1.6666666666666667
    """
    if season < 1:
        raise MeasureError(f"season={season} must be at least 1.", hint="season=12 for months")
    series = t.numbers.history
    if series is None:
        return float("nan")
    series = series[np.argmax(series != 0) :] if from_first else series
    steps = np.abs(series[season:] - series[:-season]) ** power
    found = float(steps.mean()) if steps.size else 0.0
    return found if found > 0 else float("nan")
