"""Source of a sample: named columns of a frame, and how to fetch them as NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals as nw
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from scorespace.errors import ColumnError, DataError, listing
from scorespace.io.duckdb_engine import engine_errors
from scorespace.results import Note

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

Frame: TypeAlias = nw.DataFrame[Any] | nw.LazyFrame[Any]


@dataclass(frozen=True, eq=False)
class Source:
    """Named columns of a frame, their origin, and the connection that reads them."""

    frame: Frame = field(repr=False)
    name: str
    columns: tuple[str, ...]
    connection: DuckDBPyConnection | None = field(default=None, repr=False)
    account: Callable[[int], None] | None = field(default=None, repr=False)
    """Refuses the rows read if their number differs from the records in the file."""
    as_text: Callable[[Collection[str]], Frame] | None = field(default=None, repr=False)
    """Returns the same rows with some columns as text, for integers that a double would round."""
    text_bytes: int | None = field(default=None, repr=False)
    """Uncompressed size of text files, whose number of rows is unknown before reading."""
    ranged: tuple[Frame, Callable[[], Frame]] | None = field(default=None, repr=False)
    """A frame, and how to read it with an engine that trusts the column statistics of its files."""
    notes: tuple[Note, ...] = field(default=(), repr=False)
    """Notes on the rows, such as those excluded on request."""

    @property
    def where(self) -> str:
        """Name for use in sentences."""
        return {"frame": "the frame", "arrays": "the dict of arrays"}.get(self.name, self.name)

    def written_out(self, columns: Collection[str]) -> Source:
        """Source with columns of long integers as text, so that they keep every digit."""
        if self.as_text is not None:
            return replace(self, frame=self.as_text(columns))
        texts = [nw.col(name).cast(nw.String) for name in columns]
        return replace(self, frame=self.frame.with_columns(*texts))

    def filtered(self, condition: nw.Expr) -> Source:
        """Rows that meet a condition, without the record count and statistics of the whole file."""
        text_reader = self.as_text
        as_text = None if text_reader is None else lambda columns: text_reader(columns).filter(condition)
        return replace(self, frame=self.frame.filter(condition), account=None, as_text=as_text, ranged=None)

    def accounts_for(self, rows: int) -> None:
        """Refuse a file whose number of records differs from the rows read."""
        if self.account is not None:
            self.account(rows)

    def arrays(self, frame: Frame) -> dict[str, NDArray[Any]]:
        """Execute a query on this source and fetch its columns as NumPy arrays."""
        with engine_errors(self.where):
            if frame.implementation.is_duckdb():
                return dict(frame.to_native().fetchnumpy())
            if isinstance(frame, nw.LazyFrame):  # polars streams, so that files may exceed memory
                streaming: dict[str, Any] = {"engine": "streaming"} if frame.implementation.is_polars() else {}
                frame = frame.collect(**streaming)
            return {name: frame[name].to_numpy() for name in frame.columns}

    def counts(self, **expressions: nw.Expr) -> dict[str, int]:
        """Execute counts over all rows; a sum over no rows, which engines return as missing, is 0."""
        arrays = self.arrays(self.frame.select(**expressions))
        first = {name: values.tolist()[0] if values.size else None for name, values in arrays.items()}
        return {name: 0 if value is None or value != value else int(value) for name, value in first.items()}


def frame_source(data: Any) -> Source:
    """Make a source of any frame that Narwhals supports."""
    native = nw.to_native(data, pass_through=True)
    if nw.dependencies.is_pandas_dataframe(native) and not all(isinstance(name, str) for name in native.columns):
        data = native.set_axis([str(name) for name in native.columns], axis=1)  # Narwhals needs text as column names
    data = _with_groupable_types(data)
    try:
        frame: Frame = nw.from_native(data)
        columns = tuple(frame.columns)
    except DuplicateError:
        names = [str(name) for name in getattr(native, "column_names", None) or native.columns]
        raise duplicate_column_error(names, "the frame") from None
    except TypeError:
        raise DataError(
            "the data are not a path, frame or dict of arrays.",
            seen=f"{type(data).__module__}.{type(data).__qualname__}".removeprefix("builtins."),
            hint="a path, a frame of pandas, polars, pyarrow, DuckDB or Spark, or {name: array}",
        ) from None
    if len(set(columns)) < len(columns):
        raise duplicate_column_error(columns, "the frame")
    return Source(frame, "frame", columns)


def _with_groupable_types(data: Any) -> Any:
    """Cast the few types that a library cannot group by to the nearest that it can."""
    native = nw.to_native(data, pass_through=True)
    if nw.dependencies.is_pandas_dataframe(native):
        dtypes = {name: str(kind) for name, kind in zip(native.columns, native.dtypes, strict=True)}
        half_floats = {name: "float32" for name, kind in dtypes.items() if kind == "float16"}
        decimals = [name for name, kind in dtypes.items() if kind.startswith("decimal")]
        if not native.columns.is_unique or not (half_floats or decimals):
            return data
        texts = native.astype(dict.fromkeys(decimals, "string[pyarrow]"))  # via text, as for pyarrow below
        return texts.astype({**half_floats, **dict.fromkeys(decimals, "double[pyarrow]")})
    if not nw.dependencies.is_pyarrow_table(native):
        return data
    import pyarrow as pa
    from pyarrow import compute

    replacements = {"string_view": pa.large_string(), "binary_view": pa.large_binary(), "halffloat": pa.float32()}
    for index, (field_, column) in enumerate(zip(native.schema, native.columns, strict=True)):
        if pa.types.is_run_end_encoded(field_.type):
            column = pa.chunked_array(
                [compute.run_end_decode(chunk) for chunk in column.chunks], field_.type.value_type
            )
        if pa.types.is_decimal(column.type):  # via text: the direct cast of 0.47 computes 47 * 0.01
            column = column.cast(pa.string()).cast(pa.float64())
        kind = replacements.get(str(column.type), column.type)
        if kind != field_.type:
            data = native = native.set_column(index, field_.name, column.cast(kind))
    return data


def relation_source(relation: DuckDBPyRelation, name: str, connection: DuckDBPyConnection) -> Source:
    """Make a source of a DuckDB relation, keeping its connection open."""
    return Source(nw.from_native(relation), name, tuple(relation.columns), connection)


def no_rows_error(where: str, seen: str | None = None) -> DataError:
    """Error for a file or frame without rows."""
    return DataError(f"{where} has no rows.", seen=seen, hint="one row per case")


def duplicate_column_error(names: Sequence[str], where: str) -> ColumnError:
    """Error for a column name that occurs twice, perhaps in another case."""
    folded = [name.casefold() for name in names]
    repeats = [name for i, name in enumerate(names) if name in names[:i]]
    twice = repeats[0] if repeats else next(name for i, name in enumerate(names) if folded[i] in folded[:i])
    return ColumnError(
        f"column {twice!r} occurs twice in {where}.", seen=listing(names), hint="give each column a different name"
    )
