"""The rating table: which class each rater gave each instance, as distinct patterns and how often each occurs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError, listing
from scorespace.frozen import dataclass
from scorespace.results import grouped
from scorespace.tables.columns import weights_of
from scorespace.tables.labels import encode, is_missing, label_text
from scorespace.tables.table import Array, Weighed

NOBODY = -1
"""The code of an instance that a rater did not judge."""


@dataclass(frozen=True, eq=False)
class RatingTable(Weighed):
    """Patterns (m, raters) of codes into the classes, and the instances of each pattern (…, m).

    All that raters' agreement rests on: for each instance how many raters gave each class, and for two raters who
    gave which. The classes are in order, where an order was stated. `given` holds the codes of every instance, as they
    were given.
    """

    holds = "ratings"
    weights = "counts"

    pattern: NDArray[np.intp]
    counts: Array
    classes: tuple[str, ...]
    raters: tuple[str, ...]
    squares: Array | None = field(default=None, compare=False, repr=False)
    given: NDArray[np.intp] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.intp), compare=False, repr=False)

    def described(self) -> str:
        return f"ratings of {len(self.raters)} raters"

    def __add__(self, other: Self) -> Self:
        if (self.classes, self.raters) != (other.classes, other.raters):
            raise DataError(
                "ratings of other raters or classes cannot be merged.", hint="tables of the same raters and classes"
            )
        pattern = np.vstack([self.pattern, other.pattern])
        counts = np.concatenate([self.counts, other.counts], axis=-1)
        squares = self.squares_with(other, np.append)
        return type(self)(pattern, counts, self.classes, self.raters, squares)

    @cached_property
    def votes(self) -> Array:
        """How many raters gave each class in every pattern (m, K)."""
        return np.stack([(self.pattern == k).sum(axis=1) for k in range(len(self.classes))], axis=1).astype(np.float64)

    @cached_property
    def joint(self) -> Array:
        """How often the first of two raters gave the one class and the second the other (…, K, K)."""
        first, second = self.pattern[:, 0], self.pattern[:, 1]
        both = (first != NOBODY) & (second != NOBODY)
        size = len(self.classes)
        place = np.zeros((len(self.pattern), size * size))
        place[np.flatnonzero(both), first[both] * size + second[both]] = 1.0
        return (self.counts @ place).reshape(*self.counts.shape[:-1], size, size)

    def __repr__(self) -> str:
        size = grouped(float(self.counts.sum())) if self.counts.ndim == 1 else "replicates of"
        return f"RatingTable: {size} instances, {len(self.raters)} raters, classes {listing(self.classes)}"


def rating_table(
    ratings: Mapping[str, Any], *, classes: Sequence[Any] | None = None, weight: Any = None
) -> RatingTable:
    """The rating table from the labels of each rater; None where a rater did not judge an instance.

    `classes` states their order, which weighted measures need. `weight` is that of each instance.

    >>> rating_table({"Ann": ["yes", "no", "no"], "Bob": ["yes", "no", None]}).votes.tolist()
    [[1.0, 0.0], [2.0, 0.0], [0.0, 2.0]]
    """
    if len(ratings) < 2:
        raise DataError("agreement needs at least two raters.", seen=listing(ratings), hint="a second rater")
    columns = {str(name): np.array(list(values), dtype=object) for name, values in ratings.items()}
    sizes = {column.size for column in columns.values()}
    if len(sizes) > 1:
        raise DataError(
            "the raters judged different numbers of instances.",
            seen=listing(sorted(sizes)),
            hint="one label of every rater for each instance; None where there is none",
        )
    every = np.concatenate(list(columns.values()))
    judged = ~np.fromiter(map(is_missing, every), dtype=bool, count=every.size)
    if not judged.any():
        raise DataError("no rater judged any instance.", hint="at least one label")
    codes, seen = encode(every[judged], "ratings")
    names = seen if classes is None else tuple(map(label_text, classes))
    absent = [name for name in seen if name not in names]
    if absent or len(set(names)) < len(names):
        raise DataError(
            "classes must name every label once.",
            seen=f"labels {listing(seen)}, classes {listing(names)}",
            hint="every label once",
        )
    placed = np.full(every.size, NOBODY, dtype=np.intp)
    placed[judged] = np.array([names.index(name) for name in seen])[codes]
    given = np.ascontiguousarray(placed.reshape(len(columns), -1).T)
    pattern, place, times = np.unique(given, axis=0, return_inverse=True, return_counts=True)
    if weight is None:
        return RatingTable(pattern, times.astype(np.float64), names, tuple(columns), None, given)
    weights = weights_of(weight, len(given))
    counts, squares = (np.bincount(place.ravel(), w, minlength=len(pattern)) for w in (weights, weights**2))
    return RatingTable(pattern, counts, names, tuple(columns), squares, given)
