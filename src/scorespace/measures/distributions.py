"""Predictive distributions: CRPS, weighted interval score and reliability of quantiles and ensembles.

References: Gneiting and Raftery (2007), "Strictly proper scoring rules, prediction, and estimation", JASA 102; Ferro
(2014), "Fair scores for ensemble forecasts", Quarterly Journal of the Royal Meteorological Society 140; Bracher, Ray,
Gneiting and Reich (2021), "Evaluating epidemic forecasts in an interval format", PLOS Computational Biology 17.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from scorespace.errors import MeasureError, listing
from scorespace.measures.measure import INF, NO_CASES, measure
from scorespace.tables import Array, ratio
from scorespace.tables.distributions import DistributionTable

_NOT_ABOVE = 1e-9


@measure(
    title="Continuous ranked probability score",
    range=(0, INF),
    best="low",
    undefined=NO_CASES,
    interval="skew-t",
    aliases=("continuous_ranked_probability_score", "crps_ensemble", "crps_quantile"),
    range_with=lambda fair=False: (-INF, INF) if fair else (0, INF),
)
def crps(
    t: DistributionTable,
    *,
    fair: Annotated[bool, "for ensembles: as if they had infinitely many members"] = False,
) -> Array:
    """Mean |x − y| minus half the mean distance of two members; of quantiles, ∫ 2 · pinball dτ over their levels.

    The trapezoid rule goes from the first to the last level: tails beyond them are left out.
    """
    if t.levels is None:
        return ratio(t.cells @ _of_ensemble(t, fair), t.total)
    if fair:
        raise MeasureError("fair=true is for ensembles.", seen=f"quantiles {listing(t.levels)}", hint="crps")
    return ratio(t.cells @ np.trapezoid(_losses(t.values, t.levels, t.truth), t.levels, axis=0), t.total)


@measure(
    title="Weighted interval score",
    range=(0, INF),
    best="low",
    undefined=NO_CASES,
    interval="skew-t",
    aliases=("weighted_interval_score", "mean_quantile_score"),
)
def wis(t: DistributionTable) -> Array:
    """Mean over the levels of twice the pinball loss; for quantiles (k − ½)/m it is the CRPS of the ensemble."""
    levels, values = t.levels, t.values
    if levels is None:
        m = len(values)
        levels, values = tuple((np.arange(1, m + 1) - 0.5) / m), np.sort(values, axis=0)
    return ratio(t.cells @ _losses(values, levels, t.truth).mean(axis=0), t.total)


@measure(
    title="Share of true values up to a quantile",
    range=(0, 1),
    best=None,
    undefined=NO_CASES,
    trials="total",
    aliases=("quantile_share",),
)
def quantile_coverage(t: DistributionTable, *, q: Annotated[float, "level of the quantile"] = 0.5) -> Array:
    """Share of true values that are not above the predicted q-quantile, which should be q: #{y ≤ x_q} / n."""
    return ratio(t.cells @ (t.truth <= quantile_at(t, q)).astype(np.float64), t.total)


def quantile_at(t: DistributionTable, q: float) -> Array:
    """The predicted quantile of a level; of an ensemble, that of its members."""
    if t.levels is None:
        return np.asarray(np.quantile(t.values, q, axis=0))
    found = [k for k, level in enumerate(t.levels) if abs(level - q) < _NOT_ABOVE]
    if not found:
        raise MeasureError(f"q={q:g} is not a predicted quantile.", seen=listing(t.levels), hint="one of these levels")
    return np.asarray(t.values[found[0]])


def _losses(values: Array, levels: tuple[float, ...], truth: Array) -> Array:
    """Twice the pinball loss of each level and case."""
    error, level = truth - values, np.array(levels)[:, None]
    return 2 * np.maximum(level * error, (level - 1) * error)


def _of_ensemble(t: DistributionTable, fair: bool) -> Array:
    """CRPS of each case from the sorted members: Σ|x_i − x_j| over all pairs is 2 Σ (2k − m − 1) x_(k)."""
    m = len(t.values)
    rank = 2 * np.arange(1, m + 1) - m - 1
    apart = rank @ np.sort(t.values, axis=0)
    return np.asarray(np.abs(t.values - t.truth).mean(axis=0) - apart / (m * (m - 1) if fair else m**2))
