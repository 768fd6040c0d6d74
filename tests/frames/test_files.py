"""Paths, patterns and every kind of file: read as they are, or refused in three lines."""

from __future__ import annotations

import io
import os
import sys
import time
from pathlib import Path

import narwhals as nw
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

import scorespace as ss
from frames.sources import CREDIT, refused, values, write
from scorespace.errors import ColumnError, DataError
from scorespace.frames import read
from scorespace.frames.files import copied, files_read, local_paths

pytestmark = pytest.mark.usefixtures("own_folder")


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


def test_what_is_opened_to_read_the_data() -> None:
    write("part-1.csv")
    write("part-2.csv")
    assert files_read("part-*.csv") == local_paths("part-*.csv") == ["part-1.csv", "part-2.csv"]
    assert files_read(Path("part-1.csv")) == ["part-1.csv"]
    assert files_read("-") == [0]
    for nothing in ("absent.csv", "https://example.org/a.csv", {"y": [1]}, b"part-1.csv"):
        assert files_read(nothing) == []


def test_parts_are_joined_by_the_names_of_their_columns() -> None:
    write("part-1.csv", "y,s\ngood,0.2\n")
    write("part-2.csv", "s;y\n0.7;bad\n")
    write("part-3.csv", "")
    assert values("part-*.csv") == {"y": ["good", "bad"], "s": [0.2, 0.7]}


def test_standard_input_is_kept_while_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"outcome,nb\ngood,0.2\nbad,0.7\n")))
    with copied("-") as copy:
        assert values(copy) == values(copy) == CREDIT
        assert copy.path.exists()
    assert not copy.path.exists()
    monkeypatch.setattr(sys, "stdin", None)
    assert refused("-") == "standard input has no rows.\n  seen: it is closed\n  hint: one row per case"


def test_names_that_are_no_paths() -> None:
    assert refused("a\x00b.csv").startswith("'a\\x00b.csv' is no path.\n  seen: ")
    assert refused("a\ud800.csv") == "the name 'a\\ud800.csv' is not UTF-8.\n  hint: rename the file"


def test_a_file_that_shrinks_while_it_is_read_is_refused() -> None:
    source = read(write("shrinks.csv", "y\n1\n0\n1\n"))
    with pytest.raises(DataError) as caught:
        source.account(2)
    assert str(caught.value) == (
        "not all of shrinks.csv could be read.\n"
        "  seen: 3 records, of which 2 were read\n"
        "  hint: check that the file is complete and that nobody writes to it"
    )


def test_one_bad_cell_is_shown(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y,p\n1,.5\n0,.2\n1,.7\n0,abc\n")
    with pytest.raises(ColumnError) as caught:
        ss.evaluate(path, truth="y", scores="p")
    assert caught.value.seen == "'abc'"


def test_pipes_and_devices_are_named(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    for path, what in ((pipe, "a pipe"), ("/dev/null", "a device or a socket")):
        with pytest.raises(DataError) as caught:
            read(path)
        assert caught.value.problem == f"{str(path)!r} is not a regular file."
        assert (caught.value.seen, caught.value.hint) == (what, "- reads standard input: scorespace … - < FILE")


def test_what_a_shell_puts_for_another_command_is_read():
    out, into = os.pipe()
    try:
        os.write(into, b"y,p\n1,0.9\n0,0.2\n")
        os.close(into)
        assert ss.evaluate(f"/dev/fd/{out}", truth="y", scores="p").models.rows == 2
    finally:
        os.close(out)


def test_standard_input_is_read_once(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"y,p\n1,0.9\n0,0.2\n")))
    assert read("-").columns == ("y", "p")
    with pytest.raises(DataError) as caught:
        read("-")
    assert str(caught.value) == (
        "standard input can be read once.\n  seen: - twice\n  hint: save it to a file, and name that instead"
    )


def test_the_advice_of_the_engine_is_not_ours(tmp_path):
    path = tmp_path / "twice.json"
    path.write_text('[{"y":1,"p":0.5,"p":0.9},{"y":0,"p":0.2}]')
    with pytest.raises(DataError) as caught:
        read(path)
    assert "auto_detect" not in str(caught.value)
    assert caught.value.seen.endswith('has duplicate key "p"')


def test_files_of_very_many_columns_are_read_in_time() -> None:
    names = [f"c{k}" for k in range(3000)]
    write("wide.csv", "y,s," + ",".join(names) + "\n" + "".join(f"{k % 2},0.{k},{'1,' * 2999}x\n" for k in range(4)))
    began = time.process_time()
    kinds = [str(kind) for kind in read("wide.csv").frame.to_native().types]
    assert (kinds[0], kinds[-2:]) == ("DOUBLE", ["DOUBLE", "VARCHAR"])
    assert time.process_time() - began < 10  # the square of the columns took 30 s
