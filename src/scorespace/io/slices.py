"""Slices of a sample: the rows of each value of a column, or of each combination of crossed columns, a*b.

Every row is in exactly one slice; rows with a missing value form their own. The slice is an expression that any
engine can group by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count as numbers_from
from itertools import pairwise
from typing import Annotated, Any, Final, Literal

import narwhals as nw
import numpy as np

from scorespace.errors import ColumnError, listing
from scorespace.io.column_values import as_label, as_number, if_else, is_missing_value, refuse_nested
from scorespace.io.roles import missing_column_error
from scorespace.io.source import Frame, Source
from scorespace.io.validation import Sample, sort_labels
from scorespace.options import Option, keyword_options, parse_options
from scorespace.results import grouped
from scorespace.tables.bins import BITS, bin_of_score
from scorespace.tables.labels import label_text

MAX_SLICES: Final = 50
"""Maximum number of slices: with more, the adjustment for multiple comparisons hides every difference."""

MISSING_SLICE: Final = "missing"
SLICE_COLUMN: Final = "the slice"
_OPTIONS_PATTERN: Final = re.compile(r"\s*(?P<name>.+?)\s*\((?P<options>[^()]*)\)\s*", re.DOTALL)
_TABLE_NUMBERS: Final = numbers_from()


Every = Literal["day", "week", "month", "year"]
_PERIOD_FORMATS: Final[Mapping[str, str]] = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m", "year": "%Y"}


_ISO_DATE: Final = r"^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"


def slices(
    *,
    bins: Annotated[int | None, "number of quantile bins of a numeric column"] = None,
    every: Annotated[Every | None, "one slice per day, week, month or year of a date column"] = None,
) -> None:
    """Options of a slicing column: one slice per value, per quantile bin of a number, or per period of a date."""


@dataclass(frozen=True)
class SliceColumn:
    """A slicing column with its options: COLUMN, COLUMN(bins=4), COLUMN(every=month)."""

    column: str
    bins: int | None = None
    every: Every | None = None
    name: str = "by"
    aliases: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[Option, ...]:
        return keyword_options(slices)


@dataclass(frozen=True)
class SliceKey:
    """Slices of one column: its values or the edges of its bins, and their names.

    The last name is that of rows with a missing value, if there are any.
    """

    column: str
    kind: nw.dtypes.DType
    names: tuple[str, ...]
    values: tuple[Any, ...] = ()
    edges: tuple[float, ...] = ()
    every: Every | None = None

    def code(self, frame: Frame) -> nw.Expr:
        """Index of each row's slice."""
        if self.edges:
            steps = ((as_number(self.column) >= edge).cast(nw.Int64) for edge in self.edges)
            codes_expr = reduce(lambda a, b: a + b, steps)
        else:
            values_expr = _slice_label(frame, self.column, self.kind, self.every)
            codes = list(range(len(self.values)))
            codes_expr = values_expr.replace_strict(list(self.values), codes, default=len(codes), return_dtype=nw.Int64)
        return if_else(is_missing_value(self.column, self.kind), nw.lit(len(self.names) - 1), codes_expr).cast(nw.Int64)

    def holds(self, frame: Frame, index: int) -> nw.Expr:
        """Whether a row is in the slice of this index, which has a value."""
        if self.edges:
            return self.code(frame) == index
        return _slice_label(frame, self.column, self.kind, self.every) == nw.lit(self.values[index])


@dataclass(frozen=True)
class SliceIndex:
    """Slice of each row by one or more columns."""

    keys: tuple[SliceKey, ...]

    @property
    def by(self) -> tuple[str, ...]:
        return tuple(key.column for key in self.keys)

    def code(self, frame: Frame) -> nw.Expr:
        """Index of each row's slice, the first column varying slowest."""
        index = self.keys[0].code(frame)
        for key in self.keys[1:]:
            index = index * len(key.names) + key.code(frame)
        return index

    def name(self, code: int) -> str:
        """Name of a slice: the values of its columns."""
        parts: list[str] = []
        for key in reversed(self.keys):
            code, index = divmod(code, len(key.names))
            parts.insert(0, key.names[index])
        return " × ".join(parts)


def resolve_slices(source: Source, by: str | Sequence[str], most: int = MAX_SLICES) -> tuple[SliceIndex, ...]:
    """Resolve the slices of each requested column; columns joined by * are crossed.

    >>> from scorespace.io import read
    >>> source = read({"ward": ["B", "A", "A"], "age": [30, 50, 70]})
    >>> [one.by for one in resolve_slices(source, ["ward", "age(bins=2)*ward"])]
    [('ward',), ('age', 'ward')]
    """
    texts = [
        part for text in ([by] if isinstance(by, str) else by) for part in _split_outside_parentheses(text, ",", source)
    ]
    if not texts:
        raise ColumnError("no slicing column is given.", seen=listing(source.columns), hint='by="ward"')
    resolved = tuple(resolve_slice_index(source, text, most) for text in texts)
    named = [index.by for index in resolved]
    twice = next((columns for k, columns in enumerate(named) if columns in named[:k]), None)
    if twice is not None:
        raise ColumnError(f"{'*'.join(twice)!r} occurs twice among the slicing columns.", hint="name each column once")
    return resolved


def resolve_slice_index(source: Source, by: str, most: int = MAX_SLICES) -> SliceIndex:
    """Resolve the slices of a column or of crossed columns, at most `most` per column.

    >>> from scorespace.io import read
    >>> found = resolve_slice_index(read({"ward": ["B", "A", None], "age": [30, 50, 70]}), "ward*age(bins=2)")
    >>> [key.names for key in found.keys]
    [('A', 'B', 'missing'), ('< 50', '≥ 50')]
    """
    cuts = [_parse_slice_column(text, source, most) for text in _split_outside_parentheses(by, "*", source)]
    twice = next((cut.column for k, cut in enumerate(cuts) if cut.column in [c.column for c in cuts[:k]]), None)
    if twice is not None:
        raise ColumnError(f"column {twice!r} occurs twice among the slicing columns.", hint="name each column once")
    return SliceIndex(tuple(_make_slice_key(source, cut, most) for cut in cuts))


def _split_outside_parentheses(text: str, mark: str, source: Source) -> list[str]:
    """Split text at a mark outside parentheses; the name of a column is not split."""
    if text in source.columns:
        return [text]
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == mark and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _parse_slice_column(text: str, source: Source, max_slices: int) -> SliceColumn:
    if text in source.columns:
        return SliceColumn(text)
    match = _OPTIONS_PATTERN.fullmatch(text)
    if match is None or match["name"] not in source.columns:
        raise missing_column_error(text if match is None else match["name"], source)
    stated = dict(parse_options(SliceColumn(match["name"]), match["options"], text, ColumnError))
    bins, every = stated.get("bins"), stated.get("every")
    if (bins is None) == (every is None) or not (bins is None or 2 <= bins <= max_slices):
        raise ColumnError(f"{text} defines no slices.", hint=f"{match['name']}(bins=4), with 2 to {max_slices} bins")
    return SliceColumn(match["name"], bins, every)


def _make_slice_key(source: Source, slice_column: SliceColumn, max_slices: int) -> SliceKey:
    frame = source.frame
    dtype = frame.collect_schema()[slice_column.column]
    refuse_nested(slice_column.column, dtype, "values to slice by")
    absent = is_missing_value(slice_column.column, dtype)
    missing_names = [MISSING_SLICE] if source.counts(gaps=absent.cast(nw.Int64).sum())["gaps"] else []
    known = source.filtered(~absent)

    def holds_dates() -> bool:
        return _holds_dates(known, slice_column.column, dtype)

    if slice_column.every is not None and not holds_dates():
        raise ColumnError(
            f"column {slice_column.column!r} holds no dates to group by {slice_column.every}.",
            seen=_example_values(known, slice_column.column, dtype),
            hint=f'by="{slice_column.column}", or dates such as 2026-01-31',
        )
    if slice_column.bins is not None:
        if not dtype.is_numeric():
            raise ColumnError(
                f"column {slice_column.column!r} is not numeric, so it cannot be binned.",
                seen=_example_values(known, slice_column.column, dtype),
                hint=f'by="{slice_column.column}(every=month)"' if holds_dates() else f'by="{slice_column.column}"',
            )
        edges = _quantile_edges(known, slice_column)
        return SliceKey(slice_column.column, dtype, (*_range_names(edges), *missing_names), edges=edges)
    labels = known.frame.select(_slice_label(frame, slice_column.column, dtype, slice_column.every).alias("label"))
    values_found = source.arrays(labels.group_by("label").agg(rows=nw.len()).head(max_slices + 1))["label"].tolist()
    if len(values_found) > max_slices:
        bins_hint = f'by="{slice_column.column}(bins=4)", quantile bins' if dtype.is_numeric() else None
        coarser = {None: "month", "day": "month", "week": "month", "month": "year"}.get(slice_column.every)
        period_hint = f'by="{slice_column.column}(every={coarser})"' if coarser and holds_dates() else None
        examples = ", ".join(map(label_text, sort_labels(values_found)[:3]))
        raise ColumnError(
            f"column {slice_column.column!r} has too many values to slice by.",
            seen=f"more than {grouped(max_slices)}, such as {examples}",
            hint=bins_hint or period_hint or "a column with fewer values",
        )
    if not values_found and not missing_names:
        raise ColumnError(f"column {slice_column.column!r} has no rows to slice by.", hint="one row per case")
    values = sort_labels(values_found)
    return SliceKey(
        slice_column.column,
        dtype,
        (*_slice_names(values, dtype), *missing_names),
        tuple(values),
        every=slice_column.every,
    )


def _holds_dates(source: Source, column: str, kind: nw.dtypes.DType) -> bool:
    """Whether a column holds dates, or text that begins with an ISO date in every row."""
    if kind != nw.String:
        return isinstance(kind, (nw.Date, nw.Datetime))
    not_date = ~nw.col(column).str.contains(_ISO_DATE)
    found = source.counts(other=not_date.cast(nw.Int64).sum(), rows=nw.len())
    return bool(found["rows"]) and not found["other"]


def _example_values(source: Source, column: str, kind: nw.dtypes.DType) -> str:
    """A few values of a column, for error messages."""
    found = source.arrays(source.frame.select(_slice_label(source.frame, column, kind).alias("label")).head(3))["label"]
    return f"values such as {', '.join(map(label_text, found.tolist()))}"


def _slice_names(values: Sequence[Any], kind: nw.dtypes.DType) -> list[str]:
    """Display names of the values; a value that equals the name of missing values is quoted."""
    texts = [("false", "true")[int(value)] if kind == nw.Boolean else label_text(value) for value in values]
    return [f"'{text}'" if text == MISSING_SLICE or not text.strip() else text for text in texts]


def _slice_label(frame: Frame, column: str, kind: nw.dtypes.DType, every: Every | None = None) -> nw.Expr:
    """Values as labels that every engine groups alike; numbers that were read as text are cast back."""
    if every is not None:
        values, current = nw.col(column), frame.collect_schema()[column]
        if getattr(current, "time_zone", None) is not None and frame.implementation.is_pandas_like():
            values = values.dt.convert_time_zone("UTC").dt.replace_time_zone(None)  # other engines do this in the cast
        if not current.is_temporal():  # text that begins with a date, as in CSV
            values = values.cast(nw.String).str.slice(0, 10).str.to_datetime(format="%Y-%m-%d")
        return values.cast(nw.Datetime("us")).dt.to_string(_PERIOD_FORMATS[every])
    if kind == nw.Boolean:
        return nw.col(column).cast(nw.Int64)
    if kind.is_numeric() and not frame.collect_schema()[column].is_numeric():
        return as_number(column) + 0.0
    if not (kind.is_numeric() or kind.is_temporal()):
        return nw.col(column).cast(nw.String)
    return as_label(frame, column)


def _quantile_edges(source: Source, slice_column: SliceColumn) -> tuple[float, ...]:
    """Edges of bins with about equal numbers of rows, at observed values, from fine bins counted by the engine."""
    value = nw.col("value")
    binned = source.frame.select(as_number(slice_column.column).alias("value")).filter(value.abs() < float("inf"))
    binned = binned.with_columns(bin_of_score(value, BITS, if_else).alias("cell"))
    counts = source.arrays(binned.group_by("cell").agg(rows=nw.len(), low=value.min()))
    order = np.argsort(counts["low"].astype(np.float64))
    low, rows = counts["low"].astype(np.float64)[order], counts["rows"].astype(np.float64)[order]
    rows_below = np.cumsum(rows) - rows  # rows below each value
    targets = np.arange(1, slice_column.bins or 1) / (slice_column.bins or 1) * rows.sum()
    nearest = {int(np.argmin(np.abs(rows_below - target))) for target in targets.tolist()} if low.size else set()
    edges = tuple(float(low[index]) for index in sorted(nearest) if index)
    if not edges:
        raise ColumnError(
            f"column {slice_column.column!r} has only one value, so it cannot be binned.",
            hint="a column whose values differ",
        )
    return edges


def _range_names(edges: Sequence[float]) -> list[str]:
    """Names of the ranges between edges.

    >>> _range_names([30.0, 50.0])
    ['< 30', '30 to < 50', '≥ 50']
    """
    texts = [f"{edge:.6g}" for edge in edges]
    between = [f"{a} to < {b}" for a, b in pairwise(texts)]
    return [f"< {texts[0]}", *between, f"≥ {texts[-1]}"]


# --- rows of each slice


@dataclass(frozen=True)
class SlicedSample:
    """A sample with the slice of each row, so that each slice can be counted like the sample."""

    sample: Sample
    names: Mapping[int, str]
    rows: Mapping[int, int]

    def part(self, code: int) -> Sample:
        """Rows of a slice."""
        return self._chosen(nw.col(SLICE_COLUMN) == code, self.rows[code])

    def rest(self, code: int) -> Sample:
        """Rows of all other slices."""
        return self._chosen(nw.col(SLICE_COLUMN) != code, sum(self.rows.values()) - self.rows[code])

    def _chosen(self, which: nw.Expr, rows: int) -> Sample:
        source = replace(self.sample.source, frame=self.sample.source.frame.filter(which))
        return replace(self.sample, source=source, rows=rows, kept={})

    @property
    def shared_groups(self) -> int:
        """Number of groups of related cases that occur in more than one slice."""
        group = self.sample.roles.group
        if group is None:
            return 0
        frame = self.sample.source.frame
        pairs = frame.select(as_label(frame, group).alias("group"), nw.col(SLICE_COLUMN)).unique(
            subset=["group", SLICE_COLUMN]
        )
        in_several = pairs.group_by("group").agg(slices=nw.len()).filter(nw.col("slices") > 1)
        return replace(self.sample.source, frame=in_several).counts(shared=nw.len())["shared"]


def split_sample(sample: Sample, index: SliceIndex, *, settle: bool = True) -> SlicedSample:
    """Add the slice to the rows in use; `settle` reads them into memory once for all slices."""
    frame = sample.frame
    columns = [nw.col(name) for name in dict.fromkeys(column for _, column in sample.roles.columns())]
    rows_with_slice = frame.select(*columns, index.code(frame).alias(SLICE_COLUMN))
    source = replace(sample.source, frame=rows_with_slice, as_text=None, account=None, ranged=None)
    if settle:
        source = _materialise(source)
    counts = source.arrays(source.frame.select(SLICE_COLUMN).group_by(SLICE_COLUMN).agg(rows=nw.len()))
    rows = dict(sorted(zip(*(counts[name].astype(np.int64).tolist() for name in (SLICE_COLUMN, "rows")), strict=True)))
    if len(rows) > MAX_SLICES:
        raise ColumnError(
            f"{' and '.join(map(repr, index.by))} define too many slices.",
            seen=f"{grouped(len(rows))} slices",
            hint=f"use fewer columns or bins: at most {MAX_SLICES} slices",
        )
    if len(rows) < 2:
        raise ColumnError(
            f"slicing by {' and '.join(map(repr, index.by))} puts all rows into one slice.",
            seen=f"{grouped(sum(rows.values()))} rows of {index.name(next(iter(rows)))}",
            hint="a column whose values differ",
        )
    names = {code: index.name(code) for code in rows}
    return SlicedSample(replace(sample, source=source, dropped=0, kept={}), names, rows)


def _materialise(source: Source) -> Source:
    """Store the rows in memory where each slice would read the file again."""
    if source.frame.implementation.is_duckdb() and source.connection is not None:
        name = f"slices_{next(_TABLE_NUMBERS)}"
        source.frame.to_native().create(name)
        return replace(source, frame=nw.from_native(source.connection.table(name)))
    if isinstance(source.frame, nw.LazyFrame) and source.frame.implementation.is_polars():
        return replace(source, frame=source.frame.collect())
    return source


def iterate_slices(sliced_sample: SlicedSample) -> Iterator[tuple[str, Sample, Sample]]:
    """Yield each slice by name, with its rows and all other rows."""
    for code, name in sliced_sample.names.items():
        yield name, sliced_sample.part(code), sliced_sample.rest(code)
