"""`scorespace table`: tables written, merged, and evaluated elsewhere."""

from pathlib import Path

import pytest

NAMED = ("--truth", "y", "--score", "nb", "--decision", "tree")


@pytest.fixture(autouse=True)
def _data(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("y,nb,tree\n1,0.9,1\n0,0.4,0\n1,0.45,1\n0,0.1,1\n")


def test_it_says_what_it_wrote_and_evaluate_reads_it(run):
    said = run("table", "data.csv", *NAMED, "--out", "t.parquet")
    assert said.code == 0
    assert said.out == (
        "nb  ScoreTable: 4 cases, 2 '1' (positive), 2 '0', 4 distinct scores\n"
        "tree  ConfusionTable: 4 cases, rows actual, columns decided\n   0  1\n0  1  1\n1  0  2\n"
    )
    asked = ("--measures", "auc,acc", "--format", "json")
    from_table, from_data = (
        run("evaluate", "t.parquet", *asked).json(),
        run("evaluate", "data.csv", *NAMED, *asked).json(),
    )
    assert from_table["rows"] == from_data["rows"]
    assert from_table["data"] == from_data["data"]


def test_shards_are_merged(run):
    for name in "ab":
        run("table", "data.csv", *NAMED, "--bins", "--out", f"{name}.parquet")
    said = run("table", "?.parquet", "--out", "all.parquet")
    assert said.out.startswith("nb  ScoreTable: 8 cases, 4 '1' (positive), 4 '0', 4 bins\n")


def test_tables_have_no_columns(run):
    run("table", "data.csv", *NAMED, "--out", "a.parquet")
    said = run("table", "a.parquet", "--truth", "y", "--out", "b.parquet")
    assert (said.code, said.out) == (2, "")
    assert said.err == ("DataError: a.parquet holds tables, which have no columns.\n  hint: leave out the columns\n")


def test_the_input_is_not_overwritten(run):
    run("table", "data.csv", *NAMED, "--out", "t.parquet")
    said = run("table", "t.parquet", "--out", "t.parquet")
    assert said.code == 2
    assert "'t.parquet' is read here and is not overwritten." in said.err


def test_a_memory_budget_counts_in_bins(run):
    named = ("evaluate", "data.csv", "--truth", "y", "--score", "nb", "--measures", "auc")
    said = run(*named, "--memory", "100B", "--format", "csv")
    assert said.out.splitlines()[0].endswith("certified_low,certified_high")
    wrong = run(*named, "--memory", "lots")
    assert (wrong.code, wrong.err) == (2, "ScoreSpaceError: memory=lots is not a size.\n  hint: --memory 2GB\n")
