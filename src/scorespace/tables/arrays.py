"""From two arrays to a table: the truth, and what a model says of each case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError, PositiveError, listing
from scorespace.tables.classes import ClassTable, class_table
from scorespace.tables.confusion import ConfusionTable, confusion
from scorespace.tables.counts import Counts
from scorespace.tables.labels import array_of, encode_classes, label_text, positive_index
from scorespace.tables.residual import residual_table
from scorespace.tables.score import ScoreTable, score_table
from scorespace.tables.table import Table

_OF_DECISIONS = (Counts, ConfusionTable)
_OF_CLASSES = (*_OF_DECISIONS, ScoreTable, ClassTable)


def table_of_arrays(
    truth: Any,
    given: Any,
    kinds: Sequence[type] = (),
    *,
    positive: Any = None,
    weight: Any = None,
    classes: Sequence[Any] | None = None,
) -> Table:
    """The table of a truth and of scores, scores of every class (cases, K), decisions or numbers.

    `kinds` are the tables that are of use, which tell decisions from scores, and numbers from classes; `classes`
    names the columns of (cases, K). Of two classes one is scored, where it is known which is positive.

    >>> table_of_arrays([1, 0, 1], [[0.1, 0.9], [0.6, 0.4], [0.6, 0.4]])
    ScoreTable: 3 cases, 2 '1' (positive), 1 '0', 2 distinct scores
    >>> table_of_arrays([1, 0, 1], [1, 0, 0], kinds=[Counts])
    ConfusionTable: 3 cases, rows actual, columns decided
       0  1
    0  1  0
    1  1  1
    """
    if numeric(truth) or (kinds and not any(kind in _OF_CLASSES for kind in kinds)):
        return residual_table(truth, given, weight=weight)
    if not isinstance(given, Mapping):
        given = array_of(given)
    if isinstance(given, Mapping) or given.ndim == 2:
        return _of_classes(truth, given, positive, weight, classes)
    if worded(given) or (kinds and all(kind in _OF_DECISIONS for kind in kinds)):
        return confusion(truth, given, positive=positive, weight=weight, classes=classes)
    return score_table(truth, given, positive=positive, weight=weight)


def real(values: Any) -> NDArray[np.float64]:
    """The values as numbers of double precision; complex ones are refused, which NumPy would cut off."""
    if np.asarray(values).dtype.kind == "c":
        raise TypeError("complex numbers")
    return np.asarray(values, dtype=np.float64)


def numeric(truth: Any) -> bool:
    """Whether a truth is of numbers that can be no labels: some have decimals."""
    values = array_of(truth)
    return values.dtype.kind == "f" and bool(np.any(values[np.isfinite(values)] % 1))


def worded(given: Any) -> bool:
    """Whether what a model says is of words, or of yes and no: decisions, and no scores."""
    return np.asarray(given).dtype.kind in "OUSTb" and not _numbers(given)


def _numbers(given: Any) -> bool:
    try:
        return np.asarray(given).dtype.kind != "b" and np.asarray(given, dtype=np.float64).ndim == 1
    except (TypeError, ValueError):
        return False


def by_class(truth: Any, given: Any, classes: Sequence[Any] | None = None) -> dict[str, Any]:
    """The scores of each class by its name; without names, the classes are those of the truth in order.

    >>> {name: column.tolist() for name, column in by_class(["b", "a"], [[0.9, 0.1], [0.4, 0.6]]).items()}
    {'a': [0.9, 0.4], 'b': [0.1, 0.6]}
    """
    if isinstance(given, Mapping):
        return {label_text(name): array_of(column) for name, column in given.items()}
    columns = np.asarray(given).T
    names = [*map(label_text, classes)] if classes is not None else [*encode_classes(truth)[1]]
    if classes is None and names != [*map(label_text, np.unique(array_of(truth)))]:
        # "10" comes before "9" as a word, and behind it as a number: whoever made the columns took either way.
        raise DataError(
            "which column belongs to which class is not sure.", seen=listing(names), hint="scores by class: {class: …}"
        )
    if len(names) != len(columns):
        raise DataError(
            "the scores are not those of the classes.",
            seen=f"{len(columns)} columns and {len(names)} classes",
            hint="a column of scores for each class",
        )
    return dict(zip(names, columns, strict=True))


def _of_classes(truth: Any, given: Any, positive: Any, weight: Any, classes: Sequence[Any] | None) -> Table:
    columns = by_class(truth, given, classes)
    named = tuple(columns)
    table = class_table(truth, columns, weight=weight)
    try:
        index = positive_index(named, positive)
    except PositiveError:
        if positive is not None:
            raise
        return table
    return table.inside(ScoreTable, named[index]) if len(named) == 2 or positive is not None else table
