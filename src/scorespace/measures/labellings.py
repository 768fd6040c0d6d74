"""Measures of two labellings of the same points: how well clusters agree with known classes, and beyond chance."""

from __future__ import annotations

import math
from functools import partial
from typing import Annotated, Any, Final

import numpy as np

from scorespace.errors import MeasureError
from scorespace.measures.clusters import NO_POINTS
from scorespace.measures.measure import INF, NOT_SIMULATED, measure
from scorespace.special import gammaln
from scorespace.tables import Array, ratio
from scorespace.tables.cluster import ContingencyTable

_known = partial(measure, range=(0, 1), best="high", undefined=NO_POINTS, interval="shifted", covers=NOT_SIMULATED)
_AT_ONCE: Final = 2_000_000  # terms of sums: some megabytes, so that caches help


@_known(
    title="Adjusted Rand index",
    range=(-0.5, 1),
    undefined="there are fewer than two points",
    interval="bootstrap",
    aliases=("adjusted_rand", "adjusted_rand_index", "adjusted_rand_score"),
)
def ari(table: ContingencyTable) -> Array:
    """Pairs of points on which both labellings agree, beyond chance: (Σ C(n_ij, 2) − E) / ((A + B) / 2 − E).

    A and B are the pairs together in either, E = A B / C(n, 2); 1 where both are the same, 0 by chance.

    >>> from scorespace.tables.cluster import contingency
    >>> round(ari(contingency([0, 0, 1, 1], [0, 0, 1, 2])), 4)
    0.5714
    """
    both, rows, columns, all_ = _pairs(table)
    expected = ratio(rows * columns, all_)
    middle = (rows + columns) / 2
    found = ratio(both - expected, middle - expected)
    # Both put all points together, or all apart: they say the same.
    return np.where(np.isclose(middle, expected, rtol=1e-12) & (all_ > 0), 1.0, found)


@_known(
    title="Fowlkes-Mallows index of two labellings",
    undefined="no two points are together",
    interval="bootstrap",
    aliases=("fowlkes_mallows_index", "fowlkes_mallows_score"),
)
def pair_fm(table: ContingencyTable) -> Array:
    """Pairs together in both labellings beside those in either: Σ C(n_ij, 2) / √(A B).

    >>> from scorespace.tables.cluster import contingency
    >>> round(pair_fm(contingency([0, 0, 1, 1], [0, 0, 1, 2])), 4)
    0.7071
    """
    both, rows, columns, _ = _pairs(table)
    return ratio(both, np.sqrt(rows * columns))


@_known(title="Purity")
def purity(table: ContingencyTable) -> Array:
    """Share of the points that are of the commonest class of their cluster: Σ max_i n_ij / n.

    >>> from scorespace.tables.cluster import contingency
    >>> purity(contingency([0, 0, 1, 1], [0, 0, 0, 1]))
    0.75
    """
    return ratio(table.matrix.max(axis=-2).sum(axis=-1), table.matrix.sum(axis=(-2, -1)))


@_known(title="Mutual information", range=(0, INF), aliases=("mutual_information", "mutual_info_score"))
def mutual_info(table: ContingencyTable) -> Array:
    """What clusters tell of classes, in nats: Σ p_ij log(p_ij / (p_i p_j)); more clusters tell more by chance alone.

    >>> from scorespace.tables.cluster import contingency
    >>> round(mutual_info(contingency([0, 0, 1, 1], [0, 0, 1, 1])), 4)
    0.6931
    """
    return np.maximum(0.0, _entropy(_rows(table)) + _entropy(_columns(table)) - _entropy(table.cells))


@_known(title="Normalised mutual information", aliases=("normalised_mutual_info", "normalized_mutual_info"))
def nmi(table: ContingencyTable) -> Array:
    """Mutual information beside the mean of both entropies: I / ((H + H') / 2); 1 where both are of one kind.

    >>> from scorespace.tables.cluster import contingency
    >>> round(nmi(contingency([0, 0, 1, 1], [0, 0, 1, 2])), 4)
    0.8
    """
    entropies = (_entropy(_rows(table)) + _entropy(_columns(table))) / 2
    return _or_one(mutual_info.function(table), entropies)


@_known(
    title="Adjusted mutual information",
    range=(-1, 1),
    undefined="the points are weighted by other than whole numbers",
    aliases=("adjusted_mutual_info", "adjusted_mutual_info_score"),
)
def ami(table: ContingencyTable) -> Array:
    """Mutual information beyond chance: (I − E) / ((H + H') / 2 − E), E that of labels dealt out at random.

    >>> from scorespace.tables.cluster import contingency
    >>> round(ami(contingency([0, 0, 1, 1], [0, 0, 1, 2])), 4)
    0.5714
    """
    entropies = (_entropy(_rows(table)) + _entropy(_columns(table))) / 2
    by_chance = _by_chance(table)
    found = ratio(mutual_info.function(table) - by_chance, entropies - by_chance)
    alike = np.isclose(entropies, by_chance, rtol=1e-12, atol=1e-15)
    return np.where(np.isnan(by_chance), np.nan, np.where(alike, 1.0, found))


@_known(title="Homogeneity")
def homogeneity(table: ContingencyTable) -> Array:
    """Whether each cluster holds one class: I / H(classes); 1 where there is one class.

    >>> from scorespace.tables.cluster import contingency
    >>> homogeneity(contingency([0, 0, 1, 1], [0, 0, 1, 2]))
    1.0
    """
    return _or_one(mutual_info.function(table), _entropy(_rows(table)))


@_known(title="Completeness")
def completeness(table: ContingencyTable) -> Array:
    """Whether each class is in one cluster: I / H(clusters); 1 where there is one cluster.

    >>> from scorespace.tables.cluster import contingency
    >>> round(completeness(contingency([0, 0, 1, 1], [0, 0, 1, 2])), 4)
    0.6667
    """
    return _or_one(mutual_info.function(table), _entropy(_columns(table)))


@_known(title="V-measure", aliases=("v_measure_score",))
def v_measure(
    table: ContingencyTable, *, beta: Annotated[float, "weight of completeness beside homogeneity"] = 1.0
) -> Array:
    """Homogeneity h and completeness c in one: (1 + β) h c / (β h + c).

    >>> from scorespace.tables.cluster import contingency
    >>> round(v_measure(contingency([0, 0, 1, 1], [0, 0, 1, 2])), 4)
    0.8
    """
    if not (beta >= 0 and math.isfinite(beta)):
        raise MeasureError(f"beta={beta:g} is not a weight of completeness.", hint="a number ≥ 0, such as beta=1")
    h, c = (np.asarray(each.function(table)) for each in (homogeneity, completeness))
    return np.where(h + c == 0, 0.0, ratio((1 + beta) * h * c, beta * h + c))


def _rows(table: ContingencyTable) -> Array:
    return table.matrix.sum(axis=-1)


def _columns(table: ContingencyTable) -> Array:
    return table.matrix.sum(axis=-2)


def _pairs(table: ContingencyTable) -> tuple[Array, Array, Array, Array]:
    """How many pairs of points are together in both labellings, in either, and in all."""
    counts: tuple[Any, ...] = (table.cells, _rows(table), _columns(table), table.cells.sum(axis=-1, keepdims=True))
    both, rows, columns, all_ = ((count * (count - 1) / 2).sum(axis=-1) for count in counts)
    return both, rows, columns, all_


def _entropy(counts: Array) -> Array:
    """The entropy −Σ p log p in nats of counts along the last axis."""
    share = ratio(counts, counts.sum(axis=-1, keepdims=True))
    return -(share * np.log(np.where(share > 0, share, 1.0))).sum(axis=-1)


def _or_one(part: Array, whole: Array) -> Array:
    """A share of an entropy, at most 1; where there is nothing to tell, all of it is told."""
    none = np.isclose(whole, 0.0, atol=1e-15)
    return np.where(
        np.isnan(whole), np.nan, np.where(none, 1.0, np.minimum(1.0, ratio(part, np.where(none, 1.0, whole))))
    )


def _by_chance(table: ContingencyTable) -> Array:
    """The mutual information of labels dealt out at random, on average: Σ E[n_ij / n · log(n n_ij / (a_i b_j))]."""
    rows, columns = _rows(table), _columns(table)
    shape = rows.shape[:-1]
    rows, columns = rows.reshape(-1, rows.shape[-1]), columns.reshape(-1, columns.shape[-1])
    total = rows.sum(axis=-1)
    found = np.full(total.size, np.nan)
    whole = (np.floor(rows) == rows).all(axis=-1) & (np.floor(columns) == columns).all(axis=-1) & (total > 0)
    a = np.repeat(rows[:, :, None], columns.shape[-1], axis=2)
    b = np.repeat(columns[:, None, :], rows.shape[-1], axis=1)
    n = np.broadcast_to(total[:, None, None], a.shape)
    terms = np.zeros(a.shape)
    filled = (a > 0) & (b > 0) & whole[:, None, None]
    terms[filled] = _expected_term(a[filled], b[filled], n[filled])
    found[whole] = terms.sum(axis=(1, 2))[whole]
    return found.reshape(shape)


def _expected_term(a: Array, b: Array, n: Array) -> Array:
    """E[x / n · log(n x / (a b))] for x, how many of a points fall among b of n: summed over all likely x."""
    mean = a * b / n
    spread = np.sqrt(mean * (1 - a / n) * (1 - b / n))
    begin = np.maximum(np.maximum(1.0, a + b - n), np.floor(mean - 12 * spread - 30))
    end = np.minimum(np.minimum(a, b), np.ceil(mean + 12 * spread + 30))
    found = np.zeros(a.size)
    order = np.argsort(end - begin)  # those of one piece then have sums of about the same length
    start = 0
    while start < order.size:
        widest = int((end - begin)[order[-1]]) + 1
        some = order[start : start + max(1, _AT_ONCE // widest)]
        x = begin[some, None] + np.arange(int((end - begin)[some].max()) + 1)
        aa, bb, nn = a[some, None], b[some, None], n[some, None]
        there = x <= end[some, None]
        x = np.where(there, x, begin[some, None])
        logs = _ways(bb, x) + _ways(nn - bb, aa - x) - _ways(nn, aa)
        found[some] = np.where(there, x / nn * np.log(nn * x / (aa * bb)) * np.exp(logs), 0.0).sum(axis=1)
        start += some.size
    return found


def _ways(n: Array, k: Array) -> Array:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
