"""Time scorespace against a bare sort of the same scores and against scikit-learn, all in one run.

Every time starts from plain arrays (int64 labels, float64 scores), so it includes building the table.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score, roc_curve

from scorespace.comparisons.bootstrap import bootstrap
from scorespace.comparisons.interval import delong
from scorespace.measures.ranking import auc
from scorespace.tables import score_table

SIZES = (100_000, 1_000_000, 10_000_000)
REPLICATES = 2000
PATIENCE = 30.0  # seconds after which a task is not run again


@dataclass(frozen=True)
class Sample:
    """Labels and scores of a fairly good model; the places of each class are known beforehand."""

    truth: NDArray[np.int64]
    score: NDArray[np.float64]
    positives: NDArray[np.intp]
    negatives: NDArray[np.intp]

    @classmethod
    def of(cls, rows: int) -> Sample:
        rng = np.random.default_rng(0)
        truth = (rng.random(rows) < 0.3).astype(np.int64)
        score = 1 / (1 + np.exp(-(rng.normal(size=rows) + truth)))
        return cls(truth, score, np.flatnonzero(truth), np.flatnonzero(truth == 0))


def bare_sort(sample: Sample) -> object:
    return np.sort(sample.score)


def our_auc(sample: Sample) -> object:
    return auc(score_table(sample.truth, sample.score))


def our_interval(sample: Sample) -> object:
    table = score_table(sample.truth, sample.score)
    return auc(table), delong(table, 0.95)


def our_sweep(sample: Sample) -> object:
    return score_table(sample.truth, sample.score).sweep


def our_bootstrap(sample: Sample) -> object:
    return bootstrap(auc, score_table(sample.truth, sample.score), replicates=REPLICATES, seed=0)


def sklearn_auc(sample: Sample) -> object:
    return roc_auc_score(sample.truth, sample.score)


def sklearn_curve(sample: Sample) -> object:
    return roc_curve(sample.truth, sample.score, drop_intermediate=False)


def sklearn_replicate(sample: Sample) -> object:
    """One turn of the loop: draw each class with replacement, then the area."""
    rng = np.random.default_rng(0)
    drawn = np.concatenate([rng.choice(places, places.size) for places in (sample.positives, sample.negatives)])
    return roc_auc_score(sample.truth[drawn], sample.score[drawn])


@dataclass(frozen=True)
class Task:
    """What is timed, what it is compared with, and by row count what we aim at."""

    name: str
    ours: Callable[[Sample], object]
    rival: str
    theirs: Callable[[Sample], object]
    times: int = 1  # so often the rival would run
    most_sorts: dict[int, float] = field(default_factory=dict)
    least_faster: dict[int, float] = field(default_factory=dict)


TASKS = (
    Task("AUC", our_auc, "roc_auc_score", sklearn_auc, most_sorts={10**7: 3}, least_faster={10**7: 12}),
    Task("AUC with DeLong interval", our_interval, "roc_auc_score", sklearn_auc),
    Task("all thresholds", our_sweep, "roc_curve", sklearn_curve),
    Task(
        f"bootstrap of AUC, {REPLICATES} replicates",
        our_bootstrap,
        "loop of roc_auc_score",
        sklearn_replicate,
        times=REPLICATES,
        least_faster={10**6: 50},
    ),
)


def seconds(function: Callable[[Sample], object], sample: Sample, runs: int = 3) -> float:
    """The best of some runs; a slow one is not repeated."""
    taken: list[float] = []
    while len(taken) < runs and sum(taken) < PATIENCE:
        start = time.perf_counter()
        function(sample)
        taken.append(time.perf_counter() - start)
    return min(taken)


def fresh(code: str) -> float:
    """The number that code prints in a new interpreter."""
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def import_seconds(statement: str) -> float:
    code = f"import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
    return statistics.median(fresh(code) for _ in range(7))


def peak_memory(rows: int) -> float:
    """Peak memory of the AUC beyond the arrays, as a multiple of their size."""
    return fresh(
        "import tracemalloc, numpy as np\n"
        "from scorespace.measures.ranking import auc\n"
        "from scorespace.tables import score_table\n"
        "rng = np.random.default_rng(0)\n"
        f"truth, score = rng.integers(0, 2, {rows}), rng.random({rows})\n"
        "tracemalloc.start()\n"
        "auc(score_table(truth, score))\n"
        "print(tracemalloc.get_traced_memory()[1] / (truth.nbytes + score.nbytes))\n"
    )


def shown(duration: float) -> str:
    for unit, size in (("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3)):
        if duration >= size:
            return f"{duration / size:.3g} {unit}"
    return f"{duration * 1e6:.3g} µs"


def spaced(number: float) -> str:
    """Thousands apart, and no more than three digits after that."""
    return f"{number:_.0f}".replace("_", " ") if number >= 100 else f"{number:.3g}"


def verdict(aim: str, met: bool) -> str:
    return f"{aim}: {'met' if met else 'MISSED'}"


def timed(rows: int) -> None:
    """Print one line per task for a sample of so many rows."""
    sample = Sample.of(rows)
    sort = seconds(bare_sort, sample)
    print(f"\n{spaced(rows)} rows   np.sort {shown(sort)}")
    print(f"  {'':<36}{'ours':>9}{'× sort':>9}   {'scikit-learn':<22}{'':>9}{'× faster':>10}")
    theirs: dict[Callable[[Sample], object], float] = {}
    for task in TASKS:
        if task.theirs not in theirs:
            theirs[task.theirs] = seconds(task.theirs, sample, runs=1 if rows >= 10**7 else 3)
        rival = theirs[task.theirs] * task.times
        ours = seconds(task.ours, sample)
        sorts, faster = ours / sort, rival / ours
        aims = []
        if rows in task.least_faster:
            aims.append(verdict(f"≥ {task.least_faster[rows]:g}× faster", faster >= task.least_faster[rows]))
        if rows in task.most_sorts:
            aims.append(verdict(f"< {task.most_sorts[rows]:g} sorts", sorts < task.most_sorts[rows]))
        left = f"  {task.name:<36}{shown(ours):>9}{spaced(sorts):>9}"
        right = f"   {task.rival:<22}{shown(rival):>9}{spaced(faster):>10}"
        print(f"{left}{right}   {', '.join(aims)}".rstrip(), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=lambda text: int(float(text)), nargs="+", default=SIZES, help="such as 1e5 1e6")
    rows = parser.parse_args().rows

    numpy_import = import_seconds("import numpy")
    print(f"import, median of 7   numpy {shown(numpy_import)}")
    for statement, most in (("import scorespace", 3.0), ("from scorespace.measures.ranking import auc", None)):
        ours = import_seconds(statement)
        aim = "" if most is None else verdict(f"≤ {most:g}× numpy", ours <= most * numpy_import)
        print(f"  {statement:<45}{shown(ours):>9}{ours / numpy_import:>7.2f} × numpy   {aim}".rstrip())

    memory = peak_memory(max(rows))
    print(f"\npeak memory of the AUC, {spaced(max(rows))} rows")
    print(f"  {memory:.2f} × the input   {verdict('< 4×', memory < 4)}", flush=True)

    for size in rows:
        timed(size)
    print(
        f"\nBest of 3; scikit-learn once at 10 million rows; nothing is repeated after {PATIENCE:g} s. "
        f"The loop is its best replicate × {REPLICATES}."
    )


if __name__ == "__main__":
    main()
