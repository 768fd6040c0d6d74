"""The best of many models on one test set: its value without the optimism of the choice, and a bound.

All models are resampled with the same draws, so that their joint distribution is known without their predictions. In
each replicate the model that is best in it is evaluated on the cases left out; the mean of these values is corrected
for the choice. The bound allows for the largest of all deviations. Both hold for models that were fixed without the
help of earlier answers, however dependent they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import expit, logit, ndtri

from scorespace.inference.proportion import wilson
from scorespace.tables import Array

_MARGIN: Final = 1e-9  # of logits, for values of 0 and 1


@dataclass(frozen=True)
class BestOfMany:
    """The best of many models: its place, value, the value corrected for the choice, and the one-sided bound.

    `quantile` replaces the normal quantile in the bound.
    """

    place: int
    value: float
    corrected: float
    bound: float
    quantile: float


def best_of_many(
    values: Array,
    inside: Array,
    outside: Array,
    *,
    best: str = "high",
    trials: Array | None = None,
    unit: bool = True,
    models: int | None = None,
    level: float = 0.95,
) -> BestOfMany:
    """The best model by values (n_models,), given replicates and the values on the cases left out (n_models, n).

    `trials` are the denominators of proportions, which have Wilson's bound; `unit`: values are in (0, 1), so deviations
    are on the logit scale. If there were more `models` than those with replicates, Bonferroni's quantile is used where
    it is larger.

    >>> rng = np.random.default_rng(0)
    >>> found = best_of_many(np.array([0.5, 0.6]), *rng.normal([[[0.5], [0.6]]], 0.05, (2, 2, 500)))
    >>> found.place, found.bound < found.corrected < 0.65
    (1, True)
    """
    if best == "low":
        top = 1.0 if unit else 0.0
        found = best_of_many(
            top - values, top - inside, top - outside, trials=trials, unit=unit, models=models, level=level
        )
        ends = [top - one for one in (found.value, found.corrected, found.bound)]
        return BestOfMany(found.place, ends[0], ends[1], ends[2], found.quantile)
    place = int(np.nanargmax(values))
    chosen = np.where(np.isnan(inside), -np.inf, inside).argmax(axis=0)
    corrected = float(np.nanmean(np.take_along_axis(outside, chosen[None], axis=0)))

    def scaled(numbers: Array) -> Array:
        return logit(np.clip(numbers, _MARGIN, 1 - _MARGIN)) if unit else numbers

    at, replicates = scaled(values)[:, None], scaled(inside)
    spread = np.nanstd(replicates, axis=1, keepdims=True)
    deviations = np.abs(replicates - at) / np.where(spread > 0, spread, np.inf)
    quantile = max(float(ndtri(level)), float(np.quantile(np.nanmax(deviations, axis=0), 2 * level - 1)))
    if models is not None and models > len(values):
        quantile = max(quantile, float(ndtri(1 - (1 - level) / models)))
    if trials is not None:
        size = float(trials[place])
        bound = float(wilson(values[place] * size, size, quantile=quantile)[0])
    else:
        low = float(at[place, 0] - quantile * spread[place, 0])
        bound = float(expit(low)) if unit else low
    return BestOfMany(place, float(values[place]), corrected, bound, quantile)


def ladder_answer(
    value: float, replicates: Array, best_value: float, best_replicates: Array, best: str = "high"
) -> bool:
    """Whether a value is better than the best answer by one standard error of the paired difference (the Ladder).

    References
    ----------
    Blum, A., & Hardt, M. (2015). The Ladder: a reliable leaderboard for machine learning competitions. ICML, 1006-1014.
    """
    gain = (value - best_value) * (-1 if best == "low" else 1)
    return gain > float(np.nanstd(replicates - best_replicates)) and not math.isnan(gain)
