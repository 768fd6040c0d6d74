"""Order statistics of weighted cases for all replicates at once: cases are sorted once, weights are cumulated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorespace.tables.table import Array


def run_starts(values: Array) -> NDArray[np.intp]:
    """Index of the first element of each run of equal neighbours.

    >>> run_starts(np.array([5, 5, 3, 3, 5]))
    array([0, 2, 4])
    """
    return np.flatnonzero(np.append(True, values[1:] != values[:-1])[: values.size])


def sum_by_index(place: NDArray[np.intp], weight: Array, size: int) -> Array:
    """Sum weights (…, n) by index (n,), or by indices of each replicate (…, n), into shape (…, size).

    >>> sum_by_index(np.array([2, 0, 2]), np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]]), 3).tolist()
    [[2.0, 0.0, 4.0], [1.0, 0.0, 2.0]]
    """
    if weight.ndim == 1:
        return np.bincount(place, weight, minlength=size).astype(np.float64)
    rows = weight.reshape(-1, weight.shape[-1])
    cell = place.reshape(-1, place.shape[-1]) + size * np.arange(len(rows))[:, None]
    summed = np.bincount(cell.ravel(), rows.ravel(), minlength=size * len(rows))
    return summed.reshape(*weight.shape[:-1], size)


def count_by_index(
    place: NDArray[np.intp], shape: tuple[int, int], weight: Array | None, copies: bool
) -> tuple[Array, Array | None]:
    """Counts or sums of weights by index, in the given shape; and sums of squared weights unless weights are copies."""

    def sum_by_cell(weights: Array | None) -> Array:
        return np.bincount(place, weights, minlength=shape[0] * shape[1]).reshape(shape)

    return sum_by_cell(weight), None if weight is None or copies else sum_by_cell(weight**2)


def quantile(values: Array, cells: Array, share: float) -> Array:
    """Weighted quantile of ascending values with weights `cells` (…, m).

    If the share falls exactly between two values, their midpoint is returned.

    >>> float(quantile(np.array([1.0, 2.0, 3.0, 10.0]), np.ones(4), 0.5))
    2.5
    """
    below = np.cumsum(cells, axis=-1, dtype=np.float64)
    total = below[..., -1:]
    target = share * total
    slack = 1e-12 * total  # tolerance for rounding
    last = values.size - 1
    first = np.minimum((below < target - slack).sum(axis=-1), last)
    second = np.minimum((below <= target + slack).sum(axis=-1), last)
    return np.where(total[..., 0] > 0, (values[first] + values[second]) / 2, np.nan)


def median(values: Array, cells: Array) -> Array:
    """Weighted median."""
    return quantile(values, cells, 0.5)


def midranks(values: Array, order: NDArray[np.intp], cells: Array) -> Array:
    """Weighted midranks (…, m): the weight below each case plus half of that tied with it; `order` sorts the values.

    >>> midranks(np.array([5.0, 1.0, 5.0]), np.array([1, 0, 2]), np.ones(3))
    array([2. , 0.5, 2. ])
    """
    ordered = values[order]
    starts = run_starts(ordered)
    level = np.add.reduceat(cells[..., order], starts, axis=-1, dtype=np.float64)
    middle = np.cumsum(level, axis=-1) - level / 2
    block = np.empty(order.size, dtype=np.intp)
    block[order] = np.repeat(np.arange(starts.size), np.diff(starts, append=order.size))
    return np.asarray(middle[..., block])


@dataclass(frozen=True)
class Concordance:
    """Weights of concordant and discordant pairs of cases, and of pairs with different truths or predictions."""

    right: Array
    wrong: Array
    truth_apart: Array
    predicted_apart: Array


def concordance(truth: Array, predicted: Array, cells: Array) -> Concordance:
    """Count concordant and discordant pairs in O(n log² n), by recursive halving of the truths.

    >>> pairs = concordance(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]), np.ones(3))
    >>> float(pairs.right), float(pairs.wrong)
    (2.0, 1.0)
    """
    rank = np.unique(truth, return_inverse=True)[1]
    place = np.unique(predicted, return_inverse=True)[1]
    weight = cells.astype(np.float64)
    right, level = np.zeros(weight.shape[:-1]), np.zeros(weight.shape[:-1])
    by_place = np.argsort(place, kind="stable")
    for bit in range(int(rank.max(initial=0)).bit_length()):
        # Pairs whose truths first differ at this bit: the higher truth has it set.
        block, upper = rank >> (bit + 1), (rank >> bit) & 1
        order = by_place[np.argsort(block[by_place], kind="stable")]
        of_block, level_of = block[order], place[order]
        new = np.append(True, of_block[1:] != of_block[:-1])
        tie = new | np.append(True, level_of[1:] != level_of[:-1])
        ordered, is_upper = weight[..., order], upper[order].astype(np.float64)
        lower = np.concatenate([np.zeros((*weight.shape[:-1], 1)), np.cumsum(ordered * (1 - is_upper), axis=-1)], -1)
        positions = np.arange(order.size)
        begins = np.maximum.accumulate(np.where(new, positions, 0))
        before = np.maximum.accumulate(np.where(tie, positions, 0))
        ends = np.append(np.flatnonzero(tie)[1:], order.size)[np.cumsum(tie) - 1]
        right += np.vecdot(ordered * is_upper, lower[..., before] - lower[..., begins])
        level += np.vecdot(ordered * is_upper, lower[..., ends] - lower[..., before])
    truth_apart, predicted_apart = (_untied_pairs(codes, weight) for codes in (rank, place))
    return Concordance(right, truth_apart - right - level, truth_apart, predicted_apart)


def _untied_pairs(codes: NDArray[np.intp], weight: Array) -> Array:
    """Weight of pairs with different codes: ((Σw)² − Σ (weight of a code)²) / 2."""
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    by_code = np.add.reduceat(weight[..., order], starts, axis=-1)
    return np.asarray((weight.sum(axis=-1) ** 2 - (by_code**2).sum(axis=-1)) / 2)
