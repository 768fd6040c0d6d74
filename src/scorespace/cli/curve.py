"""`scorespace curve`: a curve as data or as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scorespace.cli import options, output
from scorespace.curves import Curve
from scorespace.entry import evaluate
from scorespace.errors import DataError
from scorespace.evaluation import CURVES
from scorespace.results import SCHEMA, Row, decimals
from scorespace.views import tidy
from scorespace.views.document import Grid
from scorespace.views.report import write_file

_ON_SCREEN = 15  # points per model that a terminal shows


def curve(
    data: options.Data,
    truth: options.Truth,
    kind: Annotated[str, typer.Option(metavar="KIND", help=f"{', '.join(CURVES)} or threshold.")] = "roc",
    score: options.Score = [],  # noqa: B006 - Typer copies defaults
    decision: options.Decision = [],  # noqa: B006
    positive: options.Positive = None,
    name: options.Name = [],  # noqa: B006
    weight: options.Weight = None,
    missing: options.MissingRows = options.Missing.error,
    measure: Annotated[str, typer.Option(metavar="NAME", help="The measure drawn by --kind threshold.")] = "f1",
    band: Annotated[bool, typer.Option("--band", help="Draw bands for whole curves (roc and pr).")] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write: .csv .json for data; .png .svg .pdf .html for the picture."),
    ] = None,
    format: options.OutputFormat = options.Format.table,
) -> None:
    """Write a curve as data or as a picture, by the ending of --out.

    Example: scorespace curve credit.csv --truth outcome --positive bad --score nb --kind pr --out pr.png
    """
    evaluation = evaluate(
        data,
        truth=truth,
        scores=score,
        decisions=decision,
        positive=positive,
        names=options.renames(name),
        weight=weight,
        missing=missing.value,
    )
    if band and (kind not in ("roc", "pr") or out is None or out.suffix.lower() in (".csv", ".json")):
        raise DataError(
            "bands are drawn in pictures of roc and pr curves only.", hint="--kind roc --band --out roc.png"
        )
    curves = evaluation.curves(kind, measure=measure)
    if not curves:
        raise DataError("no model here has a curve.", hint="--score COL, or --decision COL with --positive LABEL")
    if out is None:
        _print(curves, kind, format)
        return
    content = _content(curves, kind)
    match out.suffix.lower():
        case ".csv":
            write_file(out, tidy.as_csv(content["rows"]).encode())
        case ".json":
            write_file(out, tidy.as_json(content).encode())
        case ".png" | ".svg" | ".pdf" | ".html":
            from scorespace.views.charts import save  # Altair loads only for pictures

            save(evaluation.plot(kind, measure=measure, band=band), out)
        case _:
            raise DataError(f"{str(out)!r} has no known ending.", hint=".csv or .json for data; .png .svg .pdf .html")
    typer.echo(f"curve  {out}", err=True)


def _content(curves: dict[str, Curve], kind: str) -> Row:
    rows = [{**row, "model": name} for name, curve in curves.items() for row in curve.rows()]
    return {"schema": SCHEMA, "kind": kind, "areas": _areas(curves, kind), "rows": rows}


def _areas(curves: dict[str, Curve], kind: str) -> dict[str, float]:
    """The area of each curve; a measure against the threshold has none that means anything."""
    return {} if kind in ("threshold", "net_benefit") else {name: curve.area() for name, curve in curves.items()}


def _print(curves: dict[str, Curve], kind: str, form: options.Format) -> None:
    shown = [
        (name, *(decimals(value, 4) for value in (curve.threshold[place], curve.x[place], curve.y[place])))
        for name, whole in curves.items()
        for curve in [whole.thinned(_ON_SCREEN)]
        for place in range(curve.x.size)
    ]
    first = next(iter(curves.values()))
    columns = ("model", "threshold", first.x_title.lower(), first.y_title.lower())
    kept = [0, 1, 3] if kind == "threshold" else [0, 1, 2, 3]  # there the threshold is the x axis already
    grid = Grid(tuple(columns[k] for k in kept), tuple(tuple(row[k] for k in kept) for row in shown))
    output.write_grid(grid, _content(curves, kind), form)
    areas = _areas(curves, kind)
    if form is options.Format.table and areas:
        typer.echo("\narea  " + "   ".join(f"{name} {decimals(area, 4)}" for name, area in areas.items()))
    if form is options.Format.table and any(whole.x.size > _ON_SCREEN for whole in curves.values()):
        typer.echo("\nShortened: --out FILE.csv has every point, --out FILE.png the picture.", err=True)
