"""What a coarse table knows of the scores inside each of its rows, and how scores fall into bins."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from scorespace.frozen import dataclass
from scorespace.results import ByValue

Array = NDArray[Any]
Choose = Callable[[Any, Any, Any], Any]
"""Where a condition holds the second, else the third: np.where, or what an engine has for it."""

BITS: Final = 38
"""So many of the 53 bits of a score are rounded away: a bin is at most 2⁻¹⁴ of a score wide, and as narrow near 1.

Then the AUC of any number of cases is certain to about a hundred thousandth, from some hundred thousand bins.
"""

MIDDLE: Final = (0.125, 0.875)
"""Between these, bins of rounded scores would be widest: here they are all alike, and can be numbered."""


def cell(score: Any, bits: int, choose: Choose = np.where) -> Any:
    """The bin of each score: rounded to 53 − bits binary digits, by Veltkamp's splitting.

    x·f − (x·f − x) with f = 2^bits + 1 is rounding, so it keeps the order; from 0.875 to 1 it is 1 − x that is rounded.
    Between, bins are numbered. Additions and multiplications are the same to the bit in every engine (divisions are
    not), and so this one expression takes arrays and the expressions of engines alike.

    >>> cell(np.array([0.1001, 0.1, 0.9]), 47)
    array([0.09960938, 0.09960938, 0.90039062])
    >>> cell(np.array([0.5, 0.4999999]), 38)
    array([0.5       , 0.49998983])
    """
    if not bits:
        return score
    factor, (low, high) = 2.0**bits + 1, MIDDLE

    def rounded(x: Any) -> Any:
        wide = x * factor
        return wide - (wide - x)

    near_one = choose((score > high) & (score <= 1), 1 - rounded(1 - score), rounded(score))
    return choose((score >= low) & (score <= high), numbered(score, bits) * (1 / _parts(bits)), near_one)


def numbered(score: Any, bits: int) -> Any:
    """The whole number of the bin of a score in the middle: (n·x − 1/2 + c) − c with n bins from 0 to 1, c = 1.5 · 2⁵².

    >>> numbered(np.array([0.5, 0.4999999]), 38)
    array([49152., 49151.])
    """
    shift = 1.5 * 2.0**52
    return ((score * _parts(bits) - 0.5) + shift) - shift


def _parts(bits: int) -> float:
    """How many bins there would be from 0 to 1: a multiple of four, which makes one half an edge."""
    return 3 * 2.0 ** max(53 - bits, 2)


def parted(found: Any, score: Any, edge: float, choose: Choose = np.where) -> Any:
    """The bins with that which straddles an edge in two: what lies at or above it, and what lies below.

    >>> x = np.array([0.1001, 0.1, 0.0999])
    >>> parted(cell(x, 47), x, 0.1)
    array([0.1       , 0.1       , 0.09960938])
    """
    below = math.nextafter(edge, -math.inf)
    return choose(score >= edge, choose(found < edge, edge, found), choose(found >= edge, below, found))


def bin_keys(score: NDArray[np.float64], bits: int, edges: Iterable[float] = ()) -> NDArray[np.float64]:
    """The bins of scores, of which none straddles an edge."""
    key: NDArray[np.float64] = cell(score, bits)
    for edge in edges:
        key = parted(key, score, edge)
    return key


@dataclass(frozen=True, eq=False)
class Bins(ByValue):
    """The lowest and the highest score (m,) in each row, and the sums Σ w·s and Σ w·s² of every class there (K, m).

    `bits` is what was rounded away and `edges` are the thresholds that no bin straddles: tables with the same of
    both merge bin by bin.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    first: Array
    second: Array
    bits: int = BITS
    edges: tuple[float, ...] = ()

    @property
    def loose(self) -> NDArray[np.bool_]:
        """Which bins hold scores that differ, so that the order inside is not known."""
        return self.high > self.low

    @property
    def width(self) -> float:
        """The widest bin."""
        return float((self.high - self.low).max(initial=0.0))

    def mean(self, weight: Array) -> NDArray[np.float64]:
        """The mean score of each bin, given its weight."""
        return np.clip(self.first.sum(axis=0) / weight, self.low, self.high)

    def turned(self) -> Self:
        """Those of the negated scores, in the opposite order; adding 0.0 keeps a negated zero from becoming -0.0."""
        low, high = -self.high[::-1] + 0.0, -self.low[::-1] + 0.0
        edges = tuple(-math.nextafter(edge, -math.inf) + 0.0 for edge in self.edges)
        return replace(
            self, low=low, high=high, first=-self.first[:, ::-1] + 0.0, second=self.second[:, ::-1], edges=edges
        )

    def complemented(self, counts: Array) -> Self:
        """Those of 1 − score, in the opposite order."""
        first = counts - self.first
        second = counts - 2 * self.first + self.second
        low, high = 1 - self.high[::-1], 1 - self.low[::-1]
        edges = tuple(1 - edge for edge in self.edges)
        return replace(self, low=low, high=high, first=first[:, ::-1], second=second[:, ::-1], edges=edges)

    def with_sums(self, change: Callable[[Array], Array]) -> Self:
        """With other sums of each class, as of weights that are multiplied, or of the classes in another order."""
        return replace(self, first=change(self.first), second=change(self.second))

    def rows(self, kept: Any) -> Self:
        """Those of some of the rows."""
        return replace(
            self, low=self.low[kept], high=self.high[kept], first=self.first[:, kept], second=self.second[:, kept]
        )


def exact_bins(score: NDArray[np.float64], counts: Array) -> Bins:
    """The bins of a table whose rows each hold one score."""
    first = counts * score
    return Bins(score, score, first, first * score, 0)


def joined(*several: Bins) -> tuple[Bins, NDArray[np.intp], NDArray[np.intp]]:
    """The bins of several tables, those of one cell or overlapping merged; the order of all rows, where bins begin.

    Where all were made by the same rounding only bins of one cell can overlap, so shards give the table of all.
    """
    bits = max(one.bits for one in several)
    edges = tuple(sorted({edge for one in several for edge in one.edges}))
    low, high = (np.concatenate([getattr(one, side) for one in several]) + 0.0 for side in ("low", "high"))
    order = np.argsort(-high, kind="stable")  # those that reach equally high overlap
    low, high = low[order], high[order]
    first, second = (
        np.concatenate([getattr(one, name) for one in several], axis=-1)[:, order] for name in ("first", "second")
    )
    if not low.size:
        return Bins(low, high, first, second, bits, edges), order, np.empty(0, np.intp)
    key = bin_keys(low, bits, edges)
    # From the highest down: a bin begins below everything that those before it reach down to.
    apart = high[1:] < np.minimum.accumulate(low)[:-1]
    starts = np.flatnonzero(np.append(True, apart & (key[1:] != key[:-1])))
    low, high = np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)
    first, second = np.add.reduceat(first, starts, axis=-1), np.add.reduceat(second, starts, axis=-1)
    return Bins(low, high, first, second, bits, edges), order, starts
