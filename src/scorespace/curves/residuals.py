"""Regression diagnostics: predicted against true values, residuals, normal quantile plot, and error by truth."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy.special import ndtri

from scorespace.curves.curve import Curve, curve
from scorespace.errors import CurveError
from scorespace.tables import Array
from scorespace.tables.regression import ResidualTable


@curve(title="Truth against prediction", x="Prediction", y="Truth", aliases=("actual",), from_zero=False)
def predicted(table: ResidualTable) -> Curve:
    """True against predicted value of each case; perfect predictions are on y = x."""
    order = _positive_weight(table, table.numbers.by_prediction)
    x, y = table.numbers.predicted[order], table.numbers.truth[order]
    return predicted.drawn(x, y, y - x + 0.0)


@curve(title="Errors against prediction", x="Prediction", y="Error", from_zero=False)
def residuals(table: ResidualTable) -> Curve:
    """Error ŷ − y against the prediction of each case; it should scatter evenly around 0."""
    order = _positive_weight(table, table.numbers.by_prediction)
    x, y = table.numbers.predicted[order], table.numbers.error[order]
    return residuals.drawn(x, y, np.full(x.size, np.nan))


@curve(title="Quantiles of the errors", x="Normal quantile", y="Error", aliases=("qq",), from_zero=False)
def quantiles(table: ResidualTable) -> Curve:
    """Normal quantile plot of the errors: e_(i) against Φ⁻¹((i − ½) / n); a line if they are normal."""
    order = _positive_weight(table, table.numbers.by_error)
    weight = table.cells[order].astype(np.float64)
    share = (np.cumsum(weight) - weight / 2) / weight.sum()
    return quantiles.drawn(np.asarray(ndtri(share)), table.numbers.error[order], share)


@curve(title="Size of the errors by size of the truth", x="Truth", y="Mean absolute error", aliases=("by_size",))
def error_size(table: ResidualTable, *, parts: Annotated[int, "number of groups of equal weight"] = 10) -> Curve:
    """Mean absolute error against mean truth, in groups of cases by truth."""
    if parts < 1:
        raise CurveError(f"parts={parts} must be at least 1.", hint="parts=10")
    order = _positive_weight(table, table.numbers.by_truth)
    truth, size = table.numbers.truth[order], np.abs(table.numbers.error[order])
    weight = table.cells[order].astype(np.float64)
    part = np.minimum((np.cumsum(weight) - weight / 2) * parts / weight.sum(), parts - 1).astype(np.intp)
    # Equal truths are in one group, that of the first of them.
    part = part[np.maximum.accumulate(np.where(np.append(True, truth[1:] != truth[:-1]), np.arange(truth.size), 0))]
    _, part = np.unique(part, return_inverse=True)  # at most as many groups as cases
    total, truths, errors = (np.bincount(part, values) for values in (weight, weight * truth, weight * size))
    occupied = total > 0
    x, y = truths[occupied] / total[occupied], errors[occupied] / total[occupied]
    return error_size.drawn(x, y, total[occupied])


def _positive_weight(table: ResidualTable, order: Array) -> Array:
    """The cases with positive weight, in the given order."""
    return order if table.weight is None else order[table.weight[order] > 0]
