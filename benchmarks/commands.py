"""Whole commands that users wait for, beside the same commands of the commit before they were made faster."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from samples import models
from timing import Aim, Line, in_turns, seconds, shown

ROOT = Path(__file__).parents[1]
BEFORE = "73e1cd7"
RUNS = 5
WARM_UP = ("demo",)
LARGE = 10**6
IMPORTS = "import numpy, duckdb, narwhals, rich, typer"


class Command(NamedTuple):
    """What is typed, what it is called here, and how many times faster it should be than before."""

    name: str
    arguments: tuple[str, ...]
    faster: float | None = None


def commands(rows: int) -> None:
    """Time commands on samples of so many rows, ours and those before in turns."""
    with tempfile.TemporaryDirectory() as name, checkout(BEFORE) as old:
        folder = Path(name)
        write_sample(folder / "data.csv", rows)
        ours = runner(ROOT / "src", folder)
        if rows >= LARGE:
            _compare([three_models(rows)], ours, old, folder)
            return
        beside(ours, folder)
        first = seconds(partial(ours, "demo"), 1)  # also fills the cache of the script that draws
        print(f"  {'demo, for the first time':<36}{shown(first):>9}")
        _compare([*small(rows), three_models(rows)], ours, old, folder)


def small(rows: int) -> list[Command]:
    """The commands on few rows."""
    truth, one = ("evaluate", "data.csv", "--truth", "truth"), ("--score", "model 0")
    return [
        Command("demo", ("demo",), 4),
        Command("two models", (*truth, *one, "--score", "model 1"), 4 if rows == 1000 else None),
        Command("one model, report", (*truth, *one, "--report", "one.html")),
    ]


def three_models(rows: int) -> Command:
    scores = [word for k in range(3) for word in ("--score", f"model {k}")]
    asked = ("evaluate", "data.csv", "--truth", "truth", *scores, "--report", "three.html")
    return Command("three models, report", asked, 4 if rows == LARGE else None)


def beside(ours: Callable[..., object], folder: Path) -> None:
    """How long help and a single number take beside what they cannot do without."""
    auc = ("evaluate", "data.csv", "--truth", "truth", "--score", "model 0", "--measures", "auc")
    for name, arguments, needed, most in (
        ("--help", ("--help",), "import typer", 2.5),
        ("--version", ("--version",), "import typer", None),
        ("AUC with its interval", auc, IMPORTS, 2.0),
    ):
        ours(*arguments)  # once before, so that all is compiled and in memory
        _python(folder, "-c", needed)
        times = in_turns(partial(ours, *arguments), partial(_python, folder, "-c", needed), runs=3 * RUNS, pick=median)
        print(Line(name, times[0], needed.removeprefix("import "), times[1], Aim(slower=most)))


def _compare(asked: list[Command], ours: Callable[..., object], old: Path | None, folder: Path) -> None:
    runners = [ours] if old is None else [ours, runner(old / "src", folder)]
    for one in runners:  # once before: what takes long is timed in one round, which must not compile or fill caches
        one(*WARM_UP)
    for command in asked:
        times = in_turns(*(partial(one, *command.arguments) for one in runners), runs=RUNS, pick=median)
        if old is None:
            print(f"  {command.name:<36}{shown(times[0]):>9}")
        else:
            print(Line(command.name, times[0], f"the same at {BEFORE}", times[1], Aim(faster=command.faster)))


def runner(source: Path, folder: Path) -> Callable[..., object]:
    """Runs the command line of that source in a folder, with a cache there."""
    place = {"PYTHONPATH": str(source), "XDG_CACHE_HOME": str(folder / "cache"), "LOCALAPPDATA": str(folder / "cache")}
    return lambda *arguments: _python(folder, "-m", "scorespace", *arguments, **place)


def _python(folder: Path, *arguments: str, **environment: str) -> None:
    # Compiled modules are kept as they are for users, whatever the surroundings say.
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    surroundings |= {"PYTHONPYCACHEPREFIX": str(folder / "compiled"), **environment}
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=surroundings, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr.decode()}")


@contextmanager
def checkout(commit: str) -> Iterator[Path | None]:
    """The sources of a commit in a temporary folder, or None with a sentence where this history does not have it."""
    asked = ["git", "-C", str(ROOT), "archive", commit, "src"]
    archive = subprocess.run(asked, capture_output=True, check=False) if shutil.which("git") else None
    if archive is None or archive.returncode:
        print(f"  The commit {commit} is not in this history, so nothing is timed beside it.")
        yield None
        return
    with tempfile.TemporaryDirectory() as name:
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as packed:
            packed.extractall(name, filter="data")
        yield Path(name)


def write_sample(path: Path, rows: int) -> None:
    """A file with the truth and the scores of three models."""
    truth, scores = models(rows, 3)
    table, columns = np.column_stack([truth, *scores.values()]), ",".join(["truth", *scores])
    with path.open("w", encoding="utf-8") as out:
        np.savetxt(out, table, fmt=["%d", *["%.6f"] * len(scores)], delimiter=",", header=columns, comments="")
