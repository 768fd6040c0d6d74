"""Tables as plain columns and back, so that they can be stored, sent and merged elsewhere; nothing is executed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError
from scorespace.tables.bins import Bins
from scorespace.tables.class_bins import ClassBins
from scorespace.tables.confusion import ConfusionTable
from scorespace.tables.lead import LeadTable, lead_table
from scorespace.tables.pair import PairTable, binned_pair
from scorespace.tables.score import MOST_EXACT, ScoreTable, merged_table
from scorespace.tables.table import Stored, Table

Column = NDArray[Any]
NUMBERS: Final = ("low", "high", "weight", "squares", "first", "second")
"""Of each row: the ends of a bin, the weight and its squares, and the sums of the scores; 0 where there are none."""

LABELS: Final = ("actual", "decided")
"""Of each row: the class of its cases, by number, and what they were decided to be."""


def stored(table: Table) -> Stored:
    """The table as columns; a table that keeps its cases is not stored.

    >>> from scorespace.tables.score import score_table
    >>> stored(score_table([1, 0, 1], [0.9, 0.4, 0.4])).columns["weight"]
    array([0., 1., 1., 1.])
    """
    kept = table.stored()
    size = kept.columns["weight"].size
    numbers = {name: np.asarray(kept.columns.get(name, np.zeros(size)), dtype=np.float64) for name in NUMBERS}
    labels = {name: np.asarray(kept.columns.get(name, np.zeros(size)), dtype=np.int32) for name in LABELS}
    return Stored({"classes": list(table.class_names), **kept.about}, {**labels, **numbers})


def restored(kept: Stored) -> Table:
    """The table of stored columns, refused where they cannot be those of one."""
    try:
        classes = tuple(kept.about["classes"])
        positive = kept.about["positive"]
        kind = kept.about["kind"]
        named = isinstance(kept.about["classes"], list) and all(isinstance(name, str) for name in classes)
        if (
            not named
            or not len(set(classes)) == len(classes) > 1
            or not (positive is None or positive in range(len(classes)))
        ):
            raise ValueError("its classes")
        numbers = {name: np.asarray(kept.columns[name], dtype=np.float64) for name in NUMBERS}
        if not all(np.isfinite(column).all() for column in numbers.values()):
            raise ValueError("numbers that are none")
        if (numbers["weight"] < 0).any() or numbers["weight"].sum() >= MOST_EXACT:
            raise ValueError("weights")
        codes = {name: np.asarray(kept.columns[name], dtype=np.intp) for name in LABELS}
        if any(column.size and not 0 <= column.min() <= column.max() <= len(classes) for column in codes.values()):
            raise ValueError("labels of no class")
        return _RESTORE[kind](kept.about, classes, codes, numbers)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            "the file holds no tables that can be read.",
            seen=f"wrong: {error}",
            hint="write it again: scorespace table DATA --out FILE.parquet",
        ) from None


def _scores(
    about: Mapping[str, Any], classes: tuple[str, ...], codes: Mapping[str, Column], numbers: Mapping[str, Column]
) -> Table:
    size = len(classes)
    low, high = (numbers[name].reshape(size, -1)[0] for name in ("low", "high"))
    if (low > high).any() or (low[:-1] <= high[1:]).any():
        raise ValueError("bins that overlap")
    weight, squares, first, second = (
        numbers[name].reshape(size, -1) for name in ("weight", "squares", "first", "second")
    )
    if np.all(weight == np.floor(weight)):
        weight = weight.astype(np.int64)
    bins = Bins(low, high, first, second, int(about["bits"]), tuple(map(float, about["edges"])))
    spread = squares if about["weighted"] else None
    positive = int(about["positive"])
    if about["exact"]:
        return ScoreTable(low, weight, classes, positive, squares=spread)
    return merged_table([bins], weight, spread, classes, positive)


def _decisions(
    about: Mapping[str, Any], classes: tuple[str, ...], codes: Mapping[str, Column], numbers: Mapping[str, Column]
) -> Table:
    shape = len(classes), len(classes)
    squares = numbers["squares"].reshape(shape) if about["weighted"] else None
    return ConfusionTable(numbers["weight"].reshape(shape), classes, about["positive"], squares)


def stored_pair(pairs: PairTable, edges: Sequence[float]) -> Stored:
    """The bins of two models together as columns; what is low and high of other tables are the bins of the two.

    >>> bins = np.array([0.9, 0.4])
    >>> both = binned_pair({"a": bins, "b": bins}, np.array([1, 0]), np.array([20, 30]), ("0", "1"), 1)
    >>> stored_pair(both, ()).columns["weight"]
    array([30., 20.])
    """
    first, second = (table.score[place] for table, place in zip(pairs.tables, pairs.place, strict=True))
    columns = {"actual": pairs.code, "low": first, "high": second, "weight": pairs.times}
    size = pairs.cases
    numbers = {name: np.asarray(columns.get(name, np.zeros(size)), dtype=np.float64) for name in NUMBERS}
    labels = {name: np.asarray(columns.get(name, np.zeros(size)), dtype=np.int32) for name in LABELS}
    about = {"models": list(pairs.models), "classes": list(pairs.classes), "positive": pairs.positive}
    return Stored({**about, "edges": list(edges)}, {**labels, **numbers})


def restored_pair(several: Sequence[Stored]) -> PairTable | None:
    """The bins of two models from the columns of all shards; nothing where the shards have other bins."""
    try:
        about = [
            (tuple(one.about["models"]), tuple(one.about["classes"]), one.about["positive"], tuple(one.about["edges"]))
            for one in several
        ]
        (names, classes, positive, _) = about[0]
        if len(set(about)) > 1:
            return None
        names_ok = len(set(names)) == 2 and all(isinstance(name, str) for name in (*names, *classes))
        if not names_ok or positive not in range(len(classes)):
            raise ValueError("models and classes")
        held = {name: np.concatenate([one.columns[name] for one in several]) for name in ("actual", *NUMBERS)}
        code, times = held["actual"].astype(np.intp), held["weight"].astype(np.int64)
        sound = all(np.isfinite(held[name]).all() for name in ("low", "high", "weight"))
        if not sound or (times < 0).any() or (code.size and not 0 <= code.min() <= code.max() < len(classes)):
            raise ValueError("bins of two models")
        keys = np.stack([held["low"], held["high"], code])
        rows, place = np.unique(keys, axis=1, return_inverse=True)
        times = np.bincount(place.ravel(), times).astype(np.int64)
        bins = dict(zip(names, rows[:2], strict=True))
        return binned_pair(bins, rows[2].astype(np.intp), times, classes, positive)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            "the file holds no tables that can be read.",
            seen=f"wrong: {error}",
            hint="write it again: scorespace table DATA --out FILE.parquet",
        ) from None


def _classes(
    about: Mapping[str, Any], classes: tuple[str, ...], codes: Mapping[str, Column], numbers: Mapping[str, Column]
) -> Table:
    ends = np.cumsum([0, *map(int, about["sizes"])])
    parts = []
    for number, part in enumerate(about["parts"]):
        own = slice(int(ends[number]), int(ends[number + 1]))
        names = classes if number < len(classes) else ("wrong", "right")
        parts.append(_scores(part, names, {}, {name: column[own] for name, column in numbers.items()}))
    matrix = np.asarray(about["matrix"], dtype=np.float64)
    if len(parts) != len(classes) + 1 or matrix.shape != (len(classes), len(classes)) or (matrix < 0).any():
        raise ValueError("tables of classes")
    *tables, top = parts
    leads = _leads(classes, codes, numbers, slice(int(ends[-1]), None))
    return ClassBins(tuple(tables), ConfusionTable(matrix, classes), top, float(about["excess"]), leads)  # type: ignore[arg-type]


def _leads(
    classes: tuple[str, ...], codes: Mapping[str, Column], numbers: Mapping[str, Column], own: slice
) -> LeadTable | None:
    """The decisions by their lead, in the rows behind the others; older files have none."""
    actual, decided = (codes[name][own] for name in ("actual", "decided"))
    if not actual.size:
        return None
    if max(actual.max(), decided.max()) >= len(classes):
        raise ValueError("labels of no class")
    low, high, weight = (numbers[name][own] for name in ("low", "high", "weight"))
    return lead_table(low, actual, decided, weight, classes, high)


_RESTORE: Final = {"scores": _scores, "decisions": _decisions, "classes": _classes}


def merged(parts: Iterator[Table]) -> Table:
    """The table of several shards."""
    first = next(parts)
    for part in parts:
        if type(part) is not type(first):
            raise DataError(
                f"{first.described()} and {part.described()} cannot be merged.", hint="tables of the same kind of model"
            )
        first = first + part
    return first
