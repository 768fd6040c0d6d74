"""The page of a decision: which model and threshold, what the alternatives cost, where each is best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import attrgetter, itemgetter

from scorespace.decisions import (
    Choice,
    ConstrainedChoice,
    CostChoice,
    Decision,
    MixtureChoice,
    RejectChoice,
    ShiftDecision,
    Value,
)
from scorespace.decisions.judged import OUTCOMES
from scorespace.results import Note, decimals, grouped, limits, per_thousand, percent, short
from scorespace.tables.threshold import threshold_text
from scorespace.views.answers import Answers, facts
from scorespace.views.document import Block, Document, Grid, Text, one_section
from scorespace.views.measures import value_text
from scorespace.views.shift import shift_grids

_PROCEDURE = "model chosen too"
"""The row of the whole procedure, which chooses the model as well as its threshold."""

AnyDecision = Decision | CostChoice | ConstrainedChoice | RejectChoice | MixtureChoice | ShiftDecision


def document(evaluation: Answers, decision: AnyDecision) -> Document:
    """The whole page of a decision."""
    return page(evaluation.models.name, facts(evaluation.models), decision, notes_on_input(evaluation))


def notes_on_input(evaluation: Answers) -> tuple[Note, ...]:
    """How the threshold of a turned score is to be read, and how matrices were read."""
    return tuple(one for one in evaluation.sample_notes if one.code in ("SS097", "SS099"))


def page(name: str, about: str, decision: AnyDecision, further: tuple[Note, ...] = ()) -> Document:
    """The same under another name, or none."""
    return one_section(name, about, "Decision", grids(decision), decision.words, (*decision.notes, *further))


def grids(decision: AnyDecision) -> Sequence[Block]:
    """The tables of a decision."""
    match decision:
        case Decision():
            tables = [choice_grid(decision), outcome_grid(decision), product_grid(decision), region_grid(decision)]
            return [_condition(decision), *tables]
        case CostChoice():
            return [_totals_grid(decision), _product_grid(decision)]
        case ConstrainedChoice():
            return [_candidate_grid(decision)]
        case RejectChoice():
            return [_rejection_grid(decision)]
        case MixtureChoice():
            return [_mixture_grid(decision)]
        case ShiftDecision():
            return shift_grids(decision)


def choice_grid(decision: Decision) -> Grid:
    """Each model at its threshold of least cost, the cheapest first, then the rules that need no model.

    First the cost on cases that did not choose the threshold, then that on those that did, and that at the
    closed-form threshold, which is the same where scores are calibrated.
    """
    at = f"apparent at {threshold_text(decision.closed)}"
    columns = ("at least cost", "threshold", _named("cost/case", decision), _apparent(decision), at, "M")
    rows = [
        (
            one.model,
            "" if math.isnan(one.threshold) else _cut(one),
            decimals(one.cost_per_case) if math.isnan(one.honest.value) else value_text(one.honest),
            "" if math.isnan(one.threshold) and decision.fitted is None else decimals(one.cost_per_case),
            "" if math.isnan(one.calibrated_cost) else decimals(one.calibrated_cost),
            decimals(one.relative_cost),
        )
        for one in _by_cost(decision)
    ]
    if len(decision.choices) > 1 and not math.isnan(decision.honest.value) and decision.fitted is None:
        rows.insert(len(decision.choices), (_PROCEDURE, "", value_text(decision.honest), "", "", ""))
    return Grid(columns, tuple(rows)).without_blanks()


def _cut(choice: Choice) -> str:
    """The threshold as it is told everywhere, and behind it the interval of such thresholds."""
    ends = choice.threshold_interval
    if all(one.is_integer() for one in (choice.threshold, *ends)):  # points of a scorecard
        return f"{threshold_text(choice.threshold)} [{', '.join(map(threshold_text, ends))}]"
    _, bracket, interval = limits(*(getattr(one, "shown", one) for one in (choice.threshold, *ends))).partition(" [")
    return f"{threshold_text(choice.threshold)}{bracket}{interval}"


def outcome_grid(decision: Decision) -> Grid:
    """What happens to 1 000 cases, at the stated prevalence, that did not choose the threshold."""
    stated = decision.condition.prevalence
    which = _named("of 1 000 cases" if stated is None else f"of 1 000, {100 * stated:.3g} % positive", decision)
    shown = [(one.model, decision.per_thousand(one)) for one in _by_cost(decision)]
    rows = [(name, *map(per_thousand, outcomes.values())) for name, outcomes in shown]
    return Grid((which, "hits (TP)", "false alarms (FP)", "misses (FN)", "left alone (TN)"), tuple(rows))


def product_grid(decision: Decision) -> Grid:
    """What those outcomes cost, cell by cell: their number times the cost of each."""
    costs = {name: getattr(decision.condition, name) for name in OUTCOMES}
    rows = []
    for one in _by_cost(decision):
        cells = {name: costs[name] * number for name, number in decision.per_thousand(one).items()}
        shown = (_price(cells[name]) if costs[name] else "" for name in OUTCOMES)
        rows.append((one.model, *shown, _price(sum(cells.values()))))
    columns = (
        _named("cost of 1 000", decision),
        "hits (TP)",
        "false alarms (FP)",
        "misses (FN)",
        "left alone (TN)",
        "together",
    )
    return Grid(columns, tuple(rows)).without_blanks()


def _price(cost: float) -> str:
    """A sum of costs: whole from a hundred on, with three digits below."""
    return grouped(round(cost)) if abs(cost) >= 100 else short(cost + 0.0)


def region_grid(decision: Decision) -> Grid:
    """In which range of cost ratios each model is best."""
    rows = [
        (
            model,
            f"{_ratio(decision.cost_ratio(high))} to {_ratio(decision.cost_ratio(low))}",
            f"{_ratio(high)} to {_ratio(low)}",
        )
        for model, low, high in decision.model_ranges()
    ]
    for model in decision.dominated:
        often = "never" if model in decision.never else "never on these cases"
        rows.append((model, often, often))
    return Grid(("best model", "when a miss costs so many false alarms", "slope"), tuple(rows))


def _ratio(value: float) -> str:
    return grouped(round(value)) if 1000 <= value < math.inf else short(value)


def _by_cost(decision: Decision) -> list[Choice]:
    price, spent = attrgetter("cost_per_case"), attrgetter("honest.value")  # trivial rules: on the cases that judge
    return [*sorted(decision.choices, key=price), *sorted(decision.trivial, key=spent)]


def _condition(decision: Decision) -> Text:
    condition = decision.condition
    stated = [f"a false positive costs {_cost(condition.fp)}", f"a false negative {_cost(condition.fn)}"]
    stated += [f"a true positive {condition.tp:g}"] if condition.tp else []
    stated += [f"a true negative {condition.tn:g}"] if condition.tn else []
    share = condition.share(decision.prevalence)
    there = "the data" if decision.fitted is None else decision.fitted
    where = "in use" if condition.prevalence is not None else f"as in {there}"
    words = f"{', '.join(stated)}; {100 * share:.3g} % positives {where}; slope {decision.slope:.4g}. "
    words += (
        f"Probabilities that are calibrated for the {100 * decision.prevalence:.3g} % positives of {there} would be "
    )
    words += f"cut at {threshold_text(decision.closed)}"
    if condition.prevalence is not None:
        words += f", those for the {100 * share:.3g} % in use at {condition.calibrated_threshold:.4g}"
    return Text(f"{words[0].upper()}{words[1:]}. M = FNR + slope · FPR, {_apparent(decision)}.")


def _cost(stated: float) -> str:
    """A cost as it was stated; one that follows from a slope, to four digits."""
    return f"{stated:.4g}" if len(f"{stated:g}".partition(".")[2]) > 4 else f"{stated:g}"


def _apparent(decision: Decision | ConstrainedChoice) -> str:
    """The name of the column of numbers on the cases that chose the thresholds."""
    return "apparent" if decision.fitted is None else f"apparent, on {decision.fitted}"


def _named(what: str, decision: Decision | ConstrainedChoice) -> str:
    """What numbers are, with the name of how they were found: on other folds, or on another sample."""
    if decision.fitted is not None:
        return f"{what}, external"
    chosen = decision.choices if isinstance(decision, Decision) else decision.candidates
    ranked = isinstance(decision, ConstrainedChoice) and decision.objective.at is not None
    return what if ranked or all(math.isnan(one.threshold) for one in chosen) else f"{what}, cross-fitted"


def _totals_grid(choice: CostChoice) -> Grid:
    ordered = sorted(choice.models, key=lambda name: choice.per_case[name])
    rows = [(name, _spent(choice, name, choice.per_case[name]), grouped(choice.totals[name])) for name in ordered]
    rows += [(f"always {name}", decimals(cost), "") for name, cost in sorted(choice.trivial.items(), key=itemgetter(1))]
    return Grid(("model", "cost/case", "total cost"), tuple(rows))


def _spent(choice: CostChoice | RejectChoice, model: str, cost: float) -> str:
    """The cost of a model, with its interval where it is known."""
    found = choice.spent.get(model, Value())
    return limits(cost, found.low, found.high)


def _product_grid(choice: CostChoice) -> Grid:
    """What the decisions of the cheapest model cost, cell by cell: their number times the cost of each."""
    table = choice.models[choice.best]
    cells = choice.costs.aligned(table.classes).matrix * table.matrix
    rows = tuple((name, *map(grouped, row), grouped(row.sum())) for name, row in zip(table.classes, cells, strict=True))
    decided = (f"decided {name}" for name in table.classes)
    return Grid((f"cost of {choice.best}, rows: actual class", *decided, "together"), rows)


def _candidate_grid(choice: ConstrainedChoice) -> Grid:
    """Each model at its threshold: what is wanted and bounded, on cases that did not choose it and that did."""
    asked = (choice.objective, *choice.constraints)
    told = (column for one in asked for column in (_named(str(one), choice), _apparent(choice)))
    rows = []
    for one in choice.candidates:
        numbers = zip((one.honest, *one.held), (one.value, *one.reached), strict=True)
        unchosen = math.isnan(one.threshold) or choice.objective.at is not None
        cells = [cell for honest, value in numbers for cell in _honest_cells(honest, value, unchosen)]
        at = "" if math.isnan(one.threshold) else threshold_text(one.threshold)
        kept = ("yes" if one.kept else "no") if choice.constraints else ""
        rows.append((one.model, at, *cells, kept))
    return Grid(("model", "threshold", *told, "kept"), tuple(rows)).without_blanks()


def _honest_cells(honest: Value, value: float, unchosen: bool) -> tuple[str, str]:
    if math.isnan(honest.value):
        return decimals(value), ""
    return value_text(honest), "" if unchosen else decimals(value)


def _rejection_grid(choice: RejectChoice) -> Grid:
    rows = [
        (
            name,
            percent(rule.rejected),
            decimals(rule.accuracy),
            _spent(choice, name, rule.cost if rule.honest is None or math.isnan(rule.honest) else rule.honest),
        )
        for name, rule in sorted(choice.rules.items(), key=lambda pair: pair[1].cost)
    ]
    rows += [
        (name, percent(one.rejected), "" if math.isnan(one.accuracy) else decimals(one.accuracy), value_text(one.cost))
        for name, one in sorted(choice.alternatives.items(), key=lambda pair: pair[1].cost.value)
    ]
    chosen = any(rule.lead is not None for rule in choice.rules.values())
    return Grid(("rule", "rejected", "accuracy of the rest", "cost/case" + ", cross-fitted" * chosen), tuple(rows))


def _mixture_grid(choice: MixtureChoice) -> Grid:
    rows = [
        (
            row["model"],
            "" if math.isnan(row["threshold"]) else threshold_text(row["threshold"]),
            decimals(row["probability"]),
            decimals(row["fpr"]),
            decimals(row["tpr"]),
        )
        for row in choice.rows()
    ]
    return Grid(("use", "threshold", "with probability", "fpr", "tpr"), tuple(rows)).without_blanks()
