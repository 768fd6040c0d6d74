"""The mean of the classes' curves: one ROC or precision-recall curve for K classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from scorespace.curves.curve import UNIT, Addition, Curve, CurveKind
from scorespace.curves.pr import PrCurve, pr
from scorespace.curves.roc import RocCurve, roc, value_at
from scorespace.tables import Array, ratio

_STEP = 0.01
"""How far apart in recall the points of an averaged PR curve are at most: between points it bends."""


mean: Addition[Callable[[Iterable[Any]], Curve]] = Addition()
"""The mean of the curves of the classes, by kind."""


@mean(roc)
def average_roc(curves: Iterable[RocCurve]) -> Curve:
    """The mean TPR of the curves at every FPR; its area is the mean of their areas.

    Exact, because the mean of straight pieces is straight between the points of all curves. Curves without
    positives or negatives are left out. No single threshold reaches a point of it.

    >>> from scorespace.curves import roc
    >>> from scorespace.tables import score_table
    >>> two = [roc(score_table([1, 0, 1, 0], score)) for score in ([4, 3, 2, 1], [4, 1, 3, 2])]
    >>> average_roc(two).area(), [curve.area() for curve in two]
    (0.875, [0.75, 1.0])
    """
    defined = [curve.simplified() for curve in curves if _defined(curve)]
    at = np.unique(np.concatenate([UNIT, *(curve.x for curve in defined)]))
    # Rates closer together than rounding could fall back by that much.
    return _averaged(roc, at, [_ends(curve.x, curve.y, at) for curve in defined], np.maximum.accumulate)


@mean(pr)
def average_pr(curves: Iterable[PrCurve]) -> Curve:
    """The mean precision of the curves at every recall, along their bends; classes without cases are left out.

    >>> from scorespace.curves import pr
    >>> from scorespace.tables import score_table
    >>> two = [pr(score_table([1, 0, 1, 0], score)) for score in ([4, 3, 2, 1], [4, 1, 3, 2])]
    >>> average_pr(two).y[-2:]  # on reaching all positives, and with every case an alarm
    array([0.83333333, 0.5       ])
    """
    defined = [curve for curve in curves if _defined(curve)]
    at = np.unique(np.concatenate([np.linspace(0, 1, round(1 / _STEP) + 1), *(curve.x for curve in defined)]))
    return _averaged(pr, at, [_precisions(curve, at) for curve in defined])


def _defined(curve: RocCurve | PrCurve) -> bool:
    """Whether the class and its rest both have cases."""
    return bool(curve.table.n_pos > 0 and curve.table.n_neg > 0)


def _ends(x: Array, y: Array, at: Array) -> tuple[Array, Array]:
    """The lowest and the highest y of a rising curve at each x: they differ where it rises straight up."""
    return 1 - value_at(1 - x[::-1], 1 - y[::-1], 1 - at), value_at(x, y, at)


def _precisions(curve: PrCurve, at: Array) -> tuple[Array, Array]:
    """The precision on reaching each recall and on leaving it, after the false alarms that find nothing."""
    counts = curve.counts
    found, alarms = counts.tp / counts.p[-1], counts.fp / counts.n[-1]
    hits = at * counts.p[-1]
    reached, left = (ratio(hits, hits + rate * counts.n[-1]) for rate in _ends(found, alarms, at))
    start = at <= 0  # no hits there: the limit of the first segment
    first = curve.y[np.searchsorted(curve.x, 0.0, side="right") - 1]
    return np.where(start, first, reached), np.where(start, first, left)


def _averaged(
    kind: CurveKind[Any], at: Array, ends: Sequence[tuple[Array, Array]], tidied: Callable[[Array], Array] = np.asarray
) -> Curve:
    """The mean of the curves, which reach each x and leave it at two heights, without points that repeat the last."""
    if not ends:
        nothing = np.full(2, np.nan)
        return kind.drawn(np.array(UNIT), nothing, nothing)
    x, y = np.repeat(at, 2), tidied(np.stack(np.mean(ends, axis=0), axis=-1).ravel())
    new = np.concatenate([[True], (np.diff(x) != 0) | (np.diff(y) != 0)])
    return kind.drawn(x[new], y[new], np.full(int(new.sum()), np.nan))
