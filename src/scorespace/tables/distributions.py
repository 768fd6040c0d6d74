"""Predictive distributions of numbers: quantiles of stated levels, or members of an ensemble."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.errors import DataError, listing
from scorespace.results import ByValue, grouped
from scorespace.tables.columns import MAX_MAGNITUDE
from scorespace.tables.table import Array, WeightedTable


@dataclass(frozen=True, eq=False)
class Distribution(ByValue):
    """Predicted quantiles of each case, one row per level, ascending; or members of an ensemble, without levels."""

    values: NDArray[np.float64]
    levels: tuple[float, ...] | None = None

    @property
    def crossings(self) -> int:
        """Number of cases whose quantiles are not in ascending order."""
        return 0 if self.levels is None else int((np.diff(self.values, axis=0) < 0).any(axis=0).sum())

    def taken(self, cases: NDArray[Any]) -> Distribution:
        return Distribution(self.values[:, cases], self.levels)

    def merged(self, other: Distribution | None) -> Distribution | None:
        """The distributions of two samples; None if their levels or numbers of members differ."""
        if other is None or self.levels != other.levels or len(self.values) != len(other.values):
            return None
        return Distribution(np.concatenate([self.values, other.values], axis=1), self.levels)

    def central_interval(self) -> tuple[NDArray[np.float64], NDArray[np.float64], float] | None:
        """Prediction interval between the outermost quantiles, if their levels are symmetric."""
        if self.levels is None or len(self.levels) < 2 or abs(self.levels[0] + self.levels[-1] - 1) > 1e-9:
            return None
        low, high = self.values[0], self.values[-1]
        return None if (low > high).any() else (low, high, round(self.levels[-1] - self.levels[0], 12))


@dataclass(frozen=True, eq=False)
class DistributionTable(WeightedTable):
    """Predictive distributions, and the true values.

    Parameters
    ----------
    truth : ndarray of shape (n_cases,)
        True numbers.
    distribution : Distribution
        Quantiles or members of each case.
    weight : ndarray of shape (…, n_cases)
        Weight of each case; leading axes are replicates.
    squares : ndarray, optional
        Squared weights, if cases are weighted.
    """

    holds = "predictive distributions"
    weights = "weight"
    by_case = counts_outcomes = True
    truth: NDArray[np.float64]
    distribution: Distribution
    weight: Array
    squares: Array | None = None

    def described(self) -> str:
        """Description for messages: "predictive distributions"."""
        return "predictive distributions"

    @property
    def levels(self) -> tuple[float, ...] | None:
        """Levels of the quantiles; None for an ensemble."""
        return self.distribution.levels

    @property
    def values(self) -> NDArray[np.float64]:
        """Quantiles or members, shape (n_levels, n_cases)."""
        return self.distribution.values

    def __add__(self, other: Self) -> Self:
        merged = self.distribution.merged(other.distribution)
        if merged is None:
            raise DataError("predictions of different quantiles cannot be merged.", hint="the same levels in both")
        weight = np.concatenate([self.weight, other.weight], axis=-1)
        truth = np.concatenate([self.truth, other.truth])
        return type(self)(truth, merged, weight, self.squares_with(other, np.append))

    def __repr__(self) -> str:
        what = "members" if self.levels is None else "quantiles"
        return f"DistributionTable: {grouped(self.truth.size)} cases, {len(self.values)} {what}"


def distribution_of(values: Sequence[ArrayLike], levels: Sequence[float] | None, size: int) -> Distribution:
    """Validate predicted quantiles with their levels, or members of an ensemble without, and sort them by level.

    >>> distribution_of([[3.0], [1.0]], [0.9, 0.1], 1).values.tolist()
    [[1.0], [3.0]]
    """
    matrix = np.array([np.asarray(column, dtype=np.float64) for column in values])
    if matrix.ndim != 2 or matrix.shape[1] != size or len(matrix) < 2:
        raise DataError(
            "predictive distributions need two columns or more, with one value for each case.",
            seen=f"shape {matrix.shape}, {size} cases",
            hint="quantiles=([[low, …], [high, …]], [0.05, 0.95])",
        )
    if not np.isfinite(matrix).all() or np.abs(matrix).max(initial=0) > MAX_MAGNITUDE:
        raise DataError("predictive distributions have missing, infinite or too large values.", hint="drop those cases")
    if levels is None:
        return Distribution(matrix)
    stated = [float(level) for level in levels]
    if len(stated) != len(matrix) or len(set(stated)) < len(stated) or not all(0 < level < 1 for level in stated):
        raise DataError(
            "levels of quantiles are distinct and between 0 and 1, one for each column.",
            seen=f"{listing(stated)} for {len(matrix)} columns",
            hint="[0.05, 0.5, 0.95]",
        )
    order = np.argsort(stated)
    return Distribution(matrix[order], tuple(stated[k] for k in order))
