"""What the catalogues share: completion, one noun, a search, and words that lead nowhere."""

import pytest

from scorespace.cli.lookup import beginning
from scorespace.curves.curve import CURVES


def test_a_shell_is_offered_names_and_then_other_names():
    assert [name for name, _ in beginning(CURVES, "roc")] == ["roc"]
    other = next(alias for one in CURVES for alias in one.aliases)
    assert other in [name for name, _ in beginning(CURVES, other)]
    assert beginning(CURVES, "nothing_like_it") == []


@pytest.mark.parametrize(("verb", "words", "found"), [("measures", ["probability", "of", "detection"], "tpr")])
def test_words_lead_to_a_noun(run, verb, words, found):
    assert found in [row["name"] for row in run(verb, *words, "--format", "json").json()["rows"]]


def test_a_name_explains_one_and_unknown_words_are_refused(run):
    assert [row["name"] for row in run("curves", "roc", "--format", "json").json()["rows"]] == ["roc"]
    refused = run("tests", "zzzz")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("ScoreSpaceError:")
