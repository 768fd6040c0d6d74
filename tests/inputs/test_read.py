"""Every way in, and every way it can fail."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from helpers.sources import CREDIT, refused, values, write
from scorespace.errors import ColumnError, DataError, ScoreSpaceError
from scorespace.io import read
from scorespace.io.read import split_batches

pytestmark = pytest.mark.usefixtures("own_folder")


def test_names() -> None:
    write("credit.csv")
    write("runs/part-1.csv")
    assert read("credit.csv").name == "credit.csv"
    assert read(Path("credit.csv").resolve().as_uri()).name == "credit.csv"
    assert read("runs/part-*.csv").name == "part-*.csv"
    assert read({"y": [1]}).name == "arrays"
    assert read(pd.DataFrame({"y": [1]})).name == "frame"
    assert read("credit.csv").columns == ("outcome", "nb")
    assert repr(read("credit.csv")) == "Source(name='credit.csv', columns=('outcome', 'nb'))"


def test_a_source_is_read_as_it_is() -> None:
    source = read(CREDIT)
    assert read(source) is source


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"outcome,nb\ngood,0.2\nbad,0.7\n")))
    assert values("-") == CREDIT
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert refused("-") == "standard input has no rows.\n  seen: nothing\n  hint: one row per case"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x,s,x\n1,2,3\n")))
    assert refused("-", ColumnError) == (
        "column 'x' occurs twice in standard input.\n  seen: 'x', 's', 'x'\n  hint: give each column a different name"
    )


def run(script: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """The script in a fresh process that finds no pandas, polars or pyarrow, and is not measured."""
    bare = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('pandas', 'polars', 'pyarrow'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        f"sys.path[:0] = {sys.path!r}\n"
    )
    # Measuring keeps objects alive until the end.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    return subprocess.run(
        [sys.executable, "-c", bare + script], input=given, capture_output=True, text=True, check=False, env=plain
    )


COUNT = """
from scorespace.io import count_tables, read, resolve_roles, validate
from scorespace.io.out_of_core import count_in_engine
for data in {data}:
    source = read(data)
    named = resolve_roles(source, truth="outcome", scores="nb", positive="bad")
    for table in (count_tables(validate(source, named))["nb"], count_in_engine(source, named, bits=0)[1]["nb"]):
        assert (table.pos.tolist(), table.neg.tolist()) == ([1, 0], [0, 1])
"""


def test_no_frame_library_is_needed() -> None:
    parquet.write_table(pa.table(CREDIT), "credit.parquet")
    write("credit.json", '[{"outcome": "good", "nb": 0.2}, {"outcome": "bad", "nb": 0.7}]')
    data = [write("credit.csv"), "credit.parquet", "credit.json", "-", CREDIT]
    done = run(COUNT.format(data=data), "outcome,nb\ngood,0.2\nbad,0.7\n")
    # Nothing on stderr: DuckDB must not end a program with pages about leaked objects.
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_arrow_files_need_pyarrow() -> None:
    feather.write_feather(pa.table(CREDIT), "credit.arrow")
    script = """
from scorespace.errors import DataError
from scorespace.io import read
try:
    read("credit.arrow")
except DataError as error:
    print(error)
"""
    expected = "credit.arrow needs the library pyarrow.\n  hint: pip install pyarrow, or use Parquet\n"
    assert run(script).stdout == expected


ROWS = {"day": ["2026-11-02", "2026-11-10", "2026-11-02"], "n": [10, 9, 10], "s": [0.1, 0.2, 0.3]}


def scores(found):
    return {name: one.arrays(one.frame.select("s"))["s"].tolist() for name, one in found.items()}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, lambda rows: pl.DataFrame(rows).lazy()])
def test_values_in_their_order(make):
    assert scores(split_batches(read(make(ROWS)), "day")) == {"2026-11-02": [0.1, 0.3], "2026-11-10": [0.2]}
    assert list(split_batches(read(make(ROWS)), "n")) == ["9", "10"]


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, lambda rows: pl.DataFrame(rows).lazy()])
def test_each_month_of_dates(make):
    rows = {"day": ["2026-11-02", "2026-10-10", "2026-11-30"], "n": [1, 2, 3], "s": [0.1, 0.2, 0.3]}
    assert scores(split_batches(read(make(rows)), "day(every=month)")) == {"2026-10": [0.2], "2026-11": [0.1, 0.3]}


def test_numbers_in_words_are_in_their_order():
    weeks = [f"week {k}" for k in (2, 10, 9, 1)]
    assert list(split_batches(read({"week": weeks, "s": [0.1] * 4}), "week")) == [
        "week 1",
        "week 2",
        "week 9",
        "week 10",
    ]


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_parts_of_dates(make, tmp_path):
    rows = {"at": ["2026-11-02 10:30:00", "2026-10-30 09:00:00", "2026-11-02 23:59:59"], "s": [0.1, 0.2, 0.3]}
    assert scores(split_batches(read(make(rows)), "at(every=day)")) == {"2026-10-30": [0.2], "2026-11-02": [0.1, 0.3]}
    assert list(split_batches(read(make(rows)), "at(every=month)")) == ["2026-10", "2026-11"]
    pl.DataFrame(rows).write_csv(tmp_path / "a.csv")
    found = split_batches(read(tmp_path / "a.csv"), "at(every=week)")
    assert scores(found) == {"2026-W44": [0.2], "2026-W45": [0.1, 0.3]}


def test_of_a_file(tmp_path):
    pl.DataFrame(ROWS).write_csv(tmp_path / "a.csv")
    found = split_batches(read(tmp_path / "a.csv"), "day")
    assert scores(found) == {"2026-11-02": [0.1, 0.3], "2026-11-10": [0.2]}
    assert list(split_batches(read(tmp_path / "a.csv"), "n")) == ["9", "10"]


def test_what_is_refused():
    with pytest.raises(ScoreSpaceError, match="week"):
        split_batches(read(ROWS), "week")
    with pytest.raises(DataError, match="column 'day'"):
        split_batches(read(pl.DataFrame({"day": ["a", None], "s": [0.1, 0.2]})), "day")
    with pytest.raises(ScoreSpaceError, match="column 'n' holds"):
        split_batches(read(ROWS), "n(every=month)")
    with pytest.raises(DataError, match="define batches over"):
        split_batches(read(ROWS), "n(bins=2)")
    with pytest.raises(ScoreSpaceError, match="'s' has too"):
        split_batches(read({"s": [*range(10_001)]}), "s")
