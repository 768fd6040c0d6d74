"""Does `drift` name the right cause? Simulated pairs of samples, and how often each verdict is given.

    python benchmarks/drift.py [--pairs 200] [--cases 2000]

Scores are those of a binormal model that is calibrated at 30 % positives, with AUC 0.69, 0.80 and 0.92. The rule of
`drift` was chosen on such samples; those of the second table, with scores from beta distributions, it had not seen.
Both tables of docs/drift.md come from here.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import beta

from scorespace.drift.drift import drift
from scorespace.tables import ScoreTable, score_table

Sample = tuple[NDArray[np.bool_], NDArray[np.float64]]
SHARE = 0.3


def model(rng: np.random.Generator, cases: int, apart: float, share: float = SHARE) -> Sample:
    """Labels, and scores whose classes lie that many standard deviations apart."""
    label = rng.random(cases) < share
    z = rng.normal(size=cases) + apart * label
    return label, expit(apart * z - apart**2 / 2 + logit(SHARE))


def relabelled(rng: np.random.Generator, sample: Sample, distorted: Callable[[NDArray[np.float64]], object]) -> Sample:
    """The same scores, with labels drawn from distorted probabilities."""
    score = sample[1]
    return rng.random(score.size) < expit(np.asarray(distorted(logit(score)))), score


def shifted(rng: np.random.Generator, cases: int, apart: float) -> Sample:
    label, score = model(rng, cases, apart)
    return label, expit(logit(score) + 0.5)


def shrunk(rng: np.random.Generator, cases: int, apart: float) -> Sample:
    label, score = model(rng, cases, apart)
    return label, 0.8 * score


def other_cases(rng: np.random.Generator, cases: int, apart: float) -> Sample:
    score = expit(logit(model(rng, cases, apart)[1]) + 0.5)
    return rng.random(cases) < score, score


SCENARIOS: dict[str, tuple[str, Callable[[np.random.Generator, int, float], Sample]]] = {
    "no change": ("nothing", model),
    "30 % to 45 % positives": ("prevalence", partial(model, share=0.45)),
    "all scores, logit + 0.5": ("scores", shifted),
    "all scores × 0.8": ("scores", shrunk),
    "labels from logit × 0.5": (
        "calibration",
        lambda rng, cases, apart: relabelled(rng, model(rng, cases, apart), lambda x: 0.5 * x),
    ),
    "labels from logit × 1.7": (
        "calibration",
        lambda rng, cases, apart: relabelled(rng, model(rng, cases, apart), lambda x: 1.7 * x),
    ),
    "labels from logit + 0.7": (
        "calibration",
        lambda rng, cases, apart: relabelled(rng, model(rng, cases, apart), lambda x: x + 0.7),
    ),
    "other cases, logit + 0.5": ("mix", other_cases),
    "labels from logit + 0.5": (
        "calibration",
        lambda rng, cases, apart: relabelled(rng, model(rng, cases, apart), lambda x: x + 0.5),
    ),
    "30 % to 36 % positives": ("prevalence", partial(model, share=0.36)),
}


ABOVE, BELOW = (3.0, 2.0), (2.0, 4.0)  # of the scores of positives and of negatives


def beta_model(rng: np.random.Generator, cases: int, share: float = SHARE) -> Sample:
    """Labels, and scores from a beta distribution for each class; they are not calibrated."""
    label = rng.random(cases) < share
    return label, np.where(label, rng.beta(*ABOVE, cases), rng.beta(*BELOW, cases))


def beta_moved(rng: np.random.Generator, cases: int, moved: Callable[[NDArray[np.float64]], object]) -> Sample:
    label, score = beta_model(rng, cases)
    return label, np.asarray(moved(score))


def beta_relabelled(rng: np.random.Generator, cases: int, distorted: Callable[[NDArray[np.float64]], object]) -> Sample:
    score = beta_model(rng, cases)[1]
    above, below = SHARE * beta.pdf(score, *ABOVE), (1 - SHARE) * beta.pdf(score, *BELOW)
    return rng.random(cases) < np.asarray(distorted(above / (above + below))), score


UNSEEN: dict[str, tuple[str, Callable[[np.random.Generator, int], Sample]]] = {
    "no change": ("nothing", beta_model),
    "30 % to 50 % positives": ("prevalence", partial(beta_model, share=0.5)),
    "30 % to 20 % positives": ("prevalence", partial(beta_model, share=0.2)),
    "all scores + 0.08": ("scores", partial(beta_moved, moved=lambda s: np.minimum(s + 0.08, 1))),
    "all scores, power 0.7": ("scores", partial(beta_moved, moved=lambda s: s**0.7)),
    "labels from p, power 0.5": ("calibration", partial(beta_relabelled, distorted=lambda p: p**0.5)),
    "labels from (p + 0.3) / 2": ("calibration", partial(beta_relabelled, distorted=lambda p: (p + SHARE) / 2)),
}


def unseen_verdict(scenario: str, cases: int, seed: int) -> str:
    """The cause that is named for one pair of samples of the second generator."""
    rng = np.random.default_rng([seed, list(UNSEEN).index(scenario)])
    before, after = beta_model(rng, cases), UNSEEN[scenario][1](rng, cases)
    return drift({"m": _table(before)}, {"m": _table(after)}, aspects=(), seed=seed).cause


def verdict(scenario: str, apart: float, cases: int, seed: int, replicates: int = 1000) -> str:
    """The cause that is named for one pair of samples."""
    rng = np.random.default_rng([seed, list(SCENARIOS).index(scenario), round(100 * apart)])
    before, after = model(rng, cases, apart), SCENARIOS[scenario][1](rng, cases, apart)
    return drift({"m": _table(before)}, {"m": _table(after)}, aspects=(), replicates=replicates, seed=seed).cause


def _table(sample: Sample) -> ScoreTable:
    return score_table(sample[0], sample[1])


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--pairs", type=int, default=200)
    reader.add_argument("--cases", type=int, default=2000)
    asked = reader.parse_args()
    print("| what changed | right answer | AUC 0.69 | AUC 0.80 | AUC 0.92 |\n|:--|:--|--:|--:|--:|")
    with ProcessPoolExecutor(2) as pool:
        for scenario, (cause, _) in SCENARIOS.items():
            shares = []
            for apart in (0.7, 1.2, 2.0):
                one = partial(verdict, scenario, apart, asked.cases)
                named = Counter(pool.map(one, range(asked.pairs), chunksize=10))
                shares.append(f"{100 * named[cause] / asked.pairs:.1f} %")
            print(f"| {scenario} | {cause} | {' | '.join(shares)} |", flush=True)
        print("\n| what changed | right answer | named |\n|:--|:--|--:|")
        for scenario, (cause, _) in UNSEEN.items():
            named = Counter(pool.map(partial(unseen_verdict, scenario, asked.cases), range(asked.pairs), chunksize=10))
            print(f"| {scenario} | {cause} | {100 * named[cause] / asked.pairs:.1f} % |", flush=True)


if __name__ == "__main__":
    main()
