"""`scorespace demo`: the main job on the bundled predictions."""

import json
import os
import re
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
    assert "AUC: logistic 0.790, naive_bayes 0.782" in done.stdout
    assert done.stdout.endswith(
        "report  scorespace-demo.html\n"
        "next    scorespace demo --copy\n"
        "        scorespace evaluate credit.csv --truth outcome --positive bad --score naive_bayes,tree\n"
        "        scorespace decide credit.csv --truth outcome --positive bad --score naive_bayes,tree "
        "--cost-fp 1 --cost-fn 5\n"
    )


def test_it_writes_the_report(demo):
    _, page = demo
    html = page.read_text(encoding="utf-8")
    assert html.lower().startswith("<!doctype html>")
    assert all(name in html for name in ("naive_bayes", "tree", "logistic", "Use naive_bayes at threshold 0.1233"))


def test_the_report_goes_where_it_is_wanted(run, tmp_path):
    done = run("demo", "--report", "mine.html", "--format", "json")
    assert (tmp_path / "mine.html").exists()
    assert not (tmp_path / "scorespace-demo.html").exists()
    assert {row["model"] for row in done.json()["rows"]} == {"naive_bayes", "tree", "logistic"}
    assert done.err == "report  mine.html\n"


def test_it_copies_the_files_that_all_examples_use(run, tmp_path):
    done = run("demo", "--copy")
    assert (done.code, done.out.splitlines()[0]) == (0, "wrote   credit.csv, iris.csv, deliveries.csv")
    assert len((tmp_path / "credit.csv").read_text().splitlines()) == 1001
    assert run("demo", "--copy").code == 0  # the same again does no harm
    (tmp_path / "iris.csv").write_text("mine")
    done = run("demo", "--copy")
    assert (done.code, done.err) == (
        2,
        "DataError: 'iris.csv' exists with other content.\n  hint: use an empty folder\n",
    )
    assert (tmp_path / "iris.csv").read_text() == "mine"


@pytest.mark.parametrize("form", ["json", "csv", "markdown"])
def test_copies_are_told_in_the_form_asked_for(run, form):
    done = run("demo", "--copy", "--format", form)
    files = [("credit.csv", 39522), ("iris.csv", 7128), ("deliveries.csv", 1034)]
    if form == "json":
        found = [(row["file"], row["bytes"]) for row in json.loads(done.out)["rows"]]
    else:
        cells = [re.findall(r"[\w.]+", line) for line in done.out.splitlines()]
        found = [(line[0], int(line[1])) for line in cells if len(line) == 2 and line[1].isdigit()]
    assert (done.code, found) == (0, files)


def test_examples_of_the_docs(run, tmp_path):
    done = run("demo", "--example", "payments.csv,grades.csv")
    assert (done.code, done.out) == (0, "wrote   payments.csv, grades.csv\n")
    rows = (tmp_path / "payments.csv").read_text().splitlines()[1:]
    assert all(row.split(",")[2] == "good" or int(row.split(",")[0]) % 12 == 0 for row in rows)
    assert (tmp_path / "grades.csv").read_text().splitlines()[0] == "id,outcome,grade,pd"
    refused = run("demo", "--example", "thn.csv")
    assert refused.err == "DataError: there is no example 'thn.csv'.\n  hint: did you mean then.csv?\n"
