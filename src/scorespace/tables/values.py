"""Value tables: one number per case, computed elsewhere, such as a Dice coefficient or the grade of a judge."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.errors import DataError
from scorespace.results import ByValue, count_noun, grouped, short
from scorespace.tables.columns import validate_weights
from scorespace.tables.counts import ratio
from scorespace.tables.labels import encode
from scorespace.tables.regression import numeric_column
from scorespace.tables.table import Array, Table
from scorespace.tables.threshold import Scale


@dataclass(frozen=True, eq=False)
class CaseValues(ByValue):
    """The values that all replicates share: one per case, their stated limits, and those of each run, if any.

    `runs` (n_cases, n_runs) are the values of items in runs that all items share; `value` is then their mean.
    `rows` counts the values of each item where items were repeated; `lower`: low values are better.
    """

    value: NDArray[np.float64]
    limits: Scale = None
    runs: NDArray[np.float64] | None = None
    rows: NDArray[np.int64] | None = None
    lower: bool = False

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """Indices that sort the cases by value, ascending."""
        return np.argsort(self.value, kind="stable")

    @property
    def binary(self) -> bool:
        """Whether all values are 0 or 1, so that their mean is a share."""
        return bool(np.isin(self.value, (0.0, 1.0)).all()) and self.rows is None

    def taken(self, cases: NDArray[Any]) -> CaseValues:
        """The values of a subset of cases."""
        runs, rows = (None if column is None else column[cases] for column in (self.runs, self.rows))
        return replace(self, value=self.value[cases], runs=runs, rows=rows)


class CaseAverages(Table):
    """Base of tables whose measures are weighted means over cases; `separate` ones return the value of each case."""

    separate: bool = False

    @property
    def limits(self) -> Scale:
        """Lowest and highest possible value, if stated."""
        return None

    def separated(self) -> Self:
        """The table whose measures are not averaged over its cases."""
        return replace(self, separate=True)  # type: ignore[type-var]

    def average(self, values: Array) -> Array:
        """Weighted mean of a value per case, without undefined ones; exactly the value where all are equal."""
        if self.separate:
            return values
        defined = np.isfinite(values)
        if not defined.all():
            values, cells = values[defined], self.cells[..., defined]
        else:
            cells = self.cells
        total = np.asarray(cells.sum(axis=-1, dtype=np.float64))
        if not values.size or values.min() == values.max():
            return np.where(total > 0, values[0] if values.size else np.nan, np.nan)
        return ratio(cells @ values, total)


@dataclass(frozen=True, eq=False)
class ValueTable(CaseAverages):
    """One value per case and its weight.

    Parameters
    ----------
    numbers : CaseValues
        The values.
    weight : ndarray of shape (…, n_cases), optional
        Weight of each case; leading axes are replicates.
    copies : bool
        Whether weights are frequencies, each unit being one case.
    separate : bool
        Whether means are not taken: measures return the value of each case.

    Examples
    --------
    >>> value_table([0.8, 0.9, 0.4])
    ValueTable: 3 cases, values from 0.4 to 0.9
    """

    holds = "values per case"
    by_case = True
    numbers: CaseValues
    weight: Array | None = None
    copies: bool = field(default=False, compare=False, repr=False)
    separate: bool = field(default=False, repr=False)

    @property
    def limits(self) -> Scale:
        """Lowest and highest possible value, if stated."""
        return self.numbers.limits

    @property
    def low_is_better(self) -> bool:  # type: ignore[override]
        """Whether low values are better."""
        return self.numbers.lower

    @property
    def units_text(self) -> str:  # type: ignore[override]
        """Number of items and of their values, where items were repeated."""
        rows = self.numbers.rows
        return "" if rows is None else f"{count_noun(rows.size, 'item')}   {count_noun(int(rows.sum()), 'value')}"

    def described(self) -> str:
        """Description for messages: "values per case"."""
        return "values per case"

    @property
    def cells(self) -> Array:
        """Weight of each case, shape (…, n_cases)."""
        return np.ones(self.numbers.value.size) if self.weight is None else self.weight

    @property
    def cell_squares(self) -> Array | None:
        """Squared weight of each case, if cases are weighted."""
        return None if self.weight is None or self.copies else np.square(self.weight)

    def with_cells(self, cells: Array) -> Self:
        """Return the same cases with other weights.

        Parameters
        ----------
        cells : ndarray of shape (…, n_cells)
            The new weight of each case; leading axes are replicates.

        Returns
        -------
        ValueTable
            The reweighted table.
        """
        return replace(self, weight=cells, copies=True)

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
        return replace(self, numbers=self.numbers.taken(cell), weight=weight), np.arange(cell.size, dtype=np.int32)

    def shared_with(self, other: Table, *, sized: bool) -> tuple[Table, Array, Array]:
        """Concatenate the cases of both models, because each has its own values.

        Parameters
        ----------
        other : Table
            The table of the other model.
        sized : bool
            Whether values matter, not only their order.

        Returns
        -------
        tuple
            The common table, and the index there of each case of the first and of the second model.
        """
        if not isinstance(other, ValueTable) or self.numbers.value.size != other.numbers.value.size:
            return super().shared_with(other, sized=sized)
        places = np.arange(self.numbers.value.size)
        return self + other, places, places + places.size

    def __add__(self, other: Self) -> Self:
        """Merge the cases of two samples."""
        a, b = self.numbers, other.numbers
        weight = None
        if self.weight is not None or other.weight is not None:
            weight = np.concatenate([self.cells, other.cells], axis=-1)
        limits = a.limits if a.limits == b.limits else None
        return replace(
            self, numbers=CaseValues(np.concatenate([a.value, b.value]), limits, lower=a.lower), weight=weight
        )

    def __repr__(self) -> str:
        value = self.numbers.value
        ends = f", values from {short(value.min())} to {short(value.max())}" if value.size else ""
        return f"ValueTable: {grouped(value.size)} cases{ends}"


def value_table(
    value: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    limits: Scale = None,
    item: ArrayLike | None = None,
    run: ArrayLike | None = None,
    copies: bool = False,
    lower: bool = False,
    name: str = "values",
) -> ValueTable:
    """Build a value table from one value per case, or from several values of each item.

    Parameters
    ----------
    value : array_like of shape (n_rows,)
        The values.
    weight : array_like of shape (n_rows,), optional
        Weight of each case; 1 by default.
    limits : (float, float), optional
        Lowest and highest possible value; others are refused.
    item, run : array_like of shape (n_rows,), optional
        Item and run of each row, where items were repeated: a case is then the mean of an item.
    copies : bool
        Whether weights are frequencies, each unit being one case.
    lower : bool
        Whether low values are better.
    name : str
        Name of the values in messages.

    Returns
    -------
    ValueTable
        The table of measures of values.

    Examples
    --------
    >>> value_table([3, 4, 5, 3], item=["a", "a", "b", "b"], run=[1, 2, 1, 2]).numbers.value.tolist()
    [3.5, 4.0]
    """
    values = numeric_column(value, name)
    if limits is not None and not -np.inf < limits[0] < limits[1] < np.inf:
        problem = f"{limits[0]:g}..{limits[1]:g} is no range of values: its ends must be finite and ascending."
        raise DataError(problem, hint='scale="0..1"')
    if limits is not None and values.size and not limits[0] <= values.min() <= values.max() <= limits[1]:
        outside = int(((values < limits[0]) | (values > limits[1])).sum())
        raise DataError(
            f"{name} has values outside the stated range {limits[0]:g} to {limits[1]:g}.",
            seen=f"{grouped(outside)} of {grouped(values.size)}, from {short(values.min())} to {short(values.max())}",
            hint=f'scale="{values.min():g}..{values.max():g}", or correct the values',
        )
    if item is not None and run is not None:
        if weight is not None:
            raise DataError("repeated items cannot have weights.", seen="weight, group and repeat", hint="no weight")
        items, runs = (encode(column, "group or repeat")[0].astype(np.int64) for column in (item, run))
        if limits is None and np.isin(values, (0.0, 1.0)).all():
            limits = (0.0, 1.0)  # passed and failed runs
        return ValueTable(_item_means(values, items, runs, limits, lower))
    weights = None if weight is None else validate_weights(weight, values.size)
    table = ValueTable(CaseValues(values, limits, lower=lower), weights, copies)
    return table if weights is None or weights.all() else table.part(np.flatnonzero(weights).astype(np.int32))[0]


def _item_means(
    values: NDArray[np.float64], item: NDArray[Any], run: NDArray[Any], limits: Scale, lower: bool
) -> CaseValues:
    """The mean of each item; with the values of each run if every item has one value in every run."""
    rows = np.bincount(item)
    means, size = np.bincount(item, values) / rows, int(run.max(initial=-1)) + 1
    crossed = np.bincount(item * size + run, minlength=rows.size * size)
    if rows.size < 2 or size < 2 or not (crossed == 1).all():
        return CaseValues(means, limits, None, rows, lower)
    table = np.empty((rows.size, size))
    table[item, run] = values
    return CaseValues(means, limits, table, rows, lower)
