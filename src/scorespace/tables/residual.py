"""The residual table: predicted numbers beside true ones; and the sums of their errors, which are enough for most."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.errors import DataError
from scorespace.results import ByValue, grouped
from scorespace.tables.counts import ratio
from scorespace.tables.kind import table_kind
from scorespace.tables.pieces import over_pieces
from scorespace.tables.score import LEAST_SIZE, MOST_SIZE, refuse_sizes, weights_of
from scorespace.tables.table import Array, At, NoTableError, Table, Wanted

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

MEAN: Final = "the mean of these truths"
_FEW: Final = 2**14  # cases whose terms stay in the cache, and in memory that is not given back each time
_AT_ONCE: Final = 1_000_000  # cases whose terms are kept; those of more are made again when they are added up


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

    @property
    def strata(self) -> NDArray[np.intp]:
        return np.zeros(1, dtype=np.intp)

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


@dataclass(frozen=True, eq=False)
class Numbers(ByValue):
    """What is the same in all replicates of a residual table: truths, predictions, and the orders they stand in.

    `reference` is the baseline's prediction, one number or one for each case; None is the mean of the truths.
    `low` and `high` are the ends of prediction intervals, where there are such.
    """

    truth: NDArray[np.float64]
    predicted: NDArray[np.float64]
    mean: float
    tilt: float
    reference: float | NDArray[np.float64] | None = None
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None

    @cached_property
    def error(self) -> NDArray[np.float64]:
        """Predicted less true."""
        return self.predicted - self.truth

    @cached_property
    def origin(self) -> tuple[float, float]:
        """The mean truth, and about the mean error: any place near it will do."""
        return self.mean, _mean(self.predicted) - _mean(self.truth)

    @cached_property
    def by_error(self) -> NDArray[np.intp]:
        """The order of the cases by their errors, rising."""
        return np.argsort(self.error, kind="stable")

    @cached_property
    def by_size(self) -> NDArray[np.intp]:
        """The order of the cases by the size of their errors, rising."""
        return np.argsort(np.abs(self.error), kind="stable")

    @cached_property
    def by_truth(self) -> NDArray[np.intp]:
        return np.argsort(self.truth, kind="stable")

    @cached_property
    def by_prediction(self) -> NDArray[np.intp]:
        return np.argsort(self.predicted, kind="stable")

    @cached_property
    def kept_terms(self) -> NDArray[np.float64]:
        return self._terms(slice(None))

    def terms(self, rows: slice) -> NDArray[np.float64]:
        """The terms (cases, 11) of some of the cases, the first of them 1."""
        return self.kept_terms[rows] if self.truth.size <= _AT_ONCE else self._terms(rows)

    def _terms(self, rows: slice) -> NDArray[np.float64]:
        found = self._each(rows)
        return np.stack([np.ones_like(found[0]), *found]).T  # each term in one stretch of memory

    def _each(self, rows: slice) -> list[NDArray[np.float64]]:
        """The terms of some of the cases but their weight, one array each."""
        base = self.mean if self.reference is None else self.reference
        base = base[rows] if isinstance(base, np.ndarray) else base
        with np.errstate(divide="ignore", invalid="ignore"):
            found: list[NDArray[np.float64]] = term_values(self.truth[rows], self.predicted[rows], base, self.origin)
        for share in found[-2:]:
            if share.size and np.isnan(share.min()):  # 0 / 0: no error is none, also of a truth of zero
                share[found[0] == 0] = 0.0
        return found

    def added(self) -> NDArray[np.float64]:
        """The sums of the terms of all cases, each weighing 1; no term of millions of cases is kept."""

        def of_piece(rows: slice) -> Any:
            stop = min(rows.stop, self.truth.size)
            parts = (self._each(slice(k, min(k + _FEW, stop))) for k in range(rows.start, stop, _FEW))
            return np.sum([[one.sum() for one in part] for part in parts], axis=0)

        return np.append(self.truth.size, np.sum(over_pieces(of_piece, self.truth.size), axis=0))

    def taken(self, cases: NDArray[Any], weight: Array | None) -> Numbers:
        """Those of some of the cases, with a mean of their own."""

        def some(column: Any) -> Any:
            return column[cases] if isinstance(column, np.ndarray) else column

        beside = (some(one) for one in (self.reference, self.low, self.high))
        return _numbers(self.truth[cases], self.predicted[cases], weight, *beside)


def _numbers(
    truth: NDArray[np.float64],
    predicted: NDArray[np.float64],
    weight: Array | None,
    reference: Any = None,
    low: Any = None,
    high: Any = None,
) -> Numbers:
    mean = tilt = 0.0
    if truth.size and (weight is None or weight.any()):
        mean = _mean(truth, weight)

        def below_less_above(rows: slice) -> Any:
            part = truth[rows]
            if weight is None:
                return np.count_nonzero(part < mean) - np.count_nonzero(part > mean)
            return weight[rows] @ np.sign(mean - part)

        total = truth.size if weight is None else weight.sum()
        tilt = float(sum(over_pieces(below_less_above, truth.size)) / total)
    return Numbers(truth, predicted, mean, tilt, reference, low, high)


def _mean(values: NDArray[np.float64], weight: Array | None = None) -> float:
    """The weighted mean; that of equal numbers is that number, and not its neighbour."""

    def added(rows: slice) -> tuple[Any, Any, Any]:
        part = values[rows]
        return part.sum() if weight is None else weight[rows] @ part, part.min(), part.max()

    if not values.size:
        return 0.0
    sums, low, high = zip(*over_pieces(added, values.size), strict=True)
    if min(low) == max(high):
        return float(values[0])
    return float(sum(sums) / (values.size if weight is None else weight.sum()))


@dataclass(frozen=True, eq=False)
class ResidualTable(Table):
    """Predicted numbers beside true ones, case by case; `weight` (…, cases) may have axes of replicates before.

    The errors stand in the order of their sizes for one measure and in that of the predictions for another, so the
    cases are kept; what follows from sums alone follows from the `ErrorSums` inside. Weights are `copies` of a case,
    or a case weighs more or less than one.

    >>> t = residual_table([102, 110, 95], [100, 102, 105])
    >>> t
    ResidualTable: 3 cases, errors from −8 to 10
    """

    numbers: Numbers
    weight: Array | None = None
    copies: bool = field(default=False, compare=False, repr=False)

    def described(self) -> str:
        return "predicted numbers"

    @property
    def cells(self) -> Array:
        return np.ones(self.numbers.truth.size) if self.weight is None else self.weight

    @property
    def strata(self) -> NDArray[np.intp]:
        return np.zeros(self.numbers.truth.size, dtype=np.intp)

    @property
    def cell_squares(self) -> Array | None:
        return None if self.weight is None or self.copies else np.square(self.weight)

    @property
    def by_case(self) -> bool:
        return True

    def with_cells(self, cells: Array) -> Self:
        return replace(self, weight=cells, copies=True)

    def inside(
        self, wanted: type[Wanted], of: str | None = None, at: At | None = None, *, sized: bool = False
    ) -> Wanted:
        if of is None and at is None and wanted is ErrorSums:
            return cast(Wanted, self.sums)
        if of is None and at is None and wanted is IntervalTable:
            return cast(Wanted, self.intervals)
        return super().inside(wanted, of, at, sized=sized)

    @cached_property
    def sums(self) -> ErrorSums:
        """The sums of the errors."""
        numbers, size = self.numbers, self.numbers.truth.size

        def added(rows: slice) -> Array:
            return _summed(numbers.terms(rows), None if self.weight is None else self.weight[..., rows])

        if size <= _AT_ONCE:
            sums = added(slice(None))
        else:
            sums = numbers.added() if self.weight is None else np.sum(over_pieces(added, size), axis=0)
        base = numbers.mean if numbers.reference is None else numbers.reference
        tilt = numbers.tilt if numbers.reference is None else None
        return ErrorSums(sums, numbers.origin, base if isinstance(base, float) else None, tilt)

    @property
    def intervals(self) -> IntervalTable:
        """The prediction intervals beside the truth."""
        numbers = self.numbers
        if numbers.low is None or numbers.high is None:
            raise NoTableError(
                "needs prediction intervals", seen="predictions alone", hint='intervals={"model": ("low", "high")}'
            )
        return IntervalTable(numbers.truth, numbers.low, numbers.high, self.cells, self.cell_squares)

    def without_each(self, rows: slice) -> ErrorSums:
        """The sums without each of these cases in turn, or without one of its copies."""
        weight = self.cells[rows]
        gone = np.minimum(1.0, weight) if self.copies else weight
        return replace(self.sums, sums=self.sums.sums - gone[:, None] * self.numbers.terms(rows))

    def part(self, cell: NDArray[np.int32]) -> tuple[Self, NDArray[np.int32]]:
        weight = None if self.weight is None else self.weight[..., cell]
        found = replace(self, numbers=self.numbers.taken(cell, weight), weight=weight)
        return found, np.arange(cell.size, dtype=np.int32)

    def shared_with(self, other: Table, *, sized: bool) -> tuple[Table, Array, Array]:
        """The cases of both models below each other, as each has its own predictions."""
        if not isinstance(other, ResidualTable) or self.numbers.truth.size != other.numbers.truth.size:
            return super().shared_with(other, sized=sized)
        places = np.arange(self.numbers.truth.size)
        return self + other, places, places + places.size

    def __add__(self, other: Self) -> Self:
        """The table of the cases of both."""
        a, b = self.numbers, other.numbers
        weight = None
        if self.weight is not None or other.weight is not None:
            weight = np.concatenate([self.cells, other.cells], axis=-1)

        def both(first: Any, second: Any) -> Any:
            if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
                return np.concatenate([first, second])
            one_alone = isinstance(first, np.ndarray) or isinstance(second, np.ndarray)
            return None if one_alone or first != second else first

        columns = (both(getattr(a, name), getattr(b, name)) for name in ("reference", "low", "high"))
        truth, predicted = both(a.truth, b.truth), both(a.predicted, b.predicted)
        return replace(self, numbers=_numbers(truth, predicted, weight, *columns), weight=weight)

    def __repr__(self) -> str:
        error = self.numbers.error
        ends = f", errors from {error.min():g} to {error.max():g}".replace("-", "−") if error.size else ""
        return f"ResidualTable: {grouped(error.size)} cases{ends}"


def _summed(terms: Array, weight: Array | None) -> Array:
    """Σ w · term; an infinite one, such as the relative error of a truth of zero, counts only where it was drawn."""
    if weight is None:
        return np.asarray(terms.sum(axis=0))
    finite = np.isfinite(terms)
    if finite.all():
        return np.asarray(weight.astype(np.float64) @ terms)
    found = weight.astype(np.float64) @ np.where(finite, terms, 0.0)
    for column in np.flatnonzero(~finite.all(axis=0)):
        drawn = (weight[..., ~finite[:, column]] > 0).any(axis=-1)
        found[..., column] = np.where(drawn, np.inf, found[..., column])
    return np.asarray(found)


@dataclass(frozen=True, eq=False)
class IntervalTable(Table):
    """Prediction intervals and the truths that they should hold, case by case."""

    truth: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    weight: Array
    squares: Array | None = None

    def described(self) -> str:
        return "prediction intervals"

    @property
    def cells(self) -> Array:
        return self.weight

    @property
    def strata(self) -> NDArray[np.intp]:
        return np.zeros(self.truth.size, dtype=np.intp)

    @property
    def cell_squares(self) -> Array | None:
        return self.squares

    @property
    def by_case(self) -> bool:
        return True

    def with_cells(self, cells: Array) -> Self:
        return replace(self, weight=cells, squares=None)

    def effective(self, trials: str) -> float:
        """How many equal cases are worth the weights."""
        return self.cases

    def __add__(self, other: Self) -> Self:
        def both(name: str) -> Any:
            return np.concatenate([getattr(self, name), getattr(other, name)])

        squares = None
        if self.squares is not None or other.squares is not None:
            squares = np.concatenate([one.weight if one.squares is None else one.squares for one in (self, other)])
        return type(self)(both("truth"), both("low"), both("high"), both("weight"), squares)


def residual_table(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    copies: bool = False,
    baseline: float | ArrayLike | None = None,
    interval: tuple[ArrayLike, ArrayLike] | None = None,
) -> ResidualTable:
    """The table of predicted numbers beside true ones.

    `baseline` is what relative errors are relative to: a number such as the mean of the training targets, or another
    prediction of each case; without it, the mean of these truths. `interval` holds the ends of prediction intervals.

    >>> round(float(residual_table([1, 2, 3], [1, 2, 4]).sums.squared), 6)
    0.333333
    """
    actual, given = (_column(values, name) for values, name in ((truth, "truth"), (predicted, "prediction")))
    if actual.size != given.size:
        raise DataError(
            "truth and prediction differ in length.",
            seen=f"{grouped(actual.size)} and {grouped(given.size)}",
            hint="one prediction for each truth",
        )
    weights = None if weight is None else weights_of(weight, actual.size)
    reference: Any = baseline
    if baseline is not None:
        reference = _column(baseline, "baseline") if np.ndim(baseline) else float(cast(float, baseline))
    low, high = (None, None) if interval is None else (_column(one, "interval") for one in interval)
    if low is not None and high is not None and (crossed := int((low > high).sum())):
        seen = f"{grouped(crossed)} of {grouped(low.size)}"
        raise DataError("prediction intervals end before they begin.", seen=seen, hint="LOW before HIGH")
    found = ResidualTable(_numbers(actual, given, weights, reference, low, high), weights, copies)
    if weights is None or weights.all():
        return found
    return found.part(np.flatnonzero(weights).astype(np.int32))[0]  # weight 0 is the case absent


@table_kind("predicted numbers beside true ones", aliases=("prediction", "number"))
def residual(
    truth: NDArray[np.float64],
    column: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
    *,
    copies: bool = False,
    baseline: float | NDArray[np.float64] | None = None,
    interval: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
) -> ResidualTable:
    """How a column of predictions is read."""
    return residual_table(truth, column, weight=weight, copies=copies, baseline=baseline, interval=interval)


def _column(values: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        given = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{name} holds something that is not a number.", seen=str(error), hint="numbers, or drop those cases first"
        ) from None
    if given.ndim != 1:
        raise DataError(f"{name} is not one column.", seen=f"shape {given.shape}", hint="one value per case")
    found = np.empty(given.size)

    def largest(rows: slice) -> Any:
        copied = np.add(given[rows], 0.0, out=found[rows])  # −0.0 is 0.0
        return np.maximum(copied.max(), -copied.min())  # no number if one of them is none

    most = np.max(over_pieces(largest, given.size), initial=0.0)
    if not np.isfinite(most):
        raise DataError(
            f"{name} has missing or infinite values.",
            seen=grouped(int((~np.isfinite(found)).sum())),
            hint="drop or fill those cases first",
        )
    if not LEAST_SIZE <= most <= MOST_SIZE:
        refuse_sizes(found, f"{name} holds numbers")
    return found
