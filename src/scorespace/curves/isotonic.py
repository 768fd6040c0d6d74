"""Calibration of numbers: the mean of the truth given the prediction, by isotonic regression."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scorespace.curves.curve import Curve, curve
from scorespace.tables import Array, ratio
from scorespace.tables.order import starts_of
from scorespace.tables.residual import ResidualTable


@curve(title="Calibration of numbers", x="Prediction", y="Mean truth", from_zero=False)
def isotonic(table: ResidualTable) -> Curve:
    """The mean truth for each prediction, rising and as near to the truths as can be; calibrated numbers lie on y = x.

    >>> from scorespace.tables.residual import residual_table
    >>> isotonic(residual_table([1, 3, 2, 5], [1, 2, 3, 4])).y
    array([1. , 2.5, 2.5, 5. ])
    """
    predicted, mean, weight = _by_prediction(table)
    return isotonic.drawn(predicted, rising(mean, weight)[0], predicted)


def isotonic_spread(table: ResidualTable) -> Array:
    """The mean squared distance of the truths from that curve, for all replicates: MSE(isotonic)."""
    predicted, mean, weight = _by_prediction(table)
    fitted = rising(mean.reshape(-1, predicted.size), weight.reshape(-1, predicted.size)).reshape(weight.shape)
    centre = ratio(np.vecdot(weight, mean), weight.sum(axis=-1))[..., None]
    between = ratio(np.vecdot(weight, (fitted - centre) ** 2), weight.sum(axis=-1))
    return np.maximum(table.sums.truth_spread - between, 0.0)


def _by_prediction(table: ResidualTable) -> tuple[Array, Array, Array]:
    """The distinct predictions, and the mean truth and the weight (…, predictions) at each."""
    numbers, order = table.numbers, table.numbers.by_prediction
    predicted = numbers.predicted[order]
    starts = starts_of(predicted)
    cells = table.cells[..., order].astype(np.float64)
    weight = np.add.reduceat(cells, starts, axis=-1)
    total = np.add.reduceat(cells * (numbers.truth[order] - numbers.mean), starts, axis=-1)
    mean = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
    return predicted[starts], mean + numbers.mean, weight


def rising(mean: Array, weight: Array) -> NDArray[np.float64]:
    """The rising regression of every row at once: rows are lifted one above the other, so that no pool joins two."""
    from scipy.optimize import isotonic_regression  # slow to load, and only those who ask for the curve need it

    mean, weight = np.atleast_2d(mean), np.atleast_2d(weight)
    lift = 1.0 + 2 * float(np.ptp(mean))
    there = weight > 0
    lifted = (mean + lift * np.arange(mean.shape[0])[:, None])[there]
    by = weight[there]
    if not by.size:
        return np.full(mean.shape, np.nan)
    starts = isotonic_regression(lifted, weights=by).blocks[:-1]
    pools = np.add.reduceat(mean[there] * by, starts) / np.add.reduceat(by, starts)
    found = np.repeat(pools, np.diff(starts, append=by.size))
    # What no case of a replicate predicts has no weight there, and so no say: the value before it will do.
    place = np.maximum(np.cumsum(there.ravel()) - 1, 0)
    return np.asarray(found[place].reshape(mean.shape))
