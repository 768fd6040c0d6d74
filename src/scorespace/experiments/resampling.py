"""Which rows train and which test: a short notation, and the golden rule that nothing is on both sides."""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ScoreSpaceError, listing
from scorespace.experiments.data import Dataset
from scorespace.parts import required
from scorespace.results import Note, grouped, note

Rows = NDArray[np.int64]
How = Literal["", "stratified", "plain"]

_MOST: Final = 1_000_000
"""Splits above which a notation is taken for a mistake."""


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


class Resampling(ABC):
    """How training and test rows are chosen; `str()` gives the notation, which parses back.

    >>> parse("1x10"), parse("logo:speaker")
    (10, logo:speaker)
    """

    notation: ClassVar[str]
    pattern: ClassVar[str]

    @classmethod
    @abstractmethod
    def read(cls, found: re.Match[str]) -> Resampling:
        """The resampling that a text of this notation means."""

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

    def splits(self, data: Dataset, seed: int = 0) -> list[Split]:
        """All splits, each checked for the golden rule; what is found beside errors is told by `overlap`."""
        found = []
        for split in self.draw(data, seed):
            check(split, data)
            found.append(split)
        return found

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, repr=False)
class Folds(Resampling):
    """k folds, r times: classes in equal shares and groups whole, where there are any."""

    folds: int
    repeats: int = 1
    how: How = ""
    notation: ClassVar[str] = "10, 10x10, 10x10:stratified, 10x10:plain"
    pattern: ClassVar[str] = r"(?:(?P<repeats>\d+)x)?(?P<folds>\d+)(?::(?P<how>stratified|plain))?"

    @classmethod
    def read(cls, found: re.Match[str]) -> Folds:
        folds, repeats = int(found["folds"]), int(found["repeats"] or 1)
        if folds < 2 or repeats < 1 or folds * repeats > _MOST:
            raise ScoreSpaceError(f"resampling={found[0]!r} has too few or too many folds.", hint="10x10")
        return cls(folds, repeats, _how(found["how"]))

    def __str__(self) -> str:
        return (f"{self.repeats}x" if self.repeats > 1 else "") + f"{self.folds}" + (f":{self.how}" if self.how else "")

    def draw(self, data: Dataset, seed: int) -> Iterator[Split]:
        selection = required("sklearn.model_selection", "experiments")
        grouping, stratified = _grouping(data, self.how), _is_stratified(data, self.how, self.folds)
        units = data.rows if grouping is None else np.unique(grouping).size
        if units < self.folds:
            what = "rows" if grouping is None else "groups"
            raise ScoreSpaceError(
                f"{data.name} has {units} {what}, too few for {self.folds} folds.",
                hint=f"at most {units} folds" if units > 1 else "more rows",
            )
        kind = ("Stratified" if stratified else "") + ("Group" if grouping is not None else "") + "KFold"
        truth = data.codes if data.task == "classes" else None
        for repeat in range(self.repeats):
            splitter = getattr(selection, kind)(self.folds, shuffle=True, random_state=repeat_seed(seed, repeat))
            yield from _numbered(splitter, data, repeat, truth, grouping)

    def described(self, data: Dataset) -> str:
        times = f"{self.repeats} times " if self.repeats > 1 else ""
        return f"{times}{self.folds} folds, {_manner(data, self.how, self.folds)}"


@dataclass(frozen=True, repr=False)
class Holdout(Resampling):
    """A share of the rows tests, the rest trains; once or several times."""

    share: float
    repeats: int = 1
    how: How = ""
    notation: ClassVar[str] = "holdout:0.3, 20xholdout:0.3"
    pattern: ClassVar[str] = r"(?:(?P<repeats>\d+)x)?holdout:(?P<share>0?\.\d+)(?::(?P<how>stratified|plain))?"

    @classmethod
    def read(cls, found: re.Match[str]) -> Holdout:
        share, repeats = float(found["share"]), int(found["repeats"] or 1)
        if not 0 < share < 1 or not 1 <= repeats <= _MOST:
            raise ScoreSpaceError(f"resampling={found[0]!r} holds out no part of the rows.", hint="holdout:0.3")
        return cls(share, repeats, _how(found["how"]))

    def __str__(self) -> str:
        times = f"{self.repeats}x" if self.repeats > 1 else ""
        return f"{times}holdout:{_decimal(self.share)}" + (f":{self.how}" if self.how else "")

    def draw(self, data: Dataset, seed: int) -> Iterator[Split]:
        selection = required("sklearn.model_selection", "experiments")
        grouping, stratified = _grouping(data, self.how), _is_stratified(data, self.how, 2)
        held = _counted(self.share, data.rows if grouping is None else int(np.unique(grouping).size), data.name)
        kind = (
            "GroupShuffleSplit" if grouping is not None else "StratifiedShuffleSplit" if stratified else "ShuffleSplit"
        )
        if stratified and grouping is None and held < len(data.classes):
            kind = "ShuffleSplit"
        truth = data.codes if data.task == "classes" else None
        for repeat in range(self.repeats):
            splitter = getattr(selection, kind)(1, test_size=held, random_state=repeat_seed(seed, repeat))
            yield from _numbered(splitter, data, repeat, truth, grouping)

    def described(self, data: Dataset) -> str:
        times = f"{self.repeats} times " if self.repeats > 1 else ""
        if _grouping(data, self.how) is not None:
            return f"{times}{_decimal(100 * self.share)} % of the groups held out"
        return f"{times}{_decimal(100 * self.share)} % held out, {_manner(data, self.how, 2)}"


@dataclass(frozen=True, repr=False)
class LeaveOneOut(Resampling):
    """Every row tests once, and all others train."""

    notation: ClassVar[str] = "loo"
    pattern: ClassVar[str] = r"loo"

    @classmethod
    def read(cls, found: re.Match[str]) -> LeaveOneOut:
        return cls()

    def __str__(self) -> str:
        return "loo"

    def draw(self, data: Dataset, seed: int) -> Iterator[Split]:
        yield from _numbered(required("sklearn.model_selection", "experiments").LeaveOneOut(), data, 0)

    def described(self, data: Dataset) -> str:
        return f"each of {grouped(data.rows)} rows left out once"


@dataclass(frozen=True, repr=False)
class LeaveGroupsOut(Resampling):
    """Every choice of p groups tests once: logo:speaker leaves out one, lpgo:2:speaker every two."""

    grouping: str
    left: int = 1
    notation: ClassVar[str] = "logo:speaker, lpgo:2:speaker"
    pattern: ClassVar[str] = r"(?:logo|lpgo:(?P<left>\d+)):(?P<grouping>[^*]+)"

    @classmethod
    def read(cls, found: re.Match[str]) -> LeaveGroupsOut:
        left = int(found["left"] or 1)
        if left < 1:
            raise ScoreSpaceError(f"resampling={found[0]!r} leaves out no group.", hint="logo:speaker")
        return cls(found["grouping"], left)

    @property
    def groups(self) -> tuple[str, ...]:
        return (self.grouping,)

    def __str__(self) -> str:
        return f"logo:{self.grouping}" if self.left == 1 else f"lpgo:{self.left}:{self.grouping}"

    def draw(self, data: Dataset, seed: int) -> Iterator[Split]:
        codes = _named_groups(data, self.grouping)
        if np.unique(codes).size <= self.left:
            raise ScoreSpaceError(
                f"{data.name} has too few groups to leave out {self.left} of them.",
                seen=f"{np.unique(codes).size} in {self.grouping!r}",
                hint="leave out fewer, or another grouping",
            )
        splitter = required("sklearn.model_selection", "experiments").LeavePGroupsOut(self.left)
        yield from _numbered(splitter, data, 0, groups=codes)

    def described(self, data: Dataset) -> str:
        count = np.unique(_named_groups(data, self.grouping)).size
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
    pattern: ClassVar[str] = r"(?:logo|lpgo:(?P<n>\d+)\*(?P<m>\d+)):(?P<first>[^*]+)\*(?P<second>[^*]+)"

    @classmethod
    def read(cls, found: re.Match[str]) -> LeaveCrossedOut:
        sizes = int(found["n"] or 1), int(found["m"] or 1)
        if min(sizes) < 1 or found["first"] == found["second"]:
            raise ScoreSpaceError(f"resampling={found[0]!r} crosses no two groupings.", hint="logo:professor*student")
        return cls(found["first"], found["second"], sizes)

    @property
    def groups(self) -> tuple[str, ...]:
        return (self.first, self.second)

    def __str__(self) -> str:
        left = "logo" if self.sizes == (1, 1) else f"lpgo:{self.sizes[0]}*{self.sizes[1]}"
        return f"{left}:{self.first}*{self.second}"

    def draw(self, data: Dataset, seed: int) -> Iterator[Split]:
        source = np.random.default_rng([seed, 0])
        first, second = (
            _dealt(_named_groups(data, name), size, source) for name, size in zip(self.groups, self.sizes, strict=True)
        )
        fold = 0
        for a, b in product(range(int(first.max()) + 1), range(int(second.max()) + 1)):
            test = np.flatnonzero((first == a) & (second == b))
            train = np.flatnonzero((first != a) & (second != b))
            if test.size and train.size:
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


@dataclass(frozen=True, repr=False)
class Bootstrap(Resampling):
    """As many rows as there are, drawn with replacement, train; those never drawn test. Groups are drawn whole."""

    repeats: int
    notation: ClassVar[str] = "bootstrap:200"
    pattern: ClassVar[str] = r"bootstrap:(?P<repeats>\d+)"

    @classmethod
    def read(cls, found: re.Match[str]) -> Bootstrap:
        if not 1 <= int(found["repeats"]) <= _MOST:
            raise ScoreSpaceError(f"resampling={found[0]!r} draws too seldom or too often.", hint="bootstrap:200")
        return cls(int(found["repeats"]))

    def __str__(self) -> str:
        return f"bootstrap:{self.repeats}"

    def draw(self, data: Dataset, seed: int) -> Iterator[Split]:
        grouping = _grouping(data, "")
        units = np.arange(data.rows) if grouping is None else np.unique(grouping, return_inverse=True)[1]
        count = int(units.max()) + 1
        members = np.argsort(units, kind="stable")
        begins = np.searchsorted(units[members], np.arange(count + 1))
        everyone = np.arange(data.rows)
        yield Split(-1, 0, everyone, everyone[:0])
        for repeat in range(self.repeats):
            drawn = np.random.default_rng([seed, repeat]).integers(0, count, count)
            times = np.bincount(drawn, minlength=count)
            train = members[_ranges(begins[drawn], begins[drawn + 1])]
            yield Split(repeat, 0, np.sort(train), np.flatnonzero(times[units] == 0))

    def described(self, data: Dataset) -> str:
        what = "rows" if _grouping(data, "") is None else "groups"
        return f"{self.repeats} bootstrap samples of {what}; those not drawn test; one fit to all rows"


@dataclass(frozen=True, repr=False)
class Forward(Resampling):
    """The past trains, the next stretch of time tests: k stretches, rows of one moment together."""

    folds: int
    notation: ClassVar[str] = "time:5"
    pattern: ClassVar[str] = r"time:(?P<folds>\d+)"

    @classmethod
    def read(cls, found: re.Match[str]) -> Forward:
        if not 2 <= int(found["folds"]) <= _MOST:
            raise ScoreSpaceError(f"resampling={found[0]!r} has too few or too many folds.", hint="time:5")
        return cls(int(found["folds"]))

    def __str__(self) -> str:
        return f"time:{self.folds}"

    def draw(self, data: Dataset, seed: int) -> Iterator[Split]:
        if data.order is None:
            raise ScoreSpaceError(f"resampling={str(self)!r} needs the time of each row.", hint="time=…")
        moments, place = np.unique(data.order, return_inverse=True)
        if moments.size <= self.folds:
            raise ScoreSpaceError(
                f"{data.name} has {moments.size} moments, too few for {self.folds} stretches.", hint="fewer stretches"
            )
        splitter = required("sklearn.model_selection", "experiments").TimeSeriesSplit(self.folds)
        for fold, (past, future) in enumerate(splitter.split(moments)):
            train, test = (np.flatnonzero(np.isin(place, each)) for each in (past, future))
            yield Split(0, fold, train, test)

    def described(self, data: Dataset) -> str:
        return f"the past trains and the next of {self.folds} stretches of time tests"


SCHEMES: Final[tuple[type[Resampling], ...]] = (
    *(Folds, Holdout, LeaveOneOut, LeaveGroupsOut, LeaveCrossedOut, Bootstrap, Forward),
)


def parse(text: str | Resampling) -> Resampling:
    """The resampling that a notation means.

    >>> parse("10x2").described(Dataset("d", {"x": np.zeros(4)}, np.array([0, 1, 0, 1]), "classes"))
    '10 times 2 folds, stratified by class'
    """
    if isinstance(text, Resampling):
        return text
    bare = text.strip()
    for scheme in SCHEMES:
        found = re.fullmatch(scheme.pattern, bare)
        if found is not None:
            return scheme.read(found)
    raise ScoreSpaceError(
        f"resampling={text!r} cannot be read.", hint="one of " + ", ".join(one.notation for one in SCHEMES)
    )


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
    >>> overlap(parse("loo").splits(data), data)
    Overlap(rows=2, of=4, splits=2, groups=())
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


def repeat_seed(seed: int, repeat: int) -> int:
    """The seed of one repeat: different seeds have no repeat in common."""
    return int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])


# --- how rows are chosen


def _how(text: str | None) -> How:
    return "stratified" if text == "stratified" else "plain" if text == "plain" else ""


def _grouping(data: Dataset, how: How) -> Rows | None:
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


def _is_stratified(data: Dataset, how: How, parts: int) -> bool:
    """Whether classes are dealt in equal shares: only where some class has a case for every part."""
    if how == "plain" or data.task != "classes":
        return False
    counts = np.bincount(data.codes)
    return bool(counts.max() >= parts and counts.min() >= 2)


def _manner(data: Dataset, how: How, parts: int) -> str:
    whole = "groups kept whole" if _grouping(data, how) is not None else ""
    if _is_stratified(data, how, parts):
        return ", ".join(filter(None, ["stratified by class", whole]))
    scarce = " (a class is too small to stratify)" if data.task == "classes" and how != "plain" else ""
    return ", ".join(filter(None, [f"at random{scarce}", whole]))


def _numbered(splitter: Any, data: Dataset, repeat: int, truth: Any = None, groups: Any = None) -> Iterator[Split]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class smaller than the folds: said by whoever describes them
        for fold, (train, test) in enumerate(splitter.split(np.zeros(data.rows), truth, groups)):
            yield Split(repeat, fold, train, test)


def _named_groups(data: Dataset, name: str) -> Rows:
    if name not in data.groups:
        raise ScoreSpaceError(
            f"{data.name} has no grouping {name!r}.",
            seen=listing(data.groups) or "no groups",
            hint=f'groups=["{name}"]',
        )
    return data.groups[name]


def _dealt(codes: Rows, size: int, source: np.random.Generator) -> Rows:
    """Groups dealt at random into parts of a size: the part of each row."""
    _, place = np.unique(codes, return_inverse=True)
    return (source.permutation(int(place.max()) + 1) // size)[place]


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
