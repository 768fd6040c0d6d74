"""Any measure of decisions as a function of the threshold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from scorespace.curves.curve import Curve
from scorespace.tables import Array, ScoreTable


def sweep(table: ScoreTable, measure: Callable[..., Array], **options: Any) -> Curve:
    """The measure at every threshold, +inf first; NaN where it is undefined.

    >>> from scorespace.measures.confusion import ppv
    >>> from scorespace.tables import score_table
    >>> sweep(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]), ppv).y
    array([       nan, 1.        , 0.66666667, 0.5       ])
    """
    values = np.asarray(measure(table.sweep, **options), dtype=np.float64)
    title = getattr(measure, "title", getattr(measure, "__name__", "value"))
    return Curve("threshold", table.thresholds, values, table.thresholds, "Threshold", title)
