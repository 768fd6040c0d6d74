"""Rows as a frame of the library that the caller has."""

from importlib import import_module

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from scorespace.errors import DataError
from scorespace.io import frame_library, read, to_frame

ROWS = [{"model": "nb", "value": 0.5}, {"model": "tree", "value": None}]
KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}


@pytest.mark.parametrize(("library", "kind"), KINDS.items())
def test_rows_come_back_from_the_frame(library, kind):
    frame = to_frame(ROWS, library)
    assert type(frame) is kind
    assert nw.from_native(frame)["model"].to_list() == ["nb", "tree"]
    assert nw.from_native(frame)["value"].is_null().to_list() == [False, True]
    assert nw.from_native(to_frame([], library)).shape[0] == 0
    assert frame_library(read(frame).frame) == library


def test_a_lazy_frame_and_arrays_have_a_library_or_none():
    assert frame_library(read(pl.LazyFrame({"a": [1]})).frame) == "polars"
    assert frame_library(read({"a": [1]}).frame) is None


def test_without_a_library_the_rows_stay(monkeypatch):
    monkeypatch.setattr(import_module("scorespace.io.read"), "find_spec", lambda name: None)
    with pytest.raises(DataError) as caught:
        to_frame(ROWS)
    assert str(caught.value) == (
        "no data frame library is installed.\n  hint: install pandas, polars or pyarrow, or use .rows()"
    )
