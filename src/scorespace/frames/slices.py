"""Slices of a sample: the rows of each value of a column, or of each combination of columns that are crossed, a*b.

Every row is in one slice: those without a value make a slice of their own. The slice is one more key of the rows,
an expression that any engine can group by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import count as numbers_from
from itertools import pairwise
from typing import Annotated, Any, Final, Literal

import narwhals as nw
import numpy as np

from scorespace.declaration import Option, options_of, read_options
from scorespace.errors import ColumnError, listing
from scorespace.frames.check import Sample, in_order
from scorespace.frames.roles import absent_column
from scorespace.frames.source import Frame, Source
from scorespace.frames.values import choose, gap, label, number, refuse_nested
from scorespace.frozen import dataclass
from scorespace.results import grouped
from scorespace.tables.bins import BITS, cell
from scorespace.tables.labels import label_text

MOST_SLICES: Final = 50
"""More slices are no slices: every gap would drown in the adjustment for all the others."""

MISSING: Final = "missing"
SLICE: Final = "the slice"
_CALL: Final = re.compile(r"\s*(?P<name>.+?)\s*\((?P<options>[^()]*)\)\s*", re.DOTALL)
_TABLES: Final = numbers_from()


Every = Literal["day", "week", "month", "year"]
_WRITTEN: Final[Mapping[str, str]] = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m", "year": "%Y"}


_DATE: Final = r"^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"


def slices(
    *,
    bins: Annotated[int | None, "parts of about as many rows, of a column of numbers"] = None,
    every: Annotated[Every | None, "a slice for each day, week, month or year, of a column of dates"] = None,
) -> None:
    """How a column makes slices: one for each value, so many parts of its numbers, or one for each month of dates."""


@dataclass(frozen=True)
class Cut:
    """A column that makes slices, with options in the one grammar: COLUMN, COLUMN(bins=4), COLUMN(every=month)."""

    column: str
    bins: int | None = None
    every: Every | None = None
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
    every: Every | None = None

    def code(self, frame: Frame) -> nw.Expr:
        """The number of each row's slice."""
        if self.edges:
            parts = ((number(self.column) >= edge).cast(nw.Int64) for edge in self.edges)
            found = reduce(lambda a, b: a + b, parts)
        else:
            held = _label(frame, self.column, self.kind, self.every)
            codes = list(range(len(self.values)))
            found = held.replace_strict(list(self.values), codes, default=len(codes), return_dtype=nw.Int64)
        return choose(gap(self.column, self.kind), nw.lit(len(self.names) - 1), found).cast(nw.Int64)

    def holds(self, frame: Frame, place: int) -> nw.Expr:
        """Whether a row is in the slice of that number, one of those with a value."""
        if self.edges:
            return self.code(frame) == place
        return _label(frame, self.column, self.kind, self.every) == nw.lit(self.values[place])


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


def slicings(source: Source, by: str | Sequence[str], most: int = MOST_SLICES) -> tuple[Slicing, ...]:
    """The slices of every column that is named, each column by itself; columns joined by * are crossed.

    >>> from scorespace.frames import read
    >>> source = read({"ward": ["B", "A", "A"], "age": [30, 50, 70]})
    >>> [one.by for one in slicings(source, ["ward", "age(bins=2)*ward"])]
    [('ward',), ('age', 'ward')]
    """
    texts = [part for text in ([by] if isinstance(by, str) else by) for part in _split(text, ",", source)]
    if not texts:
        raise ColumnError("no column is named to slice by.", seen=listing(source.columns), hint='by="ward"')
    found = tuple(slicing(source, text, most) for text in texts)
    named = [one.by for one in found]
    twice = next((one for place, one in enumerate(named) if one in named[:place]), None)
    if twice is not None:
        raise ColumnError(f"{'*'.join(twice)!r} is named twice to slice by.", hint="each column once")
    return found


def slicing(source: Source, by: str, most: int = MOST_SLICES) -> Slicing:
    """The slices that a column makes, or columns that are crossed, each looked at in one pass and of at most so many.

    >>> from scorespace.frames import read
    >>> found = slicing(read({"ward": ["B", "A", None], "age": [30, 50, 70]}), "ward*age(bins=2)")
    >>> [key.names for key in found.keys]
    [('A', 'B', 'missing'), ('< 50', '≥ 50')]
    """
    cuts = [_cut(text, source, most) for text in _split(by, "*", source)]
    twice = next((one.column for place, one in enumerate(cuts) if one.column in [c.column for c in cuts[:place]]), None)
    if twice is not None:
        raise ColumnError(f"column {twice!r} is named twice to slice by.", hint="each column once")
    return Slicing(tuple(_key(source, cut, most) for cut in cuts))


def _split(text: str, mark: str, source: Source) -> list[str]:
    """The parts of a text between marks that are outside of parentheses; the name of a column stays whole."""
    if text in source.columns:
        return [text]
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == mark and depth <= 0:
            found.append("")
        else:
            found[-1] += letter
    return [part.strip() for part in found]


def _cut(text: str, source: Source, most: int) -> Cut:
    if text in source.columns:
        return Cut(text)
    match = _CALL.fullmatch(text)
    if match is None or match["name"] not in source.columns:
        raise absent_column(text if match is None else match["name"], source)
    stated = dict(read_options(Cut(match["name"]), match["options"], text, ColumnError))
    bins, every = stated.get("bins"), stated.get("every")
    if (bins is None) == (every is None) or not (bins is None or 2 <= bins <= most):
        raise ColumnError(f"{text} makes no slices.", hint=f"{match['name']}(bins=4), from 2 to {most} parts")
    return Cut(match["name"], bins, every)


def _key(source: Source, cut: Cut, most: int) -> Key:
    frame = source.frame
    kind = frame.collect_schema()[cut.column]
    refuse_nested(cut.column, kind, "values to slice by")
    absent = gap(cut.column, kind)
    gaps = [MISSING] if source.counts(gaps=absent.cast(nw.Int64).sum())["gaps"] else []
    known = source.filtered(~absent)

    def dated() -> bool:
        return _dated(known, cut.column, kind)

    if cut.every is not None and not dated():
        raise ColumnError(
            f"column {cut.column!r} holds no dates, and a {cut.every} is a part of dates.",
            seen=_some(known, cut.column, kind),
            hint=f'by="{cut.column}", or dates such as 2026-01-31',
        )
    if cut.bins is not None:
        if not kind.is_numeric():
            raise ColumnError(
                f"column {cut.column!r} holds no numbers, and bins are parts of numbers.",
                seen=_some(known, cut.column, kind),
                hint=f'by="{cut.column}(every=month)"' if dated() else f'by="{cut.column}"',
            )
        edges = _edges(known, cut)
        return Key(cut.column, kind, (*_ranges(edges), *gaps), edges=edges)
    found = known.frame.select(_label(frame, cut.column, kind, cut.every).alias("label"))
    counted = source.arrays(found.group_by("label").agg(rows=nw.len()).head(most + 1))["label"].tolist()
    if len(counted) > most:
        parts = f'by="{cut.column}(bins=4)", parts of about as many rows' if kind.is_numeric() else None
        longer = {None: "month", "day": "month", "week": "month", "month": "year"}.get(cut.every)
        spans = f'by="{cut.column}(every={longer})"' if longer and dated() else None
        raise ColumnError(
            f"column {cut.column!r} has too many values to slice by.",
            seen=f"more than {grouped(most)}, such as {', '.join(map(label_text, in_order(counted)[:3]))}",
            hint=parts or spans or "a column of fewer values",
        )
    if not counted and not gaps:
        raise ColumnError(f"column {cut.column!r} has no rows to slice by.", hint="one row per case")
    values = in_order(counted)
    return Key(cut.column, kind, (*_names(values, kind), *gaps), tuple(values), every=cut.every)


def _dated(source: Source, column: str, kind: nw.dtypes.DType) -> bool:
    """Whether a column holds dates, or text that begins with one everywhere."""
    if kind != nw.String:
        return isinstance(kind, (nw.Date, nw.Datetime))
    other = ~nw.col(column).str.contains(_DATE)
    found = source.counts(other=other.cast(nw.Int64).sum(), rows=nw.len())
    return bool(found["rows"]) and not found["other"]


def _some(source: Source, column: str, kind: nw.dtypes.DType) -> str:
    """Some values of a column, to be told."""
    found = source.arrays(source.frame.select(_label(source.frame, column, kind).alias("label")).head(3))["label"]
    return f"values such as {', '.join(map(label_text, found.tolist()))}"


def _names(values: Sequence[Any], kind: nw.dtypes.DType) -> list[str]:
    """The values as people write them; one that looks like the name of those without a value is put in quotes."""
    texts = [("false", "true")[int(one)] if kind == nw.Boolean else label_text(one) for one in values]
    return [f"'{text}'" if text == MISSING or not text.strip() else text for text in texts]


def _label(frame: Frame, column: str, kind: nw.dtypes.DType, every: Every | None = None) -> nw.Expr:
    """The values as labels that every engine groups alike; what is read as text now as the number that it was."""
    if every is not None:
        held, now = nw.col(column), frame.collect_schema()[column]
        if getattr(now, "time_zone", None) is not None and frame.implementation.is_pandas_like():
            held = held.dt.convert_time_zone("UTC").dt.replace_time_zone(None)  # which elsewhere is what a cast does
        if not now.is_temporal():  # CSV knows no dates: text that begins with one
            held = held.cast(nw.String).str.slice(0, 10).str.to_datetime(format="%Y-%m-%d")
        return held.cast(nw.Datetime("us")).dt.to_string(_WRITTEN[every])
    if kind == nw.Boolean:
        return nw.col(column).cast(nw.Int64)
    if kind.is_numeric() and not frame.collect_schema()[column].is_numeric():
        return number(column) + 0.0
    if not (kind.is_numeric() or kind.is_temporal()):
        return nw.col(column).cast(nw.String)
    return label(frame, column)


def _edges(source: Source, cut: Cut) -> tuple[float, ...]:
    """Where parts of about as many rows begin: at values that occur, found from fine bins that any engine counts."""
    value = nw.col("value")
    held = source.frame.select(number(cut.column).alias("value")).filter(value.abs() < float("inf"))
    held = held.with_columns(cell(value, BITS, choose).alias("cell"))
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
        several = pairs.group_by("group").agg(slices=nw.len()).filter(nw.col("slices") > 1)
        return replace(self.sample.source, frame=several).counts(shared=nw.len())["shared"]


def sliced(sample: Sample, found: Slicing, *, settle: bool = True) -> Sliced:
    """The rows in use with their slice; `settle` reads them once for all slices, where they fit into memory."""
    frame = sample.frame
    columns = [nw.col(name) for name in dict.fromkeys(column for _, column in sample.roles.columns())]
    held = frame.select(*columns, found.code(frame).alias(SLICE))
    source = replace(sample.source, frame=held, as_text=None, account=None, ranged=None)
    if settle:
        source = _settled(source)
    counted = source.arrays(source.frame.select(SLICE).group_by(SLICE).agg(rows=nw.len()))
    rows = dict(sorted(zip(*(counted[name].astype(np.int64).tolist() for name in (SLICE, "rows")), strict=True)))
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
