"""What every way of resampling has: a notation that parses back, its splits, and how it is said in words."""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Final, Literal

import numpy as np

from scorespace.errors import ScoreSpaceError, listing
from scorespace.experiments.data import Dataset
from scorespace.experiments.golden import Rows, Split, check
from scorespace.parts import required

How = Literal["", "stratified", "plain"]

_MOST: Final = 1_000_000
"""Splits above which a notation is taken for a mistake."""


class Resampling(ABC):
    """How training and test rows are chosen; `str()` gives the notation, which parses back."""

    notation: ClassVar[str]
    pattern: ClassVar[str]
    least: ClassVar[int] = 1

    @classmethod
    def read(cls, found: re.Match[str]) -> Resampling:
        """The resampling that a text of this notation means; unless a kind says otherwise, its parts are numbers."""
        return cls(*(cls.number(found, name, cls.least) for name in found.groupdict()))

    @classmethod
    def number(cls, found: re.Match[str], name: str, least: int = 1, times: int = 1) -> int:
        """A whole number of a notation, 1 where it is not written; refused where it is too small or too large."""
        value = int(found[name] or 1)
        if not least <= value <= _MOST // times:
            much = "few" if value < least else "many"
            raise cls.refused(found, f"is of {value} {name}, which is too {much}.")
        return value

    @classmethod
    def refused(cls, found: re.Match[str], why: str) -> ScoreSpaceError:
        """What is said of a notation that can be read and makes no sense; the first example is the hint."""
        return ScoreSpaceError(f"resampling={found[0]!r} {why}", hint=cls.notation.partition(",")[0])

    @abstractmethod
    def draw(self, data: Dataset, seed: int) -> Iterator[Split]:
        """The splits, one after the other."""

    @abstractmethod
    def described(self, data: Dataset) -> str:
        """What is done with this data set, in words."""

    @property
    def groups(self) -> tuple[str, ...]:
        """The groupings that the notation names."""
        return ()

    @property
    def says_all(self) -> bool:
        """Whether the notation and a seed decide the splits; else they are remembered themselves."""
        return True

    def splits(self, data: Dataset, seed: int = 0) -> list[Split]:
        """All splits, each checked for the golden rule; what is found beside errors is told by `overlap`."""
        found = []
        for split in self.draw(data, seed):
            check(split, data)
            found.append(split)
        return found

    def __repr__(self) -> str:
        return str(self)


def numbered(splitter: Any, data: Dataset, repeat: int, truth: Any = None, groups: Any = None) -> Iterator[Split]:
    """The splits of one of scikit-learn's splitters as the folds of a repeat."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class smaller than the folds: said by whoever describes them
        for fold, (train, test) in enumerate(splitter.split(np.zeros(data.rows), truth, groups)):
            yield Split(repeat, fold, train, test)


def repeat_seed(seed: int, repeat: int) -> int:
    """The seed of one repeat: different seeds have no repeat in common."""
    return int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])


def repeated(
    kind: str, repeats: int, data: Dataset, seed: int, grouping: Rows | None, **options: Any
) -> Iterator[Split]:
    """The splits of a kind of scikit-learn's splitters, each repeat from a seed of its own."""
    splitter = getattr(required("sklearn.model_selection", "experiments"), kind)
    truth = data.codes if data.task == "classes" else None
    for repeat in range(repeats):
        yield from numbered(splitter(random_state=repeat_seed(seed, repeat), **options), data, repeat, truth, grouping)


# --- how rows are dealt


def kept_whole(data: Dataset, how: How) -> Rows | None:
    """The groups that stay whole; none where the notation says so or there are none."""
    if how or not data.groups:
        return None
    if len(data.groups) > 1:
        raise ScoreSpaceError(
            f"{data.name} has several groupings, and folds can keep only one of them whole.",
            seen=listing(data.groups),
            hint="logo:" + "*".join(list(data.groups)[:2]) + ", or 10:plain, which keeps none",
        )
    return next(iter(data.groups.values()))


def is_stratified(data: Dataset, how: How, parts: int) -> bool:
    """Whether classes are dealt in equal shares: only where some class has a case for every part."""
    if how == "plain" or data.task != "classes":
        return False
    counts = np.bincount(data.codes)
    return bool(counts.max() >= parts and counts.min() >= 2)


def manner(data: Dataset, how: How, parts: int) -> str:
    whole = "groups kept whole" if kept_whole(data, how) is not None else ""
    if is_stratified(data, how, parts):
        return ", ".join(filter(None, ["stratified by class", whole]))
    scarce = " (a class is too small to stratify)" if data.task == "classes" and how != "plain" else ""
    return ", ".join(filter(None, [f"at random{scarce}", whole]))


def named_groups(data: Dataset, name: str) -> Rows:
    if name not in data.groups:
        raise ScoreSpaceError(
            f"{data.name} has no grouping {name!r}.",
            seen=listing(data.groups) or "no groups",
            hint=f'groups=["{name}"]',
        )
    return data.groups[name]
