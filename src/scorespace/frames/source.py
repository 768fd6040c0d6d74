"""The source of a sample: named columns of some frame, and how to bring them to NumPy."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals as nw
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from scorespace.errors import ColumnError, DataError, listing
from scorespace.frames.engine import told
from scorespace.frozen import dataclass
from scorespace.results import Note

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
    account: Callable[[int], None] | None = field(default=None, repr=False)
    """Given how many rows were read, refuses them where the file itself counts others."""
    as_text: Callable[[Collection[str]], Frame] | None = field(default=None, repr=False)
    """The same rows with some columns as they are written, for whole numbers that a double would round."""
    text_bytes: int | None = field(default=None, repr=False)
    """How long text files are, unpacked: what their rows are not known without reading."""
    ranged: tuple[Frame, Callable[[], Frame]] | None = field(default=None, repr=False)
    """A frame, and how to read it by an engine that trusts the ranges of columns that its files tell."""
    notes: tuple[Note, ...] = field(default=(), repr=False)
    """What to know of the rows, such as those that were left out on request."""

    @property
    def where(self) -> str:
        """The name as a sentence says it."""
        return {"frame": "the frame", "arrays": "the dict of arrays"}.get(self.name, self.name)

    def written_out(self, columns: Collection[str]) -> Source:
        """This source with columns of long whole numbers as text, so that they keep every digit."""
        if self.as_text is not None:
            return replace(self, frame=self.as_text(columns))
        texts = [nw.col(name).cast(nw.String) for name in columns]
        return replace(self, frame=self.frame.with_columns(*texts))

    def filtered(self, holds: nw.Expr) -> Source:
        """The rows for which something holds: a part of a file, whose own count of records and ranges are of all."""
        written = self.as_text
        as_text = None if written is None else lambda columns: written(columns).filter(holds)
        return replace(self, frame=self.frame.filter(holds), account=None, as_text=as_text, ranged=None)

    def accounts_for(self, rows: int) -> None:
        """Refuse a file whose own count of records differs from the rows read."""
        if self.account is not None:
            self.account(rows)

    def arrays(self, frame: Frame) -> dict[str, NDArray[Any]]:
        """Run what was asked of this source and bring the columns to NumPy, without any other library."""
        with told(self.where):
            if frame.implementation.is_duckdb():
                return dict(frame.to_native().fetchnumpy())
            if isinstance(frame, nw.LazyFrame):  # polars in batches, so that a file need not fit into memory
                streaming: dict[str, Any] = {"engine": "streaming"} if frame.implementation.is_polars() else {}
                frame = frame.collect(**streaming)
            return {name: frame[name].to_numpy() for name in frame.columns}

    def counts(self, **asked: nw.Expr) -> dict[str, int]:
        """What is counted over all rows; a sum over none, which engines call missing in ways of their own, is 0."""
        found = self.arrays(self.frame.select(**asked))
        first = {name: values.tolist()[0] if values.size else None for name, values in found.items()}
        return {name: 0 if value is None or value != value else int(value) for name, value in first.items()}


def frame_source(data: Any) -> Source:
    """The source that any frame Narwhals knows is."""
    native = nw.to_native(data, pass_through=True)
    if nw.dependencies.is_pandas_dataframe(native) and not all(isinstance(name, str) for name in native.columns):
        data = native.set_axis([str(name) for name in native.columns], axis=1)  # expressions name columns by text
    data = _groupable(data)
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
            hint="a path, a frame of pandas, polars, pyarrow, DuckDB or Spark, or {name: array}",
        ) from None
    if len(set(columns)) < len(columns):
        raise named_twice(columns, "the frame")
    return Source(frame, "frame", columns)


def _groupable(data: Any) -> Any:
    """The frame without the few types that its own library cannot group by, in the nearest that it can."""
    native = nw.to_native(data, pass_through=True)
    if nw.dependencies.is_pandas_dataframe(native):
        kinds = {name: str(kind) for name, kind in zip(native.columns, native.dtypes, strict=True)}
        halves = {name: "float32" for name, kind in kinds.items() if kind == "float16"}
        decimals = [name for name, kind in kinds.items() if kind.startswith("decimal")]
        if not native.columns.is_unique or not (halves or decimals):
            return data
        texts = native.astype(dict.fromkeys(decimals, "string[pyarrow]"))  # as of tables of pyarrow, below
        return texts.astype({**halves, **dict.fromkeys(decimals, "double[pyarrow]")})
    if not nw.dependencies.is_pyarrow_table(native):
        return data
    import pyarrow as pa
    from pyarrow import compute

    plain = {"string_view": pa.large_string(), "binary_view": pa.large_binary(), "halffloat": pa.float32()}
    for place, (field_, column) in enumerate(zip(native.schema, native.columns, strict=True)):
        if pa.types.is_run_end_encoded(field_.type):
            column = pa.chunked_array([compute.run_end_decode(each) for each in column.chunks], field_.type.value_type)
        if pa.types.is_decimal(column.type):  # by text: its own cast multiplies 47 by 0.01, which is not 0.47
            column = column.cast(pa.string()).cast(pa.float64())
        kind = plain.get(str(column.type), column.type)
        if kind != field_.type:
            data = native = native.set_column(place, field_.name, column.cast(kind))
    return data


def relation_source(relation: DuckDBPyRelation, name: str, connection: DuckDBPyConnection) -> Source:
    """The source that a relation is, with its connection kept alive."""
    return Source(nw.from_native(relation), name, tuple(relation.columns), connection)


def no_rows(where: str, seen: str | None = None) -> DataError:
    """The error for a file or frame without cases."""
    return DataError(f"{where} has no rows.", seen=seen, hint="one row per case")


def named_twice(names: Sequence[str], where: str) -> ColumnError:
    """The error for a column name that is there again, perhaps in another case."""
    folded = [name.casefold() for name in names]
    repeats = [name for i, name in enumerate(names) if name in names[:i]]
    twice = repeats[0] if repeats else next(name for i, name in enumerate(names) if folded[i] in folded[:i])
    return ColumnError(
        f"column {twice!r} occurs twice in {where}.", seen=listing(names), hint="give each column its own name"
    )
