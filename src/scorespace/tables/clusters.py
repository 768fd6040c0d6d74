"""Cluster tables (points in clusters) and contingency tables (clusters against known classes)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial, wraps
from itertools import pairwise
from typing import Any, Final, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.errors import ColumnError, DataError, ScoreError, WeightError, closest_name, listing
from scorespace.tables.columns import check_magnitudes, check_weight_sum
from scorespace.tables.counts import ratio
from scorespace.tables.labels import encode
from scorespace.tables.table import Array, NoTableError, Table, Wanted, WeightedTable
from scorespace.tables.threshold import At
from scorespace.tables.weighted_quantiles import count_by_index

_FIRST_CANDIDATES: Final = 64  # facing points compared first: the closer they are, the fewer other points need checking
_MAX_DIRECT_DISTANCES: Final = 500_000  # up to this many distances are computed at once instead of querying a k-d tree
_BLOCK_ROWS: Final = 512


def borders(parts: Sequence[Array], *, whole: bool) -> NDArray[np.float64]:
    """Distance (K, K) between the closest points of every two clusters; infinite to itself and to an empty cluster.

    If not `whole`, pairs that are closest for neither of the two stay infinite. Each cluster lies in a ball: pairs
    whose centre distance minus both radii exceeds the smallest distances are skipped.
    """
    from scipy.spatial import KDTree  # imported only when clusters are evaluated

    nonempty = [k for k, part in enumerate(parts) if len(part)]
    clusters = [parts[k] for k in nonempty]
    result = np.full((len(parts), len(parts)), np.inf)
    if len(clusters) < 2:
        return result
    centres = np.array([part.mean(axis=0) for part in clusters])
    radii = np.array(
        [np.sqrt(_squared_distances(part, centre).max()) for part, centre in zip(clusters, centres, strict=True)]
    )
    between = np.sqrt(np.maximum(0.0, ((centres[:, None] - centres) ** 2).sum(axis=-1)))
    pairs = np.stack(np.triu_indices(len(clusters), 1), axis=1)
    bound = (between - radii[:, None] - radii)[pairs[:, 0], pairs[:, 1]]
    tree = cache(lambda k: KDTree(clusters[k], leafsize=32))
    distances, nearest = np.full(between.shape, np.inf), np.full(len(clusters), np.inf)
    for place in np.argsort(bound, kind="stable"):
        a, b = sorted(pairs[place].tolist(), key=lambda k: len(clusters[k]))
        # The tolerance keeps touching pairs whose bound is rounded.
        if not whole and bound[place] * (1 - 1e-9) > max(nearest[a], nearest[b]):
            continue
        best = _closest_distance(clusters[a], clusters[b], centres[a], centres[b], partial(tree, b))
        distances[a, b] = distances[b, a] = best
        nearest[[a, b]] = np.minimum(nearest[[a, b]], best)
    result[np.ix_(nonempty, nonempty)] = distances
    return result


def _closest_distance(points: Array, others: Array, own: Array, centre: Array, tree: Callable[[], Any]) -> float:
    """Distance between the closest points of two clusters with these centres.

    No two points are closer than their projections on the line between the centres: once a close pair is known,
    points that lie too far back on either side are skipped.
    """
    from scipy.spatial.distance import cdist

    line = centre - own
    length = float(np.sqrt(line @ line))
    line = line / length if length > 0 else np.eye(line.size)[0]
    near, far = points @ line, others @ line
    forward, back = np.argsort(-near, kind="stable"), np.argsort(far, kind="stable")
    best = float(cdist(points[forward[:_FIRST_CANDIDATES]], others[back[:_FIRST_CANDIDATES]]).min())
    reach = best * (1 + 1e-9)  # the tolerance keeps touching pairs despite rounding
    points = points[forward[: np.searchsorted(-near[forward], reach - far[back[0]], side="right")]]
    others = others[back[: np.searchsorted(far[back], reach + near[forward[0]], side="right")]]
    if len(points) * len(others) <= _MAX_DIRECT_DISTANCES:
        return min(best, float(cdist(points, others).min())) if len(points) and len(others) else best
    start, count = 0, _FIRST_CANDIDATES
    while start < len(points) and best > 0:
        distance, _ = tree().query(points[start : start + count], distance_upper_bound=best)
        best = min(best, float(distance.min()))
        start, count = start + count, count * 4
    return best


def diameter(points: Array) -> float:
    """Largest distance between two points of a cluster.

    The distance of two points is at most the sum of their distances to the centre: once a distant pair is known,
    points near the centre are skipped.
    """
    if len(points) < 2:
        return 0.0
    centre = points.mean(axis=0)
    radius = np.sqrt(_squared_distances(points, centre))
    order = np.argsort(-radius, kind="stable")
    points, radius = points[order], radius[order]
    point = points[0]
    best = 0.0
    for _ in range(3):  # go to the farthest point, and from there to the farthest one again
        distances = _squared_distances(points, point)
        far = int(np.argmax(distances))
        best, point = max(best, float(np.sqrt(distances[far]))), points[far]
    for start in range(0, len(points), _BLOCK_ROWS):
        if 2 * radius[start] * (1 + 1e-9) <= best:
            break
        block = points[start : start + _BLOCK_ROWS]
        end = int(np.searchsorted(-radius, -(best - radius[start]) / (1 + 1e-9), side="right"))
        rest = points[start:end]
        if len(rest):
            best = max(best, _largest_distance(block, rest))
    return best


def _largest_distance(block: Array, rest: Array) -> float:
    from scipy.spatial.distance import cdist

    return max(
        float(cdist(block, rest[start : start + 4 * _BLOCK_ROWS]).max())
        for start in range(0, len(rest), 4 * _BLOCK_ROWS)
    )


def _squared_distances(points: Array, centre: Array) -> Array:
    return np.asarray(((points - centre) ** 2).sum(axis=1))


def _cached(compute: Callable[[Any], Array]) -> Any:
    """A property that is computed once and shared by the table of all clusters and those of single clusters."""

    @wraps(compute)
    def value(self: ClusterTable) -> Array:
        return cast(Array, self.once(compute.__name__, lambda: compute(self)))

    return property(value)


@dataclass(frozen=True, eq=False)
class ClusterTable(Table):
    """Points in clusters, sorted by cluster.

    A cluster of zero weight is absent.

    Parameters
    ----------
    point : ndarray of shape (n_points, n_features)
        The points.
    label : ndarray of int
        Index of the cluster of each point, ascending.
    names : tuple of str
        Names of the clusters.
    weight : ndarray of shape (…, n_points)
        Weight of each point; leading axes are replicates.
    group : ndarray of int, optional
        Index of the group of each point, if points are grouped.
    copies : bool
        Whether weights are frequencies, each unit being one case.
    focus : int, optional
        Index of the cluster that is evaluated; all by default.
    kept : dict
        Values that were computed once.

    Examples
    --------
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
        """Description for messages, such as "points in 3 clusters"."""
        return f"points in {len(self.names)} clusters"

    @property
    def cells(self) -> Array:
        """Weight of each point, shape (…, n_points)."""
        return self.weight

    @property
    def strata(self) -> NDArray[np.intp]:
        """Index of the cluster of each point, for stratified resampling."""
        return self.label

    @property
    def counted(self) -> bool:
        """Whether points can be resampled: always."""
        return True

    @property
    def cell_squares(self) -> Array | None:
        """Squared weight of each point, if points are weighted."""
        return None if self.copies or bool((self.weight == 1).all()) else self.weight**2

    @property
    def grouping(self) -> NDArray[np.int32] | None:
        """Index of the group of each point, if points are grouped."""
        return self.group

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the clusters."""
        return self.names

    def with_cells(self, cells: Array) -> Self:
        """Return the same points with other weights.

        Parameters
        ----------
        cells : ndarray of shape (…, n_cells)
            The new weight of each cell; leading axes are replicates.

        Returns
        -------
        ClusterTable
            The reweighted table.
        """
        return replace(self, weight=np.asarray(cells, dtype=np.float64), kept={})

    def part(self, cell: NDArray[np.int32]) -> tuple[Self, NDArray[np.int32]]:
        """The table of a subset of points, sorted by cluster.

        Parameters
        ----------
        cell : ndarray of int
            The cell of each case.

        Returns
        -------
        tuple
            The table, and the cell of each point in it.
        """
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
        """Derive a table of the required kind; of this kind, also that of one cluster.

        Parameters
        ----------
        wanted : type of Table
            The kind of table that is derived.
        of : str, optional
            Name of the cluster that is evaluated.
        at : None
            Must be omitted: clusters have no threshold.
        sized : bool
            Whether values of the scores matter, not only their order.

        Returns
        -------
        Table
            A table of the wanted kind.
        """
        if of is None or at is not None or wanted is not ClusterTable:
            return super().inside(wanted, None if wanted is ClusterTable else of, at, sized=sized)
        if of not in self.names:
            near = closest_name(of, self.names)
            raise NoTableError(
                f"names the unknown cluster {of!r}",
                seen=listing(self.names),
                hint=f"{{label}}[{near}]" if near else "{label}",
            )
        return cast(Wanted, replace(self, focus=self.names.index(of)))

    def __add__(self, other: Self) -> Self:
        """Merge the points of two samples; clusters of the same name are one."""
        labels = [table.names[k] for table in (self, other) for k in table.label]
        group = None
        if self.group is not None and other.group is not None:
            group = np.append(self.group, other.group)
        points, weight = np.concatenate([self.point, other.point]), np.append(self.weight, other.weight)
        return cast(Self, cluster_table(points, labels, weight=weight, group=group, copies=self.copies))

    # --- quantities shared by the measures, each computed once

    def once(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return a cached value, or compute it; the cache is shared with the tables of single clusters.

        Parameters
        ----------
        name : str
            Name of the value.
        compute : callable
            Computes the value, without arguments.

        Returns
        -------
        object
            The value.
        """
        if name not in self.kept:
            self.kept[name] = compute()
        return self.kept[name]

    def sums(self, values: Array, how: np.ufunc = np.add, nothing: float = 0.0) -> Array:
        """Reduce values (…, n) within each cluster to shape (…, K), by default by summing.

        Parameters
        ----------
        values : ndarray of shape (…, n_points)
            A value of each point.
        how : numpy.ufunc
            The reduction, such as `numpy.add` or `numpy.maximum`.
        nothing : float
            Value of an empty cluster.

        Returns
        -------
        ndarray of shape (…, n_clusters)
            The value of each cluster.
        """
        result = np.full((*values.shape[:-1], len(self.names)), nothing)
        starts = np.searchsorted(self.label, np.arange(len(self.names) + 1))
        nonempty = np.flatnonzero(np.diff(starts))
        if nonempty.size:
            result[..., nonempty] = how.reduceat(values, starts[nonempty], axis=-1)
        return result

    def slices(self) -> list[slice]:
        """Rows of each cluster."""
        return [slice(*ends) for ends in pairwise(np.searchsorted(self.label, np.arange(len(self.names) + 1)).tolist())]

    @_cached
    def sizes(self) -> Array:
        """Weight of each cluster, shape (…, K)."""
        return self.sums(self.weight)

    @property
    def present(self) -> Array:
        """Number of clusters that have points, shape (…)."""
        return np.asarray((self.sizes > 0).sum(axis=-1))

    @_cached
    def centroids(self) -> Array:
        """Mean point of each cluster, shape (…, K, d); NaN if it is empty."""
        sums = np.empty((*self.weight.shape[:-1], len(self.names), self.point.shape[1]))
        for k, rows in enumerate(self.slices()):  # matrix products in a loop are faster than one reduction
            sums[..., k, :] = self.weight[..., rows] @ self.point[rows]
        return ratio(sums, self.sizes[..., None])

    @_cached
    def distance_to_centroid(self) -> Array:
        """Distance of each point to the centroid of its cluster, shape (…, n)."""
        if self.weight.ndim == 1:
            return np.sqrt(((self.centroids[self.label] - self.point) ** 2).sum(axis=-1))
        distances = np.empty(self.weight.shape)
        for k, rows in enumerate(self.slices()):  # |x − c|² = |x|² − 2 x·c + |c|², with x centred to keep digits
            middle = self.point[rows].sum(axis=0) / max(1, rows.stop - rows.start)
            points, centre = self.point[rows] - middle, self.centroids[..., k, :] - middle
            sizes = (points**2).sum(axis=-1) + (centre**2).sum(axis=-1)[..., None]
            squares = sizes - 2 * (centre @ points.T)
            distances[..., rows] = np.sqrt(np.where(squares > 1e-14 * sizes, squares, 0.0))  # below is rounding error
        return distances

    @_cached
    def gaps(self) -> Array:
        """Distances between centroids, shape (…, K, K); NaN to itself and to an empty cluster."""
        steps = self.centroids[..., :, None, :] - self.centroids[..., None, :, :]
        return np.where(np.eye(len(self.names), dtype=bool), np.nan, np.sqrt((steps**2).sum(axis=-1)))

    def parts(self) -> list[Array]:
        """Points of each cluster with positive weight."""
        if self.weight.ndim > 1:
            raise NoTableError("depends on the outermost points, which resampling can only lose")
        has_weight = self.weight > 0
        return [self.point[rows][has_weight[rows]] for rows in self.slices()]

    @property
    def known_borders(self) -> Array:
        """Distances (K, K) between clusters as far as computed, at least to the nearest one; else infinite."""
        complete = self.kept.get("borders")
        if complete is not None:
            return cast(Array, complete)
        return cast(Array, self.once("nearest", lambda: borders(self.parts(), whole=False)))

    @property
    def nearest(self) -> Array:
        """Distance from each cluster to the closest point of another, shape (K,); infinite if there is none."""
        return np.asarray(self.known_borders.min(axis=1))

    @_cached
    def borders(self) -> Array:
        """Distance between the closest points of every two clusters, shape (K, K); infinite to itself."""
        return borders(self.parts(), whole=True)

    @_cached
    def diameters(self) -> Array:
        """Largest distance within each cluster, shape (K,)."""
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
    """Build a cluster table from points (n, d) and the cluster of each.

    Parameters
    ----------
    points : array_like of shape (n_points, n_features)
        The points.
    labels : array_like of shape (n_points,)
        The cluster of each point.
    weight : array_like of shape (n_points,), optional
        Weight of each point; 1 by default.
    group : ndarray of int, optional
        Index of the group of each point, if points are grouped.
    copies : bool
        Whether weights are frequencies, each unit being one case.

    Returns
    -------
    ClusterTable
        The table of measures of clusters.

    Examples
    --------
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
            seen=f"{int((~np.isfinite(point)).sum())} values that are not",
            hint="remove or impute those points",
        )
    codes, names = encode(labels, "the cluster labels")
    if codes.size != len(point):
        raise DataError(
            "points and labels differ in number.",
            seen=f"{len(point)} points, {codes.size} labels",
            hint="one label for each point",
        )
    weights = np.ones(len(point)) if weight is None else np.asarray(weight, dtype=np.float64)
    if weights.shape != (len(point),):
        raise WeightError(
            "weights and points differ in number.",
            seen=f"{weights.size} weights, {len(point)} points",
            hint="one weight for each point",
        )
    if not (np.isfinite(weights) & (weights >= 0)).all() or not weights.sum() > 0:
        raise WeightError("weights must be finite numbers ≥ 0, not all 0.", hint="weight 0 excludes a point")
    check_magnitudes(point, "points have features")
    check_weight_sum(weights, "the weights")
    order = np.argsort(codes, kind="stable")
    groups = None if group is None else np.asarray(group)[order]
    return ClusterTable(point[order], codes[order].astype(np.intp), names, weights[order], groups, copies)


@dataclass(frozen=True, eq=False)
class ContingencyTable(WeightedTable):
    """Number of points of each class (rows) in each cluster (columns); leading axes are replicates.

    >>> contingency(["x", "x", "y"], ["a", "b", "b"]).matrix
    array([[1., 1.],
           [0., 1.]])
    """

    holds = "clusters and known classes"
    weights, axes = "matrix", 2

    matrix: Array
    classes: tuple[str, ...]
    clusters: tuple[str, ...]
    squares: Array | None = field(default=None, compare=False, repr=False)

    def described(self) -> str:
        return f"{len(self.clusters)} clusters and {len(self.classes)} classes"

    def with_cells(self, cells: Array) -> Self:
        return super().with_cells(np.asarray(cells, dtype=np.float64))  # resampled counts are bytes and would overflow

    def __add__(self, other: Self) -> Self:
        if (self.classes, self.clusters) != (other.classes, other.clusters):
            raise ColumnError(
                "tables of different classes or clusters cannot be merged.",
                hint="tables with the same classes and clusters",
            )
        squares = self.squares_with(other, np.add)
        return replace(self, matrix=self.matrix + other.matrix, squares=squares)


def contingency(classes: Any, labels: Any, *, weight: Array | None = None, copies: bool = False) -> ContingencyTable:
    """Build the contingency table of two labellings of the same points."""
    (rows, names), (columns, clusters) = encode(classes, "the classes"), encode(labels, "the cluster labels")
    if rows.size != columns.size:
        raise DataError(
            "classes and labels differ in number.",
            seen=f"{rows.size} and {columns.size}",
            hint="one class and one label for each point",
        )
    place, shape = rows.astype(np.int64) * len(clusters) + columns, (len(names), len(clusters))
    matrix, squares = count_by_index(place, shape, weight, copies)
    return ContingencyTable(matrix.astype(np.float64), names, clusters, squares)
