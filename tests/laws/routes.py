"""The routes on which a number can be requested: the same cases as columns, weights, groups, bins, files and tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

import scorespace as ss
from scorespace.errors import ScoreSpaceError
from scorespace.measures import Measure, measures
from scorespace.tables import Counts, ScoreTable

Rows = dict[str, Any]
N = int(os.environ.get("LAWS", "2"))
"""Samples for each law: few with the tests, as many as `make laws N=…` says."""

law = settings(
    max_examples=N,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),  # a smaller seed is no simpler sample
)
seeds = st.integers(0, 10**6)


def sample(seed: int, cases: int = 90) -> Rows:
    """Two scores of one truth with ties, a rarer class, weights, patients and sites; as random as the seed."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(cases) < rng.uniform(0.2, 0.6)).astype(int)
    truth[:6] = [0, 1, 0, 1, 0, 1]

    def score(effect: float) -> np.ndarray:
        raw = 1 / (1 + np.exp(-rng.normal(effect * (2 * truth - 1), 1.2)))
        return np.round(np.clip(raw, 0.01, 0.99), int(rng.integers(1, 4)))

    return {
        "y": truth,
        "a": score(rng.uniform(0.2, 1.2)),
        "b": score(rng.uniform(0.0, 1.0)),
        "w": rng.choice([0.5, 1.0, 2.0, 3.25], cases),
        "copies": np.full(cases, 2),
        "patient": np.arange(cases) // 2,
        "site": np.where(np.arange(cases) % 3 == 0, "north", "south"),
        "fold": rng.permutation(np.arange(cases) % 3),
    }


def of_two_classes() -> list[Measure]:
    """The measures of one score column and of its decisions."""
    return [one for one in measures() if {Counts, ScoreTable} & set(one.functions)]


def written(measure: Measure, at: float = 0.3) -> str:
    """A measure as a request, at a threshold where it is one of decisions."""
    return f"{measure.name}@{at}" if measure.table is Counts else measure.name


ROLES: Rows = {"truth": "y", "scores": ["a", "b"]}


def evaluated(rows: Rows, **more: Any) -> Any:
    return ss.evaluate(rows, **{**ROLES, **more})


def _file(ending: str) -> Callable[..., Any]:
    def route(rows: Rows, folder: Path, **more: Any) -> Any:
        import polars as pl

        path = folder / f"rows.{ending}"
        frame = pl.DataFrame(rows)
        frame.write_csv(path) if ending == "csv" else frame.write_parquet(path)
        return ss.evaluate(str(path), **{**ROLES, **more})

    return route


RARE = ss.Condition(fp=1, fn=3, prevalence=0.1)
ROUTES: dict[str, Callable[..., Any]] = {
    "plain": lambda rows, folder, **more: evaluated(rows, **more),
    "csv": _file("csv"),
    "parquet": _file("parquet"),
    "where": lambda rows, folder, **more: evaluated(rows, where="a >= 0", **more),
    "bins": lambda rows, folder, **more: evaluated(rows, memory="1 B", **more),
    "weights": lambda rows, folder, **more: evaluated(rows, weight="w", **more),
    "copies": lambda rows, folder, **more: evaluated(rows, weight="copies", weights="copies", **more),
    "group": lambda rows, folder, **more: evaluated(rows, group="patient", **more),
    "fold": lambda rows, folder, **more: evaluated(rows, fold="fold", **more),
    "by": lambda rows, folder, **more: evaluated(rows, by="site", **more),
    "costs": lambda rows, folder, **more: evaluated(rows, condition=ss.Condition(fp=1, fn=3), **more),
    "prevalence": lambda rows, folder, **more: evaluated(
        rows, condition=ss.Condition(fp=1, fn=3, prevalence=0.1), **more
    ),
    "tables": lambda rows, folder, **more: ss.evaluate(
        {name: ss.score_table(rows["y"], rows[name], positive=1) for name in "ab"}, **more
    ),
}


def allowed(call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What a call gives, or None where it is refused with its reason."""
    try:
        return call(*arguments, **options)
    except ScoreSpaceError:
        return None


def known(found: Any) -> Iterator[Any]:
    """The estimates that have a value and an interval of some width."""
    return (one for one in found if np.isfinite(one.value) and np.isfinite([one.low, one.high]).all())
