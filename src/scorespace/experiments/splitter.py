"""Splits that an object of scikit-learn's kind chooses: whatever has `split(X, y, groups)`."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

import numpy as np

from scorespace.errors import ScoreSpaceError, in_one_line, listing
from scorespace.experiments.data import Dataset
from scorespace.experiments.golden import Rows, Split
from scorespace.experiments.scheme import Resampling
from scorespace.frozen import dataclass

_LONGEST: Final = 200


def splits_rows(given: Any) -> bool:
    """Whether an object is a splitter; text has a method of that name, too."""
    return not isinstance(given, str | bytes) and callable(getattr(given, "split", None))


@dataclass(frozen=True, repr=False)
class Splitter(Resampling):
    """The splits of an object; a new repeat begins where a row would be tested again.

    Its text does not tell all, such as code of one's own, so a run remembers the splits themselves. A random_state
    that is left open is set by the seed.
    """

    splitter: Any

    def __str__(self) -> str:
        return " ".join(re.sub(r" at 0x[0-9a-fA-F]+", "", repr(self.splitter)).split())[:_LONGEST]

    @property
    def says_all(self) -> bool:
        return False

    def draw(self, data: Dataset, seed: int) -> Iterator[Split]:
        repeats = _repeats(test for _, test in self._pairs(data, seed))
        if not repeats:
            raise ScoreSpaceError(
                f"{self} makes no splits of {data.name}.", hint="an object whose split(X, y, groups) yields some"
            )
        fold = 0
        for place, (train, test) in enumerate(self._pairs(data, seed)):
            fold = fold + 1 if place and repeats[place] == repeats[place - 1] else 0
            yield Split(repeats[place], fold, train, test)

    def described(self, data: Dataset) -> str:
        return f"split by {self}"

    def _pairs(self, data: Dataset, seed: int) -> Iterator[tuple[Rows, Rows]]:
        chosen = deepcopy(self.splitter)  # a generator inside it would go on from where it stood
        if getattr(chosen, "random_state", 0) is None:
            chosen.random_state = seed
        groups = next(iter(data.groups.values())) if len(data.groups) == 1 else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                for train, test in chosen.split(data.matrix, data.truth, groups):
                    yield self._rows(train, data), self._rows(test, data, once=True)
            except ScoreSpaceError:
                raise
            except Exception as error:  # whatever an object of the caller does
                said = in_one_line(error, _LONGEST)
                several = (
                    f"{said}; groupings {listing(data.groups)}, and it takes one" if len(data.groups) > 1 else said
                )
                hint = 'ss.dataset(…, groups=["…"])' if "group" in said else None
                raise ScoreSpaceError(f"{self} cannot split {data.name}.", seen=several, hint=hint) from error

    def _rows(self, given: Any, data: Dataset, *, once: bool = False) -> Rows:
        """The rows that the splitter means, by their places; a mask names them, too."""
        rows = np.asarray(given)
        if rows.dtype == bool and rows.shape == (data.rows,):
            return np.flatnonzero(rows)
        whole = rows.ndim == 1 and (rows.dtype.kind in "iu" or not rows.size)
        if not whole or (rows.size and not 0 <= rows.min() <= rows.max() < data.rows):
            raise ScoreSpaceError(
                f"{self} gives what are no rows of {data.name}.",
                seen=f"{rows!r:.60}",
                hint="the places of rows, from 0 on",
            )
        if once and np.unique(rows).size < rows.size:
            raise ScoreSpaceError(
                f"{self} tests a row of {data.name} twice in one split.", hint="each row at most once"
            )
        return rows.astype(np.int64)


def _repeats(tests: Iterator[Rows]) -> list[int]:
    """The repeat of each split: a new one where a row is tested again, or each its own where these are of unlike sizes.

    >>> _repeats(iter([np.array([0, 1]), np.array([2]), np.array([0]), np.array([1, 2])]))
    [0, 0, 1, 1]
    >>> _repeats(iter([np.array([0]), np.array([1]), np.array([0])]))
    [0, 1, 2]
    """
    found: list[int] = []
    seen: set[int] = set()
    for test in tests:
        rows = set(test.tolist())
        again = not seen.isdisjoint(rows)
        found.append((found[-1] + again) if found else 0)
        seen = rows if again else seen | rows
    return found if np.unique(np.bincount(found)).size < 2 else list(range(len(found)))
