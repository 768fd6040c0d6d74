"""Brier curves: the loss under each cost when the scores are taken as probabilities, and net benefit."""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np

from scorespace.curves.curve import UNIT, Curve, beside, curve
from scorespace.curves.hull import hull_edges
from scorespace.errors import ScoreError
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.score import cumulated

_NOTHING: Final = ((0.0, 0.0), (1.0, 0.0))
_benefit = partial(
    curve, x="Threshold", x_ends=UNIT, dip=0.3, chance=_NOTHING, chance_name="acting on none", probability=True
)


@curve(
    title="Brier curve",
    x="Cost share of a false positive",
    y="Loss",
    name="brier",
    aliases=("brier_curve", "murphy", "murphy_diagram"),
    x_ends=UNIT,
    probability=True,
    area="the Brier score; lower is better",
)
def brier_curve(table: ScoreTable) -> Curve:
    """Loss 2·[(1−c)·π₁·FNR + c·π₀·FPR] when the threshold is the cost share c itself (score-driven).

    It jumps where cases change sides, so each score has two points; its area is the Brier score. At every c it is
    twice the mean elementary score of Ehm et al. (2016), so it is their Murphy diagram, too: a model whose curve is
    nowhere above another's is better by every proper score.

    >>> from scorespace.tables import score_table
    >>> round(brier_curve(score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.1])).area(), 6)
    0.085
    """
    probabilities(table)
    total = float(table.total)
    counts = table.sweep
    # The decisions of sweep entry k hold for thresholds in (score k, score k−1]; the first up to 1.
    high = np.concatenate([[1.0], table.score])
    low = np.concatenate([table.score, [0.0]])
    at_high = 2 * ((1 - high) * counts.fn + high * counts.fp) / total
    at_low = 2 * ((1 - low) * counts.fn + low * counts.fp) / total
    x = np.stack([high, low], axis=1).ravel()[::-1]
    y = np.stack([at_high, at_low], axis=1).ravel()[::-1]
    return brier_curve.drawn(x, y, x)


def optimal_curve(table: ScoreTable) -> Curve:
    """The same loss at the best threshold for each cost share: the envelope whose area is REF.

    >>> from scorespace.tables import score_table
    >>> optimal_curve(score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.1])).area()
    0.0
    """
    total = float(table.total)
    edges = hull_edges(*table.columns)
    missed, alarmed = float(table.n_pos) - cumulated(edges.pos), cumulated(edges.neg)
    bend = ratio(edges.pos, edges.pos + edges.neg)[::-1]  # ascending: the last edge first
    loss = 2 * ((1 - bend) * missed[:-1][::-1] + bend * alarmed[:-1][::-1]) / total
    x = np.concatenate([[0.0], bend, [1.0]])
    y = np.concatenate([[2 * missed[-1] / total], loss, [2 * alarmed[0] / total]])
    threshold = np.concatenate([[-np.inf], table.score[edges.end][::-1], [np.inf]])
    return Curve("brier_optimal", x, y, threshold, brier_curve.x, brier_curve.y)


@beside(brier_curve)
def _recalibrated(table: ScoreTable) -> dict[str, Curve]:
    """The gap to the best threshold of each cost is what calibration loses."""
    return {"{model}, recalibrated": optimal_curve(table)}


@_benefit(title="Net benefit (decision curve)", y="Net benefit", aliases=("decision_curve", "dca"))
def net_benefit(table: ScoreTable) -> Curve:
    """Net benefit TP/n − FP/n · t/(1−t) of acting on scores ≥ t (decision curve), for t below 1.

    >>> from scorespace.tables import score_table
    >>> net_benefit(score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.1])).y
    array([0.25      , 0.5       , 0.33333333, 0.44444444])
    """
    probabilities(table)
    inside = table.score < 1  # at t = 1 a false alarm weighs infinitely much
    t, counts = table.score[inside], table.sweep[1:][inside]
    benefit = ratio(counts.tp - counts.fp * t / (1 - t), counts.total)
    return net_benefit.drawn(t, benefit, t)


@_benefit(
    title="Standardised net benefit",
    y="Net benefit / prevalence",
    name="snb",
    aliases=("standardised_net_benefit", "relative_utility"),
)
def standardised_net_benefit(table: ScoreTable) -> Curve:
    """Net benefit as a share of the most there is, where all positives are found without alarms: NB / π.

    >>> from scorespace.tables import score_table
    >>> standardised_net_benefit(score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.1])).y
    array([0.5       , 1.        , 0.66666667, 0.88888889])
    """
    found = net_benefit.function(table)
    share = ratio(table.n_pos, table.total)
    return standardised_net_benefit.drawn(found.x, ratio(found.y, share), found.threshold)


@_benefit(
    title="Interventions avoided",
    y="Avoided per case",
    name="avoided",
    aliases=("interventions_avoided", "net_reduction"),
    chance_name="acting on all",
)
def interventions_avoided(table: ScoreTable) -> Curve:
    """Interventions spared against acting on all, net of the misses: (NB − NB of all) · (1−t)/t.

    Which is TN/n − FN/n · (1−t)/t.

    >>> from scorespace.tables import score_table
    >>> interventions_avoided(score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.1])).y
    array([0.47222222, 0.5       , 0.25      , 0.        ])
    """
    probabilities(table)
    inside = (table.score < 1) & (table.score > 0)  # at t = 0 a miss weighs infinitely much
    t, counts = table.score[inside], table.sweep[1:][inside]
    with np.errstate(over="ignore"):  # beside a threshold of almost nothing, a miss weighs almost infinitely much
        avoided = ratio(counts.tn - counts.fn * (1 - t) / t, counts.total)
    return interventions_avoided.drawn(t, avoided, t)


@beside(net_benefit)
def _acting_on_all(table: ScoreTable) -> dict[str, Curve]:
    return {"acting on all": net_benefit_of_all(float(ratio(table.n_pos, table.total)))}


def net_benefit_of_all(prevalence: float) -> Curve:
    """Net benefit of acting on every case, whatever its score: π − (1 − π) · t/(1−t)."""
    t = np.linspace(0, 0.99, 100)
    return net_benefit.drawn(t, prevalence - (1 - prevalence) * t / (1 - t), t)


def probabilities(table: ScoreTable) -> Array:
    """The scores, refused when they cannot be probabilities; they are never squashed."""
    if not table.probabilities:
        raise ScoreError(
            "these scores are not probabilities.",
            seen=f"values from {table.score[-1]:g} to {table.score[0]:g}",
            hint="recalibrate them first; scores outside [0, 1] are never squashed",
        )
    return table.score
