"""`scorespace measures`: the catalogue, or one measure explained."""

from __future__ import annotations

from typing import Annotated

import typer

from scorespace.cli import options, output
from scorespace.measures import find
from scorespace.measures import measures as all_measures
from scorespace.results import SCHEMA
from scorespace.views.catalogue import described, entry, explained


def measures(
    name: Annotated[str | None, typer.Argument(help="A measure, by any of its names.")] = None,
    format: options.OutputFormat = options.Format.table,
) -> None:
    """List all measures, or explain one: formula, range, names, when it is undefined.

    Example: scorespace measures precision
    """
    if name is None:
        rows = [entry(one) for one in all_measures()]
        output.write_grid(described(all_measures()), {"schema": SCHEMA, "rows": rows}, format)
    else:
        found = find(name)
        output.write_grid(explained(found), {"schema": SCHEMA, "rows": [entry(found)]}, format)
