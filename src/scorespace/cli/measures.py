"""`scorespace measures`: the catalogue, or one measure explained."""

from __future__ import annotations

from typing import Annotated

from scorespace.cli import options
from scorespace.cli.lookup import look_up, words
from scorespace.measures import measures as all_measures
from scorespace.measures.measure import MEASURES
from scorespace.views.catalogue import described, entry, explained

_Name = Annotated[list[str] | None, words(MEASURES.completed)]


def measures(name: _Name = None, format: options.OutputFormat = "table") -> None:
    """List all measures by topic, explain one, or search for words.

    Example: scorespace measures precision
    """
    look_up(MEASURES, name, format, every=all_measures(), listed=described, explained=explained, entry=entry)
