"""Pooling of adjacent violators: the falling regression behind hulls and calibration."""

from __future__ import annotations

from typing import Final

import numpy as np

from scorespace.tables import Array

SHORT: Final = 300_000
"""Steps that are pooled here; longer input is worth the time that SciPy's optimisers take to load."""
EFFORT: Final = 4_000_000
"""Steps that are looked at in all passes together before SciPy takes over."""


def pools(value: Array, weight: Array) -> Array:
    """Where the pools of the falling regression begin, and at last the end: neighbours that do not fall are one pool.

    Neighbours that rise belong to one pool whatever comes later, so each pass joins all of them at once; scores
    take some ten passes. What would take too many more goes on to SciPy.

    >>> pools(np.array([0.9, 0.2, 0.6, 0.1]), np.ones(4))
    array([0, 1, 3, 4])
    """
    size = value.size
    starts = np.arange(size)
    total, left = value * weight, EFFORT if size <= SHORT else 0
    while left > 0:
        left -= value.size
        falls = np.ones(value.size, dtype=bool)
        np.greater(value[:-1], value[1:], out=falls[1:])
        first = falls.nonzero()[0]
        if first.size == value.size:
            return np.append(starts, size)
        starts = starts[first]
        total, weight = np.add.reduceat(total, first), np.add.reduceat(weight, first)
        value = total / weight
    from scipy.optimize import isotonic_regression

    return np.append(starts, size)[isotonic_regression(value, weights=weight, increasing=False).blocks]
