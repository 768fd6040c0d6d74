"""The confusion table: how often each actual class was decided to be each class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from itertools import permutations
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from scorespace.conditions import actual_rows
from scorespace.errors import ColumnError, DataError, PositiveError, WeightError, listing
from scorespace.frozen import dataclass
from scorespace.results import grouped
from scorespace.tables.columns import refuse_uncountable, weights_of
from scorespace.tables.counts import Counts
from scorespace.tables.labels import (
    at_least,
    encode_classes,
    label_text,
    natural_order,
    places_in,
    positive_error,
    positive_index,
)
from scorespace.tables.order import counted_at
from scorespace.tables.score import ScoreTable, prevalence_factors
from scorespace.tables.table import Array, At, NoTableError, OfClasses, Stored, Table, Wanted, Weighed


@dataclass(frozen=True, eq=False)
class ConfusionTable(OfClasses, Weighed):
    """Counts of decisions, rows actual and columns decided; leading axes are replicates.

    `positive` is the index of the positive class of two; with K classes each takes its turn.

    >>> confusion([[6, 2], [1, 3]], classes=["cancer", "healthy"], positive="cancer").counts_of(0).tp
    array(6.)
    """

    holds = "decisions on several classes"
    weights, axes = "matrix", 2
    counts_outcomes = True
    matrix: Array
    classes: tuple[str, ...]
    positive: int | None = None
    squares: Array | None = field(default=None, compare=False, repr=False)
    ranked_classes: bool = field(default=False, repr=False)

    def in_order(self, order: Sequence[Any]) -> Self:
        names = tuple(places_in(order, self.classes))
        matrix = _spread(self.matrix, self.classes, names)
        squares = None if self.squares is None else _spread(self.squares, self.classes, names)
        positive = None if self.positive is None else names.index(self.classes[self.positive])
        return type(self)(matrix, names, positive, squares, ranked_classes=True)

    def described(self) -> str:
        stated = "" if self.positive is not None else " without a positive class"
        return f"a confusion table of {len(self.classes)} classes{stated}"

    @property
    def strata(self) -> NDArray[np.intp]:
        return np.repeat(np.arange(len(self.classes)), len(self.classes))

    def stored(self) -> Stored:
        about = {"kind": "decisions", "positive": self.positive, "weighted": self.squares is not None}
        decided = np.tile(np.arange(len(self.classes)), len(self.classes))
        columns = {"actual": self.strata, "decided": decided, "weight": self.cells}
        return Stored(about, columns if self.squares is None else {**columns, "squares": self.squares.ravel()})

    def inside(
        self, wanted: type[Wanted], of: str | None = None, at: At | None = None, *, sized: bool = False
    ) -> Wanted:
        """The outcomes of the positive class or of a named one; a two-class decision as scores 1 and 0."""
        if at is not None:
            none = Counts.crisp if wanted is Counts else "{label} covers all thresholds"
            raise NoTableError("asks for a threshold, but " + none, hint="{label}")
        least = at_least(of, self.classes, self.ordinal)
        if least is not None and wanted is Counts:
            return cast(Wanted, self._from(least))
        index = self.positive if of is None else self.place_of(of)  # of several classes, one that was stated
        if wanted is Counts:
            if index is None:
                raise NoTableError(
                    f"cannot be computed from {self.described()}",
                    hint="state the positive class, or name a class or an average: {label}[macro]",
                )
            return cast(Wanted, self.counts_of(index))
        if wanted is ScoreTable:
            if self.positive is None or len(self.classes) != 2:
                raise NoTableError(f"cannot be computed from {self.described()}", hint="{label} needs scores")
            return cast(Wanted, self.score_table().inside(ScoreTable, of, sized=sized))
        return super().inside(wanted, of)

    def at_prevalence(self, share: float) -> Self:
        if self.positive is None:
            return self
        factor = prevalence_factors(self.strata, self.cells, self.positive, share).reshape(self.matrix.shape)
        if factor.ndim > 2:  # replicates
            return replace(self, matrix=self.matrix * factor, squares=None)
        squares = self.matrix if self.squares is None else self.squares
        return replace(self, matrix=self.matrix * factor, squares=squares * factor**2)

    def right(self, at: At | None = None) -> NDArray[np.bool_]:
        return np.eye(len(self.classes), dtype=bool).ravel()

    def ranked(self, cell: NDArray[np.int32]) -> tuple[Table, NDArray[np.int32]]:
        size = len(self.classes)
        if self.positive is None:
            raise NoTableError(f"needs scores of a positive class, and {self.described()} hold none")
        actual, decided = cell // size, cell % size
        columns = self.matrix[:, self.positive], self.matrix.sum(axis=1) - self.matrix[:, self.positive]
        scores = ScoreTable(np.array([1.0, 0.0]), np.stack(columns, axis=-1), self.classes, self.positive)
        return scores, (actual * 2 + (decided != self.positive)).astype(np.int32)

    def averaged_over(self, wanted: type[Table]) -> Table:
        if wanted is not Counts:
            raise NoTableError("averages scores of the classes, but these are decisions")
        return self

    def each(self, wanted: type[Wanted]) -> list[Wanted]:
        return [cast(Wanted, self.counts_of(k)) for k in range(len(self.classes))]

    def pairwise(self, wanted: type[Wanted]) -> Iterator[tuple[int, int, Wanted]]:
        """The outcomes of each class against each other one: of the cases of both, those decided for either."""
        for i, j in permutations(range(len(self.classes)), 2):
            tp, fn, fp, tn = (self.matrix[..., a, b] for a, b in ((i, i), (i, j), (j, i), (j, j)))
            yield i, j, cast(Wanted, Counts(tp=tp, fp=fp, fn=fn, tn=tn))

    def pooled(self, wanted: type[Wanted]) -> Wanted:
        """The outcomes of all classes added up."""
        each = self.one_vs_rest
        return cast(Wanted, each.with_cells(each.cells.sum(axis=-2)))

    @property
    def one_vs_rest(self) -> Counts:
        """The outcomes with each class in turn as positive, along the last axis."""
        squares = None if self.squares is None else replace(self, matrix=self.squares, squares=None).one_vs_rest
        hit = np.diagonal(self.matrix, axis1=-2, axis2=-1)
        actual, decided = self.matrix.sum(axis=-1), self.matrix.sum(axis=-2)
        total = actual.sum(axis=-1, keepdims=True)
        return Counts(tp=hit, fp=decided - hit, fn=actual - hit, tn=total - actual - decided + hit, squares=squares)

    def _from(self, index: int) -> Counts:
        """The outcomes with that class and all above it as positive."""
        low, high = slice(None, index), slice(index, None)
        sides = (high, high), (low, high), (high, low), (low, low)

        def outcomes(cells: Array, squares: Counts | None = None) -> Counts:
            return Counts(*(cells[..., rows, columns].sum(axis=(-2, -1)) for rows, columns in sides), squares=squares)

        return outcomes(self.matrix, None if self.squares is None else outcomes(self.squares))

    def counts_of(self, index: int) -> Counts:
        """The outcomes with that class as positive."""
        return self.one_vs_rest[..., index]

    @property
    def class_totals(self) -> Array:
        """Weight of each actual class."""
        return self.matrix.sum(axis=-1)

    def score_table(self) -> ScoreTable:
        """A crisp two-class decision as a score table with the scores 1 (positive) and 0."""
        if self.positive is None or len(self.classes) != 2:
            raise DataError(
                "only a two-class decision is a score table.",
                seen=f"{len(self.classes)} classes",
                hint="two classes, one of them positive",
            )
        decided = [self.positive, 1 - self.positive]
        squares = None if self.squares is None else self.squares[..., decided]
        held = np.array([1.0, 0.0]), self.matrix[..., decided]
        return ScoreTable(*held, self.classes, self.positive, squares=squares)

    def __add__(self, other: Self) -> Self:
        """The table of both samples together."""
        classes = tuple(dict.fromkeys(self.classes + other.classes))
        named = self.positive_name
        if named != other.positive_name:
            raise DataError(
                "tables with different positive classes cannot be merged.", hint="the same positive class in both"
            )

        def both(ours: Array, theirs: Array) -> Array:
            return _spread(ours, self.classes, classes) + _spread(theirs, other.classes, classes)

        squares = self.squares_with(other, both)
        positive = None if named is None else classes.index(named)
        return type(self)(both(self.matrix, other.matrix), classes, positive, squares)

    def __repr__(self) -> str:
        head = f"ConfusionTable: {grouped(self.total.sum())} cases, rows actual, columns decided"
        if self.matrix.ndim != 2:
            return f"{head}, {self.matrix.shape[:-2]} replicates"
        cells = [[grouped(count) for count in row] for row in self.matrix]
        width = max(len(text) for row in [self.classes, *cells] for text in row) + 2
        side = max(map(len, self.classes))
        lines = [" " * side + "".join(name.rjust(width) for name in self.classes)]
        lines += [
            name.ljust(side) + "".join(text.rjust(width) for text in row)
            for name, row in zip(self.classes, cells, strict=True)
        ]
        return "\n".join([head, *lines])


def confusion(
    truth: Any,
    decision: Any = None,
    *,
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    weight: Any = None,
    copies: bool = False,
    rows: Literal["actual", "predicted"] = "actual",
) -> ConfusionTable:
    """The confusion table from labels and decisions, or from a given matrix.

    `rows` says what the rows of the matrix are: the actual classes, or the predicted ones. Intervals take a weighted
    case as one, unless the weights are `copies` of it.

    >>> confusion([[6, 2], [1, 3]], classes=["cancer", "healthy"])
    ConfusionTable: 12 cases, rows actual, columns decided
              cancer  healthy
    cancer         6        2
    healthy        1        3
    >>> confusion(["a", "b", "a"], ["a", "b", "b"]).matrix.tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    if decision is not None:
        table = _from_labels(truth, decision, classes, weight, copies)
    elif weight is None:
        table = _from_matrix(actual_rows(truth, rows), classes)
    else:
        raise WeightError(
            "a matrix holds weights already; weight is for labels and decisions.", hint="leave weight out"
        )
    return replace(table, positive=_positive_of(table, positive))


def _positive_of(table: ConfusionTable, positive: Any) -> int | None:
    """The stated positive class, the inferred one of two, or none: then each class takes its turn."""
    try:
        return positive_index(table.classes, positive)
    except PositiveError:
        if positive is None:
            return None
        raise positive_error(table.classes, positive, table.class_totals.tolist()) from None


def _from_matrix(matrix: Any, classes: Sequence[Any] | None) -> ConfusionTable:
    try:
        cells = np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            "a confusion matrix must hold numbers.", seen=str(error), hint="counts, a row for each actual class"
        ) from None
    if cells.ndim != 2 or cells.shape[0] != cells.shape[1]:
        raise DataError(
            "a confusion matrix must be square.", seen=f"shape {cells.shape}", hint="rows actual, columns decided"
        )
    if not np.isfinite(cells).all() or (cells < 0).any() or not cells.any():
        raise DataError("a confusion matrix must hold counts.", seen=f"{cells.tolist()}", hint="numbers ≥ 0, not all 0")
    refuse_uncountable(cells, "the cells of the matrix")
    names = tuple(map(label_text, classes)) if classes is not None else tuple(map(str, range(len(cells))))
    if len(names) != len(cells) or len(set(names)) != len(names):
        raise DataError(
            "classes must name each row of the matrix once.",
            seen=f"{len(cells)} rows and classes {names}",
            hint="one name for each row",
        )
    return ConfusionTable(cells, names)


def _from_labels(truth: Any, decision: Any, classes: Sequence[Any] | None, weight: Any, copies: bool) -> ConfusionTable:
    actual, actual_names = encode_classes(truth)
    decided, decided_names = encode_classes(decision, "decision")
    if actual.size != decided.size:
        raise DataError(
            "truth and decision differ in length.",
            seen=f"{actual.size} and {decided.size} labels",
            hint="one decision for each label",
        )
    if classes is None and len(actual_names) > 1 and not set(actual_names) & set(decided_names):
        raise ColumnError(
            "truth and decision share no label.",
            seen=f"{listing(actual_names)} and {listing(decided_names)}",
            hint="the same labels in both",
        )
    seen = sorted({*actual_names, *decided_names}, key=natural_order)
    names = tuple(seen if classes is None else map(label_text, classes))
    absent = [name for name in (*actual_names, *decided_names) if name not in names]
    if absent:
        raise ColumnError(
            f"the label {absent[0]!r} is not one of the classes.",
            seen=f"classes {names}",
            hint="classes with every label that occurs",
        )
    rows = np.array([names.index(name) for name in actual_names])[actual]
    columns = np.array([names.index(name) for name in decided_names])[decided]
    weights = None if weight is None else weights_of(weight, rows.size)
    cells, squares = counted_at(rows * len(names) + columns, (len(names), len(names)), weights, copies)
    return ConfusionTable(cells.astype(np.float64), names, squares=squares)


def _spread(cells: Array, own: tuple[str, ...], classes: tuple[str, ...]) -> Array:
    """A matrix laid out for more classes than it has."""
    place = np.array([classes.index(name) for name in own])
    out = np.zeros((*cells.shape[:-2], len(classes), len(classes)))
    out[..., place[:, None], place] = cells
    return out
