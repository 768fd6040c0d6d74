"""`scorespace cases`: the hard and the easy cases of a model, one by one."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from scorespace import frames
from scorespace.cli import options, output
from scorespace.curves.midpoint import MIDPOINTS
from scorespace.curves.midpoint import learn_midpoint as learned_midpoint
from scorespace.decisions.cases import Cases, of_codes
from scorespace.errors import ScoreError
from scorespace.evaluation.enter import evaluate
from scorespace.evaluation.evaluation import Evaluation
from scorespace.files import write_file
from scorespace.results import Note, Row
from scorespace.views import smooth as view
from scorespace.views import tidy

_LIST = "Which cases"

Midpoint = Annotated[
    str,
    typer.Option(metavar="RULE", help=f"What parts high from low scores: {', '.join(MIDPOINTS)}, or a number."),
]


class Zone(StrEnum):
    """The kinds of cases."""

    easy = "easy"
    rescued = "rescued"
    hard = "hard"
    error = "error"


def cases(
    data: options.Data,
    truth: options.Truth,
    score: Annotated[str, typer.Option(metavar="COL", help="The model's scores, between 0 and 1.")],
    positive: options.Positive = None,
    id: Annotated[
        str | None, typer.Option("--id", metavar="COL", help="Names the cases; else rows are numbered from 1.")
    ] = None,
    midpoint: Midpoint = "mean",
    learn_midpoint: options.LearnMidpoint = None,
    zone: Annotated[Zone | None, typer.Option(help="List the cases of one kind only.", rich_help_panel=_LIST)] = None,
    most: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many of each kind to list.", rich_help_panel=_LIST)
    ] = view.MOST,
    missing: options.MissingRows = options.Missing.error,
    allow_remote: options.AllowRemote = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="All cases: .csv .json; their picture: .png .svg .pdf .html."),
    ] = None,
    format: options.MaybeFormat = None,
) -> None:
    """List the hard and the easy cases of a model: in doubt or sure, right or wrong.

    Example: scorespace cases credit.csv --truth outcome --positive bad --score nb --zone error
    """
    options.check_output(out, (*options.DATA_FILES, *options.PICTURES), data, learn_midpoint)
    source = frames.read(data)
    roles = frames.roles(source, truth=truth, scores=score, positive=positive)
    if score not in roles.scores.values():
        raise ScoreError("cases are those of one model.", hint="--score with the name of one column")
    sample = frames.check(source, roles, missing=missing.value)
    columns = frames.columns(sample, [truth, score, *([id] if id else [])])
    middle = options.midpoint(midpoint)
    if learn_midpoint is not None:
        options.refuse_two_midpoints(midpoint)
        other = evaluate(learn_midpoint, truth=truth, scores=score, positive=positive, missing=missing.value)
        middle = learned(other)[score]
    named = None if sample.positive is None else sample.classes[sample.positive]
    found = of_codes(
        columns[truth],
        columns[score],
        sample.classes,
        columns[id] if id else 1 + np.flatnonzero(frames.rows_in_use(sample)),
        positive=named,
        midpoint=middle,
    )
    kind = None if zone is None else zone.value
    if out is not None:
        _write(found, kind, sample.notes, out)
        typer.echo(f"cases  {out}", err=True)
        if format is None:
            return
    format = format or options.Format.table
    listed = format in (options.Format.json, options.Format.csv)  # people see a few cases, programs all of them
    content = _content(found, kind, sample.notes) if listed else {}
    output.write(view.document(source.name, score, found, kind, most, sample.notes), content, format)


def learned(validation: Evaluation) -> dict[str, float]:
    """The midpoint of each model with the highest Youden index on a validation sample."""
    return {name: learned_midpoint(table) for name, table in validation.models.items() if table.thresholded}


def _content(found: Cases, zone: str | None, notes: tuple[Note, ...]) -> Row:
    content = found.to_dict()
    rows = content["rows"] if zone is None else found.of(zone)
    return {**content, "rows": rows, "notes": [*(one.to_dict() for one in notes), *content["notes"]]}


def _write(found: Cases, zone: str | None, notes: tuple[Note, ...], out: Path) -> None:
    match out.suffix.lower():
        case ".csv":
            write_file(out, tidy.as_csv(_content(found, zone, notes)["rows"]).encode())
        case ".json":
            write_file(out, tidy.as_json(_content(found, zone, notes)).encode())
        case _:
            from scorespace.views.charts import save, zones_chart

            save(zones_chart(found.table, found.zones), out)
