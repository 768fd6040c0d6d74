"""Render a document in the terminal with Rich; the meaning does not depend on colour."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text as Styled

from scorespace.errors import escape_control_characters
from scorespace.report.document import Block, Document, Grid, Notes, Panel, Picture, Text, Verdict

_FILLER = "\0"  # placeholder for the second cell of a wide character while lines are wrapped
_NBSP = "\N{NO-BREAK SPACE}"
_NOTE_LINES = 3
_NAME_LENGTHS = (32, 24, 20)  # characters of a name in a note, tried in turn
_COMMAND_OR_NAME = re.compile(r'--\w[\w-]* ?(?:"[^"]*"|\S*)|(?P<name>[^\s\W][\w.\-/]*)')
_LEVEL_STYLES = {"warning": "yellow", "info": "dim"}


def show(document: Document, console: Console) -> None:
    """Print the document, wrapped to the width of the console; title and facts are two lines or follow a blank one."""
    title, facts = escape_control_characters(document.title), escape_control_characters(document.facts)
    before, gap = ("\n", "   ") if cell_len(title + facts) + 3 <= console.width else ("", "\n")
    console.print(Styled.assemble(before, (title, "bold"), gap, facts))
    for section in document.sections:
        for block in section.blocks:
            _show_block(block, console)


def text(document: Document, width: int = 100) -> str:
    """The document as plain text."""
    out = io.StringIO()
    # In a notebook a console would display the text instead of writing it.
    show(document, Console(file=out, width=width, color_system=None, highlight=False, force_jupyter=False))
    return "\n".join(line.rstrip() for line in out.getvalue().strip("\n").splitlines())


def grid(block: Grid, console: Console) -> None:
    """Print a table, split into parts below each other if its columns do not fit side by side."""
    rows = tuple(tuple(map(escape_control_characters, row)) for row in block.rows)
    block = replace(block, columns=tuple(map(escape_control_characters, block.columns)), rows=rows)
    if block.optional and _full_width(block, 2) > console.width:
        kept = len(block.columns) - block.optional
        rows = tuple(row[:kept] for row in rows)
        block = replace(block, columns=block.columns[:kept], rows=rows, optional=0)
    n_name_columns = _n_name_columns(block, console.width)
    for part, columns in enumerate(_column_groups(block, n_name_columns, console.width)):
        visible_rows = tuple(
            row for row in rows if part == 0 or any(row[column] for column in columns[n_name_columns:])
        )
        console.print()
        console.print(_table(replace(block, rows=visible_rows), columns, console.width))


def _show_block(block: Block, console: Console) -> None:
    match block:
        case Verdict(text):
            console.print()
            console.print(Styled(_wrapped(text, console.width), style="bold"))
        case Text(text):
            console.print()
            console.print(Styled(_wrapped(text, console.width)))
        case Grid():
            grid(block, console)
        case Notes():
            _show_notes(block, console)
        case Picture() | Panel():
            pass  # charts are not available in a terminal


def _show_notes(block: Notes, console: Console) -> None:
    if block.notes or block.more:
        console.print()
    for number, note in enumerate(block.notes):
        label = "notes " if number == 0 else " " * 6
        margin = " " * (len(label) + len(note.code) + 1)
        text = _wrapped_note(note.text, console.width - len(margin)).replace("\n", f"\n{margin}")
        console.print(Styled.assemble(label, (note.code, _LEVEL_STYLES.get(note.level, "")), " ", text))
    if block.more:
        console.print(Styled(_wrapped(block.more, console.width)))


def _wrapped_note(text: str, width: int) -> str:
    """Wrap a note; where it takes more than three lines, shorten long names in the middle, but not in its commands."""
    wrapped = _wrapped(text, width)
    for longest in _NAME_LENGTHS:
        if wrapped.count("\n") < _NOTE_LINES:
            break
        wrapped = _wrapped(_COMMAND_OR_NAME.sub(partial(_shorten, longest), text), width)
    return wrapped


def _shorten(longest: int, match: re.Match[str]) -> str:
    """A name with an ellipsis in its middle; commands stay, so that they can be copied."""
    name = match["name"]
    if name is None or len(name) <= longest:
        return match[0]
    return f"{name[: longest // 2]}…{name[-(longest // 2 - 1) :]}"


def _wrapped(text: str, width: int) -> str:
    """Wrap text to the width, keeping numbers such as 1 000, 5 %, p < 0.001 and intervals on one line."""
    unbroken = re.sub(
        r"(?<=\d) (?=\d{3}\b|%)|(?<=\bp) (?=[<=] )|(?<=[<=]) (?=\d)|(?<=\d,) (?=[−\d][\d.]*\])", _NBSP, text
    )
    lines = (_fill(escape_control_characters(line), max(20, width)) for line in unbroken.split("\n"))
    return "\n".join(lines).replace(_NBSP, " ")


def _fill(line: str, width: int) -> str:
    """Wrap a line to a width in terminal cells; wide characters take two."""
    if cell_len(line) == len(line):
        return textwrap.fill(line, width, break_on_hyphens=False)
    wide = re.sub(r"\S", lambda match: match[0] + _FILLER * (cell_len(match[0]) - 1), line)
    return textwrap.fill(wide, width, break_on_hyphens=False).replace(_FILLER, "")


def _table(block: Grid, columns: list[int], width: int) -> Table:
    gap = _gap(block, width)
    table = Table(box=None, padding=(0, gap, 0, 0), header_style="bold", pad_edge=False)
    widths = [max(cell_len(row[column]) for row in (block.columns, *block.rows)) for column in columns]
    too_wide = sum(widths) + gap * len(widths) - gap > width
    for column, column_width in zip(columns, widths, strict=True):
        is_name_column = column == columns[0] and column_width <= width // 2  # names do not wrap
        wraps = (block.prose and column == columns[-1]) or (too_wide and not is_name_column)
        min_width = column_width if is_name_column else None
        table.add_column(Styled(block.columns[column]), justify="left", no_wrap=not wraps, min_width=min_width)
    for row in block.rows:
        table.add_row(*(Styled(row[column]) for column in columns))
    return table


def _gap(block: Grid, width: int) -> int:
    """Blanks between columns: three, or two where all columns then fit side by side."""
    return 2 if _full_width(block, 2) <= width < _full_width(block, 3) else 3


def _full_width(block: Grid, gap: int) -> int:
    """Width of all columns side by side."""
    columns = range(len(block.columns))
    widths = [max(cell_len(row[column]) for row in (block.columns, *block.rows)) for column in columns]
    return sum(widths) + gap * (len(widths) - 1)


def _n_name_columns(block: Grid, width: int) -> int:
    """Number of leading columns that identify a row: two if the first is not unique and both fit."""
    names, pairs = ({row[:first] for row in block.rows} for first in (1, 2))
    if not len(names) < len(pairs) == len(block.rows):
        return 1
    rows = (block.columns, *block.rows)
    return 2 if sum(max(cell_len(row[column]) for row in rows) for column in (0, 1)) <= width // 2 else 1


def _column_groups(block: Grid, n_name_columns: int, width: int) -> Iterator[list[int]]:
    """Groups of columns that fit the width, each starting with the name columns."""
    if block.prose:
        yield list(range(len(block.columns)))
        return
    rows = (block.columns, *block.rows)
    gap = _gap(block, width)
    widths = [max(cell_len(row[column]) for row in rows) + gap for column in range(len(block.columns))]
    name_columns = list(range(n_name_columns))
    group, used = name_columns.copy(), sum(widths[:n_name_columns])
    for column in range(n_name_columns, len(widths)):
        if len(group) > n_name_columns and used + widths[column] - gap > width:
            yield group
            group, used = name_columns.copy(), sum(widths[:n_name_columns])
        group.append(column)
        used += widths[column]
    yield group
