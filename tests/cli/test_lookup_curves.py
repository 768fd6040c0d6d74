"""`scorespace curves`: the kinds of curves, or one explained."""

import csv
import io

import pytest

from scorespace.evaluation.curves import kinds

KEYS = ["name", "title", "summary", "needs", "x", "y", "area", "band", "options", "aliases"]
CALIBRATION = """\

calibration   Calibration curve (reliability diagram)
definition    Observed rate against mean score of groups of neighbouring scores.
axes          observed rate against mean score
area          no interpretation
band          simultaneous confidence band with --band
needs         scores between 0 and 1; write --kind "calibration(by=count)"
names         calibration, reliability, reliability_diagram
options       by=isotonic: groups by isotonic regression, or bins of equal width
              or count (isotonic, width, count)
              bins=10: number of bins, unless groups are isotonic
"""
COST = """\

cost         Cost curve
definition   Lowest normalised cost of any threshold (y) for each x = π·c_FN /
             (π·c_FN + (1−π)·c_FP).
axes         normalised expected cost against probability-weighted cost of
             positives
area         the mean cost when all conditions are equally likely; lower is
             better
band         none
needs        scores; write --kind cost
names        cost, cost_curve
"""


def lines(out):
    return [line.rstrip() for line in out.strip().splitlines()]


def test_in_a_process_of_its_own(shell):
    done = shell("curves")
    assert (done.code, done.err) == (0, "")
    assert "Accuracy of the accepted cases" in done.out


@pytest.mark.parametrize(
    ("name", "text"), [("calibration", CALIBRATION), ("Reliability-Diagram", CALIBRATION), ("cost_curve", COST)]
)
def test_one_curve_by_any_of_its_names(run, name, text):
    assert lines(run("curves", name).out) == lines(text)


def test_json_has_every_curve(run):
    found = run("curves", "--format", "json").json()
    assert found["schema"] == 1
    assert [row["name"] for row in found["rows"]] == [kind.name for kind in kinds()]
    assert all(list(row) == KEYS for row in found["rows"])
    assert [row["name"] for row in found["rows"] if row["band"]] == [
        "roc",
        "pr",
        "net_benefit",
        "snb",
        "calibration",
        "smooth_calibration",
        "quantile_reliability",
    ]


def test_the_contract_has_its_kinds():
    wanted = [
        "roc",
        "pr",
        "smooth",
        "hull",
        "cost",
        "brier",
        "net_benefit",
        "calibration",
        "gain",
        "lift",
        "rejection",
        "threshold",
    ]
    assert {kind.name for kind in kinds()} >= set(wanted)


def test_csv_has_every_curve(run):
    rows = list(csv.DictReader(io.StringIO(run("curves", "--format", "csv").out)))
    assert [row["name"] for row in rows] == [kind.name for kind in kinds()]


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_text_has_every_curve_within_the_width(run, columns):
    found = run("curves", columns=columns).out.splitlines()
    assert max(map(len, found)) <= columns
    assert {kind.name for kind in kinds()} <= {line.split(" ")[0] for line in found}


@pytest.mark.parametrize(("name", "hint"), [("calibraton", "did you mean calibration?"), ("xyz", "lists them all")])
def test_an_unknown_name_gets_a_suggestion(run, name, hint):
    done = run("curves", name)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"CurveError: there is no curve '{name}'.\n  hint: ")
    assert hint in done.err
