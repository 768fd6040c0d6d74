"""Cumulative gain and lift: what targeting the highest scores brings."""

from __future__ import annotations

from scorespace.curves.curve import UNIT, Curve, beside_chance, curve
from scorespace.tables import ScoreTable, ratio


@beside_chance(
    title="Cumulative gain",
    x="Share targeted",
    y="Share of positives reached",
    aliases=("cumulative_gain", "cap"),
    area="half the prevalence, plus the AUC times the share of negatives",
)
def gain(table: ScoreTable) -> Curve:
    """Share of positives reached (y) by targeting the share x of cases with the highest scores.

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
    """How many times as many positives as chance the share x of highest scores holds.

    Nothing is targeted at threshold +inf, so the curve starts at the first score.

    >>> from scorespace.tables import score_table
    >>> lift_curve(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])).y
    array([2.        , 1.33333333, 1.        ])
    """
    counts = table.sweep[1:]
    times = ratio(ratio(counts.tp, counts.pp), ratio(counts.p, counts.total))
    return lift_curve.drawn(ratio(counts.pp, counts.total), times, table.score)
