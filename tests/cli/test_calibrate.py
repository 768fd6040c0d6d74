"""`scorespace calibrate`: the table, the files it writes, and what it refuses."""

import csv
import io
import json
import shutil

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

MODEL = ["--score", "naive_bayes"]


def rows_of(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_in_a_process_of_its_own(shell, credit):
    done = shell("calibrate", *credit, *MODEL, "--method", "platt", "--out", "scores.csv")
    assert done.code == 0
    assert "scores  scores.csv" in done.err
    assert "Platt's map lowers the Brier score of naive_bayes" in done.out


def test_the_table_tells_before_and_after(run, credit, tmp_path):
    done = run("calibrate", *credit, *MODEL, "--method", "platt")
    assert done.code == 0
    assert "platt, cross-fitted over 10 folds" in done.out
    loans = rows_of(tmp_path / "credit.csv")
    bad = np.array([loan["outcome"] == "bad" for loan in loans])
    before = ((np.array([float(loan["naive_bayes"]) for loan in loans]) - bad) ** 2).mean()
    (line,) = [line for line in done.out.splitlines() if line.startswith("brier ↓")]
    assert line.split()[2] == f"{before:.3f}"
    assert all(len(line) <= 80 for line in done.out.splitlines())


def test_formats(run, credit):
    content = run("calibrate", *credit, *MODEL, "--format", "json").json()
    assert content["schema"] == 1
    assert content["data"] == {"rows": 1000, "classes": {"bad": 300, "good": 700}, "positive": "bad"}
    assert [row["measure"] for row in content["rows"]] == ["brier", "cal", "ref", "logloss", "auc"]
    assert content["map"]["kind"] == "isotonic"
    assert content["rows"][3]["after"] is None  # infinite
    assert "probability 0" in content["rows"][3]["reason"]
    table = list(csv.DictReader(io.StringIO(run("calibrate", *credit, *MODEL, "--format", "csv").out)))
    assert_allclose(float(table[0]["after"]), content["rows"][0]["after"])
    page = run("calibrate", *credit, *MODEL, "--format", "markdown").out
    assert "| brier ↓" in page
    assert "`SS026` info" in page


def test_the_file_has_every_column_and_row_in_order(run, credit, tmp_path):
    assert run("calibrate", *credit, *MODEL, "--out", "scores.csv").code == 0
    given, written = rows_of(tmp_path / "credit.csv"), rows_of(tmp_path / "scores.csv")
    assert [{**row, "naive_bayes_calibrated": None} for row in given] == [
        {**row, "naive_bayes_calibrated": None} for row in written
    ]
    mapped = np.array([float(row["naive_bayes_calibrated"]) for row in written])
    assert mapped.min() >= 0
    assert mapped.max() <= 1
    assert run("calibrate", *credit, *MODEL, "--name", "naive_bayes=nb", "--out", "scores.parquet").code == 0
    assert_allclose(pl.read_parquet(tmp_path / "scores.parquet")["nb_calibrated"].to_numpy(), mapped)


def test_a_saved_map_is_applied_without_a_truth(run, credit, tmp_path):
    assert run("calibrate", *credit, *MODEL, "--map", "map.json", "--folds", "1", "--out", "same.csv").code == 0
    content = json.loads((tmp_path / "map.json").read_text())
    assert content["about"] == {"model": "naive_bayes", "positive": "bad", "cases": 1000}
    done = run("calibrate", "credit.csv", *MODEL, "--apply", "map.json", "--out", "new.csv")
    assert done.code == 0
    assert "1 000 cases; without true labels" in done.out
    assert (tmp_path / "new.csv").read_bytes() == (tmp_path / "same.csv").read_bytes()
    judged = run("calibrate", "credit.csv", "--truth", "outcome", *MODEL, "--apply", "map.json")  # bad, says the map
    assert "cal ↓         0.016    0.000" in judged.out


def test_the_map_is_that_of_all_cases_while_the_numbers_are_cross_fitted(run, credit, tmp_path):
    crossed = run("calibrate", *credit, *MODEL, "--map", "map.json", "--format", "json").json()
    same = run("calibrate", *credit, *MODEL, "--folds", "1", "--format", "json").json()
    assert crossed["map"] == same["map"]
    assert crossed["rows"][0]["after"] > same["rows"][0]["after"]
    assert same["notes"][0]["code"] == "SS025"
    assert "SS025" not in [one["code"] for one in crossed["notes"]]


def test_fitted_on_other_data(run, credit, tmp_path):
    loans = (tmp_path / "credit.csv").read_text().splitlines()
    (tmp_path / "early.csv").write_text("\n".join(loans[:501]) + "\n")
    (tmp_path / "late.csv").write_text("\n".join([loans[0], *loans[501:]]) + "\n")
    roles = ["--truth", "outcome", "--positive", "bad", *MODEL, "--method", "platt"]
    done = run("calibrate", "late.csv", *roles, "--fit", "early.csv", "--map", "map.json")
    assert "fitted on 500 other cases" in done.out
    assert json.loads((tmp_path / "map.json").read_text())["about"]["cases"] == 500
    same = run("calibrate", "late.csv", *roles, "--fit", "late.csv")
    assert "SS025" in same.out


def test_folds_of_the_data_and_groups(run, credit):
    assert "cross-fitted over 10 folds" in run("calibrate", *credit, *MODEL, "--fold", "fold").out
    assert "cross-fitted over 4 folds" in run("calibrate", *credit, *MODEL, "--group", "fold", "--folds", "4").out
    first, again, other = (
        run("calibrate", *credit, *MODEL, "--seed", seed, "--format", "csv").out for seed in ("1", "1", "2")
    )
    assert first == again != other


def test_standard_input(run, write):
    lines = "id,y,s\n" + "".join(f"0{k},{int(k % 3 == 0)},{k / 40}\n" for k in range(40))
    done = run("calibrate", "-", "--truth", "y", "--score", "s", "--method", "platt", "--out", "o.csv", stdin=lines)
    assert done.code == 0
    assert done.out.splitlines()[1].startswith("standard input")


def test_several_classes(run, tmp_path, oracles):
    shutil.copy(oracles / "weka_iris_nb_predictions.csv", tmp_path / "iris.csv")
    done = run(
        "calibrate", "iris.csv", "--truth", "actual", "--score", "p_*", "--method", "temperature", "--out", "o.csv"
    )
    assert "auc[hand_till] ↑" in done.out
    p = pl.read_csv(tmp_path / "o.csv").select("^calibrated_p_.*$").to_numpy()
    assert_allclose(p.sum(axis=1), 1)
    refused = run("calibrate", "iris.csv", "--truth", "actual", "--score", "p_*", "--method", "minmax")
    assert "hint: --method temperature" in refused.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--score", "naive_bayes", "--method", "plat"], "did you mean platt?"),
        (["--score", "naive_baies"], "did you mean 'naive_bayes'?"),
        (["--score", "naive_bayes", "--out", "credit.csv"], "is an input file and is not overwritten"),
        (["--score", "naive_bayes", "--map", "credit.csv"], "has no known file extension"),
        (["--score", "naive_bayes", "--out", "o.xls"], "has no known file extension"),
        (["--score", "naive_bayes", "--out", "nowhere/o.csv"], "the folder 'nowhere' for o.csv does not exist"),
        (["--score", "naive_bayes", "--fit", "credit.csv", "--folds", "5"], "either on other data or across folds"),
        (["--score", "naive_bayes", "--folds", "0"], "no number of folds"),
        (["--score", "naive_bayes", "--on", "logit"], "on='logit' does not suit"),
        (["--score", "naive_bayes", "--apply", "no.json"], "cannot be read"),
        (["--score", "naive_bayes", "--apply", "bad.json"], "is no map"),
        (["--score", "naive_bayes", "--apply", "good.json", "--method", "platt"], "not fitted again"),
        (["--score", "naive_bayes", "--apply", "good.json"], "gives the probability of 'good', not of 'bad'"),
        (["--score", "id", "--method", "temperature"], "needs probabilities"),
        (["--score", "outcome"], "cannot be both"),
    ],
)
def test_mistakes_are_told_without_traceback(run, credit, write, tmp_path, arguments, words):
    write("bad.json", "{")
    write("good.json", '{"schema": 1, "kind": "logistic", "about": {"positive": "good"}}')
    before = (tmp_path / "credit.csv").read_bytes()
    done = run("calibrate", *credit, *arguments)
    assert done.code == 2
    assert words in " ".join(done.err.split())
    assert "Traceback" not in done.err
    assert done.out == ""
    assert (tmp_path / "credit.csv").read_bytes() == before


def test_a_truth_is_needed_to_fit(run, credit):
    done = run("calibrate", "credit.csv", *MODEL)
    assert done.code == 2
    assert "--truth COL, or --apply" in done.err


def test_parquet_keeps_long_numbers_and_codes(run, write, tmp_path):
    import polars as pl

    rows = "9007199254740993,NA,1,0.9,007\n9007199254740995,x,0,0.1,008\n9007199254740997,,1,0.4,009\n"
    data = write("ids.csv", f"id,code,y,s,z\n{rows}9007199254740998,q,0,0.3,010\n")
    target = tmp_path / "ids.parquet"
    assert run("calibrate", data, "--truth", "y", "--score", "s", "--folds", "1", "--out", str(target)).code == 0
    found = pl.read_parquet(target)
    assert found["id"].to_list() == [9007199254740993, 9007199254740995, 9007199254740997, 9007199254740998]
    assert found["code"].to_list()[:2] == ["NA", "x"]
    assert found["z"].to_list() == ["007", "008", "009", "010"]
    assert found["s"].to_list() == [0.9, 0.1, 0.4, 0.3]


# --- several models, and what was ignored in silence


def test_several_models_at_once(run, credit, tmp_path):
    two = [*credit, "--score", "tree", "--score", "logistic"]
    done = run("calibrate", *two, "--out", "both.csv")
    assert done.code == 0
    header = (tmp_path / "both.csv").read_text().splitlines()[0]
    assert header.endswith("logistic,tree_calibrated,logistic_calibrated")
    found = run("calibrate", *two, "--format", "json").json()
    alone = [run("calibrate", *credit, "--score", name, "--format", "json").json() for name in ("tree", "logistic")]
    assert found["models"] == alone
    assert found["rows"] == [row for one in alone for row in one["rows"]]
    done = run("calibrate", *two, "--map", "map.json")
    assert (done.code, done.err) == (
        2,
        "ScoreSpaceError: a map file holds one model.\n  hint: --map with one --score\n",
    )


def test_fold_beside_folds_is_refused(run, credit):
    done = run("calibrate", *credit, "--score", "tree", "--fold", "fold", "--folds", "5")
    assert (done.code, done.err) == (
        2,
        "ScoreSpaceError: --fold and --folds are alternatives.\n  hint: pass one of them\n",
    )


def test_a_weight_beside_apply_needs_a_truth(run, credit):
    assert run("calibrate", *credit, "--score", "tree", "--map", "map.json").code == 0
    done = run("calibrate", "credit.csv", "--score", "tree", "--apply", "map.json", "--weight", "fold")
    assert (done.code, done.err) == (
        2,
        "ScoreSpaceError: --weight with --apply is used for evaluation only.\n  hint: add --truth COL\n",
    )


def test_a_saved_map_knows_its_positive_class_in_python_too(run, credit, tmp_path, monkeypatch):
    import scorespace as ss

    assert run("calibrate", *credit, "--score", "tree", "--map", "map.json").code == 0
    found = ss.apply_map("credit.csv", "map.json", score="tree", truth="outcome")
    assert found.positive == "bad"
    with pytest.raises(ss.ScoreSpaceError) as caught:
        ss.apply_map("credit.csv", "map.json", score="tree", truth="outcome", positive="good")
    assert str(caught.value) == (
        "the map in 'map.json' gives the probability of 'bad', not of 'good'.\n  hint: positive=\"bad\""
    )


@pytest.mark.parametrize("method", ["beta", "venn_abers"])
def test_further_methods_are_cross_fitted_saved_and_applied(run, credit, tmp_path, method):
    path = tmp_path / "map.json"
    fitted = run("calibrate", *credit, "--score", "tree", "--method", method, "--map", str(path), "--format", "json")
    found = fitted.json()
    assert "cross-fitted over 10 folds" in found["fitted"]
    assert next(row for row in found["rows"] if row["measure"] == "brier")["difference"] < 0
    assert run("calibrate", credit[0], "--score", "tree", "--apply", str(path)).code == 0


def test_a_report_of_before_and_after(run, credit, tmp_path):
    path = tmp_path / "report.html"
    done = run("calibrate", *credit, "--score", "naive_bayes", "--method", "beta", "--report", str(path))
    assert done.code == 0
    text = path.read_text("utf-8")
    assert "Calibration of naive_bayes: beta" in text
    assert "naive_bayes_calibrated" in text
    refused = run("calibrate", credit[0], "--score", "tree", "--apply", "map.json", "--report", str(path))
    assert refused.code == 2
    assert "--truth COL" in refused.err


def test_the_hint_for_reversed_scores_works(run, write, tmp_path):
    rows = "".join(f"{int(k % 10 < k // 10)},{100 - k}\n" for k in range(100))
    data = write("points.csv", "bad,points\n" + rows)
    said = run("calibrate", data, "--truth", "bad", "--score", "points", "--out", "a.csv")
    assert "minus(points)" in said.out
    done = run("calibrate", data, "--truth", "bad", "--score", "risk=minus(points)", "--out", "b.csv")
    assert (done.code, done.err) == (0, "scores  b.csv\n")
    assert (tmp_path / "b.csv").read_text().startswith("bad,points,risk_calibrated\n")
