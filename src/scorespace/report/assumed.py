"""Measures without labels: assumed values, side by side where the assumptions disagree."""

from __future__ import annotations

from collections.abc import Sequence

from scorespace.options import format_value
from scorespace.report.document import Document, Grid, one_section
from scorespace.results import Result, Row, decimals


def assumed_document(found: Result, name: str, facts: str) -> Document:
    """A row per model and measure, a column per assumption."""
    return one_section(name, facts, "Without labels", [_grid(found.rows())], found.words, found.notes)


def _grid(rows: Sequence[Row]) -> Grid:
    methods = list(dict.fromkeys(row["method"] for row in rows))
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        measure = row["measure"] if row["at"] is None else f"{row['measure']}@{format_value(row['at'])}"
        value = "–" if row["value"] is None else decimals(row["value"])
        lines.setdefault((row["model"], measure), {})[row["method"]] = value
    cells = tuple((model, measure, *(line.get(one, "") for one in methods)) for (model, measure), line in lines.items())
    return Grid(("model", "measure", *methods), cells)
