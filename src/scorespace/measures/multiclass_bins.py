"""Multiclass probability measures of binned scores: sums over the classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from scorespace.measures.decomposition import cal, ref, unc
from scorespace.measures.measure import Measure
from scorespace.measures.probability import Base, Eps, brier, logloss, surprise
from scorespace.tables import Array, ClassBins, ScoreTable, ratio

SUMMED_OVER_CLASSES: Final = (brier, cal, ref, unc)
"""Measures whose multiclass value is the sum of the one-vs-rest values."""


def parts_of(measure: Measure, table: ClassBins) -> list[tuple[float, ScoreTable]]:
    """Tables, with weights, over which a measure is summed to give its multiclass value."""
    if measure is logloss:  # the log loss of a case depends on the score of its own class only
        shares = ratio(table.class_totals, table.total)
        return [(float(share), table.own(k)) for k, share in enumerate(shares) if share > 0]
    return [(1.0, part) for part in table.each(ScoreTable)]


def _sum_over_classes(measure: Measure) -> Callable[..., Array]:
    def summed(t: ClassBins, **options: Any) -> Array:
        resolved = [(weight, measure.fit(part)) for weight, part in parts_of(measure, t)]
        return np.asarray(sum(weight * part.function(part.table, **options) for weight, part in resolved))

    return summed


for _measure in SUMMED_OVER_CLASSES:
    _measure.functions[ClassBins] = _sum_over_classes(_measure)
    _measure.ranges[ClassBins] = (0, 1) if _measure in (ref, unc) else (0, 2)


@logloss.on
def _logloss(t: ClassBins, *, base: Base = None, eps: Eps = 0.0) -> Array:
    """Mean negative log probability of the actual class: −Σ log p_y / n."""
    return _sum_over_classes(logloss)(t, base=base, eps=eps)


def _log_losses(score: Array, *, base: Base = None, eps: Eps = 0.0) -> tuple[Array, Array]:
    loss = surprise(score, eps) / (1 if base is None else abs(np.log(base)))
    return loss, np.zeros_like(loss)  # its tables hold no cases of other classes


_LOSSES: Final[Mapping[str, Callable[..., tuple[Array, Array]]]] = {
    brier.name: lambda score: ((1 - score) ** 2, score**2),
    logloss.name: _log_losses,
}
"""Losses at a score of a case of the class and of a case of another class, for measures that are mean losses."""

for _measure in (brier, logloss):
    _measure.intervals[ClassBins] = "loss-variance"


def has_losses(measure: Measure) -> bool:
    """Whether the measure, for binned multiclass scores, is a mean of losses of the cases."""
    return measure.name in _LOSSES


def loss_error(measure: Measure, table: ClassBins, **options: Any) -> tuple[float, bool]:
    """Standard error of the mean loss, and whether it is exact or an upper bound.

    If each case contributes to one part only, as for the log loss, all losses are known; otherwise the parts may be
    correlated, and the standard deviation of a sum is at most the sum of the standard deviations.
    """
    means, squares = np.array([_moments(measure, part, options) for _, part in parts_of(measure, table)]).T
    weights = np.array([weight for weight, _ in parts_of(measure, table)])
    root = np.sqrt(float(table.total))
    if measure is logloss:
        return float(np.sqrt(max(weights @ squares - (weights @ means) ** 2, 0)) / root), True
    return float(np.sqrt(np.maximum(squares - means**2, 0)).sum() / root), False


def _moments(measure: Measure, table: ScoreTable, options: dict[str, Any]) -> tuple[float, float]:
    """Mean loss and mean squared loss, with each case at the mean score of its bin."""
    score = table.score if table.bins is None else ratio(table.bins.first.sum(axis=0), table.counts.sum(axis=0))
    losses = _LOSSES[measure.name](np.asarray(score), **options)
    used = [(cases[cases > 0], loss[cases > 0]) for cases, loss in zip((table.pos, table.neg), losses, strict=True)]
    first, second = (sum(float(cases @ loss**power) for cases, loss in used) for power in (1, 2))
    return first / float(table.total), second / float(table.total)
