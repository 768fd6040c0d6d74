"""Macro-averaged ROC and precision-recall curves of multiclass models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from scorespace.curves.curve import UNIT, Curve, CurveExtension, CurveKind
from scorespace.curves.pr import PrCurve, pr
from scorespace.curves.roc import RocCurve, roc, value_at
from scorespace.tables import Array, ratio

_RECALL_STEP = 0.01
"""Largest distance in recall between points of an averaged PR curve, which is non-linear between points."""


mean: CurveExtension[Callable[[Iterable[Any]], Curve]] = CurveExtension()
"""The macro average of one-vs-rest curves, by kind of curve."""


@mean(roc)
def average_roc(curves: Iterable[RocCurve]) -> Curve:
    """Mean TPR of the curves at every FPR; its area is the mean of their areas.

    Exact, because the mean of piecewise linear curves is linear between the points of all curves. Curves without
    positives or negatives are omitted. Its points do not correspond to single thresholds.

    >>> from scorespace.curves import roc
    >>> from scorespace.tables import score_table
    >>> two = [roc(score_table([1, 0, 1, 0], score)) for score in ([4, 3, 2, 1], [4, 1, 3, 2])]
    >>> average_roc(two).area(), [curve.area() for curve in two]
    (0.875, [0.75, 1.0])
    """
    defined = [curve.simplified() for curve in curves if _defined(curve)]
    at = np.unique(np.concatenate([UNIT, *(curve.x for curve in defined)]))
    # Rates closer together than rounding error could decrease by that much.
    return _mean_curve(roc, at, [_limits(curve.x, curve.y, at) for curve in defined], np.maximum.accumulate)


@mean(pr)
def average_pr(curves: Iterable[PrCurve]) -> Curve:
    """Mean precision of the curves at every recall, with exact interpolation; classes without cases are omitted.

    >>> from scorespace.curves import pr
    >>> from scorespace.tables import score_table
    >>> two = [pr(score_table([1, 0, 1, 0], score)) for score in ([4, 3, 2, 1], [4, 1, 3, 2])]
    >>> average_pr(two).y[-2:]  # when all positives are found, and when every case is predicted positive
    array([0.83333333, 0.5       ])
    """
    defined = [curve for curve in curves if _defined(curve)]
    at = np.unique(np.concatenate([np.linspace(0, 1, round(1 / _RECALL_STEP) + 1), *(curve.x for curve in defined)]))
    return _mean_curve(pr, at, [_precisions(curve, at) for curve in defined])


def _defined(curve: RocCurve | PrCurve) -> bool:
    """Whether there are both positive and negative cases."""
    return bool(curve.table.n_pos > 0 and curve.table.n_neg > 0)


def _limits(x: Array, y: Array, at: Array) -> tuple[Array, Array]:
    """Lowest and highest y of an increasing curve at each x; they differ at vertical segments."""
    return 1 - value_at(1 - x[::-1], 1 - y[::-1], 1 - at), value_at(x, y, at)


def _precisions(curve: PrCurve, at: Array) -> tuple[Array, Array]:
    """Precision at each recall before and after the false positives that do not change the recall."""
    counts = curve.counts
    tpr, fpr = counts.tp / counts.p[-1], counts.fp / counts.n[-1]
    tp = at * counts.p[-1]
    before, after = (ratio(tp, tp + rate * counts.n[-1]) for rate in _limits(tpr, fpr, at))
    start = at <= 0  # without true positives: the limit of the first segment
    first = curve.y[np.searchsorted(curve.x, 0.0, side="right") - 1]
    return np.where(start, first, before), np.where(start, first, after)


def _mean_curve(
    kind: CurveKind[Any], at: Array, ends: Sequence[tuple[Array, Array]], clean: Callable[[Array], Array] = np.asarray
) -> Curve:
    """Mean of the curves, with two heights at each x (before and after a vertical step), without repeated points."""
    if not ends:
        undefined = np.full(2, np.nan)
        return kind.drawn(np.array(UNIT), undefined, undefined)
    x, y = np.repeat(at, 2), clean(np.stack(np.mean(ends, axis=0), axis=-1).ravel())
    new = np.concatenate([[True], (np.diff(x) != 0) | (np.diff(y) != 0)])
    return kind.drawn(x[new], y[new], np.full(int(new.sum()), np.nan))
