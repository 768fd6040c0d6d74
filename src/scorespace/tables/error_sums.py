"""Sums of errors: the sufficient statistic of most regression measures, for data of any size."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

import numpy as np

from scorespace.results import grouped
from scorespace.tables.counts import ratio
from scorespace.tables.table import Array, NoTableError, Table

TERMS: Final = (
    *("weight", "absolute", "error", "error²", "truth", "truth²", "error·truth"),
    *("off", "off²", "relative", "symmetric"),
)
"""Terms that are summed over cases, times their weight; error and truth are relative to an origin near their means.

`off` is |truth − baseline|, `relative` is |e| / |y|, `symmetric` is 2|e| / (|y| + |ŷ|).
"""
POWERS: Final = ("", "a", "e", "ee", "y", "yy", "ey", "o", "oo", "r", "s")
"""Letters of each term, so that products of terms that are the same monomial have the same letters."""
_MOMENTS: Final = TERMS[2:7]
_CANCELLED: Final = 1e-3  # share of its terms below which a sum has lost digits
NEEDED_PRODUCTS: Final = frozenset(
    frozenset(pair)
    for pair in (
        *((one, "weight") for one in TERMS),
        *((one, other) for one in _MOMENTS for other in _MOMENTS),
        *(("absolute", one) for one in ("absolute", "error", "off", "truth")),
        *(("off", "off"), ("off", "truth"), ("off²", "off²"), ("off²", "error²"), ("off²", "error")),
        *(("relative", "relative"), ("symmetric", "symmetric")),
    )
)
"""Pairs of terms whose products give the standard errors of all measures; only these are summed out of core."""


def term_values(truth: Any, predicted: Any, base: Any, origin: tuple[float, float], size: Any = np.abs) -> list[Any]:
    """Terms of each case except its weight, in the order of TERMS; for arrays or expressions of an engine."""
    error = predicted - truth
    from_truth, from_error = truth - origin[0], error - origin[1]
    absolute, off, magnitude = size(error), size(truth - base), size(truth)
    both = magnitude + size(predicted)
    powers = [from_error, from_error * from_error, from_truth, from_truth * from_truth, from_error * from_truth]
    return [absolute, *powers, off, off * off, absolute / magnitude, 2 * absolute / both]


@dataclass(frozen=True, eq=False)
class ErrorSums(Table):
    """Sums of error terms (…, 11) in the order of TERMS, from which most regression measures follow.

    Truth and error are relative to `origin`, to keep digits. `products`, if individual cases are not available, holds
    the sums of w² times two terms, which give standard errors. `base` is the baseline prediction if it is constant;
    `tilt` is the derivative of the mean distance to the baseline if that is the mean of the truth. `exact`
    computes var(ŷ), cov(ŷ, y) and var(y) from the cases; it belongs to the sums beside it only.
    """

    holds = "predicted numbers"
    summed = True
    sums: Array
    origin: tuple[float, float] = (0.0, 0.0)
    base: float | None = None
    tilt: float | None = None
    products: Array | None = field(default=None, repr=False)
    exact: tuple[Array, Callable[[], tuple[float, float, float]]] | None = field(default=None, repr=False)

    def described(self) -> str:
        return "sums of errors"

    @property
    def cells(self) -> Array:
        return self.sums[..., :1]

    def with_cells(self, cells: Array) -> Self:
        return replace(self, sums=self.sums * ratio(cells, self.cells))

    @property
    def counted(self) -> bool:
        return True

    @property
    def cell_squares(self) -> Array | None:
        squares = None if self.products is None else self.products[:1, 0]
        return None if squares is None or squares[0] == self.sums[0] else squares

    def mean(self, term: str) -> Array:
        """Weighted mean of a term."""
        total = self.sums[..., TERMS.index(term)]
        is_merged = term.startswith("off") and not math.isnan(self.tilt or 0.0)  # tables of two baselines: undefined
        if self.products is not None and np.isnan(total).all() and not is_merged:
            raise NoTableError(
                f"the sums of this measure ({term}) were not computed.",
                seen="sums for the measures that were requested when the rows were read",
                hint="request it there, too: further=…",
            )
        return ratio(total, self.sums[..., 0])

    @property
    def error(self) -> Array:
        """Mean error: predicted minus true."""
        return self.mean("error") + self.origin[1]

    @property
    def error_spread(self) -> Array:
        """Variance of the errors, with divisor n."""
        return _variance(self.mean("error²"), self.mean("error"))

    @property
    def squared(self) -> Array:
        """Mean squared error."""
        # With origin 0 the summed squares are those of the errors themselves.
        return self.error_spread + self.error**2 if self.origin[1] else self.mean("error²")

    @property
    def truth_spread(self) -> Array:
        """Variance of the truth, with divisor n."""
        return _variance(self.mean("truth²"), self.mean("truth"))

    @property
    def together(self) -> Array:
        """Covariance of truth and error."""
        return self.mean("error·truth") - self.mean("error") * self.mean("truth")

    @property
    def covariances(self) -> tuple[Array, Array, Array]:
        """var(ŷ), cov(ŷ, y) and var(y); computed from the cases if the sums would lose more than three digits."""
        truth, both = self.truth_spread, self.truth_spread + self.together
        predicted = self.error_spread + truth + 2 * self.together
        size = self.error_spread + truth
        if self.exact and self.exact[0] is self.sums and min(predicted, abs(both)) < _CANCELLED * size:
            predicted, both, truth = map(np.asarray, self.exact[1]())
        # A constant may have a tiny variance of either sign because of rounding.
        return np.where(predicted <= 1e-12 * size, 0.0, predicted), both, truth

    @property
    def over(self) -> Array:
        """Mean over-prediction."""
        return (self.mean("absolute") + self.error) / 2

    @property
    def under(self) -> Array:
        """Mean under-prediction, not negative."""
        return (self.mean("absolute") - self.error) / 2

    @property
    def off(self) -> Array:
        """Mean distance of the truth from the baseline; if the baseline is the mean, it follows that of replicates."""
        if self.tilt is None or self.base is None:
            return self.mean("off")
        # Baseline and origin are rounded, but their difference is exact: added first, it keeps the digits of the mean.
        return self.mean("off") + self.tilt * (self.origin[0] - self.base + self.mean("truth"))

    @property
    def off_squared(self) -> Array:
        """Mean squared distance of the truth from the baseline."""
        return self.mean("off²") if self.tilt is None else self.truth_spread

    def moved(self, origin: tuple[float, float]) -> Self:
        """The sums relative to another origin."""
        y, e = (old - new for old, new in zip(self.origin, origin, strict=True))
        step = np.eye(len(TERMS))
        step[2, 0], step[4, 0] = e, y
        step[3, [0, 2]], step[5, [0, 4]], step[6, [0, 2, 4]] = (e * e, 2 * e), (y * y, 2 * y), (e * y, y, e)
        products = self.products
        if products is not None:
            unknown = np.abs(step) @ np.isnan(products) @ np.abs(step).T > 0
            products = np.where(unknown, np.nan, step @ np.nan_to_num(products) @ step.T)
        return replace(self, sums=self.sums @ step.T, origin=origin, products=products)

    def __add__(self, other: Self) -> Self:
        """Merge the sums of two samples; distances to two different baselines become undefined."""
        shifted = other.moved(self.origin)
        sums = self.sums + shifted.sums
        same_baseline = self.base == other.base and self.tilt == other.tilt
        if not same_baseline:
            sums[..., 7:9] = np.nan
        products = None if self.products is None or shifted.products is None else self.products + shifted.products
        return replace(self, sums=sums, products=products)

    def __repr__(self) -> str:
        return f"ErrorSums: {grouped(float(self.sums[..., 0].max(initial=0)))} cases"


def _variance(mean_square: Array, mean: Array) -> Array:
    """Variance from moments; a remainder of rounding size is 0."""
    variance = mean_square - mean**2
    return np.where(variance <= 1e-14 * mean_square, 0.0, variance)
