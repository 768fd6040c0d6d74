"""`scorespace demo`: the main job on the bundled predictions."""

import os
import subprocess

import pytest


@pytest.fixture(scope="module")
def demo(command, tmp_path_factory):
    """What the demo printed, and the page that it wrote."""
    folder = tmp_path_factory.mktemp("demo")
    plain = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    done = subprocess.run([command, "demo"], cwd=folder, env=plain, capture_output=True, text=True, check=True)
    return done, folder / "scorespace-demo.html"


def test_it_prints_the_verdict_and_where_the_report_is(demo):
    done, _ = demo
    assert done.stderr == ""
    assert "1 000 cases   positive = bad (300, 30.0 %)   negative = good (700)" in done.stdout
    assert " ranks best, with AUC 0." in done.stdout
    assert done.stdout.endswith("report  scorespace-demo.html\n")


def test_it_writes_the_report(demo):
    _, page = demo
    html = page.read_text(encoding="utf-8")
    assert html.lower().startswith("<!doctype html>")
    assert all(name in html for name in ("naive_bayes", "tree", "logistic", "ranks best"))


def test_the_report_goes_where_it_is_wanted(run, tmp_path):
    done = run("demo", "--report", "mine.html", "--format", "json")
    assert (tmp_path / "mine.html").exists()
    assert not (tmp_path / "scorespace-demo.html").exists()
    assert {row["model"] for row in done.json()["rows"]} == {"naive_bayes", "tree", "logistic"}
    assert done.err == "report  mine.html\n"
