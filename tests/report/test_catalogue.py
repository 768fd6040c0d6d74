"""Measures and curves described for people."""

import pytest

from scorespace.comparisons.test import TESTS
from scorespace.curves import CURVES
from scorespace.evaluation.curves import kinds
from scorespace.measures import find, measures
from scorespace.report import catalogue as view
from scorespace.report.catalogue import (
    curve_entry,
    curve_example,
    curves_described,
    described,
    entry,
    example,
    explained,
    explained_curve,
)


@pytest.mark.parametrize("measure", measures(), ids=lambda measure: measure.name)
def test_every_measure_can_be_explained(measure):
    facts = dict(explained(measure).rows)
    assert facts[measure.name] == measure.title
    assert facts["definition"].endswith(".")
    assert facts["undefined"].startswith("when ")
    assert all(name in facts["names"] for name in measure.aliases)
    shown = [row[1] for row in explained(measure).rows]
    assert shown[len(shown) - len(measure.options) :] == [option.text for option in measure.options]


@pytest.mark.parametrize("measure", [one for one in measures() if one.biased], ids=lambda measure: measure.name)
def test_a_measure_that_small_samples_flatter_says_so(measure):
    assert dict(explained(measure).rows)["caution"] == measure.biased


def test_an_interval_that_misses_its_aim_says_so():
    told = dict(explained(find("auc")).rows)["interval"]
    assert told == f"{find('auc').interval}; {find('auc').coverage_note}"
    assert entry(find("auc"))["covers"] == find("auc").coverage_note
    assert dict(explained(find("brier")).rows)["interval"] == "log-t"


def test_a_measure_of_decisions_is_written_with_a_threshold():
    assert (example(find("ppv")), example(find("auc"))) == ("ppv@0.5", "auc")


def test_an_infinite_value_has_its_reason():
    assert dict(explained(find("lr_pos")).rows)["infinite"].startswith("when ")
    assert "infinite" not in dict(explained(find("ppv")).rows)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ppv", "0 to 1; higher is better"),
        ("tp", "0 to ∞; higher is better"),
        ("mcc", "-1 to 1; higher is better"),
        ("fpr", "0 to 1; lower is better"),
        ("prevalence", "0 to 1; no direction is better"),
    ],
)
def test_range_and_direction(name, words):
    assert dict(explained(find(name)).rows)["range"] == words


def test_options_show_their_defaults():
    shown = entry(find("pauc"))["options"]
    assert "corrected=false" in shown
    assert "tpr_low=…" in shown


def test_the_catalogue_has_a_row_for_each():
    grid = described(measures())
    assert [row[0] for row in grid.rows if row[0]] == [measure.name for measure in measures()]
    assert grid.prose


# --- curves


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.name)
def test_every_curve_can_be_explained(kind):
    facts = dict(explained_curve(kind).rows)
    assert facts[kind.name] == kind.title
    assert facts["definition"].endswith(".")
    assert facts["axes"] == f"{kind.y.lower()} against {kind.x.lower()}"
    assert all(name in facts["names"] for name in kind.aliases)
    assert ("options" in facts) == bool(kind.options)
    written = curve_example(kind).removeprefix("--kind ").strip('"')
    assert CURVES.parse(written).noun is kind  # what is shown can be typed


def test_the_catalogue_has_a_row_for_each_curve():
    grid = curves_described(kinds())
    assert [row[0] for row in grid.rows] == [kind.name for kind in kinds()]
    assert grid.prose


def test_an_entry_says_what_the_declaration_says():
    assert curve_entry(CURVES.find("rejection")) == {
        "name": "rejection",
        "title": "Rejection curve",
        "summary": "Accuracy of the accepted cases if those closest to the threshold are rejected first.",
        "needs": "scores",
        "x": "Share rejected",
        "y": "Accuracy of the rest",
        "area": "the mean error over all shares kept (AURC); lower is better",
        "band": False,
        "options": "at=…: the threshold; that of the model unless stated, else 0.5",
        "aliases": "accuracy_rejection, risk_coverage",
    }


KINDS = list(TESTS)


def test_the_list_names_every_test_and_what_it_is_for():
    grid = view.tests_grid(KINDS)
    assert grid.rows == tuple((one.name, one.for_) for one in KINDS)
    assert grid.prose


@pytest.mark.parametrize("kind", KINDS, ids=lambda one: one.name)
def test_each_is_explained_by_its_declaration(kind):
    facts = dict(view.explained_test(kind).rows)
    assert facts[kind.name] == kind.title
    assert facts["purpose"] == kind.for_
    assert all(alias in facts["names"] for alias in kind.aliases)
    row = view.test_entry(kind)
    assert (row["name"], row["options"]) == (kind.name, [option.text for option in kind.options])
    assert all(words and not words.endswith(".") for words in view.requirements(kind))
