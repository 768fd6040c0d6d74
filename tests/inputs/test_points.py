"""Columns become points and labels, the same from every engine; what is no point is refused in words."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from scorespace.errors import ScoreSpaceError
from scorespace.io.points import read_points

COLUMNS = {"x1": [0.5, 1.0, 2.0], "x2": [1, 2, 3], "k": [1, 1, 2], "s": ["a", "b", "b"], "w": [1.0, 0.0, 2.0]}
ENGINES = {
    "dict": dict,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": lambda columns: duckdb.from_arrow(pa.table(columns)),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_from_every_engine(engine):
    found = read_points(ENGINES[engine](COLUMNS), labels=["k", "s"], features=["x*"], truth="s", weight="w")
    assert found.features == ("x1", "x2")
    assert_array_equal(found.point, [[0.5, 1], [2, 3]])  # weight 0 is no point
    assert found.labels["k"].tolist() == [1, 2]
    assert found.truth.tolist() == ["a", "b"]
    assert found.weight.tolist() == [1, 2]


def test_a_file(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("x1,x2,k\n0.5,1,1\n,2,1\n2,3,2\n")
    found = read_points(path, labels=["k"], features=["x1", "x2"], missing="drop")
    assert found.labels["k"].tolist() == [1, 2]
    assert found.notes[0].text == "1 of 3 rows was dropped because of missing values in 'x1' (1)."
    with pytest.raises(ScoreSpaceError) as refused:
        read_points(path, labels=["k"], features=["x*"])
    told = "column 'x1' has missing values.\n  seen: 'x1' (1) of 3 rows\n  hint: missing=\"drop\" drops 1 row"
    assert str(refused.value) == told


def test_missing_labels_are_missing():
    with pytest.raises(ScoreSpaceError, match="'k' has missing"):
        read_points({"x": [1.0, 2.0], "k": ["a", None]}, labels=["k"], features=["x"])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"labels": ["kk"], "features": ["x1"]}, "kk"),
        ({"labels": ["k"], "features": ["z*"]}, r"z\*"),
        ({"labels": ["k"], "features": []}, "no features are given"),
        ({"labels": ["k"], "features": ["k"]}, "'k' is a feature and has another role"),
        ({"labels": ["k"], "features": ["s"]}, "column 's' is not numeric"),
        (
            {"labels": ["k"], "features": ["x1"], "missing": "skip"},
            "missing='skip' is not a treatment of missing values",
        ),
    ],
)
def test_what_is_refused(asked, message):
    with pytest.raises(ScoreSpaceError, match=message):
        read_points(COLUMNS, **asked)


def test_numbers_whose_squares_are_none():
    with pytest.raises(ScoreSpaceError, match="'x' has infinite"):
        read_points({"x": [1.0, np.inf], "k": ["a", "b"]}, labels=["k"], features=["x"])


def test_weights_that_are_none():
    with pytest.raises(ScoreSpaceError, match="negative or infinite"):
        read_points({"x": [1.0, 2.0], "k": ["a", "b"], "w": [1.0, -1.0]}, labels=["k"], features=["x"], weight="w")
