"""The declaration of a finding: one decorated function that says what a reader should know of a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any

from scorespace.declaration import load_plugins, table_of
from scorespace.frozen import dataclass
from scorespace.resampling.estimate import Estimate
from scorespace.results import NOTE_KINDS, Note, NoteKind, joined, note
from scorespace.tables import Counts, NoTableError, Table
from scorespace.tables.threshold import threshold_text

if TYPE_CHECKING:
    from scorespace.decisions.judged import Value


@dataclass(frozen=True)
class Look:
    """A model as it is shown: its name, the threshold, whether that was chosen on these cases, and its numbers.

    `times` is the number of distinct times of a series, 0 without any; `prevalence` the stated share of positives where
    it will be used. `judged` gives Youden's index on cases that did not choose the threshold where it is highest.
    """

    model: str
    at: float | None = None
    chosen: bool = False
    estimates: tuple[Estimate, ...] = field(default=(), repr=False)
    times: int = 0
    prevalence: float | None = None
    judged: Callable[[], Value] | None = field(default=None, repr=False)

    @property
    def where(self) -> str:
        """The threshold, to go on a sentence."""
        return "" if self.at is None else f" at {threshold_text(self.at)}"


Said = str | None | Iterator[str]


@dataclass(frozen=True)
class Finding:
    """A kind of note, the tables it is about, and the function that says it, or nothing."""

    code: str
    tables: tuple[type, ...]
    function: Callable[[Any, Look], Said]


FINDINGS: list[Finding] = []
"""Every declared finding, in the order of declaration."""


def finding(
    code: str, *, also: tuple[type, ...] = (), level: str | None = None, title: str | None = None
) -> Callable[..., Any]:
    """Declare a finding on the table that the first parameter names; a new code states its level and title.

    The function returns what to say, or None, or yields several sentences. `also`: further tables it is about.
    """

    def declare(function: Callable[[Any, Look], Said]) -> Callable[[Any, Look], Said]:
        if level is not None and title is not None:
            NOTE_KINDS.setdefault(code, NoteKind(level, title))
        FINDINGS.append(Finding(code, (table_of(function), *also), function))
        return function

    return declare


def notes_on(table: Table, look: Look) -> Iterator[Note]:
    """What there is to say of a model's table, and of the outcomes inside it."""
    load_plugins()
    for one in FINDINGS:
        about = table if isinstance(table, one.tables) else _outcomes(table, look) if Counts in one.tables else None
        said = None if about is None else one.function(about, look)
        yield from (note(one.code, text) for text in ([said] if isinstance(said, str) else said or ()))


def for_all(notes: Iterable[Note], models: Iterable[str]) -> list[Note]:
    """The notes, with what is said of several models in the same words said once, for all of them.

    >>> alike = [Note("SS004", "warning", f"{name} predicts nothing positive.") for name in ("nb", "tree")]
    >>> for_all(alike, ["nb", "tree"])[0].text
    'each of nb and tree predicts nothing positive.'
    """
    told: dict[tuple[str, str, str], dict[str, None]] = {}
    names = sorted(models, key=len, reverse=True)
    for one in notes:
        named = ((name, re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", "\0", one.text)) for name in names)
        name, text = next(((name, text) for name, text in named if text != one.text), ("", one.text))
        told.setdefault((one.code, one.level, text), {})[name] = None
    return [
        Note(code, level, text.replace("\0", f"{'each of ' * (len(about) > 1)}{joined(list(about))}"))
        for (code, level, text), about in told.items()
    ]


def _outcomes(table: Table, look: Look) -> Table | None:
    """The outcomes of a two-class model, for findings about decisions; scores of a crisp one say nothing more."""
    if table.positive_name is None:
        return None
    try:
        return table.inside(Counts, None, look.at if table.thresholded else None)
    except NoTableError:
        return None
