"""`scorespace curve`: a curve as data or as a picture."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from scorespace.cli import options, output
from scorespace.cli.cases import learned
from scorespace.cli.curves import completed
from scorespace.cli.verbs import VerbCommand
from scorespace.curves.curve import CurveKind
from scorespace.declaration import Call, call_text
from scorespace.errors import CurveError, DataError, listing
from scorespace.evaluation.curves import Family, family, kinds, requested
from scorespace.evaluation.enter import evaluate
from scorespace.evaluation.evaluation import Evaluation
from scorespace.files import write_file
from scorespace.resampling.band import Band
from scorespace.resampling.band import band as bands
from scorespace.results import SCHEMA, Row, decimals
from scorespace.views import tidy
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


def _named_kind(args: list[str]) -> str | None:
    """The kind that --kind names, under its own name."""
    words = [word.partition("=")[2] for word in args if word.startswith("--kind=")]
    words += [after for word, after in pairwise(args) if word == "--kind"]
    try:
        return requested(words[-1]).noun.name if words else None
    except CurveError:
        return None  # told when it is parsed


def curve(
    data: options.Data,
    truth: options.Truth,
    kind: Annotated[str, typer.Option(metavar="KIND", help=_KIND_HELP, autocompletion=completed)] = "roc",
    score: options.Score = [],  # noqa: B006 - Typer copies defaults
    decision: options.Decision = [],  # noqa: B006
    positive: options.Positive = None,
    name: options.Name = [],  # noqa: B006
    model: options.Model = [],  # noqa: B006
    weight: options.Weight = None,
    weights: options.Weights = options.Weighing.cases,
    missing: options.MissingRows = options.Missing.error,
    allow_remote: options.AllowRemote = False,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The measure drawn by --kind threshold; f1 unless stated.",
            autocompletion=options.measure_names,
        ),
    ] = None,
    learn_midpoint: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Learn the option midpoint on a validation sample with the same columns."),
    ] = None,
    band: Annotated[
        bool, typer.Option("--band", help=f"Draw bands for whole curves ({', '.join(bands.functions)}).")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write: .csv .json for data; .png .svg .pdf .html for the picture."),
    ] = None,
    format: options.MaybeFormat = None,
) -> None:
    """Write a curve as data or as a picture, by the ending of --out.

    Example: scorespace curve credit.csv --truth outcome --positive bad --score nb --kind pr --out pr.png
    """
    options.check_output(out, (*options.DATA_FILES, *options.PICTURES), data, learn_midpoint)
    call = requested(kind, **({} if measure is None else {"measure": measure}))
    if band and (bands.of(call.noun) is None or out is None or out.suffix.lower() not in options.PICTURES):
        where = f"pictures of {_listed(bands.functions)} curves"
        raise DataError(f"bands are drawn in {where} only.", hint="--kind roc --band --out roc.png")
    if learn_midpoint is not None:
        requested(kind, midpoint="learned")  # refuses kinds without a midpoint, and one that is stated besides

    def evaluated(source: str, decisions: list[str]) -> Evaluation:
        return evaluate(
            source,
            truth=truth,
            scores=score,
            decisions=decisions,
            positive=positive,
            names=options.renames(name),
            models=options.models(model),
            weight=weight,
            weights=weights.value,
            missing=missing.value,
        )

    evaluation = evaluated(data, decision)
    middles = {} if learn_midpoint is None else learned(evaluated(learn_midpoint, []))
    found = family(evaluation, call, {model: {"midpoint": at} for model, at in middles.items()})
    if not found.curves:
        evaluation.curve(str(call), next(iter(evaluation.models)))  # says why there is none
    if out is None:
        _print(found, call, format or options.Format.table)
        return
    match out.suffix.lower():
        case ".csv":
            write_file(out, tidy.as_csv(_content(found, call)["rows"]).encode())
        case ".json":
            write_file(out, tidy.as_json(_content(found, call)).encode())
        case _:
            from scorespace.views.charts import save

            save(found.picture(_bands(evaluation, found, call) if band else {}), out)
    typer.echo(f"curve  {out}", err=True)
    if format is not None:
        _print(found, call, format)


def _bands(evaluation: Evaluation, found: Family, call: Call[CurveKind[Any]]) -> dict[str, Band]:
    return {name: evaluation.band(str(call), name, simultaneous=True) for name in found.curves}


def _listed(names: Any) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else str(last)


def _content(found: Family, call: Call[CurveKind[Any]]) -> Row:
    first = next(iter(found.curves.values()))
    rows = [{**row, "model": name} for name, curve in found.curves.items() for row in curve.rows()]
    facts = {name: curve.facts() for name, curve in found.curves.items() if curve.facts()}
    return {
        "schema": SCHEMA,
        "kind": call.noun.name,
        "options": call.options,
        "x": first.x_title,
        "y": first.y_title,
        "areas": found.areas,
        "rows": rows,
        **({call.noun.name: facts} if facts else {}),
        "notes": [one.to_dict() for name, curve in found.curves.items() for one in curve.findings(name)],
    }


def _print(found: Family, call: Call[CurveKind[Any]], form: options.Format) -> None:
    shown = [
        (name, *(decimals(value, 4) for value in (curve.threshold[place], curve.x[place], curve.y[place])))
        for name, whole in found.curves.items()
        for curve in [whole.thinned(_ON_SCREEN)]
        for place in range(curve.x.size)
    ]
    first = next(iter(found.curves.values()))
    columns = ("model", "threshold", first.x_title.lower(), first.y_title.lower())
    kept = [0, 1, 3] if columns[1] == columns[2] else [0, 1, 2, 3]  # the threshold may be the x axis already
    grid = Grid(tuple(columns[k] for k in kept), tuple(tuple(row[k] for k in kept) for row in shown))
    output.write_grid(grid, _content(found, call), form)
    if form is not options.Format.table:
        return
    if found.areas:
        output.line("\n" + _numbers("area", found.areas))
        besides = {name: curve.beside_area for name, curve in found.curves.items()}
        for what in dict.fromkeys(what for numbers in besides.values() for what in numbers):
            output.line(_numbers(what, {name: numbers[what] for name, numbers in besides.items() if what in numbers}))
    for name, curve in found.curves.items():
        for one in curve.findings(name):
            output.line(f"note  {one.code} {one.text}")
    if any(whole.x.size > _ON_SCREEN for whole in found.curves.values()):
        typer.echo("\nShortened: --out FILE.csv has every point, --out FILE.png the picture.", err=True)


def _numbers(what: str, numbers: dict[str, float]) -> str:
    return f"{what:<5} " + "   ".join(f"{name} {decimals(value, 4)}" for name, value in numbers.items())
