"""Reliability of predictive distributions: observed shares of quantiles, and the PIT histogram."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from scorespace.curves.curve import UNIT, Curve, curve, unit_square_with_diagonal
from scorespace.errors import CurveError
from scorespace.tables import Array
from scorespace.tables.distributions import DistributionTable


@unit_square_with_diagonal(
    title="Reliability of quantiles",
    x="Level of the quantile",
    y="Share of true values up to it",
    aliases=("quantile_calibration",),
    chance_name="calibrated",
)
def quantile_reliability(table: DistributionTable) -> Curve:
    """Share of true values up to each predicted quantile (y) against its level (x); calibrated ones are on y = x.

    Of an ensemble of m members, the k-th smallest has the level k / (m + 1).

    Parameters
    ----------
    table : DistributionTable
        Predicted quantiles or ensembles, and the truth.

    Returns
    -------
    Curve
        Levels and shares; the threshold is the level.

    References
    ----------
    Gneiting, T., Balabdaoui, F., and Raftery, A. E. (2007). Probabilistic forecasts, calibration and sharpness. Journal
    of the Royal Statistical Society B, 69(2), 243-268.

    Examples
    --------
    >>> from scorespace.tables.regression import residual_table
    >>> quantile_reliability(residual_table([1, 2], [1, 1], quantiles=([[0, 0], [2, 2]], [0.1, 0.9]))).y
    array([0., 1.])
    """
    levels, values = table.levels, table.values
    if levels is None:
        values = np.sort(values, axis=0)
        levels = tuple(np.arange(1, len(values) + 1) / (len(values) + 1))
    weight = table.cells.astype(np.float64)
    share = (table.truth <= values) @ weight / weight.sum()
    x = np.array(levels)
    return quantile_reliability.drawn(x, share, x)


@curve(
    title="PIT histogram",
    x="Probability integral transform",
    y="Density",
    x_ends=UNIT,
    chance=((0.0, 1.0), (1.0, 1.0)),
    aliases=("rank_histogram",),
    chance_name="calibrated",
)
def pit(
    table: DistributionTable, *, bins: Annotated[int, "bins for ensembles; those of quantiles are their levels"] = 10
) -> Curve:
    """Density of where the truth lies in its predictive distribution: flat if calibrated, ∪ too narrow, ∩ too wide.

    Without random numbers: a truth between two members or quantiles is spread over the interval between their
    probabilities (Czado, Gneiting and Held 2009).

    Parameters
    ----------
    table : DistributionTable
        Predicted quantiles or ensembles, and the truth.
    bins : int
        Number of bins for ensembles; those of quantiles lie between their levels.

    Returns
    -------
    Curve
        Both ends of each bin with its density; the threshold is the middle of the bin.

    References
    ----------
    Czado, C., Gneiting, T., and Held, L. (2009). Predictive model assessment for count data. Biometrics, 65(4),
    1254-1261.

    Examples
    --------
    >>> from scorespace.tables.regression import residual_table
    >>> pit(residual_table([1, 2], [1, 1], quantiles=([[0, 0], [2, 2]], None)), bins=2).y
    array([0.75, 0.75, 1.25, 1.25])
    """
    if bins < 2:
        raise CurveError(f"bins={bins} must be at least 2.", hint="bins=10")
    edges = np.linspace(0, 1, bins + 1) if table.levels is None else np.array([0.0, *table.levels, 1.0])
    low, high = _pit_ends(table)
    weight = table.cells.astype(np.float64)
    below = np.clip((edges[:, None] - low) / (high - low), 0, 1) @ weight / weight.sum()
    density = np.diff(below) / np.diff(edges)
    x, y = np.repeat(edges, 2)[1:-1], np.repeat(density, 2)
    return pit.drawn(x, y, np.repeat((edges[:-1] + edges[1:]) / 2, 2))


def _pit_ends(table: DistributionTable) -> tuple[Array, Array]:
    """Lowest and highest probability at which the truth may lie in each distribution."""
    smaller, not_larger = ((table.values < table.truth).sum(axis=0), (table.values <= table.truth).sum(axis=0))
    steps = len(table.values) + 1
    ends = np.arange(steps + 1) / steps if table.levels is None else np.array([0.0, *table.levels, 1.0])
    return np.asarray(ends[smaller]), np.asarray(ends[not_larger + 1])
