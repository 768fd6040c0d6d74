"""Base class of resampling schemes: notation, splits and description; and users' scikit-learn splitters."""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

import numpy as np

from scorespace.dependencies import import_optional
from scorespace.errors import ScoreSpaceError, listing, one_line_message
from scorespace.experiments.data import Dataset
from scorespace.experiments.leakage_checks import Rows, TrainTestSplit, check_split

Stratification = Literal["", "stratified", "plain"]

_MAX_SPLITS: Final = 1_000_000
"""Maximum number of splits; more are taken for a typing error."""


class Resampling(ABC):
    """A resampling scheme; `str()` gives its notation, which parses back."""

    notation: ClassVar[str]
    pattern: ClassVar[str]
    least: ClassVar[int] = 1

    @classmethod
    def read(cls, found: re.Match[str]) -> Resampling:
        """Make a scheme from a match of its pattern; by default, all groups are integers."""
        return cls(*(cls.number(found, name, cls.least) for name in found.groupdict()))

    @classmethod
    def number(cls, found: re.Match[str], name: str, least: int = 1, times: int = 1) -> int:
        """An integer of the notation, 1 by default; refused if too small or too large."""
        value = int(found[name] or 1)
        if not least <= value <= _MAX_SPLITS // times:
            amount = "few" if value < least else "many"
            raise cls.refused(found, f"has too {amount} {name}: {value}.")
        return value

    @classmethod
    def refused(cls, found: re.Match[str], why: str) -> ScoreSpaceError:
        """Error for an invalid notation, with the first example as hint."""
        return ScoreSpaceError(f"resampling={found[0]!r} {why}", hint=cls.notation.partition(",")[0])

    @abstractmethod
    def draw(self, data: Dataset, seed: int) -> Iterator[TrainTestSplit]:
        """Yield the splits."""

    @abstractmethod
    def described(self, data: Dataset) -> str:
        """Description of the scheme for a data set."""

    @property
    def groups(self) -> tuple[str, ...]:
        """Groupings that the notation names."""
        return ()

    @property
    def is_determined_by_notation(self) -> bool:
        """Whether notation and seed determine the splits; otherwise their hash is stored."""
        return True

    def splits(self, data: Dataset, seed: int = 0) -> list[TrainTestSplit]:
        """All splits, each checked for rows on both sides."""
        splits = []
        for split in self.draw(data, seed):
            check_split(split, data)
            splits.append(split)
        return splits

    def __repr__(self) -> str:
        return str(self)


def splits_of_repeat(
    splitter: Any, data: Dataset, repeat: int, truth: Any = None, groups: Any = None
) -> Iterator[TrainTestSplit]:
    """Splits of a scikit-learn splitter as the folds of one repeat."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small classes are mentioned in the description
        for fold, (train, test) in enumerate(splitter.split(np.zeros(data.rows), truth, groups)):
            yield TrainTestSplit(repeat, fold, train, test)


def repeat_seed(seed: int, repeat: int) -> int:
    """Seed of one repeat; different seeds share no repeat."""
    return int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])


def splits_of_repeats(
    kind: str, repeats: int, data: Dataset, seed: int, grouping: Rows | None, **options: Any
) -> Iterator[TrainTestSplit]:
    """Splits of a scikit-learn splitter class, each repeat with its own seed."""
    splitter = getattr(import_optional("sklearn.model_selection", "experiments"), kind)
    truth = data.codes if data.task == "classes" else None
    for repeat in range(repeats):
        yield from splits_of_repeat(
            splitter(random_state=repeat_seed(seed, repeat), **options), data, repeat, truth, grouping
        )


# --- stratification and groups


def grouping_kept_together(data: Dataset, how: Stratification) -> Rows | None:
    """Grouping whose groups are not split between training and test; None if there is none."""
    if how or not data.groups:
        return None
    if len(data.groups) > 1:
        raise ScoreSpaceError(
            f"{data.name} has several groupings, but folds can keep the groups of only one together.",
            seen=listing(data.groups),
            hint="logo:" + "*".join(list(data.groups)[:2]) + ", or 10:plain, which ignores groups",
        )
    return next(iter(data.groups.values()))


def is_stratified(data: Dataset, how: Stratification, parts: int) -> bool:
    """Whether folds are stratified: some class must have a case for every fold, and all at least two."""
    if how == "plain" or data.task != "classes":
        return False
    counts = np.bincount(data.codes)
    return bool(counts.max() >= parts and counts.min() >= 2)


def describe_assignment(data: Dataset, how: Stratification, parts: int) -> str:
    """Description of stratification and groups."""
    groups = "groups kept together" if grouping_kept_together(data, how) is not None else ""
    if is_stratified(data, how, parts):
        return ", ".join(filter(None, ["stratified by class", groups]))
    reason = " (a class is too small to stratify)" if data.task == "classes" and how != "plain" else ""
    return ", ".join(filter(None, [f"at random{reason}", groups]))


def find_grouping(data: Dataset, name: str) -> Rows:
    if name not in data.groups:
        raise ScoreSpaceError(
            f"{data.name} has no grouping {name!r}.",
            seen=listing(data.groups) or "no groups",
            hint=f'groups=["{name}"]',
        )
    return data.groups[name]


_MAX_TEXT_LENGTH: Final = 200


def is_splitter(candidate: Any) -> bool:
    """Whether an object has a method split, other than text."""
    return not isinstance(candidate, str | bytes) and callable(getattr(candidate, "split", None))


@dataclass(frozen=True, repr=False)
class Splitter(Resampling):
    """Splits of a scikit-learn splitter; a new repeat begins where a row is tested again.

    Its text does not determine the splits, so a run stores their hash. An unset random_state is set to the seed.
    """

    splitter: Any

    def __str__(self) -> str:
        return " ".join(re.sub(r" at 0x[0-9a-fA-F]+", "", repr(self.splitter)).split())[:_MAX_TEXT_LENGTH]

    @property
    def is_determined_by_notation(self) -> bool:
        return False

    def draw(self, data: Dataset, seed: int) -> Iterator[TrainTestSplit]:
        repeats = _assign_repeats(test for _, test in self._pairs(data, seed))
        if not repeats:
            raise ScoreSpaceError(
                f"{self} yields no splits of {data.name}.",
                hint="its split(X, y, groups) must yield pairs of row indices",
            )
        fold = 0
        for place, (train, test) in enumerate(self._pairs(data, seed)):
            fold = fold + 1 if place and repeats[place] == repeats[place - 1] else 0
            yield TrainTestSplit(repeats[place], fold, train, test)

    def described(self, data: Dataset) -> str:
        return f"split by {self}"

    def _pairs(self, data: Dataset, seed: int) -> Iterator[tuple[Rows, Rows]]:
        splitter = deepcopy(self.splitter)  # a random generator inside it would continue
        if getattr(splitter, "random_state", 0) is None:
            splitter.random_state = seed
        groups = next(iter(data.groups.values())) if len(data.groups) == 1 else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                for train, test in splitter.split(data.matrix, data.truth, groups):
                    yield self._rows(train, data), self._rows(test, data, once=True)
            except ScoreSpaceError:
                raise
            except Exception as error:  # user code
                message = one_line_message(error, _MAX_TEXT_LENGTH)
                seen = (
                    f"{message}; it takes one of the groupings {listing(data.groups)}"
                    if len(data.groups) > 1
                    else message
                )
                hint = 'ss.dataset(…, groups=["…"])' if "group" in message else None
                raise ScoreSpaceError(f"{self} cannot split {data.name}.", seen=seen, hint=hint) from error

    def _rows(self, selection: Any, data: Dataset, *, once: bool = False) -> Rows:
        """Row indices of the splitter; a boolean mask is converted."""
        rows = np.asarray(selection)
        if rows.dtype == bool and rows.shape == (data.rows,):
            return np.flatnonzero(rows)
        are_indices = rows.ndim == 1 and (rows.dtype.kind in "iu" or not rows.size)
        if not are_indices or (rows.size and not 0 <= rows.min() <= rows.max() < data.rows):
            raise ScoreSpaceError(
                f"{self} returned invalid row indices for {data.name}.",
                seen=f"{rows!r:.60}",
                hint="row indices from 0",
            )
        if once and np.unique(rows).size < rows.size:
            raise ScoreSpaceError(
                f"{self} tests a row of {data.name} twice in one split.", hint="test each row at most once"
            )
        return rows.astype(np.int64)


def _assign_repeats(tests: Iterator[Rows]) -> list[int]:
    """Repeat of each split: a new one where a row is tested again; each its own if repeats differ in size.

    >>> _assign_repeats(iter([np.array([0, 1]), np.array([2]), np.array([0]), np.array([1, 2])]))
    [0, 0, 1, 1]
    >>> _assign_repeats(iter([np.array([0]), np.array([1]), np.array([0])]))
    [0, 1, 2]
    """
    repeats: list[int] = []
    seen: set[int] = set()
    for test in tests:
        rows = set(test.tolist())
        is_repeated = not seen.isdisjoint(rows)
        repeats.append((repeats[-1] + is_repeated) if repeats else 0)
        seen = rows if is_repeated else seen | rows
    return repeats if np.unique(np.bincount(repeats)).size < 2 else list(range(len(repeats)))
