"""Transactions long and one-hot give the frequent sets that mlxtend finds, from every engine and by every way."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from mlxtend import frequent_patterns as mlxtend

from scorespace.errors import ScoreSpaceError
from scorespace.frames import itemsets
from scorespace.frames import transactions as module
from scorespace.frames.itemsets import frequent
from scorespace.frames.transactions import transactions

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
    assert sets(frequent(transactions(ENGINES[engine](WIDE)), 0.05, 4)) == expected


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("joined", [0.0, 1e9], ids=["pairs by a join", "pairs by bits"])
def test_long_equals_mlxtend(engine, joined, expected, monkeypatch):
    monkeypatch.setattr(module, "_JOINED", joined)
    held = transactions(ENGINES[engine](LONG), transaction="t", items=["i"])
    assert held.size == HELD.any(axis=1).sum()
    assert sets(frequent(held, 0.05 * 700 / held.size, 4)) == expected


def test_in_small_pieces(expected, monkeypatch):
    for name, size in (("_COLUMNS_AT_ONCE", 2), ("_ROWS_AT_ONCE", 10)):
        monkeypatch.setattr(module, name, size)
    for name, size in (("_WORDS_AT_ONCE", 3), ("_SETS_AT_ONCE", 2)):
        monkeypatch.setattr(itemsets, name, size)
    assert sets(frequent(transactions(WIDE), 0.05, 4)) == expected
    monkeypatch.setattr(module, "_JOINED", 1e9)
    held = transactions(LONG, transaction="t", items=["i"])
    assert sets(frequent(held, 0.05 * 700 / held.size, 4)) == expected


def test_an_item_twice_in_a_transaction_is_there_once():
    held = transactions({"t": [1, 1, 2], "i": ["a", "a", "a"]}, transaction="t", items=["i"])
    assert (held.size, held.items[0].count) == (2, 2)


def test_columns_of_labels_are_an_item_for_each_label():
    held = transactions({"colour": ["red", "blue", "red"], "big": [True, False, True]})
    assert [(item.name, item.count) for item in held.items] == [("big", 2), ("colour=blue", 1), ("colour=red", 2)]


def test_names_and_values_that_mean_something_to_sql():
    column, value = 'a"; DROP TABLE held; --', "it's"
    held = transactions({column: [value, "b"], "'": [1, 0]})
    assert {item.name: item.count for item in held.items} == {f"{column}={value}": 1, f"{column}=b": 1, "'": 1}
    long = transactions({'"t"': [1, 1], "i'": [value, 'x"']}, transaction='"t"', items=["i'"])
    assert sets(frequent(long, 0.5, 2))[frozenset([value, 'x"'])] == 1


def test_a_file_of_long_transactions(tmp_path):
    path = tmp_path / "baskets.csv"
    path.write_text("basket,product\n1,17\n1,18\n2,17\n3,\n")
    held = transactions(path, transaction="basket", items=["product"], missing="drop")
    assert [(item.name, item.count) for item in held.items] == [("17", 2), ("18", 1)]
    assert held.notes[0].text == "1 of 4 rows was dropped for missing values in 'product' (1)."
    with pytest.raises(ScoreSpaceError) as refused:
        transactions(path, transaction="basket", items=["product"])
    assert str(refused.value) == (
        "column 'product' has missing values.\n  seen: 'product' (1) of 4 rows\n"
        '  hint: missing="drop" leaves out 1 row'
    )


@pytest.mark.parametrize(
    ("data", "asked", "message"),
    [
        ({"a": [0, 1, 2]}, {}, "column 'a' holds numbers, not whether an item is there"),
        ({"a": [f"n{k}" for k in range(300)]}, {}, "more than 100 different labels"),
        ({"a": [0, 0]}, {}, "no item occurs in any transaction"),
        ({"a": [0, 1]}, {"items": ["b*"]}, r"b\*"),
        ({"a": [0, 1]}, {"transaction": "t", "items": ["a"]}, "'t'"),
        ({"t": [0, 1], "a": [1, 2]}, {"transaction": "t"}, "long transactions need the one column"),
        ({"a": [0, None]}, {}, "missing values"),
        ({"a": [0, 1]}, {"missing": "skip"}, "is not a way to treat missing values"),
    ],
)
def test_what_is_refused(data, asked, message):
    with pytest.raises(ScoreSpaceError, match=message):
        transactions(data, **asked)


def test_too_many_bits_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_BITS", 10)
    with pytest.raises(ScoreSpaceError, match="too many to be held in memory"):
        transactions(WIDE).words([0, 1])


def test_the_engine_draws_no_bar_into_the_answer():
    held = transactions(WIDE)
    assert held.source.connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(False,)]


TIMES = RNG.integers(0, 4, 700)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_weight_is_so_many_transactions(engine):
    copies = {name: np.repeat(column, TIMES) for name, column in WIDE.items()}
    wide = transactions(ENGINES[engine]({**WIDE, "times": TIMES}), weight="times")
    assert wide.size == TIMES.sum()
    assert sets(frequent(wide, 0.05, 3)) == sets(frequent(transactions(copies), 0.05, 3))


@pytest.mark.parametrize("joined", [0.0, 1e9], ids=["pairs by a join", "pairs by bits"])
def test_a_weight_of_long_transactions(joined, monkeypatch):
    monkeypatch.setattr(module, "_JOINED", joined)
    weighted = {**LONG, "times": TIMES[ROW[SHUFFLED]]}
    again = [(f"{t}-{copy}", i) for t, i, n in zip(*weighted.values(), strict=True) for copy in range(n)]
    copies = {"t": [t for t, _ in again], "i": [i for _, i in again]}
    ours = transactions(weighted, transaction="t", items=["i"], weight="times")
    theirs = transactions(copies, transaction="t", items=["i"])
    assert ours.size == theirs.size
    assert sets(frequent(ours, 0.05, 3)) == sets(frequent(theirs, 0.05, 3))


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (
            [1, 0.5, 2],
            "column 'n' holds something else than how many transactions a row stands for.\n  seen: '0.5'\n"
            "  hint: whole numbers from 0 on; or no weight",
        ),
        ([0, 0, 0], "column 'n' stands for no transaction at all.\n  hint: weights above 0; or no weight"),
        (
            [1, 1, 2_000_000_000],
            "column 'n' stands for more than 1 000 000 000 transactions.\n"
            "  hint: smaller numbers in the same proportions",
        ),
        ([1, -1, 2], "-1"),
        (["a", "b", "a"], "'a', 'b'"),
        ([1, float("inf"), 2], "inf"),
    ],
)
def test_weights_that_count_no_transactions(times, message):
    with pytest.raises(ScoreSpaceError) as caught:
        transactions({"a": [1, 0, 1], "b": [1, 1, 1], "n": times}, weight="n")
    assert message in str(caught.value)


def test_one_weight_for_a_transaction():
    with pytest.raises(ScoreSpaceError) as caught:
        transactions({"t": [1, 1, 2], "i": ["a", "b", "a"], "n": [1, 2, 1]}, transaction="t", items=["i"], weight="n")
    assert str(caught.value) == (
        "a transaction has different weights in column 'n'.\n  seen: t 1\n"
        "  hint: one weight for all rows of a transaction"
    )
    with pytest.raises(ScoreSpaceError, match="column 'm' is not in"):
        transactions({"a": [1, 0], "n": [1, 2]}, weight="m")


def test_missing_weights_are_dropped_and_told():
    held = transactions(pl.DataFrame({"a": [1, 0, 1], "b": [1, 1, 1], "n": [2, None, 3]}), weight="n", missing="drop")
    assert held.size == 5
    assert [one.text for one in held.notes] == ["1 of 3 rows was dropped for missing values in 'n' (1)."]
