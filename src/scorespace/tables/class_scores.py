"""Base of multiclass score tables: one-vs-rest tables, and decisions by the highest score."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from itertools import permutations
from typing import TYPE_CHECKING, Final, cast

from scorespace.errors import DataError, listing
from scorespace.results import grouped
from scorespace.tables.confusion import ConfusionTable
from scorespace.tables.counts import Counts
from scorespace.tables.labels import list_classes
from scorespace.tables.scores import ScoreTable
from scorespace.tables.table import NamedClasses, NoTableError, Table, Wanted
from scorespace.tables.threshold import At

TOP: Final = "top"
"""Class name that denotes the highest score of each case."""

ROUNDING: Final = 0.01
"""How far the scores of a case may sum from one and still count as probabilities, because of printed digits."""


class ClassScores(NamedClasses):
    """Base of multiclass score tables: one-vs-rest tables, and decisions by the highest score."""

    scores_classes = True
    if TYPE_CHECKING:

        @property
        def decisions(self) -> ConfusionTable: ...

        @property
        def top(self) -> ScoreTable: ...

    @abstractmethod
    def one_vs_rest(self, index: int) -> ScoreTable:
        """Score table of one class against all others."""

    @abstractmethod
    def one_vs_one(self, index: int, other: int) -> ScoreTable:
        """Score table of one class, by its own score, against one other class."""

    def deciding(self) -> ConfusionTable:
        return self.decisions

    def inside(
        self, wanted: type[Wanted], of: str | None = None, at: At | None = None, *, sized: bool = False
    ) -> Wanted:
        """Derive the scores of one class against the rest, its outcomes, or the decisions by the highest score."""
        if of == TOP and wanted is ScoreTable:
            return self.top.inside(wanted, None, at, sized=sized)
        of = None if of is None else self.classes[self.place_of(of)]
        if at is not None and of is None:
            raise NoTableError("of a multiclass model needs a class", hint=f"{{label}}[{self.classes[0]}]@{at:g}")
        if (wanted is Counts and at is None) or (wanted is ConfusionTable and of is None):
            return self.decisions.inside(wanted, of)
        if of is not None:
            return self.one_vs_rest(self.classes.index(of)).inside(wanted, None, at, sized=sized)
        table = self.whole_inside(wanted)
        if table is None:
            hint = "name a class or an average: {label}[macro]"
            raise NoTableError(f"cannot be computed from {self.described()}", hint=hint)
        return cast(Wanted, table)

    def averaged_over(self, wanted: type[Table]) -> Table:
        return self.decisions if wanted is Counts else self

    def each(self, wanted: type[Wanted]) -> list[Wanted]:
        return [cast(Wanted, self.one_vs_rest(k)) for k in range(len(self.classes))]

    def pairwise(self, wanted: type[Wanted]) -> Iterator[tuple[int, int, Wanted]]:
        for i, j in permutations(range(len(self.classes)), 2):
            yield i, j, cast(Wanted, self.one_vs_one(i, j))

    def different_classes_error(self, other: ClassScores) -> DataError:
        """The error for merging tables of different classes."""
        return DataError(
            "tables that score different classes cannot be merged.",
            seen=f"{listing(self.classes)} and {listing(other.classes)}",
            hint="tables with the same classes",
        )

    def __repr__(self) -> str:
        counts = list_classes(self.classes, self.class_totals.tolist())
        return f"{type(self).__name__}: {grouped(float(self.total))} cases, {len(self.classes)} classes: {counts}"
