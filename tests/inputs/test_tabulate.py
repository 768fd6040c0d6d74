"""The same table from every engine."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.engines import ENGINES, POSITIVES, TIES, TRUTHS, Data, same, sampled
from scorespace.errors import ColumnError
from scorespace.io import count_tables, fetch_columns, read, resolve_roles, validate
from scorespace.io.out_of_core import count_in_engine
from scorespace.tables import ConfusionTable, ScoreTable, confusion, score_table


@pytest.mark.parametrize("kind", TRUTHS)
@pytest.mark.parametrize("engine", ENGINES)
def test_the_table_is_the_same_on_every_engine(engine: str, kind: str, tmp_path: Path) -> None:
    truth, positive = TRUTHS[kind], POSITIVES.get(kind)
    data: Data = {"y": truth, "s": TIES}
    sample = sampled(ENGINES[engine](data, tmp_path), truth="y", scores="s", positive=positive)
    table = count_tables(sample)["s"]
    same(table, score_table(truth, TIES, positive=positive))
    assert table.whole
    assert sample.rows == 8
    assert sum(sample.class_counts) == 8


@pytest.mark.parametrize("engine", ENGINES)
def test_missing_rows_and_weights(engine: str, tmp_path: Path) -> None:
    data: Data = {
        "y": ["bad", "good", None, "bad", "good", "bad", "good", "bad", "odd"],
        "s": [0.5, -0.0, 0.5, None, 0.0, math.nan, 0.25, 0.0, math.nan],
        "w": [2.0, 1.5, 1.0, 1.0, 3.0, 1.0, None, 0.5, 0.0],
    }
    named = {"truth": "y", "scores": "s", "weight": "w", "positive": "bad"}
    sample = sampled(ENGINES[engine](data, tmp_path), "drop", **named)
    table = count_tables(sample)["s"]
    # The last row has weight 0: it is absent, so neither its class nor its missing score exists.
    same(
        table,
        score_table(["bad", "good", "good", "bad"], [0.5, 0.0, 0.0, 0.0], positive="bad", weight=[2, 1.5, 3, 0.5]),
    )
    assert (sample.rows, sample.dropped, sample.classes, sample.class_counts) == (4, 4, ("bad", "good"), (2, 2))
    weightless, dropped = sample.notes
    assert weightless.text == "1 of 9 rows has weight 0 and is excluded."
    assert dropped.to_dict() == {
        "code": "SS009",
        "level": "warning",
        "text": "4 of 8 rows were dropped because of missing values in 'y' (1), 's' (2), 'w' (1).",
    }


@settings(deadline=None, max_examples=10, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from([0, 1]),
            st.sampled_from([-1.0, -0.0, 0.0, 0.1, 0.30000000000000004, 0.3, 5e-324, 1e140]) | st.floats(-1e6, 1e6),
            st.integers(0, 4),
        ),
        min_size=4,
        max_size=30,
    ).filter(lambda rows: {y for y, _, w in rows if w} == {0, 1}),
    weighted=st.booleans(),
)
@pytest.mark.parametrize("engine", ENGINES)
def test_any_scores_and_weights(
    engine: str, rows: list[tuple[int, float, int]], weighted: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    truth, score, weight = (list(column) for column in zip(*rows, strict=True))
    data: Data = {"y": truth, "s": score, "w": weight}
    made = ENGINES[engine](data, tmp_path_factory.mktemp("any"))
    sample = sampled(made, truth="y", scores="s", weight="w" if weighted else None)
    expected = score_table(truth, score, weight=weight if weighted else None)
    same(count_tables(sample)["s"], expected)
    same(cast(ScoreTable, count_in_engine(sample.source, sample.roles, bits=0)[1]["s"]), expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_decisions_become_confusion_tables(engine: str, tmp_path: Path) -> None:
    data: Data = {
        "y": ["a", "b", "a", "b", "a"],
        "d": ["a", "b", "b", "b", "a"],
        "e": ["a", "c", "b", "b", "a"],
        "w": [1.0, 2.0, 0.5, 0.0, 1.0],
    }
    made = ENGINES[engine](data, tmp_path)
    source = read(made)
    tables = count_tables(validate(source, resolve_roles(source, truth="y", decisions=["d", "e"])))
    assert list(tables) == ["d", "e"]
    assert tables["d"] == confusion(data["y"], data["d"])
    assert tables["e"].classes == ("a", "b", "c")
    assert isinstance(tables["e"], ConfusionTable)
    assert tables["e"].matrix.tolist() == [[2, 1, 0], [0, 1, 1], [0, 0, 0]]
    assert tables["e"].positive is None
    weighted = count_tables(
        validate(source, resolve_roles(source, truth="y", decisions="e", weight="w", positive="b"))
    )["e"]
    assert isinstance(weighted, ConfusionTable)
    assert weighted.matrix.tolist() == [[2, 0.5, 0], [0, 0, 2], [0, 0, 0]]
    assert weighted.positive == 1


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("truth", "score", "weight", "decision"),
    [("weight", "truth", "value", "label"), ("value", "weight", "truth", "rows"), ("label", "rows", "complete", "n")],
)
def test_columns_named_as_we_name_ours(
    engine: str, truth: str, score: str, weight: str, decision: str, tmp_path: Path
) -> None:
    data: Data = {truth: [0, 1, 1, 0], score: [0.5, 0.5, 0.75, 0.25], weight: [1, 2, 3, 4], decision: [0, 1, 0, 0]}
    sample = sampled(ENGINES[engine](data, tmp_path), truth=truth, scores=score, weight=weight, decisions=decision)
    for tables in (count_tables(sample), count_in_engine(sample.source, sample.roles, bits=0)[1]):
        same(tables[score], score_table(data[truth], data[score], weight=data[weight]))
        assert tables[decision] == confusion(data[truth], data[decision], weight=data[weight])


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_are_aligned_and_checked(engine: str, tmp_path: Path) -> None:
    data: Data = {
        "y": ["bad", "good", "bad", "good"],
        "s": [0.5, None, 0.25, 0.75],
        "u": [1.0, 2.0, None, 4.0],
        "g": ["x", "x", "z", None],
    }
    sample = sampled(ENGINES[engine](data, tmp_path), "drop", truth="y", scores="s", positive="bad")
    found = fetch_columns(sample, ["u", "s", "y", "g"])
    assert list(found) == ["u", "s", "y", "g"]
    assert found["y"].tolist() == [0, 0, 1]
    assert found["s"].tolist() == [0.5, 0.25, 0.75]
    assert found["s"].dtype == np.float64
    np.testing.assert_array_equal(found["u"].astype(float), [1.0, math.nan, 4.0])
    assert found["g"].tolist()[:2] == ["x", "z"]


def test_an_unknown_column() -> None:
    with pytest.raises(ColumnError) as caught:
        fetch_columns(sampled({"y": [0, 1], "s": [0.1, 0.2]}, truth="y", scores="s"), ["z"])
    assert (
        str(caught.value) == "column 'z' is not in the dict of arrays.\n  seen: 'y', 's'\n  hint: one of these columns"
    )


def test_scores_come_before_decisions() -> None:
    data = {"y": [0, 1, 1], "d": [0, 1, 0], "s": [0.1, 0.2, 0.3], "t": [1, 1, 0]}
    tables = count_tables(sampled(data, truth="y", scores={"b": "s", "a": "t"}, decisions={"tree": "d"}))
    assert [(model, type(table).__name__) for model, table in tables.items()] == [
        ("b", "ScoreTable"),
        ("a", "ScoreTable"),
        ("tree", "ConfusionTable"),
    ]


def test_one_model_column_under_two_names() -> None:
    tables = count_tables(sampled({"y": [0, 1, 1], "s": [0.1, 0.2, 0.3]}, truth="y", scores={"a": "s", "b": "s"}))
    assert tables["a"] == tables["b"]


@pytest.mark.parametrize("label", [0, 1, -1, True, False])
def test_one_class_only(label: Any) -> None:
    sample = sampled(pl.LazyFrame({"y": [label, label], "s": [0.5, 0.25]}), truth="y", scores="s")
    table = count_tables(sample)["s"]
    same(table, score_table([label, label], [0.5, 0.25]))
    assert sample.classes == (str(label),)


def test_one_class_of_truth_and_both_of_decisions() -> None:
    table = count_tables(sampled({"y": [0, 0], "d": [0, 1]}, truth="y", decisions="d"))["d"]
    assert isinstance(table, ConfusionTable)
    assert (table.classes, table.positive, table.matrix.tolist()) == (("0", "1"), 1, [[1, 1], [0, 0]])


CATEGORIES: dict[str, Callable[[], Any]] = {
    "pandas category": lambda: pd.DataFrame({"y": pd.Categorical(["b", "a", "b"], categories=["z", "b", "a"])}),
    "pandas ordered": lambda: pd.DataFrame({"y": pd.Categorical(["b", "a", "b"], ["z", "b", "a"], ordered=True)}),
    "pandas string": lambda: pd.DataFrame({"y": pd.Series(["b", "a", "b"], dtype="string")}),
    "polars categorical": lambda: pl.DataFrame({"y": ["b", "a", "b"]}, schema={"y": pl.Categorical}),
    "polars enum": lambda: pl.LazyFrame({"y": ["b", "a", "b"]}, schema={"y": pl.Enum(["z", "b", "a"])}),
    "pyarrow dictionary": lambda: pa.table({"y": pa.array(["b", "a", "b"]).dictionary_encode()}),
    "duckdb enum": lambda: duckdb.sql("SELECT unnest(['b', 'a', 'b'])::ENUM('z', 'b', 'a') AS y, 0.5 AS s"),
    "polars series": lambda: {"y": pl.Series(["b", "a", "b"], dtype=pl.Categorical)},
    "pandas series": lambda: {"y": pd.Series(["b", "a", "b"], dtype="category")},
    "numpy bytes": lambda: {"y": np.array([b"b", b"a", b"b"])},
    "numpy text": lambda: {"y": np.array(["b", "a", "b"])},
}


@pytest.mark.parametrize("kind", CATEGORIES)
def test_categories(kind: str) -> None:
    data = CATEGORIES[kind]()
    if isinstance(data, dict):
        data["s"] = [0.5, 0.5, 0.5]
    elif isinstance(data, pa.Table):
        data = data.append_column("s", pa.array([0.5, 0.5, 0.5]))
    elif isinstance(data, (pl.DataFrame, pl.LazyFrame)):
        data = data.with_columns(s=0.5)
    elif isinstance(data, pd.DataFrame):
        data["s"] = 0.5
    sample = sampled(data, truth="y", scores="s", positive="b")
    assert (sample.classes, sample.class_counts, sample.positive) == (("a", "b"), (1, 2), 1)
    assert count_tables(sample)["s"].class_totals.tolist() == [1, 2]
    assert count_in_engine(sample.source, sample.roles, bits=0)[1]["s"].class_totals.tolist() == [1, 2]


NUMBERS: dict[str, Any] = {
    "float32": np.array([0.5, 0.1, 1.0], dtype=np.float32),
    "float16": np.array([0.5, 0.1, 1.0], dtype=np.float16),
    "long double": np.array([0.5, 0.1, 1.0], dtype=np.longdouble),
    "boolean": np.array([True, False, True]),
    "int8": np.array([1, 0, 2], dtype=np.int8),
    "uint64": np.array([1, 0, 2], dtype=np.uint64),
    "big-endian": np.array([1.5, 0, 2], dtype=">f8"),
    "backwards": np.array([1.5, 0, 2])[::-1],
    "every other": np.arange(6.0)[::2],
    "decimal": [Decimal("0.5"), Decimal("0.1"), Decimal(1)],
    "tuple": (1, 0, 2),
    "range": range(3),
    "huge": [10**18, 1, 2],
    "masked": np.ma.array([1.5, 0, 2], mask=[False, False, False]),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_kinds_of_numbers(kind: str) -> None:
    values = NUMBERS[kind]
    expected = score_table([1, 0, 1], [float(value) for value in values])
    same(count_tables(sampled({"y": [1, 0, 1], "s": values}, truth="y", scores="s"))["s"], expected)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "duckdb"])
def test_decimals_in_frames(kind: str) -> None:
    data: Data = {"y": [Decimal(1), Decimal(0)], "s": [Decimal("0.5"), Decimal("0.25")], "w": [Decimal(2), Decimal(3)]}
    sample = sampled(ENGINES[kind](data, Path()), truth="y", scores="s", weight="w")
    assert sample.classes == ("0", "1")
    same(count_tables(sample)["s"], score_table([1, 0], [0.5, 0.25], weight=[2, 3]))


def test_dates_as_labels() -> None:
    days = pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-01"])
    for data in (pd.DataFrame({"y": days, "s": 0.5}), pl.DataFrame({"y": list(days.date), "s": 0.5})):
        sample = sampled(data, truth="y", scores="s", positive="2024-01-01")
        assert (sample.class_counts, count_tables(sample)["s"].class_totals.tolist()) == ((2, 1), [2, 1])


def test_a_late_fraction_is_not_rounded(tmp_path: Path) -> None:
    """DuckDB judges the kind of a column by its first rows, and would round what comes later."""
    data: Data = {"y": [0, 1] * 15_000 + [1], "s": [0, 1] * 15_000 + [0.5]}
    for engine in ("csv", "json", "jsonl"):
        table = count_tables(sampled(ENGINES[engine](data, tmp_path), truth="y", scores="s"))["s"]
        same(table, score_table(data["y"], data["s"]))


def test_decisions_of_another_vocabulary() -> None:
    with pytest.raises(ColumnError) as caught:
        count_tables(sampled({"y": [0, 1, 1], "d": [True, False, True]}, truth="y", decisions="d"))
    assert str(caught.value) == (
        "column 'd' shares no label with column 'y'.\n"
        "  seen: 'False', 'True' and '0', '1'\n"
        "  hint: use the same labels in both columns"
    )


def test_decisions_that_are_no_labels() -> None:
    data = {"y": [0, 1] * 600, "d": list(range(1200))}
    with pytest.raises(ColumnError) as caught:
        count_tables(sampled(data, truth="y", decisions="d"))
    assert str(caught.value) == (
        "column 'd' looks like a number, not a class.\n"
        "  seen: more than 1 000 distinct values, such as 0, 1, 2\n"
        '  hint: scores="d" for numbers'
    )
