"""Rating tables: the distinct patterns of classes that raters assigned to an instance, with their frequencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError, listing
from scorespace.results import grouped
from scorespace.tables.columns import validate_weights
from scorespace.tables.labels import encode, is_missing, label_text
from scorespace.tables.table import Array, WeightedTable

NOT_RATED = -1
"""Code of an instance that a rater did not rate."""


@dataclass(frozen=True, eq=False)
class RatingTable(WeightedTable):
    """Patterns of ratings, and the number of instances with each: the sufficient statistic of inter-rater agreement.

    Parameters
    ----------
    pattern : ndarray of shape (n_patterns, n_raters)
        Codes of the classes that the raters gave.
    counts : ndarray of shape (…, n_patterns)
        Number of instances with each pattern; leading axes are replicates.
    classes : tuple of str
        Names of the classes, in order if an order was stated.
    raters : tuple of str
        Names of the raters.
    squares : ndarray, optional
        Sums of squared weights in the same shape, if cases are weighted.
    given : ndarray of shape (n_instances, n_raters)
        Codes of every instance in its original order.
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
        """Description for messages, such as "ratings of 3 raters"."""
        return f"ratings of {len(self.raters)} raters"

    def __add__(self, other: Self) -> Self:
        if (self.classes, self.raters) != (other.classes, other.raters):
            raise DataError(
                "ratings of different raters or classes cannot be merged.", hint="tables of the same raters and classes"
            )
        pattern = np.vstack([self.pattern, other.pattern])
        counts = np.concatenate([self.counts, other.counts], axis=-1)
        squares = self.squares_with(other, np.append)
        return type(self)(pattern, counts, self.classes, self.raters, squares)

    @cached_property
    def votes(self) -> Array:
        """Number of raters who assigned each class in every pattern, shape (m, K)."""
        return np.stack([(self.pattern == k).sum(axis=1) for k in range(len(self.classes))], axis=1).astype(np.float64)

    @cached_property
    def joint(self) -> Array:
        """Joint frequencies of the classes assigned by the first two raters, shape (…, K, K)."""
        first, second = self.pattern[:, 0], self.pattern[:, 1]
        both = (first != NOT_RATED) & (second != NOT_RATED)
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
    """Build a rating table from the labels of each rater; None where a rater did not rate an instance.

    Parameters
    ----------
    ratings : mapping of str to sequence
        The label that each rater gave to each instance.
    classes : sequence, optional
        The classes in order, which weighted measures need.
    weight : array_like, optional
        Weight of each instance; 1 by default.

    Returns
    -------
    RatingTable
        The table of measures of agreement.

    Examples
    --------
    >>> rating_table({"Ann": ["yes", "no", "no"], "Bob": ["yes", "no", None]}).votes.tolist()
    [[1.0, 0.0], [2.0, 0.0], [0.0, 2.0]]
    """
    if len(ratings) < 2:
        raise DataError("agreement needs at least two raters.", seen=listing(ratings), hint="a second rater")
    columns = {str(name): np.array(list(values), dtype=object) for name, values in ratings.items()}
    sizes = {column.size for column in columns.values()}
    if len(sizes) > 1:
        raise DataError(
            "the raters rated different numbers of instances.",
            seen=listing(sorted(sizes)),
            hint="one label per rater and instance; None where a rating is missing",
        )
    labels = np.concatenate(list(columns.values()))
    is_rated = ~np.fromiter(map(is_missing, labels), dtype=bool, count=labels.size)
    if not is_rated.any():
        raise DataError("there are no ratings.", hint="at least one label")
    codes, seen = encode(labels[is_rated], "ratings")
    names = seen if classes is None else tuple(map(label_text, classes))
    absent = [name for name in seen if name not in names]
    if absent or len(set(names)) < len(names):
        raise DataError(
            "classes must name every label once.",
            seen=f"labels {listing(seen)}, classes {listing(names)}",
            hint="name every label once",
        )
    all_codes = np.full(labels.size, NOT_RATED, dtype=np.intp)
    all_codes[is_rated] = np.array([names.index(name) for name in seen])[codes]
    given = np.ascontiguousarray(all_codes.reshape(len(columns), -1).T)
    pattern, place, times = np.unique(given, axis=0, return_inverse=True, return_counts=True)
    if weight is None:
        return RatingTable(pattern, times.astype(np.float64), names, tuple(columns), None, given)
    weights = validate_weights(weight, len(given))
    counts, squares = (np.bincount(place.ravel(), w, minlength=len(pattern)) for w in (weights, weights**2))
    return RatingTable(pattern, counts, names, tuple(columns), squares, given)
