"""Costs section: decisions under stated costs, and the ranges of costs in which each model is best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter, itemgetter
from typing import Final

from scorespace.curves import Curve
from scorespace.decisions import (
    CaseCostDecision,
    ConstrainedChoice,
    CostChoice,
    CostEstimate,
    CostRegion,
    Decision,
    MixtureChoice,
    ModelAtThreshold,
    RejectChoice,
    ShiftDecision,
)
from scorespace.decisions.out_of_sample import OUTCOMES
from scorespace.report.asymmetric_loss import shift_grids
from scorespace.report.case_costs import case_cost_blocks, case_cost_grids
from scorespace.report.chart_theme import FAINT, Spec, coloured, datum, field, mark, themed
from scorespace.report.cost_region import region_blocks, region_chart
from scorespace.report.curve_charts import curve_layers, named_rule
from scorespace.report.document import Block, Document, Grid, Picture, Text, left_out, one_section
from scorespace.report.hull_charts import hull_chart
from scorespace.report.linked_charts import curves_picture, linked
from scorespace.report.measures import value_text
from scorespace.report.protocol import EvaluationView, facts
from scorespace.results import (
    Note,
    Row,
    decimals,
    format_interval,
    format_per_thousand,
    format_whole_percent,
    grouped,
    percent,
    short,
)
from scorespace.tables import Array
from scorespace.tables.threshold import threshold_text

_PROCEDURE = "model chosen too"
"""Row of the whole procedure, which chooses the model and its threshold."""

AnyDecision = (
    Decision
    | CaseCostDecision
    | CostChoice
    | ConstrainedChoice
    | RejectChoice
    | MixtureChoice
    | ShiftDecision
    | CostRegion
)


def document(
    evaluation: EvaluationView, decision: AnyDecision, *, full: bool = True, every_note: bool = True
) -> Document:
    """Document of a decision; unless `full`, of a binary one only what answers the question."""
    name, line = evaluation.models.name, facts(evaluation.models)
    notes, more = (*decision.notes, *notes_on_input(evaluation)), ""
    short = isinstance(decision, Decision) and not full
    if not every_note:
        notes, more = left_out(notes, *(["all tables: --all"] if short else []))
    blocks = short_blocks(evaluation, decision) if isinstance(decision, Decision) and short else grids(decision)
    return one_section(name, line, "Decision", blocks, decision.words, notes, more)


def report(evaluation: EvaluationView, decision: AnyDecision) -> Document:
    """The HTML report of a decision: the chosen point as a chart where there is one, all tables, all notes."""
    whole = document(evaluation, decision)
    if isinstance(decision, CostRegion):
        alt = "Cost curves with the range of cost ratios, and the cost of each threshold as a straight line."
        chart = Picture(lambda: region_chart(evaluation.curves("cost"), decision), alt, key="decision")
    elif isinstance(decision, Decision):
        alt = "ROC curves with their convex hull, the iso-cost line and the chosen point."
        chart = Picture(lambda: hull_chart(evaluation.curves("roc"), decision.hull, [decision]), alt, key="decision")
    else:
        return whole
    (section,) = whole.sections
    return replace(whole, sections=(replace(section, blocks=(chart, *section.blocks)),))


def notes_on_input(evaluation: EvaluationView) -> tuple[Note, ...]:
    """Notes on the orientation of scores and of matrices, which affect how a decision is read."""
    return tuple(note for note in evaluation.sample_notes if note.code in ("SS097", "SS099"))


def page(name: str, facts_line: str, decision: AnyDecision, input_notes: tuple[Note, ...] = ()) -> Document:
    """Document of a decision under a given title."""
    return one_section(name, facts_line, "Decision", grids(decision), decision.words, (*decision.notes, *input_notes))


def grids(decision: AnyDecision) -> Sequence[Block]:
    """Tables of a decision."""
    match decision:
        case Decision():
            tables = [choice_grid(decision), outcome_grid(decision), product_grid(decision), region_grid(decision)]
            return [_condition(decision), *tables]
        case CaseCostDecision():
            return case_cost_grids(decision)
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
        case CostRegion():
            return region_blocks(decision)


def short_blocks(evaluation: EvaluationView, decision: Decision) -> list[Block]:
    """The costs, where the best model is best, each model at its threshold, the better constant, a confusion matrix."""
    condition = _condition(decision).text.partition("; slope")[0]
    full = choice_grid(decision)
    columns = [index for index, name in enumerate(full.columns) if name != "M" and not name.startswith("apparent at")]
    if evaluation.profile.full:  # apparent costs first
        columns.sort(key=lambda index: full.columns[index].startswith("cost/case"))
    own = {choice.model: value_text(choice.out_of_sample) for choice in decision.choices}
    repeated = (_PROCEDURE, own.get(decision.best.model))
    worse_constants = len(decision.trivial) - 1
    table = Grid(
        tuple(full.columns[index] for index in columns),
        tuple(
            tuple(row[index] for index in columns)
            for row in full.rows[: len(full.rows) - worse_constants]
            if (row[0], row[2 if len(row) > 2 else 1]) != repeated
        ),
    )
    ranges = [] if len(decision.choices) == 1 else _best_by_ratio(decision)
    return [Text(" ".join([f"{condition}.", *ranges])), table, *confusion_grid(evaluation, decision.best)]


def confusion_grid(evaluation: EvaluationView, choice: ModelAtThreshold) -> list[Block]:
    """The confusion matrix at a threshold, with counts and shares; none for a rule without a model."""
    if choice.model not in evaluation.models or evaluation.models.positive is None:
        return []
    positive = str(evaluation.models.positive)
    negative = next((name for name in evaluation.models.classes if name != positive), f"not {positive}")
    counts = [[float(getattr(choice.counts, name)) for name in row] for row in (("tp", "fn"), ("fp", "tn"))]
    rows = tuple(
        (name, *(f"{grouped(count)} ({format_whole_percent(count / sum(row))})" for count in row))
        for name, row in zip((positive, negative), counts, strict=True)
        if sum(row)
    )
    at = "" if math.isnan(choice.threshold) else f" at {threshold_text(choice.threshold)}"
    return [Grid((f"{choice.model}{at}", *evaluation.profile.outcomes(positive, negative)), rows)]


def _best_by_ratio(decision: Decision) -> list[str]:
    """The range of cost ratios around the stated one in which the same model is best, in a sentence."""
    ranges = [
        f"{model} has the lowest apparent cost for a cost ratio FN : FP of "
        f"{_ratio(decision.cost_ratio(high))} to {_ratio(decision.cost_ratio(low))}."
        for model, low, high in decision.model_ranges()
        if low <= decision.slope <= high
    ]
    return ranges[:1]


def choice_grid(decision: Decision) -> Grid:
    """Each model at its threshold of minimum cost, cheapest first, then the rules without a model.

    Columns: cross-fitted cost, apparent cost, and the cost at the closed-form threshold, which is optimal for
    calibrated scores.
    """
    closed_form_column = f"apparent at {threshold_text(decision.closed)}"
    columns = (
        "at minimum cost",
        "threshold",
        _with_population("cost/case", decision),
        _apparent(decision),
        closed_form_column,
        "M",
    )
    rows = [
        (
            choice.model,
            "" if math.isnan(choice.threshold) else _threshold_cell(choice),
            decimals(choice.cost_per_case)
            if math.isnan(choice.out_of_sample.value)
            else value_text(choice.out_of_sample),
            "" if math.isnan(choice.threshold) and decision.fitted is None else decimals(choice.cost_per_case),
            "" if math.isnan(choice.calibrated_cost) else decimals(choice.calibrated_cost),
            decimals(choice.relative_cost),
        )
        for choice in _by_cost(decision)
    ]
    if len(decision.choices) > 1 and not math.isnan(decision.out_of_sample.value) and decision.fitted is None:
        rows.insert(len(decision.choices), (_PROCEDURE, "", value_text(decision.out_of_sample), "", "", ""))
    return Grid(columns, tuple(rows)).without_blanks()


def _threshold_cell(choice: ModelAtThreshold) -> str:
    """The chosen threshold with its confidence interval."""
    interval_limits = choice.threshold_interval
    if all(threshold.is_integer() for threshold in (choice.threshold, *interval_limits)):  # points of a scorecard
        return f"{threshold_text(choice.threshold)} [{', '.join(map(threshold_text, interval_limits))}]"
    _, bracket, interval = format_interval(
        *(getattr(threshold, "shown", threshold) for threshold in (choice.threshold, *interval_limits))
    ).partition(" [")
    return f"{threshold_text(choice.threshold)}{bracket}{interval}"


def outcome_grid(decision: Decision) -> Grid:
    """Cross-fitted outcomes per 1 000 cases at the stated prevalence."""
    stated = decision.condition.prevalence
    heading = _with_population(
        "per 1 000 cases" if stated is None else f"per 1 000, {100 * stated:.3g} % positive", decision
    )
    outcomes_by_model = [(choice.model, decision.per_thousand(choice)) for choice in _by_cost(decision)]
    rows = [(name, *map(format_per_thousand, outcomes.values())) for name, outcomes in outcomes_by_model]
    return Grid((heading, *_OUTCOME_NAMES), tuple(rows))


def product_grid(decision: Decision) -> Grid:
    """Cross-fitted cost per 1 000 cases by outcome."""
    costs = {name: getattr(decision.condition, name) for name in OUTCOMES}
    rows = []
    for choice in _by_cost(decision):
        cells = {name: costs[name] * count for name, count in decision.per_thousand(choice).items()}
        displayed = (_price(cells[name]) if costs[name] else "" for name in OUTCOMES)
        rows.append((choice.model, *displayed, _price(sum(cells.values()))))
    columns = (_with_population("cost per 1 000", decision), *_OUTCOME_NAMES, "total")
    return Grid(columns, tuple(rows)).without_blanks()


def _price(cost: float) -> str:
    """A sum of costs: integer from 100 on, otherwise three significant digits."""
    return grouped(round(cost)) if abs(cost) >= 100 else short(cost + 0.0)


def region_grid(decision: Decision) -> Grid:
    """Range of cost ratios in which each model is best."""
    rows = [
        (
            model,
            f"{_ratio(decision.cost_ratio(high))} to {_ratio(decision.cost_ratio(low))}",
            f"{_ratio(high)} to {_ratio(low)}",
        )
        for model, low, high in decision.model_ranges()
    ]
    for model in decision.dominated:
        never_text = "never" if model in decision.never else "never in this sample"
        rows.append((model, never_text, never_text))
    return Grid(("best model", "cost ratio FN : FP", "slope"), tuple(rows))


def _ratio(value: float) -> str:
    return grouped(round(value)) if 1000 <= value < math.inf else short(value)


def _by_cost(decision: Decision) -> list[ModelAtThreshold]:
    apparent_cost, cross_fitted_cost = attrgetter("cost_per_case"), attrgetter("out_of_sample.value")
    return [*sorted(decision.choices, key=apparent_cost), *sorted(decision.trivial, key=cross_fitted_cost)]


def _condition(decision: Decision) -> Text:
    condition = decision.condition
    stated_costs = [f"a false positive costs {_cost(condition.fp)}", f"a false negative {_cost(condition.fn)}"]
    stated_costs += [f"a true positive {condition.tp:g}"] if condition.tp else []
    stated_costs += [f"a true negative {condition.tn:g}"] if condition.tn else []
    share = condition.share(decision.prevalence)
    sample_name = "the data" if decision.fitted is None else decision.fitted
    prevalence_source = "in use" if condition.prevalence is not None else f"as in {sample_name}"
    text = f"{', '.join(stated_costs)}; {100 * share:.3g} % positives {prevalence_source}; slope {decision.slope:.4g}. "
    text += (
        f"The threshold for probabilities calibrated at the {100 * decision.prevalence:.3g} % positives of "
        f"{sample_name} is {threshold_text(decision.closed)}"
    )
    if condition.prevalence is not None:
        text += f", at the {100 * share:.3g} % in use {condition.calibrated_threshold:.4g}"
    return Text(f"{text[0].upper()}{text[1:]}. M = FNR + slope · FPR, {_apparent(decision)}.")


def _cost(cost: float) -> str:
    """A cost as stated; one derived from a slope with four digits."""
    return f"{cost:.4g}" if len(f"{cost:g}".partition(".")[2]) > 4 else f"{cost:g}"


def _apparent(decision: Decision | ConstrainedChoice) -> str:
    """Heading of apparent values, on the cases used to choose the thresholds."""
    return "apparent" if decision.fitted is None else f"apparent, on {decision.fitted}"


def _with_population(label: str, decision: Decision | ConstrainedChoice) -> str:
    """A heading with the population of its values: external, cross-fitted, or neither."""
    if decision.fitted is not None:
        return f"{label}, external"
    candidates = decision.choices if isinstance(decision, Decision) else decision.candidates
    has_fixed_rank = isinstance(decision, ConstrainedChoice) and decision.objective.at is not None
    return (
        label
        if has_fixed_rank or all(math.isnan(candidate.threshold) for candidate in candidates)
        else f"{label}, cross-fitted"
    )


def _totals_grid(choice: CostChoice) -> Grid:
    ordered = sorted(choice.models, key=lambda name: choice.per_case[name])
    rows = [(name, _spent(choice, name, choice.per_case[name]), grouped(choice.totals[name])) for name in ordered]
    rows += [(f"always {name}", decimals(cost), "") for name, cost in sorted(choice.trivial.items(), key=itemgetter(1))]
    return Grid(("model", "cost/case", "total cost"), tuple(rows))


def _spent(choice: CostChoice | RejectChoice, model: str, cost: float) -> str:
    """Cost of a model, with its interval if it is known."""
    estimate = choice.spent.get(model, CostEstimate())
    return format_interval(cost, estimate.low, estimate.high)


def _product_grid(choice: CostChoice) -> Grid:
    """Cost of the cheapest multiclass model, by actual and predicted class."""
    table = choice.models[choice.best]
    cells = choice.costs.aligned(table.classes).matrix * table.matrix
    rows = tuple((name, *map(grouped, row), grouped(row.sum())) for name, row in zip(table.classes, cells, strict=True))
    headings = (f"predicted {name}" for name in table.classes)
    return Grid((f"cost of {choice.best}, rows: actual class", *headings, "total"), rows)


def _candidate_grid(choice: ConstrainedChoice) -> Grid:
    """Objective and constraints of each model at its threshold, cross-fitted and apparent."""
    specs = (choice.objective, *choice.constraints)
    columns = (column for spec in specs for column in (_with_population(str(spec), choice), _apparent(choice)))
    rows = []
    for candidate in choice.candidates:
        value_pairs = zip(
            (candidate.out_of_sample, *candidate.held), (candidate.value, *candidate.reached), strict=True
        )
        has_no_choice = math.isnan(candidate.threshold) or choice.objective.at is not None
        cells = [
            cell
            for cross_fitted, value in value_pairs
            for cell in _cross_fitted_cells(cross_fitted, value, has_no_choice)
        ]
        threshold = "" if math.isnan(candidate.threshold) else threshold_text(candidate.threshold)
        is_satisfied = ("yes" if candidate.kept else "no") if choice.constraints else ""
        rows.append((candidate.model, threshold, *cells, is_satisfied))
    return Grid(("model", "threshold", *columns, "satisfied"), tuple(rows)).without_blanks()


def _cross_fitted_cells(cross_fitted: CostEstimate, value: float, has_no_choice: bool) -> tuple[str, str]:
    if math.isnan(cross_fitted.value):
        return decimals(value), ""
    return value_text(cross_fitted), "" if has_no_choice else decimals(value)


def _rejection_grid(choice: RejectChoice) -> Grid:
    rows = [
        (
            name,
            percent(rule.rejected),
            decimals(rule.accuracy),
            _spent(
                choice,
                name,
                rule.cost if rule.out_of_sample is None or math.isnan(rule.out_of_sample) else rule.out_of_sample,
            ),
        )
        for name, rule in sorted(choice.rules.items(), key=lambda pair: pair[1].cost)
    ]
    rows += [
        (
            name,
            percent(alternative.rejected),
            "" if math.isnan(alternative.accuracy) else decimals(alternative.accuracy),
            value_text(alternative.cost),
        )
        for name, alternative in sorted(choice.alternatives.items(), key=lambda pair: pair[1].cost.value)
    ]
    has_threshold = any(rule.lead is not None for rule in choice.rules.values())
    return Grid(
        ("rule", "rejected", "accuracy of accepted", "cost/case" + ", cross-fitted" * has_threshold), tuple(rows)
    )


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


_POSITION: Final[Spec] = {"x": "x:Q", "y": "y:Q"}
_OUTCOME_NAMES: Final = ("true positives", "false positives", "false negatives", "true negatives")


def cost_chart(curves: Mapping[str, Curve], decision: Decision, *, chosen: bool = True) -> Spec:
    """Cost curves, with a band that names the best model of each condition and a rule at the stated costs."""
    rows = _bands(decision)
    models = [row["name"] for row in rows if row["name"] in curves]
    is_model = {"field": "name", "oneOf": models}
    band = {
        "x": "low:Q",
        "x2": "high",
        "y": {"value": 315},  # pixels: at the bottom of the plot, above the axis
        "tooltip": [field("name:N", title="Best model"), field("slopes:N", title="Slope")],
    }
    above = [
        mark("rect", rows, {**band, "color": coloured("name", curves)}, where=is_model, opacity=0.85, height=9),
        mark("rect", rows, band, where={"not": is_model}, color=FAINT, opacity=0.6, height=9),
    ]
    if chosen:
        above += named_rule(1 / (1 + decision.slope), "these costs")
    return themed(curve_layers(curves, above=above))


def cost_space_chart(curves: Mapping[str, Curve], lines: Mapping[str, Array]) -> Spec:
    """Cost curves as lower envelopes of the cost lines of all thresholds (Drummond & Holte 2006)."""
    rows = [
        {"name": name, "line": f"{name} {index}", "x": x, "y": datum(float(y))}
        for name, line_ends in lines.items()
        for index, pair in enumerate(line_ends)
        for x, y in enumerate(pair)
    ]
    encoding = _POSITION | {"detail": "line:N", "color": coloured("name", curves)}
    below = [mark("line", rows, encoding, strokeWidth=0.7, opacity=0.25, clip=True, aria=False)]
    return themed(curve_layers(curves, below=below))


def _bands(decision: Decision) -> list[Row]:
    """Range of conditions of each model on the x axis of cost curves: x = 1 / (1 + slope)."""
    return [
        {
            "name": model,
            "low": datum(1 / (1 + high)),
            "high": datum(1 / (1 + low)),
            "slopes": f"{low:.3g} to {high:.3g}".replace("inf", "∞"),
        }
        for model, low, high in decision.model_ranges()
    ]


_PER_1000_TITLE: Final = "Outcomes and costs per 1 000 cases, by model"


def blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """Costs section, for classifiers."""
    if isinstance(evaluation.decision, CaseCostDecision):
        return case_cost_blocks(evaluation, evaluation.decision)
    if isinstance(evaluation.decision, CostChoice):
        return grids(evaluation.decision)
    if not evaluation.models.two_class or not 0 < evaluation.models.prevalence < 1:
        return []
    has_costs = isinstance(evaluation.decision, Decision)
    decision = evaluation.decision if isinstance(evaluation.decision, Decision) else evaluation.equal_cost_decision
    is_static = has_costs and evaluation.operating is None  # without a panel, the choice is drawn in the chart

    hull_caption = "The convex hull (dark) is attainable by choosing or mixing thresholds and models."
    line_caption = " The dashed line is an iso-cost line." if has_costs or evaluation.operating is not None else ""
    pictures = [
        Picture(
            linked(evaluation, "cost", lambda: cost_chart(evaluation.curves("cost"), decision, chosen=is_static)),
            "Normalised expected cost of each model over all operating conditions.",
            "Cost of each model at its best threshold, from expensive false positives (left) to expensive false "
            "negatives (right). The band shows the best model; grey: a rule without a model.",
            key="cost curve",
        ),
        Picture(
            linked(
                evaluation,
                "roc",
                lambda: hull_chart(evaluation.curves("roc"), decision.hull, [decision] if is_static else []),
            ),
            "ROC curves of all models with their common convex hull.",
            hull_caption + line_caption,
            key="hull",
        ),
    ]
    if len(evaluation.models.two_class) == 1 and evaluation.operating is not None:
        pictures.pop()  # the panel shows the only ROC curve
    scored_models = [name for name in evaluation.models.thresholded if evaluation.models[name].probabilities]
    if scored_models:
        alt = "Net benefit of each model against the threshold."
        caption = "Net benefit: TP/n − FP/n · t/(1 − t) at threshold t (Vickers & Elkin 2006)."
        pictures.append(curves_picture(evaluation, "net_benefit", alt, caption, models=scored_models))
    if not has_costs:
        return [Text(_describe_ranges(decision)), *pictures, region_grid(decision)]
    per_thousand = (outcome_grid(decision), product_grid(decision))  # the panel shows those of the best model
    tables = (replace(table, folded=_PER_1000_TITLE) if table in per_thousand else table for table in grids(decision))
    return [Text(decision.words), *pictures, *tables]


def _describe_ranges(decision: Decision) -> str:
    """Range of cost ratios in which each model is best, in a sentence."""
    ranges = [
        f"{model} for a cost ratio FN : FP of {short(decision.cost_ratio(high))} to {short(decision.cost_ratio(low))}"
        for model, low, high in decision.model_ranges()
        if model in {choice.model for choice in decision.choices}
    ]
    if not ranges:
        return "No model beats predicting the same class for all cases."
    return f"Without stated costs, the best model depends on the cost ratio: {'; '.join(ranges)}."
