"""Simulate choosing a threshold by costs, and compare what is promised with what new cases cost.

For samples of which the truth is known: the apparent cost (of the cases that chose the threshold), the true cost of
the chosen threshold, the honest cost (cross-fitted), how often its interval holds the true one, and how often a
model is recommended over doing nothing. A part of `make study`, for the tables of docs/decide.md and docs/coverage.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rounds import SEED, Cell, Found, Part, Sums, markdown
from scipy import stats
from scipy.special import ndtr

from scorespace.costs import Condition
from scorespace.decisions import decide
from scorespace.tables import score_table

CONDITION = Condition(fp=1, fn=5)
PREVALENCES, SIZES = (0.5, 0.3, 0.1, 0.02), (100, 500)

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
"""What is told of in few words."""


class Outcome(NamedTuple):
    """Of many samples: mean costs, how often the interval holds, and how often a model is recommended."""

    apparent: float
    true: float
    out_of_sample: float
    error: float
    of_procedure: float
    of_threshold: float
    recommended: float
    used: int

    @property
    def bias(self) -> float:
        """By which share the honest cost misses the true one on average."""
        return self.out_of_sample / self.true - 1

    @classmethod
    def of(cls, sums: Sums) -> Outcome:
        mean = {name: total / sums["used"] for name, total in sums.items()}
        spread = np.sqrt(max(0.0, mean["square"] - (mean["honest"] - mean["true"]) ** 2) / sums["used"])
        costs = mean["apparent"], mean["true"], mean["honest"], float(spread) / mean["true"]
        return cls(*costs, mean["of_procedure"], mean["of_threshold"], mean["recommended"], int(sums["used"]))


def chosen(shape: Shape, prevalence: float, cases: int, rng: np.random.Generator, samples: int) -> Sums:
    """Choose a threshold on each of many samples; those with fewer than two cases of a class are left out.

    The cost of the procedure is the mean of what the thresholds chosen on these samples cost.
    """
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
        honest = decision.out_of_sample
        found.append((choice.cost_per_case, true, honest.value, honest.low, honest.high, decision.shown))
    apparent, true_, value, low, high, shown = np.array(found, dtype=np.float64).reshape(-1, 6).T
    mean = true_.mean()
    return {
        "used": float(value.size),
        "apparent": float(apparent.sum()),
        "true": float(true_.sum()),
        "honest": float(value.sum()),
        "square": float(((value - true_) ** 2).sum()),
        "of_procedure": float(((low <= mean) & (mean <= high)).sum()),
        "of_threshold": float(((low <= true_) & (true_ <= high)).sum()),
        "recommended": float(shown.sum()),
    }


def simulate(shape: Shape, prevalence: float, cases: int, samples: int, seed: int = SEED) -> Outcome:
    """What comes of choosing on so many samples."""
    return Outcome.of(chosen(shape, prevalence, cases, np.random.default_rng(seed), samples))


# --- tables


def _run(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    del replicates
    name, prevalence, cases = str(cell[0]), float(cell[1]), int(cell[2])
    return {"": chosen((SHAPES | OTHERS)[name], prevalence, cases, rng, samples)}


def _percent(number: float) -> str:
    return f"{100 * number:+.1f}".replace("-", "−")


def in_full(found: Mapping[Cell, Found]) -> str:
    """One row for each shape of the page, prevalence and size."""
    head = "scores | π | n | apparent | true | honest | bias | covers the procedure | … the threshold | recommended"
    rows = []
    for (name, prevalence, cases), one in found.items():
        out = Outcome.of(one[""])
        costs = [f"{cost:.3f}" for cost in (out.apparent, out.true, out.out_of_sample)]
        held = [f"{share:.2f}" for share in (out.of_procedure, out.of_threshold, out.recommended)]
        if name in SHAPES:
            bias = f"{_percent(out.bias)} ± {100 * out.error:.1f} %"
            rows.append([str(name), str(prevalence), str(cases), *costs, bias, *held])
    return markdown(head.split(" | "), rows, "--:")


def in_short(found: Mapping[Cell, Found]) -> str:
    """Every shape: by prevalence and size the bias in per cent, the coverage, and how often it is recommended."""
    rows = []
    for shape in dict.fromkeys(name for name, *_ in found):
        outs = [Outcome.of(one[""]) for (name, *_), one in found.items() if name == shape]
        cells = (f"{_percent(out.bias)} {out.of_procedure:.2f} {out.recommended:.2f}" for out in outs)
        rows.append([str(shape), *cells])
    return markdown(["scores", *(f"{p:g} / {n}" for p in PREVALENCES for n in SIZES)], rows)


honest_costs = Part(
    tuple((name, p, n) for name in SHAPES | OTHERS for p in PREVALENCES for n in SIZES), _run, in_short, times=2
)
"""What a threshold is promised to cost, what it costs, and whether noise is recommended."""
