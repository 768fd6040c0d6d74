"""Sets of items that many transactions have: they grow by one item at a time, and only from sets that are frequent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from scorespace.errors import DataError
from scorespace.frames.transactions import Counted, Sets, Transactions, Words
from scorespace.frozen import dataclass
from scorespace.results import Progress, grouped

MOST_CANDIDATES: Final = 20_000_000
_WORDS_AT_ONCE: Final = 2048  # of an item: some hundred items stay within the cache
_SETS_AT_ONCE: Final = 256


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

    >>> from scorespace.frames.transactions import transactions
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
