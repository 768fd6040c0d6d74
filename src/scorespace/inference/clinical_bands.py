"""Confidence bands of the decision curve and of the smooth calibration curve."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from scorespace.curves.brier import net_benefit, standardised_net_benefit
from scorespace.curves.curve import CurveKind
from scorespace.curves.smooth_calibration import RIDGE, smooth_calibration
from scorespace.inference.bands import POINTS, Band, band, bootstrap_band
from scorespace.inference.bootstrap import REPLICATES, BootstrapDraws
from scorespace.inference.calibration_null import as_counts
from scorespace.inference.estimate import check_level
from scorespace.inference.interval_formulas import dirichlet_posterior, tail_probabilities
from scorespace.inference.proportion import normal_quantile
from scorespace.tables import Array, Counts, ScoreTable, ratio

_LOWEST, _HIGHEST = 0.01, 0.99  # threshold probabilities; at 1 a false positive has infinite weight
_MIN_ACTED: Final = 5  # cases acted on at the highest threshold of the band
_DRAWS: Final = 20_000  # normal draws for the largest deviation of the smooth curve


def _benefit_band(
    kind: CurveKind[Any],
    table: ScoreTable,
    *,
    level: float = 0.95,
    simultaneous: bool = False,
    grid: ArrayLike | None = None,
    draws: BootstrapDraws | None = None,
    model: str = "",
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Band:
    """Band of net benefit, standardised or not, between the lowest score and the highest with a few cases above it.

    Pointwise: percentiles of net benefit for Dirichlet(counts + ½) at each threshold, as for `nb@t`. Simultaneous: the
    replicates' largest studentised deviation (sup-t), y ± c·se, with half a true and half a false positive added.
    """
    reason = None if table.n_pos > 0 else "undefined: there are no positive cases"
    drawn = draws or BootstrapDraws({model: table}, replicates=replicates, seed=seed)
    at = _thresholds(table) if grid is None else np.asarray(grid, dtype=np.float64)
    is_standardised = kind is standardised_net_benefit
    curve, error = partial(_benefit_at, is_standardised), partial(_benefit_error, is_standardised)
    result = bootstrap_band(
        kind, table, at, curve, error, drawn, model, level, simultaneous, reason, within=False, ends=(-np.inf, 1.0)
    )
    if simultaneous or result.method is None or table.squares is not None or drawn.grouped:
        return result
    counts = _counts_at(table, at)
    cells = np.stack([counts.tp, counts.fn, counts.fp, counts.tn], axis=-1).astype(np.float64)
    posterior = dirichlet_posterior(cells, np.random.default_rng([seed, 2]), REPLICATES)
    values = _benefit(is_standardised, Counts(*np.moveaxis(posterior, -1, 0)[[0, 2, 1, 3]]), at)
    low, high = np.quantile(values, tail_probabilities(level), axis=0)
    return Band(kind.name, at, result.y, low, high, level, "jeffreys", False)


band(net_benefit)(partial(_benefit_band, net_benefit))
band(standardised_net_benefit)(partial(_benefit_band, standardised_net_benefit))


def _thresholds(table: ScoreTable) -> Array:
    """Grid of threshold probabilities of a band."""
    cases = np.cumsum(table.counts.sum(axis=-2, dtype=np.float64))
    few = min(int(np.searchsorted(cases, _MIN_ACTED)), table.score.size - 1)
    low = float(np.clip(table.score[-1], _LOWEST, _HIGHEST))
    high = float(np.clip(table.score[few], _LOWEST, _HIGHEST))
    return np.linspace(low, high, POINTS) if high > low else np.array([low])


def _counts_at(table: ScoreTable, at: Array) -> Counts:
    """Outcomes (…, points) of acting on scores at or above each threshold."""
    places = table.score.size - np.searchsorted(table.score[::-1], at, side="left")
    return table.sweep[..., places]


def _benefit_at(is_standardised: bool, table: ScoreTable, at: Array) -> Array:
    return _benefit(is_standardised, _counts_at(table, at), at)


def _benefit(is_standardised: bool, counts: Counts, at: Array) -> Array:
    """Net benefit at thresholds that are also the prices."""
    return ratio(counts.tp - counts.fp * (at / (1 - at)), counts.p if is_standardised else counts.total)


def _benefit_error(is_standardised: bool, table: ScoreTable, at: Array, y: Array) -> Array:
    """Standard error of the net benefit with half a true and half a false positive added."""
    counts, weight = _counts_at(table, at), at / (1 - at)
    total = float(table.total)
    mean = ratio(counts.tp - counts.fp * weight, total)
    variance = np.maximum(ratio(counts.tp + counts.fp * weight**2, total) - mean**2, 0.0)
    error = np.sqrt(total * variance + 0.5 + weight**2 / 2) / total
    return np.asarray(error * total / float(table.n_pos) if is_standardised else error)


@band(smooth_calibration)
def smooth_calibration_band(
    table: ScoreTable,
    *,
    level: float = 0.95,
    simultaneous: bool = False,
    knots: int | None = None,
    ridge: float = RIDGE,
    draws: BootstrapDraws | None = None,
    model: str = "",
    seed: int = 0,
) -> Band:
    """Band of the smooth calibration curve: logit c ± q · √(x' H⁻¹ x), H the negated Hessian of the likelihood.

    Pointwise, q is the normal quantile. Simultaneous, it is that of max |N(0, H⁻¹)| / se between the 5th and the 95th
    percentile of the scores. The band is that of the smooth curve, which cannot follow every wave.
    """
    check_level(level)
    curve = smooth_calibration(table, knots=knots, ridge=ridge)
    reason = None if table.n_pos > 0 and table.n_neg > 0 else "undefined: only one class is present"
    if as_counts(table) is None:
        reason = reason or "undefined: the weights do not give the number of cases"
    if draws is not None and draws.grouped:
        reason = reason or "undefined: cases are grouped, so labels are not independent"
    if reason is not None:
        undefined = np.full(curve.x.shape, np.nan)
        return Band(curve.kind, curve.x, curve.y, undefined, undefined, level, None, simultaneous, reason)
    error, factor, method = curve.fit.error(curve.x), normal_quantile(level), "likelihood"
    if simultaneous:
        cases = np.cumsum(table.counts.sum(axis=-2, dtype=np.float64)) / float(table.total)
        inner = [float(table.score[min(int(np.searchsorted(cases, share)), cases.size - 1)]) for share in (0.05, 0.95)]
        columns = curve.fit.columns(logit(np.clip(np.linspace(inner[1], inner[0], POINTS), 1e-6, 1 - 1e-6)))
        covariance = np.linalg.inv(curve.fit.hessian)
        normal = np.random.default_rng([seed, 12]).multivariate_normal(np.zeros(len(covariance)), covariance, _DRAWS)
        spread = np.sqrt(np.einsum("ni,ij,nj->n", columns, covariance, columns))
        largest = np.abs(normal @ columns.T / spread).max(axis=1)
        factor, method = max(factor, float(np.quantile(largest, level))), "likelihood, largest studentised deviation"
    middle = logit(curve.y)
    low, high = expit(middle - factor * error), expit(middle + factor * error)
    return Band(curve.kind, curve.x, curve.y, low, high, level, method, simultaneous)
