"""The source of a sample: named columns of some frame, and how to bring them to NumPy."""

from __future__ import annotations

import atexit
import glob
import re
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import narwhals as nw
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from scorespace.errors import ColumnError, DataError, listing
from scorespace.files import spill_folder
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
    """Given how many rows were read, refuses a file whose own count of records differs."""
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

    def arrays(self, frame: Frame) -> dict[str, NDArray[Any]]:
        """Run what was asked of this source and bring the columns to NumPy, without any other library."""
        if frame.implementation.is_duckdb():
            import duckdb  # not needed, and not loaded, for the frames of other libraries

            try:
                return dict(frame.to_native().fetchnumpy())
            except (duckdb.Error, MemoryError) as error:
                raise unreadable(self.where, error) from error
        if isinstance(frame, nw.LazyFrame):
            return self._collected(frame)
        return {name: frame[name].to_numpy() for name in frame.columns}

    def _collected(self, frame: nw.LazyFrame[Any]) -> dict[str, NDArray[Any]]:
        """A lazy frame run by its engine: polars in batches, so that a file need not fit into memory."""
        streaming: dict[str, Any] = {"engine": "streaming"} if frame.implementation.is_polars() else {}
        with on_cluster(self.where):
            eager = frame.collect(**streaming)
        return {name: eager[name].to_numpy() for name in eager.columns}


@contextmanager
def on_cluster(where: str) -> Iterator[None]:
    """What a cluster complains about, in our words: its first line, and not the pages of its machine."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("pyspark", "py4j"):
            raise
        said = str(getattr(error, "java_exception", None) or error).strip() or type(error).__name__
        first = re.sub(r"^([\w.]+(Exception|Error): )+", "", said.splitlines()[0])
        java = "JAVA" in said.upper() and "GATEWAY" in said.upper()
        hint = "install Java 17 or newer" if java else "look into the log of the cluster"
        raise DataError(f"Spark could not read {where}.", seen=first[:200], hint=hint) from error


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


def connect(
    paths: Sequence[str] = (), writing: Path | None = None, folder: Path | None = None, *, ranged: bool = False
) -> DuckDBPyConnection:
    """A DuckDB of its own for each source, which can open these files and nothing else: no network, no extension.

    With a `folder`, it can open and write what is in there, too. `ranged`: it trusts the ranges of columns that files
    tell, and counts whole numbers in them without hashing; which must be checked, for NaN is in no range.
    """
    import duckdb  # only for files and arrays: frames must not pay for loading it

    atexit.unregister(_forget_engines)
    atexit.register(_forget_engines)
    connection = duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False})
    # A path with signs of a pattern is asked for in its escaped form, but opened as it is.
    allowed = [each for path in paths for each in (path, glob.escape(path))]
    if writing is not None:
        allowed.append(str(writing))
    connection.execute("SET allowed_paths = $paths", {"paths": allowed})
    if folder is not None:
        connection.execute("SET allowed_directories = $folders", {"folders": [str(folder)]})
    # Else it would spill into the working directory.
    connection.execute("SET temp_directory = $spill", {"spill": spill_folder()})
    if ranged:
        connection.execute("SET perfect_ht_threshold = 20")
    else:
        # Parquet leaves NaN out of the ranges it tells: by them, a column with NaN would hold none.
        connection.execute("SET disabled_optimizers = 'statistics_propagation'")
    # Queries of some seconds would draw a bar on standard output, in the midst of the answer.
    connection.execute("SET enable_progress_bar = false")
    connection.execute("SET enable_external_access = false; SET lock_configuration = true")
    return connection


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
    seen = re.sub(r"\s+(Try|Consider|To skip) .*", "", seen)  # its advice is for those who call it
    if "No space left" in seen or "max_temp_directory_size" in seen:
        return no_room(where)
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException" or "bad_alloc" in seen:
        return out_of_memory(where)
    ragged = re.search(r"on Line: (\d+) Expected Number of Columns: (\d+) Found: (\d+)", seen)
    if ragged:
        seen = f"line {ragged[1]} has {ragged[3]} value{'' if ragged[3] == '1' else 's'}, the header {ragged[2]}"
        hint = LINES
    elif "state machine" in seen:
        seen, hint = "lines that end in different ways", "the same end of line everywhere"
    elif "Could not convert string" in seen:
        hint = "the first rows hold numbers and a later one text: read the file as text with a frame library"
    elif "utf-8" in seen:
        hint = "save the file as UTF-8"
    elif remote:
        hint = "check the address and the network"
    else:
        hint = "check that the file is complete and that its ending says what it is"
    return DataError(f"{where} cannot be read{f' as {kind}' if kind else ''}.", seen=seen, hint=hint)


LINES: Final = "as many values in each line as in the header; no line is skipped, and none is a comment"


def out_of_memory(where: str) -> DataError:
    """The error for more rows than there is room for."""
    return DataError(
        f"there is not enough memory for {where}.",
        hint="Parquet instead of text, only the columns in use, or a sample of the rows",
    )


def no_room(where: str) -> DataError:
    """The error for a disk that fills up with what does not fit the memory."""
    return DataError(
        f"the disk is full: there is no room for what {where} takes beside the memory.",
        seen=f"temporary files in {tempfile.gettempdir()}",
        hint="free some space, or name another folder by TMPDIR",
    )


def named_twice(names: Sequence[str], where: str) -> ColumnError:
    """The error for a column name that is there again, perhaps in another case."""
    folded = [name.casefold() for name in names]
    repeats = [name for i, name in enumerate(names) if name in names[:i]]
    twice = repeats[0] if repeats else next(name for i, name in enumerate(names) if folded[i] in folded[:i])
    return ColumnError(
        f"column {twice!r} occurs twice in {where}.", seen=listing(names), hint="give each column its own name"
    )
