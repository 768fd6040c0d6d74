"""What the catalogues share: all nouns of a kind, those that words lead to, or one explained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import typer

from scorespace.cli import output
from scorespace.cli.options import Format
from scorespace.declaration import Declared, Registry
from scorespace.results import SCHEMA, Row
from scorespace.views.document import Grid

_HELP = "One of them, by any of its names, or words to search for."


def words(completed: Callable[[str], Any]) -> Any:
    """The argument that names a noun or what to search for."""
    return typer.Argument(metavar="[NAME]", help=_HELP, autocompletion=completed)


def look_up(
    registry: Registry[Declared],
    asked: Sequence[str] | None,
    form: Format,
    *,
    every: Sequence[Declared],
    listed: Callable[[Sequence[Declared]], Grid],
    explained: Callable[[Declared], Grid],
    entry: Callable[[Declared], Row],
) -> None:
    """Write the catalogue, the one noun of that name, or all that the words are said of; unknown words are refused."""
    text = " ".join(asked or ())
    found = registry.search(text) if text else every
    grid = explained(found[0]) if text and len(found) == 1 else listed(found)
    output.write_grid(grid, {"schema": SCHEMA, "rows": [entry(one) for one in found]}, form)
