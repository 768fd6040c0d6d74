"""How often intervals of scores of distributions hold, and tests of prediction intervals reject a true level."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache

import numpy as np
from populations import Array
from rounds import Cell, Found, Part, markdown
from scipy.special import ndtri

from scorespace.comparisons.calibration import run_coverage_tests
from scorespace.comparisons.coverage import IntervalsOfModel
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.estimate import estimates
from scorespace.measures import parse
from scorespace.tables import ResidualTable, residual_table

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
HISTORY = np.random.default_rng(3).normal(10, 2, 200)
SCORED: tuple[Cell, ...] = tuple(
    (kind, errors, cases)
    for kind in ("quantiles", "ensemble")
    for errors in ("normal", "skewed")
    for cases in (50, 200)
)
NAMES = ("crps", "wis", "quantile_coverage(q=0.25)", "wape", "mase", "rmsse")
_MANY = 400_000
_MEMBERS = 20


def _sample(kind: str, errors: str, cases: int, rng: np.random.Generator) -> ResidualTable:
    """Distributions of errors of spread 2 that are 20 % too narrow and 0.3 too high, around a mean that varies."""
    mean = rng.normal(10, 3, cases)
    noise = rng.normal(0, 2, cases) if errors == "normal" else 2 * (rng.gamma(1.0, 1.0, cases) - 1)
    if kind == "quantiles":
        columns = mean + 0.3 + 1.6 * np.asarray(ndtri(LEVELS))[:, None]
        return residual_table(mean + noise, columns[2], quantiles=(list(columns), LEVELS), history=HISTORY)
    members = mean + 0.3 + 1.6 * rng.normal(size=(_MEMBERS, cases))
    return residual_table(mean + noise, members.mean(axis=0), quantiles=(list(members), None), history=HISTORY)


@cache
def _truths(kind: str, errors: str) -> dict[str, float]:
    many = _sample(kind, errors, _MANY, np.random.default_rng(98))
    return {name: parse(name).measure(many, **parse(name).arguments) for name in NAMES}


def _scored(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    kind, errors, cases = str(cell[0]), str(cell[1]), int(cell[2])
    found: Found = {name: {"samples": 0, "held": 0} for name in NAMES}
    for seed in range(samples):
        table = _sample(kind, errors, cases, rng)
        draws = BootstrapDraws({"": table}, replicates=replicates, seed=seed)
        for one in estimates({"": [parse(name) for name in NAMES]}, draws):
            sums, truth = found[str(one.spec)], _truths(kind, errors)[str(one.spec)]
            sums["samples"] += 1
            sums["held"] += one.low <= truth <= one.high
    return found


def _scored_rows(found: Mapping[Cell, Found]) -> str:
    rows = []
    for (kind, errors, cases), sums in found.items():
        held = [f"{sums[name]['held'] / sums[name]['samples']:.2f}" for name in NAMES]
        rows.append((f"{kind}, {errors}, {cases:g} cases", *held))
    return markdown(("", *NAMES), rows)


distributions = Part(SCORED, _scored, _scored_rows, times=4)
"""Scores of predictive distributions that are too narrow and too high."""


# --- tests of prediction intervals

INTERVALS: tuple[Cell, ...] = tuple((cases, nominal) for cases in (50, 250, 1000) for nominal in (0.2, 0.1, 0.05))
TESTS = ("binomial_coverage", "kupiec", "christoffersen", "christoffersen(joint=true)")
_RUNS = "christoffersen, misses in runs"


def _rejected(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    del replicates
    cases, nominal = int(cell[0]), float(cell[1])
    found: Found = {name: {"samples": 0, "rejected": 0} for name in (*TESTS, _RUNS)}

    def count(name: str, p: float) -> None:
        found[name]["samples"] += 1
        found[name]["rejected"] += p < 0.05

    for seed in range(samples):
        for one in run_coverage_tests(_design(rng.random(cases) < nominal, nominal, seed), TESTS):
            count(one.test, one.p)
        in_runs = _autoregressive(rng.normal(size=cases), 0.8) > -float(ndtri(nominal))
        count(_RUNS, run_coverage_tests(_design(in_runs, nominal, seed), ["christoffersen"])[0].p)
    return found


def _design(missed: Array, nominal: float, seed: int) -> IntervalsOfModel:
    """Intervals of which these true values are outside."""
    ones = np.ones(missed.size)
    table = residual_table(2.0 * missed, 0 * ones, interval=(-ones, ones, 1 - nominal))
    order = np.arange(missed.size)
    return IntervalsOfModel(spec=None, model="m", sample=table.intervals, order=order, seed=seed)


def _autoregressive(noise: Array, rho: float) -> Array:
    """AR(1) series with variance 1."""
    series = np.array(noise)
    for k in range(1, series.size):
        series[k] = rho * series[k - 1] + math.sqrt(1 - rho**2) * noise[k]
    return series


def _rejected_rows(found: Mapping[Cell, Found]) -> str:
    names = (*TESTS, _RUNS)
    rows = []
    for (cases, nominal), sums in found.items():
        shares = [f"{sums[name]['rejected'] / sums[name]['samples']:.3f}" for name in names]
        rows.append((f"{cases:g} cases, {100 * (1 - float(nominal)):g} %", *shares))
    return markdown(("", *names), rows)


interval_tests = Part(INTERVALS, _rejected, _rejected_rows, times=4)
"""Prediction intervals with their nominal level, whose misses are independent or follow each other."""
