"""`scorespace tests`: the tests between models, or one explained."""

import csv
import io

import pytest

from scorespace.comparisons.test import tests_in_order as ordered_tests  # pytest would run what is called test…

KEYS = ["name", "title", "summary", "for", "asked", "sides", "options", "aliases"]
INTERVAL = """\
interval     test by intervals
definition   p is one minus the level at which the interval of the measure just
             reaches the fixed value.
purpose      one value against a fixed value, or two samples: agrees with the
             displayed intervals
compares     test against a value; compare two independent samples
requires     a measure
sides        two, or one with --alternative
names        interval
"""


def test_json_and_csv_have_every_test(run):
    names = [kind.name for kind in ordered_tests()]
    found = run("tests", "--format", "json").json()
    assert (found["schema"], [row["name"] for row in found["rows"]]) == (1, names)
    assert all(list(row) == KEYS for row in found["rows"])
    rows = list(csv.DictReader(io.StringIO(run("tests", "--format", "csv").out)))
    assert [row["name"] for row in rows] == names


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_text_has_every_test_within_the_width(run, columns):
    done = run("tests", columns=columns)
    assert done.code == 0
    assert max(map(len, done.out.splitlines())) <= columns
    for kind in ordered_tests():
        assert f"\n{kind.name} " in done.out


def test_one_test_explained(run):
    shown = [line.rstrip() for line in run("tests", "interval").out.strip().splitlines()]
    assert shown == INTERVAL.splitlines()


@pytest.mark.parametrize("name", ["mcnemar", "McNemar", "mcnemar-exact"])
def test_one_test_by_any_of_its_names(run, name):
    (row,) = run("tests", name, "--format", "json").json()["rows"]
    assert row["name"] == "mcnemar"
    assert row["asked"] == ["compare two models on the same cases", "compare several models at once"]
    assert row["options"][0].startswith("method=auto: ")


@pytest.mark.parametrize(
    ("name", "hint"), [("delnog", "did you mean delong?"), ("zzzz", "scorespace tests lists them all")]
)
def test_an_unknown_name_gets_a_suggestion(run, name, hint):
    done = run("tests", name)
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith(f"hint: {hint}\n")


def test_a_part_of_a_name_finds_it(run):
    assert run("tests", "delon", "--format", "json").json()["rows"][0]["name"] == "delong"
