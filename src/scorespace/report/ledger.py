"""Ledger of a test set: its looks, and the best model corrected for their number."""

from __future__ import annotations

from collections.abc import Sequence

from scorespace.report.document import Block, Document, Grid, Text, one_section
from scorespace.results import Result, Row, count_noun, decimals

_SHOWN = 20
_ADAPTIVE = (
    "The bound holds for models that were fixed without the help of earlier answers. Nothing can be promised for "
    "models that were chosen or trained by them; {bits:.0f} bits about the truth were revealed so far. A file can be "
    "deleted: the ledger is a memory, not a guard."
)


def ledger_document(ledger: Result, title: str, looks: int, bits: float) -> Document:
    """All looks, the latest ones if there are many, and the best model by each measure."""
    return one_section(
        title, count_noun(looks, "look"), "Ledger", ledger_blocks(ledger.rows(), bits), ledger.words, ledger.notes
    )


def ledger_blocks(rows: Sequence[Row], bits: float) -> list[Block]:
    """The table of looks and what they promise."""
    fixed = ("time", "user", "model", "scores", "bits", "ladder")
    measures = list(dict.fromkeys(name for row in rows for name in row if name not in fixed))
    cells = tuple(
        (
            str(number),
            row["time"][:16].replace("T", " "),
            row["user"],
            row["model"],
            *(_cell(row.get(name)) for name in measures),
        )
        for number, row in list(enumerate(rows, start=1))[-_SHOWN:]
    )
    caption = f"The last {_SHOWN} of {len(rows)} looks." if len(rows) > _SHOWN else ""
    grid = Grid(("look", "time", "user", "model", *measures), cells, caption).without_blanks()
    return [grid, Text(_ADAPTIVE.format(bits=bits))]


def _cell(value: float | None) -> str:
    return "" if value is None else decimals(value, 3)
