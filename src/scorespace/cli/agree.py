"""`scorespace agree`: raters who decide and say how strongly, compared instance by instance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scorespace.cli import options, output
from scorespace.cli.options import flag
from scorespace.errors import ColumnError, DataError
from scorespace.evaluation.samples import agree as agree_on
from scorespace.files import write_file
from scorespace.samples.agreement import TOLERANCE, Agreement
from scorespace.samples.raters import Ratings
from scorespace.views import agreement as view
from scorespace.views import tidy


def agree(
    data: options.Data,
    rater: Annotated[
        list[str],
        flag(
            "NAME=DECISION[,SCORE]",
            "A rater's columns: label, and score from 0 to 1; two raters or more. Without scores, of any classes.",
            options.ROLES,
        ),
    ],
    positive: options.Positive = None,
    truth: Annotated[
        str | None, flag("COL", "The actual class, where known: adds each rater's AUC.", options.ROLES)
    ] = None,
    id: Annotated[str | None, flag("COL", "What names the instances; else their row.", options.ROLES)] = None,
    weight: options.Weight = None,
    order: options.Order = "",
    scale: options.Scale = None,
    missing: options.MissingRows = options.Missing.error,
    where: options.Where = None,
    allow_remote: options.AllowRemote = False,
    tolerance: Annotated[
        float, flag("X", "Scores that differ by no more are called alike.", options.ROLES)
    ] = TOLERANCE,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    out: Annotated[
        Path | None, flag("FILE", "Where to draw: .png .svg .pdf .html; .csv .json for all instances.", "Output")
    ] = None,
    format: options.OutputFormat = options.Format.table,
) -> None:
    """Compare raters, people or models: decisions, scores, and the smooth ROC curve of each.

    Lists instances with scores within the tolerance although the decisions differ, and the reverse.

    Example: scorespace agree films.csv --rater Ann=ann,ann_score --rater Bob=bob,bob_score --positive yes
    """
    options.check_output(out, (*options.PICTURES, *options.DATA_FILES), data)
    found = agree_on(
        options.chosen(data, where),
        raters=_raters(rater),
        positive=positive,
        truth=truth,
        id=id,
        weight=weight,
        order=order,
        scale=scale,
        tolerance=tolerance,
        missing=missing.value,
        level=level,
        seed=seed,
    )
    if out is not None:
        _write(found, out)
    name = options.first_name(data)
    page = view.rating_document(found, name) if isinstance(found, Ratings) else view.document(found, name).brief()
    output.write(page, found.to_dict(), format)
    if out is not None:
        typer.echo(f"agree  {out}", err=True)


def _write(found: Agreement | Ratings, out: Path) -> None:
    match out.suffix.lower():
        case ".csv":
            rows = list(found.differing) if isinstance(found, Ratings) else found.instances()
            write_file(out, tidy.as_csv(rows).encode())
        case ".json":
            write_file(out, tidy.as_json(found.to_dict()).encode())
        case _:
            if isinstance(found, Ratings):
                raise DataError(
                    "raters are drawn by their scores, and these have none.", hint="--out FILE.csv or .json"
                )
            from scorespace.views.charts.agreement import agreement_chart
            from scorespace.views.charts.files import save

            save(agreement_chart(found), out)


def _raters(given: list[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for each in given:
        name, columns = _columns(each)
        if name in found:
            raise ColumnError(f"rater {name!r} is named twice.", hint="a name for each rater")
        found[name] = columns
    return found


def _columns(given: str) -> tuple[str, tuple[str, ...]]:
    """A rater's name and columns from NAME=DECISION,SCORE or NAME=DECISION."""
    name, _, columns = given.partition("=")
    parts = tuple(columns.split(","))
    if not (name and all(parts)) or len(parts) > 2:
        raise ColumnError(f"--rater {given} cannot be read.", hint="--rater NAME=DECISION,SCORE or NAME=DECISION")
    return name, parts
