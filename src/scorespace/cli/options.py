"""Options that several verbs share, named as in the documentation."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from scorespace.errors import ColumnError


class Format(StrEnum):
    """How results are written."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"


class Missing(StrEnum):
    """What happens to rows with missing values."""

    error = "error"
    drop = "drop"


_ROLES = "Which column is what"
_OUTPUT = "Output"

Data = Annotated[
    str,
    typer.Argument(metavar="DATA", help="A file (.csv .tsv .parquet .json .arrow), a glob, or - for CSV from stdin."),
]
Truth = Annotated[str, typer.Option(metavar="COL", help="The column with the actual class.", rich_help_panel=_ROLES)]
Score = Annotated[
    list[str], typer.Option(metavar="COL", help="A model's scores; repeat for more models.", rich_help_panel=_ROLES)
]
Decision = Annotated[
    list[str], typer.Option(metavar="COL", help="A model's decisions (labels); repeatable.", rich_help_panel=_ROLES)
]
Positive = Annotated[
    str | None,
    typer.Option(
        metavar="LABEL", help="The positive class; inferred only for 0/1, -1/1 and booleans.", rich_help_panel=_ROLES
    ),
]
Weight = Annotated[str | None, typer.Option(metavar="COL", help="Case weights.", rich_help_panel=_ROLES)]
Group = Annotated[str | None, typer.Option(metavar="COL", help="Groups of related cases.", rich_help_panel=_ROLES)]
Fold = Annotated[
    str | None, typer.Option(metavar="COL", help="The fold each case was tested in.", rich_help_panel=_ROLES)
]
Name = Annotated[
    list[str], typer.Option(metavar="COL=NAME", help="Show a column's model under this name.", rich_help_panel=_ROLES)
]
MissingRows = Annotated[
    Missing, typer.Option("--missing", help="Refuse or drop rows with missing values.", rich_help_panel=_ROLES)
]
OutputFormat = Annotated[Format, typer.Option("--format", help="How to write the result.", rich_help_panel=_OUTPUT)]
Level = Annotated[float, typer.Option(help="Confidence level of the intervals.", rich_help_panel=_OUTPUT)]
Seed = Annotated[int, typer.Option(help="Seed of the bootstrap.", rich_help_panel=_OUTPUT)]


def renames(pairs: list[str]) -> dict[str, str]:
    """The renaming of columns from COL=NAME pairs."""
    found = {}
    for pair in pairs:
        column, equals, name = pair.partition("=")
        if not (column and equals and name):
            raise ColumnError(f"--name {pair} renames nothing.", hint="--name COL=NAME, such as --name p1=forest")
        found[column] = name
    return found
