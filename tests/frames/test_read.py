"""Every way in, and every way it can fail."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import narwhals.stable.v1 as nw_v1
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

from scorespace.errors import ColumnError, DataError, ScoreSpaceError
from scorespace.frames import read


@pytest.fixture(autouse=True)
def _in_an_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, content: str | bytes = "outcome,nb\ngood,0.2\nbad,0.7\n") -> str:
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def values(data: Any) -> dict[str, list[Any]]:
    source = read(data)
    return {name: array.tolist() for name, array in source.arrays(source.frame).items()}


def refused(data: Any, kind: type[ScoreSpaceError] = DataError) -> str:
    with pytest.raises(kind) as caught:
        read(data)
    assert type(caught.value) is kind
    return str(caught.value)


CREDIT: dict[str, list[Any]] = {"outcome": ["good", "bad"], "nb": [0.2, 0.7]}


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


@pytest.mark.parametrize(
    "text",
    [
        "outcome,nb\ngood,0.2\nbad,0.7\n",
        "outcome;nb\ngood;0.2\nbad;0.7\n",
        "outcome\tnb\ngood\t0.2\nbad\t0.7\n",
        "outcome,nb\r\ngood,0.2\r\nbad,0.7\r\n",
        '\ufeff"outcome","nb"\n"good","0.2"\n"bad","0.7"',
        "outcome, nb\ngood, 0.2\nbad, 0.7\n",
    ],
)
def test_dialects_of_csv(text: str) -> None:
    assert values(write("credit.csv", text)) == CREDIT


def test_labels_of_csv_stay_labels() -> None:
    text = "a,b,c,d\nyes,t,true,2024-01-01\nno,f,False,2024-01-02\n"
    assert values(write("labels.csv", text)) == {
        "a": ["yes", "no"],
        "b": ["t", "f"],
        "c": ["true", "False"],
        "d": ["2024-01-01", "2024-01-02"],
    }


def test_missing_values_of_csv() -> None:
    text = "y,s\nNA,0.5\n,NaN\nb,NULL\nb,nan\n"
    assert values(write("gaps.csv", text)) == {"y": [None, None, "b", "b"], "s": [0.5, None, None, None]}


def test_numbers_of_csv_are_exact() -> None:
    numbers = [0.1, 0.30000000000000004, 5e-324, 1.7976931348623157e308, -0.0, 123456789.125]
    write("numbers.csv", "s\n" + "\n".join(map(repr, numbers)))
    assert [number.hex() for number in values("numbers.csv")["s"]] == [number.hex() for number in numbers]


def test_columns_that_merely_look_renamed() -> None:
    assert read(write("fine.csv", "x,x_1\n1,1\n0,0\n")).columns == ("x", "x_1")


@pytest.mark.parametrize("name", ["a[1].csv", "it's; DROP TABLE x.csv", "a*.csv", 'say "hi" ?.csv', "ä ö.csv", "A.CSV"])
def test_names_of_files_are_taken_literally(name: str) -> None:
    write("ab.csv", "other\n1\n")
    write(name)
    assert values(name) == CREDIT
    assert values(Path(name)) == CREDIT


def test_an_arrow_file_whose_name_is_a_pattern() -> None:
    feather.write_feather(pa.table(CREDIT), "a[1].arrow")
    assert values("a[1].arrow") == CREDIT


@pytest.mark.parametrize("ending", [".arrow", ".feather", ".ipc"])
def test_arrow_files_and_streams(ending: str) -> None:
    table = pa.table(CREDIT)
    feather.write_feather(table, f"file{ending}")
    with ipc.new_stream(f"stream{ending}", table.schema) as stream:
        stream.write_table(table)
    assert values(f"file{ending}") == CREDIT
    assert values(f"stream{ending}") == CREDIT
    assert values(f"*{ending}") == {name: 2 * column for name, column in CREDIT.items()}


def test_text_that_an_old_writer_stored_as_bytes() -> None:
    parquet.write_table(pa.table({"y": [b"good", b"bad"]}), "old.parquet")
    assert values("old.parquet") == {"y": ["good", "bad"]}


def test_json_values_of_all_kinds() -> None:
    write("kinds.json", '[{"a": 1, "b": true, "c": "x", "d": {"e": 1}}, {"a": 0.5, "b": false, "c": 2}]')
    assert values("kinds.json") == {"a": [1, 0.5], "b": [True, False], "c": ["x", "2"], "d": ['{"e":1}', None]}


def test_frames_of_narwhals_itself() -> None:
    for frame in (nw.from_native(pl.DataFrame(CREDIT)), nw_v1.from_native(pl.LazyFrame(CREDIT))):
        assert values(frame) == CREDIT


def test_names_that_are_not_text() -> None:
    assert values(pd.DataFrame({0: [1], 1: [2]})) == {"0": [1], "1": [2]}
    assert values(nw.from_native(pd.DataFrame({0: [1]}))) == {"0": [1]}
    assert values({0: [1], 1: [2]}) == {"0": [1], "1": [2]}


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


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"outcome,nb\ngood,0.2\nbad,0.7\n")))
    assert values("-") == CREDIT
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert refused("-") == "standard input has no rows.\n  seen: nothing\n  hint: one row per case"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x,s,x\n1,2,3\n")))
    assert refused("-", ColumnError) == (
        "column 'x' occurs twice in standard input.\n  seen: 'x', 's', 'x'\n  hint: give each column its own name"
    )


def run(script: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """The script in a fresh process that finds no pandas, polars or pyarrow."""
    bare = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('pandas', 'polars', 'pyarrow'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        f"sys.path[:0] = {sys.path!r}\n"
    )
    return subprocess.run(
        [sys.executable, "-c", bare + script], input=given, capture_output=True, text=True, check=False
    )


COUNT = """
from scorespace.frames import check, count, read, roles
for data in {data}:
    source = read(data)
    sample = check(source, roles(source, truth="outcome", scores="nb", positive="bad"))
    for table in (count(sample)["nb"], count(sample, rows_in_memory=0)["nb"]):
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
from scorespace.frames import read
try:
    read("credit.arrow")
except DataError as error:
    print(error)
"""
    expected = "credit.arrow needs the library pyarrow.\n  hint: pip install pyarrow, or use Parquet\n"
    assert run(script).stdout == expected


def test_frames_do_not_load_duckdb() -> None:
    script = """
import sys
import polars as pl
from scorespace.frames import check, count, read, roles
source = read(pl.DataFrame({"y": [0, 1], "s": [1, 2]}))
count(check(source, roles(source, truth="y", scores="s")))
print("duckdb" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{script}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"


def test_a_file_that_is_not_there() -> None:
    write("credit.csv")
    write("runs/part.csv")
    assert refused("credt.csv") == (
        "file 'credt.csv' does not exist.\n  seen: 'credit.csv'\n  hint: did you mean 'credit.csv'?"
    )
    assert refused("runs/prt.csv") == (
        "file 'runs/prt.csv' does not exist.\n  seen: 'part.csv'\n  hint: did you mean 'runs/part.csv'?"
    )
    assert refused("zzz.parquet") == (
        "file 'zzz.parquet' does not exist.\n  seen: 'credit.csv'\n  hint: check the path"
    )
    assert refused("data/credit.csv") == (
        "file 'data/credit.csv' does not exist.\n  seen: no folder 'data'\n  hint: check the folder"
    )
    Path("void").mkdir()
    assert refused("void/credit.csv") == (
        "file 'void/credit.csv' does not exist.\n  seen: an empty folder\n  hint: check the path"
    )


def test_a_folder() -> None:
    write("runs/a.parquet")
    Path("void").mkdir()
    assert refused("runs") == (
        "'runs' is a folder, not a file.\n"
        "  seen: 'a.parquet'\n"
        "  hint: a file in it, or a pattern such as runs/*.parquet"
    )
    assert refused("void") == (
        "'void' is a folder, not a file.\n"
        "  seen: an empty folder\n"
        "  hint: a file in it, or a pattern such as void/*.csv"
    )


def test_an_unknown_ending() -> None:
    known = ".csv, .tsv, .parquet, .json, .jsonl, .ndjson, .arrow, .feather, .ipc, or .gz after it"
    assert refused(write("credit.sav")) == (
        f"credit.sav has an unknown ending.\n  seen: '.sav'\n  hint: one of {known}"
    )
    assert refused(write("credit")) == f"credit has an unknown ending.\n  seen: none\n  hint: one of {known}"
    assert refused("https://example.org/credit.xlsx?key=1") == (
        f"credit.xlsx has an unknown ending.\n  seen: '.xlsx'\n  hint: one of {known}"
    )


@pytest.mark.parametrize("name", ["empty.csv", "empty.tsv", "empty.parquet", "empty.json", "empty.arrow"])
def test_an_empty_file(name: str) -> None:
    assert refused(write(name, "")) == f"{name} has no rows.\n  seen: an empty file\n  hint: one row per case"


def test_a_header_without_rows() -> None:
    header = "  seen: the columns 'outcome', 'nb' and nothing below them\n  hint: one row per case"
    table = pa.table(CREDIT).slice(0, 0)
    parquet.write_table(table, "header.parquet")
    feather.write_feather(table, "header.arrow")
    write("header.csv", "outcome,nb\n")
    write("header.tsv", "outcome\tnb")
    for name in ("header.csv", "header.tsv", "header.parquet", "header.arrow"):
        assert refused(name) == f"{name} has no rows.\n{header}"
    assert refused(write("none.json", "[]")).startswith("none.json has no rows.\n")


def test_a_corrupt_file() -> None:
    assert refused(write("bad.parquet", "nonsense" * 4)) == (
        "bad.parquet cannot be read as Parquet.\n"
        "  seen: No magic bytes found at end of file 'bad.parquet'\n"
        "  hint: check that the file is complete and that its ending says what it is"
    )
    assert refused(write("bad.arrow", "nonsense" * 9)) == (
        "bad.arrow cannot be read as Arrow.\n"
        "  seen: Not a Feather V1 or Arrow IPC file\n"
        "  hint: check that the file is complete and that its ending says what it is"
    )
    assert refused(write("bad.csv.gz", "y,s\n1,2\n")) == (
        "bad.csv.gz cannot be read as CSV.\n"
        "  seen: Not a gzipped file (b'y,')\n"
        "  hint: check that the file is complete and that its ending says what it is"
    )
    assert refused(write("bad.json", '{"y": 1, ')).startswith(
        'bad.json cannot be read as JSON.\n  seen: Malformed JSON in file "bad.json"'
    )
    assert refused(write("bad.csv", bytes(range(256)) * 9)).startswith("bad.csv cannot be read as CSV.\n")


def test_a_csv_file_of_another_encoding() -> None:
    assert refused(write("latin.csv", "y,s\njä,0.5\n".encode("latin-1"))) == (
        "latin.csv cannot be read as CSV.\n"
        "  seen: CSV Error on Line: 2 Invalid unicode (byte sequence mismatch) detected. "
        "This file is not utf-8 encoded.\n"
        "  hint: save the file as UTF-8"
    )


def test_lines_of_different_lengths() -> None:
    assert refused(write("ragged.csv", "y,s\n1,0.5\n0,0.1,7\n1\n")) == (
        "ragged.csv cannot be read as CSV.\n"
        "  seen: line 3 has 3 values, the header 2\n"
        "  hint: as many values in each line as in the header; no line is skipped, and none is a comment"
    )


def test_late_text_in_a_column_of_numbers() -> None:
    source = read(write("late.csv", "y,s\n" + "1,0.5\n" * 30_000 + "1,high\n"))
    with pytest.raises(DataError) as caught:
        source.arrays(source.frame.select(nw.col("s").sum()))
    assert str(caught.value) == (
        "late.csv cannot be read.\n"
        '  seen: CSV Error on Line: 30002 Error when converting column "s". '
        "Could not convert string \"high\" to 'DOUBLE'\n"
        "  hint: the first rows hold numbers and a later one text: read the file as text with a frame library"
    )


def test_a_pattern() -> None:
    write("part-1.csv")
    write("part-2.json", "[]")
    assert refused("data-*.csv") == (
        "no file matches 'data-*.csv'.\n  hint: put the pattern in quotes, and check the folder"
    )
    assert refused("part-*") == (
        "'part-*' names files of several kinds.\n  seen: 'part-1.csv', 'part-2.json'\n  hint: a pattern for one ending"
    )


def test_a_column_named_twice() -> None:
    def message(name: str, where: str, seen: str) -> str:
        return f"column '{name}' occurs twice in {where}.\n  seen: {seen}\n  hint: give each column its own name"

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
        "two arrays have the same name (upper and lower case count as the same).\n"
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
        "the data is neither a path nor a frame nor a dict of arrays.\n"
        f"  seen: {seen}\n"
        "  hint: a path, a frame of pandas, polars, pyarrow or DuckDB, or {name: array}"
    )


def test_arrays_that_make_no_columns() -> None:
    assert refused({}) == 'the dict holds no arrays.\n  hint: {"truth": [1, 0], "score": [0.9, 0.2]}'
    assert refused({"y": [1, 0], "s": [1]}) == (
        "the arrays differ in length.\n  seen: 'y' (2), 's' (1)\n  hint: one value per case in each array"
    )
    assert refused({"y": np.zeros((2, 2))}) == (
        "array 'y' is not one column.\n  seen: ndarray of shape (2, 2)\n  hint: one value per case"
    )
    assert refused({"y": [[1], [1, 2]]}) == (
        "array 'y' is not one column.\n  seen: lists in it\n  hint: one value per case"
    )
    assert refused({"y": "abc"}) == (
        "array 'y' is not one column.\n  seen: str of shape ()\n  hint: one value per case"
    )
