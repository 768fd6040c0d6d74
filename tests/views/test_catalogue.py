"""Measures described for people."""

import pytest

from scorespace.measures import find, measures
from scorespace.views.catalogue import described, entry, example, explained


@pytest.mark.parametrize("measure", measures(), ids=lambda measure: measure.name)
def test_every_measure_can_be_explained(measure):
    facts = dict(explained(measure).rows)
    assert facts[measure.name] == measure.title
    assert facts["what"].endswith(".")
    assert facts["undefined"].startswith("when ")
    assert all(name in facts["names"] for name in measure.aliases)
    assert all(option.name in facts["options"] for option in measure.options)


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
        ("prevalence", "0 to 1; neither direction is better"),
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
    assert [row[0] for row in grid.rows] == [measure.name for measure in measures()]
    assert grid.prose
