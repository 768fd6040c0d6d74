"""What an audit can find: each finding is one decorated function with a code that keeps its meaning for ever."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.declaration import table_of
from scorespace.frozen import dataclass
from scorespace.results import Note, Row, plain

LEVELS: Final = ("info", "warning")
"""How serious a finding is, in rising order."""


@dataclass(frozen=True)
class Finding:
    """One thing found: where, how sure, which rows show it, and what to do about it.

    `numbers` holds effect sizes and p-values by name; `examples` are a few rows, counted from 1.
    """

    code: str
    level: str
    title: str
    columns: tuple[str, ...]
    text: str
    advice: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    examples: tuple[Row, ...] = ()

    @property
    def note(self) -> Note:
        """The finding as the note that terminal and page show."""
        return Note(self.code, self.level, f"{self.text} {self.advice}".strip())

    def to_dict(self) -> Row:
        return plain(vars(self))


@dataclass(frozen=True)
class Seen:
    """What a rule answers for one occurrence; the level is that of its declaration unless stated."""

    columns: tuple[str, ...]
    text: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    examples: tuple[Row, ...] = ()
    level: str = ""


def first_rows(where: NDArray[np.bool_]) -> tuple[Row, ...]:
    """The first rows for which something holds, counted from 1, as examples.

    >>> first_rows(np.array([False, True, True]))
    ({'row': 2}, {'row': 3})
    """
    return tuple({"row": int(row) + 1} for row in np.flatnonzero(where)[:3])


Rule = Callable[[Any], Iterator[Seen]]


@dataclass(frozen=True)
class FindingKind:
    """A declared finding: its code and words, and what its rule looks at (the type of the first parameter)."""

    code: str
    level: str
    title: str
    advice: str
    about: type
    rule: Rule = field(repr=False)
    leak: bool = False


FINDING_KINDS: Final[dict[str, FindingKind]] = {}
"""All findings by code."""


def finding(code: str, level: str, title: str, advice: str = "", *, leak: bool = False) -> Callable[[Rule], Rule]:
    """Declare a finding by the rule that looks for it; the annotation of its parameter says what it looks at.

    `leak` marks what hands the target to a model that will not have it when it is used.
    """

    def declare(rule: Rule) -> Rule:
        if code in FINDING_KINDS:
            raise ValueError(f"{code} is declared twice")
        FINDING_KINDS[code] = FindingKind(code, level, title, advice, table_of(rule), rule, leak)
        return rule

    return declare


def look(about: object) -> list[Finding]:
    """What the rules for this kind of thing find in it, in the order of their codes."""
    return [
        Finding(
            kind.code,
            seen.level or kind.level,
            kind.title,
            seen.columns,
            seen.text,
            kind.advice,
            seen.numbers,
            seen.examples,
        )
        for kind in sorted(FINDING_KINDS.values(), key=lambda kind: kind.code)
        if kind.about is type(about)
        for seen in kind.rule(about)
    ]
