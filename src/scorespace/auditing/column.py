"""A column as the rules see it: what it holds, what kind it is, and the target beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorespace.auditing.finding import Seen
from scorespace.auditing.kinds import Declared, Kind, level_of, ordered_words, text_of
from scorespace.frames.survey import Held
from scorespace.frozen import dataclass
from scorespace.results import Row

_MOST_BINS = 24
_MOST_LABELS = 8


@dataclass(frozen=True, eq=False)
class Column:
    """What a column holds, with its kind, the evidence for it, and how it was stated if it was."""

    held: Held = field(repr=False)
    kind: Kind
    evidence: str
    spread: str
    stated: Declared | None = None
    target: bool = False

    @property
    def name(self) -> str:
        return self.held.name

    @property
    def known(self) -> int:
        return self.held.known

    def text(self, code: int) -> str:
        return text_of(self.held, code)

    @cached_property
    def count_of(self) -> dict[Any, int]:
        """How often each value occurs, by the value."""
        return dict(zip(self.held.values.tolist(), self.held.counts.tolist(), strict=False))

    def code_of(self, value: float) -> int:
        """The code of a number that occurs."""
        return int(np.searchsorted(self.held.values, value))

    def examples(self, code: int) -> tuple[Row, ...]:
        """The first rows with that value, counted from 1."""
        value = self.text(code).strip("'")
        return tuple({"row": row + 1, self.name: value} for row in self.held.first_rows(code))

    def seen(
        self, text: str, numbers: Mapping[str, float] | None = None, code: int | None = None, level: str = ""
    ) -> Seen:
        """What a rule answers about this column; a `code` shows the first rows of its value."""
        return Seen((self.name,), text, numbers or {}, () if code is None else self.examples(code), level)

    def profile(self) -> Profile:
        """What is kept of the column once its rows are let go."""
        held = self.held
        numeric = held.stored in ("number", "date") and held.distinct > 0 and self.kind.ordered  # others have no middle
        ends = (self.text(0), self.text(held.distinct - 1)) if numeric else ("", "")
        return Profile(
            name=self.name,
            kind=self.kind.name,
            scale=self.kind.scale,
            spread=self.spread,
            evidence=self.evidence,
            rows=held.rows,
            missing=held.missing,
            distinct=held.distinct,
            low=ends[0],
            middle=self.text(int(np.searchsorted(np.cumsum(held.counts), self.known / 2))) if numeric else "",
            high=ends[1],
            target=self.target,
            bars=bars(self),
        )


@dataclass(frozen=True)
class Bar:
    """One bar of a column's picture: from, to (the same for a label), how many rows, and what it is called."""

    low: float
    high: float
    rows: int
    label: str


@dataclass(frozen=True)
class Profile:
    """A column in a line: its kind and why, how much of it is missing, its values and their picture."""

    name: str
    kind: str
    scale: str
    spread: str
    evidence: str
    rows: int
    missing: int
    distinct: int
    low: str
    middle: str
    high: str
    target: bool
    bars: tuple[Bar, ...] = field(repr=False)
    findings: tuple[str, ...] = ()

    def row(self) -> Row:
        told = {name: value for name, value in vars(self).items() if name not in ("name", "rows", "bars")}
        ends = {name: told[name] or None for name in ("low", "middle", "high")}
        return {"column": self.name, **told, **ends, "findings": list(self.findings)}


def bars(column: Column) -> tuple[Bar, ...]:
    """The picture of a column: a histogram of numbers, the commonest labels of others."""
    held = column.held
    if held.stored in ("number", "date") and held.distinct > _MOST_BINS:
        return _histogram(held.values, held.counts)
    order = range(min(held.values.size, held.distinct))
    if held.stored == "text":
        shown = _shown(column, list(order))
        found = [Bar(0, 0, int(held.counts[code]), column.text(code).strip("'")) for code in shown]
        rest = int(held.counts.sum() - held.counts[shown].sum())
        return (*found, Bar(0, 0, rest, "others")) if rest else tuple(found)
    return tuple(Bar(float(held.values[c]), float(held.values[c]), int(held.counts[c]), column.text(c)) for c in order)


def _shown(column: Column, codes: list[int]) -> list[int]:
    """The commonest labels; those of an ordinal from low to high, before what is none of its levels."""
    if column.kind.name != "ordinal" or len(codes) > _MOST_BINS:
        return codes[:_MOST_LABELS]
    texts = [str(column.held.values[code]) for code in codes]
    levels = [level_of(label) for label in (column.stated.levels if column.stated else ()) or ordered_words(texts)]
    place = {level: number for number, level in enumerate(levels)}
    return sorted(codes, key=lambda code: place.get(level_of(texts[code]), len(levels)))


def _histogram(values: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[Bar, ...]:
    finite = np.isfinite(values)
    values, counts = values[finite], counts[finite]
    low, high = float(values[0]), float(values[-1])
    edges = 4 * np.linspace(low / 4, high / 4, _MOST_BINS + 1)  # the whole may be wider than any number
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, _MOST_BINS - 1)
    rows = np.bincount(place, counts, minlength=_MOST_BINS)
    return tuple(Bar(float(a), float(b), int(n), "") for a, b, n in zip(edges[:-1], edges[1:], rows, strict=True))
