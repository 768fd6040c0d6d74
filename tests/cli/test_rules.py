"""`scorespace rules`: what it shows, writes and refuses."""

import csv
import io
import re

import numpy as np
import pytest


@pytest.fixture
def baskets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    held = rng.random((400, 4)) < [0.5, 0.4, 0.3, 0.3]
    held[:, 2] |= held[:, 0] & held[:, 1]
    names = ["bread", "butter", "jam", "tea"]
    rows = "".join(f"{row + 1},{names[item]}\n" for row, item in zip(*np.nonzero(held), strict=True))
    (tmp_path / "long.csv").write_text(f"basket,product\n{rows}")
    lines = "".join(",".join(map(str, row)) + "\n" for row in held.astype(int))
    (tmp_path / "wide.csv").write_text(f"{','.join(names)}\n{lines}")
    return tmp_path


LONG = ("rules", "long.csv", "--transaction", "basket", "--item", "product")


def test_long_and_one_hot_say_the_same_of_confidence(run, baskets):
    found = [run(*words, "--format", "json", "--top", "0").json() for words in (LONG, ("rules", "wide.csv"))]
    values = [{row["rule"]: row["value"] for row in one["rows"] if row["measure"] == "confidence"} for one in found]
    assert values[0] == values[1]
    assert "bread, butter → jam" in values[0]


def test_a_table_for_people(run, baskets):
    shown = run(*LONG, "--rule", "bread, butter => jam", "--rule", "tea => jam")
    assert shown.code == 0
    assert "bread, butter → jam" in shown.out
    assert "100.0 % have jam" in shown.out
    assert re.search(r"\b1 of (the )?2 rules", " ".join(shown.out.split()))


def test_bounds_order_and_csv(run, baskets):
    out = run(*LONG, "--at-least", "confidence=0.4", "--order", "-confidence", "--format", "csv").out
    values = [float(row["confidence"]) for row in csv.DictReader(io.StringIO(out))]
    assert values == sorted(values)
    assert values[0] >= 0.4


def test_report_and_picture(run, baskets):
    done = run(*LONG, "--report", "page.html", "--out", "rules.svg")
    assert done.code == 0
    assert (baskets / "page.html").read_text(encoding="utf-8").startswith("<!")
    assert (baskets / "rules.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("rules", "long.csv", "--transaction", "basket"),
            "ColumnError: long format needs one column with the item.\n  seen: none\n  hint: --item product\n",
        ),
        (
            ("rules", "long.csv"),
            "ColumnError: column 'basket' holds numbers other than 0 and 1.\n",
        ),
        ((*LONG, "--at-least", "confidence"), "MeasureError: the bound 'confidence' cannot be parsed.\n"),
        ((*LONG, "--rule", "bread"), "DataError: the rule 'bread' "),
        ((*LONG, "--min-support", "2"), "ScoreSpaceError: min_support=2 is not a share of the transactions.\n"),
    ],
)
def test_mistakes_are_told(run, baskets, words, told):
    done = run(*words)
    assert done.code == 2
    assert done.err.startswith(told)


def test_csv_without_rules_has_the_header_of_others(run, tmp_path):
    (tmp_path / "a.csv").write_text("bread,jam\n1,1\n1,1\n0,0\n")
    some = run("rules", "a.csv", "--format", "csv")
    none = run("rules", "a.csv", "--format", "csv", "--at-least", "lift=9")
    assert len(some.out.splitlines()) > 1
    assert (none.code, none.out) == (0, some.out.splitlines()[0] + "\n")
