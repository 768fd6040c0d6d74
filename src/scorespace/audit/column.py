"""A column as audit rules see it: its values, its kind, and its profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorespace.audit.column_kinds import ColumnKind, StatedKind, normalise_label, ordered_words, value_text
from scorespace.audit.finding import Occurrence
from scorespace.io.column_profile import ColumnValues
from scorespace.results import Row

_MAX_BINS = 24
_MAX_LABELS = 8


@dataclass(frozen=True, eq=False)
class AuditedColumn:
    """Values of a column with its kind, the evidence for it, and the kind stated by the user."""

    held: ColumnValues = field(repr=False)
    kind: ColumnKind
    evidence: str
    spread: str
    stated: StatedKind | None = None
    target: bool = False

    @property
    def name(self) -> str:
        return self.held.name

    @property
    def known(self) -> int:
        return self.held.known

    def text(self, code: int) -> str:
        return value_text(self.held, code)

    @cached_property
    def count_of(self) -> dict[Any, int]:
        """Number of rows of each value."""
        return dict(zip(self.held.values.tolist(), self.held.counts.tolist(), strict=False))

    def code_of(self, value: float) -> int:
        """Code of a number that occurs."""
        return int(np.searchsorted(self.held.values, value))

    def examples(self, code: int) -> tuple[Row, ...]:
        """First rows with this value, counted from 1."""
        value = self.text(code).strip("'")
        return tuple({"row": row + 1, self.name: value} for row in self.held.first_rows(code))

    def seen(
        self, text: str, numbers: Mapping[str, float] | None = None, code: int | None = None, level: str = ""
    ) -> Occurrence:
        """Occurrence of a finding in this column; `code` adds the first rows of its value as examples."""
        return Occurrence((self.name,), text, numbers or {}, () if code is None else self.examples(code), level)

    def profile(self) -> ColumnProfile:
        """Summary of the column, without its rows."""
        values = self.held
        has_order = (
            values.stored in ("number", "date") and values.distinct > 0 and self.kind.ordered
        )  # others have no median
        ends = (self.text(0), self.text(values.distinct - 1)) if has_order else ("", "")
        return ColumnProfile(
            name=self.name,
            kind=self.kind.name,
            scale=self.kind.scale,
            spread=self.spread,
            evidence=self.evidence,
            rows=values.rows,
            missing=values.missing,
            distinct=values.distinct,
            low=ends[0],
            middle=self.text(int(np.searchsorted(np.cumsum(values.counts), self.known / 2))) if has_order else "",
            high=ends[1],
            target=self.target,
            bars=histogram_bars(self),
        )


@dataclass(frozen=True)
class HistogramBar:
    """One bar of a histogram: its range (equal ends for a label), its rows, and its label."""

    low: float
    high: float
    rows: int
    label: str


@dataclass(frozen=True)
class ColumnProfile:
    """Summary of a column: its kind and the evidence, missing values, range and histogram."""

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
    bars: tuple[HistogramBar, ...] = field(repr=False)
    findings: tuple[str, ...] = ()

    def row(self) -> Row:
        fields = {name: value for name, value in vars(self).items() if name not in ("name", "rows", "bars")}
        ends = {name: fields[name] or None for name in ("low", "middle", "high")}
        return {"column": self.name, **fields, **ends, "findings": list(self.findings)}


def histogram_bars(column: AuditedColumn) -> tuple[HistogramBar, ...]:
    """Histogram of numbers, or counts of the most frequent labels."""
    values = column.held
    if values.stored in ("number", "date") and values.distinct > _MAX_BINS:
        return _histogram(values.values, values.counts)
    order = range(min(values.values.size, values.distinct))
    if values.stored == "text":
        codes = _displayed_codes(column, list(order))
        label_bars = [HistogramBar(0, 0, int(values.counts[code]), column.text(code).strip("'")) for code in codes]
        rest = int(values.counts.sum() - values.counts[codes].sum())
        return (*label_bars, HistogramBar(0, 0, rest, "others")) if rest else tuple(label_bars)
    return tuple(
        HistogramBar(float(values.values[c]), float(values.values[c]), int(values.counts[c]), column.text(c))
        for c in order
    )


def _displayed_codes(column: AuditedColumn, codes: list[int]) -> list[int]:
    """Codes of the most frequent labels; levels of an ordinal column from low to high."""
    if column.kind.name != "ordinal" or len(codes) > _MAX_BINS:
        return codes[:_MAX_LABELS]
    texts = [str(column.held.values[code]) for code in codes]
    levels = [
        normalise_label(label) for label in (column.stated.levels if column.stated else ()) or ordered_words(texts)
    ]
    rank = {level: number for number, level in enumerate(levels)}
    return sorted(codes, key=lambda code: rank.get(normalise_label(texts[code]), len(levels)))


def _histogram(values: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[HistogramBar, ...]:
    finite = np.isfinite(values)
    values, counts = values[finite], counts[finite]
    low, high = float(values[0]), float(values[-1])
    edges = 4 * np.linspace(low / 4, high / 4, _MAX_BINS + 1)  # avoids overflow of high − low
    bin_index = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, _MAX_BINS - 1)
    rows = np.bincount(bin_index, counts, minlength=_MAX_BINS)
    return tuple(
        HistogramBar(float(a), float(b), int(n), "") for a, b, n in zip(edges[:-1], edges[1:], rows, strict=True)
    )
