"""DuckDB connections restricted to the files they read, and engine errors as data errors."""

from __future__ import annotations

import atexit
import glob
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scorespace.errors import DataError, is_out_of_memory
from scorespace.files import spill_folder

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

CSV_RULES: Final = "every line needs as many values as the header; lines are never skipped, and there are no comments"


def identifier(name: str) -> str:
    """Quote a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Quote a text as an SQL string literal.

    >>> print(literal("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"


def connect(
    paths: Sequence[str] = (), writing: Path | None = None, folder: Path | None = None, *, ranged: bool = False
) -> DuckDBPyConnection:
    """Open an in-memory DuckDB that can read only these files: no network, no extensions.

    `writing` is a file it may write, `folder` a directory it may read and write. `ranged` trusts the column statistics
    of the files, which speeds up group-bys on integers; callers must check the result, since NaN is in no range.
    """
    import duckdb  # only for files and arrays: frames must not pay for loading it

    atexit.unregister(_clear_narwhals_cache)
    atexit.register(_clear_narwhals_cache)
    connection = duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False})
    # DuckDB checks both the literal path and its glob-escaped form.
    allowed = [form for path in paths for form in (path, glob.escape(path))]
    if writing is not None:
        allowed.append(str(writing))
    connection.execute("SET allowed_paths = $paths", {"paths": allowed})
    if folder is not None:
        connection.execute("SET allowed_directories = $folders", {"folders": [str(folder)]})
    # The default is the working directory.
    connection.execute("SET temp_directory = $spill", {"spill": spill_folder()})
    if ranged:
        connection.execute("SET perfect_ht_threshold = 20")
    else:
        # Parquet statistics ignore NaN, so filters on them would drop rows with NaN.
        connection.execute("SET disabled_optimizers = 'statistics_propagation'")
    # Days of timestamps with a time zone begin at midnight UTC, not in the zone of the machine.
    connection.execute("SET TimeZone = 'UTC'")
    # The progress bar is written to standard output, where results go.
    connection.execute("SET enable_progress_bar = false")
    connection.execute("SET enable_external_access = false; SET lock_configuration = true")
    return connection


def normalise_timestamps(relation: DuckDBPyRelation) -> DuckDBPyRelation:
    """Cast nanosecond timestamps with a time zone, which Narwhals does not support, to microseconds."""
    columns = [
        name for name, kind in zip(relation.columns, relation.types, strict=True) if str(kind) == "TIMESTAMPTZ_NS"
    ]
    casts = (f"CAST({identifier(name)} AS TIMESTAMPTZ) AS {identifier(name)}" for name in columns)
    return relation.select(f"* REPLACE ({', '.join(casts)})") if columns else relation


def _clear_narwhals_cache() -> None:
    """Clear the cache in which Narwhals keeps DuckDB, or the interpreter reports leaked objects at exit."""
    cached: Any = getattr(sys.modules.get("narwhals._namespace"), "_builtin_namespace", None)
    if hasattr(cached, "cache_clear"):
        cached.cache_clear()


def write_parquet(
    connection: DuckDBPyConnection, rows: str, temporary: Path, path: Path, key: str, metadata: Any, hint: str
) -> None:
    """Write the rows of an SQL query to a Parquet file, with metadata as JSON in its footer."""
    import duckdb

    footer = f"KV_METADATA {{{literal(key)}: {literal(json.dumps(metadata))}}}"
    options = f"FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false, {footer}"
    try:
        connection.execute(f"COPY ({rows}) TO {literal(str(temporary))} ({options})")
    except duckdb.Error as error:  # usually a full disk, with a long message
        full = "No space left" in str(error)
        seen = "no space left on the disk" if full else str(error).splitlines()[0][:200]
        raise DataError(f"{str(path)!r} cannot be written.", seen=seen, hint=hint) from None


def read_footers(paths: Sequence[str], key: str) -> dict[str, Any]:
    """Return the JSON metadata stored under a key in the footers of Parquet files, by path."""
    query = "SELECT file_name, value FROM parquet_kv_metadata($files) WHERE key = $key::BLOB"
    with engine_errors("the footer"), closing(connect(paths)) as connection:
        found = connection.execute(query, {"files": [glob.escape(path) for path in paths], "key": key}).fetchall()
    return {name: json.loads(value) for name, value in found}


def read_parquet(paths: Sequence[str], where: str, clause: str = "") -> dict[str, Any]:
    """Return the columns of Parquet files as arrays; `clause` is SQL that selects and orders the rows.

    A column that only some files have is masked in the others.
    """
    with engine_errors(where, "Parquet"), closing(connect(paths)) as connection:
        query = f"FROM read_parquet($files, union_by_name = true) {clause}"
        return dict(connection.execute(query, {"files": [glob.escape(path) for path in paths]}).fetchnumpy())


@contextmanager
def engine_errors(where: str, kind: str | None = None) -> Iterator[None]:
    """Convert errors of DuckDB and Spark into DataError with a short message."""
    try:
        yield
    except Exception as error:
        library = type(error).__module__.partition(".")[0]  # by name, so that neither library is imported
        if library in ("duckdb", "_duckdb") or isinstance(error, MemoryError):
            raise read_error(where, error, kind) from error
        if library in ("pyspark", "py4j"):
            raise _spark_error(where, error) from error
        raise


def _spark_error(where: str, error: Exception) -> DataError:
    message = str(getattr(error, "java_exception", None) or error).strip() or type(error).__name__
    first_line = re.sub(r"^([\w.]+(Exception|Error): )+", "", message.splitlines()[0])
    java = "JAVA" in message.upper() and "GATEWAY" in message.upper()
    hint = "install Java 17 or newer" if java else "look into the log of the cluster"
    return DataError(f"Spark could not read {where}.", seen=first_line[:200], hint=hint)


def read_error(where: str, error: Exception, kind: str | None = None) -> DataError:
    """Convert an error of DuckDB: the line and the reason, without its advice about DuckDB options."""
    paragraph = str(error).split("\n\n")[0].splitlines()
    lines = [line.strip() for line in paragraph if not line.startswith("Original Line")][:2]
    seen = re.sub(r"^(\w+ )+Error: ", "", " ".join(lines))
    seen = re.sub(r"\s+(Try|Consider|To skip) .*", "", seen)  # advice on DuckDB options
    if "No space left" in seen or "max_temp_directory_size" in seen:
        return DataError(
            f"the disk is full: no space for the temporary files that {where} needs.",
            seen=f"temporary files in {tempfile.gettempdir()}",
            hint="free some disk space, or set TMPDIR to another folder",
        )
    if is_out_of_memory(error):
        return DataError(
            f"there is not enough memory for {where}.",
            hint="use Parquet instead of text, fewer columns, or a sample of the rows",
        )
    ragged = re.search(r"on Line: (\d+) Expected Number of Columns: (\d+) Found: (\d+)", seen)
    if ragged:
        seen = f"line {ragged[1]} has {ragged[3]} value{'' if ragged[3] == '1' else 's'}, the header {ragged[2]}"
        hint = CSV_RULES
    elif "state machine" in seen:
        seen, hint = "mixed line endings", "use the same line ending in the whole file"
    elif "Could not convert string" in seen:
        hint = "the first rows hold numbers and a later row text: read the file as text with pandas or polars"
    elif "utf-8" in seen:
        hint = "save the file as UTF-8"
    else:
        hint = "check that the file is complete and that its extension matches its format"
    return DataError(f"{where} cannot be read{f' as {kind}' if kind else ''}.", seen=seen, hint=hint)
