"""Ratings of several raters: patterns, votes, pairs, merging, and what cannot be rated."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorespace.errors import DataError
from scorespace.tables.ratings import rating_table

labels = st.sampled_from(["a", "b", "c", None])
ratings = st.lists(st.tuples(labels, labels, labels), min_size=1, max_size=12).filter(
    lambda rows: any(label is not None for row in rows for label in row)
)


def named(rows):
    return dict(zip(("Ann", "Bob", "Cid"), zip(*rows, strict=True), strict=True))


@given(ratings)
def test_votes_and_pairs_are_those_counted_one_by_one(rows):
    table = rating_table(named(rows))
    votes = Counter(label for row in rows for label in row if label is not None)
    assert dict(zip(table.classes, table.counts @ table.votes, strict=True)) == votes
    pairs = Counter((row[0], row[1]) for row in rows if row[0] is not None and row[1] is not None)
    found = {(a, b): table.joint[i, j] for i, a in enumerate(table.classes) for j, b in enumerate(table.classes)}
    assert {pair: count for pair, count in found.items() if count} == pairs
    assert table.counts.sum() == len(rows)


def test_two_halves_merge_to_the_whole_and_replicates_go_first():
    rows = [("a", "b", "a"), ("a", "a", None), ("b", "b", "b"), ("a", "b", "a")]
    whole, halves = rating_table(named(rows)), [rating_table(named(part)) for part in (rows[:2] + rows[3:], rows[2:3])]
    with pytest.raises(DataError, match="cannot be merged"):
        halves[0] + halves[1]  # the second knows one class alone
    parts = [rating_table(named(part), classes=["a", "b"]) for part in (rows[:2], rows[2:])]
    assert np.array_equal((parts[0] + parts[1]).joint, whole.joint)
    drawn = whole.with_cells(np.stack([whole.counts, 2 * whole.counts]))
    assert np.array_equal(drawn.joint, np.stack([whole.joint, 2 * whole.joint]))


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"Ann": ["a"]}, "agreement needs at least two raters."),
        ({"Ann": ["a"], "Bob": ["a", "b"]}, "the raters rated different numbers of instances."),
        ({"Ann": [None], "Bob": [None]}, "there are no ratings."),
    ],
)
def test_what_cannot_be_rated(given, problem):
    with pytest.raises(DataError) as refused:
        rating_table(given)
    assert str(refused.value).splitlines()[0] == problem
