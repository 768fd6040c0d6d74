"""The source of a sample: named columns of some frame, and how to bring them to NumPy."""

from __future__ import annotations

import atexit
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals as nw
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from scorespace.errors import ColumnError, DataError, listing

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

Frame: TypeAlias = nw.DataFrame[Any] | nw.LazyFrame[Any]


@dataclass(frozen=True, eq=False)
class Source:
    """Named columns of some frame, where they came from, and the connection that reads them."""

    frame: Frame = field(repr=False)
    name: str
    columns: tuple[str, ...]
    connection: DuckDBPyConnection | None = field(default=None, repr=False)

    @property
    def where(self) -> str:
        """The name as a sentence says it."""
        return {"frame": "the frame", "arrays": "the dict of arrays"}.get(self.name, self.name)

    def arrays(self, frame: Frame) -> dict[str, NDArray[Any]]:
        """Run what was asked of this source and bring the columns to NumPy, without any other library."""
        if frame.implementation.is_duckdb():
            import duckdb  # not needed, and not loaded, for the frames of other libraries

            try:
                return dict(frame.to_native().fetchnumpy())
            except duckdb.Error as error:
                raise unreadable(self.where, error) from error
        eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        return {name: eager[name].to_numpy() for name in eager.columns}


def frame_source(data: Any) -> Source:
    """The source that any frame Narwhals knows is."""
    native = nw.to_native(data, pass_through=True)
    if nw.dependencies.is_pandas_dataframe(native) and not all(isinstance(name, str) for name in native.columns):
        data = native.set_axis([str(name) for name in native.columns], axis=1)  # expressions name columns by text
    try:
        frame: Frame = nw.from_native(data)
        columns = tuple(frame.columns)
    except DuplicateError:
        names = [str(name) for name in getattr(native, "column_names", None) or native.columns]
        raise named_twice(names, "the frame") from None
    except TypeError:
        raise DataError(
            "the data is neither a path nor a frame nor a dict of arrays.",
            seen=f"{type(data).__module__}.{type(data).__qualname__}".removeprefix("builtins."),
            hint="a path, a frame of pandas, polars, pyarrow or DuckDB, or {name: array}",
        ) from None
    if len(set(columns)) < len(columns):
        raise named_twice(columns, "the frame")
    return Source(frame, "frame", columns)


def relation_source(relation: DuckDBPyRelation, name: str, connection: DuckDBPyConnection) -> Source:
    """The source that a relation is, with its connection kept alive."""
    return Source(nw.from_native(relation), name, tuple(relation.columns), connection)


def connect() -> DuckDBPyConnection:
    """A DuckDB of its own for each source."""
    import duckdb  # only for files and arrays: frames must not pay for loading it

    atexit.unregister(_forget_engines)
    atexit.register(_forget_engines)
    return duckdb.connect()


def _forget_engines() -> None:
    """Empty the cache in which Narwhals keeps DuckDB; else the program ends with pages about leaked objects."""
    cached: Any = getattr(sys.modules.get("narwhals._namespace"), "_builtin_namespace", None)
    if hasattr(cached, "cache_clear"):
        cached.cache_clear()


def no_rows(where: str, seen: str | None = None) -> DataError:
    """The error for a file or frame without cases."""
    return DataError(f"{where} has no rows.", seen=seen, hint="one row per case")


def unreadable(where: str, error: Exception, kind: str | None = None, remote: bool = False) -> DataError:
    """DuckDB's complaint in our words: the line it stopped at and why, without its many remedies."""
    paragraph = str(error).split("\n\n")[0].splitlines()
    said = [line.strip() for line in paragraph if not line.startswith("Original Line")][:2]
    seen = re.sub(r"^(\w+ )+Error: ", "", " ".join(said))
    if "Could not convert string" in seen:
        hint = "the first rows hold numbers and a later one text: read the file as text with a frame library"
    elif "utf-8" in seen:
        hint = "save the file as UTF-8"
    elif remote:
        hint = "check the address and the network"
    else:
        hint = "check that the file is complete and that its ending says what it is"
    return DataError(f"{where} cannot be read{f' as {kind}' if kind else ''}.", seen=seen, hint=hint)


def named_twice(names: Sequence[str], where: str) -> ColumnError:
    """The error for a column name that is there again, perhaps in another case."""
    folded = [name.casefold() for name in names]
    repeats = [name for i, name in enumerate(names) if name in names[:i]]
    twice = repeats[0] if repeats else next(name for i, name in enumerate(names) if folded[i] in folded[:i])
    return ColumnError(
        f"column {twice!r} occurs twice in {where}.", seen=listing(names), hint="give each column its own name"
    )
