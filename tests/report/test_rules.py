"""The page of rules and its picture."""

import pytest

import scorespace as ss
from helpers.shown import baskets
from scorespace.report import html, terminal
from scorespace.report import rules as view
from scorespace.report.rules import rule_chart

DATA = baskets()


@pytest.fixture(scope="module")
def found():
    return ss.rules(DATA)


def test_a_screen_of_text(found):
    text = terminal.text(view.document(found).brief(), 80)
    assert text.splitlines()[0].startswith("arrays   300 transactions   4 items   support ≥ 0.01   ")
    assert text.splitlines()[2].split() == ["rule", "both", "p", "confidence", "↑", "rule_lift", "↑"]
    assert max(map(len, text.splitlines())) <= 80


def test_the_page_shows_every_measure_and_runs_nothing_of_the_data(found):
    page = html.render(view.document(found))
    assert "kulczynski" in page
    assert "<td></script>" not in page
    assert "&lt;/script&gt;" in page


def test_no_rules_is_a_page_too():
    none = ss.rules({"a": [1, 0, 0], "b": [0, 1, 0]}, min_support=0.5)
    assert none.words.startswith("No rule ")
    assert "3 transactions" in none.words
    assert none.words in terminal.text(view.document(none).brief(), 80)
    assert "No rule with " in html.render(view.document(none))


def test_measures_as_asked_for():
    text = terminal.text(view.document(ss.rules(DATA, measures="mcc, support, jaccard")).brief(), 100)
    assert text.splitlines()[2].split() == ["rule", "both", "p", "mcc", "↑", "support", "↑", "jaccard", "↑"]


def test_the_picture(found, valid):
    spec = valid(rule_chart(found))
    assert len(spec["datasets"]["table 1"]) == len(found)
