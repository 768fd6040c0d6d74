"""Transactions, long or one-hot, become a bit for each item and transaction inside DuckDB.

64 transactions are packed into a word where they are read: what leaves the engine is an eighth of a byte for each
frequent item and transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ColumnError, DataError, WeightError, did_you_mean, listing
from scorespace.frames.check import check_missing, told_gaps
from scorespace.frames.engine import identifier, literal
from scorespace.frames.read import read
from scorespace.frames.roles import check_columns, matching
from scorespace.frames.survey import Survey, survey
from scorespace.frozen import dataclass
from scorespace.results import Note, grouped
from scorespace.tables.labels import label_text, natural_order

Codes = NDArray[np.int32]
Counted = NDArray[np.int64]
Sets = NDArray[np.int64]
Words = NDArray[np.uint64]

MOST_VALUES: Final = 100  # different values of a column of labels, each an item
MOST_COPIES: Final = 1_000_000_000  # transactions that weights may stand for
MOST_BITS: Final = 16_000_000_000  # of all words together: 2 GB
_COLUMNS_AT_ONCE: Final = 200
_ROWS_AT_ONCE: Final = 10_000_000
_JOINED: Final = 20.0  # how long one row of a join takes beside one word of a count


@dataclass(frozen=True, eq=False)
class Item:
    """An item: its name, how many transactions have it, and how the engine finds it."""

    name: str
    count: int
    found: str


@dataclass(frozen=True, eq=False)
class Transactions:
    """Transactions that stay in DuckDB (`held`): their number, their items in order, and what was dropped."""

    source: Survey = field(repr=False)
    size: int
    items: tuple[Item, ...]
    long: bool
    notes: tuple[Note, ...]

    def place(self, name: str) -> int:
        """The place of an item by its name."""
        names = [item.name for item in self.items]
        if name not in names:
            raise DataError(
                f"the item {name!r} occurs in no transaction of {self.source.where}.",
                seen=listing(names, 8),
                hint=did_you_mean(name, names, "one of the items that occur"),
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
        joined = self.source.fetch(f"SELECT sum(n * (n - 1) / 2) AS n FROM ({sizes})")
        bits = places.size * (places.size - 1) / 2 * (self.size / 64)
        if _JOINED * float(np.ma.filled(joined["n"], 0.0)[0]) > bits:
            return None
        found = self.source.fetch(
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
            found = self.source.fetch(
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
            found = self.source.fetch(
                f"SELECT word, {bits} FROM (SELECT row // 64 AS word, (row % 64)::UBIGINT AS bit, * FROM "
                "(SELECT row_number() OVER () - 1 AS row, * FROM held)) GROUP BY word ORDER BY word"
            )
            for k in range(len(some)):
                words[start + k] = found[f"b{k}"]
        return words


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
    check_missing(missing)
    named = [*items, *([transaction] if transaction else [])]
    source = survey(_settled(data, [*named, *([weight] if named and weight else [])]))
    if source.connection is None:  # the reader's own engine: ours needs tables of its own
        source = survey(source.arrays(source.frame))
    source.frame.to_native().create_view("given", replace=True)
    if weight is not None:
        _check_weights(source, weight, transaction)
    if transaction is not None:
        return _long(source, transaction, items, weight, missing)
    chosen = matching(items, source) or source.columns
    return _wide(source, [name for name in chosen if name != weight], weight, missing)


def _settled(data: Any, wanted: Sequence[str]) -> Any:
    """The source, of a frame only the columns in use where they are named one by one."""
    source = read(data)
    plain = [name for name in wanted if name in source.columns]
    if source.connection is None and plain and len(plain) == len(wanted):
        return source.arrays(source.frame.select(*plain))
    return source


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
    check_columns((transaction, item), source)
    t, i = identifier(transaction), identifier(item)
    lost, notes = _complete(source, [transaction, item, *([weight] if weight else [])], missing)
    named = f"SELECT {t} AS t, CAST({i} AS VARCHAR) AS i{_copies(weight)} FROM given WHERE NOT ({lost})"
    known = named if weight is None else f"SELECT {{'t': t, 'copy': copy}} AS t, i FROM ({named})"
    source.run(f"CREATE TEMP TABLE known AS {known}")
    numbered = "CREATE TEMP TABLE {0}_codes AS SELECT {0}, row_number() OVER (ORDER BY {0}) - 1 AS code FROM "
    for column in "ti":
        source.run(numbered.format(column) + f"(SELECT DISTINCT {column} FROM known)")
    held = "SELECT DISTINCT CAST(t_codes.code AS INTEGER) AS t, CAST(i_codes.code AS INTEGER) AS i FROM known "
    source.run(f"CREATE TEMP TABLE held AS {held} JOIN t_codes USING (t) JOIN i_codes USING (i)")
    counts = source.fetch("SELECT i, count(*) AS n FROM held GROUP BY i ORDER BY i")["n"]
    names = source.fetch("SELECT i FROM i_codes ORDER BY code")["i"]
    size = int(source.fetch("SELECT count(*) AS n FROM t_codes")["n"][0])
    found = tuple(Item(_tidied(name), int(count), "") for name, count in zip(names, counts, strict=True))
    return Transactions(source, size, found, True, notes)


def _tidied(name: str) -> str:
    """The name of an item; CSV files hold whole numbers as doubles."""
    return name.removesuffix(".0") if name.removesuffix(".0").lstrip("-").isdigit() else name


# --- a row for each transaction


def _wide(source: Survey, columns: Sequence[str], weight: str | None, missing: str) -> Transactions:
    asked = [f"{_wrong(source.types[name], identifier(name))} AS wrong{k}" for k, name in enumerate(columns)]
    about = source.fetch(f"SELECT {', '.join(asked)} FROM given")
    wrong = [name for k, name in enumerate(columns) if int(np.ma.filled(about[f"wrong{k}"], 0)[0])]
    if wrong:
        raise _not_an_item(source, wrong[0])
    lost, notes = _complete(source, [*columns, *([weight] if weight else [])], missing)
    chosen = ", ".join(map(identifier, columns))
    several = "VIEW" if weight is None else "TABLE"  # copies are made once
    rows = f"SELECT {chosen} FROM (SELECT {chosen}{_copies(weight)} FROM given WHERE NOT ({lost}))"
    source.run(f"CREATE TEMP {several} held AS {rows}")
    found = [pair for name in columns for pair in _items_of(source, name)]
    sums = ", ".join(f"count_if({expression}) AS n{k}" for k, (_, expression) in enumerate(found))
    counted = source.fetch(f"SELECT count(*) AS size, {sums} FROM held")
    every = [Item(name, int(counted[f"n{k}"][0]), expression) for k, (name, expression) in enumerate(found)]
    kept = sorted((item for item in every if item.count), key=lambda item: natural_order(item.name))
    if not kept:
        raise DataError(
            f"no item occurs in any transaction of {source.where}.",
            seen=listing(columns, 8),
            hint="other columns; 1, true or a label says that an item is there",
        )
    return Transactions(source, int(counted["size"][0]), tuple(kept), False, notes)


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


def _items_of(source: Survey, name: str) -> list[tuple[str, str]]:
    """The items of a column with the condition for each: itself where it is yes or no, else each of its labels."""
    column, kind = identifier(name), source.types[name]
    if not _is_text(kind):
        return [(name, f"CAST({column} AS BOOLEAN)")]
    query = f"SELECT DISTINCT CAST({column} AS VARCHAR) AS v FROM held LIMIT {MOST_VALUES + 1}"
    values = sorted(map(str, source.fetch(query)["v"].tolist()), key=natural_order)
    if len(values) > MOST_VALUES:
        raise _not_an_item(source, name)
    return [(f"{name}={label_text(one)}", f"CAST({column} AS VARCHAR) = {literal(one)}") for one in values]


def _not_an_item(source: Survey, name: str) -> ColumnError:
    some = source.fetch(f"SELECT DISTINCT CAST({identifier(name)} AS VARCHAR) AS v FROM given LIMIT 200")["v"].tolist()
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
    check_columns([weight], source)
    w = identifier(weight)
    number = f"TRY_CAST({w} AS DOUBLE)"
    wrong = f"{w} IS NOT NULL AND ({number} IS NULL OR NOT isfinite({number}) OR {number} < 0 OR {number} % 1 <> 0)"
    odd = source.fetch(f"SELECT DISTINCT CAST({w} AS VARCHAR) AS v FROM given WHERE {wrong} LIMIT 4")
    if odd["v"].size:
        raise WeightError(
            f"column {weight!r} holds something else than how many transactions a row stands for.",
            seen=listing(sorted(map(str, odd["v"].tolist())), 3),
            hint="whole numbers from 0 on; or no weight",
        )
    total = float(source.fetch(f"SELECT coalesce(sum({number}), 0.0) AS n FROM given")["n"][0])
    if not total:
        raise WeightError(f"column {weight!r} stands for no transaction at all.", hint="weights above 0; or no weight")
    if total > MOST_COPIES:
        raise WeightError(
            f"column {weight!r} stands for more than {grouped(MOST_COPIES)} transactions.",
            hint="smaller numbers in the same proportions",
        )
    if transaction is not None and transaction in source.columns:
        several = f"min({number}) <> max({number})"
        varies = f"SELECT {identifier(transaction)} AS t FROM given GROUP BY 1 HAVING {several} LIMIT 1"
        found = source.fetch(varies)["t"]
        if found.size:
            raise WeightError(
                f"a transaction has different weights in column {weight!r}.",
                seen=f"{transaction} {label_text(found.tolist()[0])}",
                hint="one weight for all rows of a transaction",
            )


def _copies(weight: str | None) -> str:
    """What makes a row as often as it counts, for a list of columns."""
    return "" if weight is None else f", unnest(range(CAST({identifier(weight)} AS BIGINT))) AS copy"


def _complete(source: Survey, names: Sequence[str], missing: str) -> tuple[str, tuple[Note, ...]]:
    """Which rows lack a value, for SQL, and the note on them."""
    lost = " OR ".join(f"{identifier(name)} IS NULL" for name in names)
    known = ", ".join(f"count({identifier(name)}) AS known{k}" for k, name in enumerate(names))
    found = source.fetch(f"SELECT {known}, count_if({lost}) AS lost FROM given")
    gaps = {name: source.rows - int(found[f"known{k}"][0]) for k, name in enumerate(names)}
    return lost, told_gaps(gaps, source.rows, int(found["lost"][0]), missing)
