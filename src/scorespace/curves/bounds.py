"""Certified bounds of curves from binned scores: the range of each point and of the area, for any order inside bins.

Curves whose points are functions of the outcomes at a threshold are bounded by the extreme outcomes inside each bin;
curves that optimise over thresholds by the best order inside the bins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from scorespace.curves.brier import brier_curve, interventions_avoided, net_benefit, standardised_net_benefit
from scorespace.curves.calibration import BINS, calibration, equal_count_bins, possible_groups
from scorespace.curves.cost import cost_curve
from scorespace.curves.curve import Curve, CurveExtension, certified_bounds
from scorespace.curves.gain import gain, lift_curve
from scorespace.curves.hull import hull
from scorespace.curves.pr import pr
from scorespace.curves.rejection import by_margin, rejection, threshold_margins
from scorespace.curves.roc import roc, value_at
from scorespace.curves.smooth import smooth, soft_label_bounds
from scorespace.tables import Array, Counts, ScoreTable, ratio
from scorespace.tables.score_arrays import merge_equal_scores

Bounds = tuple[Array, Array]
Formula = Callable[[Counts, Array], Array]
"""Function of the outcomes at thresholds, and of the thresholds, that gives y."""


def over_bins(table: ScoreTable, formula: Formula, *, defined: bool = False) -> Bounds:
    """Lowest and highest value of a formula at the thresholds inside each bin.

    It is evaluated at the extremes of outcomes and thresholds, between which it is monotone. `defined`: undefined
    extremes are ignored, because inside a bin something is predicted positive.

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


def at_points(table: ScoreTable, traced: Curve, formula: Formula, *, defined: bool = False) -> Bounds:
    """Bounds at the points of a curve, each at the threshold of a bin; a first point at +inf is exact."""
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
    certified_bounds(_kind)(partial(at_points, formula=_formula))


@certified_bounds(lift_curve)
def _lift_bounds(table: ScoreTable, traced: Curve) -> Bounds:
    return at_points(table, traced, lambda c, _: ratio(ratio(c.tp, c.pp), ratio(c.p, c.total)), defined=True)


@certified_bounds(roc)
def _roc_bounds(table: ScoreTable, traced: Curve, *, normalised: bool = True, **part: Any) -> Bounds:
    return at_points(table, traced, lambda c, _: ratio(c.tp, c.p) if normalised else c.tp)


@certified_bounds(pr)
def _pr_bounds(table: ScoreTable, traced: Curve) -> Bounds:
    low, high = over_bins(table, lambda c, _: ratio(c.tp, c.pp), defined=True)
    # The first point has the precision of the highest scores, which are those of the first bin.
    return np.append(low[:1], low), np.append(high[:1], high)


@certified_bounds(brier_curve)
def _brier_bounds(table: ScoreTable, traced: Curve) -> Bounds:
    ends = over_bins(table, lambda c, t: ratio(2 * ((1 - t) * c.fn + t * c.fp), c.total))
    # Each bin has two points, in ascending order, between the two end points, which are exact.
    low, high = (np.concatenate([traced.y[:1], np.repeat(end[::-1], 2), traced.y[-1:]]) for end in ends)
    return low, high


@certified_bounds(cost_curve)
def _cost_bounds(table: ScoreTable, traced: Curve) -> Bounds:
    best = cost_curve(table.ordered(best=True))
    return np.minimum(np.interp(traced.x, best.x, best.y), traced.y), traced.y


@certified_bounds(hull)
def _hull_bounds(table: ScoreTable, traced: Curve) -> Bounds:
    best = hull(table.ordered(best=True))
    return traced.y, np.maximum(value_at(best.x, best.y, traced.x), traced.y)


@certified_bounds(smooth)
def _smooth_bounds(table: ScoreTable, traced: Curve, *, normalised: bool = True, **options: Any) -> Bounds:
    bounds = soft_label_bounds(table, **options)
    if bounds is None or table.bins is None:
        return np.full(traced.x.shape, np.nan), np.full(traced.x.shape, np.nan)
    least, most = (np.concatenate([[0.0], np.cumsum(rates)]) for rates in bounds)
    # The lower bound has the fewest positives up to a bin and the most beyond it; the upper bound the reverse.
    low = ratio(least, least + (most[-1] - most)) if normalised else least  # parentheses: tiny sums are not absorbed
    high = ratio(most, most + (least[-1] - least)) if normalised else most
    return np.append(low[:1], np.where(table.bins.is_mixed, low[:-1], low[1:])), high


@certified_bounds(calibration)
def _calibration_bounds(table: ScoreTable, traced: Curve, *, by: str = "isotonic", bins: int = BINS) -> Bounds:
    """Bounds of the observed rate of each bin of fixed limits; unknown for isotonic groups, whose limits may change."""
    unknown = np.full(traced.x.shape, np.nan)
    if by == "isotonic" or table.bins is None:
        return unknown, unknown
    first, last = possible_groups(table, bins, by)
    if by == "width":
        occupied = np.unique(np.searchsorted(np.arange(1, bins) / bins, table.score, side="right"))
    else:
        occupied = np.unique(equal_count_bins(table.pos + table.neg, bins))[::-1]

    def weights(column: Array) -> Bounds:
        """Minimum and maximum weight of each group."""
        certain, possible = np.zeros(bins + 1), np.zeros(bins + 1)
        np.add.at(certain, first[first == last], column[first == last])
        np.add.at(possible, first, column)
        np.subtract.at(possible, last + 1, column)
        return certain[occupied], np.cumsum(possible)[occupied]

    (pos, max_pos), (neg, max_neg) = weights(table.pos), weights(table.neg)
    return _share_bounds(pos, max_pos, neg, max_neg)


def _share_bounds(pos: Array, max_pos: Array, neg: Array, max_neg: Array) -> Bounds:
    """Bounds of the share of positives, from the minimum and maximum numbers of positives and negatives."""
    low, high = ratio(pos, pos + max_neg), ratio(max_pos, max_pos + neg)
    return np.where(pos + max_neg > 0, low, 1.0), np.where(max_pos + neg > 0, high, 0.0)


@dataclass(frozen=True)
class _MarginBounds:
    """Range of the margins in each bin, and weights of correct and wrong cases, upper limits if `is_undetermined`."""

    near: Array
    far: Array
    right: Array
    wrong: Array
    is_undetermined: Array

    def ordered(self, best: bool) -> ScoreTable:
        """Correct cases with the largest possible margins and wrong ones with the smallest, or the reverse."""
        right, wrong = (np.where(self.is_undetermined, 0, self.right), self.wrong)
        if best:
            right, wrong = self.right, np.where(self.is_undetermined, 0, self.wrong)
        ends = (self.far, self.near) if best else (self.near, self.far)
        none = np.zeros_like(right)
        counts = np.concatenate([np.stack([none, right]), np.stack([wrong, none])], axis=1)
        score, counts = merge_equal_scores(np.concatenate(ends), counts)
        occupied = counts.any(axis=0)
        return ScoreTable(score[occupied], counts[:, occupied], ("wrong", "right"), 1)


def _margins(table: ScoreTable, at: float | None) -> _MarginBounds:
    at = 0.5 if at is None else at
    assert table.bins is not None
    low, high = table.bins.low, table.bins.high
    ends = [np.abs(end - at) for end in (low, high)]
    torn = (low < at) & (at <= high)
    # Margins are compared at 12 decimals relative to the largest score.
    slack = 4e-12 * max(float(np.abs([*high[:1], *low[-1:], at]).max()), 0.0)
    near = np.where(torn, 0.0, np.minimum(*ends)) - slack
    right, wrong = np.where(low >= at, table.pos, table.neg), np.where(low >= at, table.neg, table.pos)
    both = table.pos + table.neg
    right, wrong = np.where(torn, both, right), np.where(torn, both, wrong)
    return _MarginBounds(near, np.maximum(*ends) + slack, right, wrong, torn)


@certified_bounds(rejection)
def _rejection_bounds(table: ScoreTable, traced: Curve, *, at: float | None = None) -> Bounds:
    margins = _margins(table, at)
    # A row of the curve represents all bins whose lowest score has its margin, and so all their possible margins.
    own = threshold_margins(table.score, 0.5 if at is None else at)
    place = np.searchsorted(traced.threshold, own)
    least, most = np.full(traced.x.shape, np.inf), np.full(traced.x.shape, -np.inf)
    np.minimum.at(least, place, margins.near)
    np.maximum.at(most, place, margins.far)

    def above(ends: Array, column: Array, limits: Array) -> Array:
        """Sum of a column over the bins whose end is at or above each limit."""
        order = np.argsort(ends)
        total = np.concatenate([[0.0], np.cumsum(column[order])])
        return total[-1] - total[np.searchsorted(ends[order], limits)]

    certain = np.where(margins.is_undetermined, 0.0, 1.0)
    right, wrong = (above(margins.near, column * certain, most) for column in (margins.right, margins.wrong))
    max_right, max_wrong = (above(margins.far, column, least) for column in (margins.right, margins.wrong))
    return _share_bounds(right, max_right, wrong, max_wrong)


bounded_area: CurveExtension[Callable[..., tuple[float, float]]] = CurveExtension()
"""Bounds of the area under a kind of curve, from a binned table and the options of the curve."""

for _kind in (roc, pr, gain, hull, cost_curve):

    @bounded_area(_kind)
    def _area_by_order(table: ScoreTable, kind: Any = _kind, **options: Any) -> tuple[float, float]:
        """Areas for the worst and the best order inside the bins."""
        low, high = sorted(float(kind(table.ordered(best), **options).area()) for best in (False, True))
        return low, high


@bounded_area(rejection)
def _mean_error_bounds(table: ScoreTable, *, at: float | None = None) -> tuple[float, float]:
    """Mean error if wrong cases have the smallest possible margins, and if they have the largest."""
    low, high = (by_margin(_margins(table, at).ordered(best)).area() for best in (True, False))
    return low, high
