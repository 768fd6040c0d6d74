"""The best threshold for a measure, and that of least cost for calibrated probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scorespace.conditions import Condition
from scorespace.decisions.honest import least
from scorespace.errors import MeasureError
from scorespace.frozen import dataclass
from scorespace.measures.measure import Measure
from scorespace.tables import ScoreTable
from scorespace.tables.threshold import common_threshold


@dataclass(frozen=True)
class BestThreshold:
    """A threshold and the best value of the measure, reached there; both NaN when it is never defined."""

    threshold: float
    value: float

    def __repr__(self) -> str:
        return f"threshold {self.threshold:.6g}: {self.value:.6g}"


def best_threshold(table: ScoreTable, measure: Measure, **options: Any) -> BestThreshold:
    """The highest threshold at which a measure of decisions is best over all thresholds.

    >>> from scorespace.measures.confusion import acc
    >>> from scorespace.tables import score_table
    >>> best_threshold(score_table([1, 0, 1, 0], [0.9, 0.4, 0.5, 0.1]), acc)
    threshold 0.5: 1
    """
    if measure.best is None:
        raise MeasureError(
            f"{measure.name} has no best value: neither direction is better.",
            hint="a measure with a best end, such as f1",
        )
    values = np.asarray(measure(table.sweep, **options), dtype=np.float64)
    if np.isnan(values).all():
        return BestThreshold(float("nan"), float("nan"))
    index = int(least(np.zeros_like(values), -values if measure.best == "high" else values))
    return BestThreshold(table.threshold(float(table.thresholds[index])), float(values[index]))


def closed_threshold(tables: Sequence[ScoreTable], condition: Condition, prevalence: float) -> float:
    """The threshold of least cost for calibrated probabilities, with the digits that serve all of these models."""
    at = condition.threshold_for(prevalence)
    known = not any(table.coarse or table.resolution for table in tables)
    scale = tables[0].scale if tables else None
    return common_threshold(at, (table.score for table in tables), scale) if known else at
