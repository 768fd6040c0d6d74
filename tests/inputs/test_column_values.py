"""Arrays of any kind as the few kinds that the engine reads faithfully."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from helpers.sources import refused, values
from scorespace.errors import ColumnError
from scorespace.io import read
from scorespace.io.column_values import (
    as_identifier,
    as_label,
    as_number,
    if_else,
    is_missing_value,
    refuse_text,
    sample_values,
    to_doubles,
    unmask,
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([1, None, 3], [1, None, 3]),
        ([1.5, None, float("nan")], [1.5, None, None]),
        ([True, None, False], [True, None, False]),
        (["a", None, float("nan")], ["a", None, None]),
        (["a", 1, 2.0], ["a", "1", "2"]),
        ([None, None], [None, None]),
        ([None] * 3000 + ["a"], [None] * 3000 + ["a"]),
        (np.array([1] * 3000 + ["a"], dtype=object), ["1"] * 3000 + ["a"]),
        (np.ma.array([1, 2, 3], mask=[False, True, False]), [1, None, 3]),
        (np.ma.array(["a", "b"], mask=[False, True]), ["a", None]),
        (np.ma.array([True, False, True, False], mask=[False, False, True, False])[::-1], [False, None, False, True]),
        (pd.Series([1, None], dtype="Int64"), [1, None]),
        (pd.Series([True, None], dtype="boolean"), [True, None]),
        (pd.Series(["a", None], dtype="string"), ["a", None]),
        (pd.Series(["a", None], dtype="category"), ["a", None]),
        (pl.Series([1, None]), [1, None]),
        (pl.Series([True, None]), [True, None]),
        (pl.Series(["a", None], dtype=pl.Categorical), ["a", None]),
        (pa.array([1, None]), [1, None]),
        (pa.chunked_array([["a"], [None]]), ["a", None]),
    ],
)
def test_arrays_with_gaps(given: Any, expected: list[Any]) -> None:
    assert values({"x": given})["x"] == expected


def test_the_arrays_may_go_away() -> None:
    def made() -> Any:
        return read({"x": np.arange(5.0)}).frame

    assert made().select(nw.col("x").sum()).to_native().fetchall() == [(10.0,)]


def test_arrays_that_make_no_columns() -> None:
    assert refused({}) == 'the dict of arrays is empty.\n  hint: {"truth": [1, 0], "score": [0.9, 0.2]}'
    assert refused({"y": [1, 0], "s": [1]}) == (
        "the arrays differ in length.\n  seen: 'y' (2), 's' (1)\n  hint: one value per case in every array"
    )
    assert refused({"y": np.zeros((2, 2))}) == (
        "array 'y' is not one-dimensional.\n  seen: ndarray of shape (2, 2)\n"
        "  hint: a one-dimensional array with one value per case"
    )
    assert refused({"y": [[1], [1, 2]]}) == (
        "array 'y' is not one-dimensional.\n"
        "  seen: nested lists\n"
        "  hint: a one-dimensional array with one value per case"
    )
    assert refused({"y": "abc"}) == (
        "array 'y' is not one-dimensional.\n  seen: str of shape ()\n"
        "  hint: a one-dimensional array with one value per case"
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.array([1, 2], dtype=">i4"), [1, 2]),
        (np.array([0.1, 0.2], dtype=np.longdouble), [0.1, 0.2]),
        (np.arange(4.0)[::-2], [3.0, 1.0]),
        ([10**30, 1], ["1" + 30 * "0", "1"]),
        ([Decimal("0.5"), 2], [0.5, 2.0]),
        (np.array(["2024-01-02"], dtype="M8[D]"), [datetime.datetime(2024, 1, 2)]),
    ],
)
def test_numbers_and_times_that_the_engine_does_not_know(given: Any, expected: list[Any]) -> None:
    assert values({"x": given})["x"] == expected


def test_text_and_names_that_are_not_unicode() -> None:
    assert refused({"y": ["a", "\ud800"]}) == (
        "array 'y' holds text that is not Unicode.\n  seen: '\\ud800'\n  hint: clean the text"
    )
    assert refused({"\ud800": [1]}, ColumnError) == (
        "the name '\\ud800' of an array is not Unicode.\n  hint: rename it"
    )


ENGINES = [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table, dict]


def held(data: Any, *asked: nw.Expr) -> list[list[Any]]:
    source = read(data)
    return [values.tolist() for values in source.arrays(source.frame.select(*asked)).values()]


@pytest.mark.parametrize("made", ENGINES)
def test_null_and_nan_are_gaps_in_every_engine(made: Any) -> None:
    column = [0.5, None, float("nan")]
    (found,) = held(made({"s": column}), is_missing_value("s", nw.Float64()))
    assert found == [False, True, True]


@pytest.mark.parametrize("made", ENGINES)
def test_both_zeros_are_one_label(made: Any) -> None:
    source = read(made({"y": [0.0, -0.0, 1.0]}))
    groups = source.frame.select(as_label(source.frame, "y").alias("y")).group_by("y").agg(rows=nw.len())
    assert sorted(source.arrays(groups)["rows"].tolist()) == [1, 2]


@pytest.mark.parametrize("made", ENGINES)
def test_numbers_and_a_choice_between_them(made: Any) -> None:
    asked = (as_number("s").alias("s"), if_else(nw.col("s") > 1, nw.lit(1), nw.lit(0)).alias("chosen"))
    assert held(made({"s": [1, 2]}), *asked) == [[1.0, 2.0], [0, 1]]


def test_times_are_named_by_their_text() -> None:
    data = pl.DataFrame({"t": [datetime.date(2024, 1, 31)]})
    assert held(data, as_identifier("t", nw.Date())) == [["2024-01-31"]]
    with pytest.raises(ColumnError, match=r"column 't' holds nested values, not names\."):
        as_identifier("t", nw.List(nw.Int64()))


def test_what_is_masked_is_missing_in_numpy() -> None:
    masked = np.ma.array([1, 2, -0.0], mask=[False, True, False])
    assert str(to_doubles(masked).tolist()) == "[1.0, nan, 0.0]"
    assert str(to_doubles(np.array([None, 3], dtype=object)).tolist()) == "[nan, 3.0]"
    assert unmask(np.ma.array(["a", "b"], mask=[True, False])).tolist() == [None, "b"]
    assert unmask(plain := np.array([1, 2])) is plain


def test_values_that_are_no_numbers_are_shown_before_others() -> None:
    source = read({"s": ["1", "2", "3", "4", "many"]})
    assert sample_values(source, "s") == ["1", "2", "3"]
    assert sample_values(source, "s", odd=True) == ["many"]
    with pytest.raises(ColumnError, match=r"column 's' holds text, not scores\.\n  seen: 'many'"):
        refuse_text(source, "s", nw.String(), "score")
