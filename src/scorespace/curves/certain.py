"""What is certain of a curve from a coarse table: between what its points lie, and its area, whatever the order inside.

A kind of curve whose points are outcomes at thresholds is bounded by the extremes of the outcomes inside each bin; one
that takes the best of all thresholds by the best order inside the bins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from scorespace.curves.brier import brier_curve, interventions_avoided, net_benefit, standardised_net_benefit
from scorespace.curves.cost import cost_curve
from scorespace.curves.curve import Addition, Curve, bounded
from scorespace.curves.gain import gain, lift_curve
from scorespace.curves.hull import hull
from scorespace.curves.pr import pr
from scorespace.curves.roc import roc, value_at
from scorespace.tables import Array, Counts, ScoreTable, ratio

Ends = tuple[Array, Array]
Formula = Callable[[Counts, Array], Array]
"""From the outcomes at thresholds, and the thresholds, to y."""


def over_bins(table: ScoreTable, formula: Formula, *, defined: bool = False) -> Ends:
    """The lowest and the highest value that a formula has at the thresholds inside each bin.

    It is taken at the extremes of the outcomes and of the thresholds, between which it goes one way. `defined`: where
    an extreme has no value the others are enough, since inside a bin something is predicted positive.

    >>> from scorespace.tables import score_table
    >>> table = score_table([1, 0, 1], [0.9, 0.41, 0.4]).rounded(51)
    >>> over_bins(table, lambda c, t: c.tp)
    (array([1., 1.]), array([1., 2.]))
    """
    corners = table.corners
    ends = (table.score, table.score) if table.bins is None else (table.bins.low, table.bins.high)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        values = np.concatenate([np.asarray(formula(corners, at), dtype=np.float64) for at in ends])
    least, most = (np.fmin, np.fmax) if defined else (np.minimum, np.maximum)
    return least.reduce(values, axis=0), most.reduce(values, axis=0)


def from_infinity(table: ScoreTable, traced: Curve, formula: Formula) -> Ends:
    """The same for a curve that starts at the threshold +inf, where it is exact."""
    low, high = over_bins(table, formula)
    return np.append(traced.y[0], low), np.append(traced.y[0], high)


@bounded(roc)
def _of_roc(table: ScoreTable, traced: Curve, *, normalised: bool = True, **part: Any) -> Ends:
    return from_infinity(table, traced, lambda c, _: ratio(c.tp, c.p) if normalised else c.tp)


@bounded(gain)
def _of_gain(table: ScoreTable, traced: Curve) -> Ends:
    return from_infinity(table, traced, lambda c, _: ratio(c.tp, c.p))


@bounded(lift_curve)
def _of_lift(table: ScoreTable, traced: Curve) -> Ends:
    return over_bins(table, lambda c, _: ratio(ratio(c.tp, c.pp), ratio(c.p, c.total)), defined=True)


@bounded(pr)
def _of_pr(table: ScoreTable, traced: Curve) -> Ends:
    low, high = over_bins(table, lambda c, _: ratio(c.tp, c.pp), defined=True)
    # It starts with the precision of the first scores, which are those of the first bin.
    return np.append(low[:1], low), np.append(high[:1], high)


@bounded(net_benefit)
def _of_benefit(table: ScoreTable, traced: Curve) -> Ends:
    low, high = over_bins(table, lambda c, t: ratio(c.tp - c.fp * t / (1 - t), c.total))
    return low[table.score < 1], high[table.score < 1]


@bounded(standardised_net_benefit)
def _of_share(table: ScoreTable, traced: Curve) -> Ends:
    share = ratio(table.n_pos, table.total)
    low, high = _of_benefit(table, traced)
    return ratio(low, share), ratio(high, share)


@bounded(interventions_avoided)
def _of_avoided(table: ScoreTable, traced: Curve) -> Ends:
    low, high = over_bins(table, lambda c, t: ratio(c.tn - c.fn * (1 - t) / t, c.total))
    inside = (table.score < 1) & (table.score > 0)
    return low[inside], high[inside]


@bounded(brier_curve)
def _of_brier(table: ScoreTable, traced: Curve) -> Ends:
    ends = over_bins(table, lambda c, t: ratio(2 * ((1 - t) * c.fn + t * c.fp), c.total))
    # Each bin has two points, from the lowest up, between the two ends, which are exact.
    low, high = (np.concatenate([traced.y[:1], np.repeat(end[::-1], 2), traced.y[-1:]]) for end in ends)
    return low, high


@bounded(cost_curve)
def _of_cost(table: ScoreTable, traced: Curve) -> Ends:
    best = cost_curve(table.ordered(best=True))
    return np.minimum(np.interp(traced.x, best.x, best.y), traced.y), traced.y


@bounded(hull)
def _of_hull(table: ScoreTable, traced: Curve) -> Ends:
    best = hull(table.ordered(best=True))
    return traced.y, np.maximum(value_at(best.x, best.y, traced.x), traced.y)


bounded_area: Addition[Callable[..., tuple[float, float]]] = Addition()
"""The lowest and the highest area of a kind of curve, from a coarse table and the options of the curve."""

for _kind in (roc, pr, gain, hull, cost_curve):

    @bounded_area(_kind)
    def _by_order(table: ScoreTable, kind: Any = _kind, **options: Any) -> tuple[float, float]:
        """Areas of the worst and of the best order inside the bins."""
        low, high = sorted(float(kind(table.ordered(best), **options).area()) for best in (False, True))
        return low, high
