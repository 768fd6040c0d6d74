"""Decisions of an evaluation's models: by cost, under constraints, with rejection, by mixtures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from scorespace.conditions import Asymmetry, Condition, CostMatrix
from scorespace.decisions import (
    ConstrainedChoice,
    Constraint,
    CostChoice,
    Decision,
    MixtureChoice,
    RejectChoice,
    ShiftDecision,
    choose_mixture,
    choose_on,
    choose_rejection,
    choose_shift,
    choose_under,
    decide_several,
    decide_shift,
    judge_on,
    judge_shift_on,
)
from scorespace.decisions import choose as choose_two
from scorespace.decisions import decide as decide_two
from scorespace.decisions.choice import with_intervals
from scorespace.decisions.judged import Value
from scorespace.errors import ConditionError, ScoreSpaceError, listing
from scorespace.evaluation.shown import COST
from scorespace.later import later
from scorespace.measures import MeasureSpec, parse
from scorespace.resampling.estimate import estimates
from scorespace.results import in_notebook
from scorespace.tables import ResidualTable
from scorespace.tables.models import Models

if TYPE_CHECKING:
    from scorespace.views import decision as view
    from scorespace.views import notebook
    from scorespace.views.answers import Answers
else:  # for notebooks alone
    view, notebook = later("scorespace.views.decision"), later("scorespace.views.notebook")


def _shown(decision: Any) -> str:
    """What a notebook shows of a decision: what a terminal does."""
    return str(notebook.html(view.page("", "", decision)))


_CHOSEN_AND_JUDGED: Final = "the sample that chooses and the one that judges"

for kind in (Decision, CostChoice, ShiftDecision, ConstrainedChoice, RejectChoice, MixtureChoice):
    in_notebook.register(kind, _shown)


def decide(
    sample: Answers,
    condition: Condition | CostMatrix | Asymmetry,
    *,
    fit: Answers | None = None,
    level: float = 0.95,
) -> Decision | CostChoice | ShiftDecision:
    """The model and threshold of least cost, judged on cases that did not choose; `fit` chooses where it is given.

    A cost matrix of two classes is a condition too. Of predicted numbers, the shift of least loss.
    """
    models, seed = sample.models, sample.draws.seed
    if isinstance(condition, Asymmetry):
        return _decide_shift(models, condition, None if fit is None else fit.models, level, seed)
    _refuse_unparted(models, "a threshold of least cost")
    condition = _of_two(models, condition)
    if isinstance(condition, Condition):
        mine = models.deciding
        if fit is None:
            chosen = decide_two(mine, condition, pairs=models.side_by_side, level=level, seed=seed)
            return with_intervals(_as_measured(chosen, sample, level), sample.draws, level=level)
        fit.models.refuse_unlike(models, fit.models, _CHOSEN_AND_JUDGED)
        chosen = with_intervals(choose_two(fit.models.deciding, condition), fit.draws, level=level)
        judged = judge_on(chosen, mine, fitted=_fitted(models, fit.models), pairs=models.side_by_side, level=level)
        return _as_measured(judged, sample, level)
    if fit is not None:
        raise ConditionError("costs of several classes choose no threshold.", hint="no fit=…")
    crisp = {name: table for name, table in models.deciding.items() if not table.thresholded}
    if not crisp:
        raise ConditionError("costs of several classes need decisions.", hint="decisions=… instead of scores=…")
    asked = {name: MeasureSpec(COST, tuple(condition.stated(table.classes).items())) for name, table in crisp.items()}
    return decide_several(crisp, condition, _measured(asked, sample, level))


def _measured(asked: Mapping[str, MeasureSpec], sample: Answers, level: float) -> dict[str, Value]:
    """A measure of each model, with the interval that a table of measures shows."""
    specs = {name: [spec] for name, spec in asked.items()}
    found = estimates(specs, sample.draws, level=level, method=sample.interval, strict=False)
    return {one.model: Value(one.value, one.low, one.high, one.reason) for one in found}


def _as_measured(decision: Decision, sample: Answers, level: float) -> Decision:
    """The decision with the cost of what nothing was chosen for as its measure: one cost has one interval."""
    spec = MeasureSpec(COST, tuple(decision.condition.stated().items()))
    fixed = {
        one.model: replace(spec, at=None if math.isnan(one.threshold) else float(one.threshold))
        for one in decision.choices
        if math.isnan(one.threshold) or decision.fitted is not None
    }
    found = _measured(fixed, sample, level)
    choices = tuple(replace(one, honest=found.get(one.model, one.honest)) for one in decision.choices)
    same = next((one.model for one in decision.choices if one.judged is decision.judged), None)
    return replace(decision, choices=choices, honest=found.get(same or "", decision.honest))


def _of_two(models: Models, condition: Condition | CostMatrix) -> Condition | CostMatrix:
    """A cost matrix of two classes, one of them positive, as the condition that it is."""
    if isinstance(condition, CostMatrix) and models.positive is not None and len(models.classes) == 2:
        return condition.aligned(tuple(models.classes)).condition(models.positive)
    return condition


def _decide_shift(models: Models, condition: Asymmetry, fit: Models | None, level: float, seed: int) -> ShiftDecision:
    try:
        tables = {name: models.inside(name, ResidualTable) for name in models}
    except ScoreSpaceError as error:
        problem = "these are costs of predicting numbers too low and too high."
        raise ConditionError(problem, seen=str(error).partition("\n")[0], hint="Condition(fp=1, fn=5)") from None
    if fit is None:
        return decide_shift(tables, condition, pairs=models.pairs, level=level, seed=seed)
    chosen = choose_shift({name: fit.inside(name, ResidualTable) for name in fit}, condition)
    return judge_shift_on(chosen, tables, fitted=_fitted(models, fit), pairs=models.pairs, level=level)


def bounds(
    at_least: Mapping[str, float], at_most: Mapping[str, float], prevalence: float | None = None
) -> list[Constraint]:
    """Bounds on measures, as users state them, for a stated prevalence."""
    stated = [
        (name, bound, least) for held, least in ((at_least, True), (at_most, False)) for name, bound in held.items()
    ]
    return [Constraint(parse(name).for_prevalence(prevalence), bound, least) for name, bound, least in stated]


def choose(
    models: Models, objective: MeasureSpec, bounds: list[Constraint], *, fit: Models | None, level: float, seed: int
) -> ConstrainedChoice:
    """The model and threshold best for a measure, among those that keep bounds on others."""
    _refuse_unparted(models, "a threshold under a constraint")
    if not models.two_class:
        raise ConditionError(
            "a choice by a measure needs a positive class.",
            seen=f"decisions between {listing(models.classes)}",
            hint="state the positive class, or a cost matrix instead",
        )
    if fit is None:
        return choose_under(two_class(models), objective, bounds, pairs=models.side_by_side, level=level, seed=seed)
    fit.refuse_unlike(models, fit, _CHOSEN_AND_JUDGED)
    chosen = choose_under(two_class(fit), objective, bounds, pairs=fit.side_by_side, level=level, seed=seed)
    return choose_on(chosen, two_class(models), fitted=_fitted(models, fit), level=level)


def _refuse_unparted(models: Models, what: str) -> None:
    """Refuse what is chosen between classes where the tables tell none apart."""
    if not models.classes:
        kinds = dict.fromkeys(table.described() for table in models.values())
        raise ConditionError(
            f"{what} parts classes, and these models hold {' and '.join(kinds)}.",
            seen=listing(models),
            hint="Asymmetry(under=2, over=1), for the shift of predicted numbers that costs least",
        )


def _fitted(models: Models, fit: Models) -> str:
    """What the sample that chose is called."""
    return "the other sample" if fit.name == models.name else fit.name


def reject(
    models: Models, cost: float, condition: Condition | CostMatrix | None = None, *, level: float = 0.95, seed: int = 0
) -> RejectChoice:
    """Which cases to hand over, by Chow's rule; of several classes, by expected costs or by the lead of the best."""
    _refuse_unparted(models, "a rejection")
    condition = None if condition is None else _of_two(models, condition)
    pairs = models.side_by_side if models.two_class else models.pairs
    pairs = None if pairs is None or pairs.weight is not None or pairs.times is not None else pairs
    found = choose_rejection(models.tables, cost, condition, pairs=pairs, level=level, seed=seed)
    related = models.pairs is not None and models.pairs.group is not None
    return replace(found, spent={}) if related else found  # shares of cases that are alike are less sure


def mix(models: Models, *, fpr: float | None = None, tpr: float | None = None) -> MixtureChoice:
    """The mixture of two classifiers that reaches the common hull at an FPR or a TPR."""
    _refuse_unparted(models, "a mixture of classifiers")
    return choose_mixture(two_class(models), fpr=fpr, tpr=tpr)


def two_class(models: Models) -> dict[str, Any]:
    """The tables of the models that decide between positive and negative."""
    deciding = models.deciding
    return {name: deciding[name] for name in models.two_class}


def threshold_of(decision: Decision | CostChoice | ShiftDecision, model: str) -> float | None:
    """The threshold at which a decision uses a model, if it has one."""
    choices = decision.choices if isinstance(decision, Decision) else ()
    found = [choice.threshold for choice in choices if choice.model == model]
    return found[0] if found and not math.isnan(found[0]) else None


def condition_of(decision: Decision | CostChoice | ShiftDecision) -> Condition | CostMatrix | None:
    """The condition of classes that a decision was made under; None of predicted numbers."""
    if isinstance(decision, CostChoice):
        return decision.costs
    return decision.condition if isinstance(decision, Decision) else None


def judged(decision: Decision | CostChoice | ShiftDecision | None, model: str, at: float | None) -> Value | None:
    """What a model costs, at the threshold that these cases chose, on cases that did not; None where none was."""
    choices = decision.choices if isinstance(decision, Decision) else ()
    found = [one.honest for one in choices if one.model == model and one.threshold == at]
    return found[0] if found and not math.isnan(found[0].value) else None
