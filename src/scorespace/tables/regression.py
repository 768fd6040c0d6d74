"""Residual tables: predicted and true numbers of each case, and prediction intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Final, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.errors import DataError
from scorespace.results import ByValue, equal_values, grouped
from scorespace.tables.chunks import map_chunks
from scorespace.tables.columns import MAX_MAGNITUDE, MIN_MAGNITUDE, check_magnitudes, nominal_level, validate_weights
from scorespace.tables.distributions import Distribution, DistributionTable, distribution_of
from scorespace.tables.error_sums import ErrorSums, term_values
from scorespace.tables.exact_sums import covariances
from scorespace.tables.labels import to_array
from scorespace.tables.table import Array, NoTableError, Table, WeightedTable
from scorespace.tables.table_kind import table_kind

_BLOCK_CASES: Final = 2**14  # cases whose terms fit into the processor cache
_MAX_EXACT_CASES: Final = 10_000  # up to this many cases, moments that cancel are summed exactly
_MAX_CACHED_CASES: Final = 1_000_000  # up to this many cases, terms are kept in memory; else they are recomputed


@dataclass(frozen=True, eq=False)
class RegressionData(ByValue):
    """The parts of a residual table that all replicates share: truth, predictions, and their sort orders.

    `reference` is the baseline prediction, a number or one per case; None means the mean of the truth.
    `low` and `high` are the limits of prediction intervals of the nominal `level`, if there are any, and `distribution`
    the predicted quantiles or ensemble. `history` is the training series, in time order.
    """

    truth: NDArray[np.float64]
    predicted: NDArray[np.float64]
    mean: float
    tilt: float
    reference: float | NDArray[np.float64] | None = None
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    level: float | None = None
    distribution: Distribution | None = None
    history: NDArray[np.float64] | None = None

    @cached_property
    def error(self) -> NDArray[np.float64]:
        """Predicted minus true."""
        return self.predicted - self.truth

    @cached_property
    def origin(self) -> tuple[float, float]:
        """Mean truth and approximate mean error; any point near them would do."""
        return self.mean, _mean(self.predicted) - _mean(self.truth)

    @cached_property
    def by_error(self) -> NDArray[np.intp]:
        """Indices that sort the cases by error, ascending."""
        return np.argsort(self.error, kind="stable")

    @cached_property
    def by_size(self) -> NDArray[np.intp]:
        """Indices that sort the cases by absolute error, ascending."""
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
        """Terms (n_rows, 11) of some cases; the first is 1."""
        return self.kept_terms[rows] if self.truth.size <= _MAX_CACHED_CASES else self._terms(rows)

    def _terms(self, rows: slice, origin: tuple[float, float] | None = None) -> NDArray[np.float64]:
        terms = self._term_columns(rows, origin)
        return np.stack([np.ones_like(terms[0]), *terms]).T  # each term is contiguous in memory

    def _term_columns(self, rows: slice, origin: tuple[float, float] | None = None) -> list[NDArray[np.float64]]:
        """Terms of some cases except the weight, one array each."""
        origin = origin or self.origin
        base = self.mean if self.reference is None else self.reference
        base = base[rows] if isinstance(base, np.ndarray) else base
        with np.errstate(divide="ignore", invalid="ignore"):
            terms: list[NDArray[np.float64]] = term_values(self.truth[rows], self.predicted[rows], base, origin)
        for relative in terms[-2:]:
            if relative.size and np.isnan(relative.min()):  # 0 / 0: a zero error is 0, also for a truth of zero
                relative[terms[0] == 0] = 0.0
        return terms

    @property
    def alone(self) -> ErrorSums:
        """Sums of each case by itself, with origin 0 to keep all digits."""
        return ErrorSums(self._terms(slice(None), (0.0, 0.0)))

    def added(self) -> NDArray[np.float64]:
        """Sums of the terms of all cases with weight 1, computed in cache-sized blocks without storing the terms."""

        def sum_chunk(rows: slice) -> Any:
            stop = min(rows.stop, self.truth.size)
            blocks = (
                self._term_columns(slice(k, min(k + _BLOCK_CASES, stop))) for k in range(rows.start, stop, _BLOCK_CASES)
            )
            return np.sum([[column.sum() for column in block] for block in blocks], axis=0)

        return np.append(self.truth.size, np.sum(map_chunks(sum_chunk, self.truth.size), axis=0))

    def taken(self, cases: NDArray[Any], weight: Array | None) -> RegressionData:
        """The data of a subset of cases, with their own mean."""

        def subset(column: Any) -> Any:
            return column[cases] if isinstance(column, np.ndarray) else column

        fields = (subset(column) for column in (self.reference, self.low, self.high, self.level))
        distribution = None if self.distribution is None else self.distribution.taken(cases)
        return _regression_data(
            self.truth[cases], self.predicted[cases], weight, *fields, distribution=distribution, history=self.history
        )


def _regression_data(
    truth: NDArray[np.float64],
    predicted: NDArray[np.float64],
    weight: Array | None,
    reference: Any = None,
    low: Any = None,
    high: Any = None,
    level: float | None = None,
    *,
    distribution: Distribution | None = None,
    history: NDArray[np.float64] | None = None,
) -> RegressionData:
    mean = tilt = 0.0
    if truth.size and (weight is None or weight.any()):
        mean = _mean(truth, weight)

        def below_minus_above(rows: slice) -> Any:
            part = truth[rows]
            if weight is None:
                return np.count_nonzero(part < mean) - np.count_nonzero(part > mean)
            return weight[rows] @ np.sign(mean - part)

        total = truth.size if weight is None else weight.sum()
        tilt = float(sum(map_chunks(below_minus_above, truth.size)) / total)
    return RegressionData(truth, predicted, mean, tilt, reference, low, high, level, distribution, history)


def _mean(values: NDArray[np.float64], weight: Array | None = None) -> float:
    """Weighted mean; the mean of equal numbers is exactly that number."""

    def sum_and_range(rows: slice) -> tuple[Any, Any, Any]:
        part = values[rows]
        return part.sum() if weight is None else weight[rows] @ part, part.min(), part.max()

    if not values.size:
        return 0.0
    sums, low, high = zip(*map_chunks(sum_and_range, values.size), strict=True)
    if min(low) == max(high):
        return float(values[0])
    return float(sum(sums) / (values.size if weight is None else weight.sum()))


@dataclass(frozen=True, eq=False)
class ResidualTable(Table):
    """True and predicted numbers of each case.

    The cases are kept, because measures need them in different orders; measures of sums use the derived `ErrorSums`.

    Parameters
    ----------
    numbers : RegressionData
        The true and predicted numbers.
    weight : ndarray of shape (…, n_cases), optional
        Weight of each case; leading axes are replicates.
    copies : bool
        Whether weights are frequencies, each unit being one case.

    Examples
    --------
    >>> t = residual_table([102, 110, 95], [100, 102, 105])
    >>> t
    ResidualTable: 3 cases, errors from −8 to 10
    """

    holds = "numeric predictions"
    by_case = True
    numbers: RegressionData
    weight: Array | None = None
    copies: bool = field(default=False, compare=False, repr=False)

    def described(self) -> str:
        """Description for messages: "numeric predictions"."""
        return "numeric predictions"

    @property
    def cells(self) -> Array:
        """Weight of each case, shape (…, n_cases)."""
        return np.ones(self.numbers.truth.size) if self.weight is None else self.weight

    @property
    def cell_squares(self) -> Array | None:
        """Squared weight of each case, if cases are weighted."""
        return None if self.weight is None or self.copies else np.square(self.weight)

    def with_cells(self, cells: Array) -> Self:
        """Return the same cases with other weights.

        Parameters
        ----------
        cells : ndarray of shape (…, n_cells)
            The new weight of each cell; leading axes are replicates.

        Returns
        -------
        ResidualTable
            The reweighted table.
        """
        return replace(self, weight=cells, copies=True)

    def whole_inside(self, wanted: type[Table]) -> Table | None:
        """Derive the sums of errors, the prediction intervals or the predictive distributions.

        Parameters
        ----------
        wanted : type of Table
            The kind of table that is derived.

        Returns
        -------
        Table or None
            A table of the wanted kind, if there is one.
        """
        if wanted is ErrorSums:
            return self.sums
        if wanted is DistributionTable:
            return self.distributions
        return self.intervals if wanted is IntervalTable else super().whole_inside(wanted)

    @cached_property
    def sums(self) -> ErrorSums:
        """Sums of the error terms."""
        numbers, size = self.numbers, self.numbers.truth.size

        def weighted_sums(rows: slice) -> Array:
            assert self.weight is not None
            return _add_terms(numbers.terms(rows), self.weight[..., rows])

        if self.weight is None:
            sums = numbers.added()
        else:
            sums = (
                weighted_sums(slice(None))
                if size <= _MAX_CACHED_CASES
                else np.sum(map_chunks(weighted_sums, size), axis=0)
            )
        base = numbers.mean if numbers.reference is None else numbers.reference
        tilt = numbers.tilt if numbers.reference is None else None
        exact = None
        if sums.ndim == 1 and size <= _MAX_EXACT_CASES:
            exact = (sums, partial(covariances, numbers.predicted, numbers.truth, self.weight))
        return ErrorSums(sums, numbers.origin, base if isinstance(base, float) else None, tilt, exact=exact)

    @property
    def intervals(self) -> IntervalTable:
        """Prediction intervals and the truth."""
        numbers = self.numbers
        if numbers.low is None or numbers.high is None:
            raise NoTableError(
                "needs prediction intervals", seen="predictions only", hint='intervals={"model": ("low", "high", 0.9)}'
            )
        return IntervalTable(numbers.truth, numbers.low, numbers.high, self.cells, self.cell_squares, numbers.level)

    @property
    def distributions(self) -> DistributionTable:
        """Predicted quantiles or ensembles and the truth."""
        if self.numbers.distribution is None:
            raise NoTableError(
                "needs predicted quantiles or an ensemble",
                seen="predictions only",
                hint='quantiles="q*", or ensemble="member_*"',
            )
        return DistributionTable(self.numbers.truth, self.numbers.distribution, self.cells, self.cell_squares)

    def without_each(self, rows: slice) -> ErrorSums:
        """Leave-one-out sums for each of these cases; with frequency weights, one copy is left out.

        Parameters
        ----------
        rows : slice
            The cases.

        Returns
        -------
        ErrorSums
            The sums without each of these cases.
        """
        weight = self.cells[rows]
        removed = np.minimum(1.0, weight) if self.copies else weight
        return replace(self.sums, sums=self.sums.sums - removed[:, None] * self.numbers.terms(rows))

    def part(self, cell: NDArray[np.int32]) -> tuple[Self, NDArray[np.int32]]:
        """The table of a subset of cases, given by their indices, and their cells in that table.

        Parameters
        ----------
        cell : ndarray of int
            The cell of each case.

        Returns
        -------
        tuple
            The table, and the cell of each case in it.
        """
        weight = None if self.weight is None else self.weight[..., cell]
        table = replace(self, numbers=self.numbers.taken(cell, weight), weight=weight)
        return table, np.arange(cell.size, dtype=np.int32)

    def shared_with(self, other: Table, *, sized: bool) -> tuple[Table, Array, Array]:
        """Concatenate the cases of both models, because each has its own predictions.

        Parameters
        ----------
        other : Table
            The table of the other model.
        sized : bool
            Whether values of the scores matter, not only their order.

        Returns
        -------
        tuple
            The common table, and the index there of each case of the first and of the second model.
        """
        if not isinstance(other, ResidualTable) or self.numbers.truth.size != other.numbers.truth.size:
            return super().shared_with(other, sized=sized)
        places = np.arange(self.numbers.truth.size)
        return self + other, places, places + places.size

    def __add__(self, other: Self) -> Self:
        """Merge the cases of two samples."""
        a, b = self.numbers, other.numbers
        weight = None
        if self.weight is not None or other.weight is not None:
            weight = np.concatenate([self.cells, other.cells], axis=-1)

        def both(first: Any, second: Any) -> Any:
            if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
                return np.concatenate([first, second])
            only_one = isinstance(first, np.ndarray) or isinstance(second, np.ndarray)
            return None if only_one or first != second else first

        columns = (both(getattr(a, name), getattr(b, name)) for name in ("reference", "low", "high", "level"))
        truth, predicted = both(a.truth, b.truth), both(a.predicted, b.predicted)
        merged = None if a.distribution is None else a.distribution.merged(b.distribution)
        history = a.history if equal_values(a.history, b.history) else None
        numbers = _regression_data(truth, predicted, weight, *columns, distribution=merged, history=history)
        return replace(self, numbers=numbers, weight=weight)

    def __repr__(self) -> str:
        error = self.numbers.error
        ends = f", errors from {error.min():g} to {error.max():g}".replace("-", "−") if error.size else ""
        return f"ResidualTable: {grouped(error.size)} cases{ends}"


def _add_terms(terms: Array, weight: Array) -> Array:
    """Σ w · term; an infinite term, such as the relative error of a zero truth, counts only with positive weight."""
    finite = np.isfinite(terms)
    if finite.all():
        return np.asarray(weight.astype(np.float64) @ terms)
    sums = weight.astype(np.float64) @ np.where(finite, terms, 0.0)
    for column in np.flatnonzero(~finite.all(axis=0)):
        is_drawn = (weight[..., ~finite[:, column]] > 0).any(axis=-1)
        sums[..., column] = np.where(is_drawn, np.inf, sums[..., column])
    return np.asarray(sums)


@dataclass(frozen=True, eq=False)
class IntervalTable(WeightedTable):
    """Prediction intervals of one nominal level, and the true values."""

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

    @property
    def is_covered(self) -> NDArray[np.bool_]:
        """Whether each true value is inside its interval, limits included."""
        return np.asarray((self.low <= self.truth) & (self.truth <= self.high))

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
    quantiles: tuple[Sequence[ArrayLike], Sequence[float] | None] | None = None,
    history: ArrayLike | None = None,
) -> ResidualTable:
    """Build a residual table from true and predicted numbers.

    Parameters
    ----------
    truth : array_like of shape (n_cases,)
        True numbers.
    predicted : array_like of shape (n_cases,)
        Predicted numbers.
    weight : array_like of shape (n_cases,), optional
        Weight of each case; 1 by default.
    copies : bool
        Whether weights are frequencies, each unit being one case.
    baseline : float or array_like, optional
        Reference of relative errors: a number such as the mean of the training targets, or another prediction of each
        case; by default the mean of the truth.
    interval : tuple, optional
        Limits and nominal level of prediction intervals, such as (low, high, 0.9).
    quantiles : tuple, optional
        Predicted quantiles and their levels, such as ([low, median, high], [0.05, 0.5, 0.95]); or the members of an
        ensemble and None. Without `interval`, outermost levels that are symmetric are a prediction interval.
    history : array_like, optional
        The training series in time order, to whose naive forecast `mase` and `rmsse` are relative.

    Returns
    -------
    ResidualTable
        The table of regression measures.

    Examples
    --------
    >>> round(float(residual_table([1, 2, 3], [1, 2, 4]).sums.squared), 6)
    0.333333
    """
    actual, forecast = (numeric_column(values, name) for values, name in ((truth, "truth"), (predicted, "prediction")))
    if actual.size != forecast.size:
        raise DataError(
            "truth and prediction differ in length.",
            seen=f"{grouped(actual.size)} and {grouped(forecast.size)}",
            hint="one prediction for each truth",
        )
    weights = None if weight is None else validate_weights(weight, actual.size)
    reference: Any = baseline
    if baseline is not None:
        reference = numeric_column(baseline, "baseline") if np.ndim(baseline) else float(cast(float, baseline))
    distribution = None if quantiles is None else distribution_of(*quantiles, actual.size)
    limits: tuple[Any, ...] = () if interval is None else _interval(interval)
    if interval is None and distribution is not None:
        limits = distribution.central_interval() or ()
    series = None if history is None else numeric_column(history, "history")
    numbers = _regression_data(actual, forecast, weights, reference, *limits, distribution=distribution, history=series)
    table = ResidualTable(numbers, weights, copies)
    if weights is None or weights.all():
        return table
    return table.part(np.flatnonzero(weights).astype(np.int32))[0]  # a case of weight 0 is treated as absent


table_kind("numeric predictions", aliases=("prediction", "number"), name="residual")(residual_table)


def _interval(interval: Any) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Limits and nominal level of prediction intervals; the level cannot be inferred from data."""
    if len(interval) != 3:
        raise DataError(
            "the nominal level of the prediction intervals is missing.",
            seen=f"{len(interval)} values",
            hint="interval=(low, high, 0.9)",
        )
    low, high = (numeric_column(limit, "interval") for limit in interval[:2])
    if crossed := int((low > high).sum()):
        rows = ", ".join(str(row + 1) for row in np.flatnonzero(low > high)[:5])
        seen = f"{grouped(crossed)} of {grouped(low.size)} rows: {rows}{', …' * (crossed > 5)}"
        raise DataError(
            "lower limits of prediction intervals exceed the upper ones.", seen=seen, hint="LOW before HIGH"
        )
    return low, high, nominal_level(interval[2])


def numeric_column(column: ArrayLike, name: str) -> NDArray[np.float64]:
    """Validate a numeric column and return a copy, with −0.0 as 0.0."""
    try:
        array = np.asarray(to_array(column), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be numeric.", seen=str(error), hint="numbers; drop the other cases") from None
    if array.ndim != 1:
        raise DataError(f"{name} is not one column.", seen=f"shape {array.shape}", hint="one value per case")
    values = np.empty(array.size)

    def largest_magnitude(rows: slice) -> Any:
        copied = np.add(array[rows], 0.0, out=values[rows])
        return np.maximum(copied.max(), -copied.min())  # NaN if a value is NaN

    most = np.max(map_chunks(largest_magnitude, array.size), initial=0.0)
    if not np.isfinite(most):
        raise DataError(
            f"{name} has missing or infinite values.",
            seen=grouped(int((~np.isfinite(values)).sum())),
            hint="drop or impute those cases",
        )
    if not MIN_MAGNITUDE <= most <= MAX_MAGNITUDE:
        check_magnitudes(values, f"{name} holds numbers")
    return values
