"""What is certain of a curve from a coarse table: between what its points lie, and its area, whatever the order inside.

A kind of curve whose points are outcomes at thresholds is bounded by the extremes of the outcomes inside each bin; one
that takes the best of all thresholds by the best order inside the bins.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from scorespace.curves.brier import brier_curve, interventions_avoided, net_benefit, standardised_net_benefit
from scorespace.curves.calibration import BINS, calibration, count_parts, groups_reached
from scorespace.curves.cost import cost_curve
from scorespace.curves.curve import Addition, Curve, bounded
from scorespace.curves.gain import gain, lift_curve
from scorespace.curves.hull import hull
from scorespace.curves.pr import pr
from scorespace.curves.rejection import by_margin, margins_of, rejection
from scorespace.curves.roc import roc, value_at
from scorespace.curves.smooth import smooth, soft_ends
from scorespace.frozen import dataclass
from scorespace.tables import Array, Counts, ScoreTable, ratio
from scorespace.tables.score import grouped_scores

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
    ends = table.binned.low, table.binned.high
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        values = np.concatenate([np.asarray(formula(corners, at), dtype=np.float64) for at in ends])
    least, most = (np.fmin, np.fmax) if defined else (np.minimum, np.maximum)
    return least.reduce(values, axis=0), most.reduce(values, axis=0)


def at_points(table: ScoreTable, traced: Curve, formula: Formula, *, defined: bool = False) -> Ends:
    """The same at the points of a curve, each at the threshold of a bin; at +inf, where it may start, it is exact."""
    ends = over_bins(table, formula, defined=defined)
    place = np.searchsorted(-table.score, -traced.threshold)
    low, high = (np.where(np.isinf(traced.threshold), traced.y, np.append(end, np.nan)[place]) for end in ends)
    return low, high


def _benefit(c: Counts, t: Array) -> Array:
    return ratio(c.tp - c.fp * t / (1 - t), c.total)


for _kind, _formula in {
    gain: lambda c, _: ratio(c.tp, c.p),
    net_benefit: _benefit,
    standardised_net_benefit: lambda c, t: ratio(_benefit(c, t), ratio(c.p, c.total)),
    interventions_avoided: lambda c, t: ratio(c.tn - c.fn * (1 - t) / t, c.total),
}.items():
    bounded(_kind)(partial(at_points, formula=_formula))


@bounded(lift_curve)
def _of_lift(table: ScoreTable, traced: Curve) -> Ends:
    return at_points(table, traced, lambda c, _: ratio(ratio(c.tp, c.pp), ratio(c.p, c.total)), defined=True)


@bounded(roc)
def _of_roc(table: ScoreTable, traced: Curve, *, normalised: bool = True, **part: Any) -> Ends:
    return at_points(table, traced, lambda c, _: ratio(c.tp, c.p) if normalised else c.tp)


@bounded(pr)
def _of_pr(table: ScoreTable, traced: Curve) -> Ends:
    low, high = over_bins(table, lambda c, _: ratio(c.tp, c.pp), defined=True)
    # It starts with the precision of the first scores, which are those of the first bin.
    return np.append(low[:1], low), np.append(high[:1], high)


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


@bounded(smooth)
def _of_smooth(table: ScoreTable, traced: Curve, *, normalised: bool = True, **options: Any) -> Ends:
    found = soft_ends(table, **options)
    if found is None or table.bins is None:
        return np.full(traced.x.shape, np.nan), np.full(traced.x.shape, np.nan)
    least, most = (np.concatenate([[0.0], np.cumsum(one)]) for one in found)
    # Up to a bin as few as may be and beyond it as many, or the reverse.
    low = ratio(least, least + most[-1] - most) if normalised else least
    high = ratio(most, most + least[-1] - least) if normalised else most
    return np.append(low[:1], np.where(table.bins.loose, low[:-1], low[1:])), high


@bounded(calibration)
def _of_calibration(table: ScoreTable, traced: Curve, *, by: str = "isotonic", bins: int = BINS) -> Ends:
    """The rate of a group with what may be elsewhere left out or not; isotonic groups may begin and end elsewhere."""
    unknown = np.full(traced.x.shape, np.nan)
    if by == "isotonic" or table.bins is None:
        return unknown, unknown
    first, last = groups_reached(table, bins, by)
    if by == "width":
        own = np.unique(np.searchsorted(np.arange(1, bins) / bins, table.score, side="right"))
    else:
        own = np.unique(count_parts(table.pos + table.neg, bins))[::-1]

    def weights(column: Array) -> Ends:
        """What is surely in each group, and what may be."""
        sure, maybe = np.zeros(bins + 1), np.zeros(bins + 1)
        np.add.at(sure, first[first == last], column[first == last])
        np.add.at(maybe, first, column)
        np.subtract.at(maybe, last + 1, column)
        return sure[own], np.cumsum(maybe)[own]

    (pos, more_pos), (neg, more_neg) = weights(table.pos), weights(table.neg)
    return _share_ends(pos, more_pos, neg, more_neg)


def _share_ends(pos: Array, more_pos: Array, neg: Array, more_neg: Array) -> Ends:
    """The lowest and the highest share of positives, from the fewest and the most of either that there may be."""
    low, high = ratio(pos, pos + more_neg), ratio(more_pos, more_pos + neg)
    return np.where(pos + more_neg > 0, low, 1.0), np.where(more_pos + neg > 0, high, 0.0)


@dataclass(frozen=True)
class _Margins:
    """Between what the margins of the cases of each bin lie, and how many are right and wrong: all, where not known."""

    near: Array
    far: Array
    right: Array
    wrong: Array
    torn: Array

    def ordered(self, best: bool) -> ScoreTable:
        """The right cases as sure as may be and the wrong as unsure, or the reverse."""
        right, wrong = (np.where(self.torn, 0, self.right), self.wrong)
        if best:
            right, wrong = self.right, np.where(self.torn, 0, self.wrong)
        ends = (self.far, self.near) if best else (self.near, self.far)
        none = np.zeros_like(right)
        counts = np.concatenate([np.stack([none, right]), np.stack([wrong, none])], axis=1)
        score, counts = grouped_scores(np.concatenate(ends), counts)
        kept = counts.any(axis=0)
        return ScoreTable(score[kept], counts[:, kept], ("wrong", "right"), 1)


def _margins(table: ScoreTable, at: float | None) -> _Margins:
    at = 0.5 if at is None else at
    assert table.bins is not None
    low, high = table.bins.low, table.bins.high
    ends = [np.abs(end - at) for end in (low, high)]
    torn = (low < at) & (at <= high)
    # Margins are compared at 12 decimals of the largest score.
    slack = 4e-12 * max(float(np.abs([*high[:1], *low[-1:], at]).max()), 0.0)
    near = np.where(torn, 0.0, np.minimum(*ends)) - slack
    right, wrong = np.where(low >= at, table.pos, table.neg), np.where(low >= at, table.neg, table.pos)
    every = table.pos + table.neg
    return _Margins(near, np.maximum(*ends) + slack, np.where(torn, every, right), np.where(torn, every, wrong), torn)


@bounded(rejection)
def _of_rejection(table: ScoreTable, traced: Curve, *, at: float | None = None) -> Ends:
    found = _margins(table, at)
    # A row stands for the bins whose lowest score has its margin: for all margins that these may have.
    own = margins_of(table.score, 0.5 if at is None else at)
    place = np.searchsorted(traced.threshold, own)
    least, most = np.full(traced.x.shape, np.inf), np.full(traced.x.shape, -np.inf)
    np.minimum.at(least, place, found.near)
    np.maximum.at(most, place, found.far)

    def above(ends: Array, column: Array, limits: Array) -> Array:
        """Σ of a column over the bins whose end is at or above each limit."""
        order = np.argsort(ends)
        total = np.concatenate([[0.0], np.cumsum(column[order])])
        return total[-1] - total[np.searchsorted(ends[order], limits)]

    sure = np.where(found.torn, 0.0, 1.0)
    right, wrong = (above(found.near, column * sure, most) for column in (found.right, found.wrong))
    more_right, more_wrong = (above(found.far, column, least) for column in (found.right, found.wrong))
    return _share_ends(right, more_right, wrong, more_wrong)


bounded_area: Addition[Callable[..., tuple[float, float]]] = Addition()
"""The lowest and the highest area of a kind of curve, from a coarse table and the options of the curve."""

for _kind in (roc, pr, gain, hull, cost_curve):

    @bounded_area(_kind)
    def _by_order(table: ScoreTable, kind: Any = _kind, **options: Any) -> tuple[float, float]:
        """Areas of the worst and of the best order inside the bins."""
        low, high = sorted(float(kind(table.ordered(best), **options).area()) for best in (False, True))
        return low, high


@bounded_area(rejection)
def _of_errors(table: ScoreTable, *, at: float | None = None) -> tuple[float, float]:
    """The mean error where the wrong cases are as unsure as may be, and where they are as sure."""
    low, high = (by_margin(_margins(table, at).ordered(best)).area() for best in (True, False))
    return low, high
