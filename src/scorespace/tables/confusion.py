"""Confusion tables: counts of decisions by actual and decided class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from scorespace.costs import with_actual_rows
from scorespace.errors import ColumnError, DataError, PositiveError, WeightError, listing
from scorespace.results import grouped
from scorespace.tables.case_costs import COST_TABLES, CostTable, costs_inside
from scorespace.tables.columns import check_weight_sum, validate_weights
from scorespace.tables.counts import Counts
from scorespace.tables.labels import (
    at_least_index,
    class_ranks,
    encode_classes,
    label_text,
    natural_order,
    positive_error,
    positive_index,
)
from scorespace.tables.score_arrays import prevalence_factors
from scorespace.tables.scores import ScoreTable
from scorespace.tables.table import Array, NamedClasses, NoTableError, StoredTable, Table, Wanted, WeightedTable
from scorespace.tables.threshold import At
from scorespace.tables.weighted_quantiles import count_by_index


@dataclass(frozen=True, eq=False)
class ConfusionTable(NamedClasses, WeightedTable):
    """Counts of decisions, rows actual and columns decided.

    Parameters
    ----------
    matrix : ndarray of shape (…, n_classes, n_classes)
        Counts; leading axes are replicates.
    classes : tuple of str
        Names of the classes.
    positive : int, optional
        Index of the positive class; None if there is none, as for multiclass decisions.
    squares : ndarray, optional
        Sums of squared weights in the same shape, if cases are weighted.
    ranked_classes : bool
        Whether the classes are in a stated order.
    costs : CostTable, optional
        The decisions as scores 1 and 0, with the costs of each case.

    Examples
    --------
    >>> confusion([[6, 2], [1, 3]], classes=["cancer", "healthy"], positive="cancer").counts_of(0).tp
    array(6.)
    """

    holds = "multiclass decisions"
    weights, axes = "matrix", 2
    counts_outcomes = True
    matrix: Array
    classes: tuple[str, ...]
    positive: int | None = None
    squares: Array | None = field(default=None, compare=False, repr=False)
    ranked_classes: bool = field(default=False, repr=False)
    costs: CostTable | None = field(default=None, compare=False, repr=False)

    def in_order(self, order: Sequence[Any]) -> Self:
        """Return the table with its classes in the given order, lowest first.

        Parameters
        ----------
        order : sequence
            Names of all classes, lowest first.

        Returns
        -------
        ConfusionTable
            The same counts with ordered classes.
        """
        names = tuple(class_ranks(order, self.classes))
        matrix = _align(self.matrix, self.classes, names)
        squares = None if self.squares is None else _align(self.squares, self.classes, names)
        positive = None if self.positive is None else names.index(self.classes[self.positive])
        return type(self)(matrix, names, positive, squares, ranked_classes=True)

    def described(self) -> str:
        """Description for messages, such as "a confusion table of 3 classes without a positive class"."""
        stated = "" if self.positive is not None else " without a positive class"
        return f"a confusion table of {len(self.classes)} classes{stated}"

    @property
    def strata(self) -> NDArray[np.intp]:
        """Index of the actual class of each cell, for stratified resampling."""
        return np.repeat(np.arange(len(self.classes)), len(self.classes))

    def stored(self) -> StoredTable:
        """Convert to columns for storage."""
        about = {"kind": "decisions", "positive": self.positive, "weighted": self.squares is not None}
        decided = np.tile(np.arange(len(self.classes)), len(self.classes))
        columns = {"actual": self.strata, "decided": decided, "weight": self.cells}
        return StoredTable(about, columns if self.squares is None else {**columns, "squares": self.squares.ravel()})

    def inside(
        self, wanted: type[Wanted], of: str | None = None, at: At | None = None, *, sized: bool = False
    ) -> Wanted:
        """Derive the outcomes of the positive or a named class; a binary decision also gives scores 1 and 0.

        Parameters
        ----------
        wanted : type of Table
            The kind of table that is derived.
        of : str, optional
            Name of the class that is positive; that of the table by default.
        at : None
            Must be omitted: a decision has no threshold.
        sized : bool
            Whether values of the scores matter, not only their order.

        Returns
        -------
        Table
            A table of the wanted kind.
        """
        if wanted in COST_TABLES and at is None:
            return costs_inside(self.costs, wanted, of in (None, self.positive_name), 0.5)
        if at is not None:
            none = Counts.crisp if wanted is Counts else "{label} covers all thresholds"
            raise NoTableError("specifies a threshold, but " + none, hint="{label}")
        least = at_least_index(of, self.classes, self.ordinal)
        if least is not None and wanted is Counts:
            return cast(Wanted, self._at_least(least))
        index = self.positive if of is None else self.place_of(of)
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
        """Reweight the cases to a given prevalence; without a positive class nothing changes.

        Parameters
        ----------
        share : float
            The prevalence, between 0 and 1.

        Returns
        -------
        ConfusionTable
            The reweighted table.
        """
        if self.positive is None:
            return self
        factor = prevalence_factors(self.strata, self.cells, self.positive, share).reshape(self.matrix.shape)
        if factor.ndim > 2:  # replicates
            return replace(self, matrix=self.matrix * factor, squares=None)
        squares = self.matrix if self.squares is None else self.squares
        return replace(self, matrix=self.matrix * factor, squares=squares * factor**2)

    def right(self, at: At | None = None) -> NDArray[np.bool_]:
        """Whether the decision on each cell is correct.

        Parameters
        ----------
        at : None
            Not used: a decision has no threshold.

        Returns
        -------
        ndarray of bool
            One value per cell, row by row.
        """
        return np.eye(len(self.classes), dtype=bool).ravel()

    def ranked(self, cell: NDArray[np.int32]) -> tuple[Table, NDArray[np.int32]]:
        """The score table of the positive class, where decisions score 1 or 0, and the cell of each case there.

        Parameters
        ----------
        cell : ndarray of int
            The cell of each case.

        Returns
        -------
        tuple
            The score table, and the cell of each case in it.
        """
        size = len(self.classes)
        if self.positive is None:
            raise NoTableError(f"needs scores of a positive class, but {self.described()} has none")
        actual, decided = cell // size, cell % size
        columns = self.matrix[:, self.positive], self.matrix.sum(axis=1) - self.matrix[:, self.positive]
        scores = ScoreTable(np.array([1.0, 0.0]), np.stack(columns, axis=-1), self.classes, self.positive)
        return scores, (actual * 2 + (decided != self.positive)).astype(np.int32)

    def averaged_over(self, wanted: type[Table]) -> Table:
        """The table over whose classes a measure of decisions is averaged: this one.

        Parameters
        ----------
        wanted : type of Table
            The kind of table that is derived.

        Returns
        -------
        ConfusionTable
            This table.
        """
        if wanted is not Counts:
            raise NoTableError("averages scores of the classes, but these are decisions")
        return self

    def each(self, wanted: type[Wanted]) -> list[Wanted]:
        """One-vs-rest outcomes of all classes.

        Parameters
        ----------
        wanted : type of Table
            The kind of table that is derived.

        Returns
        -------
        list of Counts
            The outcomes with each class as positive.
        """
        return [cast(Wanted, self.counts_of(k)) for k in range(len(self.classes))]

    def pairwise(self, wanted: type[Wanted]) -> Iterator[tuple[int, int, Wanted]]:
        """One-vs-one outcomes of every two classes, from the cases of both that were decided for either.

        Parameters
        ----------
        wanted : type of Table
            The kind of table that is derived.

        Yields
        ------
        tuple of int, int and Counts
            The positive class, the negative class, and their outcomes.
        """
        for i, j in permutations(range(len(self.classes)), 2):
            tp, fn, fp, tn = (self.matrix[..., a, b] for a, b in ((i, i), (i, j), (j, i), (j, j)))
            yield i, j, cast(Wanted, Counts(tp=tp, fp=fp, fn=fn, tn=tn))

    def pooled(self, wanted: type[Wanted]) -> Wanted:
        """Sum of the one-vs-rest outcomes of all classes (micro average).

        Parameters
        ----------
        wanted : type of Table
            The kind of table that is derived.

        Returns
        -------
        Counts
            The summed outcomes.
        """
        counts = self.one_vs_rest
        return cast(Wanted, counts.with_cells(counts.cells.sum(axis=-2)))

    @property
    def one_vs_rest(self) -> Counts:
        """One-vs-rest outcomes of each class, along the last axis."""
        squares = None if self.squares is None else replace(self, matrix=self.squares, squares=None).one_vs_rest
        correct = np.diagonal(self.matrix, axis1=-2, axis2=-1)
        actual, decided = self.matrix.sum(axis=-1), self.matrix.sum(axis=-2)
        tn = actual.sum(axis=-1, keepdims=True) - actual - decided + correct
        return Counts(tp=correct, fp=decided - correct, fn=actual - correct, tn=tn, squares=squares)

    def _at_least(self, index: int) -> Counts:
        """Outcomes with that class and all above it as positive."""
        low, high = slice(None, index), slice(index, None)
        sides = (high, high), (low, high), (high, low), (low, low)

        def outcomes(cells: Array, squares: Counts | None = None) -> Counts:
            return Counts(*(cells[..., rows, columns].sum(axis=(-2, -1)) for rows, columns in sides), squares=squares)

        return outcomes(self.matrix, None if self.squares is None else outcomes(self.squares))

    def counts_of(self, index: int) -> Counts:
        """Outcomes with that class as positive.

        Parameters
        ----------
        index : int
            Index of the positive class.

        Returns
        -------
        Counts
            The outcomes.
        """
        return self.one_vs_rest[..., index]

    @property
    def class_totals(self) -> Array:
        """Weight of each actual class, shape (…, K)."""
        return self.matrix.sum(axis=-1)

    def score_table(self) -> ScoreTable:
        """A binary decision as a score table with the scores 1 (positive) and 0."""
        if self.positive is None or len(self.classes) != 2:
            raise DataError(
                "only a binary decision can become a score table.",
                seen=f"{len(self.classes)} classes",
                hint="two classes, one of them positive",
            )
        decided = [self.positive, 1 - self.positive]
        squares = None if self.squares is None else self.squares[..., decided]
        scores = np.array([1.0, 0.0])
        return ScoreTable(scores, self.matrix[..., decided], self.classes, self.positive, squares=squares)

    def __add__(self, other: Self) -> Self:
        """Merge the tables of two samples."""
        classes = tuple(dict.fromkeys(self.classes + other.classes))
        positive_name = self.positive_name
        if positive_name != other.positive_name:
            raise DataError(
                "tables with different positive classes cannot be merged.", hint="use the same positive class in both"
            )

        def both(ours: Array, theirs: Array) -> Array:
            return _align(ours, self.classes, classes) + _align(theirs, other.classes, classes)

        squares = self.squares_with(other, both)
        positive = None if positive_name is None else classes.index(positive_name)
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
    """Build a confusion table from labels and decisions, or from a matrix of counts.

    Confidence intervals treat a weighted case as one case, unless the weights are copies.

    Parameters
    ----------
    truth : array_like
        Actual class of each case, or a matrix of counts.
    decision : array_like, optional
        Decided class of each case; omitted for a matrix.
    classes : sequence, optional
        Names of the classes, in the order of the matrix; by default those of the labels.
    positive : object, optional
        The positive class; inferred only for {0, 1}, {-1, 1} and booleans.
    weight : array_like of shape (n_cases,), optional
        Weight of each case; 1 by default.
    copies : bool
        Whether weights are frequencies, each unit being one case.
    rows : {"actual", "predicted"}
        What the rows of a matrix are.

    Returns
    -------
    ConfusionTable
        The table of measures of decisions.

    Examples
    --------
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
        table = _from_matrix(with_actual_rows(truth, rows), classes)
    else:
        raise WeightError("a matrix of counts cannot be weighted.", hint="weights only with labels and decisions")
    return replace(table, positive=_positive_of(table, positive))


def _positive_of(table: ConfusionTable, positive: Any) -> int | None:
    """Index of the stated positive class, or of the inferred one of two; else None."""
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
            "a confusion matrix must hold numbers.", seen=str(error), hint="counts, one row for each actual class"
        ) from None
    if cells.ndim != 2 or cells.shape[0] != cells.shape[1]:
        raise DataError(
            "a confusion matrix must be square.", seen=f"shape {cells.shape}", hint="rows actual, columns decided"
        )
    if not np.isfinite(cells).all() or (cells < 0).any() or not cells.any():
        raise DataError("a confusion matrix must hold counts.", seen=f"{cells.tolist()}", hint="numbers ≥ 0, not all 0")
    check_weight_sum(cells, "the cells of the matrix")
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
    labels = sorted({*actual_names, *decided_names}, key=natural_order)
    names = tuple(labels if classes is None else map(label_text, classes))
    absent = [name for name in (*actual_names, *decided_names) if name not in names]
    if absent:
        raise ColumnError(
            f"the label {absent[0]!r} is not one of the classes.",
            seen=f"classes {names}",
            hint="classes=… must include every label that occurs",
        )
    rows = np.array([names.index(name) for name in actual_names])[actual]
    columns = np.array([names.index(name) for name in decided_names])[decided]
    weights = None if weight is None else validate_weights(weight, rows.size)
    cells, squares = count_by_index(rows * len(names) + columns, (len(names), len(names)), weights, copies)
    return ConfusionTable(cells.astype(np.float64), names, squares=squares)


def _align(cells: Array, own: tuple[str, ...], classes: tuple[str, ...]) -> Array:
    """Expand the matrix to more classes, with zeros for the new ones."""
    place = np.array([classes.index(name) for name in own])
    out = np.zeros((*cells.shape[:-2], len(classes), len(classes)))
    out[..., place[:, None], place] = cells
    return out
