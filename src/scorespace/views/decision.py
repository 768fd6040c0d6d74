"""The page of a decision: which model and threshold, what the alternatives cost, where each is best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from scorespace.decisions import Choice, ConstrainedChoice, CostChoice, Decision, MixtureChoice, RejectChoice
from scorespace.results import decimals, grouped
from scorespace.views.answers import Answers, facts
from scorespace.views.document import Block, Document, Grid, Notes, Section, Text, Verdict

AnyDecision = Decision | CostChoice | ConstrainedChoice | RejectChoice | MixtureChoice


def document(evaluation: Answers, decision: AnyDecision) -> Document:
    """The whole page of a decision."""
    blocks = [*grids(decision), Verdict(decision.words)]
    if decision.notes:
        blocks.append(Notes(decision.notes))
    return Document(
        evaluation.models.name, facts(evaluation.models), (Section("decision", "Decision", tuple(blocks), brief=True),)
    )


def grids(decision: AnyDecision) -> Sequence[Block]:
    """The tables of a decision."""
    match decision:
        case Decision():
            return [_condition(decision), choice_grid(decision), outcome_grid(decision), region_grid(decision)]
        case CostChoice():
            return [_totals_grid(decision)]
        case ConstrainedChoice():
            return [_candidate_grid(decision)]
        case RejectChoice():
            return [_rejection_grid(decision)]
        case MixtureChoice():
            return [_mixture_grid(decision)]


def choice_grid(decision: Decision) -> Grid:
    """Each model at its threshold of least cost, the cheapest first, then the rules that need no model.

    Beside it the cost at the closed-form threshold, which is the same where scores are calibrated.
    """
    closed = decision.condition.threshold_for(decision.prevalence)
    columns = ("at least cost", "threshold", "cost/case", f"cost at {closed:.3g}")
    rows = [
        (
            one.model,
            "" if math.isnan(one.threshold) else _with_interval(one.threshold, one.threshold_interval),
            _with_interval(one.cost_per_case, one.cost_interval),
            "" if math.isnan(one.calibrated_cost) else _number(one.calibrated_cost),
        )
        for one in _by_cost(decision)
    ]
    return _without_blanks(Grid(columns, tuple(rows)))


def outcome_grid(decision: Decision) -> Grid:
    """What happens to the cases at each model's threshold of least cost."""
    rows = [
        (one.model, *(grouped(float(getattr(one.counts, n))) for n in ("tp", "fp", "fn", "tn")))
        for one in _by_cost(decision)
    ]
    return Grid(("of which", "hits (TP)", "false alarms (FP)", "misses (FN)", "left alone (TN)"), tuple(rows))


def region_grid(decision: Decision) -> Grid:
    """In which range of cost ratios each model is best."""
    rows = [
        (
            model,
            f"{_number(decision.cost_ratio(high))} to {_number(decision.cost_ratio(low))}",
            f"{_number(high)} to {_number(low)}",
        )
        for model, low, high in decision.model_ranges()
    ]
    rows += [(model, "never", "never") for model in decision.dominated]
    return Grid(("best model", "when a miss costs so many false alarms", "slope"), tuple(rows))


def _by_cost(decision: Decision) -> list[Choice]:
    def price(choice: Choice) -> float:
        return choice.cost_per_case

    return [*sorted(decision.choices, key=price), *sorted(decision.trivial, key=price)]


def _without_blanks(grid: Grid) -> Grid:
    """The grid without columns that say nothing."""
    kept = [place for place in range(len(grid.columns)) if place == 0 or any(row[place] for row in grid.rows)]
    rows = tuple(tuple(row[place] for place in kept) for row in grid.rows)
    return replace(grid, columns=tuple(grid.columns[place] for place in kept), rows=rows)


def _condition(decision: Decision) -> Text:
    condition = decision.condition
    stated = [f"a false positive costs {condition.fp:g}", f"a false negative {condition.fn:g}"]
    stated += [f"a true positive {condition.tp:g}"] if condition.tp else []
    stated += [f"a true negative {condition.tn:g}"] if condition.tn else []
    share = condition.share(decision.prevalence)
    where = "in use" if condition.prevalence is not None else "as in the data"
    words = f"{', '.join(stated)}; {100 * share:.3g} % positives {where}; slope {decision.slope:.4g}. "
    words += f"Calibrated probabilities would be cut at {condition.threshold_for(decision.prevalence):.3g}."
    return Text(words[0].upper() + words[1:])


def _with_interval(value: float, interval: tuple[float, float]) -> str:
    if any(map(math.isnan, interval)):
        return _number(value)
    return f"{_number(value)} [{_number(interval[0])}, {_number(interval[1])}]"


def _totals_grid(choice: CostChoice) -> Grid:
    ordered = sorted(choice.models, key=lambda name: choice.per_case[name])
    rows = tuple((name, decimals(choice.per_case[name]), grouped(choice.totals[name])) for name in ordered)
    return Grid(("model", "cost/case", "total cost"), rows)


def _candidate_grid(choice: ConstrainedChoice) -> Grid:
    columns = ("model", "threshold", str(choice.objective), *(str(one) for one in choice.constraints), "kept")
    rows = [
        (
            one.model,
            "" if math.isnan(one.threshold) else _number(one.threshold),
            decimals(one.value),
            *(decimals(value) for value in one.reached),
            "yes" if one.kept else "no",
        )
        for one in choice.candidates
    ]
    return Grid(columns, tuple(rows))


def _rejection_grid(choice: RejectChoice) -> Grid:
    rows = [
        (name, f"{100 * rule.rejected:.1f} %", decimals(rule.accuracy), _number(rule.cost))
        for name, rule in sorted(choice.rules.items(), key=lambda pair: pair[1].cost)
    ]
    return Grid(("model", "handed over", "accuracy of the rest", "cost/case"), tuple(rows))


def _mixture_grid(choice: MixtureChoice) -> Grid:
    rows = [
        (
            row["model"],
            "" if math.isnan(row["threshold"]) else _number(row["threshold"]),
            decimals(row["probability"]),
            decimals(row["fpr"]),
            decimals(row["tpr"]),
        )
        for row in choice.rows()
    ]
    return _without_blanks(Grid(("use", "threshold", "with probability", "fpr", "tpr"), tuple(rows)))


def _number(value: float) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.3g}".replace("-", "−")
