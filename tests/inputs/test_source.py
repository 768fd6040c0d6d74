"""Frames of any library, the columns they bring."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from typing import Any

import duckdb
import narwhals as nw
import narwhals.stable.v1 as nw_v1
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import compute

import scorespace as ss
from helpers.sources import CREDIT, refused, values, write
from scorespace.errors import ColumnError, ScoreSpaceError
from scorespace.io import read
from scorespace.io.duckdb_engine import connect
from scorespace.io.source import relation_source

pytestmark = pytest.mark.usefixtures("own_folder")


def test_frames_of_narwhals_itself() -> None:
    for frame in (nw.from_native(pl.DataFrame(CREDIT)), nw_v1.from_native(pl.LazyFrame(CREDIT))):
        assert values(frame) == CREDIT


def test_names_that_are_not_text() -> None:
    assert values(pd.DataFrame({0: [1], 1: [2]})) == {"0": [1], "1": [2]}
    assert values(nw.from_native(pd.DataFrame({0: [1]}))) == {"0": [1]}
    assert values({0: [1], 1: [2]}) == {"0": [1], "1": [2]}


def test_frames_do_not_load_duckdb() -> None:
    script = """
import sys
import polars as pl
from scorespace.io import count_tables, read, resolve_roles, validate
source = read(pl.DataFrame({"y": [0, 1], "s": [1, 2]}))
count_tables(validate(source, resolve_roles(source, truth="y", scores="s")))
print("duckdb" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{script}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"


def test_a_column_named_twice() -> None:
    def message(name: str, where: str, seen: str) -> str:
        return f"column '{name}' occurs twice in {where}.\n  seen: {seen}\n  hint: give each column a different name"

    write("twice.csv", "x,s,x\n1,.5,3\n")
    write("semicolon.csv", "x;x;y\n1;1,5;2\n")
    write("case.csv", "A,s,a\n1,.5,3\n")
    assert refused("twice.csv", ColumnError) == message("x", "twice.csv", "'x', 's', 'x'")
    assert refused("semicolon.csv", ColumnError) == message("x", "semicolon.csv", "'x', 'x', 'y'")
    assert refused("case.csv", ColumnError) == message("a", "case.csv", "'A', 's', 'a'")
    twice = [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pa.table([[1], [2]], names=["a", "a"]),
        duckdb.sql("SELECT 1 AS a, 2 AS a"),
    ]
    for frame in twice:
        assert refused(frame, ColumnError) == message("a", "the frame", "'a', 'a'")
    assert refused(pd.DataFrame([[1, 2]], columns=[1, "1"]), ColumnError) == message("1", "the frame", "'1', '1'")
    assert refused({"A": [1], "a": [2]}, ColumnError) == (
        "two arrays have the same name (names are case-insensitive).\n"
        "  seen: 'A', 'a'\n"
        "  hint: give each array its own name"
    )


@pytest.mark.parametrize(
    ("data", "seen"),
    [
        ([1, 2], "list"),
        (None, "NoneType"),
        (np.zeros((2, 2)), "numpy.ndarray"),
        (pl.Series([1]), "polars.series.series.Series"),
    ],
)
def test_something_else(data: Any, seen: str) -> None:
    assert refused(data) == (
        "the data are not a path, frame or dict of arrays.\n"
        f"  seen: {seen}\n"
        "  hint: a path, a frame of pandas, polars, pyarrow, DuckDB or Spark, or {name: array}"
    )


def test_a_column_of_long_numbers_as_text_keeps_every_digit() -> None:
    connection = connect()
    source = relation_source(connection.sql("SELECT 12345678901234567890 AS id, 0.5 AS s"), "long", connection)
    found = source.written_out(["id"])
    arrays = {name: values.tolist() for name, values in found.arrays(found.frame).items()}
    assert arrays == {"id": ["12345678901234567890"], "s": [0.5]}


@pytest.mark.parametrize(
    "data",
    [
        pa.table({"y": pa.array(["b", "a", "b"], pa.string_view()), "s": pa.array([0.5, 0.25, 0.5])}),
        pa.table({"y": compute.run_end_encode(pa.array(["b", "a", "b"])), "s": pa.array([0.5, 0.25, 0.5])}),
        pa.table({"y": ["b", "a", "b"], "s": compute.run_end_encode(pa.array([0.5, 0.25, 0.5]))}),
        pa.table({"y": ["b", "a", "b"], "s": pa.array([0.5, 0.25, 0.5], pa.float16())}),
        pd.DataFrame({"y": ["b", "a", "b"], "s": np.array([0.5, 0.25, 0.5], np.float16)}),
        {"y": ["b", "a", "b"], "s": pl.Series([2, 1, 2], dtype=pl.Int128)},
    ],
    ids=["views", "runs of labels", "runs of scores", "halves", "halves of pandas", "128 bits"],
)
def test_types_that_a_library_cannot_group_by(data) -> None:
    assert measure(data) == 1.0


def measure(data) -> float:
    return ss.evaluate(data, truth="y", scores="s", positive="b", measures="auc").measures("auc").rows()[0]["value"]


def test_what_an_engine_cannot_do_is_told() -> None:
    data = pl.DataFrame({"y": pl.Series(["b", "a"], dtype=pl.Object), "s": [0.5, 0.25]})
    with pytest.raises(ScoreSpaceError, match="ComputeError: cannot cast 'Object'"):
        measure(data)


@pytest.mark.parametrize("made", [lambda table: table, lambda table: table.to_pandas(types_mapper=pd.ArrowDtype)])
def test_decimals_become_the_nearest_double(made):
    told = [Decimal(k) / 100 for k in range(100)]
    source = read(made(pa.table({"s": pa.array(told, pa.decimal128(6, 2))})))
    assert source.arrays(source.frame.select("s"))["s"].tolist() == [k / 100 for k in range(100)]
