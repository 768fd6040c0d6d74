"""How sure a choice is: intervals on the threshold of least cost and on its cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scorespace.conditions import Condition
from scorespace.decisions.model import Choice, Decision, Models, costs_of, first_least
from scorespace.resampling.draw import REPLICATES, bootstrap
from scorespace.results import Progress
from scorespace.tables import Array, Counts, ScoreTable


def with_intervals(
    decision: Decision,
    models: Models,
    *,
    level: float = 0.95,
    seed: int = 0,
    replicates: int = REPLICATES,
    progress: Progress | None = None,
) -> Decision:
    """The decision with bootstrap intervals on each model's threshold and cost.

    The threshold is chosen anew in every replicate; the cost is that of the threshold chosen on the
    whole sample. Left undefined where the weights are not whole numbers.
    """
    done = []
    for number, choice in enumerate(decision.choices, start=1):
        done.append(_bounded(choice, models, decision.condition, level, seed, replicates))
        if progress is not None:
            progress(number / len(decision.choices))
    return replace(decision, choices=tuple(done))


def _bounded(choice: Choice, models: Models, condition: Condition, level: float, seed: int, replicates: int) -> Choice:
    table = models[choice.model]
    if not table.counted:
        return choice
    tails = [(1 - level) / 2, (1 + level) / 2]

    def cost_again(counts: Counts) -> Array:
        return costs_of(counts, condition)

    costs = bootstrap(cost_again, choice.counts, replicates=replicates, seed=seed)
    choice = replace(choice, cost_interval=_limits(costs, tails))
    if not isinstance(table, ScoreTable):
        return choice
    thresholds = table.thresholds

    def threshold_again(drawn: ScoreTable) -> Array:
        return thresholds[first_least(costs_of(drawn.sweep, condition))]

    again = bootstrap(threshold_again, table, replicates=replicates, seed=seed)
    return replace(choice, threshold_interval=_limits(again, tails))


def _limits(values: Array, tails: list[float]) -> tuple[float, float]:
    # Quantiles that are observed values: a threshold of +inf must not be mixed with a finite one.
    low, high = np.quantile(values, tails, method="inverted_cdf")
    return float(low), float(high)
