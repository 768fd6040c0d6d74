"""A document as terminal text, with Rich; nothing needs colour to be understood."""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text as Styled

from scorespace.results import Note
from scorespace.views.document import Block, Document, Grid, Notes, Picture, Text, Verdict

_LEVEL_STYLES = {"warning": "yellow", "info": "dim"}


def show(document: Document, console: Console) -> None:
    """Print the document to a console, as wide as that is."""
    console.print()
    gap = "   " if len(document.title) + len(document.facts) + 3 <= console.width else "\n"
    console.print(Styled.assemble((document.title, "bold"), gap, document.facts))
    for section in document.sections:
        for block in section.blocks:
            _show_block(block, console)


def text(document: Document, width: int = 100) -> str:
    """The document as plain text of that width."""
    out = io.StringIO()
    show(document, Console(file=out, width=width, color_system=None, highlight=False))
    return "\n".join(line.rstrip() for line in out.getvalue().strip("\n").splitlines())


def grid(block: Grid, console: Console) -> None:
    """Print a grid, split into several below each other where its columns do not fit side by side."""
    for columns in _fitting(block, console.width):
        console.print()
        console.print(_table(block, columns))


def _show_block(block: Block, console: Console) -> None:
    match block:
        case Verdict(words):
            console.print()
            console.print(Styled(words, style="bold"))
        case Text(words):
            console.print()
            console.print(Styled(words))
        case Grid():
            grid(block, console)
        case Notes(notes):
            _show_notes(notes, console)
        case Picture():
            pass  # a terminal has no room for pictures


def _show_notes(notes: tuple[Note, ...], console: Console) -> None:
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for number, one in enumerate(notes):
        code = Styled(one.code, style=_LEVEL_STYLES.get(one.level, ""))
        table.add_row("notes" if number == 0 else "", code, Styled(one.text))
    console.print(Padding(table, (1, 0, 0, 0)))


def _table(block: Grid, columns: list[int]) -> Table:
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="bold", pad_edge=False)
    for place in columns:
        wraps = block.prose and place == columns[-1]
        table.add_column(Styled(block.columns[place]), justify="left", no_wrap=not wraps)
    for row in block.rows:
        table.add_row(*(Styled(row[place]) for place in columns))
    return table


def _fitting(block: Grid, width: int) -> Iterator[list[int]]:
    """Groups of columns that fit the width, each beginning with the first column."""
    if block.prose:
        yield list(range(len(block.columns)))
        return
    widths = [max(len(line[place]) for line in (block.columns, *block.rows)) + 3 for place in range(len(block.columns))]
    group, used = [0], widths[0]
    for place in range(1, len(widths)):
        if len(group) > 1 and used + widths[place] - 3 > width:
            yield group
            group, used = [0], widths[0]
        group.append(place)
        used += widths[place]
    yield group
