"""A study in rounds: each gives every cell of every table some samples more, and what is done is kept in a file.

So it can be stopped at any time and goes on where it was, and every cell of a table rests on as many samples.

Beside them is kept what one sample of each cell gave, the witness. Where the code of today gives another answer to it,
the table is not that of this code and is made anew; where it gives the same, the code may have changed as it likes.
"""

from __future__ import annotations

import json
import math
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

SEED = 1
BLOCK = 50  # samples of a cell in a round
ROOT = Path(__file__).parent.parent
_SAME = 1e-6  # relative: other processors round the last digits otherwise

Cell = tuple[str | float, ...]
Sums = dict[str, float]
"""What was counted or added up over samples."""
Found = dict[str, Sums]
"""The sums of a cell by measure, test or form."""


@dataclass(frozen=True)
class Part:
    """A table of the study: its cells, what some samples of one give, and the table of all.

    `times` says how many times as many samples as elsewhere a round has.
    """

    cells: Sequence[Cell]
    run: Callable[[Cell, np.random.Generator, int, int], Found]
    table: Callable[[Mapping[Cell, Found]], str]
    times: int = 1

    def samples(self, rounds: int) -> int:
        return rounds * self.times * BLOCK


@dataclass
class Kept:
    """What is done of each part: sums of whole rounds, and of the round that is under way by cell."""

    path: Path | None
    replicates: int
    rounds: dict[str, int] = field(default_factory=dict)
    done: dict[str, dict[str, Found]] = field(default_factory=dict)
    begun: dict[str, dict[str, Found]] = field(default_factory=dict)
    witness: dict[str, dict[str, Found]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path | None, replicates: int) -> Kept:
        """What the file holds; nothing when other numbers of replicates made it."""
        if path is None or not path.exists():
            return cls(path, replicates)
        held = cls(path, **json.loads(path.read_text("utf-8")))
        if held.replicates == replicates:
            return held
        told(f"{path.name} was made with {held.replicates} replicates: the study begins anew")
        return cls(path, replicates)

    def go_on(self, parts: Mapping[str, Part], rounds: int) -> None:
        """Run what is missing of so many rounds, all parts in turn."""
        for number in range(rounds):
            for name, part in parts.items():
                if self.rounds.get(name, 0) <= number:
                    self._round(name, part, number)

    def renew(self, parts: Mapping[str, Part]) -> None:
        """Forget what other code has made."""
        for name, part in parts.items():
            if name in {**self.rounds, **self.begun} and (changed := self.changed(name, part)):
                told(f"{name}: today's code gives other numbers for {', '.join(changed)}; it begins anew")
                for kept in (self.rounds, self.done, self.begun, self.witness):
                    kept.pop(name, None)

    def changed(self, name: str, part: Part, most: float = 0.0) -> list[str]:
        """What the code of today answers otherwise in the witness of a part; none where at most so large a share is."""
        then, now = self.witness.get(name, {}), witnessed(name, part, self.replicates)
        pairs = [
            (one, then.get(key, {}).get(one, {}), sums) for key, found in now.items() for one, sums in found.items()
        ]
        other = [one for one, before, after in pairs if not alike(before, after)]
        return list(dict.fromkeys(other)) if len(other) > most * len(pairs) else []

    def _round(self, name: str, part: Part, number: int) -> None:
        began, begun = time.perf_counter(), self.begun.setdefault(name, {})
        if name not in self.witness:
            self.witness[name] = witnessed(name, part, self.replicates)
        for cell in part.cells:
            key = json.dumps(cell)
            if key not in begun:
                begun[key] = part.run(cell, _lot(name, key, number), part.times * BLOCK, self.replicates)
                self._write()
        past = self.done.get(name, {})
        self.done[name] = {key: added(past.get(key, {}), found) for key, found in begun.items()}
        self.rounds[name] = number + 1
        del self.begun[name]
        self._write()
        told(f"{name}: round {number + 1}, {part.samples(number + 1)} samples, {time.perf_counter() - began:.0f} s")

    def found(self, name: str) -> dict[Cell, Found]:
        return {tuple(json.loads(key)): found for key, found in self.done.get(name, {}).items()}

    def _write(self) -> None:
        if self.path is None:
            return
        held = {name: getattr(self, name) for name in ("replicates", "rounds", "done", "begun", "witness")}
        beside = self.path.with_suffix(".new")
        beside.write_text(json.dumps(held, separators=(",", ":")) + "\n", "utf-8")
        beside.replace(self.path)


def told(line: str) -> None:
    print(f"  {line}", file=sys.stderr, flush=True)


def added(first: Found, second: Found) -> Found:
    """The sums of both."""
    return {
        name: {
            key: first.get(name, {}).get(key, 0) + second.get(name, {}).get(key, 0)
            for key in {**first.get(name, {}), **second.get(name, {})}
        }
        for name in {**first, **second}
    }


def witnessed(name: str, part: Part, replicates: int) -> dict[str, Found]:
    """What one sample of each cell gives."""
    keys = {json.dumps(cell): cell for cell in part.cells}
    return {key: part.run(cell, _lot(name, key), part.times, replicates) for key, cell in keys.items()}


def alike(first: Sums, second: Sums) -> bool:
    """Whether sums are the same but for rounding.

    >>> alike({"held": 1, "width": 0.1}, {"held": 1, "width": 0.1 + 1e-12}), alike({"held": 1}, {"held": 0})
    (True, False)
    """
    names = {**first, **second}
    return all(math.isclose(first.get(one, 0), second.get(one, 0), rel_tol=_SAME, abs_tol=1e-12) for one in names)


def _lot(name: str, key: str, *number: int) -> np.random.Generator:
    """The samples of a cell: of a round, or the witness."""
    return np.random.default_rng([SEED, *number, zlib.crc32(f"{name}{key}".encode())])


def known_within(share: float, samples: float) -> str:
    """Two standard errors of a share.

    >>> known_within(0.95, 200)
    '± 0.031'
    """
    return f"± {2 * math.sqrt(share * (1 - share) / samples):.3f}" if samples else "± ?"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]], align: str = ":-:") -> str:
    """A table; the first column is to the left."""
    lines = [head, [":--", *[align] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
