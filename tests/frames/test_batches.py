"""The rows of each value of a column, whoever holds them."""

import pandas as pd
import polars as pl
import pytest

from scorespace.errors import DataError, ScoreSpaceError
from scorespace.frames import read
from scorespace.frames.batches import in_batches

ROWS = {"day": ["2026-11-02", "2026-11-10", "2026-11-02"], "n": [10, 9, 10], "s": [0.1, 0.2, 0.3]}


def scores(found):
    return {name: one.arrays(one.frame.select("s"))["s"].tolist() for name, one in found.items()}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, lambda rows: pl.DataFrame(rows).lazy()])
def test_values_in_their_order(make):
    assert scores(in_batches(read(make(ROWS)), "day")) == {"2026-11-02": [0.1, 0.3], "2026-11-10": [0.2]}
    assert list(in_batches(read(make(ROWS)), "n")) == ["9", "10"]


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, lambda rows: pl.DataFrame(rows).lazy()])
def test_each_month_of_dates(make):
    rows = {"day": ["2026-11-02", "2026-10-10", "2026-11-30"], "n": [1, 2, 3], "s": [0.1, 0.2, 0.3]}
    assert scores(in_batches(read(make(rows)), "day(every=month)")) == {"2026-10": [0.2], "2026-11": [0.1, 0.3]}


def test_numbers_in_words_are_in_their_order():
    weeks = [f"week {k}" for k in (2, 10, 9, 1)]
    assert list(in_batches(read({"week": weeks, "s": [0.1] * 4}), "week")) == ["week 1", "week 2", "week 9", "week 10"]


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_parts_of_dates(make, tmp_path):
    rows = {"at": ["2026-11-02 10:30:00", "2026-10-30 09:00:00", "2026-11-02 23:59:59"], "s": [0.1, 0.2, 0.3]}
    assert scores(in_batches(read(make(rows)), "at(every=day)")) == {"2026-10-30": [0.2], "2026-11-02": [0.1, 0.3]}
    assert list(in_batches(read(make(rows)), "at(every=month)")) == ["2026-10", "2026-11"]
    pl.DataFrame(rows).write_csv(tmp_path / "a.csv")
    found = in_batches(read(tmp_path / "a.csv"), "at(every=week)")
    assert scores(found) == {"2026-W44": [0.2], "2026-W45": [0.1, 0.3]}


def test_of_a_file(tmp_path):
    pl.DataFrame(ROWS).write_csv(tmp_path / "a.csv")
    found = in_batches(read(tmp_path / "a.csv"), "day")
    assert scores(found) == {"2026-11-02": [0.1, 0.3], "2026-11-10": [0.2]}
    assert list(in_batches(read(tmp_path / "a.csv"), "n")) == ["9", "10"]


def test_what_is_refused():
    with pytest.raises(ScoreSpaceError, match="week"):
        in_batches(read(ROWS), "week")
    with pytest.raises(DataError, match="some rows have no value in column 'day'"):
        in_batches(read(pl.DataFrame({"day": ["a", None], "s": [0.1, 0.2]})), "day")
    with pytest.raises(ScoreSpaceError, match="column 'n' holds no dates"):
        in_batches(read(ROWS), "n(every=month)")
    with pytest.raises(DataError, match="parts of numbers are no batches"):
        in_batches(read(ROWS), "n(bins=2)")
    with pytest.raises(ScoreSpaceError, match="column 's' has too many values to slice by"):
        in_batches(read({"s": [*range(10_001)]}), "s")
