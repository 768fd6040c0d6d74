"""Counts of the four outcomes (TP, FP, FN, TN) of a binary decision, as arrays that broadcast."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.errors import DataError
from scorespace.results import equal_values
from scorespace.tables.table import Array, Table


def ratio(part: ArrayLike, whole: ArrayLike) -> Array:
    """Divide elementwise without warnings: 0/0 is NaN (undefined), x/0 is infinite.

    >>> ratio([1, 0, 1], [2, 0, 0])
    array([0.5, nan, inf])
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.true_divide(part, whole)


def class_factors(pos: Array, neg: Array, share: float) -> tuple[Array, Array]:
    """Factors of positives and negatives that give positives the required share of an unchanged total.

    If a class has no cases, both factors are 1.

    >>> class_factors(np.array(20.0), np.array(80.0), 0.1)
    (array(0.5), array(1.125))
    """
    total, both = pos + neg, (pos > 0) & (neg > 0)
    return np.where(both, ratio(share * total, pos), 1.0), np.where(both, ratio((1 - share) * total, neg), 1.0)


def to_counts(part: ArrayLike) -> Array:
    """Convert counts to float64; numbers and lists from users are validated, computed arrays are not."""
    if isinstance(part, np.ndarray) and part.dtype.kind in "iufb":
        return np.asarray(part, dtype=np.float64)
    try:
        values = np.asarray(part, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError("a count must be a number.", seen=str(error), hint="numbers ≥ 0, or arrays of them") from None
    if isinstance(part, np.generic) or bool((np.isfinite(values) & (values >= 0)).all()):
        return values
    raise DataError("a count must be a finite number ≥ 0.", seen=f"{part!r:.60}", hint="numbers ≥ 0")


class Counts(Table):
    """True and false positives and negatives, of any common shape, so that one formula serves every axis.

    Stored as float64: integers are exact up to 2^53 and products of counts cannot overflow.

    Parameters
    ----------
    tp, fp, fn, tn : array_like
        Numbers of true positives, false positives, false negatives and true negatives.
    squares : Counts, optional
        Sums of squared weights, if cases are weighted.

    Examples
    --------
    >>> c = Counts(tp=[6, 8], fp=[1, 2], fn=[2, 0], tn=[3, 2])
    >>> c.pp
    array([ 7., 10.])
    """

    holds = "decisions"
    crisp = "a decision has no threshold"
    counts_outcomes = four_outcomes = True
    squares: Counts | None

    def __init__(
        self, tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike, *, squares: Counts | None = None
    ) -> None:
        self.tp, self.fp, self.fn, self.tn = (to_counts(part) for part in (tp, fp, fn, tn))
        self.squares = squares

    @classmethod
    def along(cls, tp: Array, fp: Array, p: Array, n: Array, squares: Counts | None = None) -> Self:
        """Outcomes along thresholds (last axis) with common numbers of positives and negatives (…, 1).

        FN and TN are computed only when a measure uses them.

        Parameters
        ----------
        tp, fp : ndarray of shape (…, n_thresholds)
            True and false positives at each threshold.
        p, n : ndarray of shape (…, 1)
            Numbers of positives and of negatives.
        squares : Counts, optional
            Sums of squared weights, if cases are weighted.

        Returns
        -------
        Counts
            The outcomes.
        """
        counts = cls.__new__(cls)
        counts.tp, counts.fp, counts.squares = tp, fp, squares
        counts.p, counts.n = np.broadcast_to(p, tp.shape), np.broadcast_to(n, fp.shape)
        return counts

    @cached_property
    def fn(self) -> Array:
        """False negatives: P − TP."""
        return self.p - self.tp

    @cached_property
    def tn(self) -> Array:
        """True negatives: N − FP."""
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
        """Cases that are positive, predicted positive, or both: TP + FP + FN."""
        return self.tp + self.fp + self.fn

    @property
    def pn(self) -> Array:
        """Predicted negatives: FN + TN."""
        return self.fn + self.tn

    @property
    def total(self) -> Array:
        """Number of cases."""
        return self.p + self.n

    def described(self) -> str:
        """Description for messages: "counts of outcomes"."""
        return "counts of outcomes"

    @property
    def cells(self) -> Array:
        """TP, FN, FP and TN along the last axis, in which each class is contiguous."""
        return np.stack(np.broadcast_arrays(self.tp, self.fn, self.fp, self.tn), axis=-1)

    @property
    def strata(self) -> NDArray[np.intp]:
        """Class of the four cells TP, FN, FP and TN: 1 for positives, 0 for negatives."""
        return np.array([1, 1, 0, 0])

    def with_cells(self, cells: Array) -> Self:
        """Return other outcomes of the same kind.

        Parameters
        ----------
        cells : ndarray of shape (…, 4)
            TP, FN, FP and TN.

        Returns
        -------
        Counts
            The outcomes.
        """
        return type(self)(tp=cells[..., 0], fn=cells[..., 1], fp=cells[..., 2], tn=cells[..., 3])

    @property
    def cell_squares(self) -> Array | None:
        """Sums of squared weights of TP, FN, FP and TN, if cases are weighted."""
        return None if self.squares is None else self.squares.cells

    def effective(self, trials: str) -> float:
        """Effective sample size (Σw)² / Σw² of one of the counts.

        Parameters
        ----------
        trials : {"p", "n", "pp", "pn", "total"}
            Name of the count.

        Returns
        -------
        float
            The count itself if cases are not weighted.

        References
        ----------
        Kish, L. (1965). Survey Sampling. Wiley.
        """
        weight = float(getattr(self, trials))
        return weight if self.squares is None else float(ratio(weight * weight, getattr(self.squares, trials)))

    @property
    def has_positive(self) -> bool:
        """Whether there is a positive class: always."""
        return True

    @property
    def both_classes(self) -> Array:
        """Whether there are both positive and negative cases."""
        return (self.p > 0) & (self.n > 0)

    def at_prevalence(self, share: float) -> Self:
        """Reweight the cases to a given prevalence.

        Parameters
        ----------
        share : float
            The prevalence, between 0 and 1.

        Returns
        -------
        Counts
            The reweighted outcomes.
        """
        pos, neg = class_factors(self.p, self.n, share)
        return self.with_class_factors(pos, neg, (self.squares or self).with_class_factors(pos**2, neg**2))

    def with_class_factors(self, pos: Array, neg: Array, squares: Counts | None = None) -> Self:
        """Multiply the outcomes of positives and those of negatives by a factor each.

        Parameters
        ----------
        pos, neg : ndarray
            Factor of the positives, and of the negatives.
        squares : Counts, optional
            Sums of squared weights of the result.

        Returns
        -------
        Counts
            The multiplied outcomes.
        """
        return type(self)(self.tp * pos, self.fp * neg, self.fn * pos, self.tn * neg, squares=squares)

    def swapped(self) -> Self:
        """The counts with the other class as positive."""
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
        return all(equal_values(getattr(self, name), getattr(other, name)) for name in ("tp", "fp", "fn", "tn"))

    def __repr__(self) -> str:
        return "Counts(" + ", ".join(f"{name}={getattr(self, name)!r}" for name in ("tp", "fp", "fn", "tn")) + ")"
