"""Isotonic regression by pooling adjacent violators, for hulls and calibration."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from scorespace.curves.curve import Curve, curve
from scorespace.tables import Array, ratio
from scorespace.tables.regression import ResidualTable
from scorespace.tables.weighted_quantiles import run_starts

MAX_DIRECT_SIZE: Final = 300_000
"""Longest input pooled here; for longer input loading SciPy's optimisers pays."""
MAX_TOTAL_WORK: Final = 4_000_000
"""Total number of elements processed in all passes before SciPy takes over."""


def pool_adjacent_violators(value: Array, weight: Array) -> Array:
    """Start indices of the blocks of the decreasing regression, followed by the end.

    Neighbours that increase belong to one block in any case, so each pass merges all of them at once; typical scores
    need about ten passes. If more are needed, SciPy takes over.

    >>> pool_adjacent_violators(np.array([0.9, 0.2, 0.6, 0.1]), np.ones(4))
    array([0, 1, 3, 4])
    """
    size = value.size
    starts = np.arange(size)
    total, budget = value * weight, MAX_TOTAL_WORK if size <= MAX_DIRECT_SIZE else 0
    while budget > 0:
        budget -= value.size
        is_start = np.ones(value.size, dtype=bool)
        np.greater(value[:-1], value[1:], out=is_start[1:])
        first = is_start.nonzero()[0]
        if first.size == value.size:
            return np.append(starts, size)
        starts = starts[first]
        total, weight = np.add.reduceat(total, first), np.add.reduceat(weight, first)
        value = total / weight
    from scipy.optimize import isotonic_regression

    return np.append(starts, size)[isotonic_regression(value, weights=weight, increasing=False).blocks]


@curve(title="Calibration of numeric predictions", x="Prediction", y="Mean truth", from_zero=False)
def isotonic(table: ResidualTable) -> Curve:
    """Isotonic regression of the truth on the prediction; calibrated predictions are on y = x.

    >>> from scorespace.tables.regression import residual_table
    >>> isotonic(residual_table([1, 3, 2, 5], [1, 2, 3, 4])).y
    array([1. , 2.5, 2.5, 5. ])
    """
    predicted, mean, weight = _by_prediction(table)
    return isotonic.drawn(predicted, increasing_regression(mean, weight)[0], predicted)


def isotonic_mse(table: ResidualTable) -> Array:
    """Mean squared distance of the truth from the isotonic curve, for all replicates: MSE(isotonic)."""
    predicted, mean, weight = _by_prediction(table)
    fitted = increasing_regression(mean.reshape(-1, predicted.size), weight.reshape(-1, predicted.size)).reshape(
        weight.shape
    )
    centre = ratio(np.vecdot(weight, mean), weight.sum(axis=-1))[..., None]
    between = ratio(np.vecdot(weight, (fitted - centre) ** 2), weight.sum(axis=-1))
    return np.maximum(table.sums.truth_spread - between, 0.0)


def _by_prediction(table: ResidualTable) -> tuple[Array, Array, Array]:
    """Distinct predictions, with the mean truth and the weight at each, shape (…, n_predictions)."""
    numbers, order = table.numbers, table.numbers.by_prediction
    predicted = numbers.predicted[order]
    starts = run_starts(predicted)
    cells = table.cells[..., order].astype(np.float64)
    weight = np.add.reduceat(cells, starts, axis=-1)
    total = np.add.reduceat(cells * (numbers.truth[order] - numbers.mean), starts, axis=-1)
    mean = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
    return predicted[starts], mean + numbers.mean, weight


def increasing_regression(mean: Array, weight: Array) -> NDArray[np.float64]:
    """Increasing regression of every row at once: rows are shifted apart, so that no block spans two."""
    from scipy.optimize import isotonic_regression  # slow to load

    mean, weight = np.atleast_2d(mean), np.atleast_2d(weight)
    offset = 1.0 + 2 * float(np.ptp(mean))
    has_weight = weight > 0
    shifted = (mean + offset * np.arange(mean.shape[0])[:, None])[has_weight]
    weights = weight[has_weight]
    if not weights.size:
        return np.full(mean.shape, np.nan)
    starts = isotonic_regression(shifted, weights=weights).blocks[:-1]
    block_means = np.add.reduceat(mean[has_weight] * weights, starts) / np.add.reduceat(weights, starts)
    fitted = np.repeat(block_means, np.diff(starts, append=weights.size))
    # Predictions without weight in a replicate get the value before them; they do not affect any result.
    place = np.maximum(np.cumsum(has_weight.ravel()) - 1, 0)
    return np.asarray(fitted[place].reshape(mean.shape))
