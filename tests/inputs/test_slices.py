"""Slices of rows: the same on every engine, no row in two of them and none outside."""

from datetime import date, datetime, timedelta
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from scorespace.errors import ColumnError
from scorespace.io import count_tables, read, resolve_roles, validate
from scorespace.io.out_of_core import count_slices_in_engine
from scorespace.io.slices import iterate_slices, resolve_slice_index, resolve_slices, split_sample

ROWS = 60
RNG = np.random.default_rng(1)
DATA: dict[str, list[Any]] = {
    "y": RNG.integers(0, 2, ROWS).tolist(),
    "s": RNG.random(ROWS).tolist(),
    "ward": [["A", "B", None][k] for k in RNG.integers(0, 3, ROWS)],
    "age": [float(one) if one > 25 else None for one in RNG.integers(20, 60, ROWS)],
    "smokes": [bool(one) for one in RNG.integers(0, 2, ROWS)],
    "level": RNG.integers(0, 3, ROWS).tolist(),
    "weight": (RNG.integers(1, 4, ROWS) / 2).tolist(),
    "decided": RNG.integers(0, 2, ROWS).tolist(),
}


def engines(folder: Any) -> dict[str, Any]:
    frame, arrow = pl.DataFrame(DATA), pa.table(DATA)
    connection = duckdb.connect()
    connection.register("given", arrow)
    frame.write_csv(folder / "rows.csv")
    frame.write_parquet(folder / "rows.parquet")
    return {
        "pandas": pd.DataFrame(DATA),
        "polars": frame,
        "lazy": frame.lazy(),
        "pyarrow": arrow,
        "duckdb": connection.table("given"),
        "dict": DATA,
        "csv": folder / "rows.csv",
        "parquet": folder / "rows.parquet",
    }


def counted(data: Any, by: Any) -> dict[str, tuple[int, dict[str, Any], dict[str, Any]]]:
    source = read(data)
    sample = validate(source, resolve_roles(source, truth="y", scores="s", decisions={"d": "decided"}, weight="weight"))
    parts = iterate_slices(
        split_sample(sample, resolve_slice_index(source, by if isinstance(by, str) else "*".join(by)))
    )
    return {name: (own.rows, count_tables(own), count_tables(rest)) for name, own, rest in parts}


@pytest.mark.parametrize("by", ["ward", "level", ["ward", "smokes"], "age(bins=3)"])
def test_slices_are_the_same_on_every_engine(by: Any, tmp_path: Any) -> None:
    found = {engine: counted(data, by) for engine, data in engines(tmp_path).items()}
    first = found["pandas"]
    assert sum(rows for rows, _, _ in first.values()) == ROWS
    for engine, other in found.items():
        assert other == first, engine


def test_a_slice_and_the_rest_are_the_rows_that_a_mask_takes(tmp_path: Any) -> None:
    frame = pl.DataFrame(DATA)
    for name, (rows, own, rest) in counted(DATA, "ward").items():
        mask = pl.col("ward").is_null() if name == "missing" else pl.col("ward") == name
        for chosen, tables in ((mask, own), (~mask.fill_null(False), rest)):
            source = read(frame.filter(chosen))
            named = resolve_roles(source, truth="y", scores="s", decisions={"d": "decided"}, weight="weight")
            assert count_tables(validate(source, named)) == tables
        assert rows == frame.filter(mask).height


def test_inside_the_engine_one_group_by_counts_all_slices(tmp_path: Any) -> None:
    source = read(engines(tmp_path)["parquet"])
    sample = validate(source, resolve_roles(source, truth="y", scores="s", decisions={"d": "decided"}, weight="weight"))
    found = split_sample(sample, resolve_slice_index(source, "ward"), settle=False)
    tables = count_slices_in_engine(found, bits=0)
    for name, own, _ in iterate_slices(found):
        exact = count_tables(own)
        assert tables[name]["d"] == exact["d"]
        assert tables[name]["s"].score.tolist() == exact["s"].score.tolist()
        assert tables[name]["s"].counts.tolist() == exact["s"].counts.tolist()


def test_names_of_parts() -> None:
    found = resolve_slice_index(
        read({"age": [1, 2, 3, 4, 5, 6, 7, 8], "flag": [True] * 4 + [None] * 4}), "age(bins=4)*flag"
    )
    assert found.keys[0].names == ("< 3", "3 to < 5", "5 to < 7", "≥ 7")
    assert found.keys[1].names == ("true", "missing")


def test_columns_are_parted_by_commas_and_crossed_by_stars() -> None:
    source = read({"a": [1, 2], "b": ["x", "y"], "a*b": [1, 1], "c, d": [3, 4]})
    found = {
        "a": [("a",)],
        "a,b": [("a",), ("b",)],
        "a * b": [("a", "b")],
        "a(bins=2)*b, a": [("a", "b"), ("a",)],
        "a*b": [("a*b",)],  # the name of a column comes first
        "c, d": [("c, d",)],
    }
    assert {by: [one.by for one in resolve_slices(source, by)] for by in found} == found
    assert [one.by for one in resolve_slices(source, ["a", "b"])] == [("a",), ("b",)]
    with pytest.raises(ColumnError, match="'a' occurs twice"):
        resolve_slices(source, "a,a")
    with pytest.raises(ColumnError, match="'b' occurs twice"):
        resolve_slices(source, "b*b")


MESSAGES = {
    "many": "column 'many' has too many values to slice by.\n"
    "  seen: more than 50, such as 0, 1, 2\n"
    '  hint: by="many(bins=4)", quantile bins',
    "names": "column 'names' has too many values to slice by.\n"
    "  seen: more than 50, such as a0, a1, a2\n"
    "  hint: a column with fewer values",
    "names(bins=3)": "column 'names' is not numeric, so it cannot be binned.\n"
    '  seen: values such as a0, a1, a2\n  hint: by="names"',
    "many(bins=1)": "many(bins=1) defines no slices.\n  hint: many(bins=4), with 2 to 50 bins",
    "many(bin=3)": "by has no option 'bin'.\n  seen: its options: 'bins', 'every'\n  hint: did you mean bins?",
    "nams": "column 'nams' is not in the dict of arrays.\n"
    "  seen: 'many', 'names', 'same'\n  hint: did you mean 'names'?",
    "same(bins=2)": ("column 'same' has only one value, so it cannot be binned.\n  hint: a column whose values differ"),
}


@pytest.mark.parametrize("by", MESSAGES)
def test_complaints(by: str) -> None:
    data = {"many": list(range(51)), "names": [f"a{k}" for k in range(51)], "same": [1] * 51}
    with pytest.raises(ColumnError) as caught:
        resolve_slice_index(read(data), by)
    assert str(caught.value) == MESSAGES[by]


def test_one_slice_is_no_comparison() -> None:
    source = read({"y": [1, 0], "s": [0.9, 0.2], "ward": ["A", "A"]})
    sample = validate(source, resolve_roles(source, truth="y", scores="s"))
    with pytest.raises(ColumnError, match="'ward' puts all"):
        split_sample(sample, resolve_slice_index(source, "ward"))


def dated(folder: Any) -> dict[str, Any]:
    days = [date(2025, 12, 29) + timedelta(days=9 * k) if k % 7 else None for k in range(12)]
    plain = pl.DataFrame({"day": days}, schema={"day": pl.Date})
    moments = plain.with_columns(pl.col("day").cast(pl.Datetime("ms")))
    plain.write_csv(folder / "days.csv")
    moments.write_parquet(folder / "days.parquet")
    return {
        "polars": plain,
        "lazy": moments.lazy(),
        "pyarrow": plain.to_arrow(),
        "pandas": pd.DataFrame({"day": pd.to_datetime(pd.Series(days))}),
        "text": {"day": [None if one is None else f"{one} 23:59" for one in days]},
        "csv": folder / "days.csv",
        "parquet": folder / "days.parquet",
    }


@pytest.mark.parametrize(
    ("every", "written"), [("year", "%Y"), ("month", "%Y-%m"), ("week", "%G-W%V"), ("day", "%Y-%m-%d")]
)
def test_dates_make_a_slice_for_each_month_on_every_engine(every: str, written: str, tmp_path: Any) -> None:
    engines = dated(tmp_path)
    names = (*sorted({one.strftime(written) for one in engines["polars"]["day"] if one is not None}), "missing")
    for engine, data in engines.items():
        source = read(data)
        (key,) = resolve_slice_index(source, f"day(every={every})").keys
        assert key.names == names, engine
        codes = source.arrays(source.frame.select(key.code(source.frame).alias("code")))["code"]
        assert (codes[[0, 7]] == len(names) - 1).all(), engine
        assert np.all(np.diff(codes[8:]) >= 0), engine


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_months_of_times_with_a_zone_are_those_of_utc_on_every_engine(unit: Any, tmp_path: Any) -> None:
    hours = pl.Series(
        "at", [datetime(2024, 3, 31, 23, 30), datetime(2024, 4, 30, 1, 30), datetime(2024, 4, 30, 23, 30)]
    )
    frame = hours.to_frame().select(pl.col("at").cast(pl.Datetime(unit)).dt.replace_time_zone("Europe/Zurich"))
    frame.write_parquet(tmp_path / "at.parquet")
    frame.write_ipc(tmp_path / "at.arrow")
    every = {"polars": frame, "lazy": frame.lazy(), "pyarrow": frame.to_arrow(), "pandas": frame.to_pandas()}
    every |= {"parquet": tmp_path / "at.parquet", "arrow": tmp_path / "at.arrow"}
    for engine, data in every.items():
        (key,) = resolve_slice_index(read(data), "at(every=day)").keys
        assert key.names == ("2024-03-31", "2024-04-29", "2024-04-30"), engine


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("day(bins=3)", r'by="day\(every=month\)"'),
        ("day", r'by="day\(every=month\)"'),
        ("word(every=month)", "column 'word' holds no dates to group by month"),
        ("day(every=month, bins=3)", "day\\(every=month, bins=3\\) defines no slices"),
    ],
)
def test_what_cannot_be_cut_says_what_can(by: str, words: str) -> None:
    days = [date(2026, 1, 1) + timedelta(days=k) for k in range(80)]
    source = read(pl.DataFrame({"day": days, "word": ["2026"] * 80}))
    with pytest.raises(ColumnError, match=words):
        resolve_slice_index(source, by)
