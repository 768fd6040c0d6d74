"""Decisions of an evaluation's models: by cost, under constraints, with rejection, by mixtures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from scorespace.conditions import Condition, CostMatrix
from scorespace.decisions import (
    ConstrainedChoice,
    Constraint,
    CostChoice,
    Decision,
    MixtureChoice,
    RejectChoice,
    choose_mixture,
    choose_rejection,
    choose_under,
    decide_several,
)
from scorespace.decisions import decide as decide_two
from scorespace.decisions.choice import with_intervals
from scorespace.errors import ConditionError, listing
from scorespace.measures import parse
from scorespace.results import Progress
from scorespace.tables.models import Models


def decide(
    models: Models, condition: Condition | CostMatrix, *, level: float, seed: int, progress: Progress | None
) -> Decision | CostChoice:
    """The model and threshold of least cost; a cost matrix of two classes is a condition too."""
    if isinstance(condition, CostMatrix) and models.positive is not None and len(models.classes) == 2:
        condition = condition.aligned(tuple(models.classes)).condition(models.positive)
    if isinstance(condition, Condition):
        chosen = decide_two(models.deciding, condition)
        return with_intervals(chosen, models.deciding, level=level, seed=seed, progress=progress)
    crisp = {name: table for name, table in models.deciding.items() if not table.thresholded}
    if not crisp:
        raise ConditionError("costs of several classes need decisions.", hint="decisions=… instead of scores=…")
    return decide_several(crisp, condition)


def choose(
    models: Models, objective: str, at_least: Mapping[str, float], at_most: Mapping[str, float]
) -> ConstrainedChoice:
    """The model and threshold best for a measure, among those that keep bounds on others."""
    if not models.two_class:
        raise ConditionError(
            "a choice by a measure needs a positive class.",
            seen=f"decisions between {listing(models.classes)}",
            hint="state the positive class, or a cost matrix instead",
        )
    bounds = [Constraint(parse(name), bound) for name, bound in at_least.items()]
    bounds += [Constraint(parse(name), bound, least=False) for name, bound in at_most.items()]
    return choose_under(two_class(models), parse(objective), bounds)


def reject(models: Models, cost: float) -> RejectChoice:
    """Which cases to hand over, by Chow's rule."""
    return choose_rejection(models.deciding, cost)


def mix(models: Models, *, fpr: float | None = None, tpr: float | None = None) -> MixtureChoice:
    """The mixture of two classifiers that reaches the common hull at an FPR or a TPR."""
    return choose_mixture(two_class(models), fpr=fpr, tpr=tpr)


def two_class(models: Models) -> dict[str, Any]:
    """The tables of the models that decide between positive and negative."""
    deciding = models.deciding
    return {name: deciding[name] for name in models.two_class}


def threshold_of(decision: Decision | CostChoice, model: str) -> float | None:
    """The threshold at which a decision uses a model, if it has one."""
    found = [choice.threshold for choice in getattr(decision, "choices", ()) if choice.model == model]
    return found[0] if found and not math.isnan(found[0]) else None


def two_class_condition(decision: Decision | CostChoice) -> Condition | None:
    """The condition of a two-class decision."""
    return decision.condition if isinstance(decision, Decision) else None
