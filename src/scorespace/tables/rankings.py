"""Ranking tables: the documents of each query in the order of their scores, with graded relevance."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.errors import DataError
from scorespace.results import ByValue, count_noun, grouped
from scorespace.tables.labels import encode, to_array
from scorespace.tables.regression import numeric_column
from scorespace.tables.table import Array, NoTableError, Table, Wanted
from scorespace.tables.threshold import At, TopCases
from scorespace.tables.values import CaseAverages
from scorespace.tables.weighted_quantiles import run_starts

Ties = Literal["expected", "first", "last"]
BY_QUERY: Final = "query"
"""What a measure names in brackets to be averaged over queries."""
_MAX_GRADE: Final = 1000.0  # whose power of two a double holds


@dataclass(frozen=True, eq=False)
class Blocks:
    """Returned documents in order, each with the averages of those that tie with it.

    `query` is the query of each, `rank` its rank from 1, `first` the rank before its block, `size`, `relevant` and
    `above` the documents in its block, the relevant ones, and those above it.
    """

    query: NDArray[np.intp]
    rank: Array
    first: Array
    size: Array
    relevant: Array
    above: Array
    start: NDArray[np.intp]
    members: NDArray[np.intp]

    def mean(self, values: Array) -> Array:
        """Mean in the block of each document of a value of every document."""
        return np.repeat(np.add.reduceat(values[self.members], self.start), np.diff(self._ends)) / self.size

    @property
    def _ends(self) -> NDArray[np.intp]:
        return np.append(self.start, self.query.size)


@dataclass(frozen=True, eq=False)
class QueryData(ByValue):
    """Query, relevance and score of each document; NaN is the score of a document that was not returned."""

    query: NDArray[np.intp]
    relevance: NDArray[np.float64]
    score: NDArray[np.float64]
    names: tuple[str, ...]

    @property
    def queries(self) -> int:
        """Number of queries."""
        return len(self.names)

    @cached_property
    def relevant(self) -> Array:
        """Number of relevant documents of each query, returned or not."""
        return self.per_query(self.relevance > 0)

    def per_query(self, values: Array) -> Array:
        """Sum of a value of each document by query."""
        return np.bincount(self.query, values, minlength=self.queries)

    @cached_property
    def expected(self) -> Blocks:
        """The order of scores with the blocks of tied ones."""
        return self._blocks("expected")

    def blocks(self, ties: Ties) -> Blocks:
        """The order of scores, with relevant documents first or last where scores tie."""
        return self.expected if ties == "expected" else self._blocks(ties)

    def _blocks(self, ties: Ties) -> Blocks:
        returned = np.flatnonzero(~np.isnan(self.score))
        gain = 0.0 * self.relevance if ties == "expected" else self.relevance * (-1.0 if ties == "first" else 1.0)
        members = returned[np.lexsort((gain[returned], -self.score[returned], self.query[returned]))]
        query, score = self.query[members], self.score[members]
        starts = run_starts(query)
        first_of_list = np.repeat(starts, np.diff(np.append(starts, query.size)))
        place = np.arange(query.size)
        new = np.ones(query.size, dtype=bool)
        if ties == "expected":
            new[1:] = (query[1:] != query[:-1]) | (score[1:] != score[:-1])
        start = np.flatnonzero(new)
        size = np.diff(np.append(start, query.size))
        hits = (self.relevance[members] > 0).astype(np.float64)
        before = np.cumsum(hits) - hits
        relevant = np.add.reduceat(hits, start) if start.size else hits

        def spread(of_block: Array) -> Array:
            return np.repeat(of_block, size)

        above = spread(before[start]) - before[first_of_list]
        first = spread(start) - first_of_list
        return Blocks(query, place - first_of_list + 1, first, spread(size), spread(relevant), above, start, members)

    @cached_property
    def ideal(self) -> tuple[NDArray[np.intp], Array]:
        """All documents by query in the order of relevance, and the rank of each."""
        order = np.lexsort((-self.relevance, self.query))
        starts = run_starts(self.query[order])
        first = np.repeat(starts, np.diff(np.append(starts, order.size)))
        return order, np.arange(order.size) - first + 1

    def cut_by_ties(self, cut: float) -> int:
        """Number of queries in which tied scores of different relevance lie across a cut."""
        blocks = self.expected
        across = (blocks.first < cut) & (blocks.first + blocks.size > cut)
        mixed = (blocks.mean(self.relevance) != self.relevance[blocks.members]) & across
        return int(np.unique(blocks.query[mixed]).size)


@dataclass(frozen=True, eq=False)
class RankTable(CaseAverages):
    """Rankings of documents for several queries.

    Parameters
    ----------
    data : QueryData
        Query, relevance and score of each document.
    weight : ndarray of shape (…, n_queries), optional
        Weight of each query; leading axes are replicates.
    cut : int, optional
        Number of documents that measures look at; all of them without it.
    separate : bool
        Whether means are not taken: measures return the value of each query.
    copies : bool
        Whether weights are frequencies.

    Examples
    --------
    >>> rank_table([0, 2, 0, 1], [0.9, 0.7, 0.8, 0.1], ["a", "a", "b", "b"])
    RankTable: 2 queries, 4 documents, 2 relevant
    """

    holds = "scores of the documents of each query"
    by_case: ClassVar[bool] = True
    by_query: ClassVar[bool] = True
    data: QueryData
    weight: Array | None = None
    cut: int | None = None
    separate: bool = field(default=False, repr=False)
    copies: bool = field(default=False, compare=False, repr=False)

    @property
    def units_text(self) -> str:  # type: ignore[override]
        """Number of queries and documents."""
        return f"{queries_text(self.data.queries)}   {count_noun(self.data.query.size, 'document')}"

    def described(self) -> str:
        """Description for messages: "rankings per query"."""
        return "rankings per query"

    @property
    def cells(self) -> Array:
        """Weight of each query, shape (…, n_queries)."""
        return np.ones(self.data.queries) if self.weight is None else self.weight

    @property
    def cell_squares(self) -> Array | None:
        """Squared weight of each query, if queries are weighted."""
        return None if self.weight is None or self.copies else np.square(self.weight)

    def with_cells(self, cells: Array) -> Self:
        """Return the same queries with other weights.

        Parameters
        ----------
        cells : ndarray of shape (…, n_cells)
            The new weight of each query; leading axes are replicates.

        Returns
        -------
        RankTable
            The reweighted table.
        """
        return replace(self, weight=cells, copies=True)

    def inside(
        self, wanted: type[Wanted], of: str | None = None, at: At | None = None, *, sized: bool = False
    ) -> Wanted:
        """Derive the table that measures of the first documents need: `@10` and `@top10` cut each ranking there.

        Parameters
        ----------
        wanted : type of Table
            The kind of table that is derived.
        of : str, optional
            "query", over which measures are averaged.
        at : float or TopCases, optional
            Number of documents.
        sized : bool
            Whether values of the scores matter, not only their order.

        Returns
        -------
        Table
            The table with the cut.
        """
        if wanted is not type(self):
            return super().inside(wanted, None if of == BY_QUERY else of, None, sized=sized)
        if of not in (None, BY_QUERY):
            raise NoTableError("names a class, but rankings per query have none", hint="{label}[query]")
        size = None if at is None else at.size if isinstance(at, TopCases) else float(at)
        if (isinstance(at, TopCases) and at.percent) or (size is not None and (size < 1 or size != int(size))):
            raise NoTableError("needs a whole number of documents", seen=f"@{at}", hint="{label}@10")
        table: Any = self if size is None else replace(self, cut=int(size))
        return table

    def part(self, cell: NDArray[np.int32]) -> tuple[Self, NDArray[np.int32]]:
        """The table of a subset of queries, given by their indices, and their cells in that table.

        Parameters
        ----------
        cell : ndarray of int
            The cell of each query.

        Returns
        -------
        tuple
            The table, and the cell of each query in it.
        """
        new = np.full(self.data.queries, -1)
        new[cell] = np.arange(cell.size)
        kept = new[self.data.query] >= 0
        data = QueryData(
            new[self.data.query][kept],
            self.data.relevance[kept],
            self.data.score[kept],
            tuple(self.data.names[k] for k in cell),
        )
        weight = None if self.weight is None else self.weight[..., cell]
        return replace(self, data=data, weight=weight), np.arange(cell.size, dtype=np.int32)

    def shared_with(self, other: Table, *, sized: bool) -> tuple[Table, Array, Array]:
        """Put the queries of both models side by side, because each has its own rankings.

        Parameters
        ----------
        other : Table
            The table of the other model.
        sized : bool
            Whether values of the scores matter, not only their order.

        Returns
        -------
        tuple
            The common table, and the index there of each query of the first and of the second model.
        """
        if not isinstance(other, RankTable) or self.data.queries != other.data.queries:
            return super().shared_with(other, sized=sized)
        places = np.arange(self.data.queries)
        return self + other, places, places + places.size

    def __add__(self, other: Self) -> Self:
        """Merge the queries of two samples."""
        a, b = self.data, other.data
        weight = None
        if self.weight is not None or other.weight is not None:
            weight = np.concatenate([self.cells, other.cells], axis=-1)
        query = np.concatenate([a.query, b.query + a.queries])
        relevance, score = np.concatenate([a.relevance, b.relevance]), np.concatenate([a.score, b.score])
        return replace(self, data=QueryData(query, relevance, score, (*a.names, *b.names)), weight=weight)

    def __repr__(self) -> str:
        documents = count_noun(self.data.query.size, "document")
        relevant = grouped(int(self.data.relevant.sum()))
        return f"RankTable: {queries_text(self.data.queries)}, {documents}, {relevant} relevant"


def queries_text(number: int) -> str:
    """Format a number of queries.

    >>> queries_text(1), queries_text(20)
    ('1 query', '20 queries')
    """
    return f"{grouped(number)} {'query' if number == 1 else 'queries'}"


def rank_table(
    relevance: ArrayLike,
    score: ArrayLike,
    query: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    copies: bool = False,
    name: str = "score",
) -> RankTable:
    """Build a ranking table from the relevance and the score of each document.

    Parameters
    ----------
    relevance : array_like of shape (n_documents,)
        Graded relevance, 0 for irrelevant documents.
    score : array_like of shape (n_documents,)
        Score of each document; NaN for a document that the ranker did not return.
    query : array_like of shape (n_documents,)
        Query of each document.
    weight : array_like of shape (n_documents,), optional
        Weight of the query, the same for all of its documents.
    copies : bool
        Whether weights are frequencies.
    name : str
        Name of the scores in messages.

    Returns
    -------
    RankTable
        The table of measures of rankings.

    Examples
    --------
    >>> rank_table([0, 1], [0.9, 0.7], ["a", "a"]).data.expected.rank.tolist()
    [1, 2]
    """
    grades, codes = numeric_column(relevance, "relevance"), encode(query, "query")
    scores = np.asarray(to_array(score), dtype=np.float64)
    if not grades.size == scores.size == codes[0].size:
        raise DataError(
            "relevance, scores and queries differ in length.",
            seen=", ".join(grouped(size) for size in (grades.size, scores.size, codes[0].size)),
            hint="one row per document",
        )
    if grades.size and not 0 <= grades.min() <= grades.max() <= _MAX_GRADE:
        raise DataError(
            "relevance is not a grade from 0 on.",
            seen=f"{grades.min():g} to {grades.max():g}",
            hint="0 for irrelevant documents, higher numbers for more relevant ones",
        )
    if np.isinf(scores).any():
        raise DataError(f"{name} has infinite scores.", hint="finite scores, or none for documents not returned")
    place = codes[0].astype(np.intp)
    data = QueryData(place, grades, scores + 0.0, tuple(map(str, codes[1])))
    if weight is None:
        return RankTable(data)
    of_row = numeric_column(weight, "weight")
    weights = np.zeros(data.queries)
    weights[place] = of_row
    if (weights[place] != of_row).any():
        raise DataError("the weight of a query differs between its documents.", hint="one weight for each query")
    return RankTable(data, weights, copies=copies)
