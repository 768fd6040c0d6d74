"""Every way in, and every way it can fail."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from frames.sources import CREDIT, refused, values, write
from scorespace.errors import ColumnError
from scorespace.frames import read

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
        "column 'x' occurs twice in standard input.\n  seen: 'x', 's', 'x'\n  hint: give each column its own name"
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
from scorespace.frames import check, count, read, roles
from scorespace.frames.tally import tally
for data in {data}:
    source = read(data)
    named = roles(source, truth="outcome", scores="nb", positive="bad")
    for table in (count(check(source, named))["nb"], tally(source, named, bits=0)[1]["nb"]):
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
