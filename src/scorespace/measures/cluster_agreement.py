"""External cluster validity: agreement of clusters with known classes."""

from __future__ import annotations

import math
from functools import partial
from typing import Annotated, Any, Final

import numpy as np
from scipy.special import gammaln

from scorespace.errors import MeasureError
from scorespace.measures.clusters import NO_POINTS
from scorespace.measures.measure import INF, NOT_SIMULATED, measure
from scorespace.tables import Array, ratio
from scorespace.tables.clusters import ContingencyTable

_agreement_measure = partial(
    measure, range=(0, 1), best="high", undefined=NO_POINTS, interval="bias-shifted", coverage_note=NOT_SIMULATED
)
_BATCH_TERMS: Final = 2_000_000  # terms summed at once: a few megabytes, to fit into caches


@_agreement_measure(
    title="Adjusted Rand index",
    range=(-0.5, 1),
    undefined="there are fewer than two points",
    interval="bootstrap",
    aliases=("adjusted_rand", "adjusted_rand_index", "adjusted_rand_score"),
)
def ari(table: ContingencyTable) -> Array:
    """Agreement of pairs of points, corrected for chance: (Σ C(n_ij, 2) − E) / ((A + B) / 2 − E).

    A and B are the pairs joined by either labelling, E = A B / C(n, 2); 1 for identical labellings, 0 by chance
    (Hubert & Arabie 1985).

    >>> from scorespace.tables.clusters import contingency
    >>> round(ari(contingency([0, 0, 1, 1], [0, 0, 1, 2])), 4)
    0.5714
    """
    both, rows, columns, all_ = _pairs(table)
    expected = ratio(rows * columns, all_)
    middle = (rows + columns) / 2
    adjusted = ratio(both - expected, middle - expected)
    # Both labellings join all points, or none: they are identical.
    return np.where(np.isclose(middle, expected, rtol=1e-12) & (all_ > 0), 1.0, adjusted)


@_agreement_measure(
    title="Fowlkes-Mallows index of two labellings",
    undefined="no two points are in the same group",
    interval="bootstrap",
    aliases=("fowlkes_mallows_index", "fowlkes_mallows_score"),
)
def pair_fm(table: ContingencyTable) -> Array:
    """Pairs joined by both labellings relative to those joined by either: Σ C(n_ij, 2) / √(A B).

    >>> from scorespace.tables.clusters import contingency
    >>> round(pair_fm(contingency([0, 0, 1, 1], [0, 0, 1, 2])), 4)
    0.7071
    """
    both, rows, columns, _ = _pairs(table)
    return ratio(both, np.sqrt(rows * columns))


@_agreement_measure(title="Purity")
def purity(table: ContingencyTable) -> Array:
    """Share of points in the most common class of their cluster: Σ max_i n_ij / n.

    >>> from scorespace.tables.clusters import contingency
    >>> purity(contingency([0, 0, 1, 1], [0, 0, 0, 1]))
    0.75
    """
    return ratio(table.matrix.max(axis=-2).sum(axis=-1), table.matrix.sum(axis=(-2, -1)))


@_agreement_measure(title="Mutual information", range=(0, INF), aliases=("mutual_information", "mutual_info_score"))
def mutual_info(table: ContingencyTable) -> Array:
    """Mutual information of clusters and classes in nats: Σ p_ij log(p_ij / (p_i p_j)); it grows with more clusters.

    >>> from scorespace.tables.clusters import contingency
    >>> round(mutual_info(contingency([0, 0, 1, 1], [0, 0, 1, 1])), 4)
    0.6931
    """
    return np.maximum(0.0, _entropy(_rows(table)) + _entropy(_columns(table)) - _entropy(table.cells))


@_agreement_measure(title="Normalised mutual information", aliases=("normalised_mutual_info", "normalized_mutual_info"))
def nmi(table: ContingencyTable) -> Array:
    """Mutual information divided by the mean entropy: I / ((H + H') / 2); 1 if both labellings have one group.

    >>> from scorespace.tables.clusters import contingency
    >>> round(nmi(contingency([0, 0, 1, 1], [0, 0, 1, 2])), 4)
    0.8
    """
    entropies = (_entropy(_rows(table)) + _entropy(_columns(table))) / 2
    return _share_of_entropy(mutual_info.function(table), entropies)


@_agreement_measure(
    title="Adjusted mutual information",
    range=(-1, 1),
    undefined="the weights are not integers",
    aliases=("adjusted_mutual_info", "adjusted_mutual_info_score"),
)
def ami(table: ContingencyTable) -> Array:
    """Mutual information, corrected for chance: (I − E) / ((H + H') / 2 − E) (Vinh, Epps & Bailey 2010).

    >>> from scorespace.tables.clusters import contingency
    >>> round(ami(contingency([0, 0, 1, 1], [0, 0, 1, 2])), 4)
    0.5714
    """
    entropies = (_entropy(_rows(table)) + _entropy(_columns(table))) / 2
    expected = _expected_information(table)
    adjusted = ratio(mutual_info.function(table) - expected, entropies - expected)
    is_maximal = np.isclose(entropies, expected, rtol=1e-12, atol=1e-15)
    return np.where(np.isnan(expected), np.nan, np.where(is_maximal, 1.0, adjusted))


@_agreement_measure(title="Homogeneity")
def homogeneity(table: ContingencyTable) -> Array:
    """Whether each cluster contains one class only: I / H(classes); 1 if there is one class.

    >>> from scorespace.tables.clusters import contingency
    >>> homogeneity(contingency([0, 0, 1, 1], [0, 0, 1, 2]))
    1.0
    """
    return _share_of_entropy(mutual_info.function(table), _entropy(_rows(table)))


@_agreement_measure(title="Completeness")
def completeness(table: ContingencyTable) -> Array:
    """Whether each class is in one cluster only: I / H(clusters); 1 if there is one cluster.

    >>> from scorespace.tables.clusters import contingency
    >>> round(completeness(contingency([0, 0, 1, 1], [0, 0, 1, 2])), 4)
    0.6667
    """
    return _share_of_entropy(mutual_info.function(table), _entropy(_columns(table)))


@_agreement_measure(title="V-measure", aliases=("v_measure_score",))
def v_measure(
    table: ContingencyTable, *, beta: Annotated[float, "weight of completeness relative to homogeneity"] = 1.0
) -> Array:
    """Weighted harmonic mean of homogeneity h and completeness c: (1 + β) h c / (β h + c).

    >>> from scorespace.tables.clusters import contingency
    >>> round(v_measure(contingency([0, 0, 1, 1], [0, 0, 1, 2])), 4)
    0.8
    """
    if not (beta >= 0 and math.isfinite(beta)):
        raise MeasureError(f"beta={beta:g} is not a weight of completeness.", hint="a number ≥ 0, such as beta=1")
    h, c = (np.asarray(measure.function(table)) for measure in (homogeneity, completeness))
    return np.where(h + c == 0, 0.0, ratio((1 + beta) * h * c, beta * h + c))


def _rows(table: ContingencyTable) -> Array:
    return table.matrix.sum(axis=-1)


def _columns(table: ContingencyTable) -> Array:
    return table.matrix.sum(axis=-2)


def _pairs(table: ContingencyTable) -> tuple[Array, Array, Array, Array]:
    """Number of pairs of points joined by both labellings, by the classes, by the clusters, and of all pairs."""
    counts: tuple[Any, ...] = (table.cells, _rows(table), _columns(table), table.cells.sum(axis=-1, keepdims=True))
    both, rows, columns, all_ = ((count * (count - 1) / 2).sum(axis=-1) for count in counts)
    return both, rows, columns, all_


def _entropy(counts: Array) -> Array:
    """Entropy −Σ p log p in nats of counts along the last axis."""
    share = ratio(counts, counts.sum(axis=-1, keepdims=True))
    return -(share * np.log(np.where(share > 0, share, 1.0))).sum(axis=-1)


def _share_of_entropy(part: Array, whole: Array) -> Array:
    """Share of an entropy, at most 1; 1 if the entropy is zero."""
    none = np.isclose(whole, 0.0, atol=1e-15)
    return np.where(
        np.isnan(whole), np.nan, np.where(none, 1.0, np.minimum(1.0, ratio(part, np.where(none, 1.0, whole))))
    )


def _expected_information(table: ContingencyTable) -> Array:
    """Expected mutual information of random labellings: Σ E[n_ij / n · log(n n_ij / (a_i b_j))]."""
    rows, columns = _rows(table), _columns(table)
    shape = rows.shape[:-1]
    rows, columns = rows.reshape(-1, rows.shape[-1]), columns.reshape(-1, columns.shape[-1])
    total = rows.sum(axis=-1)
    result = np.full(total.size, np.nan)
    is_integer = (np.floor(rows) == rows).all(axis=-1) & (np.floor(columns) == columns).all(axis=-1) & (total > 0)
    a = np.repeat(rows[:, :, None], columns.shape[-1], axis=2)
    b = np.repeat(columns[:, None, :], rows.shape[-1], axis=1)
    n = np.broadcast_to(total[:, None, None], a.shape)
    terms = np.zeros(a.shape)
    nonempty = (a > 0) & (b > 0) & is_integer[:, None, None]
    terms[nonempty] = _expected_term(a[nonempty], b[nonempty], n[nonempty])
    result[is_integer] = terms.sum(axis=(1, 2))[is_integer]
    return result.reshape(shape)


def _expected_term(a: Array, b: Array, n: Array) -> Array:
    """E[x / n · log(n x / (a b))] for hypergeometric x, the overlap of a and b of n points, summed over likely x."""
    mean = a * b / n
    spread = np.sqrt(mean * (1 - a / n) * (1 - b / n))
    begin = np.maximum(np.maximum(1.0, a + b - n), np.floor(mean - 12 * spread - 30))
    end = np.minimum(np.minimum(a, b), np.ceil(mean + 12 * spread + 30))
    sums = np.zeros(a.size)
    order = np.argsort(end - begin)  # so that the sums of one batch have similar lengths
    start = 0
    while start < order.size:
        widest = int((end - begin)[order[-1]]) + 1
        batch = order[start : start + max(1, _BATCH_TERMS // widest)]
        x = begin[batch, None] + np.arange(int((end - begin)[batch].max()) + 1)
        aa, bb, nn = a[batch, None], b[batch, None], n[batch, None]
        in_range = x <= end[batch, None]
        x = np.where(in_range, x, begin[batch, None])
        logs = _log_binomial(bb, x) + _log_binomial(nn - bb, aa - x) - _log_binomial(nn, aa)
        sums[batch] = np.where(in_range, x / nn * np.log(nn * x / (aa * bb)) * np.exp(logs), 0.0).sum(axis=1)
        start += batch.size
    return sums


def _log_binomial(n: Array, k: Array) -> Array:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
