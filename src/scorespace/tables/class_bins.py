"""Scores of several classes counted in bins: a score table for each class, and the decisions by the highest score."""

from __future__ import annotations

from dataclasses import replace
from typing import Self, cast

import numpy as np
from numpy.typing import NDArray

from scorespace.frozen import dataclass
from scorespace.tables.classes import ROUNDING, ClassScores
from scorespace.tables.confusion import ConfusionTable
from scorespace.tables.counts import Counts, ratio
from scorespace.tables.lead import LeadTable
from scorespace.tables.pair import two_names
from scorespace.tables.score import ScoreTable
from scorespace.tables.table import Array, At, Stored, Table, Wanted

UNDRAWN = "no interval: the scores of each class were counted in bins of their own, and are not drawn together"


@dataclass(frozen=True, eq=False, repr=False)
class ClassBins(ClassScores):
    """Of every class a table of its scores with the cases of all classes, and what the highest score decides.

    It holds no cases, so that those of K classes may be as many as are counted. `top` has the highest score of each
    case, with the decision for it wrong or right; `excess` is how far the scores of a case are from adding up to one.
    `leads` counts the decisions by how far the highest score is ahead; those of very many classes, and of older files,
    are not counted so.
    """

    tables: tuple[ScoreTable, ...]
    decisions: ConfusionTable
    top: ScoreTable
    excess: float = 0.0
    leads: LeadTable | None = None

    def described(self) -> str:
        return f"scores of {len(self.classes)} classes in bins"

    @property
    def classes(self) -> tuple[str, ...]:
        return self.tables[0].classes

    @property
    def cells(self) -> Array:
        return self.decisions.cells

    @property
    def strata(self) -> NDArray[np.intp]:
        return self.decisions.strata

    @property
    def cell_squares(self) -> Array | None:
        return self.decisions.cell_squares

    def with_cells(self, cells: Array) -> Self:
        """The same scores with other decisions: those alone are drawn again."""
        return replace(self, decisions=self.decisions.with_cells(cells))

    def undrawn(self, inside: Table) -> str | None:
        return UNDRAWN if isinstance(inside, (ScoreTable, ClassBins)) else None

    @property
    def class_totals(self) -> Array:
        return self.tables[0].class_totals

    @property
    def coarse(self) -> bool:
        return any(table.coarse for table in self.tables)

    @property
    def probabilities(self) -> bool:
        """Whether the scores of each case lie in [0, 1] and add up to one, but for rounding."""
        return all(table.probabilities for table in self.tables) and self.excess <= ROUNDING

    def scores_seen(self) -> str:
        if all(table.probabilities for table in self.tables):
            return f"scores of a case that miss one by up to {self.excess:.2g} when added up"
        return "; ".join(dict.fromkeys(table.scores_seen() for table in self.tables))

    def whole_inside(self, wanted: type[Table]) -> Table | None:
        return self.leads if wanted is LeadTable else super().whole_inside(wanted)

    def around(self, at: At, of: str | None = None) -> tuple[Counts, Counts]:
        return self.inside(ScoreTable, of).around(at)

    def pooled(self, wanted: type[Wanted]) -> Wanted:
        """All scores in one table: positive where a score is that of the case's own class."""
        two = ("other class", "own class")
        first, *others = (_of_two(table, [table.positive], two) for table in self.tables)
        for other in others:
            first = first + other
        return cast(Wanted, first)

    def one_vs_rest(self, index: int) -> ScoreTable:
        return _of_two(self.tables[index], [index], two_names(self.classes, index))

    def one_vs_one(self, index: int, other: int) -> ScoreTable:
        return _of_two(self.tables[index], [index], (self.classes[other], self.classes[index]), [other])

    def spread(self, index: int) -> list[tuple[Array, Array]]:
        """Of each class the scores for one class that its cases have, from the highest down, and their weights."""
        table = self.tables[index]
        held = (np.flatnonzero(counts) for counts in table.counts)
        return [(table.score[at], table.counts[k, at].astype(np.float64)) for k, at in enumerate(held)]

    def own(self, index: int) -> ScoreTable:
        """The score that the cases of a class have for it, and no other cases."""
        return _of_two(self.tables[index], [index], two_names(self.classes, index), [])

    def pair_areas(self) -> Array:
        """A(i|j) (K, K): how often a case of class i has a higher score for i than one of class j; ties half."""
        size = len(self.classes)
        found = np.full((size, size), np.nan)
        for i, table in enumerate(self.tables):
            counts = table.counts.astype(np.float64)
            above = np.cumsum(counts[i]) - counts[i] / 2
            found[i] = ratio(counts @ above, self.class_totals * self.class_totals[i])
            found[i, i] = np.nan
        return found

    def stored(self) -> Stored:
        parts = [*(table.stored() for table in self.tables), self.top.stored()]
        names = {name for part in parts for name in part.columns}
        sizes = [part.columns["weight"].size for part in parts]
        columns = {
            name: np.concatenate([part.columns.get(name, np.zeros(s)) for part, s in zip(parts, sizes, strict=True)])
            for name in names
        }
        columns["decided"] = np.repeat(np.arange(len(parts)), sizes)
        if self.leads is not None:  # further rows, which older readers leave alone
            leads = self.leads.stored().columns
            more = leads["weight"].size
            columns = {n: np.concatenate([column, leads.get(n, np.zeros(more))]) for n, column in columns.items()}
        about = {"kind": "classes", "positive": None, "matrix": self.decisions.matrix.tolist(), "excess": self.excess}
        return Stored(about | {"parts": [dict(part.about) for part in parts], "sizes": sizes}, columns)

    def __add__(self, other: Self) -> Self:
        """The table of both samples together."""
        if set(self.classes) != set(other.classes):
            raise self.unlike(other)
        theirs = {table.positive_name: table for table in other.tables}
        tables = [table + theirs[table.positive_name] for table in self.tables]
        ordered = sorted(tables, key=lambda table: table.positive)
        top, excess = self.top + other.top, max(self.excess, other.excess)
        leads = None
        if self.leads is not None and other.leads is not None:
            leads = self.leads + other.leads.in_order(self.classes)
        return type(self)(tuple(ordered), self.decisions + other.decisions, top, excess, leads)


def _of_two(table: ScoreTable, own: list[int], names: tuple[str, str], rest: list[int] | None = None) -> ScoreTable:
    """The table of some classes against the rest, or against others: the second of the two names is positive."""
    others = [k for k in range(len(table.classes)) if k not in own] if rest is None else rest

    def of_both(column: Array) -> Array:
        return np.stack([column[others].sum(axis=0), column[own].sum(axis=0)])

    bins = None if table.bins is None else table.bins.with_sums(of_both)
    squares = None if table.squares is None else of_both(table.squares)
    counts = of_both(table.counts)
    found = replace(table, counts=counts, classes=names, positive=1, squares=squares, bins=bins)
    kept = counts.any(axis=0)
    if kept.all():
        return found
    bins = None if bins is None else bins.rows(kept)
    squares = None if squares is None else squares[:, kept]
    return replace(found, score=found.score[kept], counts=counts[:, kept], squares=squares, bins=bins)
