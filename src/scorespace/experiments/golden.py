"""The golden rule: nothing trains and tests at once. Splits, what they are checked for, and what is told of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ScoreSpaceError
from scorespace.experiments.data import Dataset
from scorespace.frozen import dataclass
from scorespace.results import Note, grouped, note

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Split:
    """The rows that train and the rows that test, by their place in the data set.

    Of a bootstrap, `train` holds a row as often as it was drawn. A split without test rows is the fit to all rows,
    whose own rows are predicted: what .632 asks for, as repeat -1.
    """

    repeat: int
    fold: int
    train: Rows = field(repr=False)
    test: Rows = field(repr=False)


@dataclass(frozen=True)
class Overlap:
    """What the two sides of splits share: rows alike in all features, and groups, added up over the splits.

    `rows` counts test rows with a twin in training, `of` all test rows, `splits` the splits concerned.
    """

    rows: int = 0
    of: int = 0
    splits: int = 0
    groups: tuple[str, ...] = ()

    def notes(self, name: str) -> tuple[Note, ...]:
        """What a reader must know of a data set of that name."""
        found = []
        if self.rows:
            share = f"{grouped(self.rows)} of {grouped(self.of)} test rows"
            where = f"in {grouped(self.splits)} splits"
            found.append(note("SS080", f"{name}: {share} have a twin with the same features in training, {where}."))
        if self.groups:
            by = " and ".join(self.groups)
            found.append(note("SS081", f"{name}: rows of the same {by} train and test, so scores will be too good."))
        return tuple(found)


def check(split: Split, data: Dataset) -> None:
    """Refuse a split that breaks the golden rule: no row, by its place or by its id, is on both sides."""
    where = f"fold {split.fold + 1} of repeat {split.repeat + 1} of {data.name}"
    if not split.train.size or (not split.test.size and split.repeat >= 0):
        raise ScoreSpaceError(
            f"{where} has no rows to {'test' if split.train.size else 'train'}.", hint="fewer folds, or larger groups"
        )
    for what, keys in (("rows", np.arange(data.rows)), ("ids", data.ids)):
        if keys is not None and (both := _on_both_sides(keys, split)).any():
            count = np.unique(keys[split.test][both]).size
            raise ScoreSpaceError(
                f"{where} trains and tests on the same {what}.",
                seen=f"{grouped(count)} {what} on both sides",
                hint="name the column of ids as group, too" if what == "ids" else None,
            )


def overlap(splits: Iterable[Split], data: Dataset) -> Overlap:
    """What the two sides of these splits share beside rows and ids: twins by content, and groups.

    >>> data = Dataset("d", {"x": np.array([1.0, 1.0, 2.0, 3.0])}, np.array([0, 1, 0, 1]), "classes")
    >>> overlap([Split(0, 0, np.array([0, 2]), np.array([1, 3]))], data)
    Overlap(rows=1, of=2, splits=1, groups=())
    """
    _, place, counts = np.unique(data.row_digests, return_inverse=True, return_counts=True)
    is_twin = (counts > 1)[place]
    rows = of = concerned = 0
    mixed: set[str] = set()
    for split in splits:
        check(split, data)
        shared = int(_on_both_sides(place, split).sum()) if is_twin[split.test].any() else 0
        rows, of, concerned = rows + shared, of + split.test.size, concerned + (shared > 0)
        for name, codes in data.groups.items():
            if name not in mixed and _on_both_sides(codes, split).any():
                mixed.add(name)
    return Overlap(rows, of, concerned, tuple(name for name in data.groups if name in mixed))


def _on_both_sides(keys: Rows, split: Split) -> NDArray[np.bool_]:
    """For every test row whether a training row has the same key; keys are whole numbers from 0 on."""
    trains = np.zeros(int(keys.max()) + 1, dtype=bool)
    trains[keys[split.train]] = True
    return trains[keys[split.test]]
