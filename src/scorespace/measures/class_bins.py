"""Measures of probabilities on the scores of several classes that were counted in bins: sums over the classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from scorespace.measures.decomposition import cal, ref, unc
from scorespace.measures.measure import Measure
from scorespace.measures.probability import Base, Eps, brier, logloss
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
