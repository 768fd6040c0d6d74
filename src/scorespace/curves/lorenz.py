"""Ordered Lorenz curve: concentration of the truth among cases in the order of their predictions."""

from __future__ import annotations

import numpy as np

from scorespace.curves.curve import Curve, unit_square_with_diagonal
from scorespace.tables.regression import ResidualTable


@unit_square_with_diagonal(
    title="Lorenz curve",
    x="Share of cases or exposure, lowest predictions first",
    y="Share of the truth",
    aliases=("ordered_lorenz", "concentration"),
    area="half of one minus the Gini index",
)
def lorenz(table: ResidualTable) -> Curve:
    """Share of the truth (y) in the share x of cases or exposure with the lowest predictions; below y = x if ordered.

    Parameters
    ----------
    table : ResidualTable
        True and predicted rates, with the exposure as weight; see `residual_table`.

    Returns
    -------
    Curve
        Cumulative shares; the threshold is the prediction up to which they count. NaN if the truths sum to 0.

    References
    ----------
    Frees, E. W., Meyers, G., and Cummings, A. D. (2014). Insurance ratemaking and a Gini index. Journal of Risk and
    Insurance, 81(2), 335-366.

    Examples
    --------
    >>> from scorespace.tables.regression import residual_table
    >>> lorenz(residual_table([0, 1, 3], [0.5, 1.5, 1.5])).y
    array([0., 0., 1.])
    """
    order = table.numbers.by_prediction
    order = order[table.cells[order] > 0]
    predicted, weight = table.numbers.predicted[order], table.cells[order].astype(np.float64)
    last = np.append(predicted[1:] != predicted[:-1], True)[: order.size]
    sums = [np.append(0.0, np.cumsum(one)[last]) for one in (weight, weight * table.numbers.truth[order])]
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = (one / one[-1] for one in sums)
    return lorenz.drawn(x, y, np.append(-np.inf, predicted[last]))
