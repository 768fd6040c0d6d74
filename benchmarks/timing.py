"""How the benchmarks take times and print them: ours, a peer's, their ratio and what we aim at."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec

PATIENCE = 30.0  # seconds after which nothing is run again


def seconds(function: Callable[[], object], runs: int = 3) -> float:
    """The best of some runs; a slow one is not repeated."""
    return in_turns(function, runs=runs)[0]


def in_turns(
    *functions: Callable[[], object], runs: int = 3, pick: Callable[[Iterable[float]], float] = min
) -> list[float]:
    """The best of some runs of each, which take turns so that whatever else the machine does slows all alike.

    `pick` takes another one than the best.
    """
    rounds: list[list[float]] = []
    while len(rounds) < runs and sum(map(sum, rounds)) < PATIENCE:
        rounds.append([])
        for function in functions:
            start = time.perf_counter()
            function()
            rounds[-1].append(time.perf_counter() - start)
    return [pick(times) for times in zip(*rounds, strict=True)]


def fresh(code: str) -> float:
    """The number that code prints in a new interpreter."""
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def import_seconds(statement: str, runs: int) -> float:
    """The median over new interpreters of the time that an import takes."""
    code = f"import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
    return statistics.median(fresh(code) for _ in range(runs))


def installed(peer: str) -> bool:
    """Whether a peer can be timed; if not, a line says how to get it."""
    if find_spec(peer) is not None:
        return True
    print(f"  {peer} is not installed, so it is left out: .venv/bin/pip install -c constraints.txt -e '.[bench]'")
    return False


@dataclass(frozen=True)
class Aim:
    """At least so many times faster than the peer, or at most so many times its time."""

    faster: float | None = None
    slower: float | None = None


@dataclass(frozen=True)
class Line:
    """Our time beside a peer's."""

    name: str
    ours: float
    peer: str
    theirs: float
    aim: Aim = Aim()

    @property
    def met(self) -> bool:
        ratio = self.theirs / self.ours
        return (self.aim.faster is None or ratio >= self.aim.faster) and (
            self.aim.slower is None or 1 / ratio <= self.aim.slower
        )

    def __str__(self) -> str:
        faster = self.theirs >= self.ours and self.aim.slower is None
        ratio = f"{spaced(self.theirs / self.ours)} × faster" if faster else f"{self.ours / self.theirs:.2f} × its time"
        aims = [f"≥ {self.aim.faster:g} × faster"] if self.aim.faster is not None else []
        aims += [f"≤ {self.aim.slower:g} × its time"] if self.aim.slower is not None else []
        aim = f"aim {aims[0]}: {'met' if self.met else 'MISSED'}" if aims else ""
        times = f"{shown(self.ours):>9}   {self.peer:<34}{shown(self.theirs):>9}"
        return f"  {self.name:<36}{times}   {ratio:<17}{aim}".rstrip()


def shown(duration: float) -> str:
    """A duration in the unit that suits it.

    >>> shown(0.0123), shown(90)
    ('12.3 ms', '1.5 min')
    """
    for unit, size in (("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3)):
        if duration >= size:
            return f"{duration / size:.3g} {unit}"
    return f"{duration * 1e6:.3g} µs"


def spaced(number: float) -> str:
    """Thousands apart, and no more than three digits after that."""
    return f"{number:_.0f}".replace("_", " ") if number >= 100 else f"{number:.3g}"
