"""How often intervals and tests of fraud and credit hold: costs per case, budgets per period, stability and grades."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from rounds import Cell, Found, Part, markdown
from scipy.special import ndtr

from scorespace.case_costs import CaseCosts
from scorespace.comparisons.design import PairedModels
from scorespace.decisions.case_costs import decide_by_case
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.estimate import estimate
from scorespace.measures import parse
from scorespace.tables.case_costs import CostColumns
from scorespace.tables.paired import PairTable, pair_table

# --- costs per case ------------------------------------------------------------------------------------------------

COST = 5.0
MEAN, CUT = 1.8, 1.276  # of positives; a threshold that 0.7 of them reach
STATED = CaseCosts(fp=COST, fn="amount", tp=COST)
COST_CELLS = (
    (500, 0.02, 1.0),
    (500, 0.1, 1.0),
    (500, 0.3, 0.5),
    (2000, 0.02, 1.0),
    (2000, 0.02, 1.5),
    (2000, 0.1, 1.0),
    (10000, 0.01, 1.5),
)


def _cost_at(cut: float, prevalence: float, spread: float) -> float:
    """Cost per case in the population if scores from the threshold on are acted on."""
    hit, false = 1 - ndtr(cut - MEAN), 1 - ndtr(cut)
    missed = math.exp(4 + spread**2 / 2)  # mean amount
    return float(prevalence * (hit * COST + (1 - hit) * missed) + (1 - prevalence) * false * COST)


def _frauds(rng: np.random.Generator, cases: int, prevalence: float, spread: float) -> PairTable:
    """Two equally good scores, which act alike on most cases, and amounts of lognormal distribution."""
    label = (rng.random(cases) < prevalence).astype(int)
    label[:2] = 0, 1
    common = rng.normal(size=cases)
    scores = {name: MEAN * label + 0.9 * common + math.sqrt(0.19) * rng.normal(size=cases) for name in "ab"}
    return pair_table(label, scores).with_costs(CostColumns(STATED, COST, np.exp(rng.normal(4, spread, cases)), COST))


def _costs(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    cases, prevalence, spread = int(cell[0]), float(cell[1]), float(cell[2])
    options = "(fp=5, fn=amount, tp=5)"
    base = min(_cost_at(end, prevalence, spread) for end in (-math.inf, math.inf))
    truths = {"cost": _cost_at(CUT, prevalence, spread)}
    truths["savings"] = 1 - truths["cost"] / base
    found: Found = {
        name: {"samples": 0, "held": 0, "below": 0} for name in ("cost", "savings", "difference", "cross-fitted")
    }

    def count(name: str, low: float, high: float, truth: float) -> None:
        sums = found[name]
        sums["samples"] += 1
        sums["held"] += low <= truth <= high
        sums["below"] += truth > high

    for _ in range(samples):
        pairs = _frauds(rng, cases, prevalence, spread)
        for name in ("cost", "savings"):
            one = estimate(parse(f"{name}{options}@{CUT}"), pairs.tables[0])
            count(name, one.low, one.high, truths[name])
        tested = _tested(pairs, options)
        found["difference"]["samples"] += 1
        found["difference"]["held"] += tested >= 0.05
        chosen = decide_by_case({"a": pairs.tables[0]}, STATED, pairs=pairs.only("a"))
        at = float(chosen.best.threshold)
        estimated = chosen.out_of_sample
        count("cross-fitted", estimated.low, estimated.high, _cost_at(at, prevalence, spread))
    return found


def _tested(pairs: PairTable, options: str) -> float:
    """p of two models of equal cost."""
    from scorespace.comparisons.case_costs import case_costs

    draws = BootstrapDraws(dict(zip(pairs.models, pairs.tables, strict=True)), pairs)
    spec = parse(f"cost{options}@{CUT}")
    design: Any = PairedModels(spec=spec, cases=pairs, draws=draws, models=("a", "b"))
    return float(case_costs(design).p)


def _cost_rows(found: Mapping[Cell, Found]) -> str:
    heads = ("cases / prevalence / σ", "frauds missed", "cost@t", "savings@t", "cross-fitted cost", "p < 0.05, two models")
    rows = []
    for cell, sums in found.items():
        shares = {name: one["held"] / one["samples"] for name, one in sums.items()}
        missed = float(cell[0]) * float(cell[1]) * 0.3
        held = (shares["cost"], shares["savings"], shares["cross-fitted"])
        cells = (f"{value:.2f}" for value in held)
        rows.append((" / ".join(f"{v:g}" for v in cell), f"{missed:.0f}", *cells, f"{1 - shares['difference']:.3f}"))  # type: ignore[str-format]
    return markdown(heads, rows)


costs_per_case = Part(COST_CELLS, _costs, _cost_rows, times=4)
"""Costs that differ from case to case: a lognormal amount lost with each missed fraud."""
