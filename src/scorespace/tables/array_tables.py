"""Build the table that a measure needs from two arrays: the truth and the predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError, PositiveError, listing
from scorespace.tables.confusion import ConfusionTable, confusion
from scorespace.tables.counts import Counts
from scorespace.tables.labels import encode_classes, label_text, positive_index, to_array
from scorespace.tables.multiclass import ClassTable, class_table
from scorespace.tables.regression import residual_table
from scorespace.tables.scores import ScoreTable, score_table
from scorespace.tables.table import Table

_DECISION_TABLES = (Counts, ConfusionTable)
_CLASSIFICATION_TABLES = (*_DECISION_TABLES, ScoreTable, ClassTable)


def table_of_arrays(
    truth: Any,
    given: Any,
    kinds: Sequence[type] = (),
    *,
    positive: Any = None,
    weight: Any = None,
    classes: Sequence[Any] | None = None,
) -> Table:
    """Build a table from the truth and scores, class scores (n_cases, K), decisions or numeric predictions.

    `kinds` are the tables that the measure accepts; they distinguish decisions from scores, and regression from
    classification. `classes` names the columns of class scores. With two classes, a score table is built if the
    positive class is known.

    >>> table_of_arrays([1, 0, 1], [[0.1, 0.9], [0.6, 0.4], [0.6, 0.4]])
    ScoreTable: 3 cases, 2 '1' (positive), 1 '0', 2 distinct scores
    >>> table_of_arrays([1, 0, 1], [1, 0, 0], kinds=[Counts])
    ConfusionTable: 3 cases, rows actual, columns decided
       0  1
    0  1  0
    1  1  1
    """
    if is_regression_truth(truth) or (kinds and not any(kind in _CLASSIFICATION_TABLES for kind in kinds)):
        return residual_table(truth, given, weight=weight)
    if not isinstance(given, Mapping):
        given = to_array(given)
    if isinstance(given, Mapping) or given.ndim == 2:
        return _class_scores_table(truth, given, positive, weight, classes)
    if has_labels(given) or (kinds and all(kind in _DECISION_TABLES for kind in kinds)):
        return confusion(truth, given, positive=positive, weight=weight, classes=classes)
    return score_table(truth, given, positive=positive, weight=weight)


def to_float64(values: Any) -> NDArray[np.float64]:
    """Convert to float64; complex numbers are refused, because NumPy would drop their imaginary part."""
    if np.asarray(values).dtype.kind == "c":
        raise TypeError("complex numbers")
    return np.asarray(values, dtype=np.float64)


def is_regression_truth(truth: Any) -> bool:
    """Whether the truth is numeric and not a label: some values have decimals."""
    values = to_array(truth)
    return values.dtype.kind == "f" and bool(np.any(values[np.isfinite(values)] % 1))


def has_labels(given: Any) -> bool:
    """Whether the predictions are labels: text or booleans, not scores."""
    return np.asarray(given).dtype.kind in "OUSTb" and not _are_numbers(given)


def _are_numbers(given: Any) -> bool:
    try:
        return np.asarray(given).dtype.kind != "b" and np.asarray(given, dtype=np.float64).ndim == 1
    except (TypeError, ValueError):
        return False


def by_class(truth: Any, given: Any, classes: Sequence[Any] | None = None) -> dict[str, Any]:
    """Scores of each class by name; without names, the columns are the classes of the truth in sorted order.

    >>> {name: column.tolist() for name, column in by_class(["b", "a"], [[0.9, 0.1], [0.4, 0.6]]).items()}
    {'a': [0.9, 0.4], 'b': [0.1, 0.6]}
    """
    if isinstance(given, Mapping):
        return {label_text(name): to_array(column) for name, column in given.items()}
    columns = np.asarray(given).T
    names = [*map(label_text, classes)] if classes is not None else [*encode_classes(truth)[1]]
    if classes is None and names != [*map(label_text, np.unique(to_array(truth)))]:
        # "10" sorts before "9" as text and after it as a number; the order of the columns is ambiguous.
        raise DataError(
            "the order of the score columns is ambiguous.", seen=listing(names), hint="scores by class: {class: …}"
        )
    if len(names) != len(columns):
        raise DataError(
            "the number of score columns differs from the number of classes.",
            seen=f"{len(columns)} columns and {len(names)} classes",
            hint="one column of scores for each class",
        )
    return dict(zip(names, columns, strict=True))


def _class_scores_table(truth: Any, given: Any, positive: Any, weight: Any, classes: Sequence[Any] | None) -> Table:
    columns = by_class(truth, given, classes)
    names = tuple(columns)
    table = class_table(truth, columns, weight=weight)
    try:
        index = positive_index(names, positive)
    except PositiveError:
        if positive is not None:
            raise
        return table
    return table.inside(ScoreTable, names[index]) if len(names) == 2 or positive is not None else table
