"""Tables as plain columns and back, so that they can be stored, sent and merged elsewhere; nothing is executed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError
from scorespace.frozen import dataclass
from scorespace.tables.bins import Bins
from scorespace.tables.class_bins import ClassBins
from scorespace.tables.columns import MOST_EXACT
from scorespace.tables.confusion import ConfusionTable
from scorespace.tables.lead import LeadTable, lead_table
from scorespace.tables.pair import PairTable, binned_pair
from scorespace.tables.score import ScoreTable, merged_table
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
    return Stored({"classes": list(table.class_names), **kept.about}, _filled(kept.columns))


def stored_pair(pairs: PairTable, edges: Sequence[float]) -> Stored:
    """The bins of two models together as columns; what is low and high of other tables are the bins of the two.

    >>> bins = np.array([0.9, 0.4])
    >>> both = binned_pair({"a": bins, "b": bins}, np.array([1, 0]), np.array([20, 30]), ("0", "1"), 1)
    >>> stored_pair(both, ()).columns["weight"]
    array([30., 20.])
    """
    first, second = (table.score[place] for table, place in zip(pairs.tables, pairs.place, strict=True))
    about = {"models": list(pairs.models), "classes": list(pairs.classes), "positive": pairs.positive}
    columns = {"actual": pairs.code, "low": first, "high": second, "weight": pairs.times}
    return Stored({**about, "edges": list(edges)}, _filled(columns))


def _filled(columns: Mapping[str, Any]) -> dict[str, Column]:
    """All columns that are stored, 0 where a table has none."""
    none = np.zeros(columns["weight"].size)
    kinds = {**dict.fromkeys(LABELS, np.int32), **dict.fromkeys(NUMBERS, np.float64)}
    return {name: np.asarray(columns.get(name, none), dtype=kind) for name, kind in kinds.items()}


@contextmanager
def _readable() -> Iterator[None]:
    """What is wrong with stored columns, told as a mistake in the file."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            "the file holds no tables that can be read.",
            seen=f"wrong: {error}",
            hint="write it again: scorespace table DATA --out FILE.parquet",
        ) from None


@dataclass(frozen=True)
class _Read:
    """Stored columns that have been looked at: the labels as `codes`, and the `numbers`."""

    about: Mapping[str, Any]
    classes: tuple[str, ...]
    codes: Mapping[str, Column]
    numbers: Mapping[str, Column]


def restored(kept: Stored) -> Table:
    """The table of stored columns, refused where they cannot be those of one."""
    with _readable():
        classes = tuple(kept.about["classes"])
        positive = kept.about["positive"]
        kind = kept.about["kind"]
        named = isinstance(kept.about["classes"], list) and all(isinstance(name, str) for name in classes)
        known = positive is None or positive in range(len(classes))
        if not named or not known or not len(set(classes)) == len(classes) > 1:
            raise ValueError("its classes")
        numbers = {name: np.asarray(kept.columns[name], dtype=np.float64) for name in NUMBERS}
        if not all(np.isfinite(column).all() for column in numbers.values()):
            raise ValueError("numbers that are none")
        if (numbers["weight"] < 0).any() or numbers["weight"].sum() >= MOST_EXACT:
            raise ValueError("weights")
        if kept.about.get("weighted") and ((numbers["squares"] > 0) != (numbers["weight"] > 0)).any():
            raise ValueError("squares of weights")
        labels = [np.asarray(kept.columns[name]) for name in LABELS]
        if any(column.size and not 0 <= column.min() <= column.max() <= len(classes) for column in labels):
            raise ValueError("labels of no class")
        codes = {name: column.astype(np.intp) for name, column in zip(LABELS, labels, strict=True)}
        return _RESTORE[kind](_Read(kept.about, classes, codes, numbers))


def _scores(read: _Read) -> ScoreTable:
    about, classes = read.about, read.classes
    low, high, weight, squares, first, second = (read.numbers[name].reshape(len(classes), -1) for name in NUMBERS)
    low, high = low[0], high[0]
    if (low > high).any() or (low[:-1] <= high[1:]).any():
        raise ValueError("bins that overlap")
    if np.all(weight == np.floor(weight)):
        weight = weight.astype(np.int64)
    bins = Bins(low, high, first, second, int(about["bits"]), tuple(map(float, about["edges"])))
    spread = squares if about["weighted"] else None
    positive = int(about["positive"])
    if about["exact"]:
        return ScoreTable(low, weight, classes, positive, squares=spread)
    return merged_table([bins], weight, spread, classes, positive)


def _decisions(read: _Read) -> ConfusionTable:
    shape = len(read.classes), len(read.classes)
    squares = read.numbers["squares"].reshape(shape) if read.about["weighted"] else None
    return ConfusionTable(read.numbers["weight"].reshape(shape), read.classes, read.about["positive"], squares)


def _classes(read: _Read) -> ClassBins:
    about, classes = read.about, read.classes
    ends = np.cumsum([0, *map(int, about["sizes"])])
    parts = []
    for number, part in enumerate(about["parts"]):
        own = slice(int(ends[number]), int(ends[number + 1]))
        names = classes if number < len(classes) else ("wrong", "right")
        parts.append(_scores(_Read(part, names, {}, {name: column[own] for name, column in read.numbers.items()})))
    matrix = np.asarray(about["matrix"], dtype=np.float64)
    if len(parts) != len(classes) + 1 or matrix.shape != (len(classes), len(classes)) or (matrix < 0).any():
        raise ValueError("tables of classes")
    *tables, top = parts
    leads = _leads(read, slice(int(ends[-1]), None))
    return ClassBins(tuple(tables), ConfusionTable(matrix, classes), top, float(about["excess"]), leads)


def _leads(read: _Read, own: slice) -> LeadTable | None:
    """The decisions by their lead, in the rows behind the others; older files have none."""
    actual, decided = (read.codes[name][own] for name in LABELS)
    if not actual.size:
        return None
    if max(actual.max(), decided.max()) >= len(read.classes):
        raise ValueError("labels of no class")
    low, high, weight = (read.numbers[name][own] for name in ("low", "high", "weight"))
    return lead_table(low, actual, decided, weight, read.classes, high)


_RESTORE: Final = {"scores": _scores, "decisions": _decisions, "classes": _classes}


def restored_pair(several: Sequence[Stored]) -> PairTable | None:
    """The bins of two models from the columns of all shards; nothing where the shards have other bins."""
    with _readable():
        about = [
            (tuple(one.about["models"]), tuple(one.about["classes"]), one.about["positive"], tuple(one.about["edges"]))
            for one in several
        ]
        (names, classes, positive, _) = about[0]
        if len(set(about)) > 1:
            return None
        named = len(set(names)) == 2 and all(isinstance(name, str) for name in (*names, *classes))
        if not named or positive not in range(len(classes)):
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
