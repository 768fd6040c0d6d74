"""From a path, pattern, URI or standard input to a source."""

from __future__ import annotations

import glob
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from scorespace.errors import DataError, did_you_mean, listing
from scorespace.frames.source import Source, connect, frame_source, named_twice, no_rows, relation_source, unreadable

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_KINDS: Final = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".parquet": "Parquet",
    ".json": "JSON",
    ".jsonl": "JSON",
    ".ndjson": "JSON",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
}
_STDIN: Final = "standard input"
# How R, pandas and databases write a missing value.
_MISSING: Final = ["", "NA", "NaN", "nan", "NULL", "null"]


def read_path(path: str, *, as_text: bool = False) -> Source:
    """The columns of the file or files at a path, pattern or URI, or of standard input for '-'.

    `as_text` takes the values of a CSV file as they stand there, to be written again without loss.
    """
    if path == "-":
        return _read_stdin()
    scheme = urlsplit(path).scheme if "://" in path else "file"
    if scheme != "file":
        name = os.path.basename(urlsplit(path).path)  # the rest may hold a key
        return _read_files([path], name, _kind(name), as_text)
    local = url2pathname(urlsplit(path).path) if "://" in path else os.path.expanduser(path)
    paths = [local] if os.path.isfile(local) else sorted(filter(os.path.isfile, glob.glob(local, recursive=True)))
    if not paths:
        raise _not_found(local)
    kinds = {_kind(os.path.basename(each)) for each in paths}
    if len(kinds) > 1:
        raise DataError(f"{path!r} names files of several kinds.", seen=listing(paths), hint="a pattern for one ending")
    name = os.path.basename(local)
    if not any(map(os.path.getsize, paths)):
        raise no_rows(name, "an empty file")
    return _read_files(paths, name, kinds.pop(), as_text)


def _read_stdin() -> Source:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stdin.csv")
        with open(path, "wb") as spool:
            shutil.copyfileobj(sys.stdin.buffer, spool)
        if not os.path.getsize(path):
            raise no_rows(_STDIN, "nothing")
        return _read_files([path], _STDIN, "CSV")


def _read_files(paths: list[str], name: str, kind: str, as_text: bool = False) -> Source:
    if kind == "Arrow":
        return _read_arrow(paths, name)
    import duckdb  # only for files and arrays: frames must not pay for loading it

    remote = "://" in paths[0]
    if not remote:  # DuckDB takes a path for a pattern; escaped, it names just this file
        paths = [glob.escape(path) for path in paths]
    connection = connect()
    try:
        if kind == "JSON":
            relation = _json(connection, paths)
        elif kind == "Parquet":
            # Old writers mark text as bytes.
            relation = connection.read_parquet(_one_or_all(paths), binary_as_string=True, **_joined(paths))
        else:
            relation = _csv(connection, paths, name, "\t" if kind == "TSV" else None, as_text)
        if name == _STDIN:  # the spooled file will be gone
            relation.create("stdin")
            relation = connection.table("stdin")
        if not relation.limit(1).fetchall():
            raise no_rows(name, f"the columns {listing(relation.columns)} and nothing below them")
    except duckdb.Error as error:
        raise unreadable(name, error, kind, remote) from error
    return relation_source(relation, name, connection)


def _csv(
    connection: DuckDBPyConnection, paths: list[str], name: str, separator: str | None, as_text: bool
) -> DuckDBPyRelation:
    # The kinds of values are judged by the first rows. Taken for whole numbers, a later 0.5 would silently
    # be rounded; taken for booleans, the labels yes and no would be lost. So: numbers are doubles, the rest text.
    options: dict[str, Any] = {"na_values": _MISSING, "auto_type_candidates": ["DOUBLE", "VARCHAR"]}
    if as_text:
        options = {"all_varchar": True}
    relation = connection.read_csv(_one_or_all(paths), header=True, sep=separator, **options, **_joined(paths))
    if len(relation.columns) == 1 and re.search("[,;\t|]", relation.columns[0]):
        raise DataError(
            f"{name} cannot be read as CSV.",
            seen=f"lines with more or fewer values than the header {relation.columns[0]!r}",
            hint="as many values in each line as in the header",
        )
    # DuckDB silently renames the second of two columns 'x' to 'x_1': where that may be, look at the header itself.
    folded = {column.casefold() for column in relation.columns}
    if any(re.sub(r"_\d+$", "", column) in folded - {column} for column in folded):
        for path in paths:
            _refuse_repeats(connection, path, name, separator)
    return relation


def _refuse_repeats(connection: DuckDBPyConnection, path: str, name: str, separator: str | None) -> None:
    sniffed = "SELECT SkipRows, Delimiter FROM sniff_csv(?, header = true)"
    ((above, found),) = connection.execute(sniffed, [path]).fetchall()
    lines = connection.read_csv(path, header=False, all_varchar=True, skiprows=above, sep=separator or found)
    header = [str(column).strip() for column in lines.limit(1).fetchall()[0]]
    if len({column.casefold() for column in header}) < len(header):
        raise named_twice(header, name)


def _json(connection: DuckDBPyConnection, paths: list[str]) -> DuckDBPyRelation:
    judged = connection.read_json(_one_or_all(paths), **_joined(paths))
    # Judged by the first rows too: read again with whole numbers as doubles, else a later 0.5 becomes 0.
    numbers = {"BIGINT", "UBIGINT", "HUGEINT", "DOUBLE"}
    types = {
        column: "DOUBLE" if str(kind) in numbers else "BOOLEAN" if str(kind) == "BOOLEAN" else "VARCHAR"
        for column, kind in zip(judged.columns, judged.types, strict=True)
    }
    return connection.read_json(_one_or_all(paths), columns=types, **_joined(paths))


def _one_or_all(paths: list[str]) -> Any:
    """One path as such: DuckDB looks less closely at the head of a file that comes in a list."""
    return paths[0] if len(paths) == 1 else paths


def _joined(paths: list[str]) -> dict[str, Any]:
    """Several files are joined by the names of their columns; by default their order would decide."""
    return {"union_by_name": True} if len(paths) > 1 else {}


def _read_arrow(paths: Sequence[str], name: str) -> Source:
    try:
        import pyarrow as pa  # the one kind of file that needs an optional library
        from pyarrow import feather, ipc
    except ImportError:
        raise DataError(f"{name} needs the library pyarrow.", hint="pip install pyarrow, or use Parquet") from None

    def table_of(path: str) -> Any:
        with open(path, "rb") as file:
            streamed = file.read(4) == b"\xff\xff\xff\xff"  # what a stream begins with, and a file never
        return ipc.open_stream(path).read_all() if streamed else feather.read_table(path)

    try:
        table = pa.concat_tables(map(table_of, paths), promote_options="default")
    except (ValueError, TypeError, OSError) as error:
        raise unreadable(name, error, "Arrow") from error
    if not table.num_rows:
        raise no_rows(name, f"the columns {listing(table.column_names)} and nothing below them")
    source = replace(frame_source(table), name=name)
    if len({column.casefold() for column in source.columns}) < len(source.columns):
        return source  # DuckDB would rename columns that differ only in case
    connection = connect()
    return relation_source(connection.from_arrow(table), name, connection)


def _kind(name: str) -> str:
    ending = os.path.splitext(name.lower().removesuffix(".gz"))[1]
    if ending not in _KINDS:
        known = ", ".join(_KINDS)
        raise DataError(
            f"{name} has an unknown ending.",
            seen=repr(ending) if ending else "none",
            hint=f"one of {known}, or .gz after it",
        )
    return _KINDS[ending]


def _not_found(path: str) -> DataError:
    if os.path.isdir(path):
        inside = sorted(os.listdir(path))
        known = [each for each in inside if os.path.splitext(each)[1] in _KINDS]
        pattern = "*" + (os.path.splitext(known[0])[1] if known else ".csv")
        hint = f"a file in it, or a pattern such as {os.path.join(path, pattern)}"
        return DataError(f"{path!r} is a folder, not a file.", seen=listing(inside) or "an empty folder", hint=hint)
    if glob.has_magic(path):
        return DataError(f"no file matches {path!r}.", hint="put the pattern in quotes, and check the folder")
    folder = os.path.dirname(path)
    if not os.path.isdir(folder or "."):
        return DataError(f"file {path!r} does not exist.", seen=f"no folder {folder!r}", hint="check the folder")
    files = sorted(each for each in os.listdir(folder or ".") if os.path.isfile(os.path.join(folder, each)))
    near = did_you_mean(os.path.basename(path), files)
    hint = f"did you mean {os.path.join(folder, near)!r}?" if near else "check the path"
    return DataError(f"file {path!r} does not exist.", seen=listing(files) or "an empty folder", hint=hint)
