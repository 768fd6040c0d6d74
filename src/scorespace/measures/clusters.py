"""Measures of clusters: how near, how wide, how dense, how well apart."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from functools import partial
from typing import Annotated, Final, Literal, cast

import numpy as np

from scorespace.errors import MeasureError
from scorespace.measures.measure import INF, NOT_SIMULATED, measure
from scorespace.tables import Array, ratio
from scorespace.tables.cluster import ClusterTable
from scorespace.tables.pieces import threads

NO_POINTS: Final = "there are no points"
_NO_WIDTH: Final = "all points of each cluster coincide"
_index = partial(
    measure,
    range=(0, INF),
    best="high",
    undefined="there is only one cluster",
    interval="bootstrap",
    covers=NOT_SIMULATED,
)
FEW_POINTS: Final = 10_000
"""Points up to which each has its silhouette computed."""
_AT_ONCE: Final = 500_000  # distances: a few megabytes, so that caches help

How = Annotated[Literal["max", "mean"], "the largest distance to the centroid, or the mean of them"]


# --- distances


@_index(title="Distance between borders", interval="outermost", covers=None)
def border_distance(table: ClusterTable) -> Array:
    """Distance of the nearest two points of different clusters: min d(x, y), the single link.

    Of one cluster: from it to the nearest point of another.

    >>> from scorespace.tables.cluster import cluster_table
    >>> border_distance(cluster_table([[0.0], [1.0], [4.0], [9.0]], ["a", "a", "b", "b"]))
    3.0
    """
    found = table.nearest if table.focus is None else table.nearest[table.focus]
    return np.where(np.isinf(found).all(), np.nan, np.min(found))


@_index(title="Distance between centroids")
def centroid_distance(table: ClusterTable) -> Array:
    """Distance of the nearest two centroids: min d(c_i, c_j).

    >>> from scorespace.tables.cluster import cluster_table
    >>> centroid_distance(cluster_table([[0.0], [1.0], [4.0], [9.0]], ["a", "a", "b", "b"]))
    6.0
    """
    if table.focus is not None:
        return np.asarray(np.fmin.reduce(table.gaps[..., table.focus, :], axis=-1))
    return np.asarray(np.fmin.reduce(table.gaps, axis=(-2, -1)))


@_index(title="Radius", best="low", undefined=NO_POINTS, interval="outermost", covers=None)
def radius(table: ClusterTable, *, how: How = "max") -> Array:
    """Distance of points to the centroid of their cluster: max or mean d(x, c).

    >>> from scorespace.tables.cluster import cluster_table
    >>> table = cluster_table([[0.0], [1.0], [4.0], [9.0]], ["a", "a", "b", "b"])
    >>> radius(table), radius(table, how="mean")
    (2.5, 1.5)
    """
    if how == "mean":
        return _mean(table, table.away)
    radii = _radii(table, how)
    return np.asarray(np.fmax.reduce(radii, axis=-1)) if table.focus is None else radii[..., table.focus]


@_index(title="Density", undefined=NO_POINTS, infinite=_NO_WIDTH, interval="outermost", covers=None)
def density(table: ClusterTable, *, how: How = "max") -> Array:
    """Points per volume of the balls around the centroids: Σ n / Σ π^(d/2) r^d / Γ(d/2 + 1), r the radius of each.

    >>> from scorespace.tables.cluster import cluster_table
    >>> round(density(cluster_table([[0.0], [1.0], [4.0], [9.0]], ["a", "a", "b", "b"])), 4)
    0.6667
    """
    features = table.point.shape[1]
    unit = math.exp(features / 2 * math.log(math.pi) - math.lgamma(features / 2 + 1))
    with np.errstate(over="ignore"):
        volumes = unit * np.nan_to_num(_radii(table, how)) ** features
    if table.focus is not None:
        return ratio(table.sizes[..., table.focus], volumes[..., table.focus])
    return ratio(table.sizes.sum(axis=-1), volumes.sum(axis=-1))


def _radii(table: ClusterTable, how: str) -> Array:
    """The radius (…, K) of each cluster; NaN of an absent one."""
    if how == "mean":
        return ratio(table.sums(table.weight * np.nan_to_num(table.away)), table.sizes)
    found = table.sums(np.where(table.weight > 0, table.away, -np.inf), np.maximum, -np.inf)
    return np.where(np.isinf(found), np.nan, found)


def _mean(table: ClusterTable, values: Array) -> Array:
    """The mean over all points, or over those of the cluster asked about."""
    weight = table.weight if table.focus is None else np.where(table.label == table.focus, table.weight, 0.0)
    return ratio((weight * np.where(weight > 0, values, 0.0)).sum(axis=-1), weight.sum(axis=-1))


# --- indices


@_index(
    title="Silhouette",
    range=(-1, 1),
    interval="influence",
    aliases=("silhouette_score", "average_silhouette_width"),
)
def silhouette(
    table: ClusterTable,
    *,
    points: Annotated[
        int, "points whose silhouette is computed where there are more than 10 000; 0: all of them"
    ] = 4000,
) -> Array:
    """How much nearer points are to their own cluster than to the next: mean (b − a) / max(a, b).

    a is the mean distance to the other points of the own cluster, b that to those of the nearest other one. A
    cluster of a single point has 0.

    >>> from scorespace.tables.cluster import cluster_table
    >>> round(silhouette(cluster_table([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])), 4)
    0.746
    """
    rows = silhouette_rows(table, points)
    values, weight = silhouettes(table, rows), np.take(table.weight, rows, axis=-1)
    if table.focus is not None:
        weight = np.where(table.label[rows] == table.focus, weight, 0.0)
    stand_for = _stand_for(table, rows)
    total = (weight * stand_for).sum(axis=-1)
    found = ratio((weight * stand_for * np.where(weight > 0, values, 0.0)).sum(axis=-1), total)
    return np.where(table.present > 1, found, np.nan)


def silhouette_rows(table: ClusterTable, points: int) -> Array:
    """The points whose silhouette is computed: all, or of very many every k-th of each cluster, at least 50 of each."""
    if table.label.size <= FEW_POINTS or points <= 0 or points >= table.label.size:
        return np.arange(table.label.size)
    sizes = np.bincount(table.label, minlength=len(table.names))
    starts = np.cumsum(sizes) - sizes
    kept = np.minimum(sizes, np.maximum(50, np.ceil(points * sizes / sizes.sum()).astype(np.int64)))
    within = np.arange(kept.sum()) - np.repeat(np.cumsum(kept) - kept, kept)
    return np.repeat(starts, kept) + (within * np.repeat(sizes, kept)) // np.repeat(np.maximum(kept, 1), kept)


def _stand_for(table: ClusterTable, rows: Array) -> Array:
    """How many points of its cluster each of the chosen ones stands for."""
    sizes, kept = (np.bincount(label, minlength=len(table.names)) for label in (table.label, table.label[rows]))
    return (sizes / np.maximum(kept, 1))[table.label[rows]]


def silhouettes(table: ClusterTable, rows: Array) -> Array:
    """The silhouette (…, m) of each of these points."""
    if table.weight.ndim == 1:
        return silhouette_influence(replace(table, focus=None), rows)[0]

    def of(chosen: Array) -> Array:
        inner, outer, _, alone = _both(table, _distances(table, chosen), chosen)
        return _silhouette(inner, outer, alone)

    return np.concatenate([of(chosen) for chosen in _pieces(table, rows)], axis=-1)


def _silhouette(inner: Array, outer: Array, alone: Array) -> Array:
    larger = np.maximum(inner, outer)
    return np.where(alone | (larger == 0), 0.0, ratio(outer - inner, larger))


def silhouette_influence(table: ClusterTable, rows: Array) -> tuple[Array, Array, Array]:
    """The silhouette of each of these points, by how far more weight on it would move all, and whom it stands for.

    With s = (b − a) / max(a, b): a moves by (d − a) / (n − 1) with a point of the own cluster at distance d, and b by
    (d − b) / n with one of the nearest other cluster. Both need all distances, so they are found together: those to
    the own cluster and to all that may be the nearest.
    """

    def compute() -> tuple[Array, Array, Array]:
        own, stand_for = table.label[rows], _stand_for(table, rows)
        clusters = np.unique(own)
        values, workers = np.empty(rows.size), min(clusters.size, os.cpu_count() or 1)

        def some(first: int) -> Array:
            moves = np.zeros(rows.size)
            for cluster in clusters[first::workers]:
                mine = np.flatnonzero(own == cluster)
                near = _near(table, rows[mine], cluster)
                part, _ = table.part(np.flatnonzero(near[table.label]).astype(np.int32))
                beside = np.flatnonzero(near[own])
                inside = np.searchsorted(np.flatnonzero(near[table.label]), rows[beside])
                for places in _pieces(part, np.searchsorted(beside, mine)):
                    there = beside[places]
                    values[there], moved = _moved(part, inside, places, stand_for[there])
                    moves[beside] += moved
            return moves

        if workers <= 1:
            return values, some(0), stand_for
        with threads(workers) as pool:  # distances release the GIL
            return values, sum(pool.map(some, range(workers)), np.zeros(rows.size)), stand_for

    found = table.once(f"influence of {rows.size} on {table.focus}", compute)
    return cast(tuple[Array, Array, Array], found)


def _near(table: ClusterTable, rows: Array, own: int) -> Array:
    """Whether a cluster (K,) is the own of these points, or may be the nearest other one of some.

    The mean distance to its points is at least that to their centroid, and at most the root of its square and their
    spread: clusters that begin where another ends are left out.
    """
    from scipy.spatial.distance import cdist

    spread = table.once("spread", lambda: ratio(table.sums(table.weight * table.away**2), table.sizes))
    least = cdist(table.point[rows], table.centroids)
    most = np.sqrt(least**2 + spread)
    most[:, own] = np.nan
    near = (least <= (1 + 1e-9) * np.fmin.reduce(most, axis=1, keepdims=True)).any(axis=0)
    near[own] = True
    return near


def _moved(table: ClusterTable, rows: Array, places: Array, stand_for: Array) -> tuple[Array, Array]:
    """The silhouettes of some of the points, and how far more weight on each would move their weighted sum."""
    chosen = rows[places]
    distances = _distances(table, chosen)
    inner, outer, next_, alone = _both(table, distances, chosen)
    larger, row, own = np.maximum(inner, outer), np.arange(chosen.size), table.label[chosen]
    by_inner = np.where(inner < outer, ratio(-1.0, outer), ratio(-outer, inner**2))
    by_outer = np.where(inner < outer, ratio(inner, outer**2), ratio(1.0, inner))
    weight = np.where(alone | (larger == 0), 0.0, table.weight[chosen] * stand_for)
    if table.focus is not None:
        weight = np.where(own == table.focus, weight, 0.0)
    to_inner = weight * np.where(weight > 0, by_inner, 0.0) / np.maximum(table.sizes[own] - 1, 1)
    to_outer = weight * np.where(weight > 0, by_outer, 0.0) / np.maximum(table.sizes[next_], 1)
    slope, level = (np.zeros((chosen.size, len(table.names))) for _ in range(2))
    slope[row, own], slope[row, next_] = to_inner, to_outer
    level[row, own], level[row, next_] = to_inner * inner, to_outer * outer
    moves = np.einsum("cn,cn->n", distances[:, rows], np.take(slope, table.label[rows], axis=1))
    return _silhouette(inner, outer, alone), moves - level.sum(axis=0)[table.label[rows]]


def _both(table: ClusterTable, distances: Array, chosen: Array) -> tuple[Array, Array, Array, Array]:
    """The mean distance within the own cluster and to the nearest other, which that is, and who is alone."""
    plain = table.weight.ndim == 1 and table.once("plain", lambda: bool((table.weight == 1).all()))
    sums = table.sums(distances if plain else distances * table.weight[..., None, :])  # (…, c, K)
    own = table.label[chosen]
    sizes = np.broadcast_to(table.sizes[..., None, :], sums.shape)
    at = np.broadcast_to(own[:, None], (*sums.shape[:-1], 1))
    rest = np.take_along_axis(sizes, at, axis=-1)[..., 0] - 1
    inner = ratio(np.take_along_axis(sums, at, axis=-1)[..., 0], np.where(rest > 0, rest, np.nan))
    means = np.where(sizes > 0, ratio(sums, sizes), np.inf)
    np.put_along_axis(means, at, np.inf, axis=-1)
    next_ = np.argmin(means, axis=-1)
    outer = np.take_along_axis(means, next_[..., None], axis=-1)[..., 0]
    alone = ~(rest > 0)
    return np.where(alone, 0.0, inner), np.where(np.isinf(outer), np.nan, outer), next_, alone


def _pieces(table: ClusterTable, rows: Array) -> list[Array]:
    replicates = int(np.prod(table.weight.shape[:-1], dtype=np.int64))
    size = max(1, _AT_ONCE // max(1, table.label.size * replicates))
    return [rows[start : start + size] for start in range(0, rows.size, size)]


def _distances(table: ClusterTable, rows: Array) -> Array:
    """The distances (c, n) of some points to all."""
    from scipy.spatial.distance import cdist  # loads with the first cluster

    return np.asarray(cdist(table.point[rows], table.point))


@_index(
    title="Davies-Bouldin index",
    best="low",
    infinite="two centroids coincide",
    aliases=("davies_bouldin_score", "db"),
)
def davies_bouldin(table: ClusterTable) -> Array:
    """How wide clusters are beside their distances: mean over i of max (r_i + r_j) / d(c_i, c_j), r the mean radius.

    >>> from scorespace.tables.cluster import cluster_table
    >>> davies_bouldin(cluster_table([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]))
    0.25
    """
    radii = _radii(table, "mean")
    alike = ratio(radii[..., :, None] + radii[..., None, :], table.gaps)
    worst = np.asarray(np.fmax.reduce(alike, axis=-1))
    if table.focus is not None:
        return worst[..., table.focus]
    there = ~np.isnan(worst)
    return ratio(np.where(there, worst, 0.0).sum(axis=-1), there.sum(axis=-1))


@_index(
    title="Calinski-Harabasz index",
    undefined="there is only one cluster, or each point is one",
    infinite=_NO_WIDTH,
    aliases=("calinski_harabasz_score", "variance_ratio", "g1"),
)
def calinski_harabasz(table: ClusterTable) -> Array:
    """Spread between clusters beside that within: (B / (K − 1)) / (W / (n − K)), sums of squared distances.

    >>> from scorespace.tables.cluster import cluster_table
    >>> calinski_harabasz(cluster_table([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]))
    32.0
    """
    if table.focus is not None:
        raise MeasureError("calinski_harabasz is of all clusters together.", hint="calinski_harabasz")
    within = np.vecdot(table.weight, np.nan_to_num(table.away) ** 2)
    total = table.weight.sum(axis=-1)
    middle = ratio(table.weight @ table.point, total[..., None])
    steps = np.nan_to_num(table.centroids - middle[..., None, :])
    between = (table.sizes * (steps**2).sum(axis=-1)).sum(axis=-1)
    found = ratio(between * np.maximum(total - table.present, 0), within * (table.present - 1))
    return np.where(table.present > 1, found, np.nan)


@_index(title="Dunn index", infinite=_NO_WIDTH, interval="outermost", covers=None)
def dunn(table: ClusterTable) -> Array:
    """The nearest two points of different clusters beside the farthest two of one: min d(x, y) / max diameter.

    >>> from scorespace.tables.cluster import cluster_table
    >>> dunn(cluster_table([[0.0], [1.0], [4.0], [9.0]], ["a", "a", "b", "b"]))
    0.6
    """
    widest = table.diameters.max() if table.focus is None else table.diameters[table.focus]
    nearest = table.nearest.min() if table.focus is None else table.nearest[table.focus]
    return np.where(np.isinf(nearest), np.nan, ratio(nearest, widest))
