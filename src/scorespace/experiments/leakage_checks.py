"""Train-test splits, and checks that no row, case or group is on both sides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ScoreSpaceError
from scorespace.experiments.data import Dataset
from scorespace.results import Note, grouped, note

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TrainTestSplit:
    """Row indices for training and for testing.

    In a bootstrap, `train` repeats rows as drawn. A split without test rows (repeat -1) is the fit to all rows, needed
    for the apparent error of .632.
    """

    repeat: int
    fold: int
    train: Rows = field(repr=False)
    test: Rows = field(repr=False)


@dataclass(frozen=True)
class Overlap:
    """What training and test rows share over all splits: identical rows and groups.

    `rows` counts test rows with an identical training row, `of` all test rows, `splits` the affected splits.
    """

    rows: int = 0
    of: int = 0
    splits: int = 0
    groups: tuple[str, ...] = ()

    def notes(self, name: str) -> tuple[Note, ...]:
        """Notes on a data set of this name."""
        notes = []
        if self.rows:
            share = f"{grouped(self.rows)} of {grouped(self.of)} test rows"
            where = f"in {grouped(self.splits)} splits"
            notes.append(note("SS080", f"{name}: {share} have a training row with identical features, {where}."))
        if self.groups:
            by = " and ".join(self.groups)
            notes.append(
                note("SS081", f"{name}: rows of the same {by} are in training and test, so scores are optimistic.")
            )
        return tuple(notes)


def check_split(split: TrainTestSplit, data: Dataset) -> None:
    """Refuse a split with a row or case, by index or id, on both sides."""
    where = f"fold {split.fold + 1} of repeat {split.repeat + 1} of {data.name}"
    if not split.train.size or (not split.test.size and split.repeat >= 0):
        raise ScoreSpaceError(
            f"{where} has no {'test' if split.train.size else 'training'} rows.",
            hint="use fewer folds, or larger groups",
        )
    for what, keys in (("rows", np.arange(data.rows)), ("ids", data.ids)):
        if keys is not None and (both := _on_both_sides(keys, split)).any():
            count = np.unique(keys[split.test][both]).size
            raise ScoreSpaceError(
                f"{where} trains and tests on the same {what}.",
                seen=f"{grouped(count)} {what} on both sides",
                hint="use the column of ids as group, too" if what == "ids" else None,
            )


def find_overlap(splits: Iterable[TrainTestSplit], data: Dataset) -> Overlap:
    """Count identical rows and shared groups between training and test rows.

    >>> data = Dataset("d", {"x": np.array([1.0, 1.0, 2.0, 3.0])}, np.array([0, 1, 0, 1]), "classes")
    >>> find_overlap([TrainTestSplit(0, 0, np.array([0, 2]), np.array([1, 3]))], data)
    Overlap(rows=1, of=2, splits=1, groups=())
    """
    _, place, counts = np.unique(data.row_digests, return_inverse=True, return_counts=True)
    is_twin = (counts > 1)[place]
    rows = of = concerned = 0
    mixed: set[str] = set()
    for split in splits:
        check_split(split, data)
        shared = int(_on_both_sides(place, split).sum()) if is_twin[split.test].any() else 0
        rows, of, concerned = rows + shared, of + split.test.size, concerned + (shared > 0)
        for name, codes in data.groups.items():
            if name not in mixed and _on_both_sides(codes, split).any():
                mixed.add(name)
    return Overlap(rows, of, concerned, tuple(name for name in data.groups if name in mixed))


def _on_both_sides(keys: Rows, split: TrainTestSplit) -> NDArray[np.bool_]:
    """Whether a training row has the same key, for every test row; keys are integers from 0."""
    trains = np.zeros(int(keys.max()) + 1, dtype=bool)
    trains[keys[split.train]] = True
    return trains[keys[split.test]]
