"""A data set to learn from: features as they were given, the truth, and what says which rows belong together."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ColumnError, DataError, ScoreSpaceError, listing
from scorespace.frames.survey import Held, survey
from scorespace.frozen import dataclass
from scorespace.results import grouped
from scorespace.tables.labels import label_text, natural_order

Task = Literal["classes", "numbers"]
Array = NDArray[np.float64]
Codes = NDArray[np.int64]

PREFIX: Final = "p_"
"""Before the name of a class: the column of its probabilities."""

_MIX: Final = np.uint64(0xFF51AFD7ED558CCD)  # odd and spread over all bits: neighbouring numbers get distant digests


@dataclass(frozen=True, eq=False)
class Nominal:
    """A column of names: its levels, and which of them each row has (-1 where it is missing)."""

    levels: tuple[str, ...]
    codes: Codes = field(repr=False)

    def texts(self) -> NDArray[Any]:
        """The names row by row, None where one is missing."""
        return np.array([*self.levels, None], dtype=object)[self.codes]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features by name (an array of numbers with NaN where one is missing, or a Nominal), and the truth.

    `groups` are the groupings by name, `order` the time of each row, `ids` says which rows are one case. Nothing is
    imputed or encoded here: that happens inside each training fold. Equal contents have equal digests.
    """

    name: str
    features: Mapping[str, Array | Nominal] = field(repr=False)
    truth: NDArray[Any] = field(repr=False)
    task: Task
    groups: Mapping[str, Codes] = field(default_factory=dict, repr=False)
    order: Array | None = field(default=None, repr=False)
    ids: Codes | None = field(default=None, repr=False)
    positive: str | None = None

    def __post_init__(self) -> None:
        if not self.features:
            raise DataError(f"{self.name} has no features.", hint="a column beside the target")
        unsigned = next((name for name in self.classes if "\0" in name), None)
        if unsigned is not None:
            raise DataError(
                f"a class of {self.name} has the sign NUL in its name.", seen=repr(unsigned), hint="names without it"
            )
        if self.positive is not None and self.task == "numbers":
            raise DataError(
                f"positive={self.positive!r} is a class, and the target of {self.name} is a number.",
                hint='task="classes", or no positive class',
            )
        if self.positive is not None and self.positive not in self.classes:
            raise DataError(
                f"positive={self.positive!r} never occurs in the target of {self.name}.",
                seen=listing(self.classes),
                hint="one of these classes",
            )

    @property
    def rows(self) -> int:
        return int(self.truth.size)

    @cached_property
    def nominal(self) -> NDArray[np.bool_]:
        """Which columns of the matrix hold levels and not numbers."""
        return np.array([isinstance(column, Nominal) for column in self.features.values()])

    @cached_property
    def matrix(self) -> Array:
        """The features as numbers, (rows, features): levels by their place, NaN where a value is missing.

        The places of levels are names only: learners encode them from the levels that their training rows have.
        """
        columns = [
            np.where(column.codes < 0, np.nan, column.codes) if isinstance(column, Nominal) else column
            for column in self.features.values()
        ]
        return np.ascontiguousarray(np.stack(columns, axis=1), dtype=np.float64)

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes in their natural order; none where the truth is a number."""
        return self._encoded[0]

    @property
    def codes(self) -> Codes:
        """The class of each row, as its place among the classes."""
        return self._encoded[1]

    @cached_property
    def _encoded(self) -> tuple[tuple[str, ...], Codes]:
        if self.task == "numbers":
            return (), np.zeros(self.rows, dtype=np.int64)
        values, inverse = np.unique(self.truth, return_inverse=True)
        names = [label_text(value) for value in values.tolist()]
        order = sorted(range(len(names)), key=lambda k: natural_order(names[k]))
        place = np.empty(len(names), dtype=np.int64)
        place[order] = np.arange(len(names))
        return tuple(names[k] for k in order), place[inverse]

    @cached_property
    def row_digests(self) -> NDArray[np.uint64]:
        """A number for each row that rows with the same features share."""
        found = np.zeros(self.rows, dtype=np.uint64)
        for column in self.matrix.T:
            bits = np.where(np.isnan(column), np.nan, column + 0.0).view(np.uint64)  # one NaN, one zero
            found = (found ^ bits) * _MIX
            found ^= found >> np.uint64(31)
        return found

    @cached_property
    def digest(self) -> str:
        """The hash of all contents; the name of the data set is not part of it."""
        whole = hashlib.sha256(f"scorespace data 1 {self.task} {self.rows}".encode())
        for name, column in self.features.items():
            levels = column.levels if isinstance(column, Nominal) else ()
            whole.update(repr((name, levels)).encode())
        whole.update(np.where(np.isnan(self.matrix), np.nan, self.matrix + 0.0).tobytes())
        whole.update(repr(self.classes).encode())
        whole.update((self.codes if self.task == "classes" else self.truth.astype(np.float64)).tobytes())
        for name, codes in sorted(self.groups.items()):
            whole.update(name.encode() + codes.tobytes())
        for role, values in (("order", self.order), ("ids", self.ids)):
            whole.update(role.encode() + (b"" if values is None else values.tobytes()))
        return whole.hexdigest()

    def frame(self) -> Any:
        """The features as a pandas frame, for pipelines that choose columns by name."""
        import pandas

        return pandas.DataFrame(
            {name: column.texts() if isinstance(column, Nominal) else column for name, column in self.features.items()}
        )

    def __repr__(self) -> str:
        kind = f"{len(self.classes)} classes" if self.task == "classes" else "a number to predict"
        return f"{self.name}   {grouped(self.rows)} rows   {len(self.features)} features   {kind}"


def dataset(
    data: Any,
    target: str,
    *,
    name: str | None = None,
    task: Task | None = None,
    groups: Sequence[str] = (),
    order: str | None = None,
    ids: str | None = None,
    positive: str | None = None,
    drop: Sequence[str] = (),
) -> Dataset:
    """A data set from a path, a frame or a dict of arrays; every column without another role is a feature.

    Without a task, texts, booleans and two different values are classes, and other numbers are numbers.

    >>> dataset({"x": [1.0, 2.0, 4.0], "y": ["a", "b", "a"]}, "y", name="tiny")
    tiny   3 rows   1 features   2 classes
    """
    found = survey(data)
    held = found.held(target)
    if held.missing:
        rows = listing((held.first_rows(-1)), most=3)
        raise DataError(
            f"the target {target!r} is missing in {held.missing} rows.",
            seen=f"rows {rows}",
            hint="drop these rows first",
        )
    roles = [target, *groups, *([order] if order else []), *([ids] if ids else []), *drop]
    twice = next((one for place, one in enumerate(roles) if one in roles[:place]), None)
    if twice is not None:
        raise ColumnError(f"column {twice!r} has two roles.", hint="a column is target, group, time, id or feature")
    chosen = task or ("numbers" if held.stored in ("number", "date") and held.distinct > 2 else "classes")
    if chosen == "numbers" and held.stored == "text":
        raise DataError(f"the target {target!r} holds texts, which are no numbers.", hint='task="classes"')
    for each in drop:
        found.held(each)  # an unknown column is told
    return Dataset(
        name or _named(data, found.name),
        {each: _feature(found.held(each)) for each in found.columns if each not in roles},
        held.numbers() if chosen == "numbers" else _labels(held),
        chosen,
        {each: _present(found.held(each), "group") for each in groups},
        None if order is None else _times(found.held(order)),
        None if ids is None else _present(found.held(ids), "id"),
        positive,
    )


def datasets_of(given: Any) -> tuple[Dataset, ...]:
    """The data sets that a caller names: one, several, or (features, truth) by name; names must differ."""
    if isinstance(given, Dataset):
        return (given,)
    if isinstance(given, Mapping):
        found = tuple(_from_arrays(str(name), one) for name, one in given.items())
    elif isinstance(given, Sequence) and given and all(isinstance(one, Dataset) for one in given):
        found = tuple(given)
    else:
        raise ScoreSpaceError(
            "the data sets cannot be used.",
            seen=type(given).__name__,
            hint='[ss.dataset("credit.csv", "risk")], or {"iris": (X, y)}',
        )
    names = [one.name for one in found]
    if len(set(names)) < len(names):
        raise ScoreSpaceError(
            "two data sets have the same name.", seen=listing(names), hint="a name of its own for each: name=…"
        )
    return found


def _from_arrays(name: str, given: Any) -> Dataset:
    if isinstance(given, Dataset):
        return given
    try:
        features, truth = given
    except (TypeError, ValueError):
        raise ScoreSpaceError(f"the data set {name!r} is no pair of features and truth.", hint="(X, y)") from None
    if isinstance(features, np.ndarray) or not hasattr(features, "columns"):
        matrix = np.asarray(features)
        if matrix.ndim != 2:
            raise DataError(
                f"the features of {name!r} are no table.",
                seen=f"shape {matrix.shape}",
                hint="an array of rows × features, or a frame",
            )
        columns: dict[str, Any] = {f"x{k + 1}": column for k, column in enumerate(matrix.T)}
    else:
        columns = {str(each): features[each] for each in features.columns}
    target = "target"
    while target in columns:
        target += "_"
    lengths = {len(column) for column in columns.values()}
    if lengths != {len(truth)}:
        raise DataError(
            f"features and truth of {name!r} differ in length.",
            seen=f"{sorted(lengths)} and {len(truth)}",
            hint="a row of features for each truth",
        )
    return dataset({**columns, target: truth}, target, name=name)


def _named(data: Any, name: str) -> str:
    return Path(os.fsdecode(data)).name.split(".")[0] if isinstance(data, (str, bytes, os.PathLike)) else name


def _feature(held: Held) -> Array | Nominal:
    if held.stored != "text":
        return held.numbers()
    names = [str(value) for value in held.values.tolist()]
    names += [f"level {place}" for place in range(len(names), held.distinct)]  # beyond the commonest, without names
    return Nominal(tuple(names), held.codes.astype(np.int64))


def _labels(held: Held) -> NDArray[Any]:
    """The classes row by row as they were given: text, whole numbers, or True and False."""
    if held.stored == "text":
        if held.distinct > held.values.size:
            raise DataError(f"the target {held.name!r} has {held.distinct} classes.", hint="a column with fewer")
        return held.values.astype(str)[held.codes]
    if held.stored == "boolean":
        return held.values.astype(bool)[held.codes]
    whole = bool(np.all(held.values == np.floor(held.values)))
    return (held.values.astype(np.int64) if whole else held.values)[held.codes]


def _present(held: Held, role: str) -> Codes:
    if held.missing:
        raise DataError(f"the {role} is missing in {held.missing} rows of column {held.name!r}.", hint="fill them in")
    return held.codes.astype(np.int64)


def _times(held: Held) -> Array:
    if held.stored == "text":
        raise ColumnError(f"column {held.name!r} holds no times.", seen="texts", hint="dates or numbers")
    _present(held, "time")
    return held.numbers()
