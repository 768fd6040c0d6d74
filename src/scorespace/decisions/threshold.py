"""Optimal threshold of a measure, and the threshold of minimum cost for calibrated probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scorespace.costs import Condition
from scorespace.decisions.cross_fitting import argmin_price
from scorespace.errors import MeasureError
from scorespace.measures.measure import Measure
from scorespace.tables import ScoreTable
from scorespace.tables.threshold import common_threshold


@dataclass(frozen=True)
class BestThreshold:
    """The best value of a measure and its threshold; both NaN where it is undefined at every threshold."""

    threshold: float
    value: float

    def __repr__(self) -> str:
        return f"threshold {self.threshold:.6g}: {self.value:.6g}"


def best_threshold(table: ScoreTable, measure: Measure, **options: Any) -> BestThreshold:
    """Return the highest threshold at which a measure of decisions is best.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.
    measure : Measure
        A measure of decisions, such as `acc`.
    **options
        Options of the measure.

    Returns
    -------
    BestThreshold
        The threshold and the value there.

    Examples
    --------
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
    index = int(argmin_price(np.zeros_like(values), -values if measure.best == "high" else values))
    return BestThreshold(table.threshold(float(table.thresholds[index])), float(values[index]))


def closed_threshold(tables: Sequence[ScoreTable], condition: Condition, prevalence: float) -> float:
    """Threshold of minimum cost for calibrated probabilities, rounded so that no decision changes."""
    threshold = condition.threshold_for(prevalence)
    is_exact = not any(table.coarse or table.resolution for table in tables)
    scale = tables[0].scale if tables else None
    return common_threshold(threshold, (table.score for table in tables), scale) if is_exact else threshold
