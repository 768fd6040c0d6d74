"""Confidence band of the reliability of predicted quantiles."""

from __future__ import annotations

import numpy as np

from scorespace.curves.distributions import quantile_reliability
from scorespace.inference.bands import Band, band
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.estimate import check_level
from scorespace.inference.interval_formulas import effective_sample_size
from scorespace.inference.proportion import wilson
from scorespace.tables.distributions import DistributionTable


@band(quantile_reliability)
def quantile_reliability_band(
    table: DistributionTable,
    *,
    level: float = 0.95,
    simultaneous: bool = False,
    draws: BootstrapDraws | None = None,
    model: str = "",
    seed: int = 0,
) -> Band:
    """Wilson's interval of the share at each level; simultaneous by Bonferroni over the levels.

    >>> from scorespace.tables.regression import residual_table
    >>> t = residual_table([1, 2, 3], [1, 1, 1], quantiles=([[0, 0, 0], [2, 2, 2]], [0.1, 0.9]))
    >>> quantile_reliability_band(t.distributions).high.round(2)
    array([0.56, 0.94])
    """
    check_level(level)
    curve = quantile_reliability(table)
    if draws is not None and (draws.grouped or draws.times):
        undefined = np.full(curve.x.shape, np.nan)
        reason = f"undefined: cases {'are grouped' if draws.grouped else 'in time order'} depend on each other"
        return Band(curve.kind, curve.x, curve.y, undefined, undefined, level, None, simultaneous, reason)
    squares = table.cells if table.cell_squares is None else table.cell_squares
    cases = float(effective_sample_size(table.cells.sum(), squares.sum()))
    each = 1 - (1 - level) / curve.x.size if simultaneous else level
    low, high = wilson(curve.y * cases, cases, each)
    return Band(curve.kind, curve.x, curve.y, low, high, level, "wilson", simultaneous)
