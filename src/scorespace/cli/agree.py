"""`scorespace agree`: raters who decide and say how strongly, compared instance by instance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

from scorespace.cli import options, output
from scorespace.cli.options import flag
from scorespace.errors import ColumnError, DataError
from scorespace.evaluation.samples import agree as agree_on
from scorespace.samples.agreement import TOLERANCE
from scorespace.samples.raters import Ratings
from scorespace.views import agreement as view


class Asked(NamedTuple):
    """What is asked of the raters, by the names that `agree` of the library has for it."""

    positive: options.Positive = None
    truth: Annotated[
        str | None, flag("COL", "The actual class, where known: adds each rater's AUC.", options.ROLES)
    ] = None
    id: Annotated[str | None, flag("COL", "What names the instances; else their row.", options.ROLES)] = None
    weight: options.Weight = None
    order: options.Order = ""
    scale: options.Scale = None
    missing: options.MissingRows = "error"


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
    asked: Asked,
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
    report: options.Report = None,
    format: options.OutputFormat = "table",
) -> None:
    """Compare raters, people or models: decisions, scores, and the smooth ROC curve of each.

    Lists instances with scores within the tolerance although the decisions differ, and the reverse.

    Example: scorespace agree films.csv --rater Ann=ann,ann_score --rater Bob=bob,bob_score --positive yes
    """
    options.check_output(out, (*options.PICTURES, *options.DATA_FILES), data)
    options.check_output(report, (".html",), data)
    stated = asked._asdict() | {"tolerance": tolerance, "level": level, "seed": seed}
    found = agree_on(options.chosen(data, where), raters=_raters(rater), **stated)
    several = isinstance(data, list)
    name = f"{Path(data[0]).name} and {len(data) - 1} more" if several else Path(data).name
    if isinstance(found, Ratings):
        if out is not None and out.suffix.lower() in options.PICTURES:
            raise DataError("raters are drawn by their scores, and these have none.", hint="--out FILE.csv or .json")
        page, draw, rows = view.rating_document(found, name), None, lambda: list(found.differing)
    else:
        page, draw, rows = view.document(found, name), view.picture(found).draw, found.instances
    output.result(page, found.to_dict(), format, report=report, out=out, draw=draw, rows=rows, called="agree")


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
        alone = f"--rater {given}={given}, or NAME=DECISION,SCORE"
        hint = "--rater NAME=DECISION,SCORE or NAME=DECISION" if "=" in given else alone
        raise ColumnError(f"--rater {given} cannot be read.", hint=hint)
    return name, parts
