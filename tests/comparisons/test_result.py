"""Comparisons as rows, dictionaries and sentences."""

import json
import math

import pytest

from scorespace.comparisons.result import Comparison, Comparisons
from scorespace.results import format_signed, note, p_text

PAIR = Comparison("nb", "tree", "delong", "auc", 0.084, 0.051, 0.117, 0.95, 5.0, math.nan, 0.0003)
KEYS = ["a", "b", "test", "measure", "difference", "low", "high", "statistic", "df", "p", "reason"]


def test_a_row_has_the_documented_keys():
    row = PAIR.row()
    assert [key for key in row if key in KEYS] == KEYS
    assert set(row) - set(KEYS) == {"level", "p_adjusted", "alternative", "table", "value_a", "value_b"}


def test_undefined_numbers_are_none_in_rows():
    row = Comparison("a", "b", "delong", "auc", reason="a class has fewer than two cases").row()
    assert [row[key] for key in ("difference", "low", "high", "statistic", "df", "p")] == [None] * 6
    assert row["reason"] == "a class has fewer than two cases"


def test_the_dictionary_is_json():
    found = Comparisons(("nb", "tree"), (PAIR,), None, (note("SS014", "few."),))
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert content["schema"] == 1
    assert content["rows"] == [PAIR.row()]
    assert content["verdict"] == PAIR.words
    assert content["notes"] == [{"code": "SS014", "level": "warning", "text": "few."}]


def test_degrees_of_freedom_may_be_two():
    assert Comparison("a", "b", "f", "acc", df=(10.0, 5.0)).row()["df"] == [10.0, 5.0]


def test_a_collection():
    found = Comparisons(("nb", "tree"), (PAIR,))
    assert (len(found), found[0], list(found), found.rows()) == (1, PAIR, [PAIR], [PAIR.row()])
    assert repr(found) == found.words == repr(PAIR)


def several(**more):
    return Comparison("a", "b, c", "cochran q", "acc", several=True, **more)


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (PAIR, "nb and tree: auc differs by +0.084 [0.051, 0.117], statistically significant (p < 0.001)."),
        (
            Comparison("a", "b", "permutation", "ks", -0.1, p=0.2),
            "a and b: ks differs by −0.100, not statistically significant (p = 0.200).",
        ),
        (
            Comparison("a", "b", "delong", "auc", 0.1, 0.01, 0.19, p=0.03, p_adjusted=0.09),
            "a and b: auc differs by +0.100 [0.010, 0.190], not statistically significant (p = 0.090, adjusted).",
        ),
        (
            Comparison("a", "b", "delong", "auc", 0.5, reason="the variance is zero"),
            "a and b: auc differs by +0.500; no test is possible: the variance is zero.",
        ),
        (
            Comparison("a", "b", "delong", "auc", reason="a class has fewer than two cases"),
            "a and b: a class has fewer than two cases.",
        ),
        (Comparison("a", "b", "delong", "auc"), "a and b: the difference is undefined."),
        (several(p=0.01), "Together, a, b, c differ significantly in acc (p = 0.010)."),
        (several(p=0.5), "Together, a, b, c do not differ significantly in acc (p = 0.500)."),
    ],
)
def test_words(one, words):
    assert one.words == repr(one) == words


def test_five_percent_itself_is_not_enough():
    assert "not statistically significant" in Comparison("a", "b", "t", "auc", 0.1, p=0.05).words


@pytest.mark.parametrize(
    ("p", "text"), [(1, "p = 1.000"), (0.0301, "p = 0.030"), (0.001, "p = 0.001"), (0.00099, "p < 0.001")]
)
def test_p_for_people(p, text):
    assert p_text(p) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0842, "+0.084"),
        (-0.1, "−0.100"),
        (0.0, "0.000"),
        (-0.0, "0.000"),
        (0.0001, "+0.00010"),
        (-0.0001, "−0.00010"),
    ],
)
def test_differences_have_signs(value, text):
    assert format_signed(value) == text
