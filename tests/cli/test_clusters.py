"""`scorespace clusters`: what it shows, writes and refuses."""

import numpy as np
import pytest


@pytest.fixture
def points(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    labels = np.repeat(["a", "b", "c"], 20)
    values = rng.normal(0, 1, (60, 2)) + 8 * np.eye(3, 2)[np.repeat([0, 1, 2], 20)]
    rows = "".join(f"{x:.4f},{y:.4f},{k},{k.upper()}\n" for (x, y), k in zip(values, labels, strict=True))
    (tmp_path / "points.csv").write_text(f"x1,x2,k,class\n{rows}")
    return tmp_path


ASKED = ("clusters", "points.csv", "--label", "k", "--feature", "x*")


def test_a_table_for_people(run, points):
    shown = run(*ASKED, "--truth", "class")
    assert shown.code == 0
    assert "points.csv   60 points   2 features   truth = class" in shown.out
    assert "3 clusters of 20 points " in " ".join(shown.out.split())
    assert "with class: 1.00." in " ".join(shown.out.split())


def test_json_and_csv(run, points):
    content = run(*ASKED, "--format", "json", "--resamples", "0").json()
    assert content["schema"] == 1
    assert {row["measure"] for row in content["rows"]} >= {"silhouette", "border_distance", "density", "dunn"}
    assert run(*ASKED, "--measures", "dunn", "--format", "csv").out.splitlines()[0].startswith("model,measure,at,class")


def test_report_and_picture(run, points):
    done = run(*ASKED, "--report", "page.html", "--out", "points.svg")
    assert done.code == 0
    assert "report  page.html" in done.out
    assert (points / "page.html").read_text(encoding="utf-8").startswith("<!")
    assert (points / "points.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("clusters", "points.csv", "--feature", "x*"),
            "ColumnError: no column of cluster labels is named.\n  hint: --label COL\n",
        ),
        (
            ("clusters", "points.csv", "--label", "k"),
            "ColumnError: no features are given.\n  seen: 'x1', 'x2', 'k', 'class'\n"
            "  hint: --feature COL such as 'x*'\n",
        ),
        (
            (*ASKED, "--measures", "ari"),
            "MeasureError: ari compares clusters with known classes.\n  hint: --truth COL\n",
        ),
        (
            ("clusters", "points.csv", "--label", "k", "--feature", "class"),
            "ColumnError: column 'class' is not numeric.\n  seen: 'A', 'B', 'C'\n"
            "  hint: --feature COL numeric columns\n",
        ),
    ],
)
def test_mistakes_are_told(run, points, words, told):
    done = run(*words)
    assert done.code == 2
    assert done.err == told


def test_the_data_are_not_written_over(run, points):
    (points / "page.html").write_text("x1,k\n1,a\n")
    assert run("clusters", "page.html", "--label", "k", "--feature", "x1", "--report", "page.html").code == 2
    assert (points / "page.html").read_text() == "x1,k\n1,a\n"
