"""Tables as plain columns, and back."""

import numpy as np
import pytest
from hypothesis import given, settings

from laws.strategies import samples
from scorespace.errors import DataError
from scorespace.tables import class_table, confusion, score_table
from scorespace.tables.pair import binned_pair
from scorespace.tables.stored import LABELS, NUMBERS, merged, restored, restored_pair, stored, stored_pair
from scorespace.tables.table import NoTableError, Stored


@given(sample=samples(both=True))
@settings(max_examples=30)
def test_there_and_back(sample):
    for table in (sample.table(), sample.unweighted(), sample.table().rounded(48, [0.2])):
        kept = stored(table)
        assert set(kept.columns) == {*LABELS, *NUMBERS}
        assert len({column.size for column in kept.columns.values()}) == 1
        assert restored(kept) == table


def test_decisions_there_and_back():
    table = confusion([[6, 2, 0], [1, 3, 4], [0, 0, 1]], classes=["a", "b", "c"])
    assert restored(stored(table)) == table


def test_shards_are_merged_one_by_one():
    parts = [score_table([1, 0], [0.9, 0.1 * k]) for k in range(3)]
    assert merged(iter(parts)) == parts[0] + parts[1] + parts[2]
    with pytest.raises(DataError, match="cannot be merged"):
        merged(iter([parts[0], confusion([[1, 0], [0, 1]], classes=["0", "1"])]))


def test_cases_stay_where_they_are():
    table = class_table(["a", "b", "c"], [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    with pytest.raises(NoTableError, match="keep the cases themselves"):
        stored(table)


def test_columns_of_no_table_are_refused():
    kept = stored(score_table([1, 0], [0.9, 0.5]).rounded(48))
    wrong = Stored(kept.about, {**kept.columns, "weight": np.array([np.nan] * 4)})
    with pytest.raises(DataError, match="holds no tables that can be read"):
        restored(wrong)


def test_bins_of_two_models_there_and_back():
    rng = np.random.default_rng(3)
    keys = {"a": rng.integers(0, 9, 60) / 9, "b": rng.integers(0, 9, 60) / 9}
    pairs = binned_pair(keys, rng.integers(0, 2, 60), rng.integers(1, 50, 60), ("0", "1"), 1)
    kept = stored_pair(pairs, [0.3])
    again, twice = restored_pair([kept]), restored_pair([kept, kept])
    assert [table.counts.tolist() for table in again.tables] == [table.counts.tolist() for table in pairs.tables]
    assert twice.times.sum() == 2 * pairs.times.sum()
    assert restored_pair([kept, stored_pair(pairs, [])]) is None  # other bins
    with pytest.raises(DataError, match="holds no tables that can be read"):
        restored_pair([Stored({**kept.about, "positive": 7}, kept.columns)])
