"""Which rows train and which test, in a short notation: folds, samples held out or drawn, stretches of time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar, Final, cast

import numpy as np

from scorespace.errors import ScoreSpaceError
from scorespace.experiments.data import Dataset
from scorespace.experiments.golden import Rows, Split
from scorespace.experiments.leaving import LeaveCrossedOut, LeaveGroupsOut, LeaveOneOut
from scorespace.experiments.scheme import How, Resampling, is_stratified, kept_whole, manner, repeated
from scorespace.experiments.splitter import Splitter, splits_rows
from scorespace.frozen import dataclass
from scorespace.parts import required


@dataclass(frozen=True, repr=False)
class Folds(Resampling):
    """k folds, r times: classes in equal shares and groups whole, where there are any."""

    folds: int
    repeats: int = 1
    how: How = ""
    notation: ClassVar[str] = "10, 10x10, 10x10:stratified, 10x10:plain"
    pattern: ClassVar[str] = r"(?:(?P<repeats>\d{1,9})x)?(?P<folds>\d{1,9})(?::(?P<how>stratified|plain))?"

    @classmethod
    def read(cls, found: re.Match[str]) -> Folds:
        folds = cls.number(found, "folds", least=2)
        return cls(folds, cls.number(found, "repeats", times=folds), cast(How, found["how"] or ""))

    def __str__(self) -> str:
        return (f"{self.repeats}x" if self.repeats > 1 else "") + f"{self.folds}" + (f":{self.how}" if self.how else "")

    def draw(self, data: Dataset, seed: int) -> Iterator[Split]:
        grouping, stratified = kept_whole(data, self.how), is_stratified(data, self.how, self.folds)
        units = data.rows if grouping is None else np.unique(grouping).size
        if units < self.folds:
            what = "rows" if grouping is None else "groups"
            raise ScoreSpaceError(
                f"{data.name} has {units} {what}, too few for {self.folds} folds.",
                hint=f"at most {units} folds" if units > 1 else "more rows",
            )
        kind = ("Stratified" if stratified else "") + ("Group" if grouping is not None else "") + "KFold"
        yield from repeated(kind, self.repeats, data, seed, grouping, n_splits=self.folds, shuffle=True)

    def described(self, data: Dataset) -> str:
        times = f"{self.repeats} times " if self.repeats > 1 else ""
        return f"{times}{self.folds} folds, {manner(data, self.how, self.folds)}"


@dataclass(frozen=True, repr=False)
class Holdout(Resampling):
    """A share of the rows tests, the rest trains; once or several times."""

    share: float
    repeats: int = 1
    how: How = ""
    notation: ClassVar[str] = "holdout:0.3, 20xholdout:0.3"
    pattern: ClassVar[str] = r"(?:(?P<repeats>\d{1,9})x)?holdout:(?P<share>0?\.\d{1,9})(?::(?P<how>stratified|plain))?"

    @classmethod
    def read(cls, found: re.Match[str]) -> Holdout:
        share = float(found["share"])
        if not 0 < share < 1:
            raise cls.refused(found, "holds out no part of the rows.")
        return cls(share, cls.number(found, "repeats"), cast(How, found["how"] or ""))

    def __str__(self) -> str:
        times = f"{self.repeats}x" if self.repeats > 1 else ""
        return f"{times}holdout:{_decimal(self.share)}" + (f":{self.how}" if self.how else "")

    def draw(self, data: Dataset, seed: int) -> Iterator[Split]:
        grouping, stratified = kept_whole(data, self.how), is_stratified(data, self.how, 2)
        held = _counted(self.share, data.rows if grouping is None else int(np.unique(grouping).size), data.name)
        stratified = stratified and held >= len(data.classes)
        kind = ("Group" if grouping is not None else "Stratified" if stratified else "") + "ShuffleSplit"
        yield from repeated(kind, self.repeats, data, seed, grouping, n_splits=1, test_size=held)

    def described(self, data: Dataset) -> str:
        times = f"{self.repeats} times " if self.repeats > 1 else ""
        if kept_whole(data, self.how) is not None:
            return f"{times}{_decimal(100 * self.share)} % of the groups held out"
        return f"{times}{_decimal(100 * self.share)} % held out, {manner(data, self.how, 2)}"


@dataclass(frozen=True, repr=False)
class Bootstrap(Resampling):
    """As many rows as there are, drawn with replacement, train; those never drawn test. Groups are drawn whole."""

    samples: int
    notation: ClassVar[str] = "bootstrap:200"
    pattern: ClassVar[str] = r"bootstrap:(?P<samples>\d{1,9})"

    def __str__(self) -> str:
        return f"bootstrap:{self.samples}"

    def draw(self, data: Dataset, seed: int) -> Iterator[Split]:
        grouping = kept_whole(data, "")
        units = np.arange(data.rows) if grouping is None else np.unique(grouping, return_inverse=True)[1]
        count = int(units.max()) + 1
        members = np.argsort(units, kind="stable")
        begins = np.searchsorted(units[members], np.arange(count + 1))
        everyone = np.arange(data.rows)
        yield Split(-1, 0, everyone, everyone[:0])
        if count < 2:
            raise ScoreSpaceError(f"{data.name} has too little to draw from.", seen=f"{count} of {self._units(data)}")
        for repeat in range(self.samples):
            source = np.random.default_rng([seed, repeat])
            drawn = source.integers(0, count, count)
            while (times := np.bincount(drawn, minlength=count)).all():  # of a few rows, none would be left to test
                drawn = source.integers(0, count, count)
            train = members[_ranges(begins[drawn], begins[drawn + 1])]
            yield Split(repeat, 0, np.sort(train), np.flatnonzero(times[units] == 0))

    def described(self, data: Dataset) -> str:
        return f"{self.samples} bootstrap samples of {self._units(data)}; those not drawn test; one fit to all rows"

    def _units(self, data: Dataset) -> str:
        return "rows" if kept_whole(data, "") is None else "groups"


@dataclass(frozen=True, repr=False)
class Forward(Resampling):
    """The past trains, the next stretch of time tests: k stretches, rows of one moment together."""

    stretches: int
    notation: ClassVar[str] = "time:5"
    pattern: ClassVar[str] = r"time:(?P<stretches>\d{1,9})"
    least: ClassVar[int] = 2

    def __str__(self) -> str:
        return f"time:{self.stretches}"

    def draw(self, data: Dataset, seed: int) -> Iterator[Split]:
        if data.order is None:
            raise ScoreSpaceError(f"resampling={str(self)!r} needs the time of each row.", hint="time=…")
        moments, place = np.unique(data.order, return_inverse=True)
        if moments.size <= self.stretches:
            raise ScoreSpaceError(
                f"{data.name} has {moments.size} moments, too few for {self.stretches} stretches.",
                hint="fewer stretches",
            )
        splitter = required("sklearn.model_selection", "experiments").TimeSeriesSplit(self.stretches)
        for fold, (past, future) in enumerate(splitter.split(moments)):
            train, test = (np.flatnonzero(np.isin(place, each)) for each in (past, future))
            yield Split(0, fold, train, test)

    def described(self, data: Dataset) -> str:
        return f"the past trains and the next of {self.stretches} stretches of time tests"


SCHEMES: Final[tuple[type[Resampling], ...]] = (
    *(Folds, Holdout, LeaveOneOut, LeaveGroupsOut, LeaveCrossedOut, Bootstrap, Forward),
)


def parse(given: Any) -> Resampling:
    """The resampling that a notation means, or that an object of scikit-learn's kind does.

    >>> parse("1x10"), parse("logo:speaker")
    (10, logo:speaker)
    >>> parse("10x2").described(Dataset("d", {"x": np.zeros(4)}, np.array([0, 1, 0, 1]), "classes"))
    '10 times 2 folds, stratified by class'
    """
    if isinstance(given, Resampling):
        return given
    if splits_rows(given):
        return Splitter(given)
    bare = str(given).strip()
    for scheme in SCHEMES:
        found = re.fullmatch(scheme.pattern, bare)
        if found is not None:
            return scheme.read(found)
    raise ScoreSpaceError(
        f"resampling={given!r:.200} cannot be read.", hint="one of " + ", ".join(one.notation for one in SCHEMES)
    )


def _ranges(begins: Rows, ends: Rows) -> Rows:
    """The places from each begin to its end, one range after the other."""
    sizes = ends - begins
    return np.repeat(begins - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))


def _counted(share: float, units: int, name: str) -> int:
    held = round(share * units)
    if not 0 < held < units:
        raise ScoreSpaceError(
            f"a share of {_decimal(share)} of {name} leaves one side empty.",
            seen=f"{units} in all",
            hint="a share nearer to 0.5",
        )
    return held


def _decimal(value: float) -> str:
    return f"{value:.10g}"
