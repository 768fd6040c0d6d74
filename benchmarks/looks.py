"""Numbers looked at in other ways than once: regret over a range of costs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from populations import Array
from rounds import Cell, Found, Part, markdown
from scipy.special import ndtr

from scorespace.decisions import cost_region
from scorespace.tables import score_table

RATIOS, PREVALENCE, SHIFT, STATED = (3.0, 10.0), 0.3, 1.19, -0.1
_GRID = np.linspace(-6, 6, 12001)


def _cost(threshold: float | Array, ratio: float) -> Array:
    """The true cost of a threshold of two normal classes."""
    return np.asarray((1 - PREVALENCE) * ndtr(-threshold) + PREVALENCE * ratio * ndtr(threshold - SHIFT))


_LOWEST = {ratio: float(_cost(_GRID, ratio).min()) for ratio in RATIOS}


def _regret(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    del replicates
    cases, found = int(cell[0]), {}
    for seed in range(samples):
        label = (rng.random(cases) < PREVALENCE).astype(int)
        models = {"m": score_table(label, rng.normal(size=cases) + SHIFT * label)}
        for kind, at in (("stated", STATED), ("chosen", None)):
            choice = cost_region(models, RATIOS, at=at, seed=seed).best
            true = max(float(_cost(float(choice.threshold), ratio)) / _LOWEST[ratio] - 1 for ratio in RATIOS)
            sums = found.setdefault(kind, dict.fromkeys(("samples", "true", "apparent", "value", "high", "holds"), 0.0))
            values = (1, true, choice.apparent, choice.largest.value, choice.high, choice.high >= true)
            found[kind] = dict(zip(sums, map(sum, zip(sums.values(), values, strict=True)), strict=True))
    return found


def _of_regret(found: Mapping[Cell, Found]) -> str:
    rows = [
        [f"{kind}, {cases} cases", *(f"{sums[name] / sums['samples']:.3f}" for name in list(sums)[1:])]
        for (cases,), one in found.items()
        for kind, sums in one.items()
    ]
    return markdown(["threshold", "true", "apparent", "cross-fitted", "bound", "the bound holds"], rows)


regret = Part(((300,), (1000,), (4000,)), _regret, _of_regret)
"""The largest regret over cost ratios of 3 to 10, of a stated and of a chosen threshold."""
