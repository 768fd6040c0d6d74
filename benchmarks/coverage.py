"""Simulate many samples of which the truth is known, and count how often intervals hold it and tests reject it.

Scores are normal: those of positives lie higher by a shift, so AUC = Φ(shift / √2). Models share half of their
noise. `python benchmarks/coverage.py` prints the table of docs/coverage.md.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from scorespace.comparisons.delong import delong_covariance, delong_pair
from scorespace.comparisons.mcnemar import METHODS, mcnemar_p
from scorespace.comparisons.paired import paired_bootstrap, permutation
from scorespace.measures import parse
from scorespace.resampling.estimate import delong, wilson
from scorespace.tables import score_table
from scorespace.tables.pair import PairTable, pair_table

SEED = 1
CASES, PREVALENCE, THRESHOLD = 200, 0.3, 0.5
LEVEL, LIKELY = 0.95, 0.05
RESAMPLES = 500

Array = NDArray[np.float64]
Simulation = Callable[[np.random.Generator, int], float]


class Row(NamedTuple):
    """A promise, how to simulate it, and how often."""

    what: str
    method: str
    promise: str
    simulate: Simulation
    repetitions: int


def samples(
    rng: np.random.Generator, repetitions: int, *shifts: float, cases: int = CASES
) -> tuple[NDArray[np.int64], Array]:
    """Labels (repetitions, cases) and scores (models, repetitions, cases)."""
    size = (repetitions, cases)
    label = (rng.random(size) < PREVALENCE).astype(np.int64)
    shared = rng.normal(size=size)
    own = [rng.normal(size=size) for _ in shifts]
    return label, np.stack([s * label + math.sqrt(0.5) * (shared + o) for s, o in zip(shifts, own, strict=True)])


def area(shift: float) -> float:
    """The AUC that belongs to a shift."""
    return float(ndtr(shift / math.sqrt(2)))


def auc_interval(rng: np.random.Generator, repetitions: int, *, cases: int = CASES, shift: float = 1.0) -> float:
    """How often DeLong's interval holds the AUC."""
    labels, (scores,) = samples(rng, repetitions, shift, cases=cases)
    bounds = np.array([delong(score_table(y, s, positive=1), LEVEL) for y, s in zip(labels, scores, strict=True)])
    return _held(bounds, area(shift))


def tpr_interval(rng: np.random.Generator, repetitions: int) -> float:
    """How often Wilson's interval holds the true positive rate at a threshold."""
    labels, (scores,) = samples(rng, repetitions, 1.0)
    hits, positives = ((scores >= THRESHOLD) & (labels == 1)).sum(axis=1), labels.sum(axis=1)
    bounds = np.array([wilson(float(h), float(p), LEVEL) for h, p in zip(hits, positives, strict=True)])
    return _held(bounds, float(ndtr(1.0 - THRESHOLD)))


def difference_interval(rng: np.random.Generator, repetitions: int) -> float:
    """How often DeLong's interval holds the difference of two AUCs."""
    labels, scores = samples(rng, repetitions, 1.2, 0.8)
    found = [_delong(pairs) for pairs in _paired(labels, scores)]
    return _held(np.array([(one.low, one.high) for one in found]), area(1.2) - area(0.8))


def delong_null(rng: np.random.Generator, repetitions: int) -> float:
    """How often DeLong's test rejects that two equal AUCs are equal."""
    found = [_delong(pairs).p for pairs in _paired(*samples(rng, repetitions, 1.0, 1.0))]
    return float(np.mean(np.array(found) < LIKELY))


def bootstrap_null(rng: np.random.Generator, repetitions: int) -> float:
    """The same of the bootstrap."""
    return _resampled(paired_bootstrap, rng, repetitions)


def permutation_null(rng: np.random.Generator, repetitions: int) -> float:
    """The same of the permutation test."""
    return _resampled(permutation, rng, repetitions)


def mcnemar_null(rng: np.random.Generator, repetitions: int) -> dict[str, float]:
    """How often each form of McNemar's test rejects that two equal accuracies are equal."""
    labels, scores = samples(rng, repetitions, 1.0, 1.0)
    a, b = (scores >= THRESHOLD) == (labels == 1)
    only_a, only_b = (a & ~b).sum(axis=1), (b & ~a).sum(axis=1)
    seen, times = np.unique(np.stack([only_a, only_b]), axis=1, return_counts=True)
    found = {}
    for method in METHODS:
        p = np.array([mcnemar_p(int(one), int(other), method)[1] for one, other in seen.T])
        found[method] = float(times @ (p < LIKELY) / repetitions)
    return found


def _paired(labels: NDArray[np.int64], scores: Array) -> list[PairTable]:
    return [pair_table(y, {"a": a, "b": b}, positive=1) for y, a, b in zip(labels, *scores, strict=True)]


def _delong(pairs: PairTable) -> object:
    return delong_pair(*delong_covariance(pairs), ("a", "b"), 0, 1, LEVEL)


def _resampled(test: Callable[..., object], rng: np.random.Generator, repetitions: int) -> float:
    spec, found = parse("auc"), []
    for seed, pairs in enumerate(_paired(*samples(rng, repetitions, 1.0, 1.0))):
        found.append(test(pairs, 0, 1, spec, replicates=RESAMPLES, seed=seed).p)
    return float(np.mean(np.array(found) < LIKELY))


def _held(bounds: Array, truth: float) -> float:
    return float(np.mean((bounds[:, 0] <= truth) & (truth <= bounds[:, 1])))


def _mcnemar(method: str) -> Simulation:
    return lambda rng, repetitions: mcnemar_null(rng, repetitions)[method]


HOLDS, REJECTS = "holds the truth 95 %", "rejects 5 %"
ROWS = (
    Row("interval of AUC", "DeLong", HOLDS, auc_interval, 10_000),
    Row("interval of AUC, 60 cases only", "DeLong", HOLDS, partial(auc_interval, cases=60), 10_000),
    Row("interval of an AUC of 0.961", "DeLong", HOLDS, partial(auc_interval, shift=2.5), 10_000),
    Row(f"interval of TPR at {THRESHOLD}", "Wilson", HOLDS, tpr_interval, 100_000),
    Row("interval of a difference of AUCs", "DeLong, paired", HOLDS, difference_interval, 10_000),
    Row("equal AUCs, DeLong", "DeLong, paired", REJECTS, delong_null, 10_000),
    Row("equal AUCs, bootstrap", f"bootstrap, {RESAMPLES} replicates", REJECTS, bootstrap_null, 5_000),
    Row("equal AUCs, permutation", f"permutation, {RESAMPLES} swaps", REJECTS, permutation_null, 5_000),
    *(
        Row(f"equal accuracies, {method}", f"McNemar, {method}", REJECTS, _mcnemar(method), 100_000)
        for method in METHODS
    ),
)


def table(rows: tuple[Row, ...] = ROWS, seed: int = SEED) -> str:
    """The Markdown table: what was promised and what was found, with the error of the simulation."""
    lines = ["| what | method | promise | found | ± | repetitions |", "|:--|:--|:--|--:|--:|--:|"]
    for row in rows:
        share = row.simulate(np.random.default_rng(seed), row.repetitions)
        error = 1.96 * math.sqrt(share * (1 - share) / row.repetitions)
        times = f"{row.repetitions:,}".replace(",", " ")
        lines.append(
            f"| {row.what} | {row.method} | {row.promise} | {100 * share:.1f} % | {100 * error:.1f} % | {times} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How often intervals hold the truth and tests reject it.")
    parser.add_argument("--seed", type=int, default=SEED)
    began = time.perf_counter()
    seed = parser.parse_args().seed
    print(table(seed=seed))
    print(f"\nseed {seed}, {CASES} cases, {100 * PREVALENCE:.0f} % positives, {time.perf_counter() - began:.0f} s")
