"""`scorespace curve`: write a curve as data or as a chart."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any, Literal

import numpy as np
import typer

from scorespace import io
from scorespace.case_costs import CaseCosts
from scorespace.cli import options, output
from scorespace.cli.cases import learn_midpoints
from scorespace.cli.common_options import CHART_AS_DRAWN, OF_VALUES, CostOptions, DataOptions, FigureOptions
from scorespace.cli.options import COSTS, flag, number
from scorespace.cli.verbs import VerbCommand, verb
from scorespace.costs import Condition
from scorespace.curves.case_cost import case_cost
from scorespace.curves.curve import CURVES, Curve, CurveKind
from scorespace.curves.tabular import TabularCurve
from scorespace.curves.threshold import Sweep
from scorespace.decisions import Decision
from scorespace.errors import CurveError, DataError, listing
from scorespace.evaluation.curves import CurveFamily, family, kinds, named_bands, requested
from scorespace.evaluation.evaluation import Evaluation
from scorespace.inference.bands import BANDS, SIMULTANEOUS, Band
from scorespace.inference.bands import band as bands
from scorespace.io.derived_scores import parse_scale, rescale
from scorespace.measures.threshold_curves import space
from scorespace.options import format_call
from scorespace.registry import Call
from scorespace.report.document import Grid
from scorespace.report.plots import PICTURES, ChartKind
from scorespace.results import SCHEMA, Row, decimals, grouped, join_words, to_json_types
from scorespace.tables.threshold import Scale, common_threshold, round_threshold, threshold_text, to_scale_units

_WHOLE = 31  # points up to which a curve is shown whole: 30 cases
_BAND_ROWS = 11  # points of a band in the terminal
_POINTS_ON_SCREEN = 15  # points per model in the terminal table
_KIND_HELP = (
    f"{', '.join([*(kind.name for kind in kinds()), *PICTURES])}. Options go in parentheses "
    "(scorespace curves NAME lists them): 'calibration(by=count, bins=20)'."
)


class CurveCommand(VerbCommand):
    """Command that explains how to pass an option of a curve that was written as a flag."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        followed = zip(args, [*args[1:], ""], strict=False)
        args = [f"--band={SIMULTANEOUS}" if arg == "--band" and after not in BANDS else arg for arg, after in followed]
        flags = {flag for parameter in self.params for flag in parameter.opts}
        for argument, next_argument in zip(args, [*args[1:], "--"], strict=False):
            flag, _, value = argument.partition("=")
            option = flag.removeprefix("--")
            having = [kind.name for kind in kinds() if option in {declared.name for declared in kind.options}]
            if flag.startswith("--") and flag not in flags and having:
                value = value or ("true" if next_argument.startswith("--") else next_argument)
                requested_kind = _kind_argument(args)
                is_wrong_kind = requested_kind is not None and requested_kind not in having
                kind_with_option = requested_kind if requested_kind in having else having[0]
                raise CurveError(
                    f"{flag} is an option of the curve {listing(having)}."
                    + (f" {requested_kind} does not have it." if is_wrong_kind else ""),
                    hint=f'--kind "{format_call(kind_with_option, ((option, value),))}"',
                )
        return list(super().parse_args(ctx, args))


def _is_chart_only(kind: str, out: Path | None) -> bool:
    """Whether a kind is a chart without curve data, such as stacked ranks."""
    if kind in PICTURES and out is None:
        raise CurveError(f"{kind} is a chart, which needs a file.", hint=f"--out {kind}.png, or --out {kind}.csv")
    return kind in PICTURES


def _rows_of_chart(picture: ChartKind, evaluation: Evaluation) -> Row:
    """The rows that the marks of a chart show."""
    chart = picture(evaluation, {})
    return {"schema": SCHEMA, "kind": picture.name, "rows": max(chart["datasets"].values(), key=len)}


def _case_names(data_options: DataOptions, id: str) -> dict[str, dict[float, str]]:
    """Names of the cases at each score of each model."""
    source = io.read(options.filter_rows(data_options.data, data_options.where))
    if data_options.truth is None:
        raise io.truth_not_named_error(source)
    roles = io.resolve_roles(
        source,
        truth=data_options.truth,
        scores=options.split_columns(data_options.score, data_options.data),
        positive=data_options.positive,
        names=options.renames(data_options.name),
    )
    source = rescale(source, roles.scores.values(), parse_scale(data_options.scale))
    columns = io.fetch_columns(io.validate(source, roles, missing=data_options.missing), [id, *roles.scores.values()])
    names: dict[str, dict[float, str]] = {}
    for model, column in roles.scores.items():
        found = names.setdefault(model, {})
        for score, case in zip(columns[column].tolist(), columns[id].tolist(), strict=True):
            found[score] = f"{found[score]}, {case}" if score in found else str(case)
    return names


def _kind_argument(args: list[str]) -> str | None:
    """Canonical name of the kind that --kind requests."""
    words = [word.partition("=")[2] for word in args if word.startswith("--kind=")]
    words += [after for word, after in pairwise(args) if word == "--kind"]
    try:
        return requested(words[-1]).noun.name if words else None
    except CurveError:
        return None  # reported when the arguments are parsed


@verb("Evaluate models", 4, cls=CurveCommand)
def curve(
    data_options: Annotated[DataOptions, {"group", "baseline", "time", *OF_VALUES}],
    cost_options: Annotated[CostOptions, {"costs", "slope", "cost_under", "cost_over"}],
    kind: Annotated[
        str | None,
        flag(
            "KIND",
            f"Kind of curve, such as roc (default), pr or calibration. One of {_KIND_HELP}",
            autocompletion=CURVES.completed,
        ),
    ] = None,
    measure: Annotated[
        str | None,
        flag(
            "NAMES",
            "Measures of --kind threshold, separated by commas; default f1.",
            autocompletion=options.measure_names,
        ),
    ] = None,
    x: Annotated[str | None, flag("MEASURE", "Instead of --kind: measure on the x axis.", None, "--x")] = None,
    y: Annotated[str | None, flag("MEASURE", "Measure on the y axis.", None, "--y")] = None,
    slope: Annotated[
        list[float], flag("M", "Slope of an iso-cost line to draw, instead of costs; repeatable.", COSTS, parser=number)
    ] = [],
    id: Annotated[str | None, flag("COL", "Names of the cases, to label a chart of few cases.", None, "--id")] = None,
    learn_midpoint: Annotated[
        str | None, flag("DATA", "Learn the option midpoint on a validation sample with the same columns.")
    ] = None,
    band: Annotated[
        str | None,
        flag(
            "HOW",
            (
                "Confidence bands: simultaneous (for the whole curve, default) or pointwise "
                f"({', '.join(bands.functions)})."
            ),
            autocompletion=lambda incomplete: [name for name in BANDS if name.startswith(incomplete)],
        ),
    ] = None,
    axes: Annotated[
        Literal["linear", "log"], flag(None, "Axes of the chart; log: false positive rates of a ROC curve.")
    ] = "linear",
    average: Annotated[
        str | None,
        flag(
            "HOW",
            (
                "Average the curves of folds instead of pooling: vertical or threshold, with confidence bands "
                "(Fawcett 2006)."
            ),
        ),
    ] = None,
    out: Annotated[
        Path | None, flag("FILE", "Output file: .csv .json for data; .png .svg .pdf .html for the chart.")
    ] = None,
    figure: FigureOptions = CHART_AS_DRAWN,
    format: options.MaybeFormat = None,
) -> None:
    """Write a curve (ROC, precision-recall, calibration, cost, …) as data or as a chart.

    Example: scorespace curve credit.csv --truth outcome --positive bad --score naive_bayes --kind pr --out pr.png
    """
    options.check_output(out, (*options.DATA_FILES, *options.PICTURES), *data_options.files, learn_midpoint)
    figure.check(out)
    stated_kind, kind = kind, _stated_kind(kind, x, y)
    is_chart = _is_chart_only(kind, out)
    if band is not None and band not in BANDS:
        raise CurveError(f"--band {band} is unknown.", seen=listing(BANDS), hint=f"--band {SIMULTANEOUS}")
    if is_chart and (
        band is not None
        or any(
            option is not None
            for option in (
                measure,
                learn_midpoint,
                slope or None,
                cost_options.cost_fp,
                cost_options.cost_fn,
                average,
            )
        )
    ):
        raise CurveError(
            f"{kind} is a chart, to which options of curves do not apply.", hint=f"--kind {kind} --out FILE"
        )
    call = requested("roc" if is_chart else kind, **({} if measure is None else {"measure": measure}))
    if band is not None and bands.of(call.noun) is None:
        names = join_words(list(bands.functions))
        raise DataError(f"bands are available for {names} only.", hint="--kind roc --band --out roc.png")
    if band is not None and (format == "csv" or (out is not None and out.suffix.lower() == ".csv")):
        raise DataError("a band has points of its own, which do not fit the rows of a curve.", hint="--out curve.json")
    if learn_midpoint is not None:
        requested(kind, midpoint="learned")  # rejects kinds without a midpoint, and a midpoint that is also stated

    condition: Any = cost_options.condition()
    by_case = isinstance(condition, CaseCosts)
    if by_case and call.noun.name != case_cost.name:
        raise CurveError(
            f"the curve {call.noun.name} does not use costs that differ from case to case.",
            hint=f"--kind {case_cost.name}, or costs that are numbers",
        )
    evaluation = data_options.evaluate(**({"condition": condition} if by_case else {}))
    condition = None if by_case else condition
    names_of_cases = {} if id is None else _case_names(data_options, id)
    if is_chart and out is not None:
        chart = PICTURES[kind]
        draw_chart = figure.drawing(lambda: chart(evaluation, names_of_cases))
        output.save(out, draw_chart, lambda: _rows_of_chart(chart, evaluation))
        output.list_files(None, curve=out)
        return
    midpoints = (
        {} if learn_midpoint is None else learn_midpoints(data_options._replace(decision=[]).evaluate(learn_midpoint))
    )
    curve_family = family(evaluation, call, {model: {"midpoint": at} for model, at in midpoints.items()})
    if not curve_family.curves and stated_kind is None and x is None:  # no ROC curve: the first applicable kind
        applicable = (curve_kind for curve_kind in kinds() if any(map(curve_kind.fits, evaluation.models.values())))
        call = requested(next((curve_kind.name for curve_kind in applicable), kind))
        curve_family = family(evaluation, call)
    if not curve_family.curves:
        evaluation.curve(str(call), next(iter(evaluation.models)))  # raises an error with the reason
    drawn_bands: dict[str, Band] = {}
    if average is not None:
        averages = {name: evaluation.average_curve(str(call), name, how=average) for name in curve_family.tables}
        curve_family = replace(
            curve_family, curves={name: average_curve.curve for name, average_curve in averages.items()}
        )
        drawn_bands = {name: average_curve.band for name, average_curve in averages.items()}
    if slope and condition is not None:
        raise CurveError("--slope replaces the costs.", hint="--slope 2, or --cost-fp 1 --cost-fn 5")
    prevalence = evaluation.models.prevalence
    conditions = [condition] if condition is not None else [Condition.of_slope(one, prevalence) for one in slope]
    choices = [_decide(evaluation, call, one) for one in conditions]
    curve_family = replace(
        curve_family,
        curves={
            name: _on_scale(single_curve, evaluation.models.scale) for name, single_curve in curve_family.curves.items()
        },
    )

    def draw() -> Any:
        from scorespace.report.curve_charts import curve_chart

        if drawn_bands:
            return curve_chart(curve_family.curves, bands=drawn_bands)
        return curve_family.picture(limits(), choices, axes, names_of_cases)

    @cache
    def limits() -> dict[str, Band]:
        return named_bands(evaluation, call, curve_family, band or False, axes)

    def content() -> Row:
        found = {name: band_.to_dict() for name, band_ in limits().items()}
        return _content(curve_family, call, choices) | ({"bands": found} if found else {})

    output.save(out, figure.drawing(draw), content)
    output.list_files(None, curve=out)
    if out is None or format is not None:
        _print(curve_family, call, content(), format or "table", choices)
        if limits() and (format or "table") == "table":
            output.write_line("\n".join(_band_lines(limits())))


def _stated_kind(kind: str | None, x: str | None, y: str | None) -> str:
    """The requested kind: by name, or as a pair of measures."""
    if x is None and y is None:
        return "roc" if kind is None else kind
    if kind is not None:
        raise CurveError("--kind and --x with --y are alternatives.", hint="pass one of them")
    if x is None or y is None:
        missing = "--x" if x is None else "--y"
        raise CurveError(f"{missing} is missing.", hint="two measures, such as --x fpr --y err")
    return format_call(space.name, (("x", x), ("y", y)))


def _decide(evaluation: Evaluation, call: Call[CurveKind[Any]], condition: Condition) -> Decision:
    """The decision of minimum cost, whose iso-cost line is drawn; only in ROC space."""
    from scorespace.report.plots import decision_chart

    if decision_chart.of(call.noun) is None:
        raise CurveError(
            f"iso-cost lines exist in ROC space only, not with {call.noun.name}.",
            hint=f"--kind {' or '.join(decision_chart.functions)}",
        )
    decision = evaluation.decide(condition)
    if not isinstance(decision, Decision):
        raise CurveError("iso-cost lines need a binary decision.", hint="leave out the costs")
    return decision


def _content(curve_family: CurveFamily, call: Call[CurveKind[Any]], decisions: Sequence[Decision] = ()) -> Row:
    first = next(iter(curve_family.curves.values()))
    rows = []
    for name, curve in curve_family.curves.items():
        model, value = curve_family.parts.get(name, (name, ""))
        labels = {"model": model} | (
            {curve_family.by: value} if curve_family.by else {}
        )  # the option distinguishes the curves of a model
        rows += [row | labels for row in curve.rows()]
    facts = {name: curve.facts() for name, curve in curve_family.curves.items() if curve.facts()}
    return {
        "schema": SCHEMA,
        "kind": call.noun.name,
        "options": call.options,
        "x": first.x_title,
        "y": curve_family.y_title,
        "areas": curve_family.areas,
        **({"certified_areas": certified} if (certified := curve_family.certified_areas) else {}),
        "rows": rows,
        **({call.noun.name: facts} if facts else {}),
        **({"best": _best(decisions[0])} if decisions else {}),
        **({"decisions": [_best(decision) for decision in decisions]} if len(decisions) > 1 else {}),
        "notes": [note.to_dict() for name, curve in curve_family.curves.items() for note in curve.findings(name)],
    }


def _best(decision: Decision) -> Row:
    """The point of minimum cost and the slope of the iso-cost line through it."""
    best = decision.best
    x, y = (float(part) for part in (best.counts.fp / best.counts.n, best.counts.tp / best.counts.p))
    point = {"model": best.model, "threshold": best.threshold, "x": x, "y": y, "slope": decision.slope}
    return to_json_types({**point, "cost_per_case": best.cost_per_case, "relative_cost": best.relative_cost})


def _grid(curve_family: CurveFamily) -> Grid:
    """Table of the points that fit a screen; curves of one model over the same thresholds share rows."""
    first = next(iter(curve_family.curves.values()))
    curves_by_model: dict[str, dict[str, Curve]] = {}
    for name, curve in curve_family.curves.items():
        model, value = curve_family.parts.get(name, (name, first.y_title.lower()))
        curves_by_model.setdefault(model, {})[value] = curve
    if isinstance(first, TabularCurve):
        return _tabular_grid(curve_family)
    is_threshold_axis = first.x_title == "Threshold"
    is_sweep = isinstance(first, Sweep)
    columns = ["model", *(["above"] if is_sweep else []), "up to" if is_sweep else first.along]
    columns += ([] if is_threshold_axis else [first.x_title.lower()]) + list(next(iter(curves_by_model.values())))
    rows = []
    for model, curves in curves_by_model.items():
        first_curve = next(iter(curves.values()))
        for point in _places(first_curve):
            threshold_cells = (
                _ends(first_curve, point) if isinstance(first_curve, Sweep) else [_along(first_curve, point)]
            )
            x_values = [] if is_threshold_axis else [first_curve.x]
            rows.append(
                (
                    model,
                    *threshold_cells,
                    *(_cell(values, point) for values in [*x_values, *(curve.y for curve in curves.values())]),
                )
            )
    return Grid(tuple(columns), tuple(rows))


def _tabular_grid(curve_family: CurveFamily) -> Grid:
    """The columns of curves that are read as tables."""
    rows = [
        (name, *line)
        for name, curve in curve_family.curves.items()
        if isinstance(curve, TabularCurve)
        for line in zip(*curve.shown.values(), strict=True)
    ]
    first = next(iter(curve_family.curves.values()))
    assert isinstance(first, TabularCurve)
    grid = Grid(("model", *first.shown), tuple(rows))
    if len(curve_family.curves) > 1:
        return grid
    return Grid(grid.columns[1:], tuple(row[1:] for row in rows))


def _places(curve: Curve) -> Any:
    """The points that are shown: all of a small curve, otherwise those that fit a screen."""
    return curve.places(len(curve.x) if len(curve.x) <= _WHOLE else _POINTS_ON_SCREEN)


def _on_scale(curve: Curve, scale: Scale) -> Curve:
    """The curve with thresholds in the units of the rating scale."""
    if scale is None or curve.along != "threshold":
        return curve
    names = ("threshold", "above", "x") if isinstance(curve, Sweep) else ("threshold",)
    converted: dict[str, Any] = {
        name: np.array([to_scale_units(threshold, scale) for threshold in getattr(curve, name)]) for name in names
    }
    return replace(curve, **converted)


def _along(curve: Curve, point: int) -> str:
    """Threshold of a point, with enough digits to classify every case as the exact value does."""
    threshold = float(curve.threshold[point])
    if math.isnan(threshold):
        return decimals(threshold)
    return threshold_text(common_threshold(threshold, [curve.threshold[~np.isnan(curve.threshold)]]))


def _ends(curve: Sweep, point: int) -> list[str]:
    """Lower and upper threshold between which the value is constant, rounded without changing a prediction."""
    upper_text = _along(curve, point)
    lower, upper = float(curve.above[point]), float(curve.threshold[point])
    finite = curve.threshold[np.isfinite(curve.threshold)]
    if finite.size and finite.min() >= 0 and finite.max() <= 1:  # probabilities: from 0 to 1
        lower = 0.0 if lower == -math.inf and upper > 0 else lower
        upper_text = threshold_text(1.0) if upper == math.inf and lower < 1 else upper_text
    if not math.isfinite(lower):
        return [threshold_text(lower), upper_text]
    end = upper if math.isinf(upper) else float(upper_text)
    return [threshold_text(-float(threshold_text(round_threshold(-lower, -end)))), upper_text]


def _cell(values: Any, point: int) -> str:
    """A value of a curve; integers above 1 are formatted as counts."""
    finite = values[np.isfinite(values)]
    are_counts = finite.size and finite.max() > 1 and bool((finite == np.floor(finite)).all())
    return grouped(float(values[point])) if are_counts else decimals(values[point], 4)


def _band_lines(limits: dict[str, Band]) -> list[str]:
    """Each band at about ten of its points."""
    lines = []
    for model, found in limits.items():
        scope = "simultaneous" if found.simultaneous else "pointwise"
        lines.append(
            f"\n{100 * found.level:g} % {scope} band of {model}" + (f": {found.reason}" if found.reason else "")
        )
        places = np.unique(np.linspace(0, found.x.size - 1, _BAND_ROWS).astype(int)) if found.method else ()
        for k in places:
            y, low, high = (decimals(float(values[k]), 4) for values in (found.y, found.low, found.high))
            lines.append(f"{found.x[k]:>8.3f}  {y:>8} [{low}, {high}]")
    return lines


def _print(
    curve_family: CurveFamily,
    call: Call[CurveKind[Any]],
    content: Row,
    form: options.Format,
    decisions: Sequence[Decision] = (),
) -> None:
    output.write_grid(_grid(curve_family), content, form)
    if form != "table":
        return
    if curve_family.areas:
        output.write_line("\n" + _values_line("area", curve_family.areas))
        for model, (low, high) in curve_family.certified_areas.items():
            output.write_line(f"certified  {model} ±{(high - low) / 2:.1g}, for any order of the cases within bins")
        companions = {name: curve.beside_area for name, curve in curve_family.curves.items()}
        for what in dict.fromkeys(label for companion in companions.values() for label in companion):
            output.write_line(
                _values_line(
                    what, {name: companion[what] for name, companion in companions.items() if what in companion}
                )
            )
    for name, curve in curve_family.curves.items():
        if isinstance(curve, TabularCurve) and curve.words:
            text = f"{f'{name}: ' if len(curve_family.curves) > 1 else ''}{curve.words}"
            output.write_line("\n" + textwrap.fill(text, get_terminal_size().columns))
    for decision in decisions:
        best = _best(decision)
        threshold = "" if best["threshold"] is None else f" at threshold {threshold_text(decision.best.threshold)}"
        point = f"({best['x']:.3g}, {best['y']:.3g}), slope {best['slope']:.3g}, M = {best['relative_cost']:.3g}"
        output.write_line(f"\nbest  {best['model']}{threshold}: {point}")
    for name, curve in curve_family.curves.items():
        for note in curve.findings(name):
            output.write_line(f"note  {note.code} {note.text}")
    curves = curve_family.curves.values()
    if any(isinstance(curve, TabularCurve) for curve in curves):
        return
    shown, points = sum(len(_places(curve)) for curve in curves), sum(curve.x.size for curve in curves)
    if shown < points:
        text = f"{shown} of {grouped(points)} points; --out FILE.csv writes all points, --out FILE.png the chart."
        typer.echo(f"\n… {text}", err=True)


def _values_line(label: str, values: dict[str, float]) -> str:
    return f"{label:<5} " + "   ".join(f"{name} {decimals(value, 4)}" for name, value in values.items())
