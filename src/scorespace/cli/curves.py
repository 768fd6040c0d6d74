"""`scorespace curves`: the kinds of curves, or one explained."""

from __future__ import annotations

from typing import Annotated

from scorespace.cli import options
from scorespace.cli.lookup import look_up, words
from scorespace.curves.curve import CURVES
from scorespace.evaluation.curves import kinds
from scorespace.views.catalogue import curve_entry, curves_described, explained_curve

_Name = Annotated[list[str] | None, words(CURVES.completed)]


def curves(name: _Name = None, format: options.OutputFormat = "table") -> None:
    """List all kinds of curves, explain one, or search: axes, options, areas, bands.

    Example: scorespace curves calibration
    """
    look_up(CURVES, name, format, every=kinds(), listed=curves_described, explained=explained_curve, entry=curve_entry)
