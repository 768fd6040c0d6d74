"""How sure decisions between several classes are: what is taken for what, by the lead of the highest score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Self, cast

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError, listing
from scorespace.frozen import dataclass
from scorespace.tables.bins import cell
from scorespace.tables.pair import PAIR_BITS
from scorespace.tables.score import ScoreTable
from scorespace.tables.table import Array, Stored, Weighed

MOST_CLASSES: Final = 40
"""Of more classes the cells of all bins would be too many."""


@dataclass(frozen=True, eq=False)
class LeadTable(Weighed):
    """Counts (m, K, K) of decisions, rows actual, in some hundred bins of the lead over the second score.

    `low` and `high` (m,) are the smallest and largest lead in each bin, from the highest down: what leads by at least
    `low` is known exactly.

    >>> t = lead_table(np.array([0.6, 0.1]), np.array([0, 1]), np.array([0, 0]), np.ones(2), ("a", "b"))
    >>> t.left(np.array([0.0, 0.5])).tolist()
    [[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0]]
    """

    weights, axes = "matrix", 3
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    matrix: Array
    classes: tuple[str, ...]

    def described(self) -> str:
        return f"decisions between {len(self.classes)} classes by their lead"

    @property
    def strata(self) -> NDArray[np.intp]:
        size = len(self.classes)
        return np.tile(np.repeat(np.arange(size), size), self.low.size)

    @property
    def class_names(self) -> tuple[str, ...]:
        return self.classes

    @property
    def margins(self) -> ScoreTable:
        """The lead of the highest score over the second, with the decision right or wrong as classes."""
        right = np.trace(self.matrix, axis1=-2, axis2=-1)
        counts = np.stack([self.matrix.sum(axis=(-2, -1)) - right, right], axis=-2)
        width = float((self.high - self.low).max(initial=0.0))
        return ScoreTable(self.low, counts, ("wrong", "right"), 1, width)

    def left(self, lead: Array) -> Array:
        """What is taken for what (places, K²) among the cases that lead by at least so much."""
        reached = np.cumsum(self.matrix.reshape(self.low.size, -1), axis=0)
        place = np.searchsorted(-self.low, -lead, side="right")
        return np.vstack([np.zeros(reached.shape[1]), reached])[place]

    def in_order(self, order: Sequence[Any]) -> Self:
        place = [self.classes.index(name) for name in order]
        return replace(self, matrix=self.matrix[:, place][:, :, place], classes=tuple(order))

    def stored(self) -> Stored:
        place, actual, decided = np.nonzero(self.matrix)
        weight = self.matrix[place, actual, decided]
        columns = {"actual": actual, "decided": decided, "weight": weight}
        columns |= {"low": self.low[place], "high": self.high[place]}
        return Stored({"kind": "leads", "positive": None}, columns)

    def __add__(self, other: Self) -> Self:
        """The table of both samples together."""
        if self.classes != other.classes:
            raise DataError(
                "decisions between different classes cannot be merged.",
                seen=f"{listing(self.classes)} and {listing(other.classes)}",
            )
        rows = [one.stored().columns for one in (self, other)]
        names = ("low", "actual", "decided", "weight", "high")
        low, actual, decided, weight, high = (np.concatenate([each[name] for each in rows]) for name in names)
        return cast(Self, lead_table(low, actual, decided, weight, self.classes, high))


def lead_table(
    lead: Array, actual: Array, decided: Array, weight: Array, classes: tuple[str, ...], high: Array | None = None
) -> LeadTable:
    """The table of cases, or of groups of cases that share a bin, their classes as numbers."""
    size = len(classes)
    key = cell(np.asarray(lead, dtype=np.float64), PAIR_BITS)
    keys, place = np.unique(-key, return_inverse=True)
    matrix = np.bincount(place * size**2 + actual * size + decided, weight, minlength=keys.size * size**2)
    low, top = np.full(keys.size, np.inf), np.full(keys.size, -np.inf)
    np.minimum.at(low, place, lead)
    np.maximum.at(top, place, lead if high is None else high)
    return LeadTable(low, top, matrix.reshape(-1, size, size), classes)
