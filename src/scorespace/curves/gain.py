"""Cumulative gain and lift of targeting the cases with the highest scores."""

from __future__ import annotations

from scorespace.curves.curve import UNIT, Curve, curve, unit_square_with_diagonal
from scorespace.tables import ScoreTable, ratio


@unit_square_with_diagonal(
    title="Cumulative gain",
    x="Share targeted",
    y="Share of positives reached",
    aliases=("cumulative_gain", "cap"),
    area="half the prevalence, plus the AUC times the share of negatives",
)
def gain(table: ScoreTable) -> Curve:
    """Share of positives reached (y) by targeting the share x of cases with the highest scores.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.

    Returns
    -------
    Curve
        Share targeted (x) and share of positives reached (y).

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> gain(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])).x
    array([0.  , 0.25, 0.75, 1.  ])
    """
    counts = table.sweep
    return gain.drawn(ratio(counts.pp, counts.total), ratio(counts.tp, counts.p), table.thresholds)


@curve(
    title="Lift",
    x="Share targeted",
    y="Lift",
    name="lift",
    aliases=("lift_curve",),
    x_ends=UNIT,
    chance=((0.0, 1.0), (1.0, 1.0)),
    area="the mean lift over all shares targeted",
)
def lift_curve(table: ScoreTable) -> Curve:
    """Lift of the share x of cases with the highest scores: their precision divided by the prevalence.

    At threshold +inf nothing is targeted, so the curve starts at the highest score.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.

    Returns
    -------
    Curve
        Share targeted (x) and lift (y).

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> lift_curve(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])).y
    array([2.        , 1.33333333, 1.        ])
    """
    counts = table.sweep[1:]
    lift = ratio(ratio(counts.tp, counts.pp), ratio(counts.p, counts.total))
    return lift_curve.drawn(ratio(counts.pp, counts.total), lift, table.score)
