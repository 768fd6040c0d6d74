"""Internal cluster validity: separation, size and density of clusters."""

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
from scorespace.tables.chunks import thread_pool
from scorespace.tables.clusters import ClusterTable

NO_POINTS: Final = "there are no points"
_NO_WIDTH: Final = "all points of each cluster coincide"
_index = partial(
    measure,
    range=(0, INF),
    best="high",
    undefined="there is only one cluster",
    interval="bootstrap",
    coverage_note=NOT_SIMULATED,
)
FEW_POINTS: Final = 10_000
"""Up to this many points, the silhouette of every point is computed."""
_BATCH_DISTANCES: Final = 500_000  # distances computed at once: a few megabytes, to fit into caches

How = Annotated[Literal["max", "mean"], "the largest or the mean distance to the centroid"]


# --- distances


@_index(title="Distance between borders", interval="border-points", coverage_note=None)
def border_distance(table: ClusterTable) -> Array:
    """Smallest distance between points of different clusters: min d(x, y) (single linkage).

    For one cluster: from it to the closest point of another.

    >>> from scorespace.tables.clusters import cluster_table
    >>> border_distance(cluster_table([[0.0], [1.0], [4.0], [9.0]], ["a", "a", "b", "b"]))
    3.0
    """
    distances = table.nearest if table.focus is None else table.nearest[table.focus]
    return np.where(np.isinf(distances).all(), np.nan, np.min(distances))


@_index(title="Distance between centroids")
def centroid_distance(table: ClusterTable) -> Array:
    """Distance between the two closest centroids: min d(c_i, c_j).

    >>> from scorespace.tables.clusters import cluster_table
    >>> centroid_distance(cluster_table([[0.0], [1.0], [4.0], [9.0]], ["a", "a", "b", "b"]))
    6.0
    """
    if table.focus is not None:
        return np.asarray(np.fmin.reduce(table.gaps[..., table.focus, :], axis=-1))
    return np.asarray(np.fmin.reduce(table.gaps, axis=(-2, -1)))


@_index(title="Radius", best="low", undefined=NO_POINTS, interval="border-points", coverage_note=None)
def radius(table: ClusterTable, *, how: How = "max") -> Array:
    """Distance of points to the centroid of their cluster: max or mean d(x, c).

    >>> from scorespace.tables.clusters import cluster_table
    >>> table = cluster_table([[0.0], [1.0], [4.0], [9.0]], ["a", "a", "b", "b"])
    >>> radius(table), radius(table, how="mean")
    (2.5, 1.5)
    """
    if how == "mean":
        return _mean(table, table.distance_to_centroid)
    radii = _radii(table, how)
    return np.asarray(np.fmax.reduce(radii, axis=-1)) if table.focus is None else radii[..., table.focus]


@_index(title="Density", undefined=NO_POINTS, infinite=_NO_WIDTH, interval="border-points", coverage_note=None)
def density(table: ClusterTable, *, how: How = "max") -> Array:
    """Points per volume of the balls around centroids: Σ n / Σ π^(d/2) r^d / Γ(d/2 + 1), with radius r of each cluster.

    >>> from scorespace.tables.clusters import cluster_table
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
    """Radius of each cluster, shape (…, K); NaN if it is empty."""
    if how == "mean":
        return ratio(table.sums(table.weight * np.nan_to_num(table.distance_to_centroid)), table.sizes)
    largest = table.sums(np.where(table.weight > 0, table.distance_to_centroid, -np.inf), np.maximum, -np.inf)
    return np.where(np.isinf(largest), np.nan, largest)


def _mean(table: ClusterTable, values: Array) -> Array:
    """Mean over all points, or over those of the focused cluster."""
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
    points: Annotated[int, "points whose silhouette is computed if there are more than 10 000; 0 for all"] = 4000,
) -> Array:
    """How much closer points are to their own cluster than to the next one: mean (b − a) / max(a, b) (Rousseeuw 1987).

    a is the mean distance to the other points of the own cluster, b that to the points of the nearest other cluster. A
    cluster of a single point has silhouette 0.

    >>> from scorespace.tables.clusters import cluster_table
    >>> round(silhouette(cluster_table([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])), 4)
    0.746
    """
    rows = silhouette_rows(table, points)
    values, weight = silhouettes(table, rows), np.take(table.weight, rows, axis=-1)
    if table.focus is not None:
        weight = np.where(table.label[rows] == table.focus, weight, 0.0)
    represented = _represented(table, rows)
    total = (weight * represented).sum(axis=-1)
    mean = ratio((weight * represented * np.where(weight > 0, values, 0.0)).sum(axis=-1), total)
    return np.where(table.present > 1, mean, np.nan)


def silhouette_rows(table: ClusterTable, points: int) -> Array:
    """Points whose silhouette is computed: all, or a systematic sample of each cluster with at least 50 points."""
    if table.label.size <= FEW_POINTS or points <= 0 or points >= table.label.size:
        return np.arange(table.label.size)
    sizes = np.bincount(table.label, minlength=len(table.names))
    starts = np.cumsum(sizes) - sizes
    sampled = np.minimum(sizes, np.maximum(50, np.ceil(points * sizes / sizes.sum()).astype(np.int64)))
    within = np.arange(sampled.sum()) - np.repeat(np.cumsum(sampled) - sampled, sampled)
    steps = (within * np.repeat(sizes, sampled)) // np.repeat(np.maximum(sampled, 1), sampled)
    return np.repeat(starts, sampled) + steps


def _represented(table: ClusterTable, rows: Array) -> Array:
    """Number of points of its cluster that each sampled point represents."""
    sizes, sampled = (np.bincount(label, minlength=len(table.names)) for label in (table.label, table.label[rows]))
    return (sizes / np.maximum(sampled, 1))[table.label[rows]]


def silhouettes(table: ClusterTable, rows: Array) -> Array:
    """Silhouette of each of these points, shape (…, n_rows)."""
    if table.weight.ndim == 1:
        return silhouette_influence(replace(table, focus=None), rows)[0]

    def of_batch(chosen: Array) -> Array:
        inner, outer, _, alone = _mean_distances(table, _distances(table, chosen), chosen)
        return _silhouette(inner, outer, alone)

    return np.concatenate([of_batch(chosen) for chosen in _batches(table, rows)], axis=-1)


def _silhouette(inner: Array, outer: Array, alone: Array) -> Array:
    larger = np.maximum(inner, outer)
    return np.where(alone | (larger == 0), 0.0, ratio(outer - inner, larger))


def silhouette_influence(table: ClusterTable, rows: Array) -> tuple[Array, Array, Array]:
    """Silhouette of each point, the influence of its weight on the sum of all, and the number of points it represents.

    With s = (b − a) / max(a, b): a changes by (d − a) / (n − 1) with a point of the own cluster at distance d, and b by
    (d − b) / n with one of the nearest other cluster. Both need all distances, so they are computed together: those to
    the own cluster and to all clusters that may be the nearest.
    """

    def compute() -> tuple[Array, Array, Array]:
        own, represented = table.label[rows], _represented(table, rows)
        clusters = np.unique(own)
        values, workers = np.empty(rows.size), min(clusters.size, os.cpu_count() or 1)

        def of_worker(first: int) -> Array:
            influence = np.zeros(rows.size)
            for cluster in clusters[first::workers]:
                members = np.flatnonzero(own == cluster)
                near = _near(table, rows[members], cluster)
                part, _ = table.part(np.flatnonzero(near[table.label]).astype(np.int32))
                neighbours = np.flatnonzero(near[own])
                inside = np.searchsorted(np.flatnonzero(near[table.label]), rows[neighbours])
                for places in _batches(part, np.searchsorted(neighbours, members)):
                    there = neighbours[places]
                    values[there], change = _influence(part, inside, places, represented[there])
                    influence[neighbours] += change
            return influence

        if workers <= 1:
            return values, of_worker(0), represented
        with thread_pool(workers) as pool:  # distances release the GIL
            return values, sum(pool.map(of_worker, range(workers)), np.zeros(rows.size)), represented

    result = table.once(f"influence of {rows.size} on {table.focus}", compute)
    return cast(tuple[Array, Array, Array], result)


def _near(table: ClusterTable, rows: Array, own: int) -> Array:
    """Whether each cluster (K,) is the own cluster of these points, or may be the nearest other one of some.

    The mean distance to the points of a cluster is at least that to the centroid, and at most the root of its square
    plus their variance: clusters whose lower bound exceeds the upper bound of another are skipped.
    """
    from scipy.spatial.distance import cdist

    spread = table.once("spread", lambda: ratio(table.sums(table.weight * table.distance_to_centroid**2), table.sizes))
    least = cdist(table.point[rows], table.centroids)
    most = np.sqrt(least**2 + spread)
    most[:, own] = np.nan
    near = (least <= (1 + 1e-9) * np.fmin.reduce(most, axis=1, keepdims=True)).any(axis=0)
    near[own] = True
    return near


def _influence(table: ClusterTable, rows: Array, places: Array, represented: Array) -> tuple[Array, Array]:
    """Silhouettes of some points, and the influence of the weight of every row on their weighted sum."""
    chosen = rows[places]
    distances = _distances(table, chosen)
    inner, outer, next_, alone = _mean_distances(table, distances, chosen)
    larger, row, own = np.maximum(inner, outer), np.arange(chosen.size), table.label[chosen]
    by_inner = np.where(inner < outer, ratio(-1.0, outer), ratio(-outer, inner**2))
    by_outer = np.where(inner < outer, ratio(inner, outer**2), ratio(1.0, inner))
    weight = np.where(alone | (larger == 0), 0.0, table.weight[chosen] * represented)
    if table.focus is not None:
        weight = np.where(own == table.focus, weight, 0.0)
    to_inner = weight * np.where(weight > 0, by_inner, 0.0) / np.maximum(table.sizes[own] - 1, 1)
    to_outer = weight * np.where(weight > 0, by_outer, 0.0) / np.maximum(table.sizes[next_], 1)
    slope, level = (np.zeros((chosen.size, len(table.names))) for _ in range(2))
    slope[row, own], slope[row, next_] = to_inner, to_outer
    level[row, own], level[row, next_] = to_inner * inner, to_outer * outer
    influence = np.einsum("cn,cn->n", distances[:, rows], np.take(slope, table.label[rows], axis=1))
    return _silhouette(inner, outer, alone), influence - level.sum(axis=0)[table.label[rows]]


def _mean_distances(table: ClusterTable, distances: Array, chosen: Array) -> tuple[Array, Array, Array, Array]:
    """Mean distance within the own cluster, that to the nearest other, its index, and whether a point is alone."""
    is_unweighted = table.weight.ndim == 1 and table.once("plain", lambda: bool((table.weight == 1).all()))
    sums = table.sums(distances if is_unweighted else distances * table.weight[..., None, :])  # (…, c, K)
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


def _batches(table: ClusterTable, rows: Array) -> list[Array]:
    replicates = int(np.prod(table.weight.shape[:-1], dtype=np.int64))
    size = max(1, _BATCH_DISTANCES // max(1, table.label.size * replicates))
    return [rows[start : start + size] for start in range(0, rows.size, size)]


def _distances(table: ClusterTable, rows: Array) -> Array:
    """Distances (n_rows, n) of some points to all."""
    from scipy.spatial.distance import cdist  # imported only when clusters are evaluated

    return np.asarray(cdist(table.point[rows], table.point))


@_index(
    title="Davies-Bouldin index",
    best="low",
    infinite="two centroids coincide",
    aliases=("davies_bouldin_score", "db"),
)
def davies_bouldin(table: ClusterTable) -> Array:
    """Width of clusters relative to their distance: mean over i of max (r_i + r_j) / d(c_i, c_j), with mean radius r.

    >>> from scorespace.tables.clusters import cluster_table
    >>> davies_bouldin(cluster_table([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]))
    0.25
    """
    radii = _radii(table, "mean")
    similarity = ratio(radii[..., :, None] + radii[..., None, :], table.gaps)
    worst = np.asarray(np.fmax.reduce(similarity, axis=-1))
    if table.focus is not None:
        return worst[..., table.focus]
    defined = ~np.isnan(worst)
    return ratio(np.where(defined, worst, 0.0).sum(axis=-1), defined.sum(axis=-1))


@_index(
    title="Calinski-Harabasz index",
    undefined="there is only one cluster, or each point is one",
    infinite=_NO_WIDTH,
    aliases=("calinski_harabasz_score", "variance_ratio", "g1"),
)
def calinski_harabasz(table: ClusterTable) -> Array:
    """Variance between clusters relative to that within: (B / (K − 1)) / (W / (n − K)), from sums of squared distances.

    >>> from scorespace.tables.clusters import cluster_table
    >>> calinski_harabasz(cluster_table([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]))
    32.0
    """
    if table.focus is not None:
        raise MeasureError("calinski_harabasz is defined for all clusters together.", hint="calinski_harabasz")
    within = np.vecdot(table.weight, np.nan_to_num(table.distance_to_centroid) ** 2)
    total = table.weight.sum(axis=-1)
    middle = ratio(table.weight @ table.point, total[..., None])
    steps = np.nan_to_num(table.centroids - middle[..., None, :])
    between = (table.sizes * (steps**2).sum(axis=-1)).sum(axis=-1)
    index = ratio(between * np.maximum(total - table.present, 0), within * (table.present - 1))
    return np.where(table.present > 1, index, np.nan)


@_index(title="Dunn index", infinite=_NO_WIDTH, interval="border-points", coverage_note=None)
def dunn(table: ClusterTable) -> Array:
    """Smallest distance between clusters relative to the largest diameter: min d(x, y) / max diameter (Dunn 1974).

    >>> from scorespace.tables.clusters import cluster_table
    >>> dunn(cluster_table([[0.0], [1.0], [4.0], [9.0]], ["a", "a", "b", "b"]))
    0.6
    """
    widest = table.diameters.max() if table.focus is None else table.diameters[table.focus]
    nearest = table.nearest.min() if table.focus is None else table.nearest[table.focus]
    return np.where(np.isinf(nearest), np.nan, ratio(nearest, widest))
