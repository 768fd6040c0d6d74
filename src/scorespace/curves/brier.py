"""Brier curves (loss over all cost ratios, with scores used as probabilities) and decision curves (net benefit)."""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np

from scorespace.curves.curve import UNIT, Curve, companion_curves, curve
from scorespace.curves.hull import hull_edges
from scorespace.errors import ScoreError
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.score_arrays import cumulate

_ZERO_BENEFIT: Final = ((0.0, 0.0), (1.0, 0.0))  # net benefit of treating nobody
_benefit = partial(
    curve,
    x="Threshold",
    x_ends=UNIT,
    shown_below_zero=0.3,
    chance=_ZERO_BENEFIT,
    chance_name="acting on none",
    probability=True,
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
    """Loss 2·[(1−c)·π₁·FNR + c·π₀·FPR] if the threshold equals the cost share c (Hernández-Orallo, Flach & Ferri 2011).

    It jumps where the decision on a case changes, so each score has two points; its area is the Brier score. At every c
    it is twice the mean elementary score of Ehm et al. (2016), so it is also their Murphy diagram: a model whose curve
    is nowhere above another's is better by every proper score.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.

    Returns
    -------
    Curve
        Cost share (x) and loss (y).

    References
    ----------
    Hernández-Orallo, J., Flach, P., & Ferri, C. (2011). Brier curves: a new cost-based visualisation of classifier
    performance. In Proceedings of the 28th International Conference on Machine Learning.

    Ehm, W., Gneiting, T., Jordan, A., & Krüger, F. (2016). Of quantiles and expectiles: consistent scoring functions,
    Choquet representations and forecast rankings. Journal of the Royal Statistical Society B, 78(3), 505-562.

    Examples
    --------
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
    """Loss at the optimal threshold for each cost share: the lower envelope, whose area is the refinement loss.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.

    Returns
    -------
    Curve
        Cost share (x) and loss (y).

    References
    ----------
    Hernández-Orallo, J., Flach, P., & Ferri, C. (2012). A unified view of performance metrics: translating threshold
    choice into expected classification loss. Journal of Machine Learning Research, 13, 2813-2869.

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> optimal_curve(score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.1])).area()
    0.0
    """
    total = float(table.total)
    edges = hull_edges(*table.columns)
    fn, fp = float(table.n_pos) - cumulate(edges.pos), cumulate(edges.neg)
    bend = ratio(edges.pos, edges.pos + edges.neg)[::-1]  # ascending: the last edge first
    loss = 2 * ((1 - bend) * fn[:-1][::-1] + bend * fp[:-1][::-1]) / total
    x = np.concatenate([[0.0], bend, [1.0]])
    y = np.concatenate([[2 * fn[-1] / total], loss, [2 * fp[0] / total]])
    threshold = np.concatenate([[-np.inf], table.score[edges.end][::-1], [np.inf]])
    return Curve("brier_optimal", x, y, threshold, brier_curve.x, brier_curve.y)


@companion_curves(brier_curve)
def _recalibrated_curve(table: ScoreTable) -> dict[str, Curve]:
    """The difference to the optimal curve is the calibration loss."""
    return {"{model}, recalibrated": optimal_curve(table)}


@_benefit(title="Net benefit (decision curve)", y="Net benefit", aliases=("decision_curve", "dca"))
def net_benefit(table: ScoreTable) -> Curve:
    """Net benefit TP/n − FP/n · t/(1−t) of acting on scores ≥ t, for t below 1 (decision curve; Vickers & Elkin 2006).

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.

    Returns
    -------
    Curve
        Threshold (x) and net benefit (y).

    References
    ----------
    Vickers, A. J., & Elkin, E. B. (2006). Decision curve analysis: a novel method for evaluating prediction models.
    Medical Decision Making, 26(6), 565-574.

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> net_benefit(score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.1])).y
    array([0.25      , 0.5       , 0.33333333, 0.44444444])
    """
    probabilities(table)
    below_one = table.score < 1  # at t = 1 a false positive has infinite weight
    t, counts = table.score[below_one], table.sweep[1:][below_one]
    benefit = ratio(counts.tp - counts.fp * t / (1 - t), counts.total)
    return net_benefit.drawn(t, benefit, t)


@_benefit(
    title="Standardised net benefit",
    y="Net benefit / prevalence",
    name="snb",
    aliases=("standardised_net_benefit", "relative_utility"),
)
def standardised_net_benefit(table: ScoreTable) -> Curve:
    """Net benefit relative to its maximum, all true positives without false positives: NB / π.

    >>> from scorespace.tables import score_table
    >>> standardised_net_benefit(score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.1])).y
    array([0.5       , 1.        , 0.66666667, 0.88888889])
    """
    benefit = net_benefit.function(table)
    prevalence = ratio(table.n_pos, table.total)
    return standardised_net_benefit.drawn(benefit.x, ratio(benefit.y, prevalence), benefit.threshold)


@_benefit(
    title="Interventions avoided",
    y="Avoided per case",
    name="avoided",
    aliases=("interventions_avoided", "net_reduction"),
    chance_name="acting on all",
)
def interventions_avoided(table: ScoreTable) -> Curve:
    """Interventions avoided relative to acting on all, net of false negatives: (NB − NB of all) · (1−t)/t.

    This equals TN/n − FN/n · (1−t)/t.

    >>> from scorespace.tables import score_table
    >>> interventions_avoided(score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.1])).y
    array([0.47222222, 0.5       , 0.25      , 0.        ])
    """
    probabilities(table)
    inside = (table.score < 1) & (table.score > 0)  # at t = 0 a false negative has infinite weight
    t, counts = table.score[inside], table.sweep[1:][inside]
    with np.errstate(over="ignore"):  # near t = 0 the weight of a false negative may overflow
        avoided = ratio(counts.tn - counts.fn * (1 - t) / t, counts.total)
    return interventions_avoided.drawn(t, avoided, t)


@companion_curves(net_benefit)
def _acting_on_all(table: ScoreTable) -> dict[str, Curve]:
    return {"acting on all": net_benefit_of_all(float(ratio(table.n_pos, table.total)))}


def net_benefit_of_all(prevalence: float) -> Curve:
    """Net benefit of acting on every case: π − (1 − π) · t/(1−t)."""
    t = np.linspace(0, 0.99, 100)
    return net_benefit.drawn(t, prevalence - (1 - prevalence) * t / (1 - t), t)


def probabilities(table: ScoreTable) -> Array:
    """Return the scores; raise an error if they cannot be probabilities."""
    if not table.probabilities:
        raise ScoreError(
            "these scores are not probabilities.",
            seen=f"values from {table.score[-1]:g} to {table.score[0]:g}",
            hint="recalibrate them first",
        )
    return table.score
