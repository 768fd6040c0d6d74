"""What a path means: files by name and pattern, standard input, pipes, and what is told where there is nothing."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

import scorespace as ss
from frames.sources import CREDIT, refused, values, write
from scorespace.errors import DataError
from scorespace.frames import read
from scorespace.frames.paths import copied, files_read, local_paths

pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.mark.parametrize("name", ["a[1].csv", "it's; DROP TABLE x.csv", "a*.csv", 'say "hi" ?.csv', "ä ö.csv", "A.CSV"])
def test_names_of_files_are_taken_literally(name: str) -> None:
    write("ab.csv", "other\n1\n")
    write(name)
    assert values(name) == CREDIT
    assert values(Path(name)) == CREDIT


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
