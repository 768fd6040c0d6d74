"""Any measure of decisions as a function of the threshold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from scorespace.curves.curve import Curve
from scorespace.frozen import dataclass
from scorespace.tables import Array, ScoreTable


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Curve):
    """A measure at every threshold; all thresholds above `above`, up to and including `threshold`, decide alike."""

    above: Array

    @property
    def columns(self) -> dict[str, Array]:
        """Of each interval of thresholds both its ends."""
        return {**super().columns, "above": self.above}


def sweep(table: ScoreTable, measure: Callable[..., Array], **options: Any) -> Sweep:
    """The measure at every threshold, +inf first; NaN where it is undefined.

    >>> from scorespace.measures.confusion import ppv
    >>> from scorespace.tables import score_table
    >>> found = sweep(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]), ppv)
    >>> found.y
    array([       nan, 1.        , 0.66666667, 0.5       ])
    >>> found.above
    array([ 0.9,  0.4,  0.1, -inf])
    """
    values = np.asarray(measure(table.sweep, **options), dtype=np.float64)
    title = getattr(measure, "title", getattr(measure, "__name__", "value"))
    above = np.append(table.score, -np.inf)
    return Sweep("threshold", table.thresholds, values, table.thresholds, "Threshold", title, above)
