"""Transactions long and one-hot give the frequent sets that mlxtend finds, from every engine and by every way."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from mlxtend import frequent_patterns as mlxtend

from scorespace.errors import ScoreSpaceError
from scorespace.io import transactions as itemsets
from scorespace.io import transactions as module
from scorespace.io.transactions import frequent_itemsets, read_transactions

RNG = np.random.default_rng(1)
HELD = RNG.random((700, 9)) < np.linspace(0.1, 0.6, 9)
HELD[:, 3] |= HELD[:, 4] & HELD[:, 5]
NAMES = [f"item {k}" for k in range(9)]
WIDE = {name: HELD[:, k] for k, name in enumerate(NAMES)}
ROW, ITEM = np.nonzero(HELD)
SHUFFLED = RNG.permutation(ROW.size)
LONG = {"t": [f"T{row}" for row in ROW[SHUFFLED]], "i": [NAMES[k] for k in ITEM[SHUFFLED]]}
ENGINES = {
    "dict": dict,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "duckdb": lambda columns: duckdb.from_arrow(pa.table(columns)),
}


def sets(found):
    return {
        frozenset(found.names[k] for k in chosen): int(count)
        for level in found.levels
        for chosen, count in zip(level.sets, level.counts, strict=True)
    }


@pytest.fixture(scope="module")
def expected():
    found = mlxtend.apriori(pd.DataFrame(WIDE), min_support=0.05, use_colnames=True, max_len=4)
    return {frozenset(items): round(700 * share) for items, share in zip(found.itemsets, found.support, strict=True)}


@pytest.mark.parametrize("engine", ENGINES)
def test_one_hot_equals_mlxtend(engine, expected):
    assert len(expected) > 60
    assert sets(frequent_itemsets(read_transactions(ENGINES[engine](WIDE)), 0.05, 4)) == expected


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("joined", [0.0, 1e9], ids=["pairs by a join", "pairs by bits"])
def test_long_equals_mlxtend(engine, joined, expected, monkeypatch):
    monkeypatch.setattr(module, "_JOIN_ROW_COST", joined)
    held = read_transactions(ENGINES[engine](LONG), transaction="t", items=["i"])
    assert held.size == HELD.any(axis=1).sum()
    assert sets(frequent_itemsets(held, 0.05 * 700 / held.size, 4)) == expected


def test_in_small_pieces(expected, monkeypatch):
    for name, size in (("_COLUMNS_PER_QUERY", 2), ("_ROWS_PER_QUERY", 10)):
        monkeypatch.setattr(module, name, size)
    for name, size in (("_WORDS_PER_BLOCK", 3), ("_SETS_PER_BLOCK", 2)):
        monkeypatch.setattr(itemsets, name, size)
    assert sets(frequent_itemsets(read_transactions(WIDE), 0.05, 4)) == expected
    monkeypatch.setattr(module, "_JOIN_ROW_COST", 1e9)
    held = read_transactions(LONG, transaction="t", items=["i"])
    assert sets(frequent_itemsets(held, 0.05 * 700 / held.size, 4)) == expected


def test_an_item_twice_in_a_transaction_is_there_once():
    held = read_transactions({"t": [1, 1, 2], "i": ["a", "a", "a"]}, transaction="t", items=["i"])
    assert (held.size, held.items[0].count) == (2, 2)


def test_columns_of_labels_are_an_item_for_each_label():
    held = read_transactions({"colour": ["red", "blue", "red"], "big": [True, False, True]})
    assert [(item.name, item.count) for item in held.items] == [("big", 2), ("colour=blue", 1), ("colour=red", 2)]


def test_names_and_values_that_mean_something_to_sql():
    column, value = 'a"; DROP TABLE held; --', "it's"
    held = read_transactions({column: [value, "b"], "'": [1, 0]})
    assert {item.name: item.count for item in held.items} == {f"{column}={value}": 1, f"{column}=b": 1, "'": 1}
    long = read_transactions({'"t"': [1, 1], "i'": [value, 'x"']}, transaction='"t"', items=["i'"])
    assert sets(frequent_itemsets(long, 0.5, 2))[frozenset([value, 'x"'])] == 1


def test_a_file_of_long_transactions(tmp_path):
    path = tmp_path / "baskets.csv"
    path.write_text("basket,product\n1,17\n1,18\n2,17\n3,\n")
    held = read_transactions(path, transaction="basket", items=["product"], missing="drop")
    assert [(item.name, item.count) for item in held.items] == [("17", 2), ("18", 1)]
    assert held.notes[0].text == "1 of 4 rows was dropped because of missing values in 'product' (1)."
    with pytest.raises(ScoreSpaceError) as refused:
        read_transactions(path, transaction="basket", items=["product"])
    assert str(refused.value) == (
        "column 'product' has missing values.\n  seen: 'product' (1) of 4 rows\n  hint: missing=\"drop\" drops 1 row"
    )


@pytest.mark.parametrize(
    ("data", "asked", "message"),
    [
        ({"a": [0, 1, 2]}, {}, "column 'a' holds numbers other than 0 and 1"),
        (
            {"a": [f"n{k}" for k in range(300)]},
            {},
            "column 'a' has more than 100 distinct labels, too many to be items",
        ),
        ({"a": [0, 0]}, {}, "no item occurs in any transaction"),
        ({"a": [0, 1]}, {"items": ["b*"]}, r"b\*"),
        ({"a": [0, 1]}, {"transaction": "t", "items": ["a"]}, "'t'"),
        ({"t": [0, 1], "a": [1, 2]}, {"transaction": "t"}, "long format needs one column with the item"),
        ({"a": [0, None]}, {}, "missing values"),
        ({"a": [0, 1]}, {"missing": "skip"}, "missing='skip' is not a treatment of missing values"),
    ],
)
def test_what_is_refused(data, asked, message):
    with pytest.raises(ScoreSpaceError, match=message):
        read_transactions(data, **asked)


def test_too_many_bits_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MAX_BITS", 10)
    with pytest.raises(ScoreSpaceError, match="2 items in 700 transactions"):
        read_transactions(WIDE).words([0, 1])


def test_the_engine_draws_no_bar_into_the_answer():
    held = read_transactions(WIDE)
    assert held.source.connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(False,)]


TIMES = RNG.integers(0, 4, 700)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_weight_is_so_many_transactions(engine):
    copies = {name: np.repeat(column, TIMES) for name, column in WIDE.items()}
    wide = read_transactions(ENGINES[engine]({**WIDE, "times": TIMES}), weight="times")
    assert wide.size == TIMES.sum()
    assert sets(frequent_itemsets(wide, 0.05, 3)) == sets(frequent_itemsets(read_transactions(copies), 0.05, 3))


@pytest.mark.parametrize("joined", [0.0, 1e9], ids=["pairs by a join", "pairs by bits"])
def test_a_weight_of_long_transactions(joined, monkeypatch):
    monkeypatch.setattr(module, "_JOIN_ROW_COST", joined)
    weighted = {**LONG, "times": TIMES[ROW[SHUFFLED]]}
    again = [(f"{t}-{copy}", i) for t, i, n in zip(*weighted.values(), strict=True) for copy in range(n)]
    copies = {"t": [t for t, _ in again], "i": [i for _, i in again]}
    ours = read_transactions(weighted, transaction="t", items=["i"], weight="times")
    theirs = read_transactions(copies, transaction="t", items=["i"])
    assert ours.size == theirs.size
    assert sets(frequent_itemsets(ours, 0.05, 3)) == sets(frequent_itemsets(theirs, 0.05, 3))


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (
            [1, 0.5, 2],
            "column 'n' holds weights that are not counts of transactions.\n  seen: '0.5'\n"
            "  hint: use integers ≥ 0, or no weight",
        ),
        ([0, 0, 0], "all weights in column 'n' are 0."),
        (
            [1, 1, 2_000_000_000],
            "the weights in column 'n' add up to more than 1 000 000 000 transactions.\n"
            "  hint: divide all weights by the same number",
        ),
        ([1, -1, 2], "-1"),
        (["a", "b", "a"], "'a', 'b'"),
        ([1, float("inf"), 2], "inf"),
    ],
)
def test_weights_that_count_no_transactions(times, message):
    with pytest.raises(ScoreSpaceError) as caught:
        read_transactions({"a": [1, 0, 1], "b": [1, 1, 1], "n": times}, weight="n")
    assert message in str(caught.value)


def test_one_weight_for_a_transaction():
    with pytest.raises(ScoreSpaceError) as caught:
        read_transactions(
            {"t": [1, 1, 2], "i": ["a", "b", "a"], "n": [1, 2, 1]}, transaction="t", items=["i"], weight="n"
        )
    assert str(caught.value) == (
        "a transaction has different weights in column 'n'.\n  seen: t 1\n"
        "  hint: use one weight for all rows of a transaction"
    )
    with pytest.raises(ScoreSpaceError, match="column 'm'"):
        read_transactions({"a": [1, 0], "n": [1, 2]}, weight="m")


def test_missing_weights_are_dropped_and_told():
    held = read_transactions(
        pl.DataFrame({"a": [1, 0, 1], "b": [1, 1, 1], "n": [2, None, 3]}), weight="n", missing="drop"
    )
    assert held.size == 5
    assert [one.text for one in held.notes] == ["1 of 3 rows was dropped because of missing values in 'n' (1)."]
