"""How often intervals of values per case hold: means, groups, repeated items, leaderboards and rankings per query."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from covered import LEVEL, Coverage, tried
from numpy.typing import NDArray
from rounds import Cell, Found, Part, markdown

from scorespace.comparisons.leaderboard import leaderboard
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.case_values import MeanSpread, agresti_min, crossed_mean
from scorespace.inference.estimate import estimates
from scorespace.measures import parse
from scorespace.tables import rank_table, value_table
from scorespace.tables.paired import PairTable

Array = NDArray[np.float64]


def _dice(rng: np.random.Generator, cases: int) -> Array:
    """Dice coefficients: a beta around 0.85, and one in ten cases missed."""
    return np.where(rng.random(cases) < 0.1, 0.0, rng.beta(12, 2, cases))


_DRAWS: Mapping[str, tuple[Callable[[np.random.Generator, int], Array], float, float, float]] = {
    "normal": (lambda rng, n: rng.normal(0, 1, n), 0.0, 0.0, -1.754983),
    "grades 1 to 5": (lambda rng, n: rng.choice(5, n, p=[0.05, 0.05, 0.1, 0.3, 0.5]) + 1.0, 4.15, math.nan, math.nan),
    "Dice, one in ten 0": (_dice, 0.9 * 12 / 14, math.nan, math.nan),
    "log-normal": (lambda rng, n: rng.lognormal(0, 1, n), math.exp(0.5), 1.0, math.nan),
    "exponential": (lambda rng, n: rng.exponential(1, n), 1.0, math.log(2), 0.051756),
}
"""How values are drawn, their mean, median and mean of the worst tenth; NaN where they are not tried."""


_NAMES = ("mean", "median", "worst")


def _means(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    draw, *truths = _DRAWS[str(cell[0])]
    known = {name: truth for name, truth in zip(_NAMES, truths, strict=True) if not math.isnan(truth)}
    tables = (value_table(draw(rng, int(cell[1]))) for _ in range(samples))
    return tried([*known], tables, [*known.values()], replicates)


def _mean_rows(found: Mapping[Cell, Found]) -> str:
    rows = []
    for (name, cases), sums in found.items():
        of = [Coverage.of(sums[one]).share if one in sums else math.nan for one in _NAMES]
        rows.append((f"{name}, {cases:g} cases", *("–" if math.isnan(one) else f"{one:.3f}" for one in of)))
    return markdown(("values", "mean", "median", "worst tenth"), rows)


values = Part(
    tuple(
        (name, cases)
        for name, sizes in {
            "normal": (15, 50, 200),
            "grades 1 to 5": (30,),
            "Dice, one in ten 0": (30, 100),
            "log-normal": (30, 100),
            "exponential": (25, 100),
        }.items()
        for cases in sizes
    ),
    _means,
    _mean_rows,
    times=10,
)
"""Means and medians of values."""


# --- groups, repeats, differences, leaderboards, queries


def _counts(held: int, samples: int) -> Found:
    return {"all": {"samples": samples, "held": held}}


def _in_groups(cell: Cell, rng: np.random.Generator, samples: int) -> Found:
    groups, held = int(cell[1]), 0
    for _ in range(samples):
        unit = np.repeat(np.arange(groups), rng.integers(1, 15, groups))
        value = math.sqrt(0.2) * rng.normal(0, 1, groups)[unit] + math.sqrt(0.8) * rng.normal(0, 1, unit.size)
        low, high = MeanSpread(value[None, :], np.ones(unit.size), unit).estimate().limits(LEVEL)
        held += low <= 0 <= high
    return _counts(held, samples)


def _repeated(cell: Cell, rng: np.random.Generator, samples: int) -> Found:
    runs, between, over, held = int(cell[1]), float(cell[2]), str(cell[3]), 0
    for _ in range(samples):
        table = rng.normal(0, 1, (100, 1)) + rng.normal(0, between, runs) + rng.normal(0, 0.5, (100, runs))
        if over == "runs":
            estimate, _ = crossed_mean(table)
        else:
            estimate = MeanSpread(table.mean(axis=1)[None, :], np.ones(100)).estimate()
        low, high = estimate.limits(LEVEL)
        held += low <= 0 <= high
    return _counts(held, samples)


def _passes(cell: Cell, rng: np.random.Generator, samples: int) -> Found:
    cases, a, b, held = int(cell[1]), float(cell[2]), float(cell[3]), 0
    for _ in range(samples):
        shared = rng.random(cases)
        first, second = ((np.where(rng.random(cases) < 0.5, shared, rng.random(cases)) < p) * 1.0 for p in (a, b))
        low, high, *_ = agresti_min(first, second, LEVEL)
        held += low <= a - b <= high
    return _counts(held, samples)


def _board(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    kind, models, cases, held = str(cell[1]), int(cell[2]), int(cell[3]), 0
    names = tuple(f"m{k}" for k in range(models))
    for k in range(samples):
        shared = rng.normal(0, 1, cases)
        drawn = [0.7 * shared + 0.7 * rng.normal(0, 1, cases) for _ in names]
        columns = (
            drawn if kind == "normal" else [np.where(one < -1.3, 0.0, 1 / (1 + np.exp(-one - 2))) for one in drawn]
        )
        tables = tuple(map(value_table, columns))
        codes, index = np.zeros(cases, dtype=np.uint8), np.tile(np.arange(cases, dtype=np.int32), (models, 1))
        pairs = PairTable(names, tables, index, codes, (), None)
        held_tables: dict[str, Any] = dict(zip(names, tables, strict=True))
        draws = BootstrapDraws(held_tables, pairs, replicates=max(1000, replicates), seed=k)
        found = estimates({name: [parse("mean")] for name in names}, draws, level=LEVEL)
        held += all(one.low <= 0 <= one.high for one in leaderboard(draws, found, parse("mean"), LEVEL).pairs)
    return _counts(held, samples)


def _queries(cell: Cell, rng: np.random.Generator, samples: int) -> Found:
    name, queries = str(cell[1]), int(cell[2])

    def drawn(number: int) -> Any:
        grades = (rng.random((number, 40)) < rng.beta(2, 12, (number, 1))) * rng.integers(1, 4, (number, 40))
        skill = rng.normal(1, 0.5, (number, 1))
        scores = skill * grades + rng.normal(0, 1.5, (number, 40))
        return rank_table(grades.ravel(), scores.ravel(), np.repeat(np.arange(number), 40))

    truth = float(np.asarray(parse(name).measure(drawn(40_000).inside(type(drawn(1)), None, parse(name).at))))
    return {"all": tried([name], (drawn(queries) for _ in range(samples)), [truth], 200)[name]}


def _others(cell: Cell, rng: np.random.Generator, samples: int, replicates: int) -> Found:
    if cell[0] == "leaderboard":
        return _board(cell, rng, samples, replicates)
    run = {"groups": _in_groups, "repeats": _repeated, "passes": _passes, "queries": _queries}[str(cell[0])]
    return run(cell, rng, samples)


_TOLD: Mapping[str, Callable[..., str]] = {
    "groups": lambda groups: f"mean of {groups} groups of 1 to 14 cases",
    "repeats": lambda runs, between, over: f"100 items, {runs} runs, sd of runs {between:g}; over {over}",
    "passes": lambda cases, a, b: f"difference of shares {a:g} and {b:g}, {cases} cases",
    "leaderboard": lambda kind, models, cases: f"all differences of {models} models, {kind}, {cases} cases",
    "queries": lambda name, queries: f"{name}, {queries} queries",
}


def _rows(found: Mapping[Cell, Found]) -> str:
    rows = [
        (_TOLD[str(kind)](*rest), f"{one['all']['held'] / one['all']['samples']:.3f}")
        for (kind, *rest), one in found.items()
    ]
    return markdown(("interval of", "held"), rows)


designs_of_values = Part(
    (
        *(("groups", groups) for groups in (8, 15, 40)),
        *(("repeats", 5, 0.3, over) for over in ("items", "runs")),
        *(("repeats", 3, 0.1, over) for over in ("items", "runs")),
        ("repeats", 3, 0.0, "runs"),
        *(("passes", n, a, b) for n, a, b in ((50, 0.9, 0.8), (50, 0.96, 0.94), (200, 0.9, 0.8))),
        *(("leaderboard", "normal", 10, n) for n in (20, 50)),
        ("leaderboard", "Dice", 10, 50),
        ("leaderboard", "normal", 30, 100),
        *(("queries", "ndcg@10", queries) for queries in (10, 25, 50, 200)),
        *(("queries", "ap[query]", queries) for queries in (10, 50)),
        *(("queries", "rr", queries) for queries in (10, 50)),
    ),
    _others,
    _rows,
    times=5,
)
"""Groups, repeated items, shares, leaderboards and queries."""
