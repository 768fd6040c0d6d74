"""Model and threshold of minimum expected cost, and their cross-fitted or external cost."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from scorespace.costs import Condition
from scorespace.curves.hull import ALWAYS, NEVER, TRIVIAL, hull
from scorespace.decisions.cost_decision import Decision, ModelAtThreshold
from scorespace.decisions.cross_fitting import Criterion, CrossFit, Models, argmin_price, count_discordant, crossfit
from scorespace.decisions.out_of_sample import (
    CostEstimate,
    OutOfSampleCounts,
    check_models,
    class_labels,
    costs_of,
)
from scorespace.decisions.threshold import closed_threshold
from scorespace.errors import ConditionError, DataError
from scorespace.tables import Array, ConfusionTable, Counts, ScoreTable
from scorespace.tables.paired import PairTable


def decide(
    models: Models, condition: Condition, *, pairs: PairTable | None = None, level: float = 0.95, seed: int = 0
) -> Decision:
    """Choose the binary model and threshold of minimum cost, and estimate their cost by cross-fitting.

    `pairs`: the row of each case in the tables, so that models are compared and cross-fitted case by case.

    >>> from scorespace.tables import score_table
    >>> nb = score_table([1, 0, 1, 0] * 90, [0.9, 0.4, 0.3, 0.1] * 90)
    >>> decide({"nb": nb}, Condition(fp=1, fn=5)).out_of_sample
    0.25 [0.206, 0.3]
    """
    chosen = choose(models, condition)
    crossfit_result = crossfit(
        models, least_cost(condition), pairs=pairs, stratified=condition.prevalence is not None, seed=seed
    )
    return add_out_of_sample(chosen, crossfit_result, level)


def choose(models: Models, condition: Condition) -> Decision:
    """Choose the model and threshold of minimum apparent cost, without cross-fitting."""
    tables = {name: _scores(name, table) for name, table in models.items()}
    if not tables:
        raise DataError("there is no model to decide between.", hint="name a model with scores")
    first = next(iter(tables.values()))
    if not (first.n_pos and first.n_neg):
        raise ConditionError(
            "a decision needs cases of both classes.", seen="one class only", hint="cases of the other class, too"
        )
    prevalence = float(first.n_pos / first.total)
    closed = closed_threshold([tables[name] for name in tables if models[name].thresholded], condition, prevalence)
    choices = tuple(
        _choice(name, table, condition, closed, crisp=not models[name].thresholded) for name, table in tables.items()
    )
    trivial = tuple(_trivial(name, first, condition) for name in TRIVIAL)
    joint_hull = hull(models)
    dominated = joint_hull.dominated(models)
    return Decision(condition, prevalence, choices, trivial, dominated, joint_hull, class_labels(first), closed=closed)


def add_out_of_sample(decision: Decision, crossfit_result: CrossFit, level: float = 0.95) -> Decision:
    """Add the out-of-sample results to a decision."""
    condition = decision.condition

    def evaluate(choice: ModelAtThreshold, counts: OutOfSampleCounts) -> ModelAtThreshold:
        return replace(
            choice,
            out_of_sample_counts=counts,
            out_of_sample=counts.cost(condition, level),
            gain=_gain(counts, decision, level),
        )

    return replace(
        decision,
        choices=tuple(evaluate(choice, crossfit_result.models[choice.model]) for choice in decision.choices),
        trivial=tuple(
            _evaluate_trivial(choice, crossfit_result.models.get(choice.model), condition)
            for choice in decision.trivial
        ),
        out_of_sample_counts=crossfit_result.chosen,
        out_of_sample=crossfit_result.chosen.cost(condition, level),
        gain=_gain(crossfit_result.chosen, decision, level),
        over={choice.model: crossfit_result.over(choice.model, condition, level) for choice in decision.choices},
    )


def evaluate_on(
    decision: Decision, models: Models, *, fitted: str, pairs: PairTable | None = None, level: float = 0.95
) -> Decision:
    """Evaluate a decision on another sample than the one it was made on, which `fitted` names."""
    check_models((choice.model for choice in decision.choices), models)
    tables = {choice.model: _scores(choice.model, models[choice.model]) for choice in decision.choices}
    first = next(iter(tables.values()))
    thresholds = {
        choice.model: 0.5 if math.isnan(choice.threshold) else choice.threshold for choice in decision.choices
    }
    counts = {name: OutOfSampleCounts(table.at(thresholds[name])) for name, table in tables.items()}
    counts |= {NEVER: OutOfSampleCounts(first.sweep[0]), ALWAYS: OutOfSampleCounts(first.sweep[-1])}
    best = decision.best.model
    discordant = {}
    if pairs is not None and best not in TRIVIAL:
        predictions = {
            name: pairs.decisions(pairs.index(name), threshold)[None] for name, threshold in thresholds.items()
        }
        discordant = {
            name: count_discordant(pairs.label, predictions[best], prediction)
            for name, prediction in predictions.items()
        }
    return replace(add_out_of_sample(decision, CrossFit(counts, counts[best], discordant), level), fitted=fitted)


def least_cost(condition: Condition) -> Criterion:
    """Return the criterion "cost under a condition" for choosing thresholds."""

    def price(counts: Counts) -> tuple[Array, Array]:
        costs = costs_of(counts, condition)
        return np.zeros_like(costs), costs

    return price


def _gain(counts: OutOfSampleCounts, decision: Decision, level: float) -> CostEstimate:
    """Saving against the better of the two trivial rules.

    The better rule is determined on all cases: it depends on one proportion only, and choosing it on the same cases
    favours the trivial rule, not the model. The lower limit holds against both rules.
    """
    condition = decision.condition
    gains = counts.gain(condition, always=True, level=level), counts.gain(condition, always=False, level=level)
    least_gain = min(gains, key=lambda gain: gain.value)
    return replace(least_gain, low=min(gain.low for gain in gains))


def _scores(name: str, table: ScoreTable | ConfusionTable) -> ScoreTable:
    if table.positive_name is None:
        raise ConditionError(
            f"{name} decides between {len(table.classes)} classes without a positive one.",
            hint="a cost matrix (--costs FILE.csv) for multiclass models, or state the positive class",
        )
    return table.inside(ScoreTable)


def _choice(name: str, table: ScoreTable, condition: Condition, closed: float, crisp: bool) -> ModelAtThreshold:
    index = 1 if crisp else int(argmin_price(*least_cost(condition)(table.sweep)))
    thresholds = table.thresholds
    below = thresholds[index + 1] if index + 1 < thresholds.size else -np.inf
    limits = (math.nan, math.nan) if crisp else (table.threshold(float(thresholds[index])), float(below))
    counts = table.sweep[index]
    if crisp or table.score[0] > 1 or table.score[-1] < 0:
        closed = math.nan
    closed_cost = math.nan if math.isnan(closed) else float(costs_of(table.at(closed), condition))
    cost = float(costs_of(counts, condition))
    bounds = None
    if table.coarse and not crisp:
        bounds = float(costs_of(table.ordered(best=True).sweep, condition).min()), cost
    return ModelAtThreshold(
        name, *limits, counts, cost, _relative(counts, condition), closed, closed_cost, certified=bounds
    )


def _trivial(name: str, table: ScoreTable, condition: Condition) -> ModelAtThreshold:
    counts = table.sweep[0 if name == NEVER else -1]
    cost = float(costs_of(counts, condition))
    relative, out_of_sample = (
        _relative(counts, condition),
        CostEstimate(cost),
    )  # a trivial rule is not fitted to any case
    return ModelAtThreshold(
        name,
        math.nan,
        math.nan,
        counts,
        cost,
        relative,
        out_of_sample_counts=OutOfSampleCounts(counts),
        out_of_sample=out_of_sample,
    )


def _evaluate_trivial(
    choice: ModelAtThreshold, counts: OutOfSampleCounts | None, condition: Condition
) -> ModelAtThreshold:
    """Evaluate a trivial rule on another sample; its cost depends on the prevalence only, so it has no interval."""
    if counts is None or counts.counts is None:
        return choice
    return replace(
        choice, out_of_sample_counts=counts, out_of_sample=CostEstimate(float(costs_of(counts.counts, condition)))
    )


def _relative(counts: Counts, condition: Condition) -> float:
    fpr, tpr = float(counts.fp / counts.n), float(counts.tp / counts.p)
    return float(condition.relative_cost(fpr, tpr, float(counts.p / counts.total)))
