"""Open a path, URL, standard input, frame or dict of arrays as a source of named columns."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

import narwhals as nw

from scorespace.errors import DataError
from scorespace.io.column_values import to_plain_arrays
from scorespace.io.duckdb_engine import connect
from scorespace.io.files import read_path
from scorespace.io.paths import LocalCopy
from scorespace.io.slices import resolve_slice_index
from scorespace.io.source import Source, frame_source, relation_source
from scorespace.results import Row


@dataclass(frozen=True)
class FilteredData:
    """Data restricted to the rows that meet a condition."""

    data: Any
    where: str


def read(data: Any, *, writing: Path | None = None) -> Source:
    """Open a file, several files, standard input ('-'), a frame, or a dict of arrays.

    `writing` is a file that the engine may write; otherwise it may write none.

    >>> read({"truth": [1, 0], "score": [0.9, 0.2]})
    Source(name='arrays', columns=('truth', 'score'))
    """
    if isinstance(data, Source):
        return data
    if isinstance(data, FilteredData):
        from scorespace.io.where import filter_rows  # imported only if there is a condition

        return filter_rows(read(data.data, writing=writing), data.where)
    if isinstance(data, (str, bytes, os.PathLike, LocalCopy)):
        return read_path(normalise_path(data), writing=writing)
    if isinstance(data, (list, tuple)) and data and all(isinstance(item, (str, os.PathLike)) for item in data):
        return read_path([os.fsdecode(item) for item in data], writing=writing)
    if isinstance(data, Mapping):
        columns, connection = to_plain_arrays(data), connect(writing=writing)
        connection.register("arrays", columns)
        return relation_source(connection.table("arrays"), "arrays", connection)
    return frame_source(data)


def normalise_path(path: str | bytes | os.PathLike[str] | LocalCopy | list[str]) -> str | LocalCopy | list[str]:
    """Convert a path of any type to text; lists and local copies stay."""
    return path if isinstance(path, (LocalCopy, list)) else os.fsdecode(path)


_MAX_BATCHES: Final = 10_000


def split_batches(source: Source, by: str) -> dict[str, Source]:
    """Split a source into batches by a column: one per value, or with (every=month) one per month.

    >>> from scorespace.io import read
    >>> list(split_batches(read({"week": [10, 9, 10], "s": [0.1, 0.2, 0.3]}), "week"))
    ['9', '10']
    """
    key, *others = resolve_slice_index(source, by, _MAX_BATCHES).keys
    if others:
        raise DataError("batches are defined by one column.", seen=by, hint=f'by="{key.column}"')
    if key.edges:  # quantiles change with every new batch
        raise DataError("numeric bins cannot define batches over time.", seen=by, hint=f'by="{key.column}"')
    source.accounts_for(source.counts(rows=nw.len())["rows"])
    if len(key.values) < len(key.names):
        raise DataError(f"some rows have no value in column {key.column!r}.", hint="exclude them with --where")
    return {name: source.filtered(key.holds(source.frame, index)) for index, name in enumerate(key.names)}


Library = Literal["pandas", "polars", "pyarrow"]
_FRAME_LIBRARIES: Final[tuple[Library, ...]] = ("pandas", "polars", "pyarrow")


def frame_library(frame: Any) -> Library | None:
    """Eager frame library of a Narwhals frame, if it is one."""
    return next((name for name in _FRAME_LIBRARIES if name == frame.implementation.name.lower()), None)


def to_frame(rows: list[Row], library: Library | None = None) -> Any:
    """Convert rows to a frame; by default of the first installed of pandas, polars, pyarrow.

    >>> to_frame([{"a": 1}, {"a": 2}], "polars").shape
    (2, 1)
    """
    chosen = library or next((name for name in _FRAME_LIBRARIES if find_spec(name)), None)
    if chosen is None:
        raise DataError("no data frame library is installed.", hint="install pandas, polars or pyarrow, or use .rows()")
    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else {})}
    return nw.from_dict(columns, backend=chosen).to_native()
