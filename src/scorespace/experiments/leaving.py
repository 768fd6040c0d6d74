"""Rows, groups, or groups of two groupings at once that are left out, one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from scorespace.errors import ScoreSpaceError
from scorespace.experiments.data import Dataset
from scorespace.experiments.golden import Rows, Split
from scorespace.experiments.scheme import Resampling, named_groups, numbered
from scorespace.frozen import dataclass
from scorespace.parts import required
from scorespace.results import grouped


@dataclass(frozen=True, repr=False)
class LeaveOneOut(Resampling):
    """Every row tests once, and all others train."""

    notation: ClassVar[str] = "loo"
    pattern: ClassVar[str] = r"loo"

    def __str__(self) -> str:
        return "loo"

    def draw(self, data: Dataset, seed: int) -> Iterator[Split]:
        if data.rows < 2:
            raise ScoreSpaceError(
                f"{data.name} has too few rows to leave one out.", seen=f"{data.rows} rows", hint="more rows"
            )
        yield from numbered(required("sklearn.model_selection", "experiments").LeaveOneOut(), data, 0)

    def described(self, data: Dataset) -> str:
        return f"each of {grouped(data.rows)} rows left out once"


@dataclass(frozen=True, repr=False)
class LeaveGroupsOut(Resampling):
    """Every choice of p groups tests once: logo:speaker leaves out one, lpgo:2:speaker every two."""

    grouping: str
    left: int = 1
    notation: ClassVar[str] = "logo:speaker, lpgo:2:speaker"
    pattern: ClassVar[str] = r"(?:logo|lpgo:(?P<groups>\d{1,9})):(?P<grouping>[^*]+)"

    @classmethod
    def read(cls, found: re.Match[str]) -> LeaveGroupsOut:
        return cls(found["grouping"], cls.number(found, "groups"))

    @property
    def groups(self) -> tuple[str, ...]:
        return (self.grouping,)

    def __str__(self) -> str:
        return f"logo:{self.grouping}" if self.left == 1 else f"lpgo:{self.left}:{self.grouping}"

    def draw(self, data: Dataset, seed: int) -> Iterator[Split]:
        codes = named_groups(data, self.grouping)
        if np.unique(codes).size <= self.left:
            raise ScoreSpaceError(
                f"{data.name} has too few groups to leave out {self.left} of them.",
                seen=f"{np.unique(codes).size} in {self.grouping!r}",
                hint="leave out fewer, or another grouping",
            )
        splitter = required("sklearn.model_selection", "experiments").LeavePGroupsOut(self.left)
        for split in numbered(splitter, data, 0, groups=codes):
            # Of several groups left out, each is tested with every other one: then a split is a repeat.
            yield split if self.left == 1 else replace(split, repeat=split.fold, fold=0)

    def described(self, data: Dataset) -> str:
        count = np.unique(named_groups(data, self.grouping)).size
        every = f"each of {count} groups" if self.left == 1 else f"every {self.left} of {count} groups"
        return f"{every} of {self.grouping} left out once"


@dataclass(frozen=True, repr=False)
class LeaveCrossedOut(Resampling):
    """Groups of two groupings are left out together: no test row shares either of them with training.

    The groups of each are dealt at random into parts of N and of M; every two parts with rows in common make a fold.
    Rows that share only one of them with the test rows neither train nor test.
    """

    first: str
    second: str
    sizes: tuple[int, int] = (1, 1)
    notation: ClassVar[str] = "logo:professor*student, lpgo:2*5:professor*student"
    pattern: ClassVar[str] = (
        r"(?:logo|lpgo:(?P<groups>\d{1,9})\*(?P<others>\d{1,9})):(?P<first>[^*]+)\*(?P<second>[^*]+)"
    )

    @classmethod
    def read(cls, found: re.Match[str]) -> LeaveCrossedOut:
        if found["first"] == found["second"]:
            raise cls.refused(found, "crosses no two groupings.")
        return cls(found["first"], found["second"], (cls.number(found, "groups"), cls.number(found, "others")))

    @property
    def groups(self) -> tuple[str, ...]:
        return (self.first, self.second)

    def __str__(self) -> str:
        left = "logo" if self.sizes == (1, 1) else f"lpgo:{self.sizes[0]}*{self.sizes[1]}"
        return f"{left}:{self.first}*{self.second}"

    def draw(self, data: Dataset, seed: int) -> Iterator[Split]:
        source = np.random.default_rng([seed, 0])
        first, second = (
            _dealt(named_groups(data, name), size, source) for name, size in zip(self.groups, self.sizes, strict=True)
        )
        fold = 0
        for a, b in np.unique(np.stack([first, second], axis=1), axis=0):
            test = np.flatnonzero((first == a) & (second == b))
            train = np.flatnonzero((first != a) & (second != b))
            if train.size:
                yield Split(0, fold, train, test)
                fold += 1
        if not fold:
            raise ScoreSpaceError(
                f"no rows of {data.name} are left to train when a {self.first} and a {self.second} are left out.",
                hint="leave out one of them only: logo:COL",
            )

    def described(self, data: Dataset) -> str:
        parts = [f"{n} of {name}" for n, name in zip(self.sizes, self.groups, strict=True)]
        return f"{' and '.join(parts)} left out together; rows that share only one of them are not used"


def _dealt(codes: Rows, size: int, source: np.random.Generator) -> Rows:
    """Groups dealt at random into parts of a size: the part of each row."""
    _, place = np.unique(codes, return_inverse=True)
    return (source.permutation(int(place.max()) + 1) // size)[place]
