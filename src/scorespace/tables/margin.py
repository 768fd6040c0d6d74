"""Margin tables: confusion counts of multiclass decisions by the margin of the highest score over the second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self, cast

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError, listing
from scorespace.tables.bins import bin_of_score
from scorespace.tables.paired import PAIR_BITS
from scorespace.tables.scores import ScoreTable
from scorespace.tables.table import Array, StoredTable, WeightedTable

MOST_CLASSES: Final = 40
"""With more classes, the margin table would have too many cells."""


@dataclass(frozen=True, eq=False)
class MarginTable(WeightedTable):
    """Confusion counts (m, K, K), rows actual, in a few hundred bins of the margin over the second-highest score.

    `low` and `high` (m,) are the smallest and largest margin in each bin, in descending order; counts of cases with a
    margin of at least `low` are exact.

    >>> t = margin_table(np.array([0.6, 0.1]), np.array([0, 1]), np.array([0, 0]), np.ones(2), ("a", "b"))
    >>> t.left(np.array([0.0, 0.5])).tolist()
    [[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0]]
    """

    weights, axes = "matrix", 3
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    matrix: Array
    classes: tuple[str, ...]

    def described(self) -> str:
        return f"decisions between {len(self.classes)} classes by margin"

    @property
    def strata(self) -> NDArray[np.intp]:
        size = len(self.classes)
        return np.tile(np.repeat(np.arange(size), size), self.low.size)

    @property
    def class_names(self) -> tuple[str, ...]:
        return self.classes

    @property
    def margins(self) -> ScoreTable:
        """Score table of the margins, with correct decisions as the positive class."""
        correct = np.trace(self.matrix, axis1=-2, axis2=-1)
        counts = np.stack([self.matrix.sum(axis=(-2, -1)) - correct, correct], axis=-2)
        width = float((self.high - self.low).max(initial=0.0))
        return ScoreTable(self.low, counts, ("wrong", "right"), 1, width)

    def left(self, lead: Array) -> Array:
        """Confusion counts (n_margins, K²) of the cases whose margin is at least each of the given ones."""
        cumulative = np.cumsum(self.matrix.reshape(self.low.size, -1), axis=0)
        place = np.searchsorted(-self.low, -lead, side="right")
        return np.vstack([np.zeros(cumulative.shape[1]), cumulative])[place]

    def in_order(self, order: Sequence[Any]) -> Self:
        place = [self.classes.index(name) for name in order]
        return replace(self, matrix=self.matrix[:, place][:, :, place], classes=tuple(order))

    def stored(self) -> StoredTable:
        place, actual, decided = np.nonzero(self.matrix)
        weight = self.matrix[place, actual, decided]
        columns = {"actual": actual, "decided": decided, "weight": weight}
        columns |= {"low": self.low[place], "high": self.high[place]}
        return StoredTable({"kind": "leads", "positive": None}, columns)

    def __add__(self, other: Self) -> Self:
        """Merge the tables of two samples."""
        if self.classes != other.classes:
            raise DataError(
                "decisions between different classes cannot be merged.",
                seen=f"{listing(self.classes)} and {listing(other.classes)}",
            )
        rows = [table.stored().columns for table in (self, other)]
        names = ("low", "actual", "decided", "weight", "high")
        low, actual, decided, weight, high = (np.concatenate([columns[name] for columns in rows]) for name in names)
        return cast(Self, margin_table(low, actual, decided, weight, self.classes, high))


def margin_table(
    lead: Array, actual: Array, decided: Array, weight: Array, classes: tuple[str, ...], high: Array | None = None
) -> MarginTable:
    """Build a margin table from cases, or from groups of cases that share a bin; classes are indices."""
    size = len(classes)
    key = bin_of_score(np.asarray(lead, dtype=np.float64), PAIR_BITS)
    keys, place = np.unique(-key, return_inverse=True)
    matrix = np.bincount(place * size**2 + actual * size + decided, weight, minlength=keys.size * size**2)
    low, top = np.full(keys.size, np.inf), np.full(keys.size, -np.inf)
    np.minimum.at(low, place, lead)
    np.maximum.at(top, place, lead if high is None else high)
    return MarginTable(low, top, matrix.reshape(-1, size, size), classes)
