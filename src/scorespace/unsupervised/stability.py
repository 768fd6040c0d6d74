"""Stability of clusters under the bootstrap (Hennig 2007), by nearest neighbours or by refitting."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from scorespace.errors import DataError
from scorespace.measures.cluster_agreement import ari
from scorespace.tables import Array, ratio
from scorespace.tables.clusters import ClusterTable, ContingencyTable, contingency
from scorespace.tables.labels import encode

NEIGHBOURS: Final = 20  # none is drawn with probability 0.37^20
MAX_POINTS_QUERIED: Final = 2000  # points whose neighbours are queried
UNSTABLE_JACCARD: Final = 0.6
"""Mean Jaccard index below which a cluster counts as unstable (Hennig 2007)."""

Refit = Callable[[Any], Any]
"""Maps points (m, d) to labels, such as fit_predict of a scikit-learn clusterer."""


@dataclass(frozen=True)
class ClusterStability:
    """Agreement of clusters in bootstrap samples: mean adjusted Rand index, and mean Jaccard index per cluster.

    `low` and `high` are the 2.5 % and 97.5 % quantiles of the adjusted Rand indices.
    """

    ari: float
    low: float
    high: float
    jaccard: tuple[float, ...]
    resamples: int
    how: str


def stability(
    table: ClusterTable, resamples: int = 100, *, seed: int = 0, refit: Refit | None = None
) -> ClusterStability:
    """Stability of the clusters under the bootstrap.

    Without `refit`, points that were not drawn join the cluster of their nearest drawn neighbour; with it, each sample
    is clustered, and each cluster is compared with the most similar new one.
    """
    rng = np.random.default_rng([seed, 5])
    if refit is None:
        return _by_neighbours(table, resamples, rng)
    return _by_refitting(table, resamples, rng, refit)


def _by_neighbours(table: ClusterTable, resamples: int, rng: np.random.Generator) -> ClusterStability:
    from scipy.spatial import KDTree

    weighted = np.flatnonzero(table.weight > 0)
    point, label = table.point[weighted], table.label[weighted]
    if weighted.size < 3:
        return _undefined_stability(len(table.names), 0, "neighbours")
    queried = np.arange(weighted.size)[:: max(1, weighted.size // MAX_POINTS_QUERIED)]
    neighbours = KDTree(point).query(point[queried], k=min(NEIGHBOURS + 1, weighted.size))[1]
    is_self = neighbours == queried[:, None]
    # Remove each point from its neighbours; among coinciding points it may be missing, then drop the last.
    is_self[:, -1] |= ~is_self.any(axis=1)
    neighbours = neighbours[~is_self].reshape(queried.size, -1)
    is_drawn = np.zeros((resamples, weighted.size), dtype=bool)
    for sample in is_drawn:  # row by row: all at once would need eight times the memory
        sample[rng.integers(0, weighted.size, weighted.size)] = True
    neighbour_drawn = is_drawn[:, neighbours]  # (resamples, queried, neighbours)
    first = np.argmax(neighbour_drawn, axis=-1)
    predicted = label[np.take_along_axis(neighbours[None], first[..., None], axis=-1)[..., 0]]
    is_tested = ~is_drawn[:, queried] & neighbour_drawn.any(axis=-1)
    size = len(table.names)
    cell = label[queried] * size + predicted + np.arange(resamples)[:, None] * size * size
    matrix = np.bincount(cell[is_tested], minlength=resamples * size * size).reshape(resamples, size, size)
    intersections = np.diagonal(matrix, axis1=1, axis2=2)
    jaccard = ratio(intersections, matrix.sum(axis=1) + matrix.sum(axis=2) - intersections)
    ari_values = np.asarray(ari.function(ContingencyTable(matrix.astype(np.float64), table.names, table.names)))
    return _summarise(ari_values, jaccard, resamples, "neighbours")


def _by_refitting(table: ClusterTable, resamples: int, rng: np.random.Generator, refit: Refit) -> ClusterStability:
    weighted = np.flatnonzero(table.weight > 0)
    ari_values, jaccard = [], []
    for _ in range(resamples):  # clusterers take one sample at a time
        sample = weighted[np.unique(rng.integers(0, weighted.size, weighted.size))]
        labels = np.asarray(refit(table.point[sample]))
        if labels.shape != (sample.size,):
            raise DataError(
                "refit must return one label per point.",
                seen=f"{labels.shape} for {sample.size} points",
                hint="refit=KMeans(3).fit_predict",
            )
        codes, names = encode(labels, "the labels that refit gives")
        table_with_new = contingency(table.label[sample], codes)
        ari_values.append(float(ari.function(table_with_new)))
        overlap = np.zeros((len(table.names), len(names)))
        overlap[[int(name) for name in table_with_new.classes]] = table_with_new.matrix
        rows, columns = overlap.sum(axis=1, keepdims=True), overlap.sum(axis=0)
        best = np.nanmax(np.where(rows > 0, ratio(overlap, rows + columns - overlap), np.nan), axis=1, initial=-1.0)
        jaccard.append(np.where(best < 0, np.nan, best))
    return _summarise(np.array(ari_values), np.array(jaccard), resamples, "refit")


def _summarise(ari_values: Array, jaccard: Array, resamples: int, how: str) -> ClusterStability:
    defined = ari_values[np.isfinite(ari_values)]
    if not defined.size:
        return _undefined_stability(jaccard.shape[1], resamples, how)
    low, high = np.quantile(defined, [0.025, 0.975])
    is_defined = np.isfinite(jaccard)
    means = ratio(np.where(is_defined, jaccard, 0.0).sum(axis=0), is_defined.sum(axis=0))
    return ClusterStability(float(defined.mean()), float(low), float(high), tuple(means.tolist()), resamples, how)


def _undefined_stability(clusters: int, resamples: int, how: str) -> ClusterStability:
    return ClusterStability(math.nan, math.nan, math.nan, (math.nan,) * clusters, resamples, how)
