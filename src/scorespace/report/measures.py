"""Tables of measures: one row per model, or one row per measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, isnan
from typing import Final

from scorespace import decisions
from scorespace.comparisons.result import Comparison
from scorespace.decisions import CaseCostDecision, CostEstimate, Decision
from scorespace.errors import DataError
from scorespace.inference.estimate import Estimate, Estimates
from scorespace.measures import MeasureSpec
from scorespace.report.chart_theme import INK, Spec, coloured, datum, field, layered, mark, themed
from scorespace.report.comparison import difference_text
from scorespace.report.document import Block, Dot, Grid, Text
from scorespace.report.protocol import EvaluationView
from scorespace.results import Row, decimals, format_interval
from scorespace.tables import At, TopCases
from scorespace.tables.threshold import FirstDocuments, Threshold, threshold_text

COST: Final = "cost/case"
CROSS_FITTED_COST: Final = "cost, cross-fitted"
APPARENT_COST: Final = "cost, apparent"
"""Costs at a chosen threshold: on cases not used to choose it, and on the same cases; `COST` without a choice."""
BY_CHANCE: Final = "– by chance"
"""Row below a calibration error: its expected value for perfectly calibrated scores."""

_LEADING_MEASURES: Final = ("auc", "auc[hand_till]", "brier", "tpr", "ppv", "acc", "mcc", "f1[macro]")
_MAX_COLUMNS: Final = 4


def model_grid(evaluation: EvaluationView) -> Grid:
    """One row per model, the best first, with the first requested or the leading measures."""
    estimates = [(str(_in_column(estimate.spec)), estimate) for estimate in evaluation.shown]
    displayed = _displayed(evaluation, estimates)
    specs = {name: estimate.spec for name, estimate in reversed(estimates)}
    decision = binary_decision(evaluation)
    costs = {choice.model: choice.out_of_sample for choice in decision.choices} if decision else {}
    rows, dots = {}, {}
    for model in evaluation.models:
        own = {name: estimate for name, estimate in estimates if estimate.model == model}
        points = (own[name].spec for name in displayed if name in own)
        thresholds = {spec.at for spec in points if spec.at is not None and _in_column(spec).at is None}
        cells = (_cell(own[name]) if name in own else "" for name in displayed)
        cost = value_text(costs[model]) if model in costs and costs[model].known else ""
        rows[model] = (model, *cells, cost, _threshold(thresholds.pop()) if len(thresholds) == 1 else "")
        dots[model] = (*(_dot(own.get(name)) for name in displayed), _dot(costs.get(model)), None)
    short = _short_names(evaluation)
    labels = [short.get(name) or evaluation.profile.label(specs[name]) for name in displayed]
    heads = tuple(f"{label} {specs[name].arrow}".strip() for label, name in zip(labels, displayed, strict=True))
    hints = tuple(
        (head, f"{name}: {specs[name].measure.title}. {specs[name].measure.summary}")
        for head, name in zip(heads, displayed, strict=True)
    )
    order = _best_first(evaluation, estimates, costs)
    columns = ("model", *heads, f"{CROSS_FITTED_COST} ↓", "threshold")
    ordered = tuple(rows[model] for model in order), _caption(evaluation), hints
    grid = Grid(columns, *ordered, dots=tuple(dots[model] for model in order), selects=True)
    return grid.without_blanks()


def _in_column(spec: MeasureSpec) -> MeasureSpec:
    """The measure of a column: without its threshold, but with a number of documents, which is part of its name."""
    return spec if isinstance(spec.at, FirstDocuments) else replace(spec, at=None)


def _displayed(evaluation: EvaluationView, estimates: Sequence[tuple[str, Estimate]]) -> list[str]:
    """Names of the measures of the table of models; by default those that need no threshold, if there are any."""
    names = list(dict.fromkeys(name for name, _ in estimates))
    if evaluation.requested:
        # First the measure of the verdict, then the leading ones.
        leading = [*names[:1], *(name for name in _LEADING_MEASURES if name in names[1:])]
        names = leading if len(names) > _MAX_COLUMNS and len(leading) > 1 else names
    else:
        free = {name for name, one in estimates if _in_column(one.spec) == one.spec and one.spec.name != "cost"}
        names = [name for name in names if name in free] or names
    return names[:_MAX_COLUMNS]


def _best_first(
    evaluation: EvaluationView, estimates: Sequence[tuple[str, Estimate]], costs: Mapping[str, CostEstimate]
) -> list[str]:
    """Models by their cross-fitted cost, or by the first measure with a direction."""
    keys = {model: known.value for model, known in costs.items() if known.known}
    if not keys:
        first = next((name for name, one in estimates if one.spec.best in ("high", "low")), None)
        found = [one for name, one in estimates if name == first]
        keys = {one.model: one.value if one.spec.best == "low" else -one.value for one in found}
    names = list(evaluation.models)
    ordered = sorted(names, key=lambda name: inf if isnan(keys.get(name, inf)) else keys.get(name, inf))
    leader = evaluation.leader if costs else None
    return ordered if leader is None else [leader, *(name for name in ordered if name != leader)]


def _dot(one: Estimate | CostEstimate | None) -> Dot | None:
    """Value and limits for the axis of a column."""
    return None if one is None or isnan(one.value) else (one.value, one.low, one.high)


def measure_blocks(evaluation: EvaluationView, estimates: Estimates | None = None) -> Sequence[Block]:
    """The displayed or given measures with differences between models, and the reasons for missing differences."""
    names, separate = _short_names(evaluation), not evaluation.requested
    grid = measure_grid(list(estimates or evaluation.shown), list(evaluation.models), names, separate=separate)
    decision = binary_decision(evaluation)
    if decision is not None:
        grid = with_cross_fitted_costs(grid, decision)
    if evaluation.differences:
        grid = with_differences(grid, evaluation.differences)
    missing = missing_differences(evaluation.differences, [str(estimate.spec) for estimate in evaluation.shown])
    return [replace(grid, caption=_caption(evaluation)), *([Text(missing)] if missing else [])]


def binary_decision(evaluation: EvaluationView) -> Decision | CaseCostDecision | None:
    """The binary decision under the costs of the evaluation, if there is one."""
    decision = evaluation.decision
    return decision if isinstance(decision, decisions.Decision | decisions.CaseCostDecision) else None


def measure_grid(
    estimates: Sequence[Estimate],
    models: Sequence[str],
    short_names: Mapping[str, str] | None = None,
    *,
    separate: bool = False,
) -> Grid:
    """Measures as rows and models as columns; `short_names` replaces row names.

    A threshold common to all models is part of the row name; otherwise, or if `separate`, a row lists the thresholds.
    """
    rows: list[tuple[str, ...]] = []
    hints: list[tuple[str, str]] = []
    shown_thresholds: tuple[str, ...] = ()
    by_row: dict[str, dict[str, Estimate]] = {}
    keys = [_separate_key(one.spec) for one in estimates] if separate else _row_keys(estimates)
    for key, estimate in zip(keys, estimates, strict=True):
        by_row.setdefault(key, {})[estimate.model] = estimate
    for key, estimates_of_row in by_row.items():
        spec = next(iter(estimates_of_row.values())).spec
        thresholds_at = (estimates_of_row[model].spec.at if model in estimates_of_row else None for model in models)
        thresholds = tuple("" if threshold is None else _threshold(threshold) for threshold in thresholds_at)
        if spec.at is not None and not key.endswith("@") and thresholds != shown_thresholds:
            is_chosen = all(
                isinstance(threshold, Threshold) and threshold.chosen
                for threshold in (estimate.spec.at for estimate in estimates_of_row.values())
            )
            rows.append(("chosen threshold" if is_chosen else "threshold", *thresholds))
            hints += (
                [("chosen threshold", "Chosen on the same cases, so values at it are apparent.")] if is_chosen else []
            )
            shown_thresholds = thresholds
        plain_name = str(replace(spec, at=None))
        suffix = key.rstrip("@").removeprefix(plain_name)
        name = f"{(short_names or {}).get(plain_name, plain_name)}{suffix} {spec.arrow}"
        rows.append((name, *(_cell(estimates_of_row[model]) if model in estimates_of_row else "" for model in models)))
        canonical_name = "" if spec.asked is None else f"{spec.name}: "
        hints.append((name, f"{canonical_name}{spec.measure.title}. {spec.measure.summary}"))
        chance = {
            model: decimals(estimate.chance)
            for model, estimate in estimates_of_row.items()
            if not isnan(estimate.chance)
        }
        if chance:
            rows.append((BY_CHANCE, *(chance.get(model, "") for model in models)))
            hints.append((BY_CHANCE, "Expected value for perfectly calibrated scores; the interval is of the excess."))
    return Grid(("", *models), tuple(rows), hints=tuple(hints))


def with_cross_fitted_costs(grid: Grid, decision: Decision | CaseCostDecision) -> Grid:
    """The grid with a row of cross-fitted costs above the apparent costs."""
    cost_rows = [index for index, row in enumerate(grid.rows) if row[0].startswith(APPARENT_COST)]
    by_model = {choice.model: choice.out_of_sample for choice in decision.choices}
    available = [by_model[name] for name in grid.columns[1:] if name in by_model and by_model[name].known]
    if not cost_rows or not available:
        return grid
    if all(isnan(choice.threshold) for choice in decision.choices):  # no threshold was chosen
        row = grid.rows[cost_rows[0]]
        new_name = f"{COST}{row[0].removeprefix(APPARENT_COST)}"
        rows = [*grid.rows[: cost_rows[0]], (new_name, *row[1:]), *grid.rows[cost_rows[0] + 1 :]]
        return replace(grid, rows=tuple(rows), hints=tuple((new_name if a == row[0] else a, b) for a, b in grid.hints))
    cells = [value_text(by_model[name]) if name in by_model else "" for name in grid.columns[1:]]
    rows = list(grid.rows)
    rows.insert(cost_rows[0], (f"{CROSS_FITTED_COST} ↓", *cells))
    hint = "Cost of the threshold rule on cases not used to choose the threshold (repeated cross-fitting)."
    return replace(grid, rows=tuple(rows), hints=(*grid.hints, (f"{CROSS_FITTED_COST} ↓", hint)))


def with_differences(grid: Grid, differences: Mapping[str, Comparison]) -> Grid:
    """The grid with a last column for the difference between the two models, which a narrow terminal leaves out."""
    first = next(iter(differences.values()))
    by_row = {name.rsplit(" ", 1)[0]: name for name, *_ in grid.rows}
    texts = {spec: difference_text(comparison) for spec, comparison in differences.items()}
    rows_of = {spec: by_row.get(spec) or by_row.get(spec.rpartition("@")[0]) for spec in texts}
    cells = {row: texts[spec] for spec, row in rows_of.items() if row is not None}
    rows = tuple((*row, cells.get(row[0], "")) for row in grid.rows)
    heading = f"{first.a} − {first.b}{', ' if first.averaged else ''}{first.averaged}"
    return replace(grid, columns=(*grid.columns, heading), rows=rows, optional=1)


def missing_differences(differences: Mapping[str, Comparison], displayed: Sequence[str] = ()) -> str:
    """Which differences are missing and why, one sentence per reason."""
    reasons: dict[str, list[str]] = {}
    for name, comparison in differences.items():
        if isnan(comparison.difference):
            reason = (comparison.reason or "it is undefined for one of the models").removeprefix("undefined: ")
            reasons.setdefault(reason, []).append(name)
    sentences = [f"No difference of {', '.join(names)}: {reason}." for reason, names in reasons.items()]
    if differences and len(differences) < sum(n_models > 1 for n_models in Counter(displayed).values()):
        sentences.append("For large samples only the first difference is computed; others: compare --measure NAME.")
    return " ".join(sentences)


def _separate_key(spec: MeasureSpec) -> str:
    """The row of a measure whose threshold has a row of its own; a number of documents is part of the name."""
    return f"{spec}@" if isinstance(spec.at, FirstDocuments) else str(replace(spec, at=None))


def _row_keys(estimates: Sequence[Estimate]) -> list[str]:
    """The row of each estimate; it ends in @ if the threshold is part of the name."""
    specs = [replace(estimate.spec, at=None) for estimate in estimates]
    points: dict[MeasureSpec, dict[str, set[At | None]]] = {}
    for estimate, spec in zip(estimates, specs, strict=True):
        points.setdefault(spec, {}).setdefault(estimate.model, set()).add(estimate.spec.at)
    return [_row_key(estimate, str(spec), points[spec]) for estimate, spec in zip(estimates, specs, strict=True)]


def _row_key(estimate: Estimate, name: str, points: Mapping[str, set[At | None]]) -> str:
    threshold = estimate.spec.at
    if threshold is None:
        return str(estimate.spec)
    is_shared = len(set(map(frozenset, points.values()))) == 1
    is_short = isinstance(threshold, TopCases) or len(f"{threshold!r}") <= 5  # fits in a row name
    return (
        f"{estimate.spec}@" if is_shared and (len(points) > 1 or len(points[estimate.model]) > 1 or is_short) else name
    )


def _cell(estimate: Estimate) -> str:
    """Value and interval, or the reason why the value is undefined."""
    return (
        f"{estimate.text} {estimate.reason.removeprefix('undefined: ')}"
        if isnan(estimate.value) and estimate.reason
        else estimate.text
    )


def _threshold(threshold: At) -> str:
    """A threshold, or a number of top-ranked cases."""
    return str(threshold) if isinstance(threshold, TopCases) else threshold_text(threshold)


def value_text(value: CostEstimate) -> str:
    """A cost with its interval, if it has one."""
    return format_interval(value.value, value.low, value.high)


def _caption(evaluation: EvaluationView) -> str:
    text = f"Value and {100 * evaluation.level:g} % confidence interval; ↑ higher is better, ↓ lower is better."
    if any(estimate.certified is not None for estimate in evaluation.summary):
        text += " ± is the certified error bound of binning the scores, not sampling error."
    return text


def _short_names(evaluation: EvaluationView) -> dict[str, str]:
    """Short row names of the cost under the condition of the evaluation."""
    decision = evaluation.decision
    if decision is None or isinstance(decision, decisions.ShiftDecision):
        return {}
    condition, name = (
        (decision.costs, COST) if isinstance(decision, decisions.CostChoice) else (decision.condition, APPARENT_COST)
    )
    cost_names = (
        str(replace(estimate.spec, at=None))
        for estimate in evaluation.summary
        if estimate.spec.name == "cost"
        and dict(estimate.spec.options) == condition.stated(evaluation.models[estimate.model].class_names)
    )
    return dict.fromkeys(cost_names, name)


def measures_chart(by_measure: Sequence[Sequence[Estimate]]) -> Spec:
    """Panels of measures, one below the other, each with its own scale."""
    if not by_measure or not all(by_measure):
        raise DataError("there is no estimate to draw.", hint="at least one defined measure")
    panels = [_panel(estimates) for estimates in by_measure]
    description = "; ".join(str(panel["description"]).rstrip(".") for panel in panels)
    independent = {"scale": {"x": "independent", "y": "independent"}}
    return themed({"vconcat": panels, "resolve": independent, "description": f"{description}."})


def _panel(estimates: Sequence[Estimate]) -> Spec:
    """One measure: a point with its confidence interval for every model."""
    title = _describe(estimates[0].spec)
    tooltip = [field("model:N", title="Model"), field("text:N", title=title)]
    if any(estimate.reason for estimate in estimates):
        tooltip.append(field("reason:N", title="Reason"))
    two_lines = {"labelExpr": r"split(datum.value, '\n')", "labelLimit": 170, "labelOffset": -8}
    encoding = {
        "y": field("label:N", sort=None, title=None, axis={**two_lines, "labelColor": INK, "ticks": False}),
        "color": coloured("model", dict.fromkeys(estimate.model for estimate in estimates), legend=False),
        "tooltip": tooltip,
    }
    axis_title = f"{title} ({100 * estimates[0].level:g} % confidence interval)"
    value = field("value:Q", title=axis_title, axis={"tickCount": 6}, scale={"zero": False, "padding": 12})
    layers = [
        mark("rule", None, {**encoding, "x": "low:Q", "x2": "high"}, strokeWidth=2.4),
        mark("point", None, {**encoding, "x": value}, filled=True, size=110, opacity=1),
    ]
    values = "; ".join(f"{estimate.model} {estimate.text}" for estimate in estimates)
    data = {"values": list(map(_row, estimates))}
    return layered(layers, 420, {"step": 48}, data=data, description=f"{title}: {values}.")


def _row(estimate: Estimate) -> Row:
    return {
        "model": estimate.model,
        # Two lines per label: the name, and the value with its interval.
        "label": f"{' '.join(estimate.model.split())}\n{estimate.text}",
        "text": estimate.text,
        "reason": estimate.reason or "",
        "value": datum(estimate.value),
        "low": datum(estimate.low),
        "high": datum(estimate.high),
    }


def _describe(spec: MeasureSpec) -> str:
    """Title of the measure with its class and threshold."""
    of_class = "" if spec.of is None else f" of {spec.of}"
    at = ""
    if spec.at is not None:
        at = f" at {spec.at}" if isinstance(spec.at, TopCases) else f" at threshold {threshold_text(spec.at)}"
    return f"{spec.measure.title}{of_class}{at}"
