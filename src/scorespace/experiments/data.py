"""Data sets for learning: features, target, and the grouping, order and identity of rows."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ColumnError, DataError, ScoreSpaceError, listing
from scorespace.io.column_profile import ColumnValues, read_columns
from scorespace.results import grouped
from scorespace.tables.labels import label_text, natural_order

Task = Literal["classes", "numbers"]
Array = NDArray[np.float64]
Codes = NDArray[np.int64]

PREFIX: Final = "p_"
"""Prefix of the columns of class probabilities."""

_HASH_MULTIPLIER: Final = np.uint64(0xFF51AFD7ED558CCD)  # odd constant of the MurmurHash3 finaliser


@dataclass(frozen=True, eq=False)
class Nominal:
    """A nominal column: its levels, and the level index of each row (-1 where missing)."""

    levels: tuple[str, ...]
    codes: Codes = field(repr=False)

    def texts(self) -> NDArray[Any]:
        """Level of each row, None where missing."""
        return np.array([*self.levels, None], dtype=object)[self.codes]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features by name (numbers with NaN where missing, or Nominal), and the target.

    Nothing is imputed or encoded here: that happens inside each training fold. Equal contents have equal digests.

    Parameters
    ----------
    name : str
        Name of the data set.
    features : mapping of str to ndarray or Nominal
        Features: numbers with NaN where missing, or nominal columns.
    truth : ndarray
        The target.
    task : {"classes", "numbers"}
        Whether the target is a class or a number.
    groups : mapping of str to ndarray
        Groupings by name: the index of the group of each row.
    order : ndarray, optional
        Time of each row.
    ids : ndarray, optional
        Index of the case of each row.
    positive : str, optional
        Name of the positive class.
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
            raise DataError(f"{self.name} has no features.", hint="add a column besides the target")
        with_nul = next((name for name in self.classes if "\0" in name), None)
        if with_nul is not None:
            raise DataError(
                f"a class of {self.name} has a NUL character in its name.",
                seen=repr(with_nul),
                hint="use names without it",
            )
        if self.positive is not None and self.task == "numbers":
            raise DataError(
                f"positive={self.positive!r} is a class, but the target of {self.name} is a number.",
                hint='use task="classes", or omit the positive class',
            )
        if self.positive is not None and self.positive not in self.classes:
            raise DataError(
                f"positive={self.positive!r} does not occur in the target of {self.name}.",
                seen=listing(self.classes),
                hint="choose one of these classes",
            )

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.truth.size)

    @cached_property
    def nominal(self) -> NDArray[np.bool_]:
        """Which columns of the matrix are nominal."""
        return np.array([isinstance(column, Nominal) for column in self.features.values()])

    @cached_property
    def matrix(self) -> Array:
        """Features as numbers (rows, features): nominal levels by index, NaN where missing.

        Learners encode levels from their training rows; the indices are only identifiers.
        """
        columns = [
            np.where(column.codes < 0, np.nan, column.codes) if isinstance(column, Nominal) else column
            for column in self.features.values()
        ]
        return np.ascontiguousarray(np.stack(columns, axis=1), dtype=np.float64)

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """Class names in natural order; empty if the target is a number."""
        return self._encoded[0]

    @property
    def codes(self) -> Codes:
        """Class index of each row."""
        return self._encoded[1]

    @cached_property
    def _encoded(self) -> tuple[tuple[str, ...], Codes]:
        if self.task == "numbers":
            return (), np.zeros(self.rows, dtype=np.int64)
        values, inverse = np.unique(self.truth, return_inverse=True)
        names = [label_text(value) for value in values.tolist()]
        order = sorted(range(len(names)), key=lambda k: natural_order(names[k]))
        rank = np.empty(len(names), dtype=np.int64)
        rank[order] = np.arange(len(names))
        return tuple(names[k] for k in order), rank[inverse]

    @cached_property
    def row_digests(self) -> NDArray[np.uint64]:
        """Hash of each row's features; equal rows have equal hashes."""
        hashes = np.zeros(self.rows, dtype=np.uint64)
        for column in self.matrix.T:
            bits = np.where(np.isnan(column), np.nan, column + 0.0).view(np.uint64)  # normalise NaN and -0.0
            hashes = (hashes ^ bits) * _HASH_MULTIPLIER
            hashes ^= hashes >> np.uint64(31)
        return hashes

    @cached_property
    def digest(self) -> str:
        """Hash of all contents except the name."""
        digest_state = hashlib.sha256(f"scorespace data 1 {self.task} {self.rows}".encode())
        for name, column in self.features.items():
            levels = column.levels if isinstance(column, Nominal) else ()
            digest_state.update(repr((name, levels)).encode())
        digest_state.update(np.where(np.isnan(self.matrix), np.nan, self.matrix + 0.0).tobytes())
        digest_state.update(repr(self.classes).encode())
        digest_state.update((self.codes if self.task == "classes" else self.truth.astype(np.float64)).tobytes())
        for name, codes in sorted(self.groups.items()):
            digest_state.update(name.encode() + codes.tobytes())
        for role, values in (("order", self.order), ("ids", self.ids)):
            digest_state.update(role.encode() + (b"" if values is None else values.tobytes()))
        return digest_state.hexdigest()

    def frame(self) -> Any:
        """Features as a pandas frame, for pipelines that select columns by name."""
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
    """Make a data set from a path, frame or dict of arrays; columns without another role are features.

    Parameters
    ----------
    data : path, data frame, or mapping of arrays
        A file (CSV, Parquet, JSON, Arrow), a frame of pandas, polars or pyarrow, or arrays by name.
    target : str
        Column of the target.
    name : str, optional
        Name of the data set; that of the file by default.
    task : {"classes", "numbers"}, optional
        Whether the target is a class or a number; by default, text, booleans and targets with two distinct values are
        classes.
    groups : sequence of str
        Columns that group rows, such as a patient.
    order : str, optional
        Column of the time.
    ids : str, optional
        Column that identifies cases.
    positive : str, optional
        Name of the positive class.
    drop : sequence of str
        Columns that are not used.

    Returns
    -------
    Dataset
        The data set, for `benchmark` and the studies of one learner.

    Examples
    --------
    >>> dataset({"x": [1.0, 2.0, 4.0], "y": ["a", "b", "a"]}, "y", name="tiny")
    tiny   3 rows   1 features   2 classes
    """
    reader = read_columns(data)
    target_values = reader.held(target)
    if target_values.missing:
        rows = listing(target_values.first_rows(-1), most=3)
        raise DataError(
            f"the target {target!r} is missing in {target_values.missing} rows.",
            seen=f"rows {rows}",
            hint="drop these rows first",
        )
    roles = [target, *groups, *([order] if order else []), *([ids] if ids else []), *drop]
    twice = next((column for k, column in enumerate(roles) if column in roles[:k]), None)
    if twice is not None:
        raise ColumnError(f"column {twice!r} has two roles.", hint="each column is target, group, time, id or feature")
    chosen_task = task or (
        "numbers" if target_values.stored in ("number", "date") and target_values.distinct > 2 else "classes"
    )
    if chosen_task == "numbers" and target_values.stored == "text":
        raise DataError(f"the target {target!r} holds text, not numbers.", hint='task="classes"')
    for column in drop:
        reader.held(column)  # refuses an unknown column
    return Dataset(
        name or _dataset_name(data, reader.name),
        {column: _to_feature(reader.held(column)) for column in reader.columns if column not in roles},
        target_values.numbers() if chosen_task == "numbers" else _class_labels(target_values),
        chosen_task,
        {column: _codes_without_missing(reader.held(column), "group") for column in groups},
        None if order is None else _row_times(reader.held(order)),
        None if ids is None else _codes_without_missing(reader.held(ids), "id"),
        positive,
    )


def resolve_datasets(requested: Any) -> tuple[Dataset, ...]:
    """Resolve data sets: one, several, or {name: (features, target)}; names must differ."""
    if isinstance(requested, Dataset):
        return (requested,)
    if isinstance(requested, Mapping):
        resolved = tuple(_from_arrays(str(name), pair) for name, pair in requested.items())
    elif isinstance(requested, Sequence) and requested and all(isinstance(item, Dataset) for item in requested):
        resolved = tuple(requested)
    else:
        raise ScoreSpaceError(
            "these are not data sets.",
            seen=type(requested).__name__,
            hint='[ss.dataset("credit.csv", "risk")], or {"iris": (X, y)}',
        )
    names = [item.name for item in resolved]
    if len(set(names)) < len(names):
        raise ScoreSpaceError(
            "two data sets have the same name.", seen=listing(names), hint="use different names: name=…"
        )
    return resolved


def _from_arrays(name: str, pair: Any) -> Dataset:
    if isinstance(pair, Dataset):
        return pair
    try:
        features, truth = pair
    except (TypeError, ValueError):
        raise ScoreSpaceError(f"the data set {name!r} is not a pair of features and target.", hint="(X, y)") from None
    if isinstance(features, np.ndarray) or not hasattr(features, "columns"):
        matrix = np.asarray(features)
        if matrix.ndim != 2:
            raise DataError(
                f"the features of {name!r} are not two-dimensional.",
                seen=f"shape {matrix.shape}",
                hint="an array of rows × features, or a frame",
            )
        columns: dict[str, Any] = {f"x{k + 1}": column for k, column in enumerate(matrix.T)}
    else:
        columns = {str(column): features[column] for column in features.columns}
    target = "target"
    while target in columns:
        target += "_"
    lengths = {len(column) for column in columns.values()}
    if lengths != {len(truth)}:
        raise DataError(
            f"features and target of {name!r} differ in length.",
            seen=f"{sorted(lengths)} and {len(truth)}",
            hint="one row of features per target value",
        )
    return dataset({**columns, target: truth}, target, name=name)


def _dataset_name(data: Any, name: str) -> str:
    return Path(os.fsdecode(data)).name.split(".")[0] if isinstance(data, (str, bytes, os.PathLike)) else name


def _to_feature(values: ColumnValues) -> Array | Nominal:
    if values.stored != "text":
        return values.numbers()
    names = [str(value) for value in values.values.tolist()]
    names += [f"level {index}" for index in range(len(names), values.distinct)]  # rare levels are not named
    return Nominal(tuple(names), values.codes.astype(np.int64))


def _class_labels(values: ColumnValues) -> NDArray[Any]:
    """Class of each row: text, integer, or True and False."""
    if values.stored == "text":
        if values.distinct > values.values.size:
            raise DataError(
                f"the target {values.name!r} has {values.distinct} classes.", hint="choose a column with fewer"
            )
        return values.values.astype(str)[values.codes]
    if values.stored == "boolean":
        return values.values.astype(bool)[values.codes]
    is_integer = bool(np.all(values.values == np.floor(values.values)))
    return (values.values.astype(np.int64) if is_integer else values.values)[values.codes]


def _codes_without_missing(values: ColumnValues, role: str) -> Codes:
    if values.missing:
        raise DataError(
            f"the {role} is missing in {values.missing} rows of column {values.name!r}.", hint="fill them in"
        )
    return values.codes.astype(np.int64)


def _row_times(values: ColumnValues) -> Array:
    if values.stored == "text":
        raise ColumnError(f"column {values.name!r} holds text, not times.", seen="text", hint="use dates or numbers")
    _codes_without_missing(values, "time")
    return values.numbers()
