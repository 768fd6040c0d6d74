"""The benchmarks: every part runs, what is timed gives the right answers, and a missing peer is no error."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score

from components import missing

ROOT = Path(__file__).parent.parent


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import bench
    import commands
    import learners
    import pages

    monkeypatch.setattr(bench, "IMPORTS", 1)
    monkeypatch.setattr(learners, "REPEATS", 1)
    monkeypatch.setattr(learners, "LEARNERS", ("majority", "tree"))
    monkeypatch.setattr(pages, "OPENED", 1)
    monkeypatch.setattr(pages, "MODELS", 2)
    # Tests of the page may hold a browser in this thread, beside which no other can be driven.
    tell, beside = pages._tell, ThreadPoolExecutor(1)
    monkeypatch.setattr(pages, "_tell", lambda *given: beside.submit(tell, *given).result())
    monkeypatch.setattr(commands, "RUNS", 1)
    monkeypatch.setattr(commands, "WARM_UP", ("--version",))
    monkeypatch.setattr(commands, "BEFORE", "0000000")
    yield bench
    for name in ("bench", "commands", "groups", "learners", "pages", "regression", "samples", "timing"):
        sys.modules.pop(name, None)


def run(bench, monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["bench.py", *arguments])
    bench.main()
    return capsys.readouterr().out


def test_every_part_runs(bench, monkeypatch, capsys):
    out = run(bench, monkeypatch, capsys, "--rows", "500")
    begun = [line.split(",")[0] for line in out.splitlines()]
    assert [name for name in begun if name in bench.PARTS] == list(bench.PARTS)
    assert sum(line.startswith("  ") for line in out.splitlines()) >= 15
    assert "The commit 0000000 is not in this history, so nothing is timed beside it." in out
    told = [line.split("  ")[1].strip() for line in out.splitlines() if line.startswith("  ")]
    named = ("--help", "--version", "AUC with its interval", "demo, for the first time", "demo", "two models")
    assert set(told) >= {*named, "one model, report", "three models, report", "its size beside the chart library"}


def test_a_part_for_several_sizes(bench, monkeypatch, capsys):
    out = run(bench, monkeypatch, capsys, "--only", "smooth", "--rows", "200", "1e3")
    assert "smooth, 200 rows" in out
    assert "smooth, 1 000 rows" in out
    assert "ranking" not in out
    assert "aim" not in out  # aims are for their own number of rows


def test_a_missing_peer_is_left_out_with_a_hint(bench, monkeypatch, capsys):
    monkeypatch.setattr("timing.find_spec", lambda name: None)
    out = run(bench, monkeypatch, capsys, "--only", "delong", "--rows", "300")
    assert "MLstatkit is not installed" in out
    assert "confidenceinterval is not installed" in out
    assert "pip install" in out
    assert "DeLong, 10 models" in out


def test_aims(bench):
    import timing

    slow, fast = timing.Line("x", 2.0, "peer", 10.0, timing.Aim(faster=10)), timing.Line("x", 1.0, "peer", 10.0)
    assert str(slow).endswith("5 × faster       aim ≥ 10 × faster: MISSED")
    assert fast.met
    assert str(fast).endswith("10 × faster")
    within = timing.Line("x", 1.4, "y", 1.0, timing.Aim(slower=1.5))
    assert str(within).endswith("1.40 × its time  aim ≤ 1.5 × its time: met")
    assert not timing.Line("x", 1.6, "y", 1.0, timing.Aim(slower=1.5)).met


def test_what_is_timed_agrees_with_scikit_learn(bench):
    truth, scores = bench.classes(400, 6)
    assert bench.our_hand_till(truth, scores) == pytest.approx(roc_auc_score(truth, scores, multi_class="ovo"))
    truth, scores = bench.models(400, bench.MODELS)
    areas, covariance, tests = bench.our_delong(truth, scores)
    assert_allclose(areas, [roc_auc_score(truth, score) for score in scores.values()], atol=1e-12)
    assert covariance.shape == (10, 10)
    assert len(tests) == 45


def test_commands_are_timed_beside_another_commit(bench, monkeypatch, capsys):
    import commands

    if subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, check=False).returncode:
        missing("this copy has no history")
    monkeypatch.setattr(commands, "BEFORE", "HEAD")
    with commands.checkout("HEAD") as old:
        assert (old / "src" / "scorespace" / "__init__.py").exists()
    assert not old.exists()
    monkeypatch.setattr(commands, "LARGE", 200)
    out = run(bench, monkeypatch, capsys, "--only", "commands", "--rows", "200")
    assert "three models, report" in out
    assert "the same at HEAD" in out


def test_a_command_that_fails_is_not_timed(bench, tmp_path):
    import commands

    with pytest.raises(RuntimeError, match="such command 'evaluat'"):
        commands.runner(ROOT / "src", tmp_path)("evaluat")
