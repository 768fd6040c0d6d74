"""Why probabilities are far from what happened: losses in parts, of calibration and of refinement."""

from __future__ import annotations

import math
from functools import partial
from typing import Annotated, Final

import numpy as np

from scorespace.curves.calibration import check_bins, count_parts, width_starts
from scorespace.curves.hull import HullEdges, edges_of
from scorespace.measures.measure import INF, Formula, by_hull, by_totals
from scorespace.measures.probability import NO_CHANCE, brier, certain_brier, logloss, of_probabilities, uncertainty
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.order import added_at

BY_CHANCE: Final = "too high on small samples: even calibrated scores show some by chance"
_calibration_loss = partial(of_probabilities, best="low", interval="inverted", biased=BY_CHANCE)
_refinement_loss = partial(
    of_probabilities,
    best="low",
    interval="corrected",
    biased="too low on small samples: the best recalibration is fitted to the same cases",
    covers="of noise it holds the truth in all samples",
)
Groups = Annotated[int | None, "number of bins of equal width; groups of equal scores unless stated"]


def _certain_cal(formula: Formula, t: ScoreTable) -> list[Array]:
    (whole,) = certain_brier(brier.function, t)
    return [np.maximum(whole - one, 0.0) for one in by_hull(ref.function, t)]


@_calibration_loss(
    title="Calibration loss",
    range=(0, 1),
    aliases=("calibration_loss", "miscalibration", "mcb"),
    covers="of calibrated scores it holds the truth, which is 0, in up to all samples",
    certain=_certain_cal,
)
def cal(t: ScoreTable) -> Array:
    """What the best monotone recalibration would save of the Brier score: Brier − REF.

    The recalibration (isotonic, the hull of the ROC curve) is fitted to the same cases, so in small
    samples CAL is too high and REF too low.
    """
    whole = brier.function(t)
    lost = whole - refinement(t, edges_of(t))
    return np.where((lost < 0) & (lost > -1e-12), 0.0, lost)  # rounding of two equal numbers


@_refinement_loss(title="Refinement loss", range=(0, 0.25), aliases=("refinement", "refinement_loss"), certain=by_hull)
def ref(t: ScoreTable) -> Array:
    """Brier score after the best monotone recalibration, so a matter of ranking alone: Brier − CAL."""
    return refinement(t, edges_of(t))


def refinement(t: ScoreTable, edges: HullEdges) -> Array:
    """The Brier score of the rates on the edges of the hull: Σ pos · neg / (pos + neg) / n."""
    lost = edges.pos * edges.neg / (edges.pos + edges.neg)
    return ratio(edges.added(lost, t), t.total)


@of_probabilities(
    title="Uncertainty", range=(0, 0.25), best=None, aliases=("uncertainty", "brier_uncertainty"), certain=by_totals
)
def unc(t: ScoreTable) -> Array:
    """Brier score of always stating the base rate: π (1 − π)."""
    return uncertainty(t)


@_calibration_loss(
    title="Calibration loss of the log loss", range=(0, INF), infinite=NO_CHANCE, aliases=("logloss_cal",)
)
def log_cal(t: ScoreTable) -> Array:
    """What the best monotone recalibration would save of the log loss: log loss − its refinement, in nats."""
    lost = logloss.function(t) - _log_refinement(t, edges_of(t))
    return np.where((lost < 0) & (lost > -1e-12), 0.0, lost)


@_refinement_loss(title="Refinement loss of the log loss", range=(0, math.log(2)), aliases=("logloss_ref",))
def log_ref(t: ScoreTable) -> Array:
    """Log loss after the best monotone recalibration, so a matter of ranking alone: log loss − its calibration loss."""
    return _log_refinement(t, edges_of(t))


@of_probabilities(
    title="Uncertainty of the log loss",
    range=(0, math.log(2)),
    best=None,
    aliases=("logloss_unc", "entropy"),
    interval="bootstrap",
)
def log_unc(t: ScoreTable) -> Array:
    """Log loss of always stating the base rate, its entropy: −π log π − (1 − π) log(1 − π)."""
    share = ratio(t.n_pos, t.total)
    return _entropy(share, 1 - share)


def _log_refinement(t: ScoreTable, edges: HullEdges) -> Array:
    """The log loss of the rates on the edges of the hull."""
    size = edges.pos + edges.neg
    lost = size * _entropy(edges.pos / size, edges.neg / size)
    return ratio(edges.added(lost, t), t.total)


def _entropy(one: Array, other: Array) -> Array:
    """−Σ p log p of two shares, of which nothing is no surprise."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return -(np.where(one > 0, one * np.log(one), 0.0) + np.where(other > 0, other * np.log(other), 0.0)) + 0.0


@_calibration_loss(title="Reliability (Murphy)", range=(0, 1), aliases=("reliability", "murphy_reliability"))
def rel(t: ScoreTable, *, bins: Groups = None) -> Array:
    """Squared distance of the groups' mean scores from their rates: Σ n_k (f_k − o_k)² / n.

    Groups are cases of equal score, or bins of equal width; then Brier = rel − res + unc + murphy_residual.
    """
    cases, hits, scores = grouped(t, bins, "width")
    return ratio(share_of(np.square(scores - hits), cases).sum(axis=-1), t.total)


@of_probabilities(
    title="Resolution (Murphy)",
    range=(0, 0.25),
    best="high",
    aliases=("resolution", "murphy_resolution"),
    interval="corrected",
    biased="too high on small samples: the rates of groups differ by chance, too",
    covers="with 20 positives in 2 000 cases it holds the truth in 60 % of samples; of few distinct scores in all",
)
def res(t: ScoreTable, *, bins: Groups = None) -> Array:
    """Squared distance of the groups' rates from the base rate: Σ n_k (o_k − o)² / n.

    Groups are cases of equal score (with distinct scores it is then UNC, whatever the model), or bins.
    """
    cases, hits, _ = grouped(t, bins, "width")
    expected = cases * ratio(t.n_pos, t.total)[..., None]
    return ratio(share_of(np.square(hits - expected), cases).sum(axis=-1), t.total)


@of_probabilities(title="Residual of Murphy's terms", range=(-1, 1), best=None, aliases=("within_bin",))
def murphy_residual(t: ScoreTable, *, bins: Groups = None) -> Array:
    """What bins hide, the scores inside them not being equal: Brier − (rel − res + unc).

    0 for groups of equal scores.
    """
    if bins is None:
        return ratio(0 * t.total, t.total)
    terms = rel.function(t, bins=bins) - res.function(t, bins=bins) + unc.function(t)
    return np.asarray(brier.function(t) - terms)


def grouped(t: ScoreTable, bins: int | None, by: str) -> tuple[Array, Array, Array]:
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
    # Here the bins depend on the weights, so each replicate has its own.
    part = count_parts(cases, bins)
    return tuple(added_at(part, column, bins) for column in columns)  # type: ignore[return-value]


def share_of(part: Array, whole: Array) -> Array:
    """part / whole, and 0 for groups without cases."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
