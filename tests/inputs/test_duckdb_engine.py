"""An engine that opens nothing but what it is told, and whose complaints are in our words."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from helpers.sources import write
from scorespace.errors import DataError
from scorespace.io.duckdb_engine import connect, engine_errors, read_error, read_footers, read_parquet, write_parquet

pytestmark = pytest.mark.usefixtures("own_folder")


def test_the_engine_can_neither_fetch_nor_install_nor_open_another_file(own_folder: Path) -> None:
    named, other = (str(Path(write(name, "a\n1\n")).resolve()) for name in ("named.csv", "other.csv"))
    connection = connect([named], own_folder / "out.csv")
    assert connection.execute("SELECT * FROM read_csv($path)", {"path": named}).fetchall() == [(1,)]
    connection.execute(f"COPY (SELECT 2 AS a) TO '{own_folder}/out.csv' (USE_TMP_FILE false)")
    for statement in (
        "INSTALL httpfs",
        "LOAD httpfs",
        "FROM read_csv('http://localhost:9/a.csv')",
        f"FROM read_csv('{other}')",
        f"COPY (SELECT 1) TO '{other}'",
        f"COPY (SELECT 1) TO '{own_folder}/new.csv'",
        "SET enable_external_access = true",
        "SET autoinstall_known_extensions = true",
        "SET allowed_paths = []",
        "ATTACH 'new.db'",
    ):
        with pytest.raises(duckdb.Error):
            connection.execute(statement)
    written = {path.name: path.read_text() for path in own_folder.iterdir()}
    assert written == {"named.csv": "a\n1\n", "other.csv": "a\n1\n", "out.csv": "a\n2\n"}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "Invalid Input Error: CSV Error on Line: 7\nExpected Number of Columns: 3 Found: 1\n\nPossible fixes: …",
            (
                "f.csv cannot be read as CSV.\n"
                "  seen: line 7 has 1 value, the header 3\n"
                "  hint: every line needs as many values as the header; lines are never skipped, and there are "
                "no comments"
            ),
        ),
        (
            "Invalid Input Error: The CSV state machine failed.",
            "f.csv cannot be read as CSV.\n  seen: mixed line endings\n"
            "  hint: use the same line ending in the whole file",
        ),
        (
            "std::bad_alloc",
            "there is not enough memory for f.csv.\n"
            "  hint: use Parquet instead of text, fewer columns, or a sample of the rows",
        ),
    ],
)
def test_what_the_engine_says_in_our_words(said: str, told: str) -> None:
    assert str(read_error("f.csv", duckdb.Error(said), "CSV")) == told


@pytest.mark.parametrize(
    "said",
    [
        'IO Error: Could not write file "spill/duckdb_temp_storage-0.tmp": No space left on device',
        "Out of Memory Error: failed to offload data block of size 256.0 KiB: max_temp_directory_size was reached",
    ],
)
def test_a_disk_that_fills_up(said, monkeypatch):
    monkeypatch.setattr("tempfile.gettempdir", lambda: "scratch")
    assert str(read_error("big.parquet", duckdb.IOException(said))) == (
        "the disk is full: no space for the temporary files that big.parquet needs.\n"
        "  seen: temporary files in scratch\n"
        "  hint: free some disk space, or set TMPDIR to another folder"
    )


def test_only_what_an_engine_says_is_told_anew() -> None:
    with pytest.raises(DataError, match=r"f\.csv cannot be read"), engine_errors("f.csv"):
        duckdb.sql("SELECT 1 +")
    with pytest.raises(DataError, match=r"enough memory for f\.csv"), engine_errors("f.csv"):
        raise MemoryError
    with pytest.raises(KeyError, match="own"), engine_errors("f.csv"):
        raise KeyError("own")


def test_a_parquet_file_says_what_it_is(own_folder: Path) -> None:
    path, bare = own_folder / "it's [1].parquet", own_folder / "bare.parquet"
    connection = connect(folder=own_folder)
    write_parquet(connection, "SELECT unnest([3, 1, 2]) AS a", path, path, "who", {"name": "it's"}, "none")
    connection.execute(f"COPY (SELECT 1 AS a) TO '{bare}'")
    assert read_footers([str(path), str(bare)], "who") == {str(path): {"name": "it's"}}
    assert read_parquet([str(path)], "it")["a"].tolist() == [3, 1, 2]
    assert read_parquet([str(path)], "it", "WHERE a > 1 ORDER BY a")["a"].tolist() == [2, 3]
    more = own_folder / "more.parquet"  # of files that differ, what only some have is masked in the others
    connection.execute(f"COPY (SELECT 4 AS a, 7 AS b) TO '{more}'")
    assert read_parquet([str(path), str(more)], "it", "ORDER BY a")["b"].tolist() == [None, None, None, 7]
    with pytest.raises(DataError, match=r"'gone.parquet' cannot be written\.(.|\n)*hint: elsewhere"):
        write_parquet(connect(), "SELECT 1", own_folder / "x", Path("gone.parquet"), "who", {}, "elsewhere")


def test_times_are_those_of_utc_wherever_the_machine_is() -> None:
    assert connect().execute("SELECT current_setting('TimeZone')").fetchall() == [("UTC",)]
