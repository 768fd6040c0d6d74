"""Thresholds as people read and type them: what is printed does the same to every case."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scorespace.measures import parse
from scorespace.tables import score_table
from scorespace.tables.threshold import Threshold, common_threshold, round_threshold, round_thresholds, threshold_text

numbers = st.one_of(
    st.floats(-1e6, 1e6, allow_subnormal=False),
    st.floats(0, 1).map(lambda one: round(one, 5)),
    st.integers(-1000, 1000).map(float),
    st.floats(0, 1, width=32),
)


@given(st.lists(numbers, min_size=1, max_size=30), st.data())
@example([0.12315, 0.1232, 0.12314], None)
def test_what_is_printed_decides_alike(scores, data):
    """The text of any threshold, typed again, puts every case on the same side."""
    table = score_table([1, 0] * len(scores), scores + scores[::-1], positive=1)
    thresholds = [*table.thresholds, *(data.draw(st.lists(numbers, max_size=3)) if data is not None else [])]
    for at in map(float, thresholds):
        typed = parse(f"tpr@{table.threshold(at).text}").at
        kept = [score >= at for score in scores]
        assert [score >= typed for score in scores] == kept
        assert typed <= at  # towards the next lower score
        assert table.at(typed) == table.at(at)


@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=8), min_size=1, max_size=3), st.floats(0, 1))
def test_one_threshold_for_several_models(scores, at):
    typed = float(common_threshold(at, scores).text)
    for held in scores:
        assert [one >= typed for one in held] == [one >= at for one in held]


@given(st.lists(numbers, min_size=1, max_size=20, unique=True))
def test_several_at_once(scores):
    table = score_table([1, 0] * len(scores), scores * 2, positive=1)
    expected = [table.threshold(float(at)).text for at in table.thresholds]
    assert [one.text for one in round_thresholds(table.thresholds, scores)] == expected


@pytest.mark.parametrize(
    ("at", "below", "text"),
    [
        (0.123306, 0.12329, "0.1233"),
        (0.123153, 0.1231, "0.12315"),  # 0.1232 would flag fewer cases, 0.1231 more
        (0.3, 0.2, "0.3"),
        (1 / 6, 0.1, "0.1666"),
        (-1.23456, -1.3, "-1.235"),
        (12345.678, 12000, "12345"),
        (7.0, 6.0, "7"),
        (float(np.float32(0.7)), 0.6, "0.6999"),
        (math.inf, 0.9, "∞"),
    ],
)
def test_as_many_digits_as_it_takes(at, below, text):
    assert round_threshold(at, below).text == text


def test_neighbours_that_differ_in_the_last_digit():
    at = 0.1234
    below = math.nextafter(at, 0)
    assert round_threshold(at, below).text == "0.1234"
    assert round_threshold(math.nextafter(at, 1), at).text == repr(math.nextafter(at, 1))


def test_scores_in_bins_have_all_digits():
    table = score_table([1, 0, 1, 0], [0.91234567, 0.41234567, 0.4, 0.1]).rounded(40)
    at = float(table.thresholds[1])
    assert float(table.threshold(at).text) == at


def test_it_is_a_number_that_can_be_stored():
    at = round_threshold(0.123306, 0.12329)
    again = pickle.loads(pickle.dumps(at))
    assert (again, again.text, type(again)) == (0.123306, "0.1233", Threshold)
    assert threshold_text(0.123306) == "0.123306"


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=20))
def test_scores_of_single_precision(scores):
    """What is typed is read in the precision of the scores, so that it must not be nearer to the next lower one."""
    near = [float(np.nextafter(np.float32(one), np.float32(2))) for one in scores]
    table = score_table([1, 0] * len(scores), scores + near, positive=1)
    for at in map(float, table.thresholds):
        assert table.at(parse(f"tpr@{table.threshold(at).text}").at) == table.at(at)
