"""Printed numbers: the confusion matrices that give them."""

from __future__ import annotations

from collections.abc import Sequence

from scorespace.audit.printed_numbers import ConsistentTables
from scorespace.report.document import Document, Grid, one_section
from scorespace.results import Row, count_noun, decimals, grouped

_SHOWN = 5


def document(found: ConsistentTables) -> Document:
    """What was stated, the intervals that it stands for, and the first matrices that agree."""
    positives = "any number of positives" if found.positives is None else f"{grouped(found.positives)} positive"
    reading = "truncated" if found.cut else "rounded"
    stated = Grid(
        ("number", "printed", "stands for"),
        tuple((str(one.spec), one.text, f"{one.low:.10g} to {one.high:.10g}") for one in found.numbers),
    )
    rows = found.rows()[:_SHOWN]
    tables = [] if not rows else [_tables(found, rows)]
    facts = f"{count_noun(found.cases, 'case')}   {positives}   {reading} numbers"
    return one_section("Printed numbers", facts, "Check", [stated, *tables], found.words, found.notes)


def _tables(found: ConsistentTables, rows: Sequence[Row]) -> Grid:
    names, sides = list(rows[0]), 4
    cells = tuple(
        tuple(
            grouped(value) if k < sides else "–" if value is None else decimals(value, 5)
            for k, value in enumerate(row.values())
        )
        for row in rows
    )
    rest = found.found - len(rows)
    caption = f"The first {len(rows)} of {grouped(found.found)} tables." if rest else ""
    return Grid(tuple(name.upper() if k < sides else name for k, name in enumerate(names)), cells, caption)
