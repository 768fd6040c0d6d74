"""Measures of probabilities on the scores of several classes that were counted in bins: sums over the classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from scorespace.measures.decomposition import cal, ref, unc
from scorespace.measures.measure import Measure
from scorespace.measures.probability import Base, Eps, brier, logloss, surprise
from scorespace.tables import Array, ClassBins, ScoreTable, ratio

ADDED: Final = (brier, cal, ref, unc)
"""What is, of several classes, the sum of each of them against the rest."""


def parts_of(measure: Measure, table: ClassBins) -> list[tuple[float, ScoreTable]]:
    """The tables whose values of a measure add up to that of all classes, with what each is multiplied by."""
    if measure is logloss:  # a case is surprised by the score of its own class alone
        shares = ratio(table.class_totals, table.total)
        return [(float(share), table.own(k)) for k, share in enumerate(shares) if share > 0]
    return [(1.0, one) for one in table.each(ScoreTable)]


def _sum(measure: Measure) -> Callable[..., Array]:
    def summed(t: ClassBins, **options: Any) -> Array:
        found = [(weight, measure.fit(one)) for weight, one in parts_of(measure, t)]
        return np.asarray(sum(weight * way.function(way.table, **options) for weight, way in found))

    return summed


for _measure in ADDED:
    _measure.functions[ClassBins] = _sum(_measure)
    _measure.ranges[ClassBins] = (0, 1) if _measure in (ref, unc) else (0, 2)


@logloss.on
def _logloss(t: ClassBins, *, base: Base = None, eps: Eps = 0.0) -> Array:
    """Mean surprise at the class that happened: −Σ log p_y / n."""
    return _sum(logloss)(t, base=base, eps=eps)


def _surprise(score: Array, *, base: Base = None, eps: Eps = 0.0) -> tuple[Array, Array]:
    loss = surprise(score, eps) / (1 if base is None else abs(np.log(base)))
    return loss, np.zeros_like(loss)  # the tables of its parts hold no other cases


_LOSSES: Final[Mapping[str, Callable[..., tuple[Array, Array]]]] = {
    brier.name: lambda score: ((1 - score) ** 2, score**2),
    logloss.name: _surprise,
}
"""What a case of a class, and one of the rest, loses at a score, where the measure is the mean of that."""

for _measure in (brier, logloss):
    _measure.intervals[ClassBins] = "loss"


def has_losses(measure: Measure) -> bool:
    """Whether the measure is, for several classes in bins, a mean of what each case loses."""
    return measure.name in _LOSSES


def loss_error(measure: Measure, table: ClassBins, **options: Any) -> tuple[float, bool]:
    """The standard error of the mean loss, and whether it is that and not only the most that it can be.

    Where each case stands in one part, as for log loss, the losses of all are known; else its parts may move together,
    and no sum spreads more than the sum of the spreads.
    """
    means, squares = np.array([_moments(measure, one, options) for _, one in parts_of(measure, table)]).T
    weights = np.array([weight for weight, _ in parts_of(measure, table)])
    root = np.sqrt(float(table.total))
    if measure is logloss:
        return float(np.sqrt(max(weights @ squares - (weights @ means) ** 2, 0)) / root), True
    return float(np.sqrt(np.maximum(squares - means**2, 0)).sum() / root), False


def _moments(measure: Measure, one: ScoreTable, options: dict[str, Any]) -> tuple[float, float]:
    """The mean of the losses and of their squares, each case at the mean score of its bin."""
    score = one.score if one.bins is None else ratio(one.bins.first.sum(axis=0), one.counts.sum(axis=0))
    losses = _LOSSES[measure.name](np.asarray(score), **options)
    held = [(cases[cases > 0], loss[cases > 0]) for cases, loss in zip((one.pos, one.neg), losses, strict=True)]
    first, second = (sum(float(cases @ loss**power) for cases, loss in held) for power in (1, 2))
    return first / float(one.total), second / float(one.total)
