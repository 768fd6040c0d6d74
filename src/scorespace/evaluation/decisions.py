"""Decisions of an evaluation's models: by cost, under constraints, with rejection, by mixtures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from scorespace.case_costs import CaseCosts
from scorespace.costs import Asymmetry, Condition, CostMatrix
from scorespace.decisions import (
    CaseCostChoice,
    CaseCostDecision,
    ConstrainedChoice,
    Constraint,
    CostChoice,
    Decision,
    MixtureChoice,
    ModelAtThreshold,
    RejectChoice,
    ShiftDecision,
    choose_by_case,
    choose_mixture,
    choose_rejection,
    choose_shift,
    choose_under,
    decide_by_case,
    decide_multiclass,
    decide_shift,
    evaluate_by_case_on,
    evaluate_choice_on,
    evaluate_on,
    evaluate_shift_on,
)
from scorespace.decisions import choose as choose_two
from scorespace.decisions import decide as decide_two
from scorespace.decisions.cost_region import CostRegion, cost_region
from scorespace.decisions.out_of_sample import CostEstimate
from scorespace.decisions.threshold_uncertainty import add_threshold_intervals
from scorespace.errors import ConditionError, ScoreSpaceError, listing
from scorespace.evaluation.default_measures import COST
from scorespace.inference.estimate import estimates
from scorespace.measures import MeasureSpec, parse
from scorespace.report import decision as view
from scorespace.report import notebook
from scorespace.report.protocol import ResultsView
from scorespace.results import notebook_html
from scorespace.tables import ResidualTable
from scorespace.tables.models import Models
from scorespace.tables.paired import PairTable

AnyDecision = Decision | CostChoice | ShiftDecision | CaseCostDecision


def _shown(decision: Any) -> str:
    """A decision as HTML for notebooks."""
    return str(notebook.html(view.page("", "", decision)))


_CHOSEN_AND_JUDGED: Final = "the sample that chooses and the evaluated one"

for kind in (
    CaseCostDecision,
    Decision,
    CostChoice,
    ShiftDecision,
    ConstrainedChoice,
    RejectChoice,
    MixtureChoice,
    CostRegion,
):
    notebook_html.register(kind, _shown)


def decide(
    sample: ResultsView,
    condition: Condition | CostMatrix | Asymmetry | CaseCosts,
    *,
    fit: ResultsView | None = None,
    level: float = 0.95,
) -> AnyDecision:
    """The model and threshold of minimum cost with its cross-fitted cost; with `fit`, that sample chooses.

    A binary cost matrix is converted to a condition. In regression, the shift of minimum loss.
    """
    models, seed = sample.models, sample.draws.seed
    if isinstance(condition, Asymmetry):
        return _decide_shift(models, condition, None if fit is None else fit.models, level, seed)
    _refuse_unparted(models, "a threshold of least cost")
    if isinstance(condition, CaseCosts):
        return _decide_by_case(models, condition, None if fit is None else fit.models, level, seed)
    condition = _of_two(models, condition)
    if isinstance(condition, Condition):
        mine = models.deciding
        if fit is None:
            chosen = decide_two(mine, condition, pairs=models.side_by_side, level=level, seed=seed)
            return add_threshold_intervals(_as_measured(chosen, sample, level), sample.draws, level=level)
        fit.models.refuse_unlike(models, fit.models, _CHOSEN_AND_JUDGED)
        chosen = add_threshold_intervals(choose_two(fit.models.deciding, condition), fit.draws, level=level)
        judged = evaluate_on(chosen, mine, fitted=_fitted(models, fit.models), pairs=models.side_by_side, level=level)
        return _as_measured(judged, sample, level)
    if fit is not None:
        raise ConditionError("multiclass costs choose no threshold.", hint="leave out fit=…")
    crisp = {name: table for name, table in models.deciding.items() if not table.thresholded}
    if not crisp:
        raise ConditionError("multiclass costs need multiclass models.", hint="decisions=… or scores of every class")
    asked = {name: MeasureSpec(COST, tuple(condition.stated(table.classes).items())) for name, table in crisp.items()}
    return decide_multiclass(crisp, condition, _measured(asked, sample, level))


def _decide_by_case(
    models: Models, condition: CaseCosts, fit: Models | None, level: float, seed: int
) -> CaseCostDecision:
    """The decision under costs that differ from case to case."""

    def held(sample: Models) -> tuple[dict[str, Any], PairTable | None]:
        tables = {name: table for name, table in sample.deciding.items() if getattr(table, "costs", None) is not None}
        if not tables:
            raise ConditionError(
                "these data hold no costs of cases.",
                seen=condition.describe(),
                hint="evaluate(…, condition=CaseCosts(fp=5, fn=COLUMN)), or --cost-fn COL --cost-fp 5",
            )
        pairs = sample.pairs or sample.order
        return tables, None if pairs is None or pairs.costs is None or pairs.times is not None else pairs.only(*tables)

    mine, pairs = held(models)
    if fit is None:
        return decide_by_case(mine, condition, pairs=pairs, level=level, seed=seed)
    models.refuse_unlike(fit, mine, _CHOSEN_AND_JUDGED)
    theirs, cases = held(fit)
    chosen = choose_by_case(theirs, condition, cases)
    return evaluate_by_case_on(chosen, mine, fitted=_fitted(models, fit), pairs=pairs, level=level)


def _measured(asked: Mapping[str, MeasureSpec], sample: ResultsView, level: float) -> dict[str, CostEstimate]:
    """A measure of each model with its interval, as in the table of measures."""
    specs = {name: [spec] for name, spec in asked.items()}
    found = estimates(specs, sample.draws, level=level, method=sample.interval, strict=False)
    return {one.model: CostEstimate(one.value, one.low, one.high, one.reason) for one in found}


def _as_measured(decision: Decision, sample: ResultsView, level: float) -> Decision:
    """The decision, with costs at fixed thresholds taken from the table of measures, so that intervals agree."""
    spec = MeasureSpec(COST, tuple(decision.condition.stated().items()))
    fixed = {
        one.model: replace(spec, at=None if math.isnan(one.threshold) else float(one.threshold))
        for one in decision.choices
        if math.isnan(one.threshold) or decision.fitted is not None
    }
    found = _measured(fixed, sample, level)
    choices = tuple(replace(one, out_of_sample=found.get(one.model, one.out_of_sample)) for one in decision.choices)
    same = next(
        (one.model for one in decision.choices if one.out_of_sample_counts is decision.out_of_sample_counts), None
    )
    return replace(decision, choices=choices, out_of_sample=found.get(same or "", decision.out_of_sample))


def _of_two(models: Models, condition: Condition | CostMatrix) -> Condition | CostMatrix:
    """A binary cost matrix as a condition; other costs unchanged."""
    if isinstance(condition, CostMatrix) and models.positive is not None and len(models.classes) == 2:
        return condition.aligned(tuple(models.classes)).condition(models.positive)
    return condition


def _decide_shift(models: Models, condition: Asymmetry, fit: Models | None, level: float, seed: int) -> ShiftDecision:
    try:
        tables = {name: models.inside(name, ResidualTable) for name in models}
    except ScoreSpaceError as error:
        problem = "these are costs of numeric predictions that are too low or too high."
        raise ConditionError(problem, seen=str(error).partition("\n")[0], hint="Condition(fp=1, fn=5)") from None
    if fit is None:
        return decide_shift(tables, condition, pairs=models.pairs, level=level, seed=seed)
    chosen = choose_shift({name: fit.inside(name, ResidualTable) for name in fit}, condition)
    return evaluate_shift_on(chosen, tables, fitted=_fitted(models, fit), pairs=models.pairs, level=level)


def bounds(
    at_least: Mapping[str, float], at_most: Mapping[str, float], prevalence: float | None = None
) -> list[Constraint]:
    """Constraints on measures, for a stated prevalence."""
    stated = [
        (name, bound, least) for held, least in ((at_least, True), (at_most, False)) for name, bound in held.items()
    ]
    return [Constraint(parse(name).for_prevalence(prevalence), bound, least) for name, bound, least in stated]


def choose(
    models: Models, objective: MeasureSpec, bounds: list[Constraint], *, fit: Models | None, level: float, seed: int
) -> ConstrainedChoice:
    """The model and threshold that optimise a measure under constraints on others."""
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
    return evaluate_choice_on(chosen, two_class(models), fitted=_fitted(models, fit), level=level)


def _refuse_unparted(models: Models, what: str) -> None:
    """Refuse decisions between classes for models without classes."""
    if not models.classes:
        kinds = dict.fromkeys(table.described() for table in models.values())
        raise ConditionError(
            f"{what} needs classes, and these models hold {' and '.join(kinds)}.",
            seen=listing(models),
            hint="Asymmetry(under=2, over=1), for the shift of minimum cost",
        )


def _fitted(models: Models, fit: Models) -> str:
    """Name of the sample that chose."""
    return "the other sample" if fit.name == models.name else fit.name


def reject(
    models: Models, cost: float, condition: Condition | CostMatrix | None = None, *, level: float = 0.95, seed: int = 0
) -> RejectChoice:
    """The reject option by Chow's rule; multiclass models reject by expected cost or by margin."""
    _refuse_unparted(models, "a rejection")
    condition = None if condition is None else _of_two(models, condition)
    pairs = models.side_by_side if models.two_class else models.pairs
    pairs = None if pairs is None or pairs.weight is not None or pairs.times is not None else pairs
    found = choose_rejection(models.tables, cost, condition, pairs=pairs, level=level, seed=seed)
    related = models.pairs is not None and models.pairs.group is not None
    return (
        replace(found, spent={}) if related else found
    )  # intervals of shares would be too narrow for correlated cases


def mix(models: Models, *, fpr: float | None = None, tpr: float | None = None) -> MixtureChoice:
    """The randomised mixture of two classifiers that reaches the common hull at an FPR or a TPR."""
    _refuse_unparted(models, "a mixture of classifiers")
    return choose_mixture(two_class(models), fpr=fpr, tpr=tpr)


def regret(models: Models, ratios: tuple[float, float], **settings: Any) -> CostRegion:
    """The largest regret of a threshold over a range of cost ratios."""
    _refuse_unparted(models, "a range of cost ratios")
    if not models.two_class:
        raise ConditionError(
            "cost ratios FN : FP need a positive class.",
            seen=f"decisions between {listing(models.classes)}",
            hint="state the positive class",
        )
    return cost_region(two_class(models), ratios, pairs=models.side_by_side, **settings)


def two_class(models: Models) -> dict[str, Any]:
    """The tables of the binary models."""
    deciding = models.deciding
    return {name: deciding[name] for name in models.two_class}


def threshold_of(decision: AnyDecision, model: str) -> float | None:
    """The threshold at which a decision uses a model, if it has one."""
    choices = _thresholds_of(decision)
    found = [choice.threshold for choice in choices if choice.model == model]
    return found[0] if found and not math.isnan(found[0]) else None


def _thresholds_of(decision: AnyDecision | None) -> tuple[ModelAtThreshold | CaseCostChoice, ...]:
    """The models of a decision that use a threshold of their scores."""
    if isinstance(decision, Decision):
        return decision.choices
    by_score = isinstance(decision, CaseCostDecision) and decision.condition.rule == "score"
    return decision.choices if by_score and isinstance(decision, CaseCostDecision) else ()


def condition_of(decision: AnyDecision) -> Condition | CostMatrix | CaseCosts | None:
    """The costs that a decision between classes was made under; None in regression."""
    if isinstance(decision, CostChoice):
        return decision.costs
    return None if isinstance(decision, ShiftDecision) else decision.condition


def out_of_sample_cost(decision: AnyDecision | None, model: str, at: float | None) -> CostEstimate | None:
    """The cross-fitted cost of a model at the chosen threshold; None where no threshold was chosen."""
    choices = _thresholds_of(decision)
    found = [one.out_of_sample for one in choices if one.model == model and one.threshold == at]
    return found[0] if found and not math.isnan(found[0].value) else None
