"""A document as terminal text, with Rich; nothing needs colour to be understood."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterator
from dataclasses import replace

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text as Styled

from scorespace.errors import shown
from scorespace.results import Note
from scorespace.views.document import Block, Document, Grid, Notes, Panel, Picture, Text, Verdict

_FILLER = "\0"  # the second cell of a wide letter, while lines are counted: no text that is shown has one
_LEVEL_STYLES = {"warning": "yellow", "info": "dim"}


def show(document: Document, console: Console) -> None:
    """Print the document to a console, as wide as that is."""
    console.print()
    title, facts = shown(document.title), shown(document.facts)
    gap = "   " if cell_len(title + facts) + 3 <= console.width else "\n"
    console.print(Styled.assemble((title, "bold"), gap, facts))
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
    rows = tuple(tuple(map(shown, row)) for row in block.rows)
    block = replace(block, columns=tuple(map(shown, block.columns)), rows=rows)
    naming = _naming(block, console.width)
    for number, columns in enumerate(_fitting(block, naming, console.width)):
        told = tuple(row for row in rows if number == 0 or any(row[place] for place in columns[naming:]))
        console.print()
        console.print(_table(replace(block, rows=told), columns, console.width))


def _show_block(block: Block, console: Console) -> None:
    match block:
        case Verdict(words):
            console.print()
            console.print(Styled(_wrapped(words, console.width), style="bold"))
        case Text(words):
            console.print()
            console.print(Styled(_wrapped(words, console.width)))
        case Grid():
            grid(block, console)
        case Notes(notes):
            _show_notes(notes, console)
        case Picture() | Panel():
            pass  # a terminal has no room for them


def _show_notes(notes: tuple[Note, ...], console: Console) -> None:
    console.print()
    for number, one in enumerate(notes):
        label = "notes " if number == 0 else " " * 6
        margin = " " * (len(label) + len(one.code) + 1)
        words = _wrapped(one.text, console.width - len(margin)).replace("\n", f"\n{margin}")
        console.print(Styled.assemble(label, (one.code, _LEVEL_STYLES.get(one.level, "")), " ", words))


def _wrapped(words: str, width: int) -> str:
    """The words in lines of that width, with numbers such as 1 000 and 5 % kept whole."""
    kept = re.sub(r"(?<=\d) (?=\d{3}\b|%)", "\N{NO-BREAK SPACE}", words)
    lines = (_filled(shown(line), max(20, width)) for line in kept.split("\n"))
    return "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")


def _filled(line: str, width: int) -> str:
    """The line in lines of so many cells, of which wide letters take two."""
    if cell_len(line) == len(line):
        return textwrap.fill(line, width, break_on_hyphens=False)
    wide = re.sub(r"\S", lambda letter: letter[0] + _FILLER * (cell_len(letter[0]) - 1), line)
    return textwrap.fill(wide, width, break_on_hyphens=False).replace(_FILLER, "")


def _table(block: Grid, columns: list[int], width: int) -> Table:
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="bold", pad_edge=False)
    widths = [max(cell_len(line[place]) for line in (block.columns, *block.rows)) for place in columns]
    too_wide = sum(widths) + 3 * len(widths) - 3 > width
    for place, longest in zip(columns, widths, strict=True):
        named = place == columns[0] and longest <= width // 2  # names stay whole, what is said of them may wrap
        wraps = (block.prose and place == columns[-1]) or (too_wide and not named)
        least = longest if named else None
        table.add_column(Styled(block.columns[place]), justify="left", no_wrap=not wraps, min_width=least)
    for row in block.rows:
        table.add_row(*(Styled(row[place]) for place in columns))
    return table


def _naming(block: Grid, width: int) -> int:
    """How many of the first columns name a row: two where the first alone leaves rows alike and both have the room."""
    names, both = ({row[:first] for row in block.rows} for first in (1, 2))
    if not len(names) < len(both) == len(block.rows):
        return 1
    lines = (block.columns, *block.rows)
    return 2 if sum(max(cell_len(line[place]) for line in lines) for place in (0, 1)) <= width // 2 else 1


def _fitting(block: Grid, naming: int, width: int) -> Iterator[list[int]]:
    """Groups of columns that fit the width, each beginning with those that name the rows."""
    if block.prose:
        yield list(range(len(block.columns)))
        return
    lines = (block.columns, *block.rows)
    widths = [max(cell_len(line[place]) for line in lines) + 3 for place in range(len(block.columns))]
    named = list(range(naming))
    group, used = named.copy(), sum(widths[:naming])
    for place in range(naming, len(widths)):
        if len(group) > naming and used + widths[place] - 3 > width:
            yield group
            group, used = named.copy(), sum(widths[:naming])
        group.append(place)
        used += widths[place]
    yield group
