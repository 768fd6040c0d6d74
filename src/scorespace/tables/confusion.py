"""The confusion table: how often each actual class was decided to be each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scorespace.errors import ColumnError, DataError, PositiveError, WeightError
from scorespace.results import ByValue, grouped
from scorespace.tables.counts import Array, Counts
from scorespace.tables.labels import encode, label_text, natural_order, positive_error, positive_index
from scorespace.tables.score import ScoreTable, refuse_uncountable, weights_of


@dataclass(frozen=True, eq=False)
class ConfusionTable(ByValue):
    """Counts of decisions, rows actual and columns decided; leading axes are replicates.

    `positive` is the index of the positive class of two; with K classes each takes its turn.

    >>> confusion([[6, 2], [1, 3]], classes=["cancer", "healthy"], positive="cancer").counts_of(0).tp
    array(6.)
    """

    matrix: Array
    classes: tuple[str, ...]
    positive: int | None = None

    @property
    def one_vs_rest(self) -> Counts:
        """The outcomes with each class in turn as positive, along the last axis."""
        hit = np.diagonal(self.matrix, axis1=-2, axis2=-1)
        actual, decided = self.matrix.sum(axis=-1), self.matrix.sum(axis=-2)
        total = actual.sum(axis=-1, keepdims=True)
        return Counts(tp=hit, fp=decided - hit, fn=actual - hit, tn=total - actual - decided + hit)

    def counts_of(self, index: int) -> Counts:
        """The outcomes with that class as positive."""
        return self.one_vs_rest[..., index]

    @property
    def class_totals(self) -> Array:
        """Weight of each actual class."""
        return self.matrix.sum(axis=-1)

    @property
    def total(self) -> Array:
        return self.class_totals.sum(axis=-1)

    @property
    def whole(self) -> bool:
        """Whether all counts are whole numbers, so that cases can be resampled."""
        return bool(np.all(self.matrix == np.floor(self.matrix)))

    def score_table(self) -> ScoreTable:
        """A crisp two-class decision as a score table with the scores 1 (positive) and 0."""
        if self.positive is None or len(self.classes) != 2:
            raise DataError("only a two-class decision is a score table.", seen=f"{len(self.classes)} classes")
        decided = [self.positive, 1 - self.positive]
        return ScoreTable(np.array([1.0, 0.0]), self.matrix[..., decided], self.classes, self.positive)

    def __add__(self, other: ConfusionTable) -> ConfusionTable:
        """The table of both samples together."""
        classes = tuple(dict.fromkeys(self.classes + other.classes))
        named = None if self.positive is None else self.classes[self.positive]
        if named != (None if other.positive is None else other.classes[other.positive]):
            raise DataError("tables with different positive classes cannot be merged.")
        matrix = _spread(self, classes) + _spread(other, classes)
        return ConfusionTable(matrix, classes, None if named is None else classes.index(named))

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
) -> ConfusionTable:
    """The confusion table from labels and decisions, or from a given matrix with actual classes as rows.

    >>> confusion([[6, 2], [1, 3]], classes=["cancer", "healthy"])
    ConfusionTable: 12 cases, rows actual, columns decided
              cancer  healthy
    cancer         6        2
    healthy        1        3
    >>> confusion(["a", "b", "a"], ["a", "b", "b"]).matrix.tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    if decision is None and weight is not None:
        raise WeightError("a matrix holds weights already; weight is for labels and decisions.")
    table = _from_matrix(truth, classes) if decision is None else _from_labels(truth, decision, classes, weight)
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
        raise DataError("a confusion matrix must hold numbers.", seen=str(error)) from None
    if cells.ndim != 2 or cells.shape[0] != cells.shape[1]:
        raise DataError(
            "a confusion matrix must be square.", seen=f"shape {cells.shape}", hint="rows actual, columns decided"
        )
    if not np.isfinite(cells).all() or (cells < 0).any() or not cells.any():
        raise DataError("a confusion matrix must hold counts.", seen=f"{cells.tolist()}", hint="numbers ≥ 0, not all 0")
    refuse_uncountable(cells, "the cells of the matrix")
    names = tuple(map(label_text, classes)) if classes is not None else tuple(map(str, range(len(cells))))
    if len(names) != len(cells) or len(set(names)) != len(names):
        raise DataError("classes must name each row of the matrix once.", seen=f"{len(cells)} rows and classes {names}")
    return ConfusionTable(cells, names)


def _from_labels(truth: Any, decision: Any, classes: Sequence[Any] | None, weight: Any) -> ConfusionTable:
    actual, actual_names = encode(truth)
    decided, decided_names = encode(decision, "decision")
    if actual.size != decided.size:
        raise DataError("truth and decision differ in length.", seen=f"{actual.size} and {decided.size} labels")
    names = (
        tuple(map(label_text, classes))
        if classes is not None
        else tuple(sorted({*actual_names, *decided_names}, key=natural_order))
    )
    absent = [name for name in (*actual_names, *decided_names) if name not in names]
    if absent:
        raise ColumnError(f"the label {absent[0]!r} is not one of the classes.", seen=f"classes {names}")
    rows = np.array([names.index(name) for name in actual_names])[actual]
    columns = np.array([names.index(name) for name in decided_names])[decided]
    weights = None if weight is None else weights_of(weight, rows.size)
    cells = np.bincount(rows * len(names) + columns, weights, minlength=len(names) ** 2)
    return ConfusionTable(cells.reshape(len(names), len(names)).astype(np.float64), names)


def _spread(table: ConfusionTable, classes: tuple[str, ...]) -> Array:
    """The matrix laid out for more classes than it has."""
    place = np.array([classes.index(name) for name in table.classes])
    out = np.zeros((*table.matrix.shape[:-2], len(classes), len(classes)))
    out[..., place[:, None], place] = table.matrix
    return out
