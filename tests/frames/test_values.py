"""Numbers, labels, names and gaps of a column are the same whoever holds it."""

from __future__ import annotations

import datetime
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from scorespace.errors import ColumnError
from scorespace.frames import read
from scorespace.frames.values import choose, doubles, gap, label, name, number, refuse_text, some_values, unmasked

ENGINES = [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table, dict]


def held(data: Any, *asked: nw.Expr) -> list[list[Any]]:
    source = read(data)
    return [values.tolist() for values in source.arrays(source.frame.select(*asked)).values()]


@pytest.mark.parametrize("made", ENGINES)
def test_null_and_nan_are_gaps_in_every_engine(made: Any) -> None:
    column = [0.5, None, float("nan")]
    (found,) = held(made({"s": column}), gap("s", nw.Float64()))
    assert found == [False, True, True]


@pytest.mark.parametrize("made", ENGINES)
def test_both_zeros_are_one_label(made: Any) -> None:
    source = read(made({"y": [0.0, -0.0, 1.0]}))
    groups = source.frame.select(label(source.frame, "y").alias("y")).group_by("y").agg(rows=nw.len())
    assert sorted(source.arrays(groups)["rows"].tolist()) == [1, 2]


@pytest.mark.parametrize("made", ENGINES)
def test_numbers_and_a_choice_between_them(made: Any) -> None:
    asked = (number("s").alias("s"), choose(nw.col("s") > 1, nw.lit(1), nw.lit(0)).alias("chosen"))
    assert held(made({"s": [1, 2]}), *asked) == [[1.0, 2.0], [0, 1]]


def test_times_are_named_by_their_text() -> None:
    data = pl.DataFrame({"t": [datetime.date(2024, 1, 31)]})
    assert held(data, name("t", nw.Date())) == [["2024-01-31"]]
    with pytest.raises(ColumnError, match=r"column 't' holds nested values, not names\."):
        name("t", nw.List(nw.Int64()))


def test_what_is_masked_is_missing_in_numpy() -> None:
    masked = np.ma.array([1, 2, -0.0], mask=[False, True, False])
    assert str(doubles(masked).tolist()) == "[1.0, nan, 0.0]"
    assert str(doubles(np.array([None, 3], dtype=object)).tolist()) == "[nan, 3.0]"
    assert unmasked(np.ma.array(["a", "b"], mask=[True, False])).tolist() == [None, "b"]
    assert unmasked(plain := np.array([1, 2])) is plain


def test_values_that_are_no_numbers_are_shown_before_others() -> None:
    source = read({"s": ["1", "2", "3", "4", "many"]})
    assert some_values(source, "s") == ["1", "2", "3"]
    assert some_values(source, "s", odd=True) == ["many"]
    with pytest.raises(ColumnError, match=r"column 's' holds text, not scores\.\n  seen: 'many'"):
        refuse_text(source, "s", nw.String(), "score")
