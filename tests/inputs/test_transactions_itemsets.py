"""Sets are counted where all their parts are frequent, and no others."""

from itertools import combinations

import numpy as np
import pytest

from scorespace.errors import ScoreSpaceError
from scorespace.io import transactions as itemsets
from scorespace.io.transactions import count_itemsets, frequent_itemsets, read_transactions

HELD = np.random.default_rng(1).random((700, 9)) < np.linspace(0.1, 0.6, 9)
WIDE = {f"item {k}": HELD[:, k] for k in range(9)}


def test_only_sets_whose_parts_are_frequent_are_counted():
    found = frequent_itemsets(read_transactions(WIDE), 0.2, 3)
    pairs = {frozenset(found.names[k] for k in chosen) for chosen in found.levels[1].sets}
    able = [
        one for one in combinations(found.names, 3) if all(frozenset(pair) in pairs for pair in combinations(one, 2))
    ]
    assert found.levels[2].tried == len(able)
    assert found.levels[1].tried == len(found.names) * (len(found.names) - 1) // 2


def test_counts_of_given_sets():
    held = read_transactions(WIDE)
    words = held.words(range(9))
    found = count_itemsets(words, np.array([[0, 8], [3, 4]]))
    assert found.tolist() == [(HELD[:, 0] & HELD[:, 8]).sum(), (HELD[:, 3] & HELD[:, 4]).sum()]


def test_too_many_sets_are_refused(monkeypatch):
    monkeypatch.setattr(itemsets, "MAX_CANDIDATES", 10)
    with pytest.raises(ScoreSpaceError, match="36 candidate sets of 2"):
        frequent_itemsets(read_transactions(WIDE), 0.01, 3)
