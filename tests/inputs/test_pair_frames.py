"""The same pair table from every engine, with each case's scores kept together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import scorespace as ss
from scorespace.errors import ScoreSpaceError
from scorespace.io import pair_models, read, resolve_roles, validate
from scorespace.tables.paired import PairTable, pair_table

Data = dict[str, list[Any]]


def made(size: int = 40, seed: int = 3) -> Data:
    rng = np.random.default_rng(seed)
    bad = rng.random(size) < 0.4
    first, second = (np.round(bad + rng.normal(size=size), 1) for _ in "ab")
    return {
        "outcome": np.where(bad, "bad", "good").tolist(),
        "a": first.tolist(),
        "b": second.tolist(),
        "rule": np.where(first > 0.5, "bad", "good").tolist(),
        "branch": [f"b{k}" for k in rng.integers(0, 7, size)],
    }


def relation(data: Data) -> Any:
    connection = duckdb.connect()
    connection.register("sample", pa.table(data))
    return connection.table("sample")


ENGINES: dict[str, Callable[[Data], Any]] = {
    "dict": lambda data: data,
    "arrays": lambda data: {name: np.array(values) for name, values in data.items()},
    "pandas": pd.DataFrame,
    "pandas nullable": lambda data: pd.DataFrame(data).convert_dtypes(),
    "pandas categories": lambda data: pd.DataFrame(data).astype({"outcome": "category", "rule": "category"}),
    "pandas, other index": lambda data: pd.DataFrame(data, index=range(len(data["a"]), 0, -1)),
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": relation,
}
ROLES = {"truth": "outcome", "scores": ["a", "b"], "decisions": ["rule"], "positive": "bad", "group": "branch"}


def pairs(data: Any, missing: str = "error", **named: Any) -> PairTable | None:
    source = read(data)
    return pair_models(validate(source, resolve_roles(source, **named), missing))


def expected(data: Data, group: bool = True) -> PairTable:
    scores = {"a": data["a"], "b": data["b"], "rule": [float(label == "bad") for label in data["rule"]]}
    return pair_table(data["outcome"], scores, positive="bad", group=data["branch"] if group else None)


def alike(found: PairTable, wanted: PairTable) -> bool:
    """Whether all cases have the same class, group and scores in both."""
    scoring = found.scoring()
    scores = [scoring.scores(k).tolist() == wanted.scores(k).tolist() for k in range(len(wanted.models))]
    return (
        found.models == wanted.models
        and all(scores)
        and found.label.tolist() == wanted.label.tolist()
        and found.group.tolist() == wanted.group.tolist()
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gives_the_same_pair_table(engine):
    data = made()
    assert alike(pairs(ENGINES[engine](data), **ROLES), expected(data))


@pytest.mark.parametrize("engine", ENGINES)
def test_cases_keep_their_scores_together(engine):
    data = made()
    found = pairs(ENGINES[engine](data), **ROLES).scoring()
    rows = zip(found.label.tolist(), found.scores(0).tolist(), found.scores(1).tolist(), strict=True)
    theirs = zip([int(label == "bad") for label in data["outcome"]], data["a"], data["b"], strict=True)
    assert sorted(rows) == sorted(theirs)


@pytest.mark.parametrize("engine", ["dict", "pandas", "polars lazy", "pyarrow", "duckdb"])
def test_rows_dropped_are_dropped_for_all_models(engine):
    data = made()
    holed = {name: list(values) for name, values in data.items()}
    holed["a"][3], holed["b"][5], holed["outcome"][7] = None, None, None
    kept = [k for k in range(40) if k not in (3, 5, 7)]
    found = pairs(ENGINES[engine](holed), missing="drop", **ROLES)
    assert alike(found, expected({name: [values[k] for k in kept] for name, values in data.items()}))


@pytest.mark.parametrize("engine", ["dict", "pandas", "polars", "pyarrow", "duckdb"])
@pytest.mark.parametrize("named", [{}, {"at": 0.5}])
def test_a_shuffled_frame_gives_the_same_test(engine, named):
    data = made(200)
    order = np.random.default_rng(0).permutation(200)
    shuffled = {name: [values[k] for k in order] for name, values in data.items()}
    chosen = {"truth": "outcome", "scores": ["a", "b"], "positive": "bad"}
    first = ss.evaluate(data, **chosen).compare(**named)[0]
    second = ss.evaluate(ENGINES[engine](shuffled), **chosen).compare(**named)[0]
    assert (second.difference, second.low, second.high, second.statistic, second.p) == pytest.approx(
        (first.difference, first.low, first.high, first.statistic, first.p), rel=1e-9
    )
    assert second.table == first.table


def test_shuffling_one_model_alone_changes_the_test():
    data = made(200)
    chosen = {"truth": "outcome", "scores": ["a", "b"], "positive": "bad"}
    mixed = {**data, "b": [data["b"][k] for k in np.random.default_rng(0).permutation(200)]}
    assert ss.evaluate(mixed, **chosen).compare()[0].p != ss.evaluate(data, **chosen).compare()[0].p


@pytest.mark.parametrize(
    ("truth", "decision"),
    [
        ([1, 0, 1, 0], [1, 1, 0, 0]),
        ([True, False, True, False], [True, True, False, False]),
        ([1, -1, 1, -1], [1, 1, -1, -1]),
    ],
    ids=["0 and 1", "booleans", "-1 and 1"],
)
@pytest.mark.parametrize("engine", ["dict", "pandas", "polars", "pyarrow", "duckdb"])
def test_decisions_of_every_kind_become_ones_and_zeros(engine, truth, decision):
    found = pairs(
        ENGINES[engine]({"y": truth, "d": decision, "s": [0.1, 0.2, 0.3, 0.4]}), truth="y", scores="s", decisions="d"
    )
    assert found.models == ("s", "d")
    assert found.label.tolist() == [1, 0, 1, 0]
    assert found.scoring().scores(1).tolist() == [1, 1, 0, 0]


def test_scores_of_both_classes_count_by_the_positive_one():
    data = {"y": ["p", "q", "p"], "m_p": [0.7, 0.2, 0.6], "m_q": [0.3, 0.8, 0.4], "s": [1.0, 2.0, 3.0]}
    found = pairs(data, truth="y", scores=["m_*", "s"], positive="p")
    assert set(found.models) == {"m", "s"}
    assert found.scores(found.index("m")).tolist() == [0.7, 0.2, 0.6]


def test_weights_stay_with_their_cases():
    weight = [k % 3 + 1.0 for k in range(40)]
    found = pairs({**made(), "w": weight}, weight="w", **ROLES)
    assert found.weight.tolist() == weight
    assert float(found.tables[0].total) == sum(weight)


def test_decisions_between_several_classes_are_right_or_wrong():
    data = {"y": list("abcabc"), "d": list("abcabb"), "e": list("aacabb")}
    found = pairs(data, truth="y", decisions=["d", "e"])
    assert found.positive is None
    assert found.right(0).tolist() == [True] * 5 + [False]
    assert found.right(1).tolist() == [True, False, True, True, True, False]


def test_a_missing_group_is_refused():
    data = made()
    data["branch"][4] = None
    with pytest.raises(ScoreSpaceError, match="branch"):
        pairs(data, **ROLES)


@pytest.mark.parametrize("engine", ENGINES)
def test_folds_and_repeats_are_numbered_in_every_engine(engine):
    data = made() | {"fold": [2, 1] * 20, "round": list("abba") * 10}
    found = pairs(ENGINES[engine](data), fold="fold", repeat="round", **ROLES)
    assert found.fold.tolist() == [1, 0] * 20
    assert found.repeat.tolist() == [0, 1, 1, 0] * 10
    assert found.only("a").repeat is found.repeat
