"""`scorespace curves`: the kinds of curves, or one explained."""

from __future__ import annotations

from typing import Annotated

import typer

from scorespace.cli import options, output
from scorespace.evaluation.curves import find, kinds
from scorespace.results import SCHEMA
from scorespace.views.catalogue import curve_entry, curves_described, explained_curve


def completed(incomplete: str) -> list[tuple[str, str]]:
    """The kinds whose names begin so, with their titles, as a shell offers them."""
    return [(kind.name, kind.title) for kind in kinds() if kind.name.startswith(incomplete)]


def curves(
    name: Annotated[
        str | None, typer.Argument(help="A kind of curve, by any of its names.", autocompletion=completed)
    ] = None,
    format: options.OutputFormat = options.Format.table,
) -> None:
    """List all kinds of curves, or explain one: axes, options, what its area is, whether it has bands.

    Example: scorespace curves calibration
    """
    if name is None:
        rows = [curve_entry(kind) for kind in kinds()]
        output.write_grid(curves_described(kinds()), {"schema": SCHEMA, "rows": rows}, format)
    else:
        found = find(name)
        output.write_grid(explained_curve(found), {"schema": SCHEMA, "rows": [curve_entry(found)]}, format)
