"""Simulate choosing a threshold by costs, and compare what is promised with what new cases cost.

For samples of which the truth is known: the apparent cost (of the cases that chose the threshold), the true cost of
the chosen threshold, the honest cost (cross-fitted), how often its interval holds the true one, and how often a
model is recommended over doing nothing. `python benchmarks/honest.py` prints the table of docs/decide.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import ndtr

from scorespace.conditions import Condition
from scorespace.decisions import decide
from scorespace.tables import score_table

SEED = 1
CONDITION = Condition(fp=1, fn=5)
PREVALENCES, SIZES = (0.5, 0.3, 0.1, 0.02), (100, 500)
SAMPLES = 500

Array = NDArray[np.float64]
Reaches = Callable[[float, int], float]
"""The share of a class, 1 or 0, with scores at least as high as a threshold."""


class Shape(NamedTuple):
    """How scores are drawn from labels, and which share of each class lies above a threshold."""

    draw: Callable[[np.random.Generator, NDArray[np.int64]], Array]
    reaches: Reaches


def _binormal(shift: float) -> Shape:
    return Shape(
        lambda rng, label: rng.normal(size=label.size) + shift * label,
        lambda threshold, label: float(ndtr(shift * label - threshold)),
    )


def _ties(shift: float, levels: int = 6) -> Shape:
    """Binormal scores in whole steps between 0 and a highest one: most cases share their score."""

    def draw(rng: np.random.Generator, label: NDArray[np.int64]) -> Array:
        return np.clip(np.floor(rng.normal(size=label.size) + shift * label + 2), 0, levels - 1)

    def reaches(threshold: float, label: int) -> float:
        if threshold <= 0:
            return 1.0
        return float(ndtr(shift * label - (np.ceil(threshold) - 2))) if threshold <= levels - 1 else 0.0

    return Shape(draw, reaches)


def _skewed(scale: float) -> Shape:
    """Exponential scores, those of positives stretched: a long tail above, none below."""
    return Shape(
        lambda rng, label: rng.exponential(size=label.size) * np.where(label == 1, scale, 1.0),
        lambda threshold, label: float(np.exp(-max(threshold, 0.0) / (scale if label else 1.0))),
    )


def _of(negative: Any, positive: Any) -> Shape:
    """Scores of each class from a distribution of SciPy."""

    def draw(rng: np.random.Generator, label: NDArray[np.int64]) -> Array:
        both = [one.rvs(label.size, random_state=rng) for one in (negative, positive)]
        return np.where(label == 1, both[1], both[0])

    return Shape(draw, lambda threshold, label: float((positive if label else negative).sf(threshold)))


SHAPES = {"binormal": _binormal(1.19), "ties": _ties(1.19), "skewed": _skewed(4.0), "noise": _binormal(0.0)}
OTHERS = {
    "t": _of(stats.t(2), stats.t(2, loc=2)),
    "beta": _of(stats.beta(2, 5), stats.beta(5, 2)),
    "wide": _of(stats.norm(), stats.norm(1.5, 2)),
    "noise, t": _of(stats.t(2), stats.t(2)),
}
"""What `--others` simulates instead."""


class Outcome(NamedTuple):
    """Of many samples: mean costs, how often the interval holds, and how often a model is recommended."""

    apparent: float
    true: float
    honest: float
    error: float
    of_procedure: float
    of_threshold: float
    recommended: float
    used: int

    @property
    def bias(self) -> float:
        """By which share the honest cost misses the true one on average."""
        return self.honest / self.true - 1


def simulate(shape: Shape, prevalence: float, cases: int, samples: int, seed: int = SEED) -> Outcome:
    """Choose a threshold on each of many samples; those with fewer than two cases of a class are left out."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(samples):
        label = (rng.random(cases) < prevalence).astype(np.int64)
        score = shape.draw(rng, label)
        if not 2 <= label.sum() <= cases - 2:
            continue
        decision = decide({"model": score_table(label, score, positive=1)}, CONDITION, seed=number)
        (choice,) = decision.choices
        above = {one: 0.0 if np.isinf(choice.threshold) else shape.reaches(choice.threshold, one) for one in (0, 1)}
        true = float(CONDITION.cost(above[0], above[1], prevalence))
        honest = decision.honest
        found.append((choice.cost_per_case, true, honest.value, honest.low, honest.high, decision.shown))
    apparent, true_, value, low, high, shown = np.array(found, dtype=np.float64).T
    mean = true_.mean()
    return Outcome(
        float(apparent.mean()),
        float(mean),
        float(value.mean()),
        float((value - true_).std() / np.sqrt(value.size) / mean),
        float(((low <= mean) & (mean <= high)).mean()),
        float(((low <= true_) & (true_ <= high)).mean()),
        float(shown.mean()),
        int(value.size),
    )


def table(samples: int, shapes: Mapping[str, Shape] = SHAPES) -> str:
    """All shapes, prevalences and sizes, as a Markdown table."""
    head = "| scores | π | n | apparent | true | honest | bias | covers the procedure | … the threshold | recommended |"
    lines = [head, "|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for name, shape in shapes.items():
        for prevalence in PREVALENCES:
            for cases in SIZES:
                one = simulate(shape, prevalence, cases, samples)
                costs = " | ".join(f"{cost:.3f}" for cost in (one.apparent, one.true, one.honest))
                bias = f"{100 * one.bias:+.1f} ± {100 * one.error:.1f} %".replace("-", "−")
                held = f"{one.of_procedure:.2f} | {one.of_threshold:.2f} | {one.recommended:.2f}"
                lines.append(f"| {name} | {prevalence} | {cases} | {costs} | {bias} | {held} |")
                print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--others", action="store_true", help="other shapes than those of the page")
    given = parser.parse_args()
    table(given.samples, OTHERS if given.others else SHAPES)


if __name__ == "__main__":
    main()
