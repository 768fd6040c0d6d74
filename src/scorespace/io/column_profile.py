"""Read the distinct values, counts and row codes of every column of a source, inside DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError
from scorespace.io.column_values import to_doubles
from scorespace.io.duckdb_engine import engine_errors, identifier, literal
from scorespace.io.read import read
from scorespace.io.roles import missing_column_error
from scorespace.io.source import Source, no_rows_error

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

Codes = NDArray[np.int32]

MAX_LABELS_FETCHED: Final = 2000
"""Distinct labels of a text column that are fetched, the most frequent first."""

_DATE_FORMATS: Final = (
    *("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%Y-%m", "%H:%M:%S"),
    *("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%SZ"),
)
_INTEGER_TYPES: Final = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "HUGEINT",
)
_LONG_INTEGER_TYPES: Final = ("BIGINT", "UBIGINT", "HUGEINT")
_TIME_TYPES: Final = ("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """Distinct values of a column, their counts, and the code of each row.

    `stored` is number, text, boolean or date. Numbers and dates are sorted (dates as seconds since 1970); texts are
    ordered by frequency, and only the most frequent are fetched. `codes` is the index of each row's value, -1 where it
    is missing. For text, `numeric` counts the rows that parse as numbers, and `words` is the mean number of words.
    """

    name: str
    stored: str
    rows: int
    values: NDArray[Any] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    codes: Codes = field(repr=False)
    numeric: int = 0
    words: float = 0.0

    @property
    def distinct(self) -> int:
        return int(self.counts.size)

    @property
    def known(self) -> int:
        """Number of rows with a value."""
        return int(self.counts.sum())

    @property
    def missing(self) -> int:
        return self.rows - self.known

    def numbers(self) -> NDArray[np.float64]:
        """Values per row as doubles, NaN where missing; for numbers, booleans and dates only."""
        padded = np.append(self.values.astype(np.float64), np.nan)
        return padded[self.codes]

    def first_rows(self, code: int) -> list[int]:
        """First three row indices with the value of this code."""
        return np.flatnonzero(self.codes == code)[:3].tolist()

    def digests(self) -> tuple[bytes, bytes, bytes]:
        """Digests of the row codes in ascending order, in descending order, and up to a one-to-one recoding."""
        reverse = np.where(self.codes < 0, -1, self.distinct - 1 - self.codes).astype(np.int32)
        return _digest(self.codes), _digest(reverse), _digest(recode_by_appearance(self.codes))


@dataclass(frozen=True, eq=False, kw_only=True)
class ColumnReader(Source):
    """A source read column by column; the rows stay in DuckDB, in their order."""

    rows: int
    types: dict[str, str]

    def held(self, name: str) -> ColumnValues:
        """Return the values of a column.

        >>> read_columns({"size": ["big", "small", "big", None]}).held("size").values.tolist()
        ['big', 'small']
        """
        if name not in self.columns:
            raise missing_column_error(name, self)
        kind, column = self.types[name], identifier(name)
        if kind in _TIME_TYPES:
            return self._ordered(name, "date", f"epoch({column})")
        if kind == "BOOLEAN":
            return self._ordered(name, "boolean", f"CAST({column} AS DOUBLE)")
        if kind in _INTEGER_TYPES or kind in ("FLOAT", "DOUBLE") or kind.startswith("DECIMAL"):
            if kind in _LONG_INTEGER_TYPES and self._is_long(column):
                return self._labels(name, f"CAST({column} AS VARCHAR)", {})
            return self._ordered(name, "number", f"CAST({column} AS DOUBLE)")
        return self._text(name, column if kind == "VARCHAR" else f"CAST({column} AS VARCHAR)")

    def row_digests(self, names: Sequence[str], *, rough: bool = False) -> NDArray[np.uint64]:
        """Hash of each row over these columns; equal rows have equal hashes in every source.

        `rough` rounds numbers to three significant digits and ignores case and whitespace of text.
        """
        parts = [self._comparable(name, rough) for name in names]
        return self.fetch(f"SELECT hash({', '.join(parts)}) AS digest FROM given")["digest"].astype(np.uint64)

    def digits(self, name: str) -> NDArray[np.float64]:
        """The digits in each text as a number, such as 17 for 'C-0017'; NaN where there are none."""
        expression = f"TRY_CAST(regexp_replace(CAST({identifier(name)} AS VARCHAR), '[^0-9]', '', 'g') AS DOUBLE)"
        return to_doubles(self.fetch(f"SELECT {expression} AS digits FROM given")["digits"])

    def _ordered(self, name: str, stored: str, expression: str) -> ColumnValues:
        numbers = to_doubles(self.fetch(f"SELECT {expression} AS value FROM given")["value"])
        present = ~np.isnan(numbers)
        values, inverse, counts = np.unique(numbers[present], return_inverse=True, return_counts=True)
        codes = np.full(numbers.size, -1, dtype=np.int32)
        codes[present] = inverse
        return ColumnValues(name, stored, self.rows, values, counts.astype(np.int64), codes)

    def _text(self, name: str, column: str) -> ColumnValues:
        date = f"try_strptime({column}, [{', '.join(map(literal, _DATE_FORMATS))}])"
        query = f"""
            SELECT count({column}) AS known, count(TRY_CAST({column} AS DOUBLE)) AS numeric,
                   count_if(regexp_matches({column}, '^[-+]?[0-9]{{17,}}$')) AS long,
                   avg(1 + length(trim({column})) - length(replace(trim({column}), ' ', ''))) AS words FROM given"""
        counts = {key: float(np.ma.filled(value, 0)[0]) for key, value in self.fetch(query).items()}
        if counts["known"] and counts["numeric"] == counts["known"]:
            if counts["long"]:  # more digits than a double holds exactly
                return self._labels(name, column, {})
            return self._ordered(name, "number", f"TRY_CAST({column} AS DOUBLE)")
        # Parsing dates is slow: try all texts only if the first ones look like dates.
        first_rows = f"(SELECT {column} AS text FROM given WHERE {column} IS NOT NULL LIMIT 500)"
        date_like = "count_if(regexp_matches(text, '^[0-9]{1,4}[-/.:][0-9]')) AS shaped, count(*) AS rows"
        looks = self.fetch(f"SELECT {date_like} FROM {first_rows} AS few")
        if counts["known"] and float(looks["shaped"][0]) >= 0.9 * float(looks["rows"][0]):
            date_count = self.fetch(f"SELECT count({date}) AS dates FROM given")["dates"][0]
            if float(date_count) >= 0.98 * counts["known"]:
                return self._ordered(name, "date", f"epoch({date})")
        return self._labels(name, column, counts)

    def _is_long(self, column: str) -> bool:
        """Whether integers exceed 2^53, so that they are identifiers and stay text."""
        maximum = self.fetch(f"SELECT max(abs(CAST({column} AS DOUBLE))) AS most FROM given")["most"]
        return float(np.ma.filled(maximum, 0)[0]) > 2**53

    def _labels(self, name: str, column: str, counts_of_text: dict[str, float]) -> ColumnValues:
        digests = self.fetch(f"SELECT hash({column}) AS digest, {column} IS NULL AS absent FROM given")
        present = ~digests["absent"].astype(bool)
        hashes, inverse, counts = np.unique(digests["digest"][present], return_inverse=True, return_counts=True)
        frequent = self.fetch(
            f"SELECT hash({column}) AS digest, min({column}) AS text FROM given WHERE {column} IS NOT NULL "
            f"GROUP BY 1 ORDER BY count(*) DESC, 2 LIMIT {MAX_LABELS_FETCHED}"
        )
        first = np.searchsorted(hashes, frequent["digest"])  # most frequent first, ties alphabetically
        rest = np.setdiff1d(np.arange(hashes.size), first)
        order = np.concatenate([first, rest[np.argsort(-counts[rest], kind="stable")]]).astype(np.int64)
        rank = np.empty(order.size, dtype=np.int32)
        rank[order] = np.arange(order.size)
        codes = np.full(present.size, -1, dtype=np.int32)
        codes[present] = rank[inverse]
        texts = np.asarray(frequent["text"], dtype=object)
        return ColumnValues(
            name,
            "text",
            self.rows,
            texts,
            counts[order].astype(np.int64),
            codes,
            int(counts_of_text.get("numeric", 0)),
            counts_of_text.get("words", 1.0),
        )

    def _comparable(self, name: str, rough: bool) -> str:
        """SQL expression of a column whose hash agrees between tables with the same value."""
        column, kind = identifier(name), self.types[name]
        if kind in _INTEGER_TYPES or kind in ("FLOAT", "DOUBLE", "BOOLEAN") or kind.startswith("DECIMAL"):
            number = f"CAST({column} AS DOUBLE)"
            if not rough:
                return number
            scale = f"pow(10, 2 - floor(log10(abs({number}))))"
            return (
                f"CASE WHEN {number} = 0 OR isinf({number}) THEN {number} ELSE round({number} * {scale}) / {scale} END"
            )
        text = f"CAST({column} AS VARCHAR)"
        return f"regexp_replace(lower(trim({text})), '\\s+', ' ', 'g')" if rough else text

    def run(self, statement: str) -> None:
        """Execute an SQL statement on the connection of the source."""
        assert self.connection is not None  # callers that execute statements have a connection
        with engine_errors(self.where):
            self.connection.execute(statement)

    def fetch(self, query: str) -> dict[str, NDArray[Any]]:
        """Return the columns of an SQL query on the rows, which are named `given`."""
        with engine_errors(self.where):
            return dict(_query(self.frame.to_native(), query).fetchnumpy())


def read_columns(data: Any) -> ColumnReader:
    """Open a path, frame or dict of arrays for reading column by column.

    >>> read_columns({"a": [1, 2], "b": ["x", "y"]}).columns
    ('a', 'b')
    """
    source = read(data)
    if not source.frame.implementation.is_duckdb():
        source = replace(read(source.arrays(source.frame)), name=source.name)  # DuckDB for all later queries
    try:
        relation = _materialise(source, source.frame.to_native())
    except DataError:
        if source.as_text is None:
            raise
        # A column begins with numbers and goes on with text: read all columns as text.
        relation = _materialise(source, source.as_text(source.columns).to_native())
    ((rows,),) = _query(relation, "SELECT count(*) FROM given").fetchall()
    if not rows:
        raise no_rows_error(source.where)
    source.accounts_for(rows)
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    return ColumnReader(nw.from_native(relation), source.name, tuple(types), source.connection, rows=rows, types=types)


def recode_by_appearance(codes: Codes) -> Codes:
    """Renumber codes in the order of first appearance, so that one-to-one recodings get equal codes.

    >>> recode_by_appearance(np.array([2, 2, 0, -1], dtype=np.int32)).tolist()
    [0, 0, 1, -1]
    """
    size = int(codes.max(initial=-1)) + 1
    first = np.full(size, codes.size, dtype=np.int64)
    present = np.flatnonzero(codes >= 0)[::-1]
    first[codes[present]] = present  # reversed, so that the first row wins
    is_first = np.zeros(codes.size + 1, dtype=np.int32)
    is_first[first] = 1
    rank = np.cumsum(is_first, dtype=np.int32)[first] - 1  # rank of first appearance without sorting
    return np.append(rank, np.int32(-1))[codes]


def _materialise(source: Source, relation: DuckDBPyRelation) -> DuckDBPyRelation:
    """Store the relation as a table where each query would otherwise parse text or Python objects again."""
    objects = source.name in ("arrays", "frame") and "VARCHAR" in map(str, relation.types)
    if source.connection is None or not (source.as_text or objects):
        return relation
    with engine_errors(source.where):
        relation.create("settled")
        table = source.connection.table("settled")
        long_columns = _long_integer_columns(table)
        if not long_columns or source.as_text is None:
            return table
        source.as_text(long_columns).to_native().create("settled_long")  # identifiers of many digits, re-read as text
    return source.connection.table("settled_long")


def _long_integer_columns(relation: DuckDBPyRelation) -> list[str]:
    """Columns of integers that exceed the precision of doubles."""
    double_columns = [
        name for name, kind in zip(relation.columns, relation.types, strict=True) if str(kind) == "DOUBLE"
    ]
    if not double_columns:
        return []
    test = "bool_or(abs({0}) > 9007199254740992 AND isfinite({0})) AND bool_and({0} IS NULL OR {0} = floor({0}))"
    tests = ", ".join(test.format(identifier(name)) for name in double_columns)
    (flags,) = _query(relation, f"SELECT {tests} FROM given").fetchall()
    return [name for name, is_long in zip(double_columns, flags, strict=True) if is_long]


def _query(relation: DuckDBPyRelation, query: str) -> DuckDBPyRelation:
    result = relation.query("given", query)
    assert result is not None  # None only for statements other than SELECT
    return result


def _digest(codes: Codes) -> bytes:
    return blake2b(codes.tobytes(), digest_size=16).digest()
