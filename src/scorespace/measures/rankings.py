"""Measures of rankings per query: nDCG, reciprocal rank, average precision, precision and recall of the first."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final, Literal

import numpy as np
from scipy.special import gammaln

from scorespace.measures.confusion import ppv, tpr
from scorespace.measures.measure import Measure, measure
from scorespace.measures.ranking import ap
from scorespace.tables import Array, ratio
from scorespace.tables.rankings import Blocks, RankTable, Ties

_EMPTY: Final = "no query has a relevant document"
Empty = Annotated[Literal["skip", "zero"], "queries without relevant documents: left out, or 0"]
TieOption = Annotated[Ties, "tied scores: mean over all their orders, or relevant documents first or last (bounds)"]
_ranking = partial(measure, range=(0, 1), best="high", undefined=_EMPTY, interval="mean-t")


@_ranking(title="Normalised discounted cumulative gain")
def ndcg(
    t: RankTable,
    *,
    gain: Annotated[Literal["exp", "linear"], "gain of a grade g: 2^g − 1, or g"] = "exp",
    ties: TieOption = "expected",
    empty: Empty = "skip",
) -> Array:
    """Σ gain / log₂(rank + 1) over the first k documents, divided by its largest value; mean over queries."""
    gains = np.exp2(t.data.relevance) - 1 if gain == "exp" else t.data.relevance
    blocks = t.data.blocks(ties)
    order, rank = t.data.ideal
    found = _by_query(t, blocks, blocks.mean(gains) * _discount(t, blocks.rank)) if blocks.query.size else 0.0
    best = np.bincount(t.data.query[order], gains[order] * _discount(t, rank), minlength=t.data.queries)
    return t.average(_without_empty(t, ratio(found, best), empty))


@_ranking(title="Reciprocal rank of the first relevant document", aliases=("mrr", "reciprocal_rank"))
def rr(t: RankTable, *, ties: TieOption = "expected", empty: Empty = "skip") -> Array:
    """1 / rank of the first relevant document, 0 if it is not among the first k; mean over queries."""
    b = t.data.blocks(ties)
    place, others = b.rank - b.first, b.size - b.relevant
    leads = (b.above == 0) & (b.relevant > 0) & (place <= others + 1)
    # C(m − j, r − 1) / C(m, r): chance that the first of r relevant among m tied documents is the j-th.
    m, r = b.size[leads], b.relevant[leads]
    j = place[leads]
    logs = (
        gammaln(m - j + 1) - gammaln(m - j - r + 2) - gammaln(r) - gammaln(m + 1) + gammaln(r + 1) + gammaln(m - r + 1)
    )
    values = np.zeros(b.query.size)
    values[leads] = np.where(m == 1, 1.0, np.exp(logs)) / b.rank[leads]
    return t.average(_without_empty(t, _by_query(t, b, values * _within(t, b.rank)), empty))


@ap.on
def _average_precision(t: RankTable) -> Array:
    b = t.data.expected
    place = b.rank - b.first
    pairs = ratio(b.relevant - 1, b.size - 1)
    above = b.above + 1 + (place - 1) * np.where(b.size > 1, pairs, 0.0)
    sums = _by_query(t, b, b.relevant / b.size * above / b.rank * _within(t, b.rank))
    possible = t.data.relevant if t.cut is None else np.minimum(t.data.relevant, t.cut)
    return t.average(ratio(sums, possible))


@ppv.on
def _precision(t: RankTable) -> Array:
    b = t.data.expected
    returned = np.bincount(b.query, minlength=t.data.queries) if t.cut is None else np.float64(t.cut)
    return t.average(ratio(_hits(t, b), returned))


@tpr.on
def _recall(t: RankTable) -> Array:
    return t.average(ratio(_hits(t, t.data.expected), t.data.relevant))


def _hits(t: RankTable, b: Blocks) -> Array:
    """Expected number of relevant documents among the first k of each query."""
    return _by_query(t, b, b.relevant / b.size * _within(t, b.rank))


def _by_query(t: RankTable, b: Blocks, values: Array) -> Array:
    return np.bincount(b.query, values, minlength=t.data.queries)


def _within(t: RankTable, rank: Array) -> Array:
    """1 for ranks up to the cut, else 0."""
    return np.ones(rank.size) if t.cut is None else (rank <= t.cut).astype(np.float64)


def _discount(t: RankTable, rank: Array) -> Array:
    return _within(t, rank) / np.log2(rank + 1.0)


def _without_empty(t: RankTable, values: Array, empty: str) -> Array:
    """Undefined, or 0, for queries without relevant documents."""
    return np.where(t.data.relevant > 0, values, 0.0 if empty == "zero" else np.nan)


OF_RANKINGS: Final[tuple[Measure, ...]] = (ndcg, rr, ap, ppv, tpr)
for _measure in (ap, ppv, tpr):
    _measure.intervals[RankTable] = "mean-t"
