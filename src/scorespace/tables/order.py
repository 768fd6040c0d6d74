"""Order statistics of weighted cases, for all replicates at once: the cases are sorted once, the weights added up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scorespace.frozen import dataclass
from scorespace.tables.table import Array


def starts_of(values: Array) -> NDArray[np.intp]:
    """Where runs of equal neighbours begin.

    >>> starts_of(np.array([5, 5, 3, 3, 5]))
    array([0, 2, 4])
    """
    return np.flatnonzero(np.append(True, values[1:] != values[:-1])[: values.size])


def added_at(place: NDArray[np.intp], weight: Array, size: int) -> Array:
    """Weights (…, n) added up by place (n,), or by places of each replicate (…, n), into (…, size).

    >>> added_at(np.array([2, 0, 2]), np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]]), 3).tolist()
    [[2.0, 0.0, 4.0], [1.0, 0.0, 2.0]]
    """
    if weight.ndim == 1:
        return np.bincount(place, weight, minlength=size).astype(np.float64)
    rows = weight.reshape(-1, weight.shape[-1])
    cell = place.reshape(-1, place.shape[-1]) + size * np.arange(len(rows))[:, None]
    summed = np.bincount(cell.ravel(), rows.ravel(), minlength=size * len(rows))
    return summed.reshape(*weight.shape[:-1], size)


def counted_at(
    place: NDArray[np.intp], shape: tuple[int, int], weight: Array | None, copies: bool
) -> tuple[Array, Array | None]:
    """Cases counted, or their weights added up, by place into a table; and the squares where weights are no copies."""

    def added(weights: Array | None) -> Array:
        return np.bincount(place, weights, minlength=shape[0] * shape[1]).reshape(shape)

    return added(weight), None if weight is None or copies else added(weight**2)


def quantile(values: Array, cells: Array, share: float) -> Array:
    """The value below which that share of the weight lies; in the middle of two where the share falls between them.

    `values` rise, and `cells` (…, m) are their weights.

    >>> float(quantile(np.array([1.0, 2.0, 3.0, 10.0]), np.ones(4), 0.5))
    2.5
    """
    below = np.cumsum(cells, axis=-1, dtype=np.float64)
    total = below[..., -1:]
    aim = share * total
    slack = 1e-12 * total  # 0.1 + 0.2 is not 0.3
    last = values.size - 1
    first = np.minimum((below < aim - slack).sum(axis=-1), last)
    second = np.minimum((below <= aim + slack).sum(axis=-1), last)
    return np.where(total[..., 0] > 0, (values[first] + values[second]) / 2, np.nan)


def median(values: Array, cells: Array) -> Array:
    """The value in the middle of the weight."""
    return quantile(values, cells, 0.5)


def midranks(values: Array, order: NDArray[np.intp], cells: Array) -> Array:
    """The weight below each case, and half of what is level with it (…, m); `order` sorts the values.

    >>> midranks(np.array([5.0, 1.0, 5.0]), np.array([1, 0, 2]), np.ones(3))
    array([2. , 0.5, 2. ])
    """
    ordered = values[order]
    starts = starts_of(ordered)
    level = np.add.reduceat(cells[..., order], starts, axis=-1, dtype=np.float64)
    middle = np.cumsum(level, axis=-1) - level / 2
    block = np.empty(order.size, dtype=np.intp)
    block[order] = np.repeat(np.arange(starts.size), np.diff(starts, append=order.size))
    return np.asarray(middle[..., block])


@dataclass(frozen=True)
class Concordance:
    """Weights of pairs of cases: in the right order, in the wrong one, and with different truths or predictions."""

    right: Array
    wrong: Array
    truth_apart: Array
    predicted_apart: Array


def concordance(truth: Array, predicted: Array, cells: Array) -> Concordance:
    """How pairs of cases are ordered, in n log² n: each half of the truths against the other, and so on within them.

    >>> found = concordance(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]), np.ones(3))
    >>> float(found.right), float(found.wrong)
    (2.0, 1.0)
    """
    rank = np.unique(truth, return_inverse=True)[1]
    place = np.unique(predicted, return_inverse=True)[1]
    weight = cells.astype(np.float64)
    right, level = np.zeros(weight.shape[:-1]), np.zeros(weight.shape[:-1])
    by_place = np.argsort(place, kind="stable")
    for bit in range(int(rank.max(initial=0)).bit_length()):
        # Pairs whose truths part at this bit: the higher truth has it, the lower one has not.
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
    truth_apart, predicted_apart = (_apart(codes, weight) for codes in (rank, place))
    return Concordance(right, truth_apart - right - level, truth_apart, predicted_apart)


def _apart(codes: NDArray[np.intp], weight: Array) -> Array:
    """The weight of pairs with different codes: ((Σw)² − Σ (weight of a code)²) / 2."""
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    alike = np.add.reduceat(weight[..., order], starts, axis=-1)
    return np.asarray((weight.sum(axis=-1) ** 2 - (alike**2).sum(axis=-1)) / 2)
