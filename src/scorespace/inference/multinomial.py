"""Multinomial bootstrap counts of cases, groups or cells, drawn fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scorespace.tables import Array, Table

_BLOCK: Final = 4096  # cases per block when many are drawn; the counts of a block fit the first-level cache
_NORMAL_FROM: Final = 50.0  # expected count above which a normal approximation is used


def cell_sampler(table: Table, within: bool) -> Callable[[np.random.Generator, int], Array]:
    """Return a sampler of bootstrap cell counts, shape (count, n_cells)."""
    cells, squares, group = table.cells, table.cell_squares, table.grouping
    if group is not None:
        size = int(group.max()) + 1
        return lambda rng, count: draw_group_counts(size, rng, count)[:, group] * cells
    filled = np.flatnonzero(cells)
    weights = cells[filled]
    classes = table.strata[filled] if within else np.zeros(filled.size, dtype=np.intp)
    if squares is not None:
        # A cell of weighted cases acts as its effective sample size of cases, each of their mean weight (Kish 1965).
        unit = squares[filled] / weights
        expected = weights / unit

        def draw_weighted(rng: np.random.Generator, count: int) -> Array:
            drawn = unit * rng.poisson(expected, (count, filled.size))
            return scatter_cells(_rescale_to_totals(drawn, weights, classes), filled, cells.size)

        return draw_weighted
    draw = stratified_sampler(weights, classes)
    return lambda rng, count: scatter_cells(draw(rng, count), filled, cells.size)


def stratified_sampler(weights: Array, classes: Array) -> Callable[[np.random.Generator, int], Array]:
    """Return a sampler that draws within classes, each with its own total; shape (count, n_cells)."""
    members = [np.flatnonzero(classes == k) for k in present_codes(classes)]

    def draw(rng: np.random.Generator, count: int) -> Array:
        drawn = [draw_counts(weights[of_class], rng, count) for of_class in members]
        highest = max((float(counts.max(initial=0)) for counts in drawn), default=0.0)
        is_integer = all(counts.dtype.kind in "iu" for counts in drawn)
        # Counts are mostly below ten: small integers need less memory traffic, which dominates the run time.
        out = np.empty((count, weights.size), dtype=np.min_scalar_type(int(highest)) if is_integer else np.float64)
        for of_class, counts in zip(members, drawn, strict=True):
            out[:, of_class] = counts
        return out

    return draw


def draw_counts(weights: Array, rng: np.random.Generator, count: int) -> Array:
    """Draw multinomial counts of as many cases as the weights hold; shape (count, n_cells)."""
    total = int(weights.sum(dtype=np.float64))
    if total == 0 or weights.size < 2:
        return np.broadcast_to(np.asarray(weights, dtype=np.int64), (count, weights.size))
    if weights.size * 8 < total or total * count >= 2**32:  # few cells: drawing one count per cell is cheaper
        return _draw_large_cells(np.asarray(weights, dtype=np.float64), total, rng, count)
    chosen = _draw_cases(total, rng, count)
    if weights.size < total:  # several cases share a cell
        chosen = np.repeat(np.arange(weights.size, dtype=np.uint32), weights.astype(np.intp))[chosen]
    if count > 1:
        chosen += (np.arange(count, dtype=np.uint32) * np.uint32(weights.size))[:, None]
    return np.bincount(chosen.ravel(), minlength=count * weights.size).reshape(count, weights.size)


def _draw_large_cells(weights: Array, total: int, rng: np.random.Generator, count: int) -> Array:
    """Draw multinomial counts; many large cells by a normal approximation with the same covariances and total."""
    large = weights >= _NORMAL_FROM
    if large.sum() <= 64:
        return rng.multinomial(total, weights / total, count)
    drawn = np.empty((count, weights.size))
    lump = weights[large].sum()
    small = rng.multinomial(total, np.append(weights[~large], lump) / total, count)
    drawn[:, ~large] = small[:, :-1]
    shares = weights[large] / lump
    expected = small[:, -1:] * shares
    noise = rng.standard_normal(expected.shape, dtype=np.float32) * np.sqrt(expected)
    noise -= noise.sum(axis=1, keepdims=True) * shares
    drawn[:, large] = np.maximum(noise + expected, 0.0)
    return drawn


def _draw_cases(total: int, rng: np.random.Generator, count: int) -> NDArray[np.uint32]:
    """Draw as many case numbers as there are cases, with replacement, for each replicate; in arbitrary order.

    Many cases are drawn block by block: first the number of draws per block, then the cases within it. The distribution
    is the same, and counting the draws stays within the cache.
    """
    if total < 16 * _BLOCK:
        return rng.integers(0, total, (count, total), dtype=np.uint32)
    starts = np.arange(0, total, _BLOCK, dtype=np.uint32)
    sizes = np.diff(starts, append=np.uint32(total))
    falls = rng.multinomial(total, sizes / total, count)
    start = np.repeat(np.tile(starts, count), falls.ravel())
    # Raw bits, four draws of 16 bits from each word: a block of 4096 needs twelve.
    within = rng.bit_generator.random_raw(start.size // 4 + 1).view(np.uint16)[: start.size] & np.uint16(_BLOCK - 1)
    if sizes[-1] < _BLOCK:  # the last block is shorter
        last = np.flatnonzero(start == starts[-1])
        within[last] = rng.integers(0, sizes[-1], last.size, dtype=np.uint16)
    start += within
    return start.reshape(count, total)


def draw_group_counts(size: int, rng: np.random.Generator, count: int) -> Array:
    """Draw how often each of `size` groups is resampled."""
    return rng.multinomial(size, np.full(size, 1 / size), count)


def _rescale_to_totals(drawn: Array, weights: Array, strata: Array) -> Array:
    """Rescale draws so that each stratum keeps its total weight; a stratum without any draw stays empty."""
    for stratum in present_codes(strata):
        is_member = strata == stratum
        totals = drawn[:, is_member].sum(axis=1, keepdims=True)
        drawn[:, is_member] *= np.divide(weights[is_member].sum(), totals, out=np.zeros_like(totals), where=totals > 0)
    return drawn


def present_codes(codes: Array) -> NDArray[np.intp]:
    """Return the codes (from 0) that occur; faster to import than np.unique, which loads masked arrays.

    >>> present_codes(np.array([3, 0, 3])).tolist()
    [0, 3]
    """
    return np.flatnonzero(np.bincount(codes))


def scatter_cells(drawn: Array, filled: Array, size: int) -> Array:
    """Place the values of the non-empty cells among all cells; the others are 0."""
    if filled.size == size:
        return drawn
    out = np.zeros((drawn.shape[0], size), dtype=drawn.dtype)
    out[:, filled] = drawn
    return out
