"""Binning of scores, and the sums that a binned table keeps of the scores in each bin."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from scorespace.results import ByValue

Array = NDArray[Any]
Choose = Callable[[Any, Any, Any], Any]
"""A conditional like np.where(condition, x, y), or its equivalent in an engine."""

BITS: Final = 38
"""Number of the 53 bits of a score that are rounded away: bins are at most 2⁻¹⁴ of a score wide, and as narrow near 1.

With some 100 000 bins the AUC of any number of cases is certified to about 1e-5.
"""

MIDDLE: Final = (0.125, 0.875)
"""In this range rounded bins would be widest; equally wide, numbered bins are used instead."""


def bin_of_score(score: Any, bits: int, choose: Choose = np.where) -> Any:
    """Lower edge of the bin of each score: rounded to 53 − bits binary digits by Veltkamp's (1968) splitting.

    x·f − (x·f − x) with f = 2^bits + 1 rounds and keeps the order; from 0.875 to 1, 1 − x is rounded instead. In
    between, bins are numbered. Additions and multiplications give identical bits in every engine (divisions do not),
    so this expression works for arrays and for expressions of engines.
    >>> bin_of_score(np.array([0.1001, 0.1, 0.9]), 47)
    array([0.09960938, 0.09960938, 0.90039062])
    >>> bin_of_score(np.array([0.5, 0.4999999]), 38)
    array([0.5       , 0.49998983])
    """
    if not bits:
        return score
    factor, (low, high) = 2.0**bits + 1, MIDDLE

    def rounded(x: Any) -> Any:
        wide = x * factor
        return wide - (wide - x)

    near_one = choose((score > high) & (score <= 1), 1 - rounded(1 - score), rounded(score))
    return choose((score >= low) & (score <= high), bin_number(score, bits) * (1 / _bins_per_unit(bits)), near_one)


def bin_number(score: Any, bits: int) -> Any:
    """Number of the bin of a score in the middle range: (n·x − 1/2 + c) − c with n bins from 0 to 1, c = 1.5 · 2⁵².

    >>> bin_number(np.array([0.5, 0.4999999]), 38)
    array([49152., 49151.])
    """
    shift = 1.5 * 2.0**52
    return ((score * _bins_per_unit(bits) - 0.5) + shift) - shift


def _bins_per_unit(bits: int) -> float:
    """Number of bins from 0 to 1: a multiple of four, so that 0.5 is an edge."""
    return 3 * 2.0 ** max(53 - bits, 2)


def split_at_edge(key: Any, score: Any, edge: float, choose: Choose = np.where) -> Any:
    """Split the bin that straddles an edge into the scores at or above the edge and those below.

    >>> x = np.array([0.1001, 0.1, 0.0999])
    >>> split_at_edge(bin_of_score(x, 47), x, 0.1)
    array([0.1       , 0.1       , 0.09960938])
    """
    below = math.nextafter(edge, -math.inf)
    return choose(score >= edge, choose(key < edge, edge, key), choose(key >= edge, below, key))


def bin_keys(score: NDArray[np.float64], bits: int, edges: Iterable[float] = ()) -> NDArray[np.float64]:
    """Bin of each score, with no bin straddling an edge."""
    key: NDArray[np.float64] = bin_of_score(score, bits)
    for edge in edges:
        key = split_at_edge(key, score, edge)
    return key


@dataclass(frozen=True, eq=False)
class BinSums(ByValue):
    """Lowest and highest score (m,) of each bin, and the sums Σ w·s and Σ w·s² of each class (K, m).

    `bits` is the rounding and `edges` are the thresholds that no bin straddles; tables that agree in both are merged
    bin by bin.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    first: Array
    second: Array
    bits: int = BITS
    edges: tuple[float, ...] = ()

    @property
    def is_mixed(self) -> NDArray[np.bool_]:
        """Which bins hold different scores, so that the order inside them is unknown."""
        return self.high > self.low

    @property
    def width(self) -> float:
        """Width of the widest bin."""
        return float((self.high - self.low).max(initial=0.0))

    def mean(self, weight: Array) -> NDArray[np.float64]:
        """Mean score of each bin, given its weight."""
        return np.clip(self.first.sum(axis=0) / weight, self.low, self.high)

    def negated(self) -> Self:
        """Bins of the negated scores, in reverse order; adding 0.0 turns -0.0 into 0.0."""
        low, high = -self.high[::-1] + 0.0, -self.low[::-1] + 0.0
        edges = tuple(-math.nextafter(edge, -math.inf) + 0.0 for edge in self.edges)
        return replace(
            self, low=low, high=high, first=-self.first[:, ::-1] + 0.0, second=self.second[:, ::-1], edges=edges
        )

    def complemented(self, counts: Array) -> Self:
        """Bins of 1 − score, in reverse order."""
        first = counts - self.first
        second = counts - 2 * self.first + self.second
        low, high = 1 - self.high[::-1], 1 - self.low[::-1]
        edges = tuple(1 - edge for edge in self.edges)
        return replace(self, low=low, high=high, first=first[:, ::-1], second=second[:, ::-1], edges=edges)

    def with_sums(self, change: Callable[[Array], Array]) -> Self:
        """Transform the sums of each class, for instance by factors or a new order of classes."""
        return replace(self, first=change(self.first), second=change(self.second))

    def rows(self, kept: Any) -> Self:
        """A subset of the bins."""
        return replace(
            self, low=self.low[kept], high=self.high[kept], first=self.first[:, kept], second=self.second[:, kept]
        )


def exact_bins(score: NDArray[np.float64], counts: Array) -> BinSums:
    """Bins of an exact table: one score each."""
    first = counts * score
    return BinSums(score, score, first, first * score, 0)


def merge_bins(*several: BinSums) -> tuple[BinSums, NDArray[np.intp], NDArray[np.intp]]:
    """Merge the bins of several tables that share a cell or overlap.

    Returns the merged bins, the order of all rows, and where each merged bin starts. With the same rounding only bins
    of one cell can overlap, so merged shards equal the table of all data.
    """
    bits = max(bins.bits for bins in several)
    edges = tuple(sorted({edge for bins in several for edge in bins.edges}))
    low, high = (np.concatenate([getattr(bins, side) for bins in several]) + 0.0 for side in ("low", "high"))
    order = np.argsort(-high, kind="stable")  # bins with the same highest score overlap
    low, high = low[order], high[order]
    first, second = (
        np.concatenate([getattr(bins, name) for bins in several], axis=-1)[:, order] for name in ("first", "second")
    )
    if not low.size:
        return BinSums(low, high, first, second, bits, edges), order, np.empty(0, np.intp)
    key = bin_keys(low, bits, edges)
    # In descending order: a bin starts below the lowest score of all bins before it.
    separate = high[1:] < np.minimum.accumulate(low)[:-1]
    starts = np.flatnonzero(np.append(True, separate & (key[1:] != key[:-1])))
    low, high = np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)
    first, second = np.add.reduceat(first, starts, axis=-1), np.add.reduceat(second, starts, axis=-1)
    return BinSums(low, high, first, second, bits, edges), order, starts
