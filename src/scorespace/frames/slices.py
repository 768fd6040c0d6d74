"""Slices of a sample: the rows of each value of a column, or of each combination of several columns.

Every row is in one slice: those without a value make a slice of their own. The slice is one more key of the rows,
an expression that any engine can group by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count as numbers_from
from itertools import pairwise
from typing import Annotated, Any, Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorespace.declaration import Option, options_of, read_options
from scorespace.errors import ColumnError, listing
from scorespace.frames.check import Sample, in_order, label, number, refuse_nested
from scorespace.frames.roles import absent_column
from scorespace.frames.source import Frame, Source
from scorespace.results import grouped
from scorespace.tables.bins import BITS, cell
from scorespace.tables.labels import label_text

MOST_SLICES: Final = 50
"""More slices are no slices: every gap would drown in the adjustment for all the others."""

MISSING: Final = "missing"
SLICE: Final = "the slice"
_CALL: Final = re.compile(r"\s*(?P<name>.+?)\s*\((?P<options>[^()]*)\)\s*", re.DOTALL)
_TABLES: Final = numbers_from()


def slices(*, bins: Annotated[int | None, "parts of about as many rows, of a column of numbers"] = None) -> None:
    """How a column makes slices: a slice for each value, or so many parts of its numbers."""


@dataclass(frozen=True)
class Cut:
    """A column that makes slices, with its options in the one grammar: COLUMN, or COLUMN(bins=4)."""

    column: str
    bins: int | None = None
    name: str = "by"
    aliases: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[Option, ...]:
        return options_of(slices)


@dataclass(frozen=True)
class Key:
    """The slices of one column: its values as the engine holds them, or the edges between its parts, and their names.

    The last name is that of rows without a value, where there are such.
    """

    column: str
    kind: nw.dtypes.DType
    names: tuple[str, ...]
    values: tuple[Any, ...] = ()
    edges: tuple[float, ...] = ()

    def code(self, frame: Frame) -> nw.Expr:
        """The number of each row's slice."""
        gap = _gap(frame, self.column, self.kind)
        if self.edges:
            parts = ((number(self.column) >= edge).cast(nw.Int64) for edge in self.edges)
            found = reduce(lambda a, b: a + b, parts)
        else:
            held = _label(frame, self.column, self.kind)
            codes = list(range(len(self.values)))
            found = held.replace_strict(list(self.values), codes, default=len(codes), return_dtype=nw.Int64)
        return nw.when(gap).then(nw.lit(len(self.names) - 1)).otherwise(found).cast(nw.Int64)


@dataclass(frozen=True)
class Slicing:
    """Which slice each row is in, by the columns it was asked for by."""

    keys: tuple[Key, ...]

    @property
    def by(self) -> tuple[str, ...]:
        return tuple(key.column for key in self.keys)

    def code(self, frame: Frame) -> nw.Expr:
        """The number of each row's slice, the first column leading."""
        found = self.keys[0].code(frame)
        for key in self.keys[1:]:
            found = found * len(key.names) + key.code(frame)
        return found

    def name(self, code: int) -> str:
        """The name of a slice: the values of its columns."""
        parts: list[str] = []
        for key in reversed(self.keys):
            code, place = divmod(code, len(key.names))
            parts.insert(0, key.names[place])
        return " × ".join(parts)


def slicing(source: Source, by: str | Sequence[str]) -> Slicing:
    """The slices that columns make, each looked at in one pass over it.

    >>> from scorespace.frames import read
    >>> found = slicing(read({"ward": ["B", "A", None], "age": [30, 50, 70]}), ["ward", "age(bins=2)"])
    >>> [key.names for key in found.keys]
    [('A', 'B', 'missing'), ('< 50', '≥ 50')]
    """
    texts = [by] if isinstance(by, str) else list(by)
    if not texts:
        raise ColumnError("no column is named to slice by.", seen=listing(source.columns), hint='by="ward"')
    cuts = [_cut(text, source) for text in texts]
    twice = next((one.column for place, one in enumerate(cuts) if one.column in [c.column for c in cuts[:place]]), None)
    if twice is not None:
        raise ColumnError(f"column {twice!r} is named twice to slice by.", hint="each column once")
    return Slicing(tuple(_key(source, cut) for cut in cuts))


def _cut(text: str, source: Source) -> Cut:
    if text in source.columns:
        return Cut(text)
    match = _CALL.fullmatch(text)
    if match is None or match["name"] not in source.columns:
        raise absent_column(text if match is None else match["name"], source)
    stated = dict(read_options(Cut(match["name"]), match["options"], text, ColumnError))
    bins = stated.get("bins")
    if bins is None or not 2 <= bins <= MOST_SLICES:
        raise ColumnError(f"{text} makes no slices.", hint=f"{match['name']}(bins=4), from 2 to {MOST_SLICES} parts")
    return Cut(match["name"], bins)


def _key(source: Source, cut: Cut) -> Key:
    frame = source.frame
    kind = frame.collect_schema()[cut.column]
    refuse_nested(cut.column, kind, "values to slice by")
    gap = _gap(frame, cut.column, kind)
    missing = source.arrays(frame.select(gap.cast(nw.Int64).sum().alias("gaps")))["gaps"]
    gaps = [MISSING] if missing.size and int(missing[0] or 0) else []
    if cut.bins is not None:
        if not kind.is_numeric():
            raise ColumnError(
                f"column {cut.column!r} holds no numbers, and bins are parts of numbers.",
                seen=str(kind),
                hint=f'by="{cut.column}"',
            )
        edges = _edges(source, frame.filter(~gap), cut)
        return Key(cut.column, kind, (*_ranges(edges), *gaps), edges=edges)
    found = frame.filter(~gap).select(_label(frame, cut.column, kind).alias("label"))
    counted = source.arrays(found.group_by("label").agg(rows=nw.len()).head(MOST_SLICES + 1))["label"].tolist()
    if len(counted) > MOST_SLICES:
        wide = kind.is_numeric()
        raise ColumnError(
            f"column {cut.column!r} has too many values to slice by.",
            seen=f"more than {MOST_SLICES}, such as {', '.join(map(label_text, in_order(counted)[:3]))}",
            hint=f'by="{cut.column}(bins=4)", parts of about as many rows' if wide else "a column of fewer values",
        )
    if not counted and not gaps:
        raise ColumnError(f"column {cut.column!r} has no rows to slice by.", hint="one row per case")
    values = in_order(counted)
    return Key(cut.column, kind, (*_names(values, kind), *gaps), tuple(values))


def _names(values: Sequence[Any], kind: nw.dtypes.DType) -> list[str]:
    """The values as people write them; one that looks like the name of those without a value is put in quotes."""
    texts = [("false", "true")[int(one)] if kind == nw.Boolean else label_text(one) for one in values]
    return [f"'{text}'" if text == MISSING or not text.strip() else text for text in texts]


def _label(frame: Frame, column: str, kind: nw.dtypes.DType) -> nw.Expr:
    """The values as labels that every engine groups alike; what is read as text now as the number that it was."""
    if kind == nw.Boolean:
        return nw.col(column).cast(nw.Int64)
    if kind.is_numeric() and not frame.collect_schema()[column].is_numeric():
        return number(column) + 0.0
    if not (kind.is_numeric() or kind.is_temporal()):
        return nw.col(column).cast(nw.String)
    return label(frame, column)


def _gap(frame: Frame, column: str, kind: nw.dtypes.DType) -> nw.Expr:
    gap = nw.col(column).is_null()
    return gap | number(column).is_nan() if kind.is_float() else gap


def _edges(source: Source, frame: Frame, cut: Cut) -> tuple[float, ...]:
    """Where parts of about as many rows begin: at values that occur, found from fine bins that any engine counts."""
    value = nw.col("value")
    held = frame.select(number(cut.column).alias("value")).filter(value.abs() < float("inf"))
    held = held.with_columns(cell(value, BITS, _choose).alias("cell"))
    found = source.arrays(held.group_by("cell").agg(rows=nw.len(), low=value.min()))
    order = np.argsort(found["low"].astype(np.float64))
    low, rows = found["low"].astype(np.float64)[order], found["rows"].astype(np.float64)[order]
    below = np.cumsum(rows) - rows  # the rows that lie below each of these values
    wanted = np.arange(1, cut.bins or 1) / (cut.bins or 1) * rows.sum()
    nearest = {int(np.argmin(np.abs(below - one))) for one in wanted.tolist()} if low.size else set()
    edges = tuple(float(low[place]) for place in sorted(nearest) if place)
    if not edges:
        raise ColumnError(f"column {cut.column!r} has no two values to part.", hint="a column whose values differ")
    return edges


def _ranges(edges: Sequence[float]) -> list[str]:
    """The parts between edges in words.

    >>> _ranges([30.0, 50.0])
    ['< 30', '30 to < 50', '≥ 50']
    """
    texts = [f"{edge:.6g}" for edge in edges]
    between = [f"{a} to < {b}" for a, b in pairwise(texts)]
    return [f"< {texts[0]}", *between, f"≥ {texts[-1]}"]


def _choose(condition: Any, one: Any, other: Any) -> Any:
    return nw.when(condition).then(one).otherwise(other)


# --- the rows of each slice


@dataclass(frozen=True)
class Sliced:
    """A sample with the slice of each row beside it: what is in each slice can be counted as the whole is."""

    sample: Sample
    names: Mapping[int, str]
    rows: Mapping[int, int]

    def part(self, code: int) -> Sample:
        """The rows of a slice."""
        return self._chosen(nw.col(SLICE) == code, self.rows[code])

    def rest(self, code: int) -> Sample:
        """All other rows."""
        return self._chosen(nw.col(SLICE) != code, sum(self.rows.values()) - self.rows[code])

    def _chosen(self, which: nw.Expr, rows: int) -> Sample:
        source = replace(self.sample.source, frame=self.sample.source.frame.filter(which))
        return replace(self.sample, source=source, rows=rows, kept={})

    @property
    def shared_groups(self) -> int:
        """How many groups of related cases lie in more than one slice."""
        group = self.sample.roles.group
        if group is None:
            return 0
        frame = self.sample.source.frame
        pairs = frame.select(label(frame, group).alias("group"), nw.col(SLICE)).unique(subset=["group", SLICE])
        several = pairs.group_by("group").agg(slices=nw.len())
        found = self.sample.source.arrays(several.filter(nw.col("slices") > 1).select(nw.len().alias("shared")))
        return int(found["shared"][0]) if found["shared"].size else 0


def sliced(sample: Sample, found: Slicing, *, settle: bool = True) -> Sliced:
    """The rows in use with their slice; `settle` reads them once for all slices, where they fit into memory."""
    frame = sample.frame
    columns = [nw.col(name) for name in dict.fromkeys(column for _, column in sample.roles.columns())]
    held = frame.select(*columns, found.code(frame).alias(SLICE))
    source = replace(sample.source, frame=held, as_text=None, account=None, ranged=None)
    if settle:
        source = _settled(source)
    counted = source.arrays(source.frame.select(SLICE).group_by(SLICE).agg(rows=nw.len()))
    rows = dict(sorted(zip(_whole(counted[SLICE]), _whole(counted["rows"]), strict=True)))
    if len(rows) > MOST_SLICES:
        raise ColumnError(
            f"{' and '.join(map(repr, found.by))} make too many slices together.",
            seen=f"{grouped(len(rows))} slices",
            hint=f"fewer columns, or fewer values: at most {MOST_SLICES} slices",
        )
    if len(rows) < 2:
        raise ColumnError(
            f"there is nothing to compare by {' and '.join(map(repr, found.by))}: all rows are in one slice.",
            seen=f"{grouped(sum(rows.values()))} rows of {found.name(next(iter(rows)))}",
            hint="a column whose values differ",
        )
    names = {code: found.name(code) for code in rows}
    return Sliced(replace(sample, source=source, dropped=0, kept={}), names, rows)


def _whole(values: NDArray[Any]) -> list[int]:
    return [int(one) for one in values.tolist()]


def _settled(source: Source) -> Source:
    """The rows held in memory, where each slice would read a file again."""
    if source.frame.implementation.is_duckdb() and source.connection is not None:
        name = f"slices_{next(_TABLES)}"
        source.frame.to_native().create(name)
        return replace(source, frame=nw.from_native(source.connection.table(name)))
    if isinstance(source.frame, nw.LazyFrame) and source.frame.implementation.is_polars():
        return replace(source, frame=source.frame.collect())
    return source


def each_slice(found: Sliced) -> Iterator[tuple[str, Sample, Sample]]:
    """Every slice by its name, with the rows in it and all others."""
    for code, name in found.names.items():
        yield name, found.part(code), found.rest(code)
