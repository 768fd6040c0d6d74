"""Documents independent of the output format: terminal, Markdown, HTML and notebooks each render them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from scorespace.results import Note


@dataclass(frozen=True)
class Text:
    """A paragraph of plain text; with a title in `folded`, it is collapsed under that title."""

    text: str
    folded: str = ""


@dataclass(frozen=True)
class Verdict:
    """The main conclusion in a few sentences; last in a terminal, first in an HTML report.

    `headline` is the conclusion in about 20 words, and `status` whether it is "clear"; HTML then folds the text.
    """

    text: str
    headline: str = ""
    status: str = ""


Dot = tuple[float, float, float]
"""A value and its confidence limits, which are NaN if there are none."""


@dataclass(frozen=True)
class Grid:
    """A table of short texts; the first column names the rows.

    `hints` are tooltips of row and column names. With `prose`, the last column holds sentences that may wrap. With a
    title in `folded`, the table is collapsed under that title. A terminal leaves out the last `optional` columns where
    they do not fit beside the others. `dots` are the numbers of the cells behind the row names, each a value with its
    limits, which HTML draws on an axis per column; with `selects`, a row name selects that model in the panel.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    hints: tuple[tuple[str, str], ...] = ()
    prose: bool = False
    folded: str = ""
    optional: int = 0
    dots: tuple[tuple[Dot | None, ...], ...] = ()
    selects: bool = False

    def without_blanks(self, keep: int = 1) -> Grid:
        """The table without empty columns, except the first `keep`.

        >>> Grid(("model", "auc", "at"), (("nb", "0.7", ""),)).without_blanks().columns
        ('model', 'auc')
        """
        kept_columns = [
            column for column in range(len(self.columns)) if column < keep or any(row[column] for row in self.rows)
        ]
        rows = tuple(tuple(row[column] for column in kept_columns) for row in self.rows)
        dots = tuple(tuple(row[column - 1] for column in kept_columns[1:]) for row in self.dots)
        return replace(self, columns=tuple(self.columns[column] for column in kept_columns), rows=rows, dots=dots)


@dataclass(frozen=True)
class Picture:
    """A chart, drawn only by formats that show charts, with an alternative text.

    Consecutive `small` charts are placed side by side. With `drag`, the operating point can be dragged in it. A panel
    names its charts by `tab`. A `key` is the same for the same chart: its data are stored once.
    """

    draw: Callable[[], Any]
    alt: str
    caption: str = ""
    small: bool = False
    drag: bool = False
    tab: str = ""
    key: str = ""


@dataclass(frozen=True)
class Notes:
    """Findings, most severe first; `more` says what was left out and how to see it."""

    notes: tuple[Note, ...]
    more: str = ""


@dataclass(frozen=True)
class Panel:
    """An interactive panel with its charts; `content` names its template and its script.

    Only HTML reports show it.
    """

    content: Any
    pictures: tuple[Picture, ...] = ()


Block = Text | Verdict | Grid | Picture | Notes | Panel


@dataclass(frozen=True)
class Section:
    """A titled section; `brief` sections also appear in text output, with the blocks in `short` if there are any.

    `question` is the question it answers. `folded` sections are collapsed and show only that question and their
    first text. `part` is the entry of the navigation it belongs to; sections with `printed` are on the printed summary.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
    brief: bool = False
    short: tuple[Block, ...] = ()
    question: str = ""
    folded: bool = False
    part: str = ""
    printed: bool = False


_LAST_IN_BRIEF: Final = {"verdict": 1, "notes": 2}


@dataclass(frozen=True)
class Document:
    """A title, one line of facts about the sample, and sections in reading order.

    `provenance` says how to reproduce the document. `names` says which rows of the data it lists, if any.
    """

    title: str
    facts: str
    sections: tuple[Section, ...]
    made: tuple[str, ...] = ()
    names: str = ""

    def add(self, *sections: Section) -> Document:
        """The document with more sections at the end."""
        return replace(self, sections=(*self.sections, *sections))

    def brief(self) -> Document:
        """The document reduced to one screen of text, with the verdict and notes last."""
        sections = (
            replace(section, blocks=section.short or section.blocks) for section in self.sections if section.brief
        )
        return replace(self, sections=tuple(sorted(sections, key=lambda section: _LAST_IN_BRIEF.get(section.name, 0))))


def one_section(
    title: str, facts: str, name: str, blocks: Iterable[Block], verdict: str, notes: Iterable[Note] = (), more: str = ""
) -> Document:
    """A document with a single section: its blocks, the verdict, the notes if there are any, and what was left out."""
    closing, content = Notes(tuple(notes), more), (*blocks, Verdict(verdict))
    section = Section(name.lower(), name, (*content, closing) if closing != Notes(()) else content, brief=True)
    return Document(title, facts, (section,))


def left_out(notes: Iterable[Note], *others: str) -> tuple[tuple[Note, ...], str]:
    """The warnings, and a line that counts the remarks and says how to see what else was left out."""
    all_notes = tuple(notes)
    warnings = tuple(one for one in all_notes if one.level == "warning")
    remarks = len(all_notes) - len(warnings)
    counted = [f"{remarks} remark{'s' * (remarks != 1)}: --notes"] if remarks else []
    return warnings, "   ".join([*counted, *others])


def provenance(*inputs: str, command: str | None) -> tuple[str, ...]:
    """Provenance: version, date and inputs, and the command that reproduces the document."""
    from importlib.metadata import version  # slow to import

    text = f"scorespace {version('scorespace')}, {date.today().isoformat()}: {', '.join(inputs)}."
    return (text,) if command is None else (text, command)
