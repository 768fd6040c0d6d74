"""Errors: the problem, what was seen, one thing to do."""

import pytest

from scorespace import errors
from scorespace.errors import ScoreSpaceError, closest_name, did_you_mean, listing


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ({}, "It is wrong."),
        ({"seen": "this"}, "It is wrong.\n  seen: this"),
        ({"hint": "do that"}, "It is wrong.\n  hint: do that"),
        ({"seen": "this", "hint": "do that"}, "It is wrong.\n  seen: this\n  hint: do that"),
    ],
)
def test_message(parts, text):
    assert str(ScoreSpaceError("It is wrong.", **parts)) == text


def test_parts_can_be_read():
    error = ScoreSpaceError("It is wrong.", seen="this", hint="do that")
    assert (error.problem, error.seen, error.hint) == ("It is wrong.", "this", "do that")


@pytest.mark.parametrize(
    "name", ["DataError", "ColumnError", "PositiveError", "ScoreError", "WeightError", "MeasureError", "ConditionError"]
)
def test_all_are_value_errors(name):
    kind = getattr(errors, name)
    assert issubclass(kind, ScoreSpaceError)
    assert issubclass(kind, ValueError)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "'a'"),
        (["a", 1], "'a', '1'"),
        ("abcdefghij", "'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' and 2 more"),
    ],
)
def test_listing(names, text):
    assert listing(names) == text


@pytest.mark.parametrize(
    ("name", "meant"), [("outcom", "outcome"), ("OUTCOME", "outcome"), ("scroe", "Score"), ("xyz", None), ("", None)]
)
def test_the_nearest_name(name, meant):
    assert closest_name(name, ["outcome", "Score"]) == meant


def test_the_hint_for_an_unknown_name():
    assert did_you_mean("scroe", ["Score"], "one of these") == "did you mean Score?"
    assert did_you_mean("scroe", ["Score"], quoted=True) == "did you mean 'Score'?"
    assert did_you_mean("xyz", ["Score"], "one of these") == "one of these"
    assert did_you_mean("xyz", ["Score"]) is None


def test_no_part_commands_the_terminal():
    error = ScoreSpaceError("a\x1b[31m.", seen="two\nlines \x9b", hint="turned \u202e")
    assert str(error) == "a\\x1b[31m.\n  seen: two\\nlines \\x9b\n  hint: turned \\u202e"
    assert error.hint == "turned \\u202e"


def test_a_blank_is_nearer_than_another_letter():
    assert closest_name("score_a", ["score_b", "score a"]) == "score a"
