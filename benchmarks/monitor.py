"""Does monitoring keep still when nothing moves, and how soon does it see what does? Simulated sequences of batches.

    python benchmarks/monitor.py [--sequences 100] [--batches 200]

A baseline of 500 cases and batches of 50, scores of two decimals (many ties), 30 % positives, AUC 0.76. The first table
counts sequences in which an alarm was raised although nothing moved: by the monitor, by the same bets against the
baseline alone, and by testing each batch against the baseline at 5 % (four tests, Holm). The second changes something
after 50 batches and counts the batches until the alarm. The tables of docs/monitor.md come from here.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np

from scorespace.comparisons.multiple_testing import holm
from scorespace.drift.monitor import ALARM, ROWS, accumulate_evidence, monitor
from scorespace.drift.permutation import Permutations, meaning_test, pooled, prevalence_test, score_test, within_tests
from scorespace.tables import ScoreTable, score_table

BASE, SIZE, REPLICATES, AFTER = 500, 50, 300, 50


def sample(
    rng: np.random.Generator, cases: int, share: float = 0.3, lift: float = 1.0, shift: float = 0.0
) -> ScoreTable:
    """Labels, and scores of two decimals."""
    label = (rng.random(cases) < share).astype(int)
    return score_table(label, np.round(1 / (1 + np.exp(-rng.normal(lift * label + shift - 0.5, 1))), 2))


CHANGES: dict[str, dict[str, float]] = {
    "all scores, logit + 0.5": {"shift": 0.5},
    "AUC 0.76 to 0.61": {"lift": 0.4},
    "30 % to 45 % positives": {"share": 0.45},
}


def naive(before: ScoreTable, batch: ScoreTable, permutations: Permutations) -> tuple[bool, float]:
    """Whether a batch differs from the baseline at 5 %, and p of its scores."""
    both = pooled(before, batch, ROWS)
    scores = score_test(both, permutations).p
    p = [scores, prevalence_test(both, permutations).p, meaning_test(both, permutations).p]
    p.append(within_tests(both, ("within",), permutations)["within"].p)
    return bool(np.nanmin(holm(p)) < 0.05), scores


def sequence(
    seed: int, batches: int, changed: Callable[[int], dict[str, float]]
) -> tuple[ScoreTable, list[ScoreTable]]:
    rng = np.random.default_rng(seed)
    return sample(rng, BASE), [sample(rng, SIZE, **changed(k)) for k in range(batches)]


def alarm(seed: int, before: ScoreTable, later: list[ScoreTable], *, labelled: bool = True) -> int | None:
    named = {f"batch {k}": {"nb": table} for k, table in enumerate(later)}
    silent = () if labelled else tuple(named)
    return monitor({"nb": before}, named, unlabelled=silent, replicates=REPLICATES, seed=seed).alarm


def still(sequences: int, batches: int) -> None:
    """How often there is any alarm where nothing moves."""
    found = {"monitor, with truths": 0, "monitor, scores alone": 0, "baseline alone": 0, "each batch at 5 %": 0}
    for seed in range(sequences):
        before, later = sequence(seed, batches, lambda k: {})
        tested = [naive(before, table, Permutations(REPLICATES, 1000 * seed + k)) for k, table in enumerate(later)]
        found["monitor, with truths"] += alarm(seed, before, later) is not None
        found["monitor, scores alone"] += alarm(seed, before, later, labelled=False) is not None
        found["baseline alone"] += bool(max(accumulate_evidence([p for _, p in tested])) >= ALARM)
        found["each batch at 5 %"] += any(wrong for wrong, _ in tested)
    for what, number in found.items():
        print(f"| {what} | {100 * number / sequences:.0f} % |", flush=True)


def moving(sequences: int) -> None:
    """How many batches pass until the alarm after a change."""
    for what, change in CHANGES.items():
        delays, early = [], 0
        for seed in range(sequences):
            before, later = sequence(10_000 + seed, AFTER + 40, lambda k, new=change: new if k >= AFTER else {})
            at = alarm(seed, before, later)
            early += at is not None and at < AFTER
            delays.append(math.inf if at is None else at - AFTER + 1)
        seen = [delay for delay in delays if delay > 0]
        quarters = np.quantile([min(delay, 99) for delay in seen], [0.5, 0.9])
        within = np.mean([delay <= 40 for delay in seen])
        print(f"| {what} | {quarters[0]:.0f} | {quarters[1]:.0f} | {100 * within:.0f} % | {early} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=100)
    parser.add_argument("--batches", type=int, default=200)
    given = parser.parse_args()
    moving(given.sequences // 2)
    still(given.sequences, given.batches)
