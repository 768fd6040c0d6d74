"""Sums of products without rounding, for moments of which nearly all digits cancel."""

from __future__ import annotations

import math
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_SPLIT: Final = 2.0**27 + 1  # halves the 53 digits of a double (Dekker 1971)


def _two_difference(a: Array, b: float) -> tuple[Array, Array]:
    """a − b as a rounded difference and its rounding error (Knuth)."""
    difference = a - b
    moved = a - difference
    return difference, (a - (difference + moved)) + (moved - b)


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """a · b as a rounded product and its rounding error (Dekker 1971)."""
    (high_a, low_a), (high_b, low_b) = _halves(a), _halves(b)
    rounded = a * b
    return rounded, ((high_a * high_b - rounded) + high_a * low_b + low_a * high_b) + low_a * low_b


def _halves(a: Array) -> tuple[Array, Array]:
    scaled = _SPLIT * a
    high = scaled - (scaled - a)
    return high, a - high


def _sum_of_products(*factors: tuple[Array, ...]) -> float:
    """Σ of the products of factors, each an unevaluated sum of arrays, rounded once."""
    terms = list(factors[0])
    for factor in factors[1:]:
        terms = [part for a, b in product(terms, factor) for part in _two_product(a, b)]
    return math.fsum(np.concatenate(terms).tolist())


def covariances(x: Array, y: Array, weight: Array | None) -> tuple[float, float, float]:
    """var(x), cov(x, y) and var(y) with divisor Σw, correct to the last digits however much of their sums cancels.

    >>> x = np.array([1e8, 1e8 + 1, 1e8 + 2])
    >>> covariances(x, x + 1, None)
    (0.66666667, 0.66666667, 0.66666667)
    """
    weights = () if weight is None else ((weight.astype(np.float64),),)
    total = float(x.size) if weight is None else _sum_of_products(*weights)
    parts = [_two_difference(values, float(np.mean(values))) for values in (x, y)]
    sums = [_sum_of_products(*weights, one) for one in parts]

    def moment(i: int, j: int) -> float:
        return (_sum_of_products(*weights, parts[i], parts[j]) - sums[i] * sums[j] / total) / total

    return moment(0, 0), moment(0, 1), moment(1, 1)
