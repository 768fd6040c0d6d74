"""How often intervals of deviances, D² and the Gini index hold the value of the population."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
from rounds import Cell, Found, Part, markdown

from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.estimate import estimates
from scorespace.measures import parse
from scorespace.tables import ResidualTable, residual_table

CELLS: tuple[Cell, ...] = tuple((kind, cases) for kind in ("poisson", "gamma", "tweedie") for cases in (200, 1000))
_MANY = 1_000_000
_CLAIMS = 1.5  # mean number of claims per unit of exposure


def _sample(kind: str, cases: int, rng: np.random.Generator) -> ResidualTable:
    """Rates with exposure 0.2 to 1; predictions are the true rates times lognormal noise, and 10 % too high."""
    exposure = rng.uniform(0.2, 1.0, cases)
    mean = _CLAIMS * np.exp(rng.normal(0, 0.6, cases))
    predicted = 1.1 * mean * np.exp(rng.normal(0, 0.3, cases))
    if kind == "gamma":
        return residual_table(rng.gamma(2.0, mean / 2), predicted)
    claims = rng.poisson(mean * exposure)
    if kind == "poisson":
        return residual_table(claims / exposure, predicted, exposure)
    amount = np.where(claims > 0, rng.gamma(np.maximum(2.0 * claims, 1e-9), 0.5), 0.0)
    return residual_table(amount / exposure, predicted, exposure)


def _names(kind: str) -> tuple[str, ...]:
    return f"{kind}_deviance", f"d2_{kind}", "lorenz_gini", "oe"


@cache
def _truths(kind: str) -> dict[str, float]:
    many = _sample(kind, _MANY, np.random.default_rng(99))
    return {name: float(parse(name).measure(many)) for name in _names(kind)}


def _deviances(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    kind, cases = str(cell[0]), int(cell[1])
    found: Found = {name: {"samples": 0, "held": 0} for name in _names(kind)}
    for seed in range(samples):
        table = _sample(kind, cases, rng)
        draws = BootstrapDraws({"": table}, replicates=replicates, seed=seed)
        for one in estimates({"": [parse(name) for name in found]}, draws):
            sums = found[str(one.spec)]
            sums["samples"] += 1
            sums["held"] += one.low <= _truths(kind)[str(one.spec)] <= one.high
    return found


def _rows(found: Mapping[Cell, Found]) -> str:
    rows = []
    for (kind, cases), sums in found.items():
        held = [f"{one['held'] / one['samples']:.2f}" for one in sums.values()]
        rows.append((f"{kind}, {cases:g} cases", *held))
    return markdown(("", "deviance", "D²", "Gini", "O:E"), rows)


deviances = Part(CELLS, _deviances, _rows, times=4)
"""Rates and amounts whose predictions are noisy and too high."""
