"""Binned class tables: a binned score table for each class, and the decisions by the highest score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self, cast

import numpy as np
from numpy.typing import NDArray

from scorespace.tables.class_scores import ROUNDING, ClassScores
from scorespace.tables.confusion import ConfusionTable
from scorespace.tables.counts import Counts, ratio
from scorespace.tables.margin import MarginTable
from scorespace.tables.paired import binary_class_names
from scorespace.tables.scores import ScoreTable
from scorespace.tables.table import Array, StoredTable, Table, Wanted
from scorespace.tables.threshold import At

NOT_RESAMPLED = "no interval: the scores of each class are binned separately, so cases cannot be resampled"


@dataclass(frozen=True, eq=False, repr=False)
class ClassBins(ClassScores):
    """A binned score table for every class, with the cases of all classes, and the decisions by the highest score.

    It holds no individual cases, so its size does not depend on their number. `top` is the table of the highest score
    of each case, with correct decisions as the positive class; `excess` is the largest difference between one and the
    sum of the scores of a case. `leads` is the margin table; None if there are very many classes, and for older files.
    """

    tables: tuple[ScoreTable, ...]
    decisions: ConfusionTable
    top: ScoreTable
    excess: float = 0.0
    leads: MarginTable | None = None

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
        """Return the table with other decisions; only decisions are resampled."""
        return replace(self, decisions=self.decisions.with_cells(cells))

    def reason_not_resampled(self, inside: Table) -> str | None:
        return NOT_RESAMPLED if isinstance(inside, (ScoreTable, ClassBins)) else None

    @property
    def class_totals(self) -> Array:
        return self.tables[0].class_totals

    @property
    def coarse(self) -> bool:
        return any(table.coarse for table in self.tables)

    @property
    def probabilities(self) -> bool:
        """Whether the scores of each case are in [0, 1] and sum to one, apart from rounding."""
        return all(table.probabilities for table in self.tables) and self.excess <= ROUNDING

    def scores_seen(self) -> str:
        if all(table.probabilities for table in self.tables):
            return f"class scores whose sum differs from one by up to {self.excess:.2g}"
        return "; ".join(dict.fromkeys(table.scores_seen() for table in self.tables))

    def whole_inside(self, wanted: type[Table]) -> Table | None:
        return self.leads if wanted is MarginTable else super().whole_inside(wanted)

    def bounds_at(self, at: At, of: str | None = None) -> tuple[Counts, Counts]:
        return self.inside(ScoreTable, of).bounds_at(at)

    def pooled(self, wanted: type[Wanted]) -> Wanted:
        """Pool all scores into one table (micro average): a score is positive if it is of the case's own class."""
        names = ("other class", "own class")
        first, *others = (_binary_table(table, [table.positive], names) for table in self.tables)
        for other in others:
            first = first + other
        return cast(Wanted, first)

    def one_vs_rest(self, index: int) -> ScoreTable:
        return _binary_table(self.tables[index], [index], binary_class_names(self.classes, index))

    def one_vs_one(self, index: int, other: int) -> ScoreTable:
        return _binary_table(self.tables[index], [index], (self.classes[other], self.classes[index]), [other])

    def spread(self, index: int) -> list[tuple[Array, Array]]:
        """Distribution of the score of one class within each actual class: descending scores and their weights."""
        table = self.tables[index]
        occupied = (np.flatnonzero(counts) for counts in table.counts)
        return [(table.score[rows], table.counts[k, rows].astype(np.float64)) for k, rows in enumerate(occupied)]

    def own(self, index: int) -> ScoreTable:
        """Scores of the cases of a class for that class, without other cases."""
        return _binary_table(self.tables[index], [index], binary_class_names(self.classes, index), [])

    def pair_areas(self) -> Array:
        """A(i|j) (K, K): how often a case of class i scores higher for i than one of class j; ties count half."""
        size = len(self.classes)
        areas = np.full((size, size), np.nan)
        for i, table in enumerate(self.tables):
            counts = table.counts.astype(np.float64)
            above = np.cumsum(counts[i]) - counts[i] / 2
            areas[i] = ratio(counts @ above, self.class_totals * self.class_totals[i])
            areas[i, i] = np.nan
        return areas

    def stored(self) -> StoredTable:
        parts = [*(table.stored() for table in self.tables), self.top.stored()]
        names = {name for part in parts for name in part.columns}
        sizes = [part.columns["weight"].size for part in parts]
        columns = {
            name: np.concatenate([part.columns.get(name, np.zeros(s)) for part, s in zip(parts, sizes, strict=True)])
            for name in names
        }
        columns["decided"] = np.repeat(np.arange(len(parts)), sizes)
        if self.leads is not None:  # additional rows, which older versions ignore
            leads = self.leads.stored().columns
            more = leads["weight"].size
            columns = {n: np.concatenate([column, leads.get(n, np.zeros(more))]) for n, column in columns.items()}
        about = {"kind": "classes", "positive": None, "matrix": self.decisions.matrix.tolist(), "excess": self.excess}
        return StoredTable(about | {"parts": [dict(part.about) for part in parts], "sizes": sizes}, columns)

    def __add__(self, other: Self) -> Self:
        """Merge the tables of two samples."""
        if set(self.classes) != set(other.classes):
            raise self.different_classes_error(other)
        theirs = {table.positive_name: table for table in other.tables}
        tables = [table + theirs[table.positive_name] for table in self.tables]
        ordered = sorted(tables, key=lambda table: table.positive)
        top, excess = self.top + other.top, max(self.excess, other.excess)
        leads = None
        if self.leads is not None and other.leads is not None:
            leads = self.leads + other.leads.in_order(self.classes)
        return type(self)(tuple(ordered), self.decisions + other.decisions, top, excess, leads)


def _binary_table(
    table: ScoreTable, own: list[int], names: tuple[str, str], rest: list[int] | None = None
) -> ScoreTable:
    """Score table of some classes against the rest, or against others; the second of the two names is positive."""
    others = [k for k in range(len(table.classes)) if k not in own] if rest is None else rest

    def sum_sides(column: Array) -> Array:
        return np.stack([column[others].sum(axis=0), column[own].sum(axis=0)])

    bins = None if table.bins is None else table.bins.with_sums(sum_sides)
    squares = None if table.squares is None else sum_sides(table.squares)
    counts = sum_sides(table.counts)
    binary = replace(table, counts=counts, classes=names, positive=1, squares=squares, bins=bins)
    occupied = counts.any(axis=0)
    if occupied.all():
        return binary
    bins = None if bins is None else bins.rows(occupied)
    squares = None if squares is None else squares[:, occupied]
    return replace(binary, score=binary.score[occupied], counts=counts[:, occupied], squares=squares, bins=bins)
