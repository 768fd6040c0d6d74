"""The four outcomes of a two-class decision, as arrays that broadcast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.results import ByValue

Array = NDArray[Any]


def ratio(part: ArrayLike, whole: ArrayLike) -> Array:
    """Element by element division in which 0/0 is NaN (undefined) and x/0 is infinite, without warnings.

    >>> ratio([1, 0, 1], [2, 0, 0])
    array([0.5, nan, inf])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.true_divide(part, whole)


@dataclass(frozen=True, eq=False)
class Counts(ByValue):
    """True and false positives and negatives; any common shape, so one formula serves every axis.

    Kept as float64: whole numbers stay exact up to 2^53 and products of counts cannot overflow.

    >>> c = Counts(tp=[6, 8], fp=[1, 2], fn=[2, 0], tn=[3, 2])
    >>> c.pp
    array([ 7., 10.])
    """

    tp: Array
    fp: Array
    fn: Array
    tn: Array

    def __post_init__(self) -> None:
        for name in ("tp", "fp", "fn", "tn"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))

    @property
    def p(self) -> Array:
        """Actual positives: TP + FN."""
        return self.tp + self.fn

    @property
    def n(self) -> Array:
        """Actual negatives: FP + TN."""
        return self.fp + self.tn

    @property
    def pp(self) -> Array:
        """Predicted positives: TP + FP."""
        return self.tp + self.fp

    @property
    def pn(self) -> Array:
        """Predicted negatives: FN + TN."""
        return self.fn + self.tn

    @property
    def total(self) -> Array:
        """All cases."""
        return self.p + self.n

    def swapped(self) -> Counts:
        """The same decisions with the other class as positive."""
        return Counts(tp=self.tn, fp=self.fn, fn=self.fp, tn=self.tp)

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn, self.tn + other.tn)

    def __getitem__(self, index: Any) -> Counts:
        return Counts(self.tp[index], self.fp[index], self.fn[index], self.tn[index])
