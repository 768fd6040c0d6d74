"""Files of every kind as sources: CSV, Parquet, JSON and Arrow, one or several, each row accounted for."""

from __future__ import annotations

import glob
import os
import weakref
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import narwhals as nw

from scorespace.errors import DataError, listing
from scorespace.files import close_scratch, remember
from scorespace.frames.dialect import dialect
from scorespace.frames.engine import connect, identifier, known_times, literal, unreadable
from scorespace.frames.paths import Copy, copy_of, kind_of, local_path, local_paths, read_once
from scorespace.frames.records import CsvFile, count_json
from scorespace.frames.source import Frame, Source, frame_source, no_rows, relation_source
from scorespace.frozen import dataclass
from scorespace.results import grouped

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

# How R, pandas and databases write a missing value.
_MISSING: Final = ["", "NA", "NaN", "nan", "NULL", "null"]
_JUDGED: Final = 20_480
"""Rows of each file by which the kinds of its values are judged."""


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
        copy = copy_of(path)
        try:
            source = read_path(copy, as_text=as_text, writing=writing)
        except BaseException:
            close_scratch(copy.path)
            raise
        weakref.finalize(source.connection or source.frame, close_scratch, copy.path)  # it may be read again until then
        return source
    return _read_local(local_paths(path), repr(path), os.path.basename(local_path(path)), as_text, writing)


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


_COMMA: Final = "[+-]?[0-9]+(?:,[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_NO_THOUSANDS: Final = "[+-]?(?:0+,[0-9]+|[0-9]{{4,}},[0-9]+|[0-9]+,(?:[0-9]{{1,2}}|[0-9]{{4,}}))(?:[eE][+-]?[0-9]+)?"


@dataclass(frozen=True)
class _CsvFiles:
    """CSV files by their header and separator: each kind is read in one go, and all are joined by the names."""

    connection: DuckDBPyConnection
    name: str
    files: tuple[CsvFile, ...]
    kinds: Mapping[tuple[tuple[str, ...], str], Sequence[str]]
    missing: Sequence[str]
    decimal: str = "."

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
        columns = ", ".join(f"{literal(column)}: '{types.get(column, 'VARCHAR')}'" for column in header)
        files = ", ".join(literal(glob.escape(path)) for path in paths)
        missing = ", ".join(map(literal, self.missing))
        # Nothing is detected: an engine that guesses takes # for a comment and skips lines that do not fit.
        return (
            f"read_csv([{files}], columns = {{{columns}}}, delim = {literal(separator)}, nullstr = [{missing}], "
            "auto_detect = false, header = true, skip = 0, comment = '', quote = '\"', escape = '\"', "
            "null_padding = false, ignore_errors = false, hive_partitioning = false, "
            f"decimal_separator = {literal(self.decimal)})"
        )

    def types(self) -> tuple[dict[str, str], str]:
        """Which columns hold numbers, by the first rows of each file, and the decimal mark that they are written with.

        It is a comma where commas part no values and a column is of numbers with commas, one of which at least cannot
        stand between thousands: 0,5 and 12,25, but not 1,250.

        Taken for whole numbers, a later 0.5 would silently be rounded; taken for booleans, the labels yes and no
        would be lost. So numbers are doubles, and the rest is text.
        """
        # Of one header the names are known; of several, the engine says which are the same.
        columns = next(iter(self.kinds))[0] if len(self.kinds) == 1 else tuple(self.relation({}).columns)
        # A filter of each column's own would take the square of their number: minutes for some thousands.
        number = "TRY_CAST({0} AS DOUBLE) IS NOT NULL AND NOT contains({0}, '_')"
        told = "bool_and(CASE WHEN {0} IS NOT NULL THEN " + number + " END)"
        if all(separator != "," for _, separator in self.kinds):
            with_comma = "bool_and(regexp_full_match({0}, '" + _COMMA + "'))"
            told = "[" + told + ", " + with_comma + ", bool_or(regexp_full_match({0}, '" + _NO_THOUSANDS + "'))]"
        else:
            told = "[" + told + "]"
        asked = [told.format(identifier(column)) for column in columns]
        judged = f"SELECT count(*), {', '.join(asked)} FROM ({self._rows({}, most=_JUDGED)})"
        (answers,) = self.connection.execute(judged).fetchall()
        if not answers[0]:
            raise _nothing_below(self.name, columns)
        by_comma = any(not dot and comma and all(comma) for dot, *comma in answers[1:])
        held = (comma[0] if by_comma else dot for dot, *comma in answers[1:])
        return {column: "DOUBLE" for column, yes in zip(columns, held, strict=True) if yes}, "," if by_comma else "."

    def account(self, read: int) -> None:
        """Refuse files whose records are not as many as the rows read."""
        if sum(file.records() for file in self.files) != read:
            _agree(self.name, sum(file.look_closely(self.name) for file in self.files), read)


def _read_csv(
    connection: DuckDBPyConnection, paths: list[str], name: str, separator: str | None, as_text: bool
) -> Source:
    # An empty file among others has no rows, and no header.
    files = [dialect(path, name, separator) for path in paths if os.path.getsize(path)]
    kinds: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for file in files:
        kinds.setdefault((file.header, file.separator), []).append(file.path)
    found = _CsvFiles(connection, name, tuple(files), kinds, [""] if as_text else _MISSING)
    types, decimal = found.types()
    found = replace(found, decimal=decimal)
    return replace(
        relation_source(found.relation({} if as_text else types), name, connection),
        account=found.account,
        as_text=lambda texts: nw.from_native(found.relation({c: k for c, k in types.items() if c not in texts})),
        text_bytes=_unpacked(paths),
    )


# --- the other kinds


_NUMBERING: Final = 12
"""Threads that may each hold a row for every number of a bin and label, some 40 MB, and count without hashing."""


def _read_parquet(connection: DuckDBPyConnection, paths: list[str], name: str) -> Source:
    files = list(map(glob.escape, paths))

    def relation_of(connection: DuckDBPyConnection) -> DuckDBPyRelation:
        # Old writers mark text as bytes. A folder named a=1 makes no column.
        found = connection.read_parquet(
            files, binary_as_string=True, hive_partitioning=False, union_by_name=len(files) > 1
        )
        return known_times(found)

    relation = relation_of(connection)
    if not int(relation.aggregate("count(*) AS rows").fetchnumpy()["rows"][0]):  # told by the footers: no row is read
        raise _nothing_below(name, relation.columns)

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
    # As NumPy arrays: as Python values, a time with a zone would ask for a library that need not be there.
    if not len(next(iter(found.limit(1).fetchnumpy().values()))):
        raise _nothing_below(name, found.columns)
    return replace(
        relation_source(found, name, connection),
        account=lambda read: _agree(name, sum(map(count_json, paths)), read),
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
        raise _nothing_below(name, table.column_names)
    source = replace(frame_source(table), name=name, account=lambda read: _agree(name, table.num_rows, read))
    if len({column.casefold() for column in source.columns}) < len(source.columns):
        return source  # DuckDB would rename columns that differ only in case
    connection = connect(writing=writing)
    try:
        relation = known_times(connection.from_arrow(table))
    except Exception as error:
        raise unreadable(name, error, "Arrow") from error
    return replace(relation_source(relation, name, connection), account=source.account)


def _nothing_below(name: str, columns: Sequence[str]) -> DataError:
    return no_rows(name, f"the columns {listing(columns)} and nothing below them")


def _agree(name: str, records: int, read: int) -> None:
    """Refuse a file of which not as many records were read as it holds."""
    if records != read:
        raise DataError(
            f"not all of {name} could be read.",
            seen=f"{grouped(records)} records, of which {grouped(read)} were read",
            hint="check that the file is complete and that nobody writes to it",
        )
