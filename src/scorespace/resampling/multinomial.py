"""How often each case, group or cell is drawn again: multinomial counts, fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scorespace.tables import Array, Table

_BLOCK: Final = 4096  # cases per block when many are drawn; its counts fit the fastest cache
_LARGE: Final = 50.0  # cases in a cell from which on its count spreads like a normal deviate


def cells_drawer(table: Table, within: bool) -> Callable[[np.random.Generator, int], Array]:
    """What draws the cells of a table again (count, m)."""
    cells, squares, group = table.cells, table.cell_squares, table.grouping
    if group is not None:
        size = int(group.max()) + 1
        return lambda rng, count: group_times(size, rng, count)[:, group] * cells
    filled = np.flatnonzero(cells)
    weights = cells[filled]
    classes = table.strata[filled] if within else np.zeros(filled.size, dtype=np.intp)
    if squares is not None:
        # As many equal cases as are worth the weights of a cell, each of which weighs as much as they do on average.
        unit = squares[filled] / weights
        expected = weights / unit

        def weighed(rng: np.random.Generator, count: int) -> Array:
            drawn = unit * rng.poisson(expected, (count, filled.size))
            return spread_out(_kept_totals(drawn, weights, classes), filled, cells.size)

        return weighed
    draw = class_drawer(weights, classes)
    return lambda rng, count: spread_out(draw(rng, count), filled, cells.size)


def class_drawer(weights: Array, classes: Array) -> Callable[[np.random.Generator, int], Array]:
    """What draws as many cases of each class as the weights of its cells hold (count, cells)."""
    members = [np.flatnonzero(classes == k) for k in occurring(classes)]

    def draw(rng: np.random.Generator, count: int) -> Array:
        drawn = [counts_drawn(weights[of_class], rng, count) for of_class in members]
        highest = max((float(one.max(initial=0)) for one in drawn), default=0.0)
        whole = all(one.dtype.kind in "iu" for one in drawn)
        # Counts are mostly below ten: bytes hold them, and memory is what takes the time.
        out = np.empty((count, weights.size), dtype=np.min_scalar_type(int(highest)) if whole else np.float64)
        for of_class, one in zip(members, drawn, strict=True):
            out[:, of_class] = one
        return out

    return draw


def counts_drawn(weights: Array, rng: np.random.Generator, count: int) -> Array:
    """Multinomial counts (count, cells) of as many cases as the weights hold."""
    total = int(weights.sum(dtype=np.float64))
    if total == 0 or weights.size < 2:
        return np.broadcast_to(np.asarray(weights, dtype=np.int64), (count, weights.size))
    if weights.size * 8 < total or total * count >= 2**32:  # few cells: one number for each is cheaper
        return _counts_of_cells(np.asarray(weights, dtype=np.float64), total, rng, count)
    chosen = _chosen(total, rng, count)
    if weights.size < total:  # several cases share a cell
        chosen = np.repeat(np.arange(weights.size, dtype=np.uint32), weights.astype(np.intp))[chosen]
    if count > 1:
        chosen += (np.arange(count, dtype=np.uint32) * np.uint32(weights.size))[:, None]
    return np.bincount(chosen.ravel(), minlength=count * weights.size).reshape(count, weights.size)


def _counts_of_cells(weights: Array, total: int, rng: np.random.Generator, count: int) -> Array:
    """Multinomial counts, those of many large cells as normal deviates of the same covariances that add up as well."""
    large = weights >= _LARGE
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


def _chosen(total: int, rng: np.random.Generator, count: int) -> NDArray[np.uint32]:
    """As many draws of cases as there are cases, with replacement, for each replicate; in no order.

    Many cases are drawn block by block: first how many fall into each block, then which of its
    cases. That is the same distribution, and counting the draws then stays within the cache.
    """
    if total < 16 * _BLOCK:
        return rng.integers(0, total, (count, total), dtype=np.uint32)
    starts = np.arange(0, total, _BLOCK, dtype=np.uint32)
    sizes = np.diff(starts, append=np.uint32(total))
    falls = rng.multinomial(total, sizes / total, count)
    start = np.repeat(np.tile(starts, count), falls.ravel())
    # Raw bits, four draws of 16 bits from each word: a block of 4096 needs twelve of them.
    within = rng.bit_generator.random_raw(start.size // 4 + 1).view(np.uint16)[: start.size] & np.uint16(_BLOCK - 1)
    if sizes[-1] < _BLOCK:  # the last block is shorter
        last = np.flatnonzero(start == starts[-1])
        within[last] = rng.integers(0, sizes[-1], last.size, dtype=np.uint16)
    start += within
    return start.reshape(count, total)


def group_times(size: int, rng: np.random.Generator, count: int) -> Array:
    """How often each of that many groups is drawn."""
    return rng.multinomial(size, np.full(size, 1 / size), count)


def _kept_totals(drawn: Array, weights: Array, strata: Array) -> Array:
    """Draws scaled so that each stratum weighs as much as it did; one that was not drawn at all stays empty."""
    for stratum in occurring(strata):
        own = strata == stratum
        totals = drawn[:, own].sum(axis=1, keepdims=True)
        drawn[:, own] *= np.divide(weights[own].sum(), totals, out=np.zeros_like(totals), where=totals > 0)
    return drawn


def occurring(codes: Array) -> NDArray[np.intp]:
    """The codes, from 0, that occur; np.unique loads all about masked arrays first.

    >>> occurring(np.array([3, 0, 3])).tolist()
    [0, 3]
    """
    return np.flatnonzero(np.bincount(codes))


def spread_out(drawn: Array, filled: Array, size: int) -> Array:
    """Values of the filled cells among all cells, the others empty."""
    if filled.size == size:
        return drawn
    out = np.zeros((drawn.shape[0], size), dtype=drawn.dtype)
    out[:, filled] = drawn
    return out
