"""Registry of audit findings: one function per finding, with a code that never changes its meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.registry import required_table
from scorespace.results import Note, Row, to_json_types

LEVELS: Final = ("info", "warning")
"""Severity levels, ascending."""


@dataclass(frozen=True)
class AuditFinding:
    """A finding: where it occurs, its evidence, example rows, and what to do about it.

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
        """The finding as a note."""
        return Note(self.code, self.level, f"{self.text} {self.advice}".strip())

    def to_dict(self) -> Row:
        return to_json_types(vars(self))


@dataclass(frozen=True)
class Occurrence:
    """One occurrence of a finding; its level overrides the registered one."""

    columns: tuple[str, ...]
    text: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    examples: tuple[Row, ...] = ()
    level: str = ""


def first_rows(where: NDArray[np.bool_]) -> tuple[Row, ...]:
    """First rows that meet a condition, counted from 1, as examples.

    >>> first_rows(np.array([False, True, True]))
    ({'row': 2}, {'row': 3})
    """
    return tuple({"row": int(row) + 1} for row in np.flatnonzero(where)[:3])


Rule = Callable[[Any], Iterator[Occurrence]]


@dataclass(frozen=True)
class FindingKind:
    """A registered finding: its code and texts, and the type that its rule inspects."""

    code: str
    level: str
    title: str
    advice: str
    about: type
    rule: Rule = field(repr=False)
    leak: bool = False


FINDING_KINDS: Final[dict[str, FindingKind]] = {}
"""Findings by code."""


def finding(code: str, level: str, title: str, advice: str = "", *, leak: bool = False) -> Callable[[Rule], Rule]:
    """Register a finding by its rule; the annotation of the rule's parameter is the type it inspects.

    `leak` marks findings that reveal the target to a model but will not be available in use.
    """

    def declare(rule: Rule) -> Rule:
        if code in FINDING_KINDS:
            raise ValueError(f"{code} is declared twice")
        FINDING_KINDS[code] = FindingKind(code, level, title, advice, required_table(rule), rule, leak)
        return rule

    return declare


def run_checks(subject: object) -> list[AuditFinding]:
    """Run all rules for this type of object, in the order of their codes."""
    return [
        AuditFinding(
            kind.code,
            occurrence.level or kind.level,
            kind.title,
            occurrence.columns,
            occurrence.text,
            kind.advice,
            occurrence.numbers,
            occurrence.examples,
        )
        for kind in sorted(FINDING_KINDS.values(), key=lambda kind: kind.code)
        if kind.about is type(subject)
        for occurrence in kind.rule(subject)
    ]
