"""The declaration of a finding: on which table, what it says, and how often."""

import pytest

from scorespace.evaluation.finding import FINDINGS, Look, finding, notes_on
from scorespace.results import NOTE_KINDS
from scorespace.tables import Counts, ScoreTable, confusion, score_table

SCORES = score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7])
CRISP = confusion([[3, 1], [1, 3]], classes=["a", "b"], positive="a")
THREE = confusion([[1, 0, 0], [0, 1, 0], [0, 0, 1]], classes=["a", "b", "c"])


@pytest.fixture
def ours():
    """Findings for the time of a test; what is said under their codes."""
    before = len(FINDINGS)

    @finding("YY001", level="warning", title="outcomes")
    def outcomes(table: Counts, look: Look):
        return f"{look.model}{look.where}: {int(table.tp)} found."

    @finding("YY002", level="info", title="scores")
    def scores(table: ScoreTable, look: Look):
        yield from (f"{look.model} scores {score:g}." for score in table.score[:2])

    @finding("YY001")
    def nothing(table: Counts, look: Look):
        return None

    yield lambda table, look: [(n.code, n.level, n.text) for n in notes_on(table, look) if n.code.startswith("YY")]
    del FINDINGS[before:]
    for code in ("YY001", "YY002"):
        NOTE_KINDS.pop(code)


def test_a_finding_is_said_of_the_table_it_names_and_of_the_outcomes_inside(ours):
    assert ours(SCORES, Look("nb", 0.5)) == [
        ("YY001", "warning", "nb at 0.5: 2 found."),
        ("YY002", "info", "nb scores 0.9."),
        ("YY002", "info", "nb scores 0.7."),
    ]


def test_decisions_need_no_threshold_and_have_no_scores_to_speak_of(ours):
    assert ours(CRISP, Look("rule")) == [("YY001", "warning", "rule: 3 found.")]


def test_what_has_no_such_table_inside_is_passed_over(ours):
    assert ours(THREE, Look("rule")) == []
    assert [code for code, _, _ in ours(SCORES, Look("nb"))] == ["YY002", "YY002"]  # no threshold: no outcomes


def test_a_code_keeps_the_meaning_it_was_declared_with(ours):
    @finding("YY001", level="info", title="something else")
    def again(table: Counts, look: Look): ...

    assert (NOTE_KINDS["YY001"].level, NOTE_KINDS["YY001"].title) == ("warning", "outcomes")
