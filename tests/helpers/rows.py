"""Small data sets whose rows are split."""

import numpy as np

from scorespace.experiments.data import Dataset


def made(rows: int = 40, *, classes: int = 2, groups: int = 0, second: int = 0, twins: bool = False, seed: int = 0):
    source = np.random.default_rng(seed)
    grouping = {"speaker": np.arange(rows) % groups} if groups else {}
    if second:
        grouping["student"] = source.integers(0, second, rows)
    features = source.integers(0, 3, rows).astype(float) if twins else np.arange(rows) / 7
    truth = np.arange(rows) % classes if classes else source.normal(size=rows)
    task = "classes" if classes else "numbers"
    return Dataset("d", {"x": features}, truth, task, grouping, source.permutation(rows) // 2 * 1.0)
