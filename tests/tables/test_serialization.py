"""Tables as plain columns, and back."""

import numpy as np
import pytest
from hypothesis import given, settings

from laws.strategies import samples
from scorespace.errors import DataError
from scorespace.tables import class_table, confusion, score_table
from scorespace.tables.paired import binned_pair
from scorespace.tables.serialization import (
    LABELS,
    NUMBERS,
    from_stored_pair,
    from_stored_table,
    merge_tables,
    to_stored_pair,
    to_stored_table,
)
from scorespace.tables.table import NoTableError, StoredTable


@given(sample=samples(both=True))
@settings(max_examples=30)
def test_there_and_back(sample):
    for table in (sample.table(), sample.unweighted(), sample.table().rounded(48, [0.2])):
        kept = to_stored_table(table)
        assert set(kept.columns) == {*LABELS, *NUMBERS}
        assert len({column.size for column in kept.columns.values()}) == 1
        assert from_stored_table(kept) == table


def test_decisions_there_and_back():
    table = confusion([[6, 2, 0], [1, 3, 4], [0, 0, 1]], classes=["a", "b", "c"])
    assert from_stored_table(to_stored_table(table)) == table


def test_shards_are_merged_one_by_one():
    parts = [score_table([1, 0], [0.9, 0.1 * k]) for k in range(3)]
    assert merge_tables(iter(parts)) == parts[0] + parts[1] + parts[2]
    with pytest.raises(DataError, match="cannot be merged"):
        merge_tables(iter([parts[0], confusion([[1, 0], [0, 1]], classes=["0", "1"])]))


def test_cases_stay_where_they_are():
    table = class_table(["a", "b", "c"], [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    with pytest.raises(NoTableError, match="keep individual cases"):
        to_stored_table(table)


def test_columns_of_no_table_are_refused():
    kept = to_stored_table(score_table([1, 0], [0.9, 0.5]).rounded(48))
    wrong = StoredTable(kept.about, {**kept.columns, "weight": np.array([np.nan] * 4)})
    with pytest.raises(DataError, match="valid tables"):
        from_stored_table(wrong)


def test_bins_of_two_models_there_and_back():
    rng = np.random.default_rng(3)
    keys = {"a": rng.integers(0, 9, 60) / 9, "b": rng.integers(0, 9, 60) / 9}
    pairs = binned_pair(keys, rng.integers(0, 2, 60), rng.integers(1, 50, 60), ("0", "1"), 1)
    kept = to_stored_pair(pairs, [0.3])
    again, twice = from_stored_pair([kept]), from_stored_pair([kept, kept])
    assert [table.counts.tolist() for table in again.tables] == [table.counts.tolist() for table in pairs.tables]
    assert twice.times.sum() == 2 * pairs.times.sum()
    assert from_stored_pair([kept, to_stored_pair(pairs, [])]) is None  # other bins
    with pytest.raises(DataError, match="valid tables"):
        from_stored_pair([StoredTable({**kept.about, "positive": 7}, kept.columns)])
