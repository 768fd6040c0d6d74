"""`scorespace doctor`: what is installed, what is missing, and what to do about it."""

from __future__ import annotations

import typer

from scorespace.cli import options, output
from scorespace.parts import parts


def doctor(format: options.OutputFormat = "table") -> None:
    """Say what is installed, which extra is missing, and what to do about it.

    Exits with 1 where something is missing without which nothing works.

    Example: scorespace doctor
    """
    found = parts()
    lacking = [one for one in found if one.needed and one.version is None]
    if lacking:  # what writes tables may be among it
        for one in lacking:
            output.line(f"{one.name} is missing, for {one.told}")
        raise typer.Exit(1)
    from scorespace.results import SCHEMA
    from scorespace.views.document import Grid

    rows = tuple((one.name, one.version or "missing", one.told) for one in found)
    grid = Grid(("part", "version", "what it is for"), rows, prose=True)
    output.write_grid(grid, {"schema": SCHEMA, "rows": [one.row() for one in found]}, format)
