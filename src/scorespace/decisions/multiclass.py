"""Minimum-cost decisions of multiclass models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scorespace.costs import CostMatrix
from scorespace.decisions.out_of_sample import CostEstimate
from scorespace.errors import DataError, ScoreError
from scorespace.results import Result, Row, decimals, grouped
from scorespace.tables import Array, ConfusionTable, confusion
from scorespace.tables.labels import encode_classes


@dataclass(frozen=True)
class LeastCost:
    """Decisions of minimum expected cost and of highest probability, with the cost of both."""

    decision: Array
    costs: CostMatrix
    by_cost: ConfusionTable
    by_probability: ConfusionTable

    @property
    def total(self) -> float:
        """Total cost of the minimum-cost decisions."""
        return float(self.costs.total(self.by_cost.matrix))

    @property
    def total_by_probability(self) -> float:
        """Total cost of predicting the most probable class."""
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


@dataclass(frozen=True, repr=False)
class CostChoice(Result):
    """Cost of the decisions of multiclass models, and which is cheapest.

    `spent` is the cost per case of each with its confidence interval.
    """

    costs: CostMatrix
    models: Mapping[str, ConfusionTable]
    spent: Mapping[str, CostEstimate] = field(default_factory=dict)

    @property
    def totals(self) -> dict[str, float]:
        """Total cost of each model's decisions."""
        return {
            name: float(self.costs.aligned(table.classes).total(table.matrix)) for name, table in self.models.items()
        }

    @property
    def per_case(self) -> dict[str, float]:
        """Cost per case of each model."""
        return {name: total / float(self.models[name].total) for name, total in self.totals.items()}

    @property
    def best(self) -> str:
        """The model of least cost per case."""
        return min(self.per_case, key=lambda name: self.per_case[name])

    @property
    def trivial(self) -> dict[str, float]:
        """Cost per case of predicting the same class for every case (trivial rules)."""
        table = self.models[self.best]
        aligned, actual = self.costs.aligned(table.classes), table.matrix.sum(axis=-1)
        return dict(zip(table.classes, (actual @ aligned.matrix / float(table.total)).tolist(), strict=True))

    @property
    def words(self) -> str:
        costs = self.per_case
        best = costs[self.best]
        spent = f"{decimals(best)} per case, {grouped(self.totals[self.best])} in all"
        always, least = min(self.trivial.items(), key=lambda pair: pair[1])
        if least <= best:
            recommendation = (
                f"No model beats predicting every case to be {always}, which costs {decimals(least)} per case."
            )
            return f"{recommendation} The cheapest, {self.best}, costs {spent}."
        text = f"Use {self.best}: {spent}."
        others = sorted((price, name) for name, price in costs.items() if name != self.best)
        if others:
            text += f" {others[0][1]} would cost {decimals(1000 * (others[0][0] - best), 0)} per 1 000 more."
        return text

    def rows(self) -> list[Row]:
        """One row per model with its total cost and its cost per case."""
        return [
            {
                "model": name,
                "total_cost": self.totals[name],
                "cost_per_case": self.per_case[name],
                **({"low": spent.low, "high": spent.high} if (spent := self.spent.get(name)) else {}),
            }
            for name in self.models
        ]

    def facts(self) -> Row:
        best = {"model": self.best, "threshold": None, "slope": None, "cost_per_case": self.per_case[self.best]}
        unused: Row = {"tp": None, "fp": None, "fn": None, "tn": None, "dominated": [], "regions": []}
        total = {"total_cost": self.totals[self.best], "trivial": self.trivial}
        return {**best, **total, **unused}


def decide_multiclass(
    models: Mapping[str, ConfusionTable], costs: CostMatrix, spent: Mapping[str, CostEstimate] | None = None
) -> CostChoice:
    """Compare the cost of the decisions of multiclass models; `spent` adds confidence intervals.

    >>> table = confusion([[6, 2], [1, 3]], classes=["a", "b"])
    >>> decide_multiclass({"nb": table}, CostMatrix(("b", "a"), [[0, 5], [1, 0]]))
    Use nb: 0.583 per case, 7 in all.
    """
    if not models:
        raise DataError("there is no model to decide between.", hint="name a model with scores")
    for table in models.values():  # an error for classes without costs; tables may order classes differently
        costs.aligned(table.classes)
    return CostChoice(costs.aligned(next(iter(models.values())).classes), models, spent or {})


def least_cost_decisions(truth: Any, probability: Any, costs: CostMatrix) -> LeastCost:
    """Return the class of minimum expected cost for each case, argmin_k Σ_j p_j · cost[j, k].

    Parameters
    ----------
    truth : array_like of shape (n_cases,)
        Actual class of each case.
    probability : array_like of shape (n_cases, n_classes)
        Class probabilities; the columns follow the classes of the cost matrix.
    costs : CostMatrix
        Costs of deciding each class for each actual class.

    Returns
    -------
    LeastCost
        The decisions, and their costs beside those of the most probable classes.

    References
    ----------
    Elkan, C. (2001). The foundations of cost-sensitive learning. In Proceedings of the 17th International Joint
    Conference on Artificial Intelligence, 973-978.

    Examples
    --------
    >>> costs = CostMatrix(("a", "b"), [[0, 5], [1, 0]])
    >>> least_cost_decisions(["a", "b"], [[0.3, 0.7], [0.1, 0.9]], costs).decision.tolist()
    ['a', 'b']
    """
    columns = np.asarray(probability, dtype=np.float64)
    if columns.ndim != 2 or columns.shape[1] != len(costs.classes):
        raise ScoreError(
            "probability needs one column for each class.",
            seen=f"shape {columns.shape} for the classes {costs.classes}",
            hint="an array of cases × classes, in the order of the costs",
        )
    if not np.isfinite(columns).all() or (columns < 0).any():
        raise ScoreError(
            "probabilities must be finite and not negative.", hint="least-cost decisions need probabilities"
        )
    codes, names = encode_classes(truth)
    actual = np.array(names)[codes]
    labels = np.array(costs.classes)
    chosen = labels[costs.decide(columns)]
    most_probable = labels[columns.argmax(axis=1)]
    tables = (confusion(actual, decisions, classes=costs.classes) for decisions in (chosen, most_probable))
    return LeastCost(chosen, costs, *tables)
