"""From a path, pattern, address or standard input to a source."""

from __future__ import annotations

import glob
import os
import shutil
import stat
import sys
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import narwhals as nw

from scorespace.errors import DataError, did_you_mean, listing
from scorespace.files import close_scratch, open_scratch, remember
from scorespace.frames.dialect import dialect
from scorespace.frames.records import CsvFile, count_csv, count_json
from scorespace.frames.remote import fetch, is_remote
from scorespace.frames.source import Frame, Source, connect, frame_source, no_rows, relation_source, unreadable
from scorespace.results import grouped

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
_OPENED: Final = ("/dev/fd/", "/proc/self/fd/")
"""Where a shell puts the output of another command, <(…)."""
_spent: Any = None
"""The standard input that was read to its end."""
# How R, pandas and databases write a missing value.
_MISSING: Final = ["", "NA", "NaN", "nan", "NULL", "null"]
_JUDGED: Final = 20_480
"""Rows of each file by which the kinds of its values are judged."""


@dataclass(frozen=True)
class Copy:
    """What was on standard input or at an address, on the disk for as long as this run needs it."""

    path: Path
    name: str
    kind: str


@contextmanager
def copied(path: Any) -> Iterator[Any]:
    """The path, or a copy where the file can be read only once.

    >>> with copied("credit.csv") as path:
    ...     path
    'credit.csv'
    """
    if not isinstance(path, str) or not read_once(path):
        yield path
        return
    copy = _copy(path)
    try:
        yield copy
    finally:
        close_scratch(copy.path)


def read_path(path: str | Copy | Sequence[str], *, as_text: bool = False, writing: Path | None = None) -> Source:
    """The columns of the file or files at a path, pattern or address, of several paths, or of standard input for '-'.

    `as_text` takes the values of a CSV file as they stand there, to be written again without loss; to `writing`, the
    one file that the engine may write.
    """
    if isinstance(path, Copy):
        return _read_files([str(path.path)], path.name, path.kind, as_text, writing)
    if not isinstance(path, str):
        return _read_several(list(path), as_text, writing)
    if read_once(path):
        copy = _copy(path)
        try:
            source = read_path(copy, as_text=as_text, writing=writing)
        except BaseException:
            close_scratch(copy.path)
            raise
        weakref.finalize(source.connection or source.frame, close_scratch, copy.path)  # it may be read again until then
        return source
    return _read_local(local_paths(path), repr(path), os.path.basename(_local(path)), as_text, writing)


def _read_several(paths: list[str], as_text: bool, writing: Path | None) -> Source:
    """The rows of files one after the other, as those of one."""
    alone = [path for path in paths if read_once(path)]
    if alone:
        raise DataError("standard input, pipes and addresses are read alone.", seen=listing(paths), hint=alone[0])
    found = [each for path in paths for each in local_paths(path)]
    real = [os.path.realpath(each) for each in found]
    twice = [each for place, each in enumerate(found) if real[place] in real[:place]]
    if twice:
        raise DataError(f"the file {twice[0]!r} is named twice.", seen=listing(found), hint="each file once")
    first = os.path.basename(found[0])
    name = first if len(found) == 1 else f"{first} and {grouped(len(found) - 1)} more"
    return _read_local(found, "the list", name, as_text, writing)


def _read_local(paths: list[str], asked: str, name: str, as_text: bool, writing: Path | None) -> Source:
    kinds = {kind_of(os.path.basename(each)) for each in paths}
    if len(kinds) > 1:
        raise DataError(f"{asked} names files of several kinds.", seen=listing(paths), hint="a pattern for one ending")
    if not any(map(os.path.getsize, paths)):
        raise no_rows(name, "an empty file")
    for each in paths:
        remember(each)
    return _read_files(list(map(os.path.abspath, paths)), name, kinds.pop(), as_text, writing)


def read_once(path: str) -> bool:
    """Whether a path can be read a single time: standard input, an address, or what a shell puts for <(…)."""
    return path == "-" or is_remote(path) or (path.startswith(_OPENED) and _is_pipe(path))


def _is_pipe(path: str) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _copy(path: str) -> Copy:
    if path.startswith(_OPENED):
        with open(path, "rb") as pipe:
            return _spooled(pipe, path)
    if path != "-":
        name = os.path.basename(urlsplit(path).path)  # the rest may hold a key
        kind = kind_of(name)
        return Copy(fetch(path, name), name, kind)
    if sys.stdin is None or sys.stdin.closed:
        raise no_rows(_STDIN, "it is closed")
    remember(0)
    global _spent
    again, _spent = _spent is sys.stdin, sys.stdin
    try:
        return _spooled(sys.stdin.buffer, _STDIN)
    except DataError:
        if not again:
            raise
        raise DataError(
            "standard input can be read once.", seen="- twice", hint="save it to a file, and name that instead"
        ) from None


def _spooled(stream: Any, name: str) -> Copy:
    """A copy of a stream, which holds CSV."""
    copy = open_scratch(".csv")
    try:
        with copy.open("wb") as spool:
            shutil.copyfileobj(stream, spool)
        if not os.path.getsize(copy):
            raise no_rows(name, "nothing")
    except BaseException:
        close_scratch(copy)
        raise
    return Copy(copy, name, "CSV")


def local_paths(path: str) -> list[str]:
    """The files that a path, a pattern or a file:// address names; it is an error if there are none."""
    local = _local(path)
    try:
        os.stat(local.encode())
    except (OSError, UnicodeEncodeError):
        pass  # told below
    except ValueError as error:  # a NUL in it
        raise DataError(f"{local!r} is no path.", seen=str(error), hint="the name of a file") from None
    try:
        local.encode()
        paths = [local] if os.path.isfile(local) else sorted(filter(os.path.isfile, glob.glob(local, recursive=True)))
        for each in paths:
            each.encode()
    except UnicodeEncodeError:
        raise DataError(f"the name {local!r} is not UTF-8.", hint="rename the file") from None
    if not paths:
        raise _not_found(local)
    return paths


def files_read(data: Any) -> list[str | int]:
    """What is opened to read the data: paths, or the descriptor of standard input; nothing for frames and addresses."""
    if isinstance(data, (list, tuple)):
        return [each for path in data for each in files_read(path)]
    if not isinstance(data, (str, os.PathLike)):
        return []
    path = os.fspath(data)
    if path == "-":
        return [0]
    if not isinstance(path, str) or is_remote(path):
        return []
    try:
        return list(local_paths(path))
    except DataError:
        return []  # reading says what is wrong with it


def _local(path: str) -> str:
    if "://" not in path:
        return os.path.expanduser(path)
    from urllib.request import url2pathname  # slow to load, and rarely needed

    return url2pathname(urlsplit(path).path)


def _read_files(paths: list[str], name: str, kind: str, as_text: bool, writing: Path | None) -> Source:
    if kind == "Arrow":
        return _read_arrow(paths, name, writing)
    import duckdb  # only for files and arrays: frames must not pay for loading it

    try:
        connection = connect(paths, writing)
        if kind == "JSON":
            return _read_json(connection, paths, name)
        if kind == "Parquet":
            return _read_parquet(connection, paths, name)
        return _read_csv(connection, paths, name, "\t" if kind == "TSV" else None, as_text)
    except (duckdb.Error, RuntimeError, MemoryError) as error:
        raise _without_paths(unreadable(name, error, kind), paths) from error


def _without_paths(error: DataError, paths: Sequence[str]) -> DataError:
    """The error with the names of files as people gave them: the rest of a path is nobody's business."""
    seen = error.seen
    for path in paths if seen else ():
        seen = seen.replace(path, os.path.basename(path)) if seen else None
    return DataError(error.problem, seen=seen, hint=error.hint)


# --- CSV


@dataclass(frozen=True)
class _CsvFiles:
    """CSV files by their header and separator: each kind is read in one go, and all are joined by the names."""

    connection: DuckDBPyConnection
    name: str
    files: tuple[CsvFile, ...]
    kinds: Mapping[tuple[tuple[str, ...], str], Sequence[str]]
    missing: Sequence[str]

    def relation(self, types: Mapping[str, str]) -> DuckDBPyRelation:
        """The rows, with columns of these types; of text where none is told."""
        return self.connection.sql(self._rows(types))

    def _rows(self, types: Mapping[str, str], most: int | None = None) -> str:
        """The same for SQL, or the first rows of each file."""
        parts = [
            f"(SELECT * FROM {self._reader(part, header, separator, types)}{'' if most is None else f' LIMIT {most}'})"
            for (header, separator), paths in self.kinds.items()
            for part in ([paths] if most is None else [[path] for path in paths[:32]])
        ]
        return " UNION ALL BY NAME ".join(parts)

    def _reader(self, paths: Sequence[str], header: Sequence[str], separator: str, types: Mapping[str, str]) -> str:
        columns = ", ".join(f"{_quoted(column)}: '{types.get(column, 'VARCHAR')}'" for column in header)
        files = ", ".join(_quoted(glob.escape(path)) for path in paths)
        missing = ", ".join(map(_quoted, self.missing))
        # Nothing is detected: an engine that guesses takes # for a comment and skips lines that do not fit.
        return (
            f"read_csv([{files}], columns = {{{columns}}}, delim = {_quoted(separator)}, nullstr = [{missing}], "
            "auto_detect = false, header = true, skip = 0, comment = '', quote = '\"', escape = '\"', "
            "null_padding = false, ignore_errors = false, hive_partitioning = false)"
        )

    def types(self) -> dict[str, str]:
        """Which columns hold numbers, by the first rows of each file.

        Taken for whole numbers, a later 0.5 would silently be rounded; taken for booleans, the labels yes and no
        would be lost. So numbers are doubles, and the rest is text.
        """
        # Of one header the names are known; of several, the engine says which are the same.
        columns = next(iter(self.kinds))[0] if len(self.kinds) == 1 else tuple(self.relation({}).columns)
        # A filter of each column's own would take the square of their number: minutes for some thousands.
        number = "TRY_CAST({0} AS DOUBLE) IS NOT NULL AND NOT contains({0}, '_')"
        told = f"bool_and(CASE WHEN {{0}} IS NOT NULL THEN {number} END)"
        asked = [told.format(_identifier(column)) for column in columns]
        judged = f"SELECT count(*), {', '.join(asked)} FROM ({self._rows({}, most=_JUDGED)})"
        (answers,) = self.connection.execute(judged).fetchall()
        if not answers[0]:
            raise no_rows(self.name, f"the columns {listing(columns)} and nothing below them")
        return {column: "DOUBLE" for column, yes in zip(columns, answers[1:], strict=True) if yes}

    def account(self, read: int) -> None:
        """Refuse files whose records are not as many as the rows read."""
        if count_csv(self.files) != read and sum(file.look_closely(self.name) for file in self.files) != read:
            raise _lost(self.name, count_csv(self.files), read)


def _read_csv(
    connection: DuckDBPyConnection, paths: list[str], name: str, separator: str | None, as_text: bool
) -> Source:
    kinds: dict[tuple[tuple[str, ...], str], list[str]] = {}
    files = []
    for path in paths:
        if os.path.getsize(path):  # an empty file among others has no rows, and no header
            file, header = dialect(path, name, separator)
            kinds.setdefault((header, file.separator), []).append(path)
            files.append(file)
    found = _CsvFiles(connection, name, tuple(files), kinds, [""] if as_text else _MISSING)
    types = found.types()
    return replace(
        relation_source(found.relation({} if as_text else types), name, connection),
        account=found.account,
        as_text=lambda columns: nw.from_native(found.relation(_without(types, columns))),
        text_bytes=_unpacked(paths),
    )


# --- the other kinds


_NUMBERING: Final = 12
"""Threads that may each hold a row for every number of a bin and label, some 40 MB, and count without hashing."""


def _read_parquet(connection: DuckDBPyConnection, paths: list[str], name: str) -> Source:
    files = list(map(glob.escape, paths))

    def relation_of(connection: DuckDBPyConnection) -> DuckDBPyRelation:
        # Old writers mark text as bytes. A folder named a=1 makes no column.
        return connection.read_parquet(
            files, binary_as_string=True, hive_partitioning=False, union_by_name=len(files) > 1
        )

    relation = relation_of(connection)
    if not int(relation.aggregate("count(*) AS rows").fetchnumpy()["rows"][0]):  # told by the footers: no row is read
        raise no_rows(name, f"the columns {listing(relation.columns)} and nothing below them")

    def account(read: int) -> None:
        told = "SELECT sum(num_rows) FROM parquet_file_metadata($files)"
        (records,) = connection.execute(told, {"files": files}).fetchall()[0]
        _agree(name, int(records), read)

    source = relation_source(relation, name, connection)
    ranged = source.frame, lambda: nw.from_native(relation_of(connect(paths, ranged=True)))
    return replace(source, account=account, ranged=ranged if (os.cpu_count() or 1) <= _NUMBERING else None)


def _read_json(connection: DuckDBPyConnection, paths: list[str], name: str) -> Source:
    files: Any = [glob.escape(path) for path in paths]
    joined: dict[str, Any] = {"union_by_name": True} if len(files) > 1 else {}
    judged = connection.read_json(files, sample_size=-1, hive_partitioning=False, **joined)
    # Whole numbers as doubles: what looks like one in the first rows may be 0.5 in a later one.
    numbers = {"BIGINT", "UBIGINT", "HUGEINT", "DOUBLE"}
    types = {
        column: "DOUBLE" if str(kind) in numbers else "BOOLEAN" if str(kind) == "BOOLEAN" else "VARCHAR"
        for column, kind in zip(judged.columns, judged.types, strict=True)
    }

    def relation(types: Mapping[str, str]) -> DuckDBPyRelation:
        return connection.read_json(files, columns=dict(types), hive_partitioning=False, **joined)

    def as_text(columns: Collection[str]) -> Frame:
        texts = {column: "VARCHAR" if column in columns else kind for column, kind in types.items()}
        return nw.from_native(relation(texts))

    found = relation(types)
    _refuse_empty(found, name)
    return replace(
        relation_source(found, name, connection),
        account=lambda read: _agree(name, count_json(paths), read),
        as_text=as_text,
        text_bytes=_unpacked(paths),
    )


def _unpacked(paths: Sequence[str]) -> int:
    """About how long text files are when they are unpacked, rather too much than too little."""
    return sum(os.path.getsize(path) * (20 if path.lower().endswith(".gz") else 1) for path in paths)


def _read_arrow(paths: Sequence[str], name: str, writing: Path | None) -> Source:
    try:
        import pyarrow as pa  # the one kind of file that needs an optional library
        from pyarrow import feather, ipc
    except ImportError:
        raise DataError(f"{name} needs the library pyarrow.", hint="pip install pyarrow, or use Parquet") from None

    def table_of(path: str) -> Any:
        with open(path, "rb") as file:
            streamed = file.read(4) == b"\xff\xff\xff\xff"  # what a stream begins with, and a file never
        # Not mapped into memory: a file that shrinks meanwhile would end the program.
        table = ipc.open_stream(path).read_all() if streamed else feather.read_table(path, memory_map=False)
        table.validate(full=True)  # else offsets that point nowhere are followed, and the program ends
        return table

    try:
        table = pa.concat_tables(map(table_of, paths), promote_options="default")
    except (ValueError, TypeError, OSError, KeyError, NotImplementedError, MemoryError) as error:
        raise _without_paths(unreadable(name, error, "Arrow"), paths) from error
    if not table.num_rows:
        raise no_rows(name, f"the columns {listing(table.column_names)} and nothing below them")
    source = replace(frame_source(table), name=name, account=lambda read: _agree(name, table.num_rows, read))
    if len({column.casefold() for column in source.columns}) < len(source.columns):
        return source  # DuckDB would rename columns that differ only in case
    connection = connect(writing=writing)
    try:
        relation = connection.from_arrow(table)
    except Exception as error:
        raise unreadable(name, error, "Arrow") from error
    return replace(relation_source(relation, name, connection), account=source.account)


def _refuse_empty(relation: DuckDBPyRelation, name: str) -> None:
    # As NumPy arrays: as Python values, a time with a zone would ask for a library that need not be there.
    if not len(next(iter(relation.limit(1).fetchnumpy().values()))):
        raise no_rows(name, f"the columns {listing(relation.columns)} and nothing below them")


def _agree(name: str, records: int, read: int) -> None:
    if records != read:
        raise _lost(name, records, read)


def _lost(name: str, records: int, read: int) -> DataError:
    return DataError(
        f"not all of {name} could be read.",
        seen=f"{grouped(records)} records, of which {grouped(read)} were read",
        hint="check that the file is complete and that nobody writes to it",
    )


def _without(types: Mapping[str, str], columns: Collection[str]) -> dict[str, str]:
    return {column: kind for column, kind in types.items() if column not in columns}


def _quoted(text: str) -> str:
    """A text for SQL."""
    return "'" + text.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    """A name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def kind_of(name: str) -> str:
    """What a file holds, by its ending.

    >>> kind_of("credit.csv.gz")
    'CSV'
    """
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
    if os.path.exists(path):
        return DataError(
            f"{path!r} is not a regular file.",
            seen="a pipe" if _is_pipe(path) else "a device or a socket",
            hint="- reads standard input: scorespace … - < FILE",
        )
    if glob.has_magic(path):
        return DataError(f"no file matches {path!r}.", hint="put the pattern in quotes, and check the folder")
    folder = os.path.dirname(path)
    if not os.path.isdir(folder or "."):
        return DataError(f"file {path!r} does not exist.", seen=f"no folder {folder!r}", hint="check the folder")
    files = sorted(each for each in os.listdir(folder or ".") if os.path.isfile(os.path.join(folder, each)))
    near = did_you_mean(os.path.basename(path), files)
    hint = f"did you mean {os.path.join(folder, near)!r}?" if near else "check the path"
    return DataError(f"file {path!r} does not exist.", seen=listing(files) or "an empty folder", hint=hint)
