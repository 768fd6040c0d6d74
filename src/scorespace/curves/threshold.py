"""Any measure of binary decisions as a function of the threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from scorespace.curves.curve import Curve
from scorespace.tables import Array, ScoreTable


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Curve):
    """A measure at every threshold; all thresholds t with above < t ≤ threshold give the same decisions."""

    above: Array

    @property
    def columns(self) -> dict[str, Array]:
        """Columns of the points, with both ends of each interval of thresholds."""
        return {**super().columns, "above": self.above}


def sweep(table: ScoreTable, measure: Callable[..., Array], **options: Any) -> Sweep:
    """The measure at every threshold, +inf first; NaN where it is undefined.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.
    measure : callable
        A measure of decisions, such as `ppv`.
    **options
        Options of the measure.

    Returns
    -------
    Sweep
        Threshold (x) and value (y), with the next lower score of each point.

    Examples
    --------
    >>> from scorespace.measures.confusion import ppv
    >>> from scorespace.tables import score_table
    >>> curve = sweep(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]), ppv)
    >>> curve.y
    array([       nan, 1.        , 0.66666667, 0.5       ])
    >>> curve.above
    array([ 0.9,  0.4,  0.1, -inf])
    """
    values = np.asarray(measure(table.sweep, **options), dtype=np.float64)
    title = getattr(measure, "title", getattr(measure, "__name__", "value"))
    above = np.append(table.score, -np.inf)
    return Sweep("threshold", table.thresholds, values, table.thresholds, "Threshold", title, above)
