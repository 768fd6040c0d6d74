"""Would the clusters come out again: points drawn again, and the clusters told by their neighbours or found anew."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from scorespace.errors import DataError
from scorespace.frozen import dataclass
from scorespace.measures.labellings import ari
from scorespace.tables import Array, ratio
from scorespace.tables.cluster import ClusterTable, ContingencyTable, contingency
from scorespace.tables.labels import encode

NEIGHBOURS: Final = 20  # that none of them is drawn has a chance of 0.37^20
MOST_ASKED: Final = 2000  # points whose neighbours are looked at
SHAKY: Final = 0.6
"""A mean Jaccard index below which a cluster is taken for an accident (Hennig 2007)."""

Refit = Callable[[Any], Any]
"""From points (m, d) to their labels: fit_predict of a clusterer of scikit-learn."""


@dataclass(frozen=True)
class Stability:
    """How alike clusters are in resamples: adjusted Rand index, and Jaccard index of each cluster, on average.

    `low` and `high` hold the middle 95 % of the resamples' adjusted Rand indices.
    """

    ari: float
    low: float
    high: float
    jaccard: tuple[float, ...]
    resamples: int
    how: str


def stability(table: ClusterTable, resamples: int = 100, *, seed: int = 0, refit: Refit | None = None) -> Stability:
    """How well the clusters hold when points are drawn again with replacement.

    Without `refit`, each point that was not drawn joins the cluster of its nearest drawn neighbour; with it, the drawn
    points are clustered anew, and each cluster is compared with the most similar new one.
    """
    rng = np.random.default_rng([seed, 5])
    if refit is None:
        return _by_neighbours(table, resamples, rng)
    return _found_anew(table, resamples, rng, refit)


def _by_neighbours(table: ClusterTable, resamples: int, rng: np.random.Generator) -> Stability:
    from scipy.spatial import KDTree

    there = np.flatnonzero(table.weight > 0)
    point, label = table.point[there], table.label[there]
    if there.size < 3:
        return _unknown(len(table.names), 0, "neighbours")
    asked = np.arange(there.size)[:: max(1, there.size // MOST_ASKED)]
    near = KDTree(point).query(point[asked], k=min(NEIGHBOURS + 1, there.size))[1]
    own = near == asked[:, None]
    # A point is not its own neighbour; where many coincide it may not even be among the nearest.
    own[:, -1] |= ~own.any(axis=1)
    near = near[~own].reshape(asked.size, -1)
    drawn = np.zeros((resamples, there.size), dtype=bool)
    for sample in drawn:  # one sample at a time: all at once would take eight times the memory of what is kept
        sample[rng.integers(0, there.size, there.size)] = True
    known = drawn[:, near]  # (resamples, asked, neighbours)
    first = np.argmax(known, axis=-1)
    told = label[np.take_along_axis(near[None], first[..., None], axis=-1)[..., 0]]
    counts = ~drawn[:, asked] & known.any(axis=-1)
    size = len(table.names)
    cell = label[asked] * size + told + np.arange(resamples)[:, None] * size * size
    matrix = np.bincount(cell[counts], minlength=resamples * size * size).reshape(resamples, size, size)
    both = np.diagonal(matrix, axis1=1, axis2=2)
    jaccard = ratio(both, matrix.sum(axis=1) + matrix.sum(axis=2) - both)
    alike = np.asarray(ari.function(ContingencyTable(matrix.astype(np.float64), table.names, table.names)))
    return _summed(alike, jaccard, resamples, "neighbours")


def _found_anew(table: ClusterTable, resamples: int, rng: np.random.Generator, refit: Refit) -> Stability:
    there = np.flatnonzero(table.weight > 0)
    alike, jaccard = [], []
    for _ in range(resamples):  # whoever clusters takes one sample at a time
        chosen = there[np.unique(rng.integers(0, there.size, there.size))]
        labels = np.asarray(refit(table.point[chosen]))
        if labels.shape != (chosen.size,):
            raise DataError(
                "refit must give a label for each point.",
                seen=f"{labels.shape} for {chosen.size} points",
                hint="refit=KMeans(3).fit_predict",
            )
        found, names = encode(labels, "the labels that refit gives")
        beside = contingency(table.label[chosen], found)
        alike.append(float(ari.function(beside)))
        both = np.zeros((len(table.names), len(names)))
        both[[int(name) for name in beside.classes]] = beside.matrix
        rows, columns = both.sum(axis=1, keepdims=True), both.sum(axis=0)
        best = np.nanmax(np.where(rows > 0, ratio(both, rows + columns - both), np.nan), axis=1, initial=-1.0)
        jaccard.append(np.where(best < 0, np.nan, best))
    return _summed(np.array(alike), np.array(jaccard), resamples, "refit")


def _summed(alike: Array, jaccard: Array, resamples: int, how: str) -> Stability:
    defined = alike[np.isfinite(alike)]
    if not defined.size:
        return _unknown(jaccard.shape[1], resamples, how)
    low, high = np.quantile(defined, [0.025, 0.975])
    there = np.isfinite(jaccard)
    means = ratio(np.where(there, jaccard, 0.0).sum(axis=0), there.sum(axis=0))
    return Stability(float(defined.mean()), float(low), float(high), tuple(means.tolist()), resamples, how)


def _unknown(clusters: int, resamples: int, how: str) -> Stability:
    return Stability(math.nan, math.nan, math.nan, (math.nan,) * clusters, resamples, how)
