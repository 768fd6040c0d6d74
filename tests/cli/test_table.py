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
    assert "'t.parquet' is an input file and is not overwritten." in said.err


def test_a_memory_budget_counts_in_bins(run):
    named = ("evaluate", "data.csv", "--truth", "y", "--score", "nb", "--measures", "auc")
    said = run(*named, "--memory", "100B", "--format", "csv")
    assert said.out.splitlines()[0].endswith("certified_low,certified_high")
    wrong = run(*named, "--memory", "lots")
    assert (wrong.code, wrong.err) == (
        2,
        "ScoreSpaceError: memory=lots is not a size in bytes.\n  hint: --memory 2GB\n",
    )


def two_models(tmp_path: Path) -> tuple[str, ...]:
    rows = [(k % 2, (k * 37 % 101 + 30 * (k % 2)) / 131, (k * 53 % 97 + 20 * (k % 2)) / 117) for k in range(200)]
    text = "y,a,b\n" + "".join(f"{y},{a:.6f},{b:.6f}\n" for y, a, b in rows)
    (tmp_path / "two.csv").write_text(text)
    return "--truth", "y", "--score", "a", "--score", "b"


def test_models_are_compared_from_tables_as_from_the_cases(run, tmp_path):
    named = two_models(tmp_path)
    run("table", "two.csv", *named, "--pairs", "--at", "0.3", "--out", "t.parquet")
    for asked in ((), ("--at", "0.3")):
        (kept,) = run("compare", "t.parquet", *asked, "--format", "json").json()["rows"]
        (cases,) = run("compare", "two.csv", *named, *asked, "--format", "json").json()["rows"]
        assert kept["difference"] == pytest.approx(cases["difference"], abs=1e-12)
        assert kept["statistic"] == pytest.approx(cases["statistic"], rel=2e-2)
        assert kept["table"] == cases["table"]
    # Shards with the same bins are merged, and compared as one sample.
    run("table", "t.parquet", "--out", "u.parquet")
    assert run("compare", "[tu].parquet").out.startswith("\n[tu].parquet   400 cases")


def test_tables_without_pairs_are_not_compared(run, tmp_path):
    run("table", "two.csv", *two_models(tmp_path), "--out", "t.parquet")
    said = run("compare", "t.parquet")
    assert said.code == 2
    assert said.err.startswith("ScoreSpaceError: these models cannot be compared case by case.\n")


def test_decisions_curves_and_drift_take_tables(run, tmp_path):
    named = two_models(tmp_path)
    run("table", "two.csv", *named, "--bins", "--out", "t.parquet")
    costs = ("--cost-fp", "1", "--cost-fn", "5", "--format", "json")
    kept, cases = run("decide", "t.parquet", *costs).json(), run("decide", "two.csv", *named, *costs).json()
    assert kept["threshold"] == cases["threshold"]
    assert kept["rows"][0]["certified_low"] <= cases["rows"][0]["cost_per_case"] <= kept["rows"][0]["certified_high"]
    curve = run("curve", "t.parquet", "--kind", "pr", "--format", "json").json()
    assert set(curve["rows"][0]) == {"x", "y", "threshold", "certified_low", "certified_high", "model"}
    assert curve["certified_areas"]["a"][0] <= curve["areas"]["a"] <= curve["certified_areas"]["a"][1]
    assert run("drift", "t.parquet", "t.parquet", "--replicates", "200").code == 0


def test_what_needs_the_cases_says_so(run):
    run("table", "data.csv", *NAMED, "--out", "t.parquet")
    said = run("calibrate", "t.parquet", "--truth", "y", "--score", "nb")
    assert said.code == 2
    assert said.err == (
        "ColumnError: t.parquet holds count tables, but individual cases are needed.\n"
        "  hint: use the data that the tables were counted from\n"
    )


def test_a_budget_of_memory_is_kept_by_other_verbs(run, tmp_path):
    named = two_models(tmp_path)
    for verb in (("compare",), ("curve",), ("decide", "--cost-fp", "1", "--cost-fn", "5")):
        said = run(verb[0], "two.csv", *named, *verb[1:], "--memory", "1KB", "--format", "json")
        assert said.code == 0
        assert "certified_low" in said.json()["rows"][0]
