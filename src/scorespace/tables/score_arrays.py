"""Array operations of score tables: sort by score, merge equal scores, cumulate, and align classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorespace.tables.counts import class_factors
from scorespace.tables.table import Array
from scorespace.tables.weighted_quantiles import run_starts

# Bits of +inf: subtracting the bits of a score ≥ 0 from it turns ascending into descending order.
_INFINITY_BITS = np.uint64(0x7FF0_0000_0000_0000)


def prevalence_factors(strata: Array, cells: Array, positive: int, share: float) -> Array:
    """Factor of each cell (…, m) that gives positives the required share of an unchanged total."""
    own = strata == positive
    pos, neg = (cells[..., side].sum(axis=-1, dtype=np.float64, keepdims=True) for side in (own, ~own))
    return np.where(own, *class_factors(pos, neg, share))


def count_two_classes(score: NDArray[np.float64], label: NDArray[Any]) -> tuple[NDArray[np.float64], Array]:
    """Distinct scores and class counts, by sorting values instead of indices.

    The bits of floats ≥ 0 sort like the floats and leave the sign bit free, so `bits << 1 | label` carries the label
    through one unsigned sort. Negative scores are sorted separately, by magnitude.
    """
    bits = (score + 0.0).view(np.uint64)  # a copy, in which -0.0 has become 0.0
    if bits.size and bits.view(np.int64).min() < 0:
        below = score < 0
        high = count_two_classes(score[~below], label[~below])
        low = count_two_classes(-score[below], label[below])
        return np.concatenate([high[0], -low[0][::-1]]), np.concatenate([high[1], low[1][:, ::-1]], axis=1)
    np.subtract(_INFINITY_BITS, bits, out=bits)
    bits <<= np.uint64(1)
    bits |= label.astype(np.uint8, copy=False)
    bits.sort()
    ones = bits.astype(np.uint8)
    ones &= 1
    bits >>= np.uint64(1)
    np.subtract(_INFINITY_BITS, bits, out=bits)
    values = bits.view(np.float64)
    last = np.append(values[1:] != values[:-1], True) if values.size else np.empty(0, dtype=bool)
    if last.all():
        counts = np.empty((2, ones.size), dtype=np.uint8)
        counts[1] = ones
        np.subtract(1, ones, out=counts[0])
        return values, counts
    ends = np.flatnonzero(last)
    with_ones = np.diff(np.cumsum(ones, dtype=np.int64)[ends], prepend=0)
    return values[ends], np.stack([np.diff(ends, prepend=-1) - with_ones, with_ones])


def merge_equal_scores(score: NDArray[np.float64], counts: Array) -> tuple[NDArray[np.float64], Array]:
    """Sort the columns of counts by descending score and add up those with equal scores."""
    order = np.argsort(-score, kind="stable")
    values = score[order] + 0.0
    starts = run_starts(values)
    return values[starts], add_runs(counts[..., order], starts)


def add_runs(columns: Array, starts: NDArray[np.intp]) -> Array:
    """Add up runs of columns (…, m) that start at these indices, in a type wide enough for the sums."""
    wide = np.float64 if columns.dtype.kind == "f" else np.int64
    return np.add.reduceat(columns, starts, axis=-1, dtype=wide) if starts.size else columns.astype(wide)


def cumulate(column: Array) -> Array:
    """Cumulative sums along the scores, starting with 0 for the threshold +inf.

    >>> cumulate(np.array([1, 0, 2]))
    array([0., 1., 1., 3.])
    """
    out = np.zeros((*column.shape[:-1], column.shape[-1] + 1))
    # Cumulating integers is several times as fast as cumulating floats.
    out[..., 1:] = np.cumsum(column, axis=-1, dtype=np.int64 if column.dtype.kind in "iu" else np.float64)
    return out


def align_classes(counts: Array, classes: tuple[str, ...], wanted: tuple[str, ...]) -> Array:
    """Rows of counts in the order of the wanted classes, with zeros for absent ones."""
    out = np.zeros((*counts.shape[:-2], len(wanted), counts.shape[-1]), dtype=np.result_type(counts, np.int64))
    present = [k for k, name in enumerate(classes) if name in wanted]
    out[..., [wanted.index(classes[k]) for k in present], :] = counts[..., present, :]
    return out
