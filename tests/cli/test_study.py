"""`scorespace study`."""

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
    assert "it learns something" in done.out or "is not shown" in done.out
    assert "permuted: 5 %" in done.out
    assert Path("null.svg").stat().st_size > 3_000
    found = run("study", "permutation", *cases, "--resampling", "2", "--permutations", "9", "--format", "json").json()
    assert found["permutations"] == 9
    assert 0 < found["p"] <= 1


def test_a_learning_curve(run, cases):
    done = run("study", "learning", *cases, "--resampling", "3", "--measure", "acc")
    assert done.code == 0
    assert "on training cases" in done.out
    assert "training cases more cases" in " ".join(done.out.split())


def test_the_final_model(run, cases):
    pytest.importorskip("skops")
    done = run("study", "model", *cases, "--out", "model.skops")
    assert done.code == 0
    assert "naive_bayes, fitted to all 80 rows of cases: model.skops (skops)" in " ".join(done.out.split())
    assert Path("model.skops").stat().st_size > 100
    refused = run("study", "model", *cases, "--out", "model.pkl")
    assert (refused.code, "would be a pickle" in refused.err) == (2, True)
    assert "SS072" in run("study", "model", *cases, "--out", "model.pkl", "--pickle").out
    assert "a model is saved to a file." in run("study", "model", *cases).err


def test_what_is_not_known(run, cases):
    done = run("study", "permutation", *cases[:-1], "naive_bays")
    assert done.code == 2
    assert "naive_bayes" in done.err
