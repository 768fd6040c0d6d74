"""A study in rounds: each gives every cell of every table some samples more, and what is done is kept in a file.

So it can be stopped at any time and goes on where it was, and every cell of a table rests on as many samples.
"""

from __future__ import annotations

import ast
import hashlib
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
ROOMS = ("tables", "curves", "measures", "resampling", "comparisons", "decisions")
OF_NUMBERS = ("residual.py", "rroc.py", "isotonic.py", "regression.py", "fitted.py")  # which the study does not try

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
    code: str
    replicates: int
    rounds: dict[str, int] = field(default_factory=dict)
    done: dict[str, dict[str, Found]] = field(default_factory=dict)
    begun: dict[str, dict[str, Found]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path | None, code: str, replicates: int, *, whatever: bool = False) -> Kept:
        """What the file holds; nothing when other code, or other numbers of replicates, made it."""
        if path is None or not path.exists():
            return cls(path, code, replicates)
        held = cls(path, **json.loads(path.read_text("utf-8")))
        if whatever or (held.code, held.replicates) == (code, replicates):
            return held
        made = f"{path.name} was made by {held.code} with {held.replicates} replicates"
        told(f"{made}: the study begins anew (--whatever-code goes on)")
        return cls(path, code, replicates)

    def go_on(self, parts: Mapping[str, Part], rounds: int) -> None:
        """Run what is missing of so many rounds, all parts in turn."""
        for number in range(rounds):
            for name, part in parts.items():
                if self.rounds.get(name, 0) <= number:
                    self._round(name, part, number)

    def _round(self, name: str, part: Part, number: int) -> None:
        began, begun = time.perf_counter(), self.begun.setdefault(name, {})
        for cell in part.cells:
            key = json.dumps(cell)
            if key not in begun:
                rng = np.random.default_rng([SEED, number, zlib.crc32(f"{name}{key}".encode())])
                begun[key] = part.run(cell, rng, part.times * BLOCK, self.replicates)
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
        held = {name: getattr(self, name) for name in ("code", "replicates", "rounds", "done", "begun")}
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


def code_of(root: Path = ROOT) -> str:
    """What tells one version of the code from another: a digest of what the intervals and tests of the study rest on.

    Comments, docstrings and what a measure says of its coverage, which comes from here, are left out.
    """
    rooms = (one for room in ROOMS for one in (root / "src" / "scorespace" / room).rglob("*.py"))
    study = [root / "benchmarks" / f"{name}.py" for name in ("covered", "rejected", "honest", "populations")]
    digest = hashlib.sha256()
    for path in sorted(one for one in [*rooms, *study] if one.name not in OF_NUMBERS):
        digest.update(ast.dump(_Working().visit(ast.parse(path.read_bytes()))).encode())
    return digest.hexdigest()[:10]


class _Working(ast.NodeTransformer):
    """Code without what does not work: sentences that stand alone or have a name, and what is said of coverage."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        return (
            None
            if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
            else self.generic_visit(node)
        )

    def visit_keyword(self, node: ast.keyword) -> ast.AST | None:
        return None if node.arg == "covers" else self.generic_visit(node)


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
