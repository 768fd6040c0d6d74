"""The rows of a source with further columns: nothing else of them changes, and gaps stay gaps."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from helpers.sources import write
from scorespace.errors import ColumnError, DataError, ScoreError, ScoreSpaceError
from scorespace.io import read, read_score_columns, resolve_roles, used_rows, validate, write_with_columns

pytestmark = pytest.mark.usefixtures("own_folder")

ROWS = 'id,note,nb\n007,"a, ""b""",0.2\n12345678901234567890,,0.70\n008,NA,1\n'
ADDED = {"p": np.array([0.25, np.nan, 0.75])}


def rows(path: str, separator: str = ",") -> list[list[str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=separator))


@pytest.mark.parametrize(("target", "separator"), [("out.csv", ","), ("out.tsv", "\t")])
def test_a_csv_file_keeps_every_value_as_it_was_written(target: str, separator: str) -> None:
    write_with_columns(write("in.csv", ROWS), ADDED, Path(target))
    before, added = rows("in.csv"), ["p", "0.25", "", "0.75"]
    assert rows(target, separator) == [[*row, more] for row, more in zip(before, added, strict=True)]


def test_parquet_holds_numbers_where_nothing_of_them_is_lost() -> None:
    write_with_columns(write("in.csv", ROWS), ADDED, Path("out.parquet"))
    found = pl.read_parquet("out.parquet")
    assert found.schema == {"id": pl.String, "note": pl.String, "nb": pl.Float64, "p": pl.Float64}
    assert found["id"].to_list() == ["007", "12345678901234567890", "008"]
    assert found["p"].to_list() == [0.25, None, 0.75]
    write_with_columns(write("whole.csv", 'n,"say ""hi"""\n1,-3\n,40\n'), {"p": np.zeros(2)}, Path("whole.parquet"))
    assert pl.read_parquet("whole.parquet").schema == {"n": pl.Int64, 'say "hi"': pl.Int64, "p": pl.Float64}


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table, dict])
@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_what_is_missing_in_a_frame_is_an_empty_field(made: Any, ending: str) -> None:
    # pandas holds what is missing as NaN, which its rows wrote out as the text "nan".
    write_with_columns(made({"id": ["007", "x\ty"], "g": [1.5, None]}), {"p": ADDED["p"][:2]}, Path(f"out.{ending}"))
    if ending == "parquet":
        assert pl.read_parquet("out.parquet").rows() == [("007", 1.5, 0.25), ("x\ty", None, None)]
    else:
        expected = [["id", "g", "p"], ["007", "1.5", "0.25"], ["x\ty", "", ""]]
        assert rows(f"out.{ending}", "\t" if ending == "tsv" else ",") == expected


def refused(data: Any, columns: dict[str, Any], path: str) -> str:
    with pytest.raises(ScoreSpaceError) as caught:
        write_with_columns(data, columns, Path(path))
    return str(caught.value)


def test_what_is_not_written() -> None:
    write("in.csv", ROWS)
    assert refused("in.csv", {"NB": ADDED["p"]}, "out.csv") == (
        "column 'NB' already exists in the data.\n  seen: 'id', 'note', 'nb'\n  hint: names={column: model}"
    )
    assert (
        refused("in.csv", {"p": np.zeros(2)}, "out.csv") == "in.csv changed while it was being read.\n  seen: 3 rows\n"
        "  hint: try again when no other program writes to it"
    )
    assert refused("in.csv", ADDED, "in.csv").startswith("'in.csv' is an input file")
    assert not Path("out.csv").exists()
    assert Path("in.csv").read_text(encoding="utf-8") == ROWS


def test_rows_without_weight_or_truth_are_not_in_use() -> None:
    source = read({"y": [1, 0, 1, None, 0], "s": [0.9, 0.4, 0.5, 0.1, 0.2], "w": [1, 0, 2, 1, None]})
    sample = validate(source, resolve_roles(source, truth="y", scores="s", weight="w"), missing="drop")
    assert used_rows(sample).tolist() == [True, False, True, False, False]


def test_scores_without_a_truth() -> None:
    source = read({"a": [0.5, None, 1.0], "b": [True, False, None], "t": ["x", "y", "z"], "i": [1.0, np.inf, 0.0]})
    found, used = read_score_columns(source, ["a", "b"], missing="drop")
    assert used.tolist() == [True, False, False]
    assert {name: column.tolist() for name, column in found.items()} == {"a": [0.5], "b": [1.0]}
    for names, kind, message in [
        (["a", "b"], DataError, "'a', 'b' have missing values.\n  seen: 2 of 3 rows\n"),
        (["a"], DataError, "'a' has missing values.\n  seen: 1 of 3 rows\n"),
        (
            ["t"],
            ColumnError,
            "column 't' is not numeric, so it cannot hold scores.\n  seen: String\n  hint: a column of numbers",
        ),
        (
            ["i"],
            ScoreError,
            "column 'i' has infinite scores.\n  seen: 1\n  hint: replace infinite scores by finite ones",
        ),
        (["aa"], ColumnError, "column 'aa' is not in the dict of arrays.\n"),
    ]:
        with pytest.raises(kind) as caught:
            read_score_columns(source, names)
        assert str(caught.value).startswith(message)
