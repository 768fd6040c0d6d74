"""Every column of a source looked at one after the other, whatever it holds, inside DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError
from scorespace.frames.engine import identifier, literal, told
from scorespace.frames.read import read
from scorespace.frames.roles import absent_column
from scorespace.frames.source import Source, no_rows
from scorespace.frames.values import doubles
from scorespace.frozen import dataclass

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

Codes = NDArray[np.int32]

MOST_TEXTS: Final = 2000
"""How many different texts of a column are fetched, the commonest first."""

_FORMATS: Final = (
    *("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%Y-%m", "%H:%M:%S"),
    *("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%SZ"),
)
_WHOLE: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT")
_LONG: Final = ("BIGINT", "UBIGINT", "HUGEINT")
_TIMES: Final = ("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")


@dataclass(frozen=True, eq=False)
class Held:
    """What one column holds: its distinct values, how often each occurs, and which of them each row has.

    `stored` is number, text, boolean or date. Numbers and dates come in order (dates as seconds since 1970);
    texts come by frequency, and only the commonest of them by name. `codes` is the place of a row's value in that
    order, -1 where it is missing. Of texts, `numeric` counts the rows that can be read as numbers, `words` is
    how many words they have on average.
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
        """How many rows have a value."""
        return int(self.counts.sum())

    @property
    def missing(self) -> int:
        return self.rows - self.known

    def numbers(self) -> NDArray[np.float64]:
        """The values row by row as doubles, NaN where one is missing; only of numbers, booleans and dates."""
        padded = np.append(self.values.astype(np.float64), np.nan)
        return padded[self.codes]

    def first_rows(self, code: int) -> list[int]:
        """The first rows with the value of that code, counted from 0."""
        return np.flatnonzero(self.codes == code)[:3].tolist()

    def digests(self) -> tuple[bytes, bytes, bytes]:
        """Digests that columns share whose rows are in the same order, in the reverse order, or alike."""
        reverse = np.where(self.codes < 0, -1, self.distinct - 1 - self.codes).astype(np.int32)
        return _digest(self.codes), _digest(reverse), _digest(by_appearance(self.codes))


@dataclass(frozen=True, eq=False, kw_only=True)
class Survey(Source):
    """A source to be looked at column by column; the rows stay in DuckDB, in their order."""

    rows: int
    types: dict[str, str]

    def held(self, name: str) -> Held:
        """All that a column holds.

        >>> survey({"size": ["big", "small", "big", None]}).held("size").values.tolist()
        ['big', 'small']
        """
        if name not in self.columns:
            raise absent_column(name, self)
        kind, column = self.types[name], identifier(name)
        if kind in _TIMES:
            return self._ordered(name, "date", f"epoch({column})")
        if kind == "BOOLEAN":
            return self._ordered(name, "boolean", f"CAST({column} AS DOUBLE)")
        if kind in _WHOLE or kind in ("FLOAT", "DOUBLE") or kind.startswith("DECIMAL"):
            if kind in _LONG and self._is_long(column):
                return self._labels(name, f"CAST({column} AS VARCHAR)", {})
            return self._ordered(name, "number", f"CAST({column} AS DOUBLE)")
        return self._text(name, column if kind == "VARCHAR" else f"CAST({column} AS VARCHAR)")

    def row_digests(self, names: Sequence[str], *, rough: bool = False) -> NDArray[np.uint64]:
        """A number for each row that rows with the same values in these columns share, in any survey.

        `rough`: numbers count as the same to three digits, texts whatever their case and blanks.
        """
        parts = [self._comparable(name, rough) for name in names]
        return self.fetch(f"SELECT hash({', '.join(parts)}) AS digest FROM given")["digest"].astype(np.uint64)

    def digits(self, name: str) -> NDArray[np.float64]:
        """The digits in the texts of a column as one number: 17 for 'C-0017'; NaN where there are none."""
        found = f"TRY_CAST(regexp_replace(CAST({identifier(name)} AS VARCHAR), '[^0-9]', '', 'g') AS DOUBLE)"
        return doubles(self.fetch(f"SELECT {found} AS digits FROM given")["digits"])

    def _ordered(self, name: str, stored: str, expression: str) -> Held:
        numbers = doubles(self.fetch(f"SELECT {expression} AS value FROM given")["value"])
        there = ~np.isnan(numbers)
        values, inverse, counts = np.unique(numbers[there], return_inverse=True, return_counts=True)
        codes = np.full(numbers.size, -1, dtype=np.int32)
        codes[there] = inverse
        return Held(name, stored, self.rows, values, counts.astype(np.int64), codes)

    def _text(self, name: str, column: str) -> Held:
        date = f"try_strptime({column}, [{', '.join(map(literal, _FORMATS))}])"
        asked = f"""
            SELECT count({column}) AS known, count(TRY_CAST({column} AS DOUBLE)) AS numeric,
                   count_if(regexp_matches({column}, '^[-+]?[0-9]{{17,}}$')) AS long,
                   avg(1 + length(trim({column})) - length(replace(trim({column}), ' ', ''))) AS words FROM given"""
        about = {key: float(np.ma.filled(value, 0)[0]) for key, value in self.fetch(asked).items()}
        if about["known"] and about["numeric"] == about["known"]:
            if about["long"]:  # more digits than a double holds
                return self._labels(name, column, {})
            return self._ordered(name, "number", f"TRY_CAST({column} AS DOUBLE)")
        # Reading dates is slow: a few texts tell whether to try them all.
        few = f"(SELECT {column} AS text FROM given WHERE {column} IS NOT NULL LIMIT 500)"
        shaped = "count_if(regexp_matches(text, '^[0-9]{1,4}[-/.:][0-9]')) AS shaped, count(*) AS rows"
        seen = self.fetch(f"SELECT {shaped} FROM {few} AS few")
        if about["known"] and float(seen["shaped"][0]) >= 0.9 * float(seen["rows"][0]):
            dated = self.fetch(f"SELECT count({date}) AS dates FROM given")["dates"][0]
            if float(dated) >= 0.98 * about["known"]:
                return self._ordered(name, "date", f"epoch({date})")
        return self._labels(name, column, about)

    def _is_long(self, column: str) -> bool:
        """Whether whole numbers have more digits than doubles hold: then they are names, and stay texts."""
        found = self.fetch(f"SELECT max(abs(CAST({column} AS DOUBLE))) AS most FROM given")["most"]
        return float(np.ma.filled(found, 0)[0]) > 2**53

    def _labels(self, name: str, column: str, about: dict[str, float]) -> Held:
        digests = self.fetch(f"SELECT hash({column}) AS digest, {column} IS NULL AS absent FROM given")
        there = ~digests["absent"].astype(bool)
        found, inverse, counts = np.unique(digests["digest"][there], return_inverse=True, return_counts=True)
        named = self.fetch(
            f"SELECT hash({column}) AS digest, min({column}) AS text FROM given WHERE {column} IS NOT NULL "
            f"GROUP BY 1 ORDER BY count(*) DESC, 2 LIMIT {MOST_TEXTS}"
        )
        first = np.searchsorted(found, named["digest"])  # the commonest, equally common ones by the alphabet
        rest = np.setdiff1d(np.arange(found.size), first)
        order = np.concatenate([first, rest[np.argsort(-counts[rest], kind="stable")]]).astype(np.int64)
        place = np.empty(order.size, dtype=np.int32)
        place[order] = np.arange(order.size)
        codes = np.full(there.size, -1, dtype=np.int32)
        codes[there] = place[inverse]
        texts = np.asarray(named["text"], dtype=object)
        return Held(
            name,
            "text",
            self.rows,
            texts,
            counts[order].astype(np.int64),
            codes,
            int(about.get("numeric", 0)),
            about.get("words", 1.0),
        )

    def _comparable(self, name: str, rough: bool) -> str:
        """The column as an expression whose hash is the same in every table that holds the same value."""
        column, kind = identifier(name), self.types[name]
        if kind in _WHOLE or kind in ("FLOAT", "DOUBLE", "BOOLEAN") or kind.startswith("DECIMAL"):
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
        """Have the engine of the source do something."""
        assert self.connection is not None  # whoever needs one sees to it
        with told(self.where):
            self.connection.execute(statement)

    def fetch(self, query: str) -> dict[str, NDArray[Any]]:
        """The columns that a question to the rows, `given`, is answered with."""
        with told(self.where):
            return dict(_queried(self.frame.to_native(), query).fetchnumpy())


def survey(data: Any) -> Survey:
    """The columns of a path, frame or dict of arrays, ready to be looked at one by one.

    >>> survey({"a": [1, 2], "b": ["x", "y"]}).columns
    ('a', 'b')
    """
    source = read(data)
    if not source.frame.implementation.is_duckdb():
        source = replace(read(source.arrays(source.frame)), name=source.name)  # one engine for all that follows
    try:
        relation = _settled(source, source.frame.to_native())
    except DataError:
        if source.as_text is None:
            raise
        # Numbers first and text later: take all as text, and look at each value.
        relation = _settled(source, source.as_text(source.columns).to_native())
    ((rows,),) = _queried(relation, "SELECT count(*) FROM given").fetchall()
    if not rows:
        raise no_rows(source.where)
    source.accounts_for(rows)
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    return Survey(nw.from_native(relation), source.name, tuple(types), source.connection, rows=rows, types=types)


def by_appearance(codes: Codes) -> Codes:
    """The codes renumbered by the first row that has them: alike for columns that are one-to-one recodings.

    >>> by_appearance(np.array([2, 2, 0, -1], dtype=np.int32)).tolist()
    [0, 0, 1, -1]
    """
    size = int(codes.max(initial=-1)) + 1
    first = np.full(size, codes.size, dtype=np.int64)
    there = np.flatnonzero(codes >= 0)[::-1]
    first[codes[there]] = there  # the last write is that of the first row
    begins = np.zeros(codes.size + 1, dtype=np.int32)
    begins[first] = 1
    place = np.cumsum(begins, dtype=np.int32)[first] - 1  # how many values began before: no sort is needed
    return np.append(place, np.int32(-1))[codes]


def _settled(source: Source, relation: DuckDBPyRelation) -> DuckDBPyRelation:
    """The relation, held by DuckDB where each look would read text files or Python's objects again."""
    objects = source.name in ("arrays", "frame") and "VARCHAR" in map(str, relation.types)
    if source.connection is None or not (source.as_text or objects):
        return relation
    with told(source.where):
        relation.create("settled")
        held = source.connection.table("settled")
        long = _long_numbers(held)
        if not long or source.as_text is None:
            return held
        source.as_text(long).to_native().create("settled_long")  # identifiers of many digits, read again as written
    return source.connection.table("settled_long")


def _long_numbers(relation: DuckDBPyRelation) -> list[str]:
    """The columns of whole numbers that are too long for doubles."""
    doubles = [name for name, kind in zip(relation.columns, relation.types, strict=True) if str(kind) == "DOUBLE"]
    if not doubles:
        return []
    long = "bool_or(abs({0}) > 9007199254740992 AND isfinite({0})) AND bool_and({0} IS NULL OR {0} = floor({0}))"
    asked = ", ".join(long.format(identifier(name)) for name in doubles)
    (answers,) = _queried(relation, f"SELECT {asked} FROM given").fetchall()
    return [name for name, yes in zip(doubles, answers, strict=True) if yes]


def _queried(relation: DuckDBPyRelation, query: str) -> DuckDBPyRelation:
    found = relation.query("given", query)
    assert found is not None  # only statements other than SELECT give nothing
    return found


def _digest(codes: Codes) -> bytes:
    return blake2b(codes.tobytes(), digest_size=16).digest()
