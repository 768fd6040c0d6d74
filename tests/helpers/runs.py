"""Small runs that several tests read."""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris

import scorespace as ss

CANCER = load_breast_cancer(return_X_y=True)
IRIS_X, IRIS_Y = load_iris(return_X_y=True)
IRIS = IRIS_X, np.array(["setosa", "versicolor", "virginica"])[IRIS_Y]


@cache
def folded() -> Path:
    """Two learners on two data sets, twice in three folds, with what they say of training cases."""
    path = Path(mkdtemp(prefix="scorespace-test-")) / "folded"
    ss.benchmark(["naive_bayes", "tree"], {"cancer": CANCER, "iris": IRIS}, "2x3", path, workers=1, train=True)
    return path


@cache
def bootstrapped() -> Path:
    """A learner by heart and one that is not, on labels that mean nothing."""
    path = Path(mkdtemp(prefix="scorespace-test-")) / "bootstrapped"
    features = np.random.default_rng(0).normal(size=(60, 4))
    data = {"noise": (features, np.tile([0, 1], 30))}
    ss.benchmark(["knn(k=1)", "naive_bayes"], data, "bootstrap:20", path, workers=1)
    return path


@cache
def numbers() -> Path:
    """A number to predict."""
    path = Path(mkdtemp(prefix="scorespace-test-")) / "numbers"
    features = np.random.default_rng(1).normal(size=(80, 3))
    truth = features[:, 0] + np.random.default_rng(2).normal(size=80) / 2
    ss.benchmark(["linear", "mean"], {"line": (features, truth)}, "4", path, workers=1)
    return path


@cache
def summary(measure: str | None = None) -> ss.Benchmark:
    """What the first of them says by a measure."""
    return ss.benchmark_summary(folded(), measure=measure)
