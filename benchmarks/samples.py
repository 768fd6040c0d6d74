"""The samples that the benchmarks run on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SHARE = 0.3  # of positives


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
        truth = (rng.random(rows) < SHARE).astype(np.int64)
        score = _logistic(rng.normal(size=rows) + truth)
        return cls(truth, score, np.flatnonzero(truth), np.flatnonzero(truth == 0))


def models(rows: int, number: int) -> tuple[NDArray[np.int64], dict[str, NDArray[np.float64]]]:
    """Labels, and the scores of models that share half of their noise, each a little better than the one before."""
    rng = np.random.default_rng(0)
    truth = (rng.random(rows) < SHARE).astype(np.int64)
    shared = rng.normal(size=rows)
    noise = [(shared + rng.normal(size=rows)) * np.sqrt(0.5) for _ in range(number)]
    return truth, {f"model {k}": _logistic(noise[k] + (1 + k / 200) * truth) for k in range(number)}


def classes(rows: int, number: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Labels of so many classes, and probabilities (rows, classes) that add up to one."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, number, rows)
    truth[:number] = np.arange(number)  # each occurs
    score = rng.normal(size=(rows, number))
    score[np.arange(rows), truth] += 1
    score = np.exp(score)
    return truth, score / score.sum(axis=1, keepdims=True)


def _logistic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-x)))
