"""`scorespace curve`: a curve as data or as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from scorespace.cli import options, output
from scorespace.cli.cases import learned
from scorespace.curves import Curve, SmoothCurve
from scorespace.curves.calibration import BINS
from scorespace.errors import DataError
from scorespace.evaluation.curves import CURVES
from scorespace.evaluation.enter import evaluate
from scorespace.files import write_file
from scorespace.results import SCHEMA, Note, Row, decimals
from scorespace.views import tidy
from scorespace.views.document import Grid

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
    allow_remote: options.AllowRemote = False,
    measure: Annotated[str, typer.Option(metavar="NAME", help="The measure drawn by --kind threshold.")] = "f1",
    midpoint: options.Midpoint = "mean",
    learn_midpoint: options.LearnMidpoint = None,
    recentre: Annotated[bool, typer.Option("--recentre", help="Move the midpoint to 0.5 (smooth).")] = False,
    counts: Annotated[bool, typer.Option("--counts", help="Axes as counts, not rates (smooth).")] = False,
    band: Annotated[bool, typer.Option("--band", help="Draw bands for whole curves (roc, pr, calibration).")] = False,
    by: Annotated[
        str, typer.Option(metavar="HOW", help="Groups of calibration: isotonic, or bins of equal width or count.")
    ] = "isotonic",
    bins: Annotated[int, typer.Option(metavar="N", min=1, help="Number of bins (calibration).")] = BINS,
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
    if band and (kind not in ("roc", "pr", "calibration") or out is None or out.suffix.lower() in (".csv", ".json")):
        where = "pictures of roc, pr and calibration curves"
        raise DataError(f"bands are drawn in {where} only.", hint="--kind roc --band --out roc.png")
    groups: dict[str, Any] = {"by": by, "bins": bins} if kind == "calibration" else {}
    if kind != "calibration" and (by != "isotonic" or bins != BINS):
        raise DataError(f"a {kind} curve has no bins.", hint="--kind calibration")
    if kind == "smooth":
        middle = options.midpoint(midpoint)
        axes: dict[str, Any] = {"recentre": recentre, "normalised": not counts}
        curves = evaluation.curves(kind, midpoint=middle, **axes)
        if learn_midpoint is not None:
            options.refuse_two_midpoints(midpoint)
            other = evaluate(
                learn_midpoint,
                truth=truth,
                scores=score,
                positive=positive,
                names=options.renames(name),
                weight=weight,
                missing=missing.value,
            )
            curves |= {
                model: evaluation.curve(kind, model, midpoint=at, **axes) for model, at in learned(other).items()
            }
    elif midpoint != "mean" or learn_midpoint is not None or recentre or counts:
        raise DataError(f"a {kind} curve has no midpoint.", hint="--kind smooth")
    else:
        curves = evaluation.curves(kind, measure=measure, **groups)
    if not curves:
        raise DataError("no model here has a curve.", hint="--score COL, or --decision COL with --positive LABEL")
    if out is None:
        _print(curves, kind, format or options.Format.table)
        return
    content = _content(curves, kind)
    match out.suffix.lower():
        case ".csv":
            write_file(out, tidy.as_csv(content["rows"]).encode())
        case ".json":
            write_file(out, tidy.as_json(content).encode())
        case _:
            from scorespace.views.charts import save, smooth_chart  # Altair loads only for pictures

            smoothed = {model: one for model, one in curves.items() if isinstance(one, SmoothCurve)}
            drawn = {"measure": measure, "band": band, **groups}
            save(smooth_chart(smoothed) if smoothed else evaluation.plot(kind, **drawn), out)
    typer.echo(f"curve  {out}", err=True)
    if format is not None:
        _print(curves, kind, format)


def _content(curves: dict[str, Curve], kind: str) -> Row:
    rows = [{**row, "model": name} for name, curve in curves.items() for row in curve.rows()]
    found = {"schema": SCHEMA, "kind": kind, "areas": _areas(curves, kind), "rows": rows}
    smoothed = {name: curve.facts() for name, curve in curves.items() if isinstance(curve, SmoothCurve)}
    return {**found, "smooth": smoothed, "notes": [one.to_dict() for one in _notes(curves)]} if smoothed else found


def _notes(curves: dict[str, Curve]) -> list[Note]:
    """What to know before reading smooth curves."""
    return [one for name, curve in curves.items() if isinstance(curve, SmoothCurve) for one in curve.findings(name)]


def _areas(curves: dict[str, Curve], kind: str) -> dict[str, float]:
    """The area of each curve, where it means anything."""
    if kind in ("threshold", "net_benefit", "calibration"):
        return {}
    # Of unscaled axes the area is one in cases, which nobody can hold against an AUC.
    return {name: curve.area() for name, curve in curves.items() if curve.kind != "smooth_counts"}


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
        output.line("\narea  " + "   ".join(f"{name} {decimals(area, 4)}" for name, area in areas.items()))
        plain = {name: curve.auc for name, curve in curves.items() if isinstance(curve, SmoothCurve)}
        if plain:
            output.line("auc   " + "   ".join(f"{name} {decimals(area, 4)}" for name, area in plain.items()))
        for one in _notes(curves):
            output.line(f"note  {one.code} {one.text}")
    if form is options.Format.table and any(whole.x.size > _ON_SCREEN for whole in curves.values()):
        typer.echo("\nShortened: --out FILE.csv has every point, --out FILE.png the picture.", err=True)
