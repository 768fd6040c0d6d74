"""Pictures of errors, as data: truth against prediction, errors against it, their quantiles, and their sizes."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from scorespace.curves.curve import Curve, curve
from scorespace.errors import CurveError
from scorespace.special import ndtri
from scorespace.tables import Array
from scorespace.tables.residual import ResidualTable


@curve(title="Truth against prediction", x="Prediction", y="Truth", aliases=("actual",), from_zero=False)
def predicted(table: ResidualTable) -> Curve:
    """Each case at its prediction and its truth; perfect predictions lie on y = x."""
    order = _there(table, table.numbers.by_prediction)
    x, y = table.numbers.predicted[order], table.numbers.truth[order]
    return predicted.drawn(x, y, y - x + 0.0)


@curve(title="Errors against prediction", x="Prediction", y="Error", from_zero=False)
def residuals(table: ResidualTable) -> Curve:
    """Each case at its prediction and its error ŷ − y; good ones scatter evenly around 0, whatever the prediction."""
    order = _there(table, table.numbers.by_prediction)
    x, y = table.numbers.predicted[order], table.numbers.error[order]
    return residuals.drawn(x, y, np.full(x.size, np.nan))


@curve(title="Quantiles of the errors", x="Normal quantile", y="Error", aliases=("qq",), from_zero=False)
def quantiles(table: ResidualTable) -> Curve:
    """The sorted errors against those of a normal distribution, a line if they have one: e_(i) at Φ⁻¹((i − ½) / n)."""
    order = _there(table, table.numbers.by_error)
    weight = table.cells[order].astype(np.float64)
    share = (np.cumsum(weight) - weight / 2) / weight.sum()
    return quantiles.drawn(np.asarray(ndtri(share)), table.numbers.error[order], share)


@curve(title="Size of the errors by size of the truth", x="Truth", y="Mean absolute error", aliases=("by_size",))
def error_size(table: ResidualTable, *, parts: Annotated[int, "how many parts of equal weight"] = 10) -> Curve:
    """The mean absolute error in parts of the cases by their truth, each at its mean truth: Σ |e| / n_part."""
    if parts < 1:
        raise CurveError(f"parts={parts} leaves nothing to draw.", hint="parts=10")
    order = _there(table, table.numbers.by_truth)
    truth, size = table.numbers.truth[order], np.abs(table.numbers.error[order])
    weight = table.cells[order].astype(np.float64)
    part = np.minimum((np.cumsum(weight) - weight / 2) * parts / weight.sum(), parts - 1).astype(np.intp)
    # Equal truths belong to one part, that of the first of them.
    part = part[np.maximum.accumulate(np.where(np.append(True, truth[1:] != truth[:-1]), np.arange(truth.size), 0))]
    _, part = np.unique(part, return_inverse=True)  # however many parts are asked for, no more than there are cases
    total, at, missed = (np.bincount(part, one) for one in (weight, weight * truth, weight * size))
    kept = total > 0
    return error_size.drawn(at[kept] / total[kept], missed[kept] / total[kept], total[kept])


def _there(table: ResidualTable, order: Array) -> Array:
    """The cases that have a weight, in that order."""
    return order if table.weight is None else order[table.weight[order] > 0]
