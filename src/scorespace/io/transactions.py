"""Pack transactions, in long or one-hot format, into bits inside DuckDB, and find frequent item sets.

64 transactions are packed into one word inside the engine, so that only one bit per frequent item and transaction
is transferred.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ColumnError, DataError, WeightError, did_you_mean, listing
from scorespace.io.column_profile import ColumnReader, read_columns
from scorespace.io.duckdb_engine import identifier, literal
from scorespace.io.read import read
from scorespace.io.roles import check_columns, match_columns
from scorespace.io.validation import check_missing, note_missing_values
from scorespace.results import Note, Progress, grouped
from scorespace.tables.labels import label_text, natural_order

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]
Sets = NDArray[np.int64]
Words = NDArray[np.uint64]

MAX_LABELS_PER_COLUMN: Final = 100  # distinct labels of a column, each an item
MAX_WEIGHTED_TRANSACTIONS: Final = 1_000_000_000  # total weight
MAX_BITS: Final = 16_000_000_000  # all words together: 2 GB
_COLUMNS_PER_QUERY: Final = 200
_ROWS_PER_QUERY: Final = 10_000_000
_JOIN_ROW_COST: Final = 20.0  # time per row of a join, relative to counting one word


@dataclass(frozen=True, eq=False)
class Item:
    """An item: its name, its number of transactions, and its SQL condition."""

    name: str
    count: int
    found: str


@dataclass(frozen=True, eq=False)
class Transactions:
    """Transactions stored in DuckDB (table `held`): their number, their items, and notes on dropped rows."""

    source: ColumnReader = field(repr=False)
    size: int
    items: tuple[Item, ...]
    long: bool
    notes: tuple[Note, ...]

    def place(self, name: str) -> int:
        """Index of an item by its name."""
        names = [item.name for item in self.items]
        if name not in names:
            raise DataError(
                f"the item {name!r} occurs in no transaction of {self.source.where}.",
                seen=listing(names, 8),
                hint=did_you_mean(name, names, "one of the items that occur"),
            )
        return names.index(name)

    def words(self, items_chosen: Sequence[int]) -> Words:
        """Bits (items, words): which transactions contain each item."""
        width = -(-self.size // 64)
        if len(items_chosen) * width * 64 > MAX_BITS:
            raise DataError(
                f"{grouped(len(items_chosen))} items in {grouped(self.size)} transactions do not fit into memory.",
                hint="raise min_support, so that fewer items are frequent",
            )
        return (self._long_words if self.long else self._wide_words)(items_chosen, width)

    def pairs(self, places: Codes, min_count: int) -> tuple[Sets, Counts] | None:
        """Pairs of items with at least `min_count` transactions, by a join; None where counting bits is faster."""
        if not self.long:
            return None
        item_rows = f"SELECT t, i FROM held WHERE i IN ({', '.join(map(str, places))})"
        sizes = f"SELECT count(*) AS n FROM ({item_rows}) GROUP BY t"
        join_size = self.source.fetch(f"SELECT sum(n * (n - 1) / 2) AS n FROM ({sizes})")
        bit_cost = places.size * (places.size - 1) / 2 * (self.size / 64)
        if _JOIN_ROW_COST * float(np.ma.filled(join_size["n"], 0.0)[0]) > bit_cost:
            return None
        frequent_pairs = self.source.fetch(
            f"WITH h AS ({item_rows}) SELECT a.i AS a, b.i AS b, count(*) AS n "
            f"FROM h a JOIN h b ON a.t = b.t AND a.i < b.i GROUP BY ALL HAVING count(*) >= {min_count:d} ORDER BY 1, 2"
        )
        pair_indices = np.stack([np.searchsorted(places, frequent_pairs[side]) for side in ("a", "b")], axis=1)
        return pair_indices.astype(np.int64), frequent_pairs["n"].astype(np.int64)

    def _long_words(self, places: Sequence[int], width: int) -> Words:
        words = np.zeros((len(places), width), dtype=np.uint64)
        weights = np.minimum([self.items[place].count for place in places], width)
        batch = np.cumsum(weights) // _ROWS_PER_QUERY
        for number in np.unique(batch):
            in_batch = np.flatnonzero(batch == number)
            codes = [places[int(k)] for k in in_batch]
            words_by_item = self.source.fetch(
                "SELECT i, t // 64 AS word, bit_or(1::UBIGINT << (t % 64)::UBIGINT) AS bits FROM held "
                f"WHERE i IN ({', '.join(map(str, codes))}) GROUP BY ALL"
            )
            row = np.full(len(self.items), -1)
            row[codes] = in_batch
            words[row[words_by_item["i"]], words_by_item["word"]] = words_by_item["bits"]
        return words

    def _wide_words(self, places: Sequence[int], width: int) -> Words:
        words = np.zeros((len(places), width), dtype=np.uint64)
        for start in range(0, len(places), _COLUMNS_PER_QUERY):
            conditions = [self.items[place].found for place in places[start : start + _COLUMNS_PER_QUERY]]
            bits = ", ".join(f"bit_or(({condition})::UBIGINT << bit) AS b{k}" for k, condition in enumerate(conditions))
            words_by_row = self.source.fetch(
                f"SELECT word, {bits} FROM (SELECT row // 64 AS word, (row % 64)::UBIGINT AS bit, * FROM "
                "(SELECT row_number() OVER () - 1 AS row, * FROM held)) GROUP BY word ORDER BY word"
            )
            for k in range(len(conditions)):
                words[start + k] = words_by_row[f"b{k}"]
        return words


def read_transactions(
    data: Any,
    *,
    transaction: str | None = None,
    items: Sequence[str] = (),
    weight: str | None = None,
    missing: str = "error",
) -> Transactions:
    """Read transactions: long format with a `transaction` column, otherwise one row each (one-hot).

    `weight` is a column with the number of identical transactions that a row represents.

    >>> found = read_transactions({"bread": [1, 1, 0], "jam": [0, 1, 1]})
    >>> [(item.name, item.count) for item in found.items]
    [('bread', 2), ('jam', 2)]
    """
    check_missing(missing)
    named = [*items, *([transaction] if transaction else [])]
    source = read_columns(_read_named_columns(data, [*named, *([weight] if named and weight else [])]))
    if source.connection is None:  # a user's DuckDB relation: create tables in our own connection
        source = read_columns(source.arrays(source.frame))
    source.frame.to_native().create_view("given", replace=True)
    if weight is not None:
        _check_weights(source, weight, transaction)
    if transaction is not None:
        return _read_long(source, transaction, items, weight, missing)
    chosen = match_columns(items, source) or source.columns
    return _read_one_hot(source, [name for name in chosen if name != weight], weight, missing)


def _read_named_columns(data: Any, names: Sequence[str]) -> Any:
    """Open the source; of a frame, fetch only the columns in use if they are named one by one."""
    source = read(data)
    existing = [name for name in names if name in source.columns]
    if source.connection is None and existing and len(existing) == len(names):
        return source.arrays(source.frame.select(*existing))
    return source


# --- long format: a row for each item of a transaction


def _read_long(
    source: ColumnReader, transaction: str, items: Sequence[str], weight: str | None, missing: str
) -> Transactions:
    others = [name for name in source.columns if name not in (transaction, weight)]
    if len(items) != 1:
        raise ColumnError(
            "long format needs one column with the item.",
            seen=listing(items) or "none",
            hint=f'items="{others[0] if others else "item"}"',
        )
    item = items[0]
    check_columns((transaction, item), source)
    t, i = identifier(transaction), identifier(item)
    incomplete, notes = _find_incomplete(source, [transaction, item, *([weight] if weight else [])], missing)
    complete_rows = (
        f"SELECT {t} AS t, CAST({i} AS VARCHAR) AS i{_repeat_by_weight_sql(weight)} FROM given WHERE NOT ({incomplete})"
    )
    weighted_rows = (
        complete_rows if weight is None else f"SELECT {{'t': t, 'copy': copy}} AS t, i FROM ({complete_rows})"
    )
    source.run(f"CREATE TEMP TABLE known AS {weighted_rows}")
    encode_sql = "CREATE TEMP TABLE {0}_codes AS SELECT {0}, row_number() OVER (ORDER BY {0}) - 1 AS code FROM "
    for column in "ti":
        source.run(encode_sql.format(column) + f"(SELECT DISTINCT {column} FROM known)")
    encoded_rows = "SELECT DISTINCT CAST(t_codes.code AS INTEGER) AS t, CAST(i_codes.code AS INTEGER) AS i FROM known "
    source.run(f"CREATE TEMP TABLE held AS {encoded_rows} JOIN t_codes USING (t) JOIN i_codes USING (i)")
    counts = source.fetch("SELECT i, count(*) AS n FROM held GROUP BY i ORDER BY i")["n"]
    names = source.fetch("SELECT i FROM i_codes ORDER BY code")["i"]
    size = int(source.fetch("SELECT count(*) AS n FROM t_codes")["n"][0])
    found_items = tuple(Item(_item_name(name), int(count), "") for name, count in zip(names, counts, strict=True))
    return Transactions(source, size, found_items, True, notes)


def _item_name(name: str) -> str:
    """Name of an item; integers in CSV files are read as doubles."""
    return name.removesuffix(".0") if name.removesuffix(".0").lstrip("-").isdigit() else name


# --- one-hot format: a row for each transaction


def _read_one_hot(source: ColumnReader, columns: Sequence[str], weight: str | None, missing: str) -> Transactions:
    checks = [
        f"{_count_invalid_sql(source.types[name], identifier(name))} AS wrong{k}" for k, name in enumerate(columns)
    ]
    invalid_counts = source.fetch(f"SELECT {', '.join(checks)} FROM given")
    invalid = [name for k, name in enumerate(columns) if int(np.ma.filled(invalid_counts[f"wrong{k}"], 0)[0])]
    if invalid:
        raise _not_an_item_error(source, invalid[0])
    incomplete, notes = _find_incomplete(source, [*columns, *([weight] if weight else [])], missing)
    selection = ", ".join(map(identifier, columns))
    storage = "VIEW" if weight is None else "TABLE"  # weighted rows are materialised once
    complete = f"SELECT {selection}{_repeat_by_weight_sql(weight)} FROM given WHERE NOT ({incomplete})"
    rows = f"SELECT {selection} FROM ({complete})"
    source.run(f"CREATE TEMP {storage} held AS {rows}")
    conditions = [pair for name in columns for pair in _column_items(source, name)]
    sums = ", ".join(f"count_if({expression}) AS n{k}" for k, (_, expression) in enumerate(conditions))
    counts = source.fetch(f"SELECT count(*) AS size, {sums} FROM held")
    all_items = [Item(name, int(counts[f"n{k}"][0]), expression) for k, (name, expression) in enumerate(conditions)]
    present = sorted((item for item in all_items if item.count), key=lambda item: natural_order(item.name))
    if not present:
        raise DataError(
            f"no item occurs in any transaction of {source.where}.",
            seen=listing(columns, 8),
            hint="choose other columns; 1, true or a label means that the item is present",
        )
    return Transactions(source, int(counts["size"][0]), tuple(present), False, notes)


def _is_text(kind: str) -> bool:
    return kind == "VARCHAR" or kind.startswith("ENUM")


def _count_invalid_sql(kind: str, column: str) -> str:
    """SQL that counts values other than 0/1, or flags a text column with too many labels."""
    if kind == "BOOLEAN":
        return "0"
    if _is_text(kind):
        return f"CASE WHEN approx_count_distinct({column}) > {2 * MAX_LABELS_PER_COLUMN} THEN 1 ELSE 0 END"
    number = f"TRY_CAST({column} AS DOUBLE)"
    return f"count_if({column} IS NOT NULL AND ({number} IS NULL OR {number} NOT IN (0, 1)))"


def _column_items(source: ColumnReader, name: str) -> list[tuple[str, str]]:
    """Items of a column with their SQL conditions: the column itself if 0/1, otherwise each label."""
    column, kind = identifier(name), source.types[name]
    if not _is_text(kind):
        return [(name, f"CAST({column} AS BOOLEAN)")]
    query = f"SELECT DISTINCT CAST({column} AS VARCHAR) AS v FROM held LIMIT {MAX_LABELS_PER_COLUMN + 1}"
    values = sorted(map(str, source.fetch(query)["v"].tolist()), key=natural_order)
    if len(values) > MAX_LABELS_PER_COLUMN:
        raise _not_an_item_error(source, name)
    return [(f"{name}={label_text(value)}", f"CAST({column} AS VARCHAR) = {literal(value)}") for value in values]


def _not_an_item_error(source: ColumnReader, name: str) -> ColumnError:
    examples = source.fetch(f"SELECT DISTINCT CAST({identifier(name)} AS VARCHAR) AS v FROM given LIMIT 200")[
        "v"
    ].tolist()
    values = sorted((str(value) for value in examples if value is not None), key=natural_order)
    if _is_text(source.types[name]):
        return ColumnError(
            f"column {name!r} has more than {MAX_LABELS_PER_COLUMN} distinct labels, too many to be items.",
            seen=listing(values, 3),
            hint=f'transaction=… if {name!r} names the item of each row: transaction="…", items="{name}"',
        )
    return ColumnError(
        f"column {name!r} holds numbers other than 0 and 1.",
        seen=listing(values, 4),
        hint="use 0 and 1, booleans or labels; select item columns with items=…",
    )


# --- both formats


def _check_weights(source: ColumnReader, weight: str, transaction: str | None) -> None:
    """Refuse weights that are not counts of transactions, or differ within a transaction."""
    check_columns([weight], source)
    w = identifier(weight)
    number = f"TRY_CAST({w} AS DOUBLE)"
    invalid = f"{w} IS NOT NULL AND ({number} IS NULL OR NOT isfinite({number}) OR {number} < 0 OR {number} % 1 <> 0)"
    invalid_values = source.fetch(f"SELECT DISTINCT CAST({w} AS VARCHAR) AS v FROM given WHERE {invalid} LIMIT 4")
    if invalid_values["v"].size:
        raise WeightError(
            f"column {weight!r} holds weights that are not counts of transactions.",
            seen=listing(sorted(map(str, invalid_values["v"].tolist())), 3),
            hint="use integers ≥ 0, or no weight",
        )
    total = float(source.fetch(f"SELECT coalesce(sum({number}), 0.0) AS n FROM given")["n"][0])
    if not total:
        raise WeightError(f"all weights in column {weight!r} are 0.", hint="use some weights above 0, or no weight")
    if total > MAX_WEIGHTED_TRANSACTIONS:
        raise WeightError(
            f"the weights in column {weight!r} add up to more than {grouped(MAX_WEIGHTED_TRANSACTIONS)} transactions.",
            hint="divide all weights by the same number",
        )
    if transaction is not None and transaction in source.columns:
        differs = f"min({number}) <> max({number})"
        query = f"SELECT {identifier(transaction)} AS t FROM given GROUP BY 1 HAVING {differs} LIMIT 1"
        found = source.fetch(query)["t"]
        if found.size:
            raise WeightError(
                f"a transaction has different weights in column {weight!r}.",
                seen=f"{transaction} {label_text(found.tolist()[0])}",
                hint="use one weight for all rows of a transaction",
            )


def _repeat_by_weight_sql(weight: str | None) -> str:
    """SQL column that repeats each row by its weight."""
    return "" if weight is None else f", unnest(range(CAST({identifier(weight)} AS BIGINT))) AS copy"


def _find_incomplete(source: ColumnReader, names: Sequence[str], missing: str) -> tuple[str, tuple[Note, ...]]:
    """SQL condition for rows with a missing value, and the note on them."""
    incomplete = " OR ".join(f"{identifier(name)} IS NULL" for name in names)
    counts = ", ".join(f"count({identifier(name)}) AS known{k}" for k, name in enumerate(names))
    found = source.fetch(f"SELECT {counts}, count_if({incomplete}) AS lost FROM given")
    gaps = {name: source.rows - int(found[f"known{k}"][0]) for k, name in enumerate(names)}
    return incomplete, note_missing_values(gaps, source.rows, int(found["lost"][0]), missing)


MAX_CANDIDATES: Final = 20_000_000
_WORDS_PER_BLOCK: Final = 2048  # of an item: some hundred items stay within the cache
_SETS_PER_BLOCK: Final = 256


@dataclass(frozen=True, eq=False)
class ItemsetLevel:
    """Frequent item sets of one size: sorted items (m, size), their counts, and the number of candidates.

    `keys` are sorted like the sets and encode the index of the set without its last item, and that item.
    """

    sets: Sets
    counts: Counts
    tried: int
    keys: Counts


@dataclass(frozen=True, eq=False)
class FrequentItemsets:
    """Names of the frequent items, and frequent item sets by size."""

    names: tuple[str, ...]
    levels: tuple[ItemsetLevel, ...]

    def find(self, sets: Sets) -> Sets:
        """Indices of item sets (m, k) in their level; −1 where a set is not frequent."""
        return _find(self.levels, len(self.names), sets)


def frequent_itemsets(
    baskets: Transactions, min_support: float, max_size: int, progress: Progress | None = None
) -> FrequentItemsets:
    """Item sets of at most `max_size` items with at least `min_support` (Apriori, Agrawal and Srikant 1994).

    >>> from scorespace.io.transactions import read_transactions
    >>> found = frequent_itemsets(read_transactions({"a": [1, 1, 0, 1], "b": [1, 1, 1, 0], "c": [0, 0, 1, 1]}), 0.5, 3)
    >>> [level.sets.tolist() for level in found.levels]
    [[[0], [1], [2]], [[0, 1]]]
    """
    min_count = max(1, math.ceil(min_support * baskets.size - 1e-9))
    counts = np.array([item.count for item in baskets.items], dtype=np.int64)
    places = np.flatnonzero(counts >= min_count).astype(np.int32)
    first = np.arange(places.size, dtype=np.int64)
    levels = [ItemsetLevel(first[:, None], counts[places], counts.size, first)]
    words: Words | None = None
    while levels[-1].sets.shape[1] < max_size and len(levels[-1].sets) > 1:
        size = levels[-1].sets.shape[1] + 1
        pairs_by_join = baskets.pairs(places, min_count) if size == 2 else None
        if pairs_by_join is not None:
            sets, set_counts = pairs_by_join
            tried = places.size * (places.size - 1) // 2
        else:
            candidates = _candidates(levels, places.size)
            words = baskets.words(places.tolist()) if words is None else words
            counted = count_itemsets(words, candidates)
            is_frequent = counted >= min_count
            sets, set_counts, tried = candidates[is_frequent], counted[is_frequent], len(candidates)
        levels.append(
            ItemsetLevel(sets, set_counts, tried, _find(levels, places.size, sets[:, :-1]) * places.size + sets[:, -1])
        )
        if progress is not None:
            progress(size / (max_size + 1))
    return FrequentItemsets(tuple(baskets.items[place].name for place in places), tuple(levels))


def count_itemsets(words: Words, sets: Sets) -> Counts:
    """Number of transactions that contain all items of each set (m, k), from shared bits.

    >>> count_itemsets(np.array([[0b1101], [0b0111]], dtype=np.uint64), np.array([[0, 1]])).tolist()
    [2]
    """
    counts = np.zeros(len(sets), dtype=np.int64)
    for start in range(0, words.shape[1], _WORDS_PER_BLOCK):
        part = words[:, start : start + _WORDS_PER_BLOCK]
        for first in range(0, len(sets), _SETS_PER_BLOCK):
            block = sets[first : first + _SETS_PER_BLOCK]
            shared = part[block[:, 0]]
            for column in range(1, block.shape[1]):
                shared &= part[block[:, column]]
            counts[first : first + _SETS_PER_BLOCK] += np.bitwise_count(shared).sum(axis=1, dtype=np.int64)
    return counts


def _candidates(levels: Sequence[ItemsetLevel], items: int) -> Sets:
    """Sets with one more item, all of whose subsets are frequent (Apriori join and prune)."""
    sets = levels[-1].sets
    is_new_prefix = np.append(True, (sets[1:, :-1] != sets[:-1, :-1]).any(axis=1))
    prefix_ends = np.append(np.flatnonzero(is_new_prefix)[1:], len(sets))[
        np.cumsum(is_new_prefix) - 1
    ]  # end of the sets that share the prefix
    partners = prefix_ends - np.arange(len(sets)) - 1
    total = int(partners.sum())
    if total > MAX_CANDIDATES:
        raise DataError(
            f"{grouped(total)} candidate sets of {sets.shape[1] + 1} items are too many to count.",
            seen=f"{grouped(len(sets))} frequent sets of {sets.shape[1]}",
            hint="raise min_support, or lower max_size",
        )
    first = np.repeat(np.arange(len(sets)), partners)
    second = first + 1 + np.arange(total) - np.repeat(np.cumsum(partners) - partners, partners)
    joined = np.concatenate([sets[first], sets[second, -1:]], axis=1)
    for left_out in range(joined.shape[1] - 2):  # the two joined sets are frequent
        joined = joined[_find(levels, items, np.delete(joined, left_out, axis=1)) >= 0]
    return joined


def _find(levels: Sequence[ItemsetLevel], items: int, sets: Sets) -> Sets:
    """Indices of sets in their level, found item by item from the shorter prefix."""
    index = sets[:, 0].copy()
    for size in range(2, sets.shape[1] + 1):
        keys = levels[size - 1].keys if size <= len(levels) else np.zeros(0, dtype=np.int64)
        if not keys.size:
            return np.full(len(sets), -1, dtype=np.int64)
        target_keys = np.where(index >= 0, index * items + sets[:, size - 1], -1)
        position = np.minimum(np.searchsorted(keys, target_keys), keys.size - 1)
        index = np.where(keys[position] == target_keys, position, -1)
    return index
