"""`scorespace curve`: a curve as data or as a picture."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from scorespace.cli import options, output
from scorespace.cli.cases import learned
from scorespace.cli.given import Given, Stakes
from scorespace.cli.options import flag, switch
from scorespace.cli.verbs import VerbCommand
from scorespace.conditions import Condition
from scorespace.curves.curve import CURVES, Curve, CurveKind
from scorespace.curves.sweep import Sweep
from scorespace.decisions import Decision
from scorespace.declaration import Call, call_text
from scorespace.errors import CurveError, DataError, listing
from scorespace.evaluation.curves import Family, family, kinds, requested
from scorespace.evaluation.evaluation import Evaluation
from scorespace.measures.sweep import space
from scorespace.resampling.band import Band
from scorespace.resampling.band import band as bands
from scorespace.results import SCHEMA, Row, decimals, grouped, joined, plain
from scorespace.tables.threshold import Scale, common_threshold, in_units, rounded_threshold, threshold_text
from scorespace.views.document import Grid

_ON_SCREEN = 15  # points per model that a terminal shows
_KIND_HELP = (
    f"{', '.join(kind.name for kind in kinds())}; options in parentheses, as scorespace curves NAME tells: "
    "'calibration(by=count, bins=20)'."
)


class Command(VerbCommand):
    """The command; where a flag is the name of an option of a curve, the error says how that is written."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        flags = {flag for parameter in self.params for flag in parameter.opts}
        for word, after in zip(args, [*args[1:], "--"], strict=False):  # without arguments there is no pair
            flag, _, value = word.partition("=")
            option = flag.removeprefix("--")
            having = [kind.name for kind in kinds() if option in {one.name for one in kind.options}]
            if flag.startswith("--") and flag not in flags and having:
                value = value or ("true" if after.startswith("--") else after)
                asked = _named_kind(args)
                none = asked is not None and asked not in having
                raise CurveError(
                    f"{flag} is an option of the curve {listing(having)}, and written with it."
                    + (f" {asked} has none." if none else ""),
                    hint=f'--kind "{call_text(asked if asked in having else having[0], ((option, value),))}"',
                )
        return list(super().parse_args(ctx, args))


def _is_picture(kind: str, out: Path | None) -> bool:
    """Whether a kind is a picture of the models and no curve, such as the stacked ranks behind U."""
    try:
        requested(kind)
    except CurveError:
        from scorespace.views.plots import PICTURES  # only for what is no curve
    else:
        return False
    if kind in PICTURES and (out is None or out.suffix.lower() not in options.PICTURES):
        raise CurveError(f"{kind} is a picture and no curve.", hint=f"--out {kind}.png")
    return kind in PICTURES


def _named_kind(args: list[str]) -> str | None:
    """The kind that --kind names, under its own name."""
    words = [word.partition("=")[2] for word in args if word.startswith("--kind=")]
    words += [after for word, after in pairwise(args) if word == "--kind"]
    try:
        return requested(words[-1]).noun.name if words else None
    except CurveError:
        return None  # told when it is parsed


def curve(
    given: Annotated[Given, {"group", "baseline", "time"}],
    stakes: Annotated[Stakes, {"cost_tp", "cost_tn", "costs", "cost_under", "cost_over"}],
    kind: Annotated[
        str | None, flag("KIND", f"roc if not stated; {_KIND_HELP}", autocompletion=CURVES.completed)
    ] = None,
    measure: Annotated[
        str | None,
        flag(
            "NAMES",
            "The measures drawn by --kind threshold, with commas; f1 unless stated.",
            autocompletion=options.measure_names,
        ),
    ] = None,
    x: Annotated[str | None, flag("MEASURE", "Instead of --kind: one measure against another.", None, "--x")] = None,
    y: Annotated[str | None, flag("MEASURE", "The other one.", None, "--y")] = None,
    learn_midpoint: Annotated[
        str | None, flag("DATA", "Learn the option midpoint on a validation sample with the same columns.")
    ] = None,
    band: Annotated[bool, switch("--band", f"Draw bands for whole curves ({', '.join(bands.functions)}).")] = False,
    average: Annotated[
        str | None,
        flag(
            "HOW",
            (
                "Of folds, instead of pooling them: vertical or threshold, for the mean of their curves at each rate "
                "or at each threshold, with bands."
            ),
        ),
    ] = None,
    out: Annotated[
        Path | None, flag("FILE", "Where to write: .csv .json for data; .png .svg .pdf .html for the picture.")
    ] = None,
    format: options.MaybeFormat = None,
) -> None:
    """Write a curve as data or as a picture, by the ending of --out.

    Example: scorespace curve credit.csv --truth outcome --positive bad --score naive_bayes --kind pr --out pr.png
    """
    options.check_output(out, (*options.DATA_FILES, *options.PICTURES), *given.files, learn_midpoint)
    stated, kind = kind, _stated_kind(kind, x, y)
    picture = _is_picture(kind, out)
    if picture and (
        band
        or any(
            one is not None for one in (measure, learn_midpoint, stakes.slope, stakes.cost_fp, stakes.cost_fn, average)
        )
    ):
        raise CurveError(
            f"{kind} is a picture, and none of its options is a curve's.", hint=f"--kind {kind} --out FILE alone"
        )
    call = requested("roc" if picture else kind, **({} if measure is None else {"measure": measure}))
    if band and (bands.of(call.noun) is None or out is None or out.suffix.lower() not in options.PICTURES):
        where = f"pictures of {joined(list(bands.functions))} curves"
        raise DataError(f"bands are drawn in {where} only.", hint="--kind roc --band --out roc.png")
    if learn_midpoint is not None:
        requested(kind, midpoint="learned")  # refuses kinds without a midpoint, and one that is stated besides

    condition: Any = stakes.condition()
    evaluation = given.evaluated()
    if picture and out is not None:
        output.save(out, lambda: evaluation.drawing(kind))
        output.wrote(None, curve=out)
        return
    middles = {} if learn_midpoint is None else learned(given._replace(decision=[]).evaluated(learn_midpoint))
    found = family(evaluation, call, {model: {"midpoint": at} for model, at in middles.items()})
    if not found.curves and stated is None and x is None:  # no ROC curves, but the first kind that a model has
        suiting = (one for one in kinds() if any(map(one.fits, evaluation.models.values())))
        call = requested(next((one.name for one in suiting), kind))
        found = family(evaluation, call)
    if not found.curves:
        evaluation.curve(str(call), next(iter(evaluation.models)))  # says why there is none
    drawn: dict[str, Band] = {}
    if average is not None:
        over = {name: evaluation.average_curve(str(call), name, how=average) for name in found.tables}
        found = replace(found, curves={name: one.curve for name, one in over.items()})
        drawn = {name: one.band for name, one in over.items()}
    if stakes.slope is not None:
        condition = Condition.of_slope(stakes.slope, evaluation.models.prevalence)
    choice = None if condition is None else _decided(evaluation, call, condition)
    found = replace(found, curves={name: _on_scale(one, evaluation.models.scale) for name, one in found.curves.items()})

    def draw() -> Any:
        from scorespace.views.charts.curves import curve_chart

        if drawn:
            return curve_chart(found.curves, bands=drawn)
        names = found.curves if band else ()
        return found.picture({name: evaluation.band(str(call), name, simultaneous=True) for name in names}, choice)

    output.save(out, draw, lambda: _content(found, call, choice))
    output.wrote(None, curve=out)
    if out is None or format is not None:
        _print(found, call, format or "table", choice)


def _stated_kind(kind: str | None, x: str | None, y: str | None) -> str:
    """The kind that was asked for: by its name, or by two measures."""
    if x is None and y is None:
        return "roc" if kind is None else kind
    if kind is not None:
        raise CurveError("--kind and --x with --y are two curves.", hint="one of them at a time")
    if x is None or y is None:
        missing = "--x" if x is None else "--y"
        raise CurveError(f"{missing} is not stated.", hint="two measures, such as --x fpr --y err")
    return call_text(space.name, (("x", x), ("y", y)))


def _decided(evaluation: Evaluation, call: Call[CurveKind[Any]], condition: Condition) -> Decision:
    """The choice of least cost, whose line of equal cost is drawn; refused outside ROC space."""
    from scorespace.views.plots import decided

    if decided.of(call.noun) is None:
        raise CurveError(
            f"lines of equal cost are drawn in ROC space, and not with {call.noun.name}.",
            hint=f"--kind {' or '.join(decided.functions)}",
        )
    found = evaluation.decide(condition)
    if not isinstance(found, Decision):
        raise CurveError("lines of equal cost need two classes.", hint="no costs")
    return found


def _content(found: Family, call: Call[CurveKind[Any]], decision: Decision | None = None) -> Row:
    first = next(iter(found.curves.values()))
    rows = []
    for name, curve in found.curves.items():
        model, value = found.parts.get(name, (name, ""))
        told = {"model": model} | ({found.by: value} if found.by else {})  # the option tells curves of a model apart
        rows += [row | told for row in curve.rows()]
    facts = {name: curve.facts() for name, curve in found.curves.items() if curve.facts()}
    return {
        "schema": SCHEMA,
        "kind": call.noun.name,
        "options": call.options,
        "x": first.x_title,
        "y": found.y_title,
        "areas": found.areas,
        **({"certified_areas": certain} if (certain := found.certified_areas) else {}),
        "rows": rows,
        **({call.noun.name: facts} if facts else {}),
        **({} if decision is None else {"best": _best(decision)}),
        "notes": [one.to_dict() for name, curve in found.curves.items() for one in curve.findings(name)],
    }


def _best(decision: Decision) -> Row:
    """The point of least cost and the slope of the line of equal cost through it."""
    one = decision.best
    x, y = (float(part) for part in (one.counts.fp / one.counts.n, one.counts.tp / one.counts.p))
    found = {"model": one.model, "threshold": one.threshold, "x": x, "y": y, "slope": decision.slope}
    return plain({**found, "cost_per_case": one.cost_per_case, "relative_cost": one.relative_cost})


def _grid(found: Family) -> Grid:
    """The points that fit a screen; curves of one model over the same thresholds stand side by side."""
    first = next(iter(found.curves.values()))
    beside: dict[str, dict[str, Curve]] = {}
    for name, curve in found.curves.items():
        model, value = found.parts.get(name, (name, first.y_title.lower()))
        beside.setdefault(model, {})[value] = curve
    over = first.x_title == "Threshold"  # the threshold may be the x axis already
    ends = isinstance(first, Sweep)
    columns = ["model", *(["above"] if ends else []), "up to" if ends else first.along]
    columns += ([] if over else [first.x_title.lower()]) + list(next(iter(beside.values())))
    rows = []
    for model, curves in beside.items():
        one = next(iter(curves.values()))
        for place in one.places(_ON_SCREEN):
            at = _ends(one, place) if isinstance(one, Sweep) else [_along(one, place)]
            across = [] if over else [one.x]
            rows.append((model, *at, *(_cell(values, place) for values in [*across, *(c.y for c in curves.values())])))
    return Grid(tuple(columns), tuple(rows))


def _on_scale(curve: Curve, scale: Scale) -> Curve:
    """The curve with its thresholds in the units of the scale that scores were rated on."""
    if scale is None or curve.along != "threshold":
        return curve
    names = ("threshold", "above", "x") if isinstance(curve, Sweep) else ("threshold",)
    told: dict[str, Any] = {name: np.array([in_units(one, scale) for one in getattr(curve, name)]) for name in names}
    return replace(curve, **told)


def _along(curve: Curve, place: int) -> str:
    """The threshold of a point, with the digits that keep every case on its side."""
    at = float(curve.threshold[place])
    if math.isnan(at):
        return decimals(at)
    return threshold_text(common_threshold(at, [curve.threshold[~np.isnan(curve.threshold)]]))


def _ends(curve: Sweep, place: int) -> list[str]:
    """Between which thresholds the value holds: rounded so that all between the texts decide alike."""
    upto = _along(curve, place)
    above, highest = float(curve.above[place]), float(curve.threshold[place])
    if not math.isfinite(above):
        return [threshold_text(above), upto]
    end = highest if math.isinf(highest) else float(upto)
    return [threshold_text(-float(threshold_text(rounded_threshold(-above, -end)))), upto]


def _cell(values: Any, place: int) -> str:
    """A value along a curve; where all are whole and some above one, they are counts."""
    finite = values[np.isfinite(values)]
    counts = finite.size and finite.max() > 1 and bool((finite == np.floor(finite)).all())
    return grouped(float(values[place])) if counts else decimals(values[place], 4)


def _print(found: Family, call: Call[CurveKind[Any]], form: options.Format, decision: Decision | None = None) -> None:
    output.write_grid(_grid(found), _content(found, call, decision), form)
    if form != "table":
        return
    if found.areas:
        output.line("\n" + _numbers("area", found.areas))
        for model, (low, high) in found.certified_areas.items():
            output.line(f"certain  {model} to ±{(high - low) / 2:.1g}, whatever the order of the cases inside its bins")
        besides = {name: curve.beside_area for name, curve in found.curves.items()}
        for what in dict.fromkeys(what for numbers in besides.values() for what in numbers):
            output.line(_numbers(what, {name: numbers[what] for name, numbers in besides.items() if what in numbers}))
    if decision is not None:
        at = _best(decision)
        where = "" if at["threshold"] is None else f" at threshold {threshold_text(decision.best.threshold)}"
        point = f"({at['x']:.3g}, {at['y']:.3g}), slope {at['slope']:.3g}, M = {at['relative_cost']:.3g}"
        output.line(f"\nbest  {at['model']}{where}: {point}")
    for name, curve in found.curves.items():
        for one in curve.findings(name):
            output.line(f"note  {one.code} {one.text}")
    if any(whole.x.size > _ON_SCREEN for whole in found.curves.values()):
        typer.echo("\nShortened: --out FILE.csv has every point, --out FILE.png the picture.", err=True)


def _numbers(what: str, numbers: dict[str, float]) -> str:
    return f"{what:<5} " + "   ".join(f"{name} {decimals(value, 4)}" for name, value in numbers.items())
