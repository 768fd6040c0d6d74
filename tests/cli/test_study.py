"""`scorespace study`."""

import re
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def cases(write):
    draws = np.random.default_rng(0)
    truth = draws.integers(0, 2, 80)
    rows = "".join(f"{x:.3f},{y}\n" for x, y in zip(truth + draws.normal(size=80), truth, strict=True))
    return [write("cases.csv", "x,y\n" + rows), "--target", "y", "--learner", "naive_bayes"]


def test_permuted_labels(run, cases):
    done = run("study", "permutation", *cases, "--resampling", "2", "--permutations", "9", "--out", "null.svg")
    assert done.code == 0
    assert "(0 of 9 permutations score at" in done.out
    assert "permuted: 5 %" in done.out
    assert Path("null.svg").stat().st_size > 3_000
    found = run("study", "permutation", *cases, "--resampling", "2", "--permutations", "9", "--format", "json").json()
    assert found["permutations"] == 9
    assert 0 < found["p"] <= 1


def test_a_learning_curve(run, cases):
    done = run("study", "learning", *cases, "--resampling", "3", "--measure", "acc")
    assert done.code == 0
    assert "on training cases" in done.out
    assert "At 53 training cases " in " ".join(done.out.split())


def test_the_final_model(run, cases):
    pytest.importorskip("skops")
    done = run("study", "model", *cases, "--out", "model.skops")
    assert done.code == 0
    assert "naive_bayes, fitted to all 80 rows of cases: model.skops (skops)" in " ".join(done.out.split())
    assert Path("model.skops").stat().st_size > 100
    refused = run("study", "model", *cases, "--out", "model.pkl")
    assert (refused.code, "would be a pickle" in refused.err) == (2, True)
    assert "SS072" in run("study", "model", *cases, "--out", "model.pkl", "--pickle").out
    assert "the file of the model is missing." in run("study", "model", *cases).err


def test_what_is_not_known(run, cases):
    done = run("study", "permutation", *cases[:-1], "naive_bays")
    assert done.code == 2
    assert "naive_bayes" in done.err


def test_inner_and_outer(run, cases):
    tree = [*cases[:-1], "tree"]
    done = run("study", "inner", *tree, "--resampling", "3")
    assert done.code == 0
    assert re.search(r"acc 0\.\d+ on the inner folds, 0\.\d+ on the outer", " ".join(done.out.split()))
    assert "naive_bayes selects nothing within its training cases." in run("study", "inner", *cases).err


def test_a_run_tells_what_it_kept(run, cases):
    both = ["--learner", "tree", "--resampling", "2x3", "--out", "r", "--workers", "1"]
    assert run("benchmark", "--data", cases[0], "--target", "y", "--learner", "majority", *both).code == 0
    (row,) = run("study", "inner", "r", "--format", "json").json()["rows"]
    assert (row["dataset"], row["model"], row["measure"], row["splits"]) == ("cases", "tree", "acc", 6)
    rows = run("study", "bias", "r", "--format", "json").json()["rows"]
    assert [(one["model"], one["loss"]) for one in rows] == [
        *(("majority", "decisions"), ("majority", "probabilities")),
        *(("tree", "decisions"), ("tree", "probabilities")),
    ]
    assert all(abs(one["error"] - one["bias2"] - one["variance"]) < 1e-12 for one in rows)
    assert "Brier score" in run("study", "bias", "r", "--learner", "tree").out
    assert "no learner of 'r' stored scores of inner folds" in run("study", "inner", "r", "--learner", "majority").err
    assert "study learning fits a learner to data, but 'r' is a run." in run("study", "learning", "r").err
    assert "no chart" in run("study", "inner", "r", "--out", "b.png").err
    assert run("study", "bias", "r", "--out", "b.svg", "--report", "b.html").code == 0
    assert "How much of the error is variance?" in Path("b.html").read_text()
    assert "variance" in Path("b.svg").read_text()
    assert "has no report" in run("study", "model", *cases, "--out", "m.skops", "--report", "b.html").err


def test_what_is_not_stated(run, cases):
    assert "is not a benchmark run" in run("study", "bias", cases[0]).err
    assert run("study", "learning", cases[0]).err == (
        "ScoreSpaceError: study learning needs a target and a learner.\n  hint: --target COL --learner NAME\n"
    )
