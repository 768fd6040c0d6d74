"""What the catalogues share: one noun, a search, and words that lead nowhere."""

import pytest


@pytest.mark.parametrize(("verb", "words", "found"), [("measures", ["probability", "of", "detection"], "tpr")])
def test_words_lead_to_a_noun(run, verb, words, found):
    assert found in [row["name"] for row in run(verb, *words, "--format", "json").json()["rows"]]


def test_a_name_explains_one_and_unknown_words_are_refused(run):
    assert [row["name"] for row in run("curves", "roc", "--format", "json").json()["rows"]] == ["roc"]
    refused = run("tests", "zzzz")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("ScoreSpaceError:")
