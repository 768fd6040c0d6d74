"""Resampling schemes and their notation: folds, holdout, leave-one-out, bootstrap and forward chaining."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, cast

import numpy as np

from scorespace.dependencies import import_optional
from scorespace.errors import ScoreSpaceError
from scorespace.experiments.data import Dataset
from scorespace.experiments.leakage_checks import Rows, TrainTestSplit
from scorespace.experiments.splits import (
    Resampling,
    Splitter,
    Stratification,
    describe_assignment,
    find_grouping,
    grouping_kept_together,
    is_splitter,
    is_stratified,
    splits_of_repeat,
    splits_of_repeats,
)
from scorespace.results import grouped


@dataclass(frozen=True, repr=False)
class LeaveOneOut(Resampling):
    """Leave-one-out cross-validation."""

    notation: ClassVar[str] = "loo"
    pattern: ClassVar[str] = r"loo"

    def __str__(self) -> str:
        return "loo"

    def draw(self, data: Dataset, seed: int) -> Iterator[TrainTestSplit]:
        if data.rows < 2:
            raise ScoreSpaceError(
                f"{data.name} has too few rows for leave-one-out.", seen=f"{data.rows} rows", hint="more rows"
            )
        yield from splits_of_repeat(import_optional("sklearn.model_selection", "experiments").LeaveOneOut(), data, 0)

    def described(self, data: Dataset) -> str:
        return f"each of {grouped(data.rows)} rows left out once"


@dataclass(frozen=True, repr=False)
class LeaveGroupsOut(Resampling):
    """Leave-p-groups-out: logo:speaker leaves out one group at a time, lpgo:2:speaker every two."""

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

    def draw(self, data: Dataset, seed: int) -> Iterator[TrainTestSplit]:
        codes = find_grouping(data, self.grouping)
        if np.unique(codes).size <= self.left:
            raise ScoreSpaceError(
                f"{data.name} has too few groups to leave out {self.left}.",
                seen=f"{np.unique(codes).size} in {self.grouping!r}",
                hint="leave out fewer groups, or use another grouping",
            )
        splitter = import_optional("sklearn.model_selection", "experiments").LeavePGroupsOut(self.left)
        for split in splits_of_repeat(splitter, data, 0, groups=codes):
            # With p > 1, groups are tested several times, so each split is a repeat.
            yield split if self.left == 1 else replace(split, repeat=split.fold, fold=0)

    def described(self, data: Dataset) -> str:
        count = np.unique(find_grouping(data, self.grouping)).size
        every = f"each of {count} groups" if self.left == 1 else f"every {self.left} of {count} groups"
        return f"{every} of {self.grouping} left out once"


@dataclass(frozen=True, repr=False)
class LeaveCrossedOut(Resampling):
    """Leave out groups of two crossed groupings, so that test rows share neither with training.

    The groups of each grouping are dealt at random into parts of N and M; every two parts with common rows make a fold.
    Rows that share only one grouping with the test rows are used neither for training nor for testing.
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
            raise cls.refused(found, "needs two different groupings.")
        return cls(found["first"], found["second"], (cls.number(found, "groups"), cls.number(found, "others")))

    @property
    def groups(self) -> tuple[str, ...]:
        return (self.first, self.second)

    def __str__(self) -> str:
        left = "logo" if self.sizes == (1, 1) else f"lpgo:{self.sizes[0]}*{self.sizes[1]}"
        return f"{left}:{self.first}*{self.second}"

    def draw(self, data: Dataset, seed: int) -> Iterator[TrainTestSplit]:
        rng = np.random.default_rng([seed, 0])
        first, second = (
            _deal_groups(find_grouping(data, name), size, rng)
            for name, size in zip(self.groups, self.sizes, strict=True)
        )
        fold = 0
        for a, b in np.unique(np.stack([first, second], axis=1), axis=0):
            test = np.flatnonzero((first == a) & (second == b))
            train = np.flatnonzero((first != a) & (second != b))
            if train.size:
                yield TrainTestSplit(0, fold, train, test)
                fold += 1
        if not fold:
            raise ScoreSpaceError(
                f"no training rows of {data.name} remain when a {self.first} and a {self.second} are left out.",
                hint="leave out one grouping only: logo:COL",
            )

    def described(self, data: Dataset) -> str:
        parts = [f"{n} of {name}" for n, name in zip(self.sizes, self.groups, strict=True)]
        return f"{' and '.join(parts)} left out together; rows that share only one of them are not used"


def _deal_groups(codes: Rows, size: int, rng: np.random.Generator) -> Rows:
    """Deal groups at random into parts of a size; returns the part of each row."""
    _, group_index = np.unique(codes, return_inverse=True)
    return (rng.permutation(int(group_index.max()) + 1) // size)[group_index]


@dataclass(frozen=True, repr=False)
class KFolds(Resampling):
    """Repeated k-fold cross-validation, stratified by class; groups stay together."""

    folds: int
    repeats: int = 1
    how: Stratification = ""
    notation: ClassVar[str] = "10, 10x10, 10x10:stratified, 10x10:plain"
    pattern: ClassVar[str] = r"(?:(?P<repeats>\d{1,9})x)?(?P<folds>\d{1,9})(?::(?P<how>stratified|plain))?"

    @classmethod
    def read(cls, found: re.Match[str]) -> KFolds:
        folds = cls.number(found, "folds", least=2)
        return cls(folds, cls.number(found, "repeats", times=folds), cast(Stratification, found["how"] or ""))

    def __str__(self) -> str:
        return (f"{self.repeats}x" if self.repeats > 1 else "") + f"{self.folds}" + (f":{self.how}" if self.how else "")

    def draw(self, data: Dataset, seed: int) -> Iterator[TrainTestSplit]:
        grouping, stratified = grouping_kept_together(data, self.how), is_stratified(data, self.how, self.folds)
        units = data.rows if grouping is None else np.unique(grouping).size
        if units < self.folds:
            what = "rows" if grouping is None else "groups"
            raise ScoreSpaceError(
                f"{data.name} has {units} {what}, too few for {self.folds} folds.",
                hint=f"at most {units} folds" if units > 1 else "more rows",
            )
        kind = ("Stratified" if stratified else "") + ("Group" if grouping is not None else "") + "KFold"
        yield from splits_of_repeats(kind, self.repeats, data, seed, grouping, n_splits=self.folds, shuffle=True)

    def described(self, data: Dataset) -> str:
        times = f"{self.repeats} times " if self.repeats > 1 else ""
        return f"{times}{self.folds} folds, {describe_assignment(data, self.how, self.folds)}"


@dataclass(frozen=True, repr=False)
class Holdout(Resampling):
    """Repeated holdout: a share of the rows for testing, the rest for training."""

    share: float
    repeats: int = 1
    how: Stratification = ""
    notation: ClassVar[str] = "holdout:0.3, 20xholdout:0.3"
    pattern: ClassVar[str] = r"(?:(?P<repeats>\d{1,9})x)?holdout:(?P<share>0?\.\d{1,9})(?::(?P<how>stratified|plain))?"

    @classmethod
    def read(cls, found: re.Match[str]) -> Holdout:
        share = float(found["share"])
        if not 0 < share < 1:
            raise cls.refused(found, "needs a share between 0 and 1.")
        return cls(share, cls.number(found, "repeats"), cast(Stratification, found["how"] or ""))

    def __str__(self) -> str:
        times = f"{self.repeats}x" if self.repeats > 1 else ""
        return f"{times}holdout:{_format_number(self.share)}" + (f":{self.how}" if self.how else "")

    def draw(self, data: Dataset, seed: int) -> Iterator[TrainTestSplit]:
        grouping, stratified = grouping_kept_together(data, self.how), is_stratified(data, self.how, 2)
        test_size = _test_size(self.share, data.rows if grouping is None else int(np.unique(grouping).size), data.name)
        stratified = stratified and test_size >= len(data.classes)
        kind = ("Group" if grouping is not None else "Stratified" if stratified else "") + "ShuffleSplit"
        yield from splits_of_repeats(kind, self.repeats, data, seed, grouping, n_splits=1, test_size=test_size)

    def described(self, data: Dataset) -> str:
        times = f"{self.repeats} times " if self.repeats > 1 else ""
        if grouping_kept_together(data, self.how) is not None:
            return f"{times}{_format_number(100 * self.share)} % of the groups held out"
        return f"{times}{_format_number(100 * self.share)} % held out, {describe_assignment(data, self.how, 2)}"


@dataclass(frozen=True, repr=False)
class BootstrapSplits(Resampling):
    """Bootstrap: train on rows drawn with replacement, test on rows not drawn; groups are drawn whole."""

    samples: int
    notation: ClassVar[str] = "bootstrap:200"
    pattern: ClassVar[str] = r"bootstrap:(?P<samples>\d{1,9})"

    def __str__(self) -> str:
        return f"bootstrap:{self.samples}"

    def draw(self, data: Dataset, seed: int) -> Iterator[TrainTestSplit]:
        grouping = grouping_kept_together(data, "")
        units = np.arange(data.rows) if grouping is None else np.unique(grouping, return_inverse=True)[1]
        count = int(units.max()) + 1
        members = np.argsort(units, kind="stable")
        begins = np.searchsorted(units[members], np.arange(count + 1))
        all_rows = np.arange(data.rows)
        yield TrainTestSplit(-1, 0, all_rows, all_rows[:0])
        if count < 2:
            raise ScoreSpaceError(f"{data.name} is too small for a bootstrap.", seen=f"{count} of {self._units(data)}")
        for repeat in range(self.samples):
            rng = np.random.default_rng([seed, repeat])
            drawn = rng.integers(0, count, count)
            while (n_drawn := np.bincount(drawn, minlength=count)).all():  # redraw if no row is left for testing
                drawn = rng.integers(0, count, count)
            train = members[_concatenate_ranges(begins[drawn], begins[drawn + 1])]
            yield TrainTestSplit(repeat, 0, np.sort(train), np.flatnonzero(n_drawn[units] == 0))

    def described(self, data: Dataset) -> str:
        return (
            f"{self.samples} bootstrap samples of {self._units(data)}, tested on those not drawn; one fit to all rows"
        )

    def _units(self, data: Dataset) -> str:
        return "rows" if grouping_kept_together(data, "") is None else "groups"


@dataclass(frozen=True, repr=False)
class ForwardChaining(Resampling):
    """Forward chaining: train on the past, test on the next period; rows of one time stay together."""

    stretches: int
    notation: ClassVar[str] = "time:5"
    pattern: ClassVar[str] = r"time:(?P<stretches>\d{1,9})"
    least: ClassVar[int] = 2

    def __str__(self) -> str:
        return f"time:{self.stretches}"

    def draw(self, data: Dataset, seed: int) -> Iterator[TrainTestSplit]:
        if data.order is None:
            raise ScoreSpaceError(f"resampling={str(self)!r} needs a time column.", hint="time=…")
        times, time_index = np.unique(data.order, return_inverse=True)
        if times.size <= self.stretches:
            raise ScoreSpaceError(
                f"{data.name} has {times.size} distinct times, too few for {self.stretches} periods.",
                hint="use fewer periods",
            )
        splitter = import_optional("sklearn.model_selection", "experiments").TimeSeriesSplit(self.stretches)
        for fold, (past, future) in enumerate(splitter.split(times)):
            train, test = (np.flatnonzero(np.isin(time_index, period)) for period in (past, future))
            yield TrainTestSplit(0, fold, train, test)

    def described(self, data: Dataset) -> str:
        return f"trained on the past, tested on the next of {self.stretches} periods"


SCHEMES: Final[tuple[type[Resampling], ...]] = (
    *(KFolds, Holdout, LeaveOneOut, LeaveGroupsOut, LeaveCrossedOut, BootstrapSplits, ForwardChaining),
)


def parse_resampling(requested: Any) -> Resampling:
    """Parse a notation, or wrap a scikit-learn splitter.

    >>> parse_resampling("1x10"), parse_resampling("logo:speaker")
    (10, logo:speaker)
    >>> parse_resampling("10x2").described(Dataset("d", {"x": np.zeros(4)}, np.array([0, 1, 0, 1]), "classes"))
    '10 times 2 folds, stratified by class'
    """
    if isinstance(requested, Resampling):
        return requested
    if is_splitter(requested):
        return Splitter(requested)
    text = str(requested).strip()
    for scheme in SCHEMES:
        match = re.fullmatch(scheme.pattern, text)
        if match is not None:
            return scheme.read(match)
    raise ScoreSpaceError(
        f"resampling={requested!r:.200} is not a known notation.",
        hint="one of " + ", ".join(scheme.notation for scheme in SCHEMES),
    )


def _concatenate_ranges(begins: Rows, ends: Rows) -> Rows:
    """Indices of several ranges, one after the other."""
    sizes = ends - begins
    return np.repeat(begins - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))


def _test_size(share: float, units: int, name: str) -> int:
    """Number of test rows or groups."""
    size = round(share * units)
    if not 0 < size < units:
        raise ScoreSpaceError(
            f"a share of {_format_number(share)} of {name} leaves training or test empty.",
            seen=f"{units} in all",
            hint="use a share nearer to 0.5",
        )
    return size


def _format_number(value: float) -> str:
    return f"{value:.10g}"
