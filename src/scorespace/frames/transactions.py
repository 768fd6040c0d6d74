"""Transactions, long or one-hot, become a bit for each item and transaction inside DuckDB; sets of items are counted.

64 transactions are packed into a word where they are read: what leaves the engine is an eighth of a byte for each
frequent item and transaction. Sets grow by one item at a time, and only from sets that are frequent themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ColumnError, DataError, WeightError, did_you_mean, listing
from scorespace.frames.read import read
from scorespace.frames.roles import absent_column
from scorespace.frames.source import no_rows, unreadable
from scorespace.frames.survey import Survey, quoted, survey
from scorespace.results import Note, Progress, grouped, note
from scorespace.tables.labels import label_text, natural_order

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Codes = NDArray[np.int32]
Counted = NDArray[np.int64]
Sets = NDArray[np.int64]
Words = NDArray[np.uint64]

MOST_VALUES: Final = 100  # different values of a column of labels, each an item
MOST_CANDIDATES: Final = 20_000_000
MOST_COPIES: Final = 1_000_000_000  # transactions that weights may stand for
MOST_BITS: Final = 16_000_000_000  # of all words together: 2 GB
_COLUMNS_AT_ONCE: Final = 200
_ROWS_AT_ONCE: Final = 10_000_000
_WORDS_AT_ONCE: Final = 2048  # of an item: some hundred items stay within the cache
_SETS_AT_ONCE: Final = 256
_JOINED: Final = 20.0  # how long one row of a join takes beside one word of a count


@dataclass(frozen=True, eq=False)
class Item:
    """An item: its name, how many transactions have it, and how the engine finds it."""

    name: str
    count: int
    found: str


@dataclass(frozen=True, eq=False)
class Transactions:
    """Transactions that stay in DuckDB: their number, their items in order, and what was dropped."""

    name: str
    where: str
    size: int
    items: tuple[Item, ...]
    long: bool
    notes: tuple[Note, ...]
    connection: DuckDBPyConnection = field(repr=False)

    def place(self, name: str) -> int:
        """The place of an item by its name."""
        names = [item.name for item in self.items]
        if name not in names:
            near = did_you_mean(name, names)
            raise DataError(
                f"the item {name!r} occurs in no transaction of {self.where}.",
                seen=listing(names, 8),
                hint=f"did you mean {near}?" if near else "one of the items that occur",
            )
        return names.index(name)

    def words(self, places: Sequence[int]) -> Words:
        """The bits (items, words) of items: which transactions have each."""
        width = -(-self.size // 64)
        if len(places) * width * 64 > MOST_BITS:
            raise DataError(
                f"{grouped(len(places))} items in {grouped(self.size)} transactions are too many to be held in memory.",
                hint="a larger min_support, so that fewer items are frequent",
            )
        return (self._long_words if self.long else self._wide_words)(places, width)

    def pairs(self, places: Codes, least: int) -> tuple[Sets, Counted] | None:
        """Pairs of items (as places in the given ones) that occur so often, by a join; None where bits are quicker."""
        if not self.long:
            return None
        of_items = f"SELECT t, i FROM held WHERE i IN ({', '.join(map(str, places))})"
        sizes = f"SELECT count(*) AS n FROM ({of_items}) GROUP BY t"
        joined = self._fetch(f"SELECT sum(n * (n - 1) / 2) AS n FROM ({sizes})")
        bits = places.size * (places.size - 1) / 2 * (self.size / 64)
        if _JOINED * float(np.ma.filled(joined["n"], 0.0)[0]) > bits:
            return None
        found = self._fetch(
            f"WITH h AS ({of_items}) SELECT a.i AS a, b.i AS b, count(*) AS n "
            f"FROM h a JOIN h b ON a.t = b.t AND a.i < b.i GROUP BY ALL HAVING count(*) >= {least:d} ORDER BY 1, 2"
        )
        both = np.stack([np.searchsorted(places, found[side]) for side in ("a", "b")], axis=1)
        return both.astype(np.int64), found["n"].astype(np.int64)

    def _long_words(self, places: Sequence[int], width: int) -> Words:
        words = np.zeros((len(places), width), dtype=np.uint64)
        weights = np.minimum([self.items[place].count for place in places], width)
        batch = np.cumsum(weights) // _ROWS_AT_ONCE
        for number in np.unique(batch):
            chosen = np.flatnonzero(batch == number)
            codes = [places[int(k)] for k in chosen]
            found = self._fetch(
                "SELECT i, t // 64 AS word, bit_or(1::UBIGINT << (t % 64)::UBIGINT) AS bits FROM held "
                f"WHERE i IN ({', '.join(map(str, codes))}) GROUP BY ALL"
            )
            row = np.full(len(self.items), -1)
            row[codes] = chosen
            words[row[found["i"]], found["word"]] = found["bits"]
        return words

    def _wide_words(self, places: Sequence[int], width: int) -> Words:
        words = np.zeros((len(places), width), dtype=np.uint64)
        for start in range(0, len(places), _COLUMNS_AT_ONCE):
            some = [self.items[place].found for place in places[start : start + _COLUMNS_AT_ONCE]]
            bits = ", ".join(f"bit_or(({one})::UBIGINT << bit) AS b{k}" for k, one in enumerate(some))
            found = self._fetch(
                f"SELECT word, {bits} FROM (SELECT row // 64 AS word, (row % 64)::UBIGINT AS bit, * FROM "
                "(SELECT row_number() OVER () - 1 AS row, * FROM held)) GROUP BY word ORDER BY word"
            )
            for k in range(len(some)):
                words[start + k] = found[f"b{k}"]
        return words

    def _fetch(self, query: str) -> dict[str, NDArray[Any]]:
        return _fetched(self.connection, query, self.where)


def transactions(
    data: Any,
    *,
    transaction: str | None = None,
    items: Sequence[str] = (),
    weight: str | None = None,
    missing: str = "error",
) -> Transactions:
    """The transactions of a source: long with a column of `transaction`, else a row each and a column for each item.

    `weight` is the column that says how many transactions alike a row stands for.

    >>> found = transactions({"bread": [1, 1, 0], "jam": [0, 1, 1]})
    >>> [(item.name, item.count) for item in found.items]
    [('bread', 2), ('jam', 2)]
    """
    if missing not in ("error", "drop"):
        raise DataError(f"missing={missing!r} is not a way to treat missing values.", hint='missing="error" or "drop"')
    named = [*items, *([transaction] if transaction else [])]
    source = survey(_settled(data, [*named, *([weight] if named and weight else [])]))
    if source.connection is None:  # the reader's own engine: ours needs tables of its own
        source = survey(_columns_of(source))
    if weight is not None:
        _check_weights(source, weight, transaction)
    if transaction is not None:
        return _long(source, transaction, items, weight, missing)
    return _wide(source, [name for name in _matching(source, items) if name != weight], weight, missing)


def _settled(data: Any, wanted: Sequence[str]) -> Any:
    """The source, of a frame only the columns in use where they are named one by one."""
    source = read(data)
    plain = [name for name in wanted if name in source.columns]
    if source.connection is None and plain and len(plain) == len(wanted):
        return source.arrays(source.frame.select(*plain))
    return source


def _columns_of(source: Survey) -> dict[str, NDArray[Any]]:
    return dict(source.relation.fetchnumpy())


# --- a row for each item of a transaction


def _long(source: Survey, transaction: str, items: Sequence[str], weight: str | None, missing: str) -> Transactions:
    others = [name for name in source.columns if name not in (transaction, weight)]
    if len(items) != 1:
        raise ColumnError(
            "long transactions need the one column that names the item.",
            seen=listing(items) or "none",
            hint=f'items="{others[0] if others else "item"}"',
        )
    item = items[0]
    for name in (transaction, item):
        if name not in source.columns:
            raise absent_column(name, source)  # type: ignore[arg-type]
    connection, t, i = _engine(source), quoted(transaction), quoted(item)
    gaps = {
        name: int(
            _fetched(connection, f"SELECT count(*) - count({quoted(name)}) AS n FROM given", source.where)["n"][0]
        )
        for name in (transaction, item, *([weight] if weight else []))
    }
    lost = " OR ".join(f"{quoted(name)} IS NULL" for name in gaps)
    gone = _dropped(gaps, source.rows, missing, lost, connection, source)
    named = f"SELECT {t} AS t, CAST({i} AS VARCHAR) AS i{_copies(weight)} FROM given WHERE NOT ({lost})"
    known = named if weight is None else f"SELECT {{'t': t, 'copy': copy}} AS t, i FROM ({named})"
    _run(connection, f"CREATE TEMP TABLE known AS {known}", source.where)
    numbered = "CREATE TEMP TABLE {0}_codes AS SELECT {0}, row_number() OVER (ORDER BY {0}) - 1 AS code FROM "
    for column in "ti":
        _run(connection, numbered.format(column) + f"(SELECT DISTINCT {column} FROM known)", source.where)
    held = "SELECT DISTINCT CAST(t_codes.code AS INTEGER) AS t, CAST(i_codes.code AS INTEGER) AS i FROM known "
    _run(connection, f"CREATE TEMP TABLE held AS {held} JOIN t_codes USING (t) JOIN i_codes USING (i)", source.where)
    counts = _fetched(connection, "SELECT i, count(*) AS n FROM held GROUP BY i ORDER BY i", source.where)["n"]
    names = _fetched(connection, "SELECT i FROM i_codes ORDER BY code", source.where)["i"]
    ((size,),) = connection.execute("SELECT count(*) FROM t_codes").fetchall()
    found = tuple(Item(_tidied(name), int(count), "") for name, count in zip(names, counts, strict=True))
    return Transactions(source.name, source.where, int(size), found, True, gone, connection)


def _tidied(name: str) -> str:
    """The name of an item; CSV files hold whole numbers as doubles."""
    return name.removesuffix(".0") if name.removesuffix(".0").lstrip("-").isdigit() else name


# --- a row for each transaction


def _wide(source: Survey, columns: Sequence[str], weight: str | None, missing: str) -> Transactions:
    connection = _engine(source)
    asked = [
        f"count({q}) AS known{k}, {_wrong(source.types[name], q)} AS wrong{k}"
        for k, name in enumerate(columns)
        for q in [quoted(name)]
    ]
    about = _fetched(connection, f"SELECT {', '.join(asked)} FROM given", source.where)
    gaps = {name: source.rows - int(about[f"known{k}"][0]) for k, name in enumerate(columns)}
    wrong = [name for k, name in enumerate(columns) if int(np.ma.filled(about[f"wrong{k}"], 0)[0])]
    if wrong:
        raise _not_an_item(source, connection, wrong[0])
    if weight is not None:
        known = _fetched(connection, f"SELECT count({quoted(weight)}) AS n FROM given", source.where)["n"]
        gaps[weight] = source.rows - int(known[0])
    lost = " OR ".join(f"{quoted(name)} IS NULL" for name in gaps)
    notes = _dropped(gaps, source.rows, missing, lost, connection, source)
    chosen = ", ".join(map(quoted, columns))
    several = "VIEW" if weight is None else "TABLE"  # copies are made once
    _run(
        connection,
        f"CREATE TEMP {several} held AS SELECT {chosen} FROM (SELECT {chosen}{_copies(weight)} FROM given "
        f"WHERE NOT ({lost}))",
        source.where,
    )
    found = [pair for name in columns for pair in _items_of(source, connection, name)]
    sums = ", ".join(f"count_if({expression}) AS n{k}" for k, (_, expression) in enumerate(found))
    counted = _fetched(connection, f"SELECT count(*) AS size, {sums} FROM held", source.where)
    kept = [
        Item(name, int(counted[f"n{k}"][0]), expression)
        for k, (name, expression) in enumerate(found)
        if int(counted[f"n{k}"][0])
    ]
    kept.sort(key=lambda item: natural_order(item.name))
    if not kept:
        raise DataError(
            f"no item occurs in any transaction of {source.where}.",
            seen=listing(columns, 8),
            hint="other columns; 1, true or a label says that an item is there",
        )
    return Transactions(source.name, source.where, int(counted["size"][0]), tuple(kept), False, notes, connection)


def _matching(source: Survey, patterns: Sequence[str]) -> list[str]:
    """The columns that the patterns name, all of them where there are none."""
    if not patterns:
        return list(source.columns)
    for pattern in patterns:
        if not any(name == pattern or fnmatchcase(name, pattern) for name in source.columns):
            raise absent_column(pattern, source)  # type: ignore[arg-type]
    return [name for name in source.columns if any(name == one or fnmatchcase(name, one) for one in patterns)]


def _is_text(kind: str) -> bool:
    return kind == "VARCHAR" or kind.startswith("ENUM")


def _wrong(kind: str, column: str) -> str:
    """How many values are neither yes nor no; labels are none of these, nor too many."""
    if kind == "BOOLEAN":
        return "0"
    if _is_text(kind):
        return f"CASE WHEN approx_count_distinct({column}) > {2 * MOST_VALUES} THEN 1 ELSE 0 END"
    number = f"TRY_CAST({column} AS DOUBLE)"
    return f"count_if({column} IS NOT NULL AND ({number} IS NULL OR {number} NOT IN (0, 1)))"


def _items_of(source: Survey, connection: DuckDBPyConnection, name: str) -> list[tuple[str, str]]:
    """The items of a column with the condition for each: itself where it is yes or no, else each of its labels."""
    column, kind = quoted(name), source.types[name]
    if not _is_text(kind):
        return [(name, f"CAST({column} AS BOOLEAN)")]
    query = f"SELECT DISTINCT CAST({column} AS VARCHAR) AS v FROM held LIMIT {MOST_VALUES + 1}"
    values = sorted(map(str, _fetched(connection, query, source.where)["v"].tolist()), key=natural_order)
    if len(values) > MOST_VALUES:
        raise _not_an_item(source, connection, name)
    return [(f"{name}={label_text(one)}", f"CAST({column} AS VARCHAR) = {_text(one)}") for one in values]


def _not_an_item(source: Survey, connection: DuckDBPyConnection, name: str) -> ColumnError:
    some = _fetched(
        connection, f"SELECT DISTINCT CAST({quoted(name)} AS VARCHAR) AS v FROM given LIMIT 200", source.where
    )["v"].tolist()
    values = sorted((str(one) for one in some if one is not None), key=natural_order)
    if _is_text(source.types[name]):
        return ColumnError(
            f"column {name!r} holds more than {MOST_VALUES} different labels, too many to be items.",
            seen=listing(values, 3),
            hint=f'transaction=… if {name!r} names the item of each row: transaction="…", items="{name}"',
        )
    return ColumnError(
        f"column {name!r} holds numbers, not whether an item is there.",
        seen=listing(values, 4),
        hint="0 and 1, booleans or labels; name the columns of items with items=…",
    )


# --- what both need


def _check_weights(source: Survey, weight: str, transaction: str | None) -> None:
    """Refuse weights that are no numbers of transactions, or differ within one."""
    if weight not in source.columns:
        raise absent_column(weight, source)  # type: ignore[arg-type]
    connection, w = _engine(source), quoted(weight)
    number = f"TRY_CAST({w} AS DOUBLE)"
    wrong = f"{w} IS NOT NULL AND ({number} IS NULL OR NOT isfinite({number}) OR {number} < 0 OR {number} % 1 <> 0)"
    odd = _fetched(
        connection, f"SELECT DISTINCT CAST({w} AS VARCHAR) AS v FROM given WHERE {wrong} LIMIT 4", source.where
    )
    if odd["v"].size:
        raise WeightError(
            f"column {weight!r} holds something else than how many transactions a row stands for.",
            seen=listing(sorted(map(str, odd["v"].tolist())), 3),
            hint="whole numbers from 0 on; or no weight",
        )
    summed = _fetched(connection, f"SELECT coalesce(sum({number}), 0.0) AS n FROM given", source.where)["n"]
    total = float(summed[0])
    if not total:
        raise WeightError(f"column {weight!r} stands for no transaction at all.", hint="weights above 0; or no weight")
    if total > MOST_COPIES:
        raise WeightError(
            f"column {weight!r} stands for more than {grouped(MOST_COPIES)} transactions.",
            hint="smaller numbers in the same proportions",
        )
    if transaction is not None and transaction in source.columns:
        several = f"min({number}) <> max({number})"
        varies = f"SELECT {quoted(transaction)} AS t FROM given GROUP BY 1 HAVING {several} LIMIT 1"
        found = _fetched(connection, varies, source.where)["t"]
        if found.size:
            raise WeightError(
                f"a transaction has different weights in column {weight!r}.",
                seen=f"{transaction} {label_text(found.tolist()[0])}",
                hint="one weight for all rows of a transaction",
            )


def _copies(weight: str | None) -> str:
    """What makes a row as often as it counts, for a list of columns."""
    return "" if weight is None else f", unnest(range(CAST({quoted(weight)} AS BIGINT))) AS copy"


def _engine(source: Survey) -> DuckDBPyConnection:
    if source.connection is None:
        raise DataError(f"{source.where} cannot be read again.", hint="a file, or a dict of arrays")
    source.relation.create_view("given", replace=True)
    return source.connection


def _dropped(
    gaps: dict[str, int], rows: int, missing: str, lost: str, connection: DuckDBPyConnection, source: Survey
) -> tuple[Note, ...]:
    gaps = {name: count for name, count in gaps.items() if count}
    if not gaps:
        return ()
    gone = int(_fetched(connection, f"SELECT count_if({lost}) AS n FROM given", source.where)["n"][0])
    told = ", ".join(f"{name!r} ({grouped(count)})" for name, count in list(gaps.items())[:5])
    some = f"{grouped(gone)} of {grouped(rows)} rows"
    if missing == "error":
        which = f"column {next(iter(gaps))!r} has" if len(gaps) == 1 else f"{len(gaps)} columns have"
        raise DataError(f"{which} missing values.", seen=f"{told} of {grouped(rows)} rows", hint='missing="drop"')
    if gone == rows:
        raise no_rows(source.where, f"missing values in every row: {told}")
    return (note("SS009", f"{some} {'was' if gone == 1 else 'were'} dropped for missing values in {told}."),)


def _run(connection: DuckDBPyConnection, statement: str, where: str) -> None:
    import duckdb

    try:
        connection.execute(statement)
    except duckdb.Error as error:
        raise unreadable(where, error) from error


def _fetched(connection: DuckDBPyConnection, query: str, where: str) -> dict[str, NDArray[Any]]:
    import duckdb

    try:
        return dict(connection.execute(query).fetchnumpy())
    except (duckdb.Error, MemoryError) as error:
        raise unreadable(where, error) from error


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


# --- sets of items


@dataclass(frozen=True, eq=False)
class Level:
    """The frequent sets of one size: rising items (m, size), transactions of each, and how many sets were counted.

    `keys` rise with the sets: the place of the set without its last item, and that item, as one number.
    """

    sets: Sets
    counts: Counted
    tried: int
    keys: Counted


@dataclass(frozen=True, eq=False)
class Frequent:
    """The frequent items by their names, and the frequent sets of them by size."""

    names: tuple[str, ...]
    levels: tuple[Level, ...]

    def find(self, sets: Sets) -> Sets:
        """The places of sets (m, k) of rising items in their level; −1 where one is not frequent."""
        return _find(self.levels, len(self.names), sets)


def frequent(held: Transactions, min_support: float, max_size: int, progress: Progress | None = None) -> Frequent:
    """All sets of up to so many items that occur in at least that share of the transactions.

    >>> found = frequent(transactions({"a": [1, 1, 0, 1], "b": [1, 1, 1, 0], "c": [0, 0, 1, 1]}), 0.5, 3)
    >>> [level.sets.tolist() for level in found.levels]
    [[[0], [1], [2]], [[0, 1]]]
    """
    least = max(1, math.ceil(min_support * held.size - 1e-9))
    counts = np.array([item.count for item in held.items], dtype=np.int64)
    places = np.flatnonzero(counts >= least).astype(np.int32)
    first = np.arange(places.size, dtype=np.int64)
    levels = [Level(first[:, None], counts[places], counts.size, first)]
    words: Words | None = None
    while levels[-1].sets.shape[1] < max_size and len(levels[-1].sets) > 1:
        size = levels[-1].sets.shape[1] + 1
        joined = held.pairs(places, least) if size == 2 else None
        if joined is not None:
            sets, number = joined
            tried = places.size * (places.size - 1) // 2
        else:
            candidates = _candidates(levels, places.size)
            words = held.words(places.tolist()) if words is None else words
            counted = count_sets(words, candidates)
            enough = counted >= least
            sets, number, tried = candidates[enough], counted[enough], len(candidates)
        levels.append(Level(sets, number, tried, _find(levels, places.size, sets[:, :-1]) * places.size + sets[:, -1]))
        if progress is not None:
            progress(size / (max_size + 1))
    return Frequent(tuple(held.items[place].name for place in places), tuple(levels))


def count_sets(words: Words, sets: Sets) -> Counted:
    """In how many transactions all items of each set (m, k) occur: the bits that their words share.

    >>> count_sets(np.array([[0b1101], [0b0111]], dtype=np.uint64), np.array([[0, 1]])).tolist()
    [2]
    """
    counts = np.zeros(len(sets), dtype=np.int64)
    for start in range(0, words.shape[1], _WORDS_AT_ONCE):
        part = words[:, start : start + _WORDS_AT_ONCE]
        for first in range(0, len(sets), _SETS_AT_ONCE):
            some = sets[first : first + _SETS_AT_ONCE]
            shared = part[some[:, 0]]
            for column in range(1, some.shape[1]):
                shared &= part[some[:, column]]
            counts[first : first + _SETS_AT_ONCE] += np.bitwise_count(shared).sum(axis=1, dtype=np.int64)
    return counts


def _candidates(levels: Sequence[Level], items: int) -> Sets:
    """Sets with one item more, all of whose subsets are frequent: two that differ in the last item make one."""
    sets = levels[-1].sets
    fresh = np.append(True, (sets[1:, :-1] != sets[:-1, :-1]).any(axis=1))
    ends = np.append(np.flatnonzero(fresh)[1:], len(sets))[np.cumsum(fresh) - 1]  # where its neighbours end
    partners = ends - np.arange(len(sets)) - 1
    total = int(partners.sum())
    if total > MOST_CANDIDATES:
        raise DataError(
            f"{grouped(total)} sets of {sets.shape[1] + 1} items could be frequent, too many to count.",
            seen=f"{grouped(len(sets))} frequent sets of {sets.shape[1]}",
            hint="a larger min_support, or a smaller max_size",
        )
    first = np.repeat(np.arange(len(sets)), partners)
    second = first + 1 + np.arange(total) - np.repeat(np.cumsum(partners) - partners, partners)
    made = np.concatenate([sets[first], sets[second, -1:]], axis=1)
    for left_out in range(made.shape[1] - 2):  # the two that it was made of are frequent
        made = made[_find(levels, items, np.delete(made, left_out, axis=1)) >= 0]
    return made


def _find(levels: Sequence[Level], items: int, sets: Sets) -> Sets:
    """The places of sets in their level, found item by item: place of the shorter set, then the next item."""
    place = sets[:, 0].copy()
    for size in range(2, sets.shape[1] + 1):
        keys = levels[size - 1].keys if size <= len(levels) else np.zeros(0, dtype=np.int64)
        if not keys.size:
            return np.full(len(sets), -1, dtype=np.int64)
        wanted = np.where(place >= 0, place * items + sets[:, size - 1], -1)
        at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        place = np.where(keys[at] == wanted, at, -1)
    return place
