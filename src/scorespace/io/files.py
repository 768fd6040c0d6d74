"""Read CSV, text, spreadsheet, Parquet, JSON and Arrow files as sources, checking that every record is read."""

from __future__ import annotations

import glob
import os
import weakref
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import narwhals as nw

from scorespace.errors import DataError, listing
from scorespace.files import close_temporary_file, record_read
from scorespace.io.conversion import read_options, to_csv
from scorespace.io.csv_format import CsvFile, count_json_records, detect_dialect
from scorespace.io.duckdb_engine import connect, identifier, literal, normalise_timestamps, read_error
from scorespace.io.paths import LocalCopy, expand_path, file_format, is_single_use, make_copy, resolve_paths
from scorespace.io.source import Frame, Source, frame_source, no_rows_error, relation_source
from scorespace.results import grouped

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

# Missing values as written by R, pandas and databases.
_MISSING_TEXTS: Final = ["", "NA", "NaN", "nan", "NULL", "null"]
_INFERENCE_ROWS: Final = 20_480
"""Rows of each file from which column types are inferred."""


def read_path(path: str | LocalCopy | Sequence[str], *, as_text: bool = False, writing: Path | None = None) -> Source:
    """Read the file or files of a path, glob pattern, URL, list of paths, or standard input ('-').

    `as_text` keeps the values of a CSV file as written, so that they can be written again without loss.
    `writing` is the only file that the engine may write.
    """
    if isinstance(path, LocalCopy):
        return _read_files([str(path.path)], path.name, path.kind, as_text, writing)
    if not isinstance(path, str):
        return _read_several(list(path), as_text, writing)
    if is_single_use(path):
        copy = make_copy(path)
        try:
            source = read_path(copy, as_text=as_text, writing=writing)
        except BaseException:
            close_temporary_file(copy.path)
            raise
        weakref.finalize(
            source.connection or source.frame, close_temporary_file, copy.path
        )  # until then it may be read again
        return source
    return _read_local(resolve_paths(path), repr(path), os.path.basename(expand_path(path)), as_text, writing)


def _read_several(paths: list[str], as_text: bool, writing: Path | None) -> Source:
    """Read several files as one table."""
    single_use = [path for path in paths if is_single_use(path)]
    if single_use:
        raise DataError(
            "standard input, pipes and URLs cannot be combined with other files.",
            seen=listing(paths),
            hint=single_use[0],
        )
    files = [file for path in paths for file in resolve_paths(path)]
    real_paths = [os.path.realpath(file) for file in files]
    twice = [file for place, file in enumerate(files) if real_paths[place] in real_paths[:place]]
    if twice:
        raise DataError(f"the file {twice[0]!r} is named twice.", seen=listing(files), hint="name each file once")
    first = os.path.basename(files[0])
    name = first if len(files) == 1 else f"{first} and {grouped(len(files) - 1)} more"
    return _read_local(files, "the list", name, as_text, writing)


def _read_local(paths: list[str], request: str, name: str, as_text: bool, writing: Path | None) -> Source:
    kinds = {file_format(os.path.basename(path)) for path in paths}
    if len(kinds) > 1:
        raise DataError(
            f"{request} names files of different formats.", seen=listing(paths), hint="a pattern for one format"
        )
    if not any(map(os.path.getsize, paths)):
        raise no_rows_error(name, "an empty file")
    for path in paths:
        record_read(path)
    return _read_files(list(map(os.path.abspath, paths)), name, kinds.pop(), as_text, writing)


def _read_files(paths: list[str], name: str, kind: str, as_text: bool, writing: Path | None) -> Source:
    sheet = read_options().sheet
    if sheet is not None and kind != "spreadsheet":
        raise DataError(
            f"the sheet {sheet!r} is of a spreadsheet.", seen=f"{name}, read as {kind}", hint="leave out the sheet"
        )
    if kind == "Arrow":
        return _read_arrow(paths, name, writing)
    if kind in ("CSV", "TSV", "TXT", "spreadsheet"):
        return _read_text_files(paths, name, kind, as_text, writing)
    return _read_with_engine(paths, name, kind, as_text, writing)


def _read_text_files(paths: list[str], name: str, kind: str, as_text: bool, writing: Path | None) -> Source:
    """Read text files and spreadsheets as CSV; temporary copies are kept as long as the source."""
    with ExitStack() as stack:
        converted = [
            stack.enter_context(to_csv(path, name, kind)) if os.path.getsize(path) else (path, ()) for path in paths
        ]
        text_kind = "CSV" if kind in ("TXT", "spreadsheet") else kind
        source = _read_with_engine([path for path, _ in converted], name, text_kind, as_text, writing)
    for (copy, _), path in zip(converted, paths, strict=True):
        if copy != path:
            weakref.finalize(source.connection or source.frame, close_temporary_file, Path(copy))
    return replace(source, notes=tuple(dict.fromkeys(one for _, notes in converted for one in notes)))


def _read_with_engine(paths: list[str], name: str, kind: str, as_text: bool, writing: Path | None) -> Source:
    import duckdb  # imported here, since frames do not need it

    try:
        connection = connect(paths, writing)
        if kind == "JSON":
            return _read_json(connection, paths, name)
        if kind == "Parquet":
            return _read_parquet(connection, paths, name)
        return _read_csv(connection, paths, name, "\t" if kind == "TSV" else None, as_text)
    except (duckdb.Error, RuntimeError, MemoryError) as error:
        raise _hide_folders(read_error(name, error, kind), paths) from error


def _hide_folders(error: DataError, paths: Sequence[str]) -> DataError:
    """Remove folder names from an error message."""
    seen = error.seen
    for path in paths if seen else ():
        seen = seen.replace(path, os.path.basename(path)) if seen else None
    return DataError(error.problem, seen=seen, hint=error.hint)


# --- CSV


_DECIMAL_COMMA_NUMBER: Final = "[+-]?[0-9]+(?:,[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_UNAMBIGUOUS_COMMA_NUMBER: Final = (
    "[+-]?(?:0+,[0-9]+|[0-9]{{4,}},[0-9]+|[0-9]+,(?:[0-9]{{1,2}}|[0-9]{{4,}}))(?:[eE][+-]?[0-9]+)?"
)


@dataclass(frozen=True)
class _CsvFiles:
    """CSV files grouped by header and separator; each group is read at once, and groups are united by column name."""

    connection: DuckDBPyConnection
    name: str
    files: tuple[CsvFile, ...]
    kinds: Mapping[tuple[tuple[str, ...], str], Sequence[str]]
    missing: Sequence[str]
    decimal: str = "."
    has_header: bool = True

    def relation(self, types: Mapping[str, str]) -> DuckDBPyRelation:
        """Rows with columns of these types; text by default."""
        return self.connection.sql(self._rows(types))

    def _rows(self, types: Mapping[str, str], max_rows: int | None = None) -> str:
        """SQL of the rows, or of the first rows of each file."""
        limit = "" if max_rows is None else f" LIMIT {max_rows}"
        parts = [
            f"(SELECT * FROM {self._reader(part, header, separator, types)}{limit})"
            for (header, separator), paths in self.kinds.items()
            for part in ([paths] if max_rows is None else [[path] for path in paths[:32]])
        ]
        return " UNION ALL BY NAME ".join(parts)

    def _reader(self, paths: Sequence[str], header: Sequence[str], separator: str, types: Mapping[str, str]) -> str:
        columns = ", ".join(f"{literal(column)}: '{types.get(column, 'VARCHAR')}'" for column in header)
        files = ", ".join(literal(glob.escape(path)) for path in paths)
        missing = ", ".join(map(literal, self.missing))
        # Detection is off: DuckDB would take # for a comment and skip lines that do not fit.
        return (
            f"read_csv([{files}], columns = {{{columns}}}, delim = {literal(separator)}, nullstr = [{missing}], "
            f"auto_detect = false, header = {self.has_header}, skip = 0, comment = '', quote = '\"', escape = '\"', "
            "null_padding = false, ignore_errors = false, hive_partitioning = false, "
            f"decimal_separator = {literal(self.decimal)})"
        )

    def types(self) -> tuple[dict[str, str], str]:
        """Infer from the first rows which columns are numeric, and the decimal separator.

        The decimal separator is a comma if no file separates values by commas and some numeric column has a comma that
        cannot separate thousands: 0,5 or 12,25, but not 1,250.

        Numbers are read as doubles and everything else as text: integers would round a later 0.5, and booleans would
        lose the labels yes and no.
        """
        # For several headers, the engine unites the column names.
        columns = next(iter(self.kinds))[0] if len(self.kinds) == 1 else tuple(self.relation({}).columns)
        # FILTER clauses per column take quadratic time: minutes for thousands of columns.
        number = "TRY_CAST({0} AS DOUBLE) IS NOT NULL AND NOT contains({0}, '_')"
        test = "bool_and(CASE WHEN {0} IS NOT NULL THEN " + number + " END)"
        if all(separator != "," for _, separator in self.kinds):
            with_comma = "bool_and(regexp_full_match({0}, '" + _DECIMAL_COMMA_NUMBER + "'))"
            test = (
                "["
                + test
                + ", "
                + with_comma
                + ", bool_or(regexp_full_match({0}, '"
                + _UNAMBIGUOUS_COMMA_NUMBER
                + "'))]"
            )
        else:
            test = "[" + test + "]"
        tests = [test.format(identifier(column)) for column in columns]
        query = f"SELECT count(*), {', '.join(tests)} FROM ({self._rows({}, max_rows=_INFERENCE_ROWS)})"
        (flags,) = self.connection.execute(query).fetchall()
        if not flags[0]:
            raise _empty_table_error(self.name, columns)
        has_decimal_comma = any(not dot and comma and all(comma) for dot, *comma in flags[1:])
        numeric_flags = (comma[0] if has_decimal_comma else dot for dot, *comma in flags[1:])
        return {
            column: "DOUBLE" for column, is_numeric in zip(columns, numeric_flags, strict=True) if is_numeric
        }, "," if has_decimal_comma else "."

    def account(self, read: int) -> None:
        """Refuse files whose number of records differs from the rows read."""
        if sum(file.records() for file in self.files) != read:
            _check_record_count(self.name, sum(file.count_records_strictly(self.name) for file in self.files), read)


def _read_csv(
    connection: DuckDBPyConnection, paths: list[str], name: str, separator: str | None, as_text: bool
) -> Source:
    # An empty file among others has no header and no rows.
    has_header = read_options().header
    files = [detect_dialect(path, name, separator, has_header=has_header) for path in paths if os.path.getsize(path)]
    kinds: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for file in files:
        kinds.setdefault((file.header, file.separator), []).append(file.path)
    csv_files = _CsvFiles(
        connection, name, tuple(files), kinds, [""] if as_text else _MISSING_TEXTS, has_header=has_header
    )
    types, decimal = csv_files.types()
    csv_files = replace(csv_files, decimal=decimal)
    return replace(
        relation_source(csv_files.relation({} if as_text else types), name, connection),
        account=csv_files.account,
        as_text=lambda texts: nw.from_native(csv_files.relation({c: k for c, k in types.items() if c not in texts})),
        text_bytes=_estimate_text_bytes(paths),
    )


# --- Parquet, JSON and Arrow


_MAX_THREADS_FOR_RANGES: Final = 12
"""Threads that may each hold a dense count table of about 40 MB, one row per bin and label."""


def _read_parquet(connection: DuckDBPyConnection, paths: list[str], name: str) -> Source:
    files = list(map(glob.escape, paths))

    def relation_of(connection: DuckDBPyConnection) -> DuckDBPyRelation:
        # Old writers store text as bytes. A folder named a=1 adds no column.
        found = connection.read_parquet(
            files, binary_as_string=True, hive_partitioning=False, union_by_name=len(files) > 1
        )
        return normalise_timestamps(found)

    relation = relation_of(connection)
    if not int(
        relation.aggregate("count(*) AS rows").fetchnumpy()["rows"][0]
    ):  # from the footers, without reading rows
        raise _empty_table_error(name, relation.columns)

    def account(read: int) -> None:
        query = "SELECT sum(num_rows) FROM parquet_file_metadata($files)"
        (records,) = connection.execute(query, {"files": files}).fetchall()[0]
        _check_record_count(name, int(records), read)

    source = relation_source(relation, name, connection)
    ranged = source.frame, lambda: nw.from_native(relation_of(connect(paths, ranged=True)))
    return replace(source, account=account, ranged=ranged if (os.cpu_count() or 1) <= _MAX_THREADS_FOR_RANGES else None)


def _read_json(connection: DuckDBPyConnection, paths: list[str], name: str) -> Source:
    files: Any = [glob.escape(path) for path in paths]
    options: dict[str, Any] = {"union_by_name": True} if len(files) > 1 else {}
    inferred = connection.read_json(files, sample_size=-1, hive_partitioning=False, **options)
    # Integers as doubles: a later row may hold 0.5.
    numbers = {"BIGINT", "UBIGINT", "HUGEINT", "DOUBLE"}
    types = {
        column: "DOUBLE" if str(kind) in numbers else "BOOLEAN" if str(kind) == "BOOLEAN" else "VARCHAR"
        for column, kind in zip(inferred.columns, inferred.types, strict=True)
    }

    def relation(types: Mapping[str, str]) -> DuckDBPyRelation:
        return connection.read_json(files, columns=dict(types), hive_partitioning=False, **options)

    def as_text(columns: Collection[str]) -> Frame:
        texts = {column: "VARCHAR" if column in columns else kind for column, kind in types.items()}
        return nw.from_native(relation(texts))

    rows = relation(types)
    # As NumPy arrays: Python values of times with a zone would need pytz.
    if not len(next(iter(rows.limit(1).fetchnumpy().values()))):
        raise _empty_table_error(name, rows.columns)
    return replace(
        relation_source(rows, name, connection),
        account=lambda read: _check_record_count(name, sum(map(count_json_records, paths)), read),
        as_text=as_text,
        text_bytes=_estimate_text_bytes(paths),
    )


def _estimate_text_bytes(paths: Sequence[str]) -> int:
    """Upper estimate of the uncompressed size of text files."""
    return sum(os.path.getsize(path) * (20 if path.lower().endswith(".gz") else 1) for path in paths)


def _read_arrow(paths: Sequence[str], name: str, writing: Path | None) -> Source:
    try:
        import pyarrow as pa  # the only format that needs an optional library
        from pyarrow import feather, ipc
    except ImportError:
        raise DataError(f"{name} needs the library pyarrow.", hint="pip install pyarrow, or use Parquet") from None

    def table_of(path: str) -> Any:
        with open(path, "rb") as file:
            streamed = file.read(4) == b"\xff\xff\xff\xff"  # marker of the stream format
        # Not memory-mapped: a file that shrinks meanwhile would crash the process.
        table = ipc.open_stream(path).read_all() if streamed else feather.read_table(path, memory_map=False)
        table.validate(full=True)  # invalid offsets would crash the process
        return table

    try:
        table = pa.concat_tables(map(table_of, paths), promote_options="default")
    except (ValueError, TypeError, OSError, KeyError, NotImplementedError, MemoryError) as error:
        raise _hide_folders(read_error(name, error, "Arrow"), paths) from error
    if not table.num_rows:
        raise _empty_table_error(name, table.column_names)
    source = replace(
        frame_source(table), name=name, account=lambda read: _check_record_count(name, table.num_rows, read)
    )
    if len({column.casefold() for column in source.columns}) < len(source.columns):
        return source  # DuckDB would rename columns that differ only in case
    connection = connect(writing=writing)
    try:
        relation = normalise_timestamps(connection.from_arrow(table))
    except Exception as error:
        raise read_error(name, error, "Arrow") from error
    return replace(relation_source(relation, name, connection), account=source.account)


def _empty_table_error(name: str, columns: Sequence[str]) -> DataError:
    return no_rows_error(name, f"columns {listing(columns)}, but no rows")


def _check_record_count(name: str, records: int, read: int) -> None:
    """Refuse a file if not all of its records were read."""
    if records != read:
        raise DataError(
            f"not all records of {name} could be read.",
            seen=f"{grouped(records)} records, of which {grouped(read)} were read",
            hint="check that the file is complete and that no other program writes to it",
        )
