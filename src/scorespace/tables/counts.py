"""The four outcomes of a two-class decision, as arrays that broadcast."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.errors import DataError
from scorespace.results import same
from scorespace.tables.table import Array, Table


def ratio(part: ArrayLike, whole: ArrayLike) -> Array:
    """Element by element division in which 0/0 is NaN (undefined) and x/0 is infinite, without warnings.

    >>> ratio([1, 0, 1], [2, 0, 0])
    array([0.5, nan, inf])
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.true_divide(part, whole)


def class_factors(pos: Array, neg: Array, share: float) -> tuple[Array, Array]:
    """What positives and negatives are multiplied by so that positives have that share of an unchanged total.

    A class without cases cannot have a share; then both stay as they are.

    >>> class_factors(np.array(20.0), np.array(80.0), 0.1)
    (array(0.5), array(1.125))
    """
    total, both = pos + neg, (pos > 0) & (neg > 0)
    return np.where(both, ratio(share * total, pos), 1.0), np.where(both, ratio((1 - share) * total, neg), 1.0)


def count_of(part: ArrayLike) -> Array:
    """Counts as float64; what users write as numbers and lists is looked at, arrays are what we computed ourselves."""
    if isinstance(part, np.ndarray) and part.dtype.kind in "iufb":
        return np.asarray(part, dtype=np.float64)
    try:
        found = np.asarray(part, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError("a count is no number.", seen=str(error), hint="numbers ≥ 0, or arrays of them") from None
    if isinstance(part, np.generic) or bool((np.isfinite(found) & (found >= 0)).all()):
        return found
    raise DataError("a count is negative or no finite number.", seen=f"{part!r:.60}", hint="numbers ≥ 0")


class Counts(Table):
    """True and false positives and negatives; any common shape, so one formula serves every axis.

    Kept as float64: whole numbers stay exact up to 2^53 and products of counts cannot overflow. `squares` holds
    the sums of squared weights, where cases have weights.

    >>> c = Counts(tp=[6, 8], fp=[1, 2], fn=[2, 0], tn=[3, 2])
    >>> c.pp
    array([ 7., 10.])
    """

    holds = "decisions"
    crisp = "a crisp decision has no threshold"
    counts_outcomes = four_outcomes = True
    squares: Counts | None

    def __init__(
        self, tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike, *, squares: Counts | None = None
    ) -> None:
        self.tp, self.fp, self.fn, self.tn = (count_of(part) for part in (tp, fp, fn, tn))
        self.squares = squares

    @classmethod
    def along(cls, tp: Array, fp: Array, p: Array, n: Array, squares: Counts | None = None) -> Self:
        """The outcomes along thresholds (last axis), where all share the same positives and negatives (…, 1).

        What a measure does not ask for is not computed.
        """
        found = cls.__new__(cls)
        found.tp, found.fp, found.squares = tp, fp, squares
        found.p, found.n = np.broadcast_to(p, tp.shape), np.broadcast_to(n, fp.shape)
        return found

    @cached_property
    def fn(self) -> Array:
        """Positives predicted negative."""
        return self.p - self.tp

    @cached_property
    def tn(self) -> Array:
        """Negatives predicted negative."""
        return self.n - self.fp

    @cached_property
    def p(self) -> Array:
        """Actual positives: TP + FN."""
        return self.tp + self.fn

    @cached_property
    def n(self) -> Array:
        """Actual negatives: FP + TN."""
        return self.fp + self.tn

    @property
    def pp(self) -> Array:
        """Predicted positives: TP + FP."""
        return self.tp + self.fp

    @property
    def union(self) -> Array:
        """What is positive, predicted so or both: TP + FP + FN."""
        return self.tp + self.fp + self.fn

    @property
    def pn(self) -> Array:
        """Predicted negatives: FN + TN."""
        return self.fn + self.tn

    @property
    def total(self) -> Array:
        """All cases."""
        return self.p + self.n

    def described(self) -> str:
        return "counts of outcomes"

    @property
    def cells(self) -> Array:
        """TP, FN, FP and TN along the last axis: each class keeps together."""
        return np.stack(np.broadcast_arrays(self.tp, self.fn, self.fp, self.tn), axis=-1)

    @property
    def strata(self) -> NDArray[np.intp]:
        return np.array([1, 1, 0, 0])

    def with_cells(self, cells: Array) -> Self:
        return type(self)(tp=cells[..., 0], fn=cells[..., 1], fp=cells[..., 2], tn=cells[..., 3])

    @property
    def cell_squares(self) -> Array | None:
        return None if self.squares is None else self.squares.cells

    def effective(self, trials: str) -> float:
        """How many equal cases are worth the weights of p, n, pp, pn or all of them: Kish's (Σw)² / Σw²."""
        weight = float(getattr(self, trials))
        return weight if self.squares is None else float(ratio(weight * weight, getattr(self.squares, trials)))

    @property
    def has_positive(self) -> bool:
        return True

    @property
    def both_classes(self) -> Array:
        return (self.p > 0) & (self.n > 0)

    def at_prevalence(self, share: float) -> Self:
        pos, neg = class_factors(self.p, self.n, share)
        return self.weighed(pos, neg, (self.squares or self).weighed(pos**2, neg**2))

    def weighed(self, pos: Array, neg: Array, squares: Counts | None = None) -> Self:
        """The outcomes of positives and those of negatives multiplied by a factor each."""
        return type(self)(self.tp * pos, self.fp * neg, self.fn * pos, self.tn * neg, squares=squares)

    def swapped(self) -> Self:
        """The same decisions with the other class as positive."""
        squares = None if self.squares is None else self.squares.swapped()
        return type(self)(tp=self.tn, fp=self.fn, fn=self.fp, tn=self.tp, squares=squares)

    def __add__(self, other: Self) -> Self:
        squares = None if self.squares is other.squares is None else (self.squares or self) + (other.squares or other)
        sums = (self.tp + other.tp, self.fp + other.fp, self.fn + other.fn, self.tn + other.tn)
        return type(self)(*sums, squares=squares)

    def __getitem__(self, index: Any) -> Self:
        squares = None if self.squares is None else self.squares[index]
        return type(self)(self.tp[index], self.fp[index], self.fn[index], self.tn[index], squares=squares)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return all(same(getattr(self, name), getattr(other, name)) for name in ("tp", "fp", "fn", "tn"))

    def __repr__(self) -> str:
        return "Counts(" + ", ".join(f"{name}={getattr(self, name)!r}" for name in ("tp", "fp", "fn", "tn")) + ")"
