"""DuckDB as it is used here: it opens nothing but what it is told, and what it complains about is in our words."""

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

from scorespace.errors import DataError
from scorespace.files import spill_folder

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

LINES: Final = "as many values in each line as in the header; no line is skipped, and none is a comment"


def identifier(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL writes it.

    >>> print(literal("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"


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
    # Else days of times with a zone would begin when they do where the machine is.
    connection.execute("SET TimeZone = 'UTC'")
    # Queries of some seconds would draw a bar on standard output, in the midst of the answer.
    connection.execute("SET enable_progress_bar = false")
    connection.execute("SET enable_external_access = false; SET lock_configuration = true")
    return connection


def known_times(relation: DuckDBPyRelation) -> DuckDBPyRelation:
    """The rows with times in nanoseconds of a zone, which Narwhals does not know, in microseconds."""
    fine = [name for name, kind in zip(relation.columns, relation.types, strict=True) if str(kind) == "TIMESTAMPTZ_NS"]
    coarser = (f"CAST({identifier(name)} AS TIMESTAMPTZ) AS {identifier(name)}" for name in fine)
    return relation.select(f"* REPLACE ({', '.join(coarser)})") if fine else relation


def _forget_engines() -> None:
    """Empty the cache in which Narwhals keeps DuckDB; else the program ends with pages about leaked objects."""
    cached: Any = getattr(sys.modules.get("narwhals._namespace"), "_builtin_namespace", None)
    if hasattr(cached, "cache_clear"):
        cached.cache_clear()


def write_parquet(
    connection: DuckDBPyConnection, rows: str, temporary: Path, path: Path, key: str, about: Any, hint: str
) -> None:
    """Write rows that SQL names to what will be the file at a path; its footer says in JSON what they are."""
    import duckdb

    footer = f"KV_METADATA {{{literal(key)}: {literal(json.dumps(about))}}}"
    how = f"FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false, {footer}"
    try:
        connection.execute(f"COPY ({rows}) TO {literal(str(temporary))} ({how})")
    except duckdb.Error as error:  # a full disk above all, of which it speaks at length
        full = "No space left" in str(error)
        seen = "no space left on the disk" if full else str(error).splitlines()[0][:200]
        raise DataError(f"{str(path)!r} cannot be written.", seen=seen, hint=hint) from None


def footers(paths: Sequence[str], key: str) -> dict[str, Any]:
    """What Parquet files say of themselves under a key, in JSON, by their paths; those that say nothing are absent."""
    asked = "SELECT file_name, value FROM parquet_kv_metadata($files) WHERE key = $key::BLOB"
    with told("the footer"), closing(connect(paths)) as connection:
        found = connection.execute(asked, {"files": [glob.escape(path) for path in paths], "key": key}).fetchall()
    return {name: json.loads(value) for name, value in found}


def read_parquet(paths: Sequence[str], where: str, chosen: str = "") -> dict[str, Any]:
    """The columns of Parquet files as arrays; `chosen` is what SQL says of which rows and in which order.

    A column that only some of the files have is masked in the others.
    """
    with told(where, "Parquet"), closing(connect(paths)) as connection:
        asked = f"FROM read_parquet($files, union_by_name = true) {chosen}"
        return dict(connection.execute(asked, {"files": [glob.escape(path) for path in paths]}).fetchnumpy())


@contextmanager
def told(where: str, kind: str | None = None) -> Iterator[None]:
    """What an engine complains about, in our words: DuckDB, or a cluster without the pages of its machine."""
    try:
        yield
    except Exception as error:
        by = type(error).__module__.partition(".")[0]  # neither of them is loaded to be asked
        if by in ("duckdb", "_duckdb") or isinstance(error, MemoryError):
            raise unreadable(where, error, kind) from error
        if by in ("pyspark", "py4j"):
            raise _of_spark(where, error) from error
        raise


def _of_spark(where: str, error: Exception) -> DataError:
    said = str(getattr(error, "java_exception", None) or error).strip() or type(error).__name__
    first = re.sub(r"^([\w.]+(Exception|Error): )+", "", said.splitlines()[0])
    java = "JAVA" in said.upper() and "GATEWAY" in said.upper()
    hint = "install Java 17 or newer" if java else "look into the log of the cluster"
    return DataError(f"Spark could not read {where}.", seen=first[:200], hint=hint)


def unreadable(where: str, error: Exception, kind: str | None = None) -> DataError:
    """DuckDB's complaint in our words: the line it stopped at and why, without its many remedies."""
    paragraph = str(error).split("\n\n")[0].splitlines()
    said = [line.strip() for line in paragraph if not line.startswith("Original Line")][:2]
    seen = re.sub(r"^(\w+ )+Error: ", "", " ".join(said))
    seen = re.sub(r"\s+(Try|Consider|To skip) .*", "", seen)  # its advice is for those who call it
    if "No space left" in seen or "max_temp_directory_size" in seen:
        return DataError(
            f"the disk is full: there is no room for what {where} takes beside the memory.",
            seen=f"temporary files in {tempfile.gettempdir()}",
            hint="free some space, or name another folder by TMPDIR",
        )
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException" or "bad_alloc" in seen:
        return DataError(
            f"there is not enough memory for {where}.",
            hint="Parquet instead of text, only the columns in use, or a sample of the rows",
        )
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
    else:
        hint = "check that the file is complete and that its ending says what it is"
    return DataError(f"{where} cannot be read{f' as {kind}' if kind else ''}.", seen=seen, hint=hint)
