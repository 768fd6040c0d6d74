"""Points in clusters, and clusters beside known classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from itertools import pairwise
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.errors import ColumnError, DataError, ScoreError, WeightError, listing, nearest
from scorespace.frozen import dataclass
from scorespace.tables.columns import refuse_sizes, refuse_uncountable
from scorespace.tables.counts import ratio
from scorespace.tables.labels import encode
from scorespace.tables.nearest import borders, diameter
from scorespace.tables.order import counted_at
from scorespace.tables.table import Array, At, NoTableError, Table, Wanted, Weighed


def _once(compute: Callable[[Any], Array]) -> Any:
    """A property that is computed once, for all clusters and each of them alike."""

    def found(self: ClusterTable) -> Array:
        return cast(Array, self.once(compute.__name__, lambda: compute(self)))

    return property(found, doc=compute.__doc__)


@dataclass(frozen=True, eq=False)
class ClusterTable(Table):
    """Points (n, d) in the order of their clusters, with a weight (…, n) each; leading axes are replicates.

    `focus` is the cluster that is asked about, None for all of them. A cluster without weight is absent.

    >>> cluster_table([[0, 0], [0, 2], [5, 0]], ["a", "a", "b"]).centroids
    array([[0., 1.],
           [5., 0.]])
    """

    holds = "points in clusters"
    by_case = True
    point: Array
    label: NDArray[np.intp]
    names: tuple[str, ...]
    weight: Array
    group: NDArray[np.int32] | None = None
    copies: bool = False
    focus: int | None = None
    kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def described(self) -> str:
        return f"points in {len(self.names)} clusters"

    @property
    def cells(self) -> Array:
        return self.weight

    @property
    def strata(self) -> NDArray[np.intp]:
        return self.label

    @property
    def counted(self) -> bool:
        return True

    @property
    def cell_squares(self) -> Array | None:
        return None if self.copies or bool((self.weight == 1).all()) else self.weight**2

    @property
    def grouping(self) -> NDArray[np.int32] | None:
        return self.group

    @property
    def class_names(self) -> tuple[str, ...]:
        return self.names

    def with_cells(self, cells: Array) -> Self:
        return replace(self, weight=np.asarray(cells, dtype=np.float64), kept={})

    def part(self, cell: NDArray[np.int32]) -> tuple[Self, NDArray[np.int32]]:
        """Some of the points, which stay in the order of their clusters."""
        order = np.argsort(self.label[cell], kind="stable")
        chosen = cell[order]
        place = np.empty(cell.size, dtype=np.int32)
        place[order] = np.arange(cell.size, dtype=np.int32)
        group = None if self.group is None else self.group[chosen]
        point, label, weight = self.point[chosen], self.label[chosen], self.weight[..., chosen]
        return replace(self, point=point, label=label, weight=weight, group=group, kept={}), place

    def inside(
        self, wanted: type[Wanted], of: str | None = None, at: At | None = None, *, sized: bool = False
    ) -> Wanted:
        if of is None or at is not None or wanted is not ClusterTable:
            return super().inside(wanted, None if wanted is ClusterTable else of, at, sized=sized)
        if of not in self.names:
            near = nearest(of, self.names)
            raise NoTableError(
                f"names the cluster {of!r}, which there is not",
                seen=listing(self.names),
                hint=f"{{label}}[{near}]" if near else "{label}",
            )
        return cast(Wanted, replace(self, focus=self.names.index(of)))

    def __add__(self, other: Self) -> Self:
        """The points of both samples; clusters of the same name are one."""
        labels = [held.names[k] for held in (self, other) for k in held.label]
        group = None
        if self.group is not None and other.group is not None:
            group = np.append(self.group, other.group)
        points, weight = np.concatenate([self.point, other.point]), np.append(self.weight, other.weight)
        return cast(Self, cluster_table(points, labels, weight=weight, group=group, copies=self.copies))

    # --- what the measures are made of, each computed once

    def once(self, name: str, compute: Callable[[], Any]) -> Any:
        """What was computed under a name, for all clusters and each of them alike."""
        if name not in self.kept:
            self.kept[name] = compute()
        return self.kept[name]

    def sums(self, values: Array, how: np.ufunc = np.add, nothing: float = 0.0) -> Array:
        """The sums (…, K) over each cluster of values (…, n), or what another function makes of them together."""
        found = np.full((*values.shape[:-1], len(self.names)), nothing)
        starts = np.searchsorted(self.label, np.arange(len(self.names) + 1))
        filled = np.flatnonzero(np.diff(starts))
        if filled.size:
            found[..., filled] = how.reduceat(values, starts[filled], axis=-1)
        return found

    def slices(self) -> list[slice]:
        """Where the points of each cluster stand."""
        return [slice(*ends) for ends in pairwise(np.searchsorted(self.label, np.arange(len(self.names) + 1)).tolist())]

    @_once
    def sizes(self) -> Array:
        """The weight (…, K) of each cluster."""
        return self.sums(self.weight)

    @property
    def present(self) -> Array:
        """How many clusters have points (…)."""
        return np.asarray((self.sizes > 0).sum(axis=-1))

    @_once
    def centroids(self) -> Array:
        """The mean point (…, K, d) of each cluster; NaN where there is none."""
        found = np.empty((*self.weight.shape[:-1], len(self.names), self.point.shape[1]))
        for k, rows in enumerate(self.slices()):  # products of matrices, which are faster than what spares the loop
            found[..., k, :] = self.weight[..., rows] @ self.point[rows]
        return ratio(found, self.sizes[..., None])

    @_once
    def away(self) -> Array:
        """The distance (…, n) of each point to the centroid of its cluster."""
        if self.weight.ndim == 1:
            return np.sqrt(((self.centroids[self.label] - self.point) ** 2).sum(axis=-1))
        found = np.empty(self.weight.shape)
        for k, rows in enumerate(self.slices()):  # |x − c|² = |x|² − 2 x·c + |c|², counted from the middle of x
            middle = self.point[rows].sum(axis=0) / max(1, rows.stop - rows.start)
            points, centre = self.point[rows] - middle, self.centroids[..., k, :] - middle
            sizes = (points**2).sum(axis=-1) + (centre**2).sum(axis=-1)[..., None]
            squares = sizes - 2 * (centre @ points.T)
            found[..., rows] = np.sqrt(np.where(squares > 1e-14 * sizes, squares, 0.0))  # the rest is rounding
        return found

    @_once
    def gaps(self) -> Array:
        """The distances (…, K, K) between centroids; NaN to itself and to an absent one."""
        steps = self.centroids[..., :, None, :] - self.centroids[..., None, :, :]
        return np.where(np.eye(len(self.names), dtype=bool), np.nan, np.sqrt((steps**2).sum(axis=-1)))

    def parts(self) -> list[Array]:
        """The points of each cluster, those without weight left out."""
        if self.weight.ndim > 1:
            raise NoTableError("rests on the outermost points, which drawing points again can only lose")
        there = self.weight > 0
        return [self.point[rows][there[rows]] for rows in self.slices()]

    @property
    def known_borders(self) -> Array:
        """The distances (K, K) between borders as far as known: to the nearest cluster at least, infinite elsewhere."""
        whole = self.kept.get("borders")
        found = self.once("nearest", lambda: borders(self.parts(), whole=False)) if whole is None else whole
        return cast(Array, found)

    @property
    def nearest(self) -> Array:
        """The distance (K,) from each cluster to the nearest point of another; infinite where there is none."""
        return np.asarray(self.known_borders.min(axis=1))

    @_once
    def borders(self) -> Array:
        """The distance (K, K) of the nearest two points of every two clusters; infinite to itself."""
        return borders(self.parts(), whole=True)

    @_once
    def diameters(self) -> Array:
        """The largest distance (K,) within each cluster."""
        return np.array([diameter(part) for part in self.parts()])

    def __repr__(self) -> str:
        return f"ClusterTable: {self.label.size} points of {self.point.shape[1]} features in {len(self.names)} clusters"


def cluster_table(
    points: ArrayLike,
    labels: Any,
    *,
    weight: ArrayLike | None = None,
    group: NDArray[np.int32] | None = None,
    copies: bool = False,
) -> ClusterTable:
    """The table of points (n, d) and the cluster of each.

    >>> cluster_table([[0.0], [1.0], [9.0]], ["a", "a", "b"]).sizes
    array([2., 1.])
    """
    point = np.asarray(points, dtype=np.float64)
    if point.ndim != 2 or point.shape[1] == 0:
        raise DataError(
            "points must be rows of features.", seen=f"an array of shape {point.shape}", hint="one row for each point"
        )
    if not np.isfinite(point).all():
        raise ScoreError(
            "points must be finite numbers.",
            seen=f"{int((~np.isfinite(point)).sum())} that are not",
            hint="drop or fill those points first",
        )
    codes, names = encode(labels, "the labels of clusters")
    if codes.size != len(point):
        raise DataError(
            "points and labels differ in number.",
            seen=f"{len(point)} points, {codes.size} labels",
            hint="one label for each point",
        )
    held = np.ones(len(point)) if weight is None else np.asarray(weight, dtype=np.float64)
    if held.shape != (len(point),):
        raise WeightError(
            "weights and points differ in number.",
            seen=f"{held.size} weights, {len(point)} points",
            hint="one weight for each point",
        )
    if not (np.isfinite(held) & (held >= 0)).all() or not held.sum() > 0:
        raise WeightError("weights must be finite numbers ≥ 0, not all 0.", hint="weight 0 leaves a point out")
    refuse_sizes(point, "points have features")
    refuse_uncountable(held, "the weights")
    order = np.argsort(codes, kind="stable")
    groups = None if group is None else np.asarray(group)[order]
    return ClusterTable(point[order], codes[order].astype(np.intp), names, held[order], groups, copies)


@dataclass(frozen=True, eq=False)
class ContingencyTable(Weighed):
    """How many points of each class (rows) are in each cluster (columns); leading axes are replicates.

    >>> contingency(["x", "x", "y"], ["a", "b", "b"]).matrix
    array([[1., 1.],
           [0., 1.]])
    """

    holds = "clusters beside classes"
    weights, axes = "matrix", 2

    matrix: Array
    classes: tuple[str, ...]
    clusters: tuple[str, ...]
    squares: Array | None = field(default=None, compare=False, repr=False)

    def described(self) -> str:
        return f"{len(self.clusters)} clusters beside {len(self.classes)} classes"

    def with_cells(self, cells: Array) -> Self:
        return super().with_cells(np.asarray(cells, dtype=np.float64))  # drawn as bytes, whose products overflow

    def __add__(self, other: Self) -> Self:
        if (self.classes, self.clusters) != (other.classes, other.clusters):
            raise ColumnError(
                "tables of different classes or clusters cannot be added.",
                hint="tables of the same classes and clusters",
            )
        squares = self.squares_with(other, np.add)
        return replace(self, matrix=self.matrix + other.matrix, squares=squares)


def contingency(classes: Any, labels: Any, *, weight: Array | None = None, copies: bool = False) -> ContingencyTable:
    """The table of two labellings of the same points."""
    (rows, names), (columns, clusters) = encode(classes, "the classes"), encode(labels, "the labels of clusters")
    if rows.size != columns.size:
        raise DataError(
            "classes and labels differ in number.",
            seen=f"{rows.size} and {columns.size}",
            hint="one class and one label for each point",
        )
    place, shape = rows.astype(np.int64) * len(clusters) + columns, (len(names), len(clusters))
    matrix, squares = counted_at(place, shape, weight, copies)
    return ContingencyTable(matrix.astype(np.float64), names, clusters, squares)
