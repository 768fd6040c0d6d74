"""Decompositions of probability losses: calibration, refinement and uncertainty."""

from __future__ import annotations

import math
from functools import partial
from typing import Annotated, Final

import numpy as np

from scorespace.curves.calibration import check_bins, equal_count_bins, width_starts
from scorespace.curves.hull import HullEdges, edges_of
from scorespace.measures.measure import INF, Formula, bounds_by_hull, exact_from_totals
from scorespace.measures.probability import NO_CHANCE, brier, brier_bounds, logloss, probability_measure, uncertainty
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.weighted_quantiles import sum_by_index

BY_CHANCE: Final = "too high in small samples: even calibrated scores show some by chance"
_calibration_loss = partial(probability_measure, best="low", interval="test-inversion", biased=BY_CHANCE)
_refinement_loss = partial(
    probability_measure,
    best="low",
    interval="bias-corrected",
    biased="too low in small samples: the best recalibration is fitted to the same cases",
    coverage_note="uninformative scores: covers the true value in all samples",
)
Groups = Annotated[int | None, "number of bins of equal width; by default groups of equal scores"]


def _cal_bounds(formula: Formula, t: ScoreTable) -> list[Array]:
    (total,) = brier_bounds(brier.function, t)
    return [np.maximum(total - refined, 0.0) for refined in bounds_by_hull(ref.function, t)]


@_calibration_loss(
    title="Calibration loss",
    range=(0, 1),
    aliases=("calibration_loss", "miscalibration", "mcb"),
    coverage_note="calibrated scores: covers the true value, 0, in up to all samples",
    bounds=_cal_bounds,
)
def cal(t: ScoreTable) -> Array:
    """Reduction of the Brier score by the best monotone recalibration: Brier − REF.

    The recalibration (isotonic regression, the convex hull of the ROC curve) is fitted to the same cases, so in small
    samples CAL is too high and REF too low.
    """
    total = brier.function(t)
    loss = total - refinement(t, edges_of(t))
    return np.where((loss < 0) & (loss > -1e-12), 0.0, loss)  # rounding error of equal numbers


@_refinement_loss(
    title="Refinement loss", range=(0, 0.25), aliases=("refinement", "refinement_loss"), bounds=bounds_by_hull
)
def ref(t: ScoreTable) -> Array:
    """Brier score after the best monotone recalibration, which depends on ranking only: Brier − CAL."""
    return refinement(t, edges_of(t))


def refinement(t: ScoreTable, edges: HullEdges) -> Array:
    """Brier score of the rates on the edges of the hull: Σ pos · neg / (pos + neg) / n."""
    loss = edges.pos * edges.neg / (edges.pos + edges.neg)
    return ratio(edges.added(loss, t), t.total)


@probability_measure(
    title="Uncertainty",
    range=(0, 0.25),
    best=None,
    aliases=("uncertainty", "brier_uncertainty"),
    bounds=exact_from_totals,
)
def unc(t: ScoreTable) -> Array:
    """Brier score of predicting the prevalence for every case: π (1 − π)."""
    return uncertainty(t)


@_calibration_loss(
    title="Calibration loss of the log loss", range=(0, INF), infinite=NO_CHANCE, aliases=("logloss_cal",)
)
def log_cal(t: ScoreTable) -> Array:
    """Reduction of the log loss by the best monotone recalibration: log loss − its refinement loss, in nats."""
    loss = logloss.function(t) - _log_refinement(t, edges_of(t))
    return np.where((loss < 0) & (loss > -1e-12), 0.0, loss)


@_refinement_loss(title="Refinement loss of the log loss", range=(0, math.log(2)), aliases=("logloss_ref",))
def log_ref(t: ScoreTable) -> Array:
    """Log loss after the best monotone recalibration, which depends on ranking only: log loss − calibration loss."""
    return _log_refinement(t, edges_of(t))


@probability_measure(
    title="Uncertainty of the log loss",
    range=(0, math.log(2)),
    best=None,
    aliases=("logloss_unc", "entropy"),
    interval="bootstrap",
)
def log_unc(t: ScoreTable) -> Array:
    """Log loss of predicting the prevalence for every case, its entropy: −π log π − (1 − π) log(1 − π)."""
    share = ratio(t.n_pos, t.total)
    return _entropy(share, 1 - share)


def _log_refinement(t: ScoreTable, edges: HullEdges) -> Array:
    """Log loss of the rates on the edges of the hull."""
    size = edges.pos + edges.neg
    loss = size * _entropy(edges.pos / size, edges.neg / size)
    return ratio(edges.added(loss, t), t.total)


def _entropy(p: Array, q: Array) -> Array:
    """−(p log p + q log q), with 0 log 0 = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return -(np.where(p > 0, p * np.log(p), 0.0) + np.where(q > 0, q * np.log(q), 0.0)) + 0.0


@_calibration_loss(title="Reliability (Murphy)", range=(0, 1), aliases=("reliability", "murphy_reliability"))
def rel(t: ScoreTable, *, bins: Groups = None) -> Array:
    """Mean squared difference of the groups' mean scores and observed rates: Σ n_k (f_k − o_k)² / n (Murphy 1973).

    Groups are cases of equal score, or bins of equal width; then Brier = rel − res + unc + murphy_residual.
    """
    cases, hits, scores = group_sums_of(t, bins, "width")
    return ratio(share_of(np.square(scores - hits), cases).sum(axis=-1), t.total)


@probability_measure(
    title="Resolution (Murphy)",
    range=(0, 0.25),
    best="high",
    aliases=("resolution", "murphy_resolution"),
    interval="bias-corrected",
    biased="too high in small samples: the rates of groups differ by chance, too",
    coverage_note="20 positives in 2 000 cases: covers in 60 % of samples; few distinct scores: in all",
)
def res(t: ScoreTable, *, bins: Groups = None) -> Array:
    """Mean squared difference of the groups' observed rates and the prevalence: Σ n_k (o_k − o)² / n (Murphy 1973).

    Groups are cases of equal score (with distinct scores it then equals UNC for every model), or bins.
    """
    cases, hits, _ = group_sums_of(t, bins, "width")
    expected = cases * ratio(t.n_pos, t.total)[..., None]
    return ratio(share_of(np.square(hits - expected), cases).sum(axis=-1), t.total)


@probability_measure(title="Residual of Murphy's terms", range=(-1, 1), best=None, aliases=("within_bin",))
def murphy_residual(t: ScoreTable, *, bins: Groups = None) -> Array:
    """Remainder of the binned decomposition, because scores within bins differ: Brier − (rel − res + unc).

    It is 0 for groups of equal scores.
    """
    if bins is None:
        return ratio(0 * t.total, t.total)
    terms = rel.function(t, bins=bins) - res.function(t, bins=bins) + unc.function(t)
    return np.asarray(brier.function(t) - terms)


def group_sums_of(t: ScoreTable, bins: int | None, by: str) -> tuple[Array, Array, Array]:
    """Cases, positives and sum of scores of each group, for every replicate; without bins, of each score."""
    hits = t.pos
    cases = hits + t.neg
    if bins is None:
        return cases, hits, cases * t.score
    check_bins(by, bins, ("width", "count"))
    columns = (cases, hits, cases * t.score)
    if not t.score.size:
        return columns
    if by == "width":
        starts = width_starts(t.score, bins)
        return tuple(np.add.reduceat(column, starts, axis=-1) for column in columns)  # type: ignore[return-value]
    # These bins depend on the weights, so each replicate has its own.
    part = equal_count_bins(cases, bins)
    return tuple(sum_by_index(part, column, bins) for column in columns)  # type: ignore[return-value]


def share_of(part: Array, whole: Array) -> Array:
    """part / whole; 0 for groups without cases."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
