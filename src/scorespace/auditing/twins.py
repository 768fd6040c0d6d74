"""Columns that say the same: equal, on a line, rising together, recoded one-to-one, or nearly equal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import field

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import gammaln

from scorespace.auditing.column import Column
from scorespace.auditing.finding import Seen, finding
from scorespace.auditing.kinds import number_text
from scorespace.frozen import dataclass
from scorespace.results import decimals

_SAMPLE = 5_000
_ANCHORS = 200
_NEAR_RANKS = 0.9995
_NEAR_SHARE = 0.98
_MOST_LEVELS = 100


@dataclass(frozen=True, eq=False)
class Print:
    """The fingerprint of a column: digests of its rows, its values at a few places, and a sample of its rows.

    `surprise` is minus the logarithm of the chance that a shuffled column of the same counts is alike in the same
    rows; `ordered_surprise` that it also has the same order of values.
    """

    name: str
    number: bool
    feature: bool
    distinct: int
    common: bool
    order: bytes
    reverse: bytes
    alike: bytes
    surprise: float
    ordered_surprise: float
    values: NDArray[np.float64] = field(repr=False)
    codes: NDArray[np.int32] = field(repr=False)
    sample: NDArray[np.float64] = field(repr=False)
    texts: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Prints:
    """The fingerprints of all columns but the target."""

    prints: tuple[Print, ...]


def fingerprint(column: Column, rows: NDArray[np.int64]) -> Print:
    """What is kept of a column to find its twins; `rows` is the sample that all columns share."""
    held = column.held
    number = held.stored in ("number", "date")
    order, reverse, alike = held.digests()
    arrangements = float(gammaln(column.known + 1) - np.sum(gammaln(held.counts + 1)))
    _, repeated = np.unique(held.counts, return_counts=True)
    codes = held.codes[rows]
    half = np.linspace(0, (held.distinct - 1) // 2, min(held.distinct, _ANCHORS) // 2 + 1).astype(np.int64)
    places = np.unique(np.append(half, held.distinct - 1 - half))  # the same from both ends
    sample = np.append(held.values.astype(np.float64), np.nan)[codes] if number else codes.astype(np.float64)
    return Print(
        column.name,
        number,
        column.kind.feature,
        held.distinct,
        4 * held.distinct <= column.known,
        order,
        reverse,
        alike,
        arrangements - float(np.sum(gammaln(repeated + 1))),
        arrangements,
        held.values[places].astype(np.float64) if number else np.zeros(0),
        codes,
        sample,
        () if number else tuple(str(value) for value in held.values[:_MOST_LEVELS]),
    )


def sample_rows(rows: int) -> NDArray[np.int64]:
    """The rows at which near twins are compared, spread evenly."""
    return np.unique(np.linspace(0, rows - 1, min(rows, _SAMPLE)).astype(np.int64))


@finding("SS120", "warning", "columns that say the same", "Keep one of them.")
def twins(prints: Prints) -> Iterator[Seen]:
    pairs = max(1, len(prints.prints) * (len(prints.prints) - 1) // 2)
    told: set[str] = set()
    for place, one in enumerate(prints.prints):
        if one.distinct < 2 or one.name in told:
            continue
        found = [
            (other, words)
            for other in prints.prints[place + 1 :]
            if other.distinct == one.distinct and other.name not in told and (words := _relation(one, other, pairs))
        ]
        told |= {other.name for other, _ in found}
        if found:
            all_of_them = [one, *(other for other, _ in found)]
            text = "; ".join(words for _, words in found) + "."
            level = "" if all(each.feature for each in all_of_them) else "info"
            names = tuple(each.name for each in all_of_them)
            yield Seen(names, text, {"columns": len(names)}, level=level)


def _relation(one: Print, other: Print, pairs: int) -> str:
    """How the second column follows from the first, or nothing."""
    sure = math.log(1000 * pairs)
    both = f"{one.name!r} and {other.name!r}"
    rising, falling = other.order == one.order, other.order == one.reverse
    if one.number and other.number and (rising or falling) and min(one.ordered_surprise, other.ordered_surprise) > sure:
        theirs = other.values if rising else other.values[::-1]
        if rising and np.array_equal(one.values, theirs):
            return f"{both} hold the same values in every row"
        line = _line(one.values, theirs)
        if line:
            return f"{other.name!r} is {line.format(repr(one.name))} in every row"
        return f"{both} {'rise' if rising else 'run'} together in every row: one is a function of the other" + (
            "" if rising else ", falling"
        )
    # Rows that occur twice make any two fine columns alike: only labels that many rows share are recoded.
    if one.alike == other.alike and one.common and other.common and min(one.surprise, other.surprise) > sure:
        if one.texts and one.texts == other.texts:
            return f"{both} hold the same values in every row"
        return f"{both} are recodings of each other, label by label"
    return ""


def _line(x: NDArray[np.float64], y: NDArray[np.float64]) -> str:
    """The straight line from one to the other, if it passes through all points."""
    if x.size < 3 or not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
        return ""
    slope = (y[-1] - y[0]) / (x[-1] - x[0])
    level = y[0] - slope * x[0]
    if np.max(np.abs(level + slope * x - y)) > 1e-6 * max(abs(y[-1] - y[0]), 1e-300):
        return ""
    level = 0.0 if abs(level) < 1e-9 * np.max(np.abs(y)) else level
    shift = "" if level == 0 else f" {'+' if level > 0 else '−'} {number_text(abs(float(level)))}"
    return f"{number_text(float(slope))} · {{}}{shift}"


@finding("SS121", "warning", "columns that nearly say the same", "Find out where they differ, and keep one.")
def near_twins(prints: Prints) -> Iterator[Seen]:
    pairs = max(1, len(prints.prints) * (len(prints.prints) - 1) // 2)
    features = [one for one in prints.prints if one.feature and one.distinct > 1]
    alone = [
        one
        for place, one in enumerate(features)
        if not any(other.distinct == one.distinct and _relation(other, one, pairs) for other in features[:place])
    ]
    for one, other, share, rank in _near_pairs(alone):
        names, both = (one.name, other.name), f"{one.name!r} and {other.name!r}"
        if share >= _NEAR_SHARE:
            yield Seen(names, f"{both} agree in {100 * share:.1f} % of the rows.", {"share": share})
        else:
            text = f"{both} have almost the same order (rank correlation {decimals(rank, 4)})."
            yield Seen(names, text, {"rank_correlation": rank}, level="info")


def _near_pairs(prints: Sequence[Print]) -> Iterator[tuple[Print, Print, float, float]]:
    """Pairs that agree in nearly all rows of the sample, or whose order nearly does, with both numbers."""
    numbers = [one for one in prints if one.number and one.distinct > 10]
    if len(numbers) > 1 and numbers[0].codes.size >= 30:
        ranks = np.stack([_ranks(one.codes) for one in numbers])
        found = np.nan_to_num(ranks @ ranks.T)
        for a, b in zip(*np.nonzero(np.triu(np.abs(found), 1) > 0.95), strict=True):
            share = _beyond_chance(numbers[a].sample, numbers[b].sample)
            if share >= _NEAR_SHARE or abs(found[a, b]) >= _NEAR_RANKS:
                yield numbers[a], numbers[b], share, float(found[a, b])
    labels = [one for one in prints if not (one.number and one.distinct > 10) and one.distinct <= _MOST_LEVELS][:200]
    for place, one in enumerate(labels):
        for other in labels[place + 1 :]:
            share = _matched(one.codes, other.codes)
            if share >= _NEAR_SHARE:
                yield one, other, share, math.nan


def _ranks(codes: NDArray[np.int32]) -> NDArray[np.float64]:
    ranks = stats.rankdata(codes)
    ranks -= ranks.mean()
    length = float(np.sqrt(np.sum(ranks**2)))
    return ranks / length if length else ranks


def _beyond_chance(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """The share of equal rows where two columns of numbers would hardly agree by chance."""
    there = ~(np.isnan(a) | np.isnan(b))
    if there.sum() < 30:
        return 0.0
    _, counts = np.unique(a[there], return_counts=True)
    chance = counts.max() / counts.sum()
    share = float(np.mean(a[there] == b[there]))
    return share if (share - chance) / (1 - chance) >= 0.9 else 0.0


def _matched(a: NDArray[np.int32], b: NDArray[np.int32]) -> float:
    """The share of rows that agree when each label is matched with its commonest partner, in the worse direction."""
    there = (a >= 0) & (b >= 0)
    if there.sum() < 30:
        return 0.0
    high = int(b[there].max()) + 1
    cells = np.bincount(a[there].astype(np.int64) * high + b[there], minlength=(int(a[there].max()) + 1) * high)
    table = cells.reshape(-1, high)
    total = int(table.sum())
    chance = max(table.sum(axis=0).max(), table.sum(axis=1).max()) / total
    if chance > 0.98 or np.count_nonzero(table.sum(axis=0)) < 2 or np.count_nonzero(table.sum(axis=1)) < 2:
        return 0.0
    share = min(int(table.max(axis=0).sum()), int(table.max(axis=1).sum())) / total
    return share if (share - chance) / (1 - chance) >= 0.9 else 0.0
