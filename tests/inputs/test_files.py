"""Paths, patterns and every kind of file: read as they are, or refused in three lines."""

from __future__ import annotations

import time

import narwhals as nw
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

import scorespace as ss
from helpers.sources import CREDIT, refused, values, write
from scorespace.errors import ColumnError, DataError
from scorespace.io import read

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


@pytest.mark.parametrize("name", ["empty.csv", "empty.tsv", "empty.parquet", "empty.json", "empty.arrow"])
def test_an_empty_file(name: str) -> None:
    assert refused(write(name, "")) == f"{name} has no rows.\n  seen: an empty file\n  hint: one row per case"


def test_a_header_without_rows() -> None:
    header = "  seen: columns 'outcome', 'nb', but no rows\n  hint: one row per case"
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
        "  hint: check that the file is complete and that its extension matches its format"
    )
    assert refused(write("bad.arrow", "nonsense" * 9)) == (
        "bad.arrow cannot be read as Arrow.\n"
        "  seen: Not a Feather V1 or Arrow IPC file\n"
        "  hint: check that the file is complete and that its extension matches its format"
    )
    assert refused(write("bad.csv.gz", "y,s\n1,2\n")) == (
        "bad.csv.gz cannot be read as CSV.\n"
        "  seen: Not a gzipped file (b'y,')\n"
        "  hint: check that the file is complete and that its extension matches its format"
    )
    assert refused(write("bad.json", '{"y": 1, ')).startswith(
        'bad.json cannot be read as JSON.\n  seen: Malformed JSON in file "bad.json"'
    )
    assert refused(write("bad.csv", bytes(range(256)) * 9)).startswith("bad.csv cannot be read as CSV.\n")


def test_lines_of_different_lengths() -> None:
    assert refused(write("ragged.csv", "y,s\n1,0.5\n0,0.1,7\n1\n")) == (
        "ragged.csv cannot be read as CSV.\n"
        "  seen: line 3 has 3 values, the header 2\n"
        "  hint: every line needs as many values as the header; lines are never skipped, and there are no comments"
    )


def test_late_text_in_a_column_of_numbers() -> None:
    source = read(write("late.csv", "y,s\n" + "1,0.5\n" * 30_000 + "1,high\n"))
    with pytest.raises(DataError) as caught:
        source.arrays(source.frame.select(nw.col("s").sum()))
    assert str(caught.value) == (
        "late.csv cannot be read.\n"
        '  seen: CSV Error on Line: 30002 Error when converting column "s". '
        "Could not convert string \"high\" to 'DOUBLE'\n"
        "  hint: the first rows hold numbers and a later row text: read the file as text with pandas or polars"
    )


def test_parts_are_joined_by_the_names_of_their_columns() -> None:
    write("part-1.csv", "y,s\ngood,0.2\n")
    write("part-2.csv", "s;y\n0.7;bad\n")
    write("part-3.csv", "")
    assert values("part-*.csv") == {"y": ["good", "bad"], "s": [0.2, 0.7]}


def test_a_file_that_shrinks_while_it_is_read_is_refused() -> None:
    source = read(write("shrinks.csv", "y\n1\n0\n1\n"))
    with pytest.raises(DataError) as caught:
        source.account(2)
    assert str(caught.value) == (
        "not all records of shrinks.csv could be read.\n"
        "  seen: 3 records, of which 2 were read\n"
        "  hint: check that the file is complete and that no other program writes to it"
    )


def test_one_bad_cell_is_shown(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y,p\n1,.5\n0,.2\n1,.7\n0,abc\n")
    with pytest.raises(ColumnError) as caught:
        ss.evaluate(path, truth="y", scores="p")
    assert caught.value.seen == "'abc'"


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


# --- decimal commas


def column(lines: list[str], name: str) -> list[object]:
    return values(write("export.csv", "\n".join(["y;p;n;id", *lines])))[name]


def test_a_file_of_semicolons_may_write_a_decimal_comma() -> None:
    lines = ["1;0,782;-1,5e2;7", "0;0,5;12;8", "1;1;;9"]
    assert column(lines, "p") == [0.782, 0.5, 1.0]
    assert column(lines, "id") == [7, 8, 9]
    assert column(lines, "n") == [-150.0, 12.0, None]
    found = ss.evaluate("export.csv", truth="y", scores="p").measures("auc", "brier")
    assert [one.value for one in found] == pytest.approx([1.0, ((1 - 0.782) ** 2 + 0.25) / 3])


def test_what_may_be_thousands_is_no_number() -> None:
    # 1,250 is one and a quarter here and twelve hundred there: nobody can tell.
    assert column(["1;1,250;1;1", "0;12,500;1;2"], "p") == ["1,250", "12,500"]
    assert column(["1;1,250;1;1", "0;12,5;1;2"], "p") == [1.25, 12.5]


def test_a_file_has_one_decimal_mark() -> None:
    assert column(["1;0,7;0.5;1", "0;0,2;0.25;2"], "n") == ["0.5", "0.25"]


def test_where_commas_part_values_they_are_no_marks() -> None:
    assert values(write("quoted.csv", 'y,p\n1,"0,7"\n0,"0,2"\n'))["p"] == ["0,7", "0,2"]


def test_a_later_value_that_is_no_number_is_refused() -> None:
    with pytest.raises(DataError, match="export\\.csv cannot be read"):
        column(["1;0,5;1;1"] * 30_000 + ["0;half;1;2"], "p")
