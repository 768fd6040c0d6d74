"""The verbs on the directory of a run."""

import json

import pytest

from helpers.runs import folded
from scorespace.cli.runs import has_many_datasets


def test_whether_it_is_a_benchmark(tmp_path):
    assert has_many_datasets(str(folded()), None)
    assert not has_many_datasets(str(folded()), "iris")
    assert not has_many_datasets(str(tmp_path), None)
    assert not has_many_datasets("credit.csv", None)
    assert not has_many_datasets(None, None)


def test_evaluate_a_benchmark(run, tmp_path):
    page = tmp_path / "page.html"
    done = run("evaluate", str(folded()), "--report", str(page))
    assert done.code == 0
    lines = done.out.splitlines()
    assert "folded: benchmark" in lines[0]
    assert "2 data sets   2 learners   2x3   auc[hand_till], higher is better" in done.out
    assert any(line.startswith("cancer") and "±" in line and "*" in line for line in lines)
    assert "SS070" in done.out
    html = page.read_text()
    for words in ("How good is each learner?", "Do they overfit or underfit?", "Mean over folds or pooled?"):
        assert words in html
    found = json.loads(run("evaluate", str(folded()), "--measures", "acc", "--format", "json").out)
    assert found["measure"] == "acc"
    assert {(row["dataset"], row["model"]) for row in found["rows"]} == {
        (d, m) for d in ("cancer", "iris") for m in ("naive_bayes", "tree")
    }
    assert {"mean", "sd", "pooled", "folds", "undefined", "training"} <= {*found["rows"][0]}


def test_compare_a_benchmark(run):
    done = run("compare", str(folded()), "--measure", "acc")
    assert done.code == 0
    assert "naive_bayes − tree" in done.out
    assert "average rank" in done.out
    assert "Wilcoxon" in done.out


def test_a_benchmark_has_sides_and_adjustments(run):
    def rows(*options):
        found = json.loads(run("compare", str(folded()), "--measure", "acc", "--format", "json", *options).out)
        return found["ranking"]["rows"]

    (two,), (one,) = rows(), rows("--alternative", "less")
    assert (two["alternative"], one["alternative"]) == ("two-sided", "less")
    assert one["p"] in (pytest.approx(two["p"] / 2), pytest.approx(1 - two["p"] / 2), pytest.approx(1.0))
    done = run("compare", str(folded()), "--at", "0.5")
    assert (done.code, done.err.splitlines()[0]) == (2, "ScoreSpaceError: --at needs a single data set of the run.")


def test_one_data_set(run, tmp_path):
    where = (str(folded()), "--dataset", "cancer")
    done = run("evaluate", *where, "--measures", "auc, brier")
    assert "folded: cancer" in done.out
    assert "mean ± sd" in done.out
    found = json.loads(run("evaluate", *where, "--measures", "auc", "--format", "json").out)
    assert [row["folds"] for row in found["folds"]] == [6, 6]
    assert "corrected t" in run("compare", *where).out
    assert "Use naive_bayes at threshold" in run("decide", *where, "--cost-fp", "1", "--cost-fn", "5").out


@pytest.mark.parametrize("how", ["vertical", "threshold"])
def test_curves_are_averaged(run, tmp_path, how):
    where = (str(folded()), "--dataset", "cancer", "--average", how)
    out = tmp_path / "roc.csv"
    assert run("curve", *where, "--out", str(out)).code == 0
    rows = out.read_text().splitlines()
    assert rows[0].split(",")[:2] == ["x", "y"]
    picture = tmp_path / "roc.svg"
    assert run("curve", *where, "--out", str(picture)).code == 0
    assert picture.stat().st_size > 5_000


def test_what_does_not_go_together(run):
    for given, told in [
        (("evaluate", str(folded()), "--require", "auc>=0.5"), "--require needs a single data set of the run."),
        (("curve", str(folded())), "folded holds several data sets."),
        (
            ("evaluate", str(folded()), "--dataset", "iris", "--truth", "y"),
            "truth=… names a column, ",
        ),
        (
            ("curve", str(folded()), "--dataset", "cancer", "--kind", "calibration", "--average", "vertical"),
            "calibration is not averaged",
        ),
    ]:
        done = run(*given)
        assert done.code == 2
        assert told in done.err
