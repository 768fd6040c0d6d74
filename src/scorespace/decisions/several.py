"""Least-cost decisions between several classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scorespace.conditions import CostMatrix
from scorespace.errors import ScoreError
from scorespace.results import decimals
from scorespace.tables import Array, ConfusionTable, confusion
from scorespace.tables.labels import encode


@dataclass(frozen=True)
class LeastCost:
    """Decisions by least expected cost beside those by highest probability, with what both cost."""

    decision: Array
    costs: CostMatrix
    by_cost: ConfusionTable
    by_probability: ConfusionTable

    @property
    def total(self) -> float:
        """Total cost of the least-cost decisions."""
        return float(self.costs.total(self.by_cost.matrix))

    @property
    def total_by_probability(self) -> float:
        """Total cost of always deciding the most probable class."""
        return float(self.costs.total(self.by_probability.matrix))

    @property
    def words(self) -> str:
        cases = float(self.by_cost.total)
        saved = (self.total_by_probability - self.total) / cases * 1000
        return (
            f"Deciding by least expected cost costs {decimals(self.total / cases)} per case; deciding by the highest "
            f"probability {decimals(self.total_by_probability / cases)}: "
            f"{decimals(abs(saved), 0)} per 1 000 {'less' if saved >= 0 else 'more'}."
        )

    def __repr__(self) -> str:
        return self.words


def least_cost_decisions(truth: Any, probability: Any, costs: CostMatrix) -> LeastCost:
    """For each case the class of least expected cost, argmin_k Σ_j p_j · cost[j, k].

    The columns of `probability` follow the classes of the cost matrix.

    >>> costs = CostMatrix(("a", "b"), [[0, 5], [1, 0]])
    >>> least_cost_decisions(["a", "b"], [[0.3, 0.7], [0.1, 0.9]], costs).decision.tolist()
    ['a', 'b']
    """
    columns = np.asarray(probability, dtype=np.float64)
    if columns.ndim != 2 or columns.shape[1] != len(costs.classes):
        raise ScoreError(
            "probability needs one column for each class.",
            seen=f"shape {columns.shape} for the classes {costs.classes}",
        )
    if not np.isfinite(columns).all() or (columns < 0).any():
        raise ScoreError(
            "probabilities must be finite and not negative.", hint="least-cost decisions need probabilities"
        )
    codes, names = encode(truth)
    actual = np.array(names)[codes]
    labels = np.array(costs.classes)
    chosen = labels[costs.decide(columns)]
    likeliest = labels[columns.argmax(axis=1)]
    tables = (confusion(actual, decided, classes=costs.classes) for decided in (chosen, likeliest))
    return LeastCost(chosen, costs, *tables)
