"""How often intervals and tests of fraud and credit hold: costs per case, budgets per period, stability and grades."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from rounds import Cell, Found, Part, markdown
from scipy.special import ndtr, ndtri

from scorespace.case_costs import CaseCosts
from scorespace.comparisons.design import PairedModels
from scorespace.comparisons.grades import binomial_p, jeffreys_p
from scorespace.decisions.case_costs import decide_by_case
from scorespace.drift.stability import index_of_counts
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.estimate import estimate
from scorespace.measures import parse
from scorespace.tables import TopCases, score_table
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
    heads = (
        "cases / prevalence / σ",
        "frauds missed",
        "cost@t",
        "savings@t",
        "cross-fitted cost",
        "p < 0.05, two models",
    )
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


# --- budgets per period --------------------------------------------------------------------------------------------

BUDGET_CELLS = ((20, 100, 5), (20, 300, 10), (60, 100, 5), (60, 300, 10))
_MANY = 20_000  # days of which the truth is taken


def _days(rng: np.random.Generator, days: int, cases: int) -> PairTable:
    """Days whose share of frauds varies (gamma, shape 2, mean 0.05), scored by two equally good models."""
    share = np.clip(rng.gamma(2, 0.025, days), 0, 0.5)
    label = (rng.random((days, cases)) < share[:, None]).astype(int).ravel()
    label[:2] = 0, 1
    common = rng.normal(size=label.size)
    scores = {name: MEAN * label + 0.9 * common + math.sqrt(0.19) * rng.normal(size=label.size) for name in "ab"}
    pairs = pair_table(label, scores)
    period = np.repeat(np.arange(days, dtype=np.int32), cases)
    return pairs.with_periods(period, tuple(map(str, range(days))))


def _budgets(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    from scorespace.comparisons.periods import periods

    days, cases, alerts = (int(one) for one in cell)
    at = TopCases(alerts, per="day")
    names = ("ppv", "tpr")
    specs = {name: replace(parse(name), at=at) for name in names}
    many = _days(np.random.default_rng(days * cases), _MANY * 100 // cases, cases)
    truths = {name: estimate(specs[name], many.tables[0]).value for name in names}
    found: Found = {name: {"samples": 0, "held": 0} for name in (*names, "difference")}
    for _ in range(samples):
        pairs = _days(rng, days, cases)
        for name in names:
            one = estimate(specs[name], pairs.tables[0])
            found[name]["samples"] += 1
            found[name]["held"] += one.low <= truths[name] <= one.high
        draws = BootstrapDraws(dict(zip(pairs.models, pairs.tables, strict=True)), pairs)
        design: Any = PairedModels(spec=specs["ppv"], cases=pairs, draws=draws, models=("a", "b"))
        found["difference"]["samples"] += 1
        found["difference"]["held"] += periods(design).p >= 0.05
    return found


def _budget_rows(found: Mapping[Cell, Found]) -> str:
    rows = []
    for cell, sums in found.items():
        shares = {name: one["held"] / one["samples"] for name, one in sums.items()}
        text = " / ".join(f"{value:g}" for value in cell)  # type: ignore[str-format]
        rows.append((text, f"{shares['ppv']:.2f}", f"{shares['tpr']:.2f}", f"{1 - shares['difference']:.3f}"))
    return markdown(("days / cases / alerts of a day", "ppv", "tpr", "p < 0.05, two models"), rows)


budgets = Part(BUDGET_CELLS, _budgets, _budget_rows, times=4)
"""Alerts limited in each day, with a share of frauds that varies by day."""


# --- stability and grades ------------------------------------------------------------------------------------------

STABILITY_CELLS = (
    *(("psi", n, m, shift) for n, m in ((200, 200), (1000, 500), (10000, 1000)) for shift in (0.0, 0.3, 0.8)),
    *(("iv", n, m, shift) for n, m in ((900, 100), (5000, 100)) for shift in (0.0, 0.5, 1.0)),
    *(("grades", 500, 5, pd) for pd in (0.002, 0.01, 0.05)),
)


def _stability(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    kind, n, m, shift = str(cell[0]), int(cell[1]), int(cell[2]), float(cell[3])
    found: Found = {"all": {"samples": 0, "held": 0, "rejected": 0, "binomial": 0}}
    if kind == "grades":
        defaults = rng.binomial(n, shift, (samples, m)).astype(float)
        cases = np.full_like(defaults, n)
        p = jeffreys_p(defaults, cases, np.full_like(defaults, shift))
        exact = binomial_p(defaults, cases, np.full_like(defaults, shift))
        rejected, by_binomial = (int((one < 0.05).sum()) for one in (p, exact))
        return {"all": {"samples": p.size, "held": 0, "rejected": rejected, "binomial": by_binomial}}
    edges = ndtri(np.arange(1, 10) / 10)
    shares = np.full(10, 0.1), np.diff(np.concatenate([[0.0], ndtr(edges - shift), [1.0]]))
    truth = float(((shares[1] - shares[0]) * np.log(shares[1] / shares[0])).sum())
    for _ in range(samples):
        sums = found["all"]
        sums["samples"] += 1
        if kind == "psi":
            one = index_of_counts(rng.multinomial(n, shares[0]), rng.multinomial(m, shares[1]))
            low, high, p = one.low, one.high, one.p
        else:
            bins = [rng.choice(10, size, p=share) for size, share in ((n, shares[0]), (m, shares[1]))]
            label = np.repeat([0, 1], (n, m))
            # Bins are known, as those of a scorecard: each is a distinct score.
            table = score_table(label, np.concatenate(bins).astype(float))
            interval = estimate(parse("iv(bins=100000)"), table)
            low, high, p = interval.low, interval.high, float(interval.low <= 0)
        sums["held"] += low <= truth <= high
        sums["rejected"] += p < 0.05
    return found


def _stability_rows(found: Mapping[Cell, Found]) -> str:
    rows = []
    for (kind, n, m, shift), sums in found.items():
        one = sums["all"]
        held, rejected = one["held"] / one["samples"], one["rejected"] / one["samples"]
        if kind == "grades":
            exact = one["binomial"] / one["samples"]
            rows.append((f"grade of {n:g} cases, PD {shift:g}", "", f"Jeffreys {rejected:.3f}, binomial {exact:.3f}"))
        else:
            rows.append((f"{kind}, {n:g} + {m:g}, shift {shift:g}", f"{held:.3f}", f"{rejected:.3f}"))
    return markdown(("", "interval holds", "p < 0.05"), rows)


stability = Part(STABILITY_CELLS, _stability, _stability_rows, times=10)
"""PSI and information value over ten bins, and tests of grades."""
