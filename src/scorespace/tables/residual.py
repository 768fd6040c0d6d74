"""The residual table: predicted numbers beside true ones, case by case, and their prediction intervals."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from typing import Any, Final, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.errors import DataError
from scorespace.frozen import dataclass
from scorespace.results import ByValue, grouped
from scorespace.tables.columns import LEAST_SIZE, MOST_SIZE, nominal_level, refuse_sizes, weights_of
from scorespace.tables.kind import table_kind
from scorespace.tables.labels import array_of
from scorespace.tables.pieces import over_pieces
from scorespace.tables.sums import ErrorSums, term_values
from scorespace.tables.table import Array, NoTableError, Table, Weighed

_FEW: Final = 2**14  # cases whose terms stay in the cache, and in memory that is not given back each time
_AT_ONCE: Final = 1_000_000  # cases whose terms are kept; those of more are made again when they are added up


@dataclass(frozen=True, eq=False)
class Numbers(ByValue):
    """What is the same in all replicates of a residual table: truths, predictions, and the orders they stand in.

    `reference` is the baseline's prediction, one number or one for each case; None is the mean of the truths.
    `low` and `high` are the ends of prediction intervals of the stated nominal `level`, where there are such.
    """

    truth: NDArray[np.float64]
    predicted: NDArray[np.float64]
    mean: float
    tilt: float
    reference: float | NDArray[np.float64] | None = None
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    level: float | None = None

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

    def _terms(self, rows: slice, origin: tuple[float, float] | None = None) -> NDArray[np.float64]:
        found = self._each(rows, origin)
        return np.stack([np.ones_like(found[0]), *found]).T  # each term in one stretch of memory

    def _each(self, rows: slice, origin: tuple[float, float] | None = None) -> list[NDArray[np.float64]]:
        """The terms of some of the cases but their weight, one array each."""
        origin = origin or self.origin
        base = self.mean if self.reference is None else self.reference
        base = base[rows] if isinstance(base, np.ndarray) else base
        with np.errstate(divide="ignore", invalid="ignore"):
            found: list[NDArray[np.float64]] = term_values(self.truth[rows], self.predicted[rows], base, origin)
        for share in found[-2:]:
            if share.size and np.isnan(share.min()):  # 0 / 0: no error is none, also of a truth of zero
                share[found[0] == 0] = 0.0
        return found

    @property
    def alone(self) -> ErrorSums:
        """The sums of each case alone; counted from 0, what each costs has all its digits."""
        return ErrorSums(self._terms(slice(None), (0.0, 0.0)))

    def added(self) -> NDArray[np.float64]:
        """The sums of the terms of all cases, each weighing 1; no term is kept, and some thousand are in the cache."""

        def of_piece(rows: slice) -> Any:
            stop = min(rows.stop, self.truth.size)
            parts = (self._each(slice(k, min(k + _FEW, stop))) for k in range(rows.start, stop, _FEW))
            return np.sum([[one.sum() for one in part] for part in parts], axis=0)

        return np.append(self.truth.size, np.sum(over_pieces(of_piece, self.truth.size), axis=0))

    def taken(self, cases: NDArray[Any], weight: Array | None) -> Numbers:
        """Those of some of the cases, with a mean of their own."""

        def some(column: Any) -> Any:
            return column[cases] if isinstance(column, np.ndarray) else column

        beside = (some(one) for one in (self.reference, self.low, self.high, self.level))
        return _numbers(self.truth[cases], self.predicted[cases], weight, *beside)


def _numbers(
    truth: NDArray[np.float64],
    predicted: NDArray[np.float64],
    weight: Array | None,
    reference: Any = None,
    low: Any = None,
    high: Any = None,
    level: float | None = None,
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
    return Numbers(truth, predicted, mean, tilt, reference, low, high, level)


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

    holds = "predicted numbers"
    by_case = True
    numbers: Numbers
    weight: Array | None = None
    copies: bool = field(default=False, compare=False, repr=False)

    def described(self) -> str:
        return "predicted numbers"

    @property
    def cells(self) -> Array:
        return np.ones(self.numbers.truth.size) if self.weight is None else self.weight

    @property
    def cell_squares(self) -> Array | None:
        return None if self.weight is None or self.copies else np.square(self.weight)

    def with_cells(self, cells: Array) -> Self:
        return replace(self, weight=cells, copies=True)

    def whole_inside(self, wanted: type[Table]) -> Table | None:
        if wanted is ErrorSums:
            return self.sums
        return self.intervals if wanted is IntervalTable else super().whole_inside(wanted)

    @cached_property
    def sums(self) -> ErrorSums:
        """The sums of the errors."""
        numbers, size = self.numbers, self.numbers.truth.size

        def added(rows: slice) -> Array:
            assert self.weight is not None
            return _summed(numbers.terms(rows), self.weight[..., rows])

        if self.weight is None:
            sums = numbers.added()
        else:
            sums = added(slice(None)) if size <= _AT_ONCE else np.sum(over_pieces(added, size), axis=0)
        base = numbers.mean if numbers.reference is None else numbers.reference
        tilt = numbers.tilt if numbers.reference is None else None
        return ErrorSums(sums, numbers.origin, base if isinstance(base, float) else None, tilt)

    @property
    def intervals(self) -> IntervalTable:
        """The prediction intervals beside the truth."""
        numbers = self.numbers
        if numbers.low is None or numbers.high is None:
            raise NoTableError(
                "needs prediction intervals", seen="predictions alone", hint='intervals={"model": ("low", "high", 0.9)}'
            )
        return IntervalTable(numbers.truth, numbers.low, numbers.high, self.cells, self.cell_squares, numbers.level)

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

        columns = (both(getattr(a, name), getattr(b, name)) for name in ("reference", "low", "high", "level"))
        truth, predicted = both(a.truth, b.truth), both(a.predicted, b.predicted)
        return replace(self, numbers=_numbers(truth, predicted, weight, *columns), weight=weight)

    def __repr__(self) -> str:
        error = self.numbers.error
        ends = f", errors from {error.min():g} to {error.max():g}".replace("-", "−") if error.size else ""
        return f"ResidualTable: {grouped(error.size)} cases{ends}"


def _summed(terms: Array, weight: Array) -> Array:
    """Σ w · term; an infinite one, such as the relative error of a truth of zero, counts only where it was drawn."""
    finite = np.isfinite(terms)
    if finite.all():
        return np.asarray(weight.astype(np.float64) @ terms)
    found = weight.astype(np.float64) @ np.where(finite, terms, 0.0)
    for column in np.flatnonzero(~finite.all(axis=0)):
        drawn = (weight[..., ~finite[:, column]] > 0).any(axis=-1)
        found[..., column] = np.where(drawn, np.inf, found[..., column])
    return np.asarray(found)


@dataclass(frozen=True, eq=False)
class IntervalTable(Weighed):
    """Prediction intervals of one nominal level and the truths that they should hold, case by case."""

    holds = "prediction intervals"
    weights = "weight"
    by_case = counts_outcomes = True
    truth: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    weight: Array
    squares: Array | None = None
    level: float | None = None

    def described(self) -> str:
        return "prediction intervals"

    def __add__(self, other: Self) -> Self:
        def both(name: str) -> Any:
            return np.concatenate([getattr(self, name), getattr(other, name)])

        squares = self.squares_with(other, np.append)
        level = self.level if self.level == other.level else None
        return type(self)(both("truth"), both("low"), both("high"), both("weight"), squares, level)


def residual_table(
    truth: ArrayLike,
    predicted: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    copies: bool = False,
    baseline: float | ArrayLike | None = None,
    interval: tuple[ArrayLike, ArrayLike, float] | None = None,
) -> ResidualTable:
    """The table of predicted numbers beside true ones.

    `baseline` is what relative errors are relative to: a number such as the mean of the training targets, or another
    prediction of each case; without it, the mean of these truths. `interval` holds the ends of
    prediction intervals and the share of truths that they were made to hold, such as (low, high, 0.9).

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
    ends = () if interval is None else _interval(interval)
    found = ResidualTable(_numbers(actual, given, weights, reference, *ends), weights, copies)
    if weights is None or weights.all():
        return found
    return found.part(np.flatnonzero(weights).astype(np.int32))[0]  # weight 0 is the case absent


table_kind("predicted numbers beside true ones", aliases=("prediction", "number"), name="residual")(residual_table)


def _interval(given: Any) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """The ends of prediction intervals and their nominal level, which nothing in the data tells."""
    if len(given) != 3:
        raise DataError(
            "the nominal level of the prediction intervals is missing.",
            seen=f"{len(given)} values",
            hint="interval=(low, high, 0.9)",
        )
    low, high = (_column(one, "interval") for one in given[:2])
    if crossed := int((low > high).sum()):
        rows = ", ".join(str(row + 1) for row in np.flatnonzero(low > high)[:5])
        seen = f"{grouped(crossed)} of {grouped(low.size)} rows: {rows}{', …' * (crossed > 5)}"
        raise DataError("prediction intervals end before they begin.", seen=seen, hint="LOW before HIGH")
    return low, high, nominal_level(given[2])


def _column(values: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        given = np.asarray(array_of(values), dtype=np.float64)
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
