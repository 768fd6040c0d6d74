"""Convert tables to plain columns and back, to store and merge them elsewhere; reading executes no code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError
from scorespace.tables.bins import BinSums
from scorespace.tables.columns import MAX_EXACT_INTEGER
from scorespace.tables.confusion import ConfusionTable
from scorespace.tables.margin import MarginTable, margin_table
from scorespace.tables.multiclass_bins import ClassBins
from scorespace.tables.paired import PairTable, binned_pair
from scorespace.tables.scores import ScoreTable
from scorespace.tables.table import StoredTable, Table

Column = NDArray[Any]
NUMBERS: Final = ("low", "high", "weight", "squares", "first", "second")
"""Numeric columns: limits of a bin, weight and squared weight, and sums of scores; 0 if a table has none."""

LABELS: Final = ("actual", "decided")
"""Label columns: codes of the actual and the decided class."""


def to_stored_table(table: Table) -> StoredTable:
    """Convert a table to columns; tables of individual cases cannot be stored.

    >>> from scorespace.tables.scores import score_table
    >>> to_stored_table(score_table([1, 0, 1], [0.9, 0.4, 0.4])).columns["weight"]
    array([0., 1., 1., 1.])
    """
    columns = table.stored()
    return StoredTable({"classes": list(table.class_names), **columns.about}, _all_columns(columns.columns))


def to_stored_pair(pairs: PairTable, edges: Sequence[float]) -> StoredTable:
    """Convert the joint bins of two models to columns; low and high hold the bins of the first and the second model.

    >>> bins = np.array([0.9, 0.4])
    >>> both = binned_pair({"a": bins, "b": bins}, np.array([1, 0]), np.array([20, 30]), ("0", "1"), 1)
    >>> to_stored_pair(both, ()).columns["weight"]
    array([30., 20.])
    """
    first, second = (table.score[place] for table, place in zip(pairs.tables, pairs.place, strict=True))
    about = {"models": list(pairs.models), "classes": list(pairs.classes), "positive": pairs.positive}
    columns = {"actual": pairs.code, "low": first, "high": second, "weight": pairs.times}
    return StoredTable({**about, "edges": list(edges)}, _all_columns(columns))


def _all_columns(columns: Mapping[str, Any]) -> dict[str, Column]:
    """All stored columns, filled with 0 where a table has none."""
    none = np.zeros(columns["weight"].size)
    kinds = {**dict.fromkeys(LABELS, np.int32), **dict.fromkeys(NUMBERS, np.float64)}
    return {name: np.asarray(columns.get(name, none), dtype=kind) for name, kind in kinds.items()}


@contextmanager
def _reporting_errors() -> Iterator[None]:
    """Turn errors in stored columns into a DataError."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            "the file holds no valid tables.",
            seen=f"invalid {error}",
            hint="write it again: scorespace table DATA --out FILE.parquet",
        ) from None


@dataclass(frozen=True)
class _ReadColumns:
    """Validated columns: the labels as `codes`, and the `numbers`."""

    about: Mapping[str, Any]
    classes: tuple[str, ...]
    codes: Mapping[str, Column]
    numbers: Mapping[str, Column]


def from_stored_table(kept: StoredTable) -> Table:
    """Rebuild a table from its columns, after validating them."""
    with _reporting_errors():
        classes = tuple(kept.about["classes"])
        positive = kept.about["positive"]
        kind = kept.about["kind"]
        is_named = isinstance(kept.about["classes"], list) and all(isinstance(name, str) for name in classes)
        is_known = positive is None or positive in range(len(classes))
        if not is_named or not is_known or not len(set(classes)) == len(classes) > 1:
            raise ValueError("classes")
        numbers = {name: np.asarray(kept.columns[name], dtype=np.float64) for name in NUMBERS}
        if not all(np.isfinite(column).all() for column in numbers.values()):
            raise ValueError("numbers: not finite")
        if (numbers["weight"] < 0).any() or numbers["weight"].sum() >= MAX_EXACT_INTEGER:
            raise ValueError("weights")
        if kept.about.get("weighted") and ((numbers["squares"] > 0) != (numbers["weight"] > 0)).any():
            raise ValueError("squared weights")
        labels = [np.asarray(kept.columns[name]) for name in LABELS]
        if any(column.size and not 0 <= column.min() <= column.max() <= len(classes) for column in labels):
            raise ValueError("labels: no such class")
        codes = {name: column.astype(np.intp) for name, column in zip(LABELS, labels, strict=True)}
        return _RESTORE[kind](_ReadColumns(kept.about, classes, codes, numbers))


def _scores(read: _ReadColumns) -> ScoreTable:
    about, classes = read.about, read.classes
    low, high, weight, squares, first, second = (read.numbers[name].reshape(len(classes), -1) for name in NUMBERS)
    low, high = low[0], high[0]
    if (low > high).any() or (low[:-1] <= high[1:]).any():
        raise ValueError("bins: overlapping")
    if np.all(weight == np.floor(weight)):
        weight = weight.astype(np.int64)
    bins = BinSums(low, high, first, second, int(about["bits"]), tuple(map(float, about["edges"])))
    squared_weights = squares if about["weighted"] else None
    positive = int(about["positive"])
    if about["exact"]:
        return ScoreTable(low, weight, classes, positive, squares=squared_weights)
    return ScoreTable.from_bins([bins], weight, squared_weights, classes, positive)


def _decisions(read: _ReadColumns) -> ConfusionTable:
    shape = len(read.classes), len(read.classes)
    squares = read.numbers["squares"].reshape(shape) if read.about["weighted"] else None
    return ConfusionTable(read.numbers["weight"].reshape(shape), read.classes, read.about["positive"], squares)


def _classes(read: _ReadColumns) -> ClassBins:
    about, classes = read.about, read.classes
    ends = np.cumsum([0, *map(int, about["sizes"])])
    parts = []
    for number, part in enumerate(about["parts"]):
        rows = slice(int(ends[number]), int(ends[number + 1]))
        names = classes if number < len(classes) else ("wrong", "right")
        parts.append(
            _scores(_ReadColumns(part, names, {}, {name: column[rows] for name, column in read.numbers.items()}))
        )
    matrix = np.asarray(about["matrix"], dtype=np.float64)
    if len(parts) != len(classes) + 1 or matrix.shape != (len(classes), len(classes)) or (matrix < 0).any():
        raise ValueError("tables of classes")
    *tables, top = parts
    leads = _leads(read, slice(int(ends[-1]), None))
    return ClassBins(tuple(tables), ConfusionTable(matrix, classes), top, float(about["excess"]), leads)


def _leads(read: _ReadColumns, rows: slice) -> MarginTable | None:
    """The margin table in the last rows; older files have none."""
    actual, decided = (read.codes[name][rows] for name in LABELS)
    if not actual.size:
        return None
    if max(actual.max(), decided.max()) >= len(read.classes):
        raise ValueError("labels: no such class")
    low, high, weight = (read.numbers[name][rows] for name in ("low", "high", "weight"))
    return margin_table(low, actual, decided, weight, read.classes, high)


_RESTORE: Final = {"scores": _scores, "decisions": _decisions, "classes": _classes}


def from_stored_pair(several: Sequence[StoredTable]) -> PairTable | None:
    """Rebuild the joint bins of two models from the columns of all shards; None if the shards differ in their bins."""
    with _reporting_errors():
        about = [
            (
                tuple(part.about["models"]),
                tuple(part.about["classes"]),
                part.about["positive"],
                tuple(part.about["edges"]),
            )
            for part in several
        ]
        (names, classes, positive, _) = about[0]
        if len(set(about)) > 1:
            return None
        is_named = len(set(names)) == 2 and all(isinstance(name, str) for name in (*names, *classes))
        if not is_named or positive not in range(len(classes)):
            raise ValueError("models and classes")
        columns = {name: np.concatenate([part.columns[name] for part in several]) for name in ("actual", *NUMBERS)}
        code, times = columns["actual"].astype(np.intp), columns["weight"].astype(np.int64)
        is_finite = all(np.isfinite(columns[name]).all() for name in ("low", "high", "weight"))
        if not is_finite or (times < 0).any() or (code.size and not 0 <= code.min() <= code.max() < len(classes)):
            raise ValueError("joint bins of two models")
        keys = np.stack([columns["low"], columns["high"], code])
        rows, place = np.unique(keys, axis=1, return_inverse=True)
        times = np.bincount(place.ravel(), times).astype(np.int64)
        bins = dict(zip(names, rows[:2], strict=True))
        return binned_pair(bins, rows[2].astype(np.intp), times, classes, positive)


def merge_tables(parts: Iterator[Table]) -> Table:
    """Merge the tables of several shards."""
    first = next(parts)
    for part in parts:
        if type(part) is not type(first):
            raise DataError(
                f"{first.described()} and {part.described()} cannot be merged.", hint="tables of the same kind of model"
            )
        first = first + part
    return first
