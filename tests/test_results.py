"""What every result owes its reader."""

import json
import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorespace.results import (
    NOTE_KINDS,
    ByValue,
    Result,
    decimal_places,
    decimal_places_by_column,
    decimals,
    format_interval,
    grouped,
    note,
    percent,
    to_json_types,
)


@dataclass(frozen=True, eq=False)
class Pair(ByValue):
    name: str
    values: np.ndarray


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64("nan"), None),
        (float("inf"), None),
        (-np.inf, None),
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (2.0, 2.0),
        (np.True_, True),
        ("text", "text"),
        (None, None),
        (np.array([[1.0, np.nan], [np.inf, 2.0]]), [[1.0, None], [None, 2.0]]),
        ((1, "a", np.nan), [1, "a", None]),
        ({"a": {1: np.array([np.nan])}}, {"a": {"1": [None]}}),
    ],
)
def test_plain(value, expected):
    assert to_json_types(value) == expected


def test_plain_values_are_json():
    json.dumps(to_json_types({"a": np.float64("nan"), "b": [np.int8(1), np.bool_(False)], 3: np.inf}), allow_nan=False)


def test_whole_floats_stay_floats():
    assert isinstance(to_json_types(np.float64(2)), float)


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (999, "999"), (1000, "1 000"), (1234567.0, "1 234 567"), (1234.56, "1 234.56")]
)
def test_grouped(number, text):
    assert grouped(number) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.12345, "0.123"),
        (-0.12345, "−0.123"),
        (-0.0001, "−0.00010"),
        (0.0034, "0.0034"),
        (1e-17, "0.000"),  # rounding
        (0.0, "0.000"),
        (-0.0, "0.000"),
        (float("nan"), "–"),
        (float("inf"), "∞"),
        (float("-inf"), "−∞"),
        (12.0, "12.0"),
    ],
)
def test_decimals(value, text):
    assert decimals(value) == text


def test_decimals_of_other_places():
    assert decimals(3.14159, 1) == "3.1"


def test_a_note_knows_its_level():
    assert note("SS002", "text").level == "warning"


def test_a_note_as_a_dictionary():
    assert note("SS007", "many ties").to_dict() == {"code": "SS007", "level": "info", "text": "many ties"}


@pytest.mark.parametrize("code", NOTE_KINDS)
def test_codes_are_stable_in_form(code):
    assert code[:2] == "SS"
    assert len(code) == 5
    assert NOTE_KINDS[code].level in ("info", "warning")
    assert NOTE_KINDS[code].title


def test_undefined_equals_undefined():
    assert Pair("a", np.array([1, np.nan])) == Pair("a", np.array([1, np.nan]))


@pytest.mark.parametrize(
    "other", [Pair("b", np.array([1.0])), Pair("a", np.array([2.0])), Pair("a", np.array([1.0, 1.0]))]
)
def test_different_values_are_not_equal(other):
    assert Pair("a", np.array([1.0])) != other


def test_other_types_are_not_equal():
    assert Pair("a", np.array([1.0])) != "a"


def test_values_are_not_hashable():
    with pytest.raises(TypeError):
        hash(Pair("a", np.array([1.0])))


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((0.7867, 0.7564, 0.8171), "0.787 [0.756, 0.817]"),
        ((0.0031, 0.0029, 0.0034), "0.00310 [0.00290, 0.00340]"),  # never [0.003, 0.003]
        ((0.00042, 0.0001, 0.001), "0.00042 [0.00010, 0.00100]"),
        ((0.0, 0.0, 0.02), "0.000 [0.000, 0.020]"),
        ((0.98765, 0.98761, 0.98769), "0.987650 [0.987610, 0.987690]"),
        ((128.4, 101.2, 160.3), "128.4 [101.2, 160.3]"),
        ((10.0, 9.96, 10.04), "10.000 [9.960, 10.040]"),
        ((0.5, float("nan"), float("nan")), "0.500"),
        ((float("nan"), float("nan"), float("nan")), "–"),
    ],
)
def test_digits_follow_the_size_of_the_numbers(numbers, text):
    assert format_interval(*numbers) == text


@given(st.floats(1e-6, 1e6), st.floats(1e-4, 0.5))
def test_no_two_limits_look_alike_and_none_looks_like_zero(value, share):
    low, high = value * (1 - share), value * (1 + share)
    first, rest = format_interval(value, low, high).replace("]", "").split(" [")
    second, third = rest.split(", ")
    assert second != third
    assert float(first.replace(" ", "")) != 0


@pytest.mark.parametrize(
    ("share", "text"), [(0.3, "30.0 %"), (0.00043, "0.043 %"), (0.99999, "99.9990 %"), (0.0, "0.0 %"), (1.0, "100.0 %")]
)
def test_shares_in_percent(share, text):
    assert percent(share) == text


@given(
    st.lists(
        st.tuples(*[st.floats(-20, 20) | st.floats(-1e-4, 1e-4) | st.floats(500, 5000) | st.just(math.nan)] * 3),
        min_size=1,
    )
)
def test_digits_of_many_are_those_of_each(rows):
    found = decimal_places_by_column(np.array(rows).T)
    assert found.tolist() == [decimal_places(*row) for row in rows]


def test_a_result_tells_its_words_its_rows_and_its_facts():
    class Told(Result):
        words = "a < b."
        notes = (note("SS007", "many ties."),)

        def rows(self):
            return [{"model": "a", "auc": float("nan")}]

        def facts(self):
            return {"level": np.float64(0.95)}

    assert repr(Told()) == "a < b."
    shown = Told()._repr_html_()
    assert shown.startswith("<p>a &lt; b.</p>")
    assert "<td>a</td><td>–</td>" in shown
    assert Told().to_dict() == {
        "schema": 1,
        "level": 0.95,
        "rows": [{"model": "a", "auc": None}],
        "verdict": "a < b.",
        "notes": [{"code": "SS007", "level": "info", "text": "many ties."}],
    }
    assert Result().notes == ()
    assert Result().facts() == {}
