"""The neutral page: what a view shows, without saying how; terminal, Markdown and HTML each render it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date
from typing import Any, Final

from scorespace.frozen import dataclass
from scorespace.results import Note


@dataclass(frozen=True)
class Text:
    """A paragraph of plain text; one that is `folded` is seen on request, under that title."""

    text: str
    folded: str = ""


@dataclass(frozen=True)
class Verdict:
    """The answer in a few sentences; the last thing a terminal shows, the first a page does."""

    text: str


@dataclass(frozen=True)
class Grid:
    """A table of short texts; the first column names the rows and is set left, the others right.

    `hints` explains row names, by the name: a page shows them on hovering. With `prose`, the last
    column holds sentences that may wrap. One that is `folded` is seen on request, under that title.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    hints: tuple[tuple[str, str], ...] = ()
    prose: bool = False
    folded: str = ""

    def without_blanks(self, keep: int = 1) -> Grid:
        """The grid without columns that say nothing, but for the first ones.

        >>> Grid(("model", "auc", "at"), (("nb", "0.7", ""),)).without_blanks().columns
        ('model', 'auc')
        """
        kept = [place for place in range(len(self.columns)) if place < keep or any(row[place] for row in self.rows)]
        rows = tuple(tuple(row[place] for place in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[place] for place in kept), rows=rows)


@dataclass(frozen=True)
class Picture:
    """A chart, drawn only when a view can show it, with a sentence for those who cannot see it.

    Many `small` ones stand side by side. Along the curve of one to `drag`, a pointer moves the operating point.
    """

    draw: Callable[[], Any]
    alt: str
    caption: str = ""
    small: bool = False
    drag: bool = False


@dataclass(frozen=True)
class Notes:
    """Findings, most serious first."""

    notes: tuple[Note, ...]


@dataclass(frozen=True)
class Panel:
    """What a reader can move, with the pictures beside it; `content` names its template and its script.

    Only a page has room for it.
    """

    content: Any
    pictures: tuple[Picture, ...] = ()


Block = Text | Verdict | Grid | Picture | Notes | Panel


@dataclass(frozen=True)
class Section:
    """A titled part of a page; `brief` parts also appear where there is only room for text, the `short` way if any.

    `question` is what it answers, as a sentence; `folded` parts show no more than that, and their first text, until
    they are opened.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
    brief: bool = False
    short: tuple[Block, ...] = ()
    question: str = ""
    folded: bool = False


_LAST_IN_BRIEF: Final = {"verdict": 1, "notes": 2}


@dataclass(frozen=True)
class Document:
    """A page: a title, one line of facts, and sections in reading order; `made` says how to make it again.

    `names` says which rows of the data it names, where it does not hold summaries alone.
    """

    title: str
    facts: str
    sections: tuple[Section, ...]
    made: tuple[str, ...] = ()
    names: str = ""

    def add(self, *sections: Section) -> Document:
        """The page with further sections behind its own."""
        return replace(self, sections=(*self.sections, *sections))

    def brief(self) -> Document:
        """The page reduced to what fits one screen of text: the answer last, where the eye stays."""
        shown = (replace(section, blocks=section.short or section.blocks) for section in self.sections if section.brief)
        return replace(self, sections=tuple(sorted(shown, key=lambda section: _LAST_IN_BRIEF.get(section.name, 0))))


def one_section(
    title: str, facts: str, name: str, blocks: Iterable[Block], words: str, notes: Iterable[Note] = ()
) -> Document:
    """A page of one section, for any room: what was found, the answer, and the notes if there are some."""
    held, told = tuple(notes), (*blocks, Verdict(words))
    section = Section(name.lower(), name, (*told, Notes(held)) if held else told, brief=True)
    return Document(title, facts, (section,))


def made(*what: str, command: str | None) -> tuple[str, ...]:
    """With what, when and from what a page was made, and how it is made again."""
    from importlib.metadata import version  # which loads what parses e-mail

    told = f"scorespace {version('scorespace')}, {date.today().isoformat()}: {', '.join(what)}."
    return (told,) if command is None else (told, command)
