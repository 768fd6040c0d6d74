"""Runs of learners beside the bare fits and predictions of the same estimators."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import numpy as np
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits
from timing import Aim, Line, in_turns

from scorespace.experiments.data import Dataset
from scorespace.experiments.learners import resolve_learners
from scorespace.experiments.run import benchmark
from scorespace.experiments.splits import repeat_seed

FEATURES = 20
FOLDS = 10
REPEATS = 10
MOST_ROWS = 1000
LEARNERS = ("majority", "naive_bayes", "knn", "logistic", "pet", "tree", "boosting", "forest")
LASTING = 1.0  # seconds of fits beside which what a run costs by itself, such as starting DuckDB, is small


def table(rows: int) -> Dataset:
    """Numbers of two classes that overlap."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, rows)
    matrix = rng.normal(size=(rows, FEATURES)) + 0.3 * truth[:, None]
    return Dataset("made", {f"x{k}": column for k, column in enumerate(matrix.T)}, truth, "classes")


def bare(name: str, data: Dataset) -> None:
    """The loop that one would write by hand, which keeps nothing."""
    (learner,) = resolve_learners(name)
    x, y = data.matrix, data.codes
    with threadpool_limits(1):  # as a run does, whose processes are as many as the cores
        for repeat in range(REPEATS):
            folds = StratifiedKFold(FOLDS, shuffle=True, random_state=repeat_seed(0, repeat))
            for train, test in folds.split(x, y):
                learner.estimator(data, 0).fit(x[train], y[train]).predict_proba(x[test])


def kept(name: str, data: Dataset, folder: str) -> None:
    """The same as a run: every split checked, every prediction on disk."""
    benchmark(name, data, f"{REPEATS}x{FOLDS}", Path(mkdtemp(dir=folder)) / "run", workers=1)


def overhead(rows: int) -> None:
    """What a run of 10 × 10 folds costs beyond its fits and predictions, on one core.

    A run has a cost of its own, which no number of fits changes: beside fits of milliseconds it is what one sees.
    """
    data = table(min(rows, MOST_ROWS))
    times = np.zeros(2)
    with TemporaryDirectory() as folder:
        for name in LEARNERS:
            pair = in_turns(lambda name=name: kept(name, data, folder), lambda name=name: bare(name, data))
            aim = Aim(slower=1.15) if pair[1] >= LASTING else Aim()
            print(Line(f"{name}, {REPEATS} × {FOLDS} folds", pair[0], "fits and predictions alone", pair[1], aim))
            times += pair
    print(Line("all of them", times[0], "fits and predictions alone", times[1], Aim(slower=1.15)))
