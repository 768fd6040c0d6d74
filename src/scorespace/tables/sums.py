"""Sums of errors: what most measures of predicted numbers follow from, however many cases there are."""

from __future__ import annotations

import math
from dataclasses import field, replace
from typing import Any, Final, Self

import numpy as np

from scorespace.frozen import dataclass
from scorespace.results import grouped
from scorespace.tables.counts import ratio
from scorespace.tables.table import Array, NoTableError, Table

TERMS: Final = (
    *("weight", "absolute", "error", "error²", "truth", "truth²", "error·truth"),
    *("off", "off²", "relative", "symmetric"),
)
"""What is added up over the cases, each times its weight; error and truth are counted from an origin near their means.

`off` is how far the baseline is from the truth, `relative` is |e| / |y|, `symmetric` 2|e| / (|y| + |ŷ|).
"""
POWERS: Final = ("", "a", "e", "ee", "y", "yy", "ey", "o", "oo", "r", "s")
"""The same in letters, so that products of terms that are the same power have the same letters."""
_SMOOTH: Final = TERMS[2:7]
NEEDED: Final = frozenset(
    frozenset(pair)
    for pair in (
        *((one, "weight") for one in TERMS),
        *((one, other) for one in _SMOOTH for other in _SMOOTH),
        *(("absolute", one) for one in ("absolute", "error", "off", "truth")),
        *(("off", "off"), ("off", "truth"), ("off²", "off²"), ("off²", "error²"), ("off²", "error")),
        *(("relative", "relative"), ("symmetric", "symmetric")),
    )
)
"""The products of two terms from which the errors of all measures follow; a scan of 100 million rows adds up these."""


def term_values(truth: Any, predicted: Any, base: Any, origin: tuple[float, float], size: Any = np.abs) -> list[Any]:
    """The terms of each case but its weight, in the order of TERMS; of arrays, or of the expressions of an engine."""
    error = predicted - truth
    from_truth, from_error = truth - origin[0], error - origin[1]
    missed, off, own = size(error), size(truth - base), size(truth)
    both = own + size(predicted)
    powers = [from_error, from_error * from_error, from_truth, from_truth * from_truth, from_error * from_truth]
    return [missed, *powers, off, off * off, missed / own, 2 * missed / both]


@dataclass(frozen=True, eq=False)
class ErrorSums(Table):
    """Sums of the errors (…, 11) in the order of TERMS, from which most measures of predicted numbers follow.

    `origin` is what truth and error are counted from, so that no digits are lost. `products` holds, where cases are
    no longer known one by one, the sums of w² times two terms, from which standard errors follow. `base` is the
    baseline where it is one number; `tilt` is how the mean distance to it changes with it, if it is the mean.
    """

    holds = "predicted numbers"
    summed = True
    sums: Array
    origin: tuple[float, float] = (0.0, 0.0)
    base: float | None = None
    tilt: float | None = None
    products: Array | None = field(default=None, repr=False)

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
        """The weighted mean of a term."""
        found = self.sums[..., TERMS.index(term)]
        merged = term.startswith("off") and not math.isnan(self.tilt or 0.0)  # from two baselines: no number
        if self.products is not None and np.isnan(found).all() and not merged:
            raise NoTableError(
                f"the sums of this measure ({term}) were not added up.",
                seen="those of the measures that were named when the rows were read",
                hint="name it there, too: further=…",
            )
        return ratio(found, self.sums[..., 0])

    @property
    def error(self) -> Array:
        """The mean error, predicted less true."""
        return self.mean("error") + self.origin[1]

    @property
    def error_spread(self) -> Array:
        """The variance of the errors, with divisor n."""
        return _spread(self.mean("error²"), self.mean("error"))

    @property
    def squared(self) -> Array:
        """The mean squared error."""
        # Counted from 0, the squares are those of the errors, and nothing else need be known.
        return self.error_spread + self.error**2 if self.origin[1] else self.mean("error²")

    @property
    def truth_spread(self) -> Array:
        """The variance of the truths, with divisor n."""
        return _spread(self.mean("truth²"), self.mean("truth"))

    @property
    def together(self) -> Array:
        """The covariance of truth and error."""
        return self.mean("error·truth") - self.mean("error") * self.mean("truth")

    @property
    def over(self) -> Array:
        """The mean over-prediction."""
        return (self.mean("absolute") + self.error) / 2

    @property
    def under(self) -> Array:
        """The mean under-prediction, not negative."""
        return (self.mean("absolute") - self.error) / 2

    @property
    def off(self) -> Array:
        """The mean distance of the truth from the baseline; the mean of drawn truths is followed along."""
        if self.tilt is None or self.base is None:
            return self.mean("off")
        return self.mean("off") + self.tilt * (self.mean("truth") + self.origin[0] - self.base)

    @property
    def off_squared(self) -> Array:
        """The mean squared distance of the truth from the baseline."""
        return self.mean("off²") if self.tilt is None else self.truth_spread

    def moved(self, origin: tuple[float, float]) -> Self:
        """The same sums counted from another origin."""
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
        """Both samples together; the distance to two different baselines is no number any more."""
        there = other.moved(self.origin)
        sums = self.sums + there.sums
        alike = self.base == other.base and self.tilt == other.tilt
        if not alike:
            sums[..., 7:9] = np.nan
        products = None if self.products is None or there.products is None else self.products + there.products
        return replace(self, sums=sums, products=products)

    def __repr__(self) -> str:
        return f"ErrorSums: {grouped(float(self.sums[..., 0].max(initial=0)))} cases"


def _spread(squared: Array, mean: Array) -> Array:
    """A variance; what is left of equal numbers is rounding, and none."""
    found = squared - mean**2
    return np.where(found <= 1e-14 * squared, 0.0, found)
