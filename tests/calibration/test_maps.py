"""Recalibration maps: their formulas, their JSON, and what they refuse."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from scorespace.calibration.maps import (
    ClassMaps,
    IsotonicMap,
    LogisticMap,
    MinMaxMap,
    PlattMap,
    TemperatureMap,
    map_from_dict,
)
from scorespace.errors import DataError, ScoreError

finite = st.floats(-1e6, 1e6, allow_subnormal=False)
chances = st.floats(0, 1)


@st.composite
def isotonic_maps(draw):
    score = sorted(draw(st.lists(finite, min_size=1, max_size=8, unique=True)))
    return IsotonicMap(score, sorted(draw(st.lists(chances, min_size=len(score), max_size=len(score)))))


rising_maps = st.one_of(
    isotonic_maps(),
    st.builds(PlattMap, st.floats(0, 1e3), finite),
    st.tuples(finite, st.floats(1e-3, 1e6)).map(lambda ends: MinMaxMap(ends[0], ends[0] + ends[1])),
    st.just(LogisticMap()),
)
all_maps = st.one_of(
    rising_maps,
    st.builds(PlattMap, finite, finite, st.just("logit"), st.floats(0, 0.5), st.floats(0.5, 1)),
    st.builds(TemperatureMap, st.floats(1e-3, 1e3)),
    rising_maps.map(lambda one: ClassMaps(("a", "b"), (one, LogisticMap()))),
)


# --- properties


@given(rising_maps, st.lists(finite | st.floats(-10, 10), min_size=1, max_size=20))
@settings(max_examples=50)
def test_maps_rise_and_give_probabilities(one, scores):
    mapped = one.apply(sorted(scores))
    assert (np.diff(mapped) >= 0).all()
    assert mapped.min() >= 0
    assert mapped.max() <= 1


@given(all_maps)
@settings(max_examples=50)
def test_json_keeps_every_bit(one):
    text = json.dumps(one.to_dict(), allow_nan=False)
    assert map_from_dict(json.loads(text)) == one


@given(st.floats(0.05, 20), st.lists(st.floats(0.01, 0.99), min_size=1, max_size=5))
@settings(max_examples=30)
def test_temperature_of_one_column_is_that_of_two(temperature, scores):
    p = np.array(scores)
    two = TemperatureMap(temperature).apply(np.stack([p, 1 - p], axis=1))
    assert_allclose(TemperatureMap(temperature).apply(p), two[:, 0], rtol=1e-9, atol=1e-12)
    assert_allclose(two.sum(axis=1), 1)


# --- formulas


def test_isotonic_is_flat_in_blocks_and_straight_between():
    one = IsotonicMap([1.0, 2.0, 4.0, 5.0], [0.2, 0.2, 0.6, 0.6])
    assert_allclose(one.apply([0.0, 1.5, 2.5, 3.0, 4.5, 9.0]), [0.2, 0.2, 0.3, 0.4, 0.6, 0.6])
    assert_array_equal(one.outside([0.0, 1.0, 5.0, 9.0]), [True, False, False, True])


def test_isotonic_of_one_score_is_constant():
    assert_array_equal(IsotonicMap([0.5], [0.3]).apply([-1.0, 0.5, 2.0]), [0.3, 0.3, 0.3])


def test_isotonic_bears_the_widest_gap():
    top = np.finfo(float).max
    assert_allclose(IsotonicMap([-top, top], [0.0, 1.0]).apply([-top, 0.0, top]), [0, 0.5, 1])


def test_platt_on_the_logit_with_slope_one_shifts_the_odds():
    # odds 1/4 times 3 are 3/4
    assert_allclose(PlattMap(1.0, math.log(3), "logit").apply([0.2]), [3 / 7])
    assert_array_equal(PlattMap(2.0, 1.0, "logit").apply([0.0, 1.0]), [0, 1])
    assert_allclose(PlattMap(0.0, 0.0, "logit").apply([0.0, 1.0]), [0.5, 0.5])


def test_minmax_cuts_off_outside():
    one = MinMaxMap(-1.0, 3.0)
    assert_allclose(one.apply([-5.0, 0.0, 3.0, 7.0]), [0, 0.25, 1, 1])
    assert one.outside([-5.0, 0.0, 3.0, 7.0]).sum() == 2


def test_temperature_keeps_a_zero_and_equals_powers():
    p = np.array([[0.5, 0.5, 0.0], [0.81, 0.09, 0.1]])
    power = np.sqrt(p)
    assert_allclose(TemperatureMap(2.0).apply(p), power / power.sum(axis=1, keepdims=True))


def test_class_maps_share_out_what_no_class_claims():
    is_zero_map = IsotonicMap([0.0], [0.0])
    assert_allclose(ClassMaps(("a", "b"), (is_zero_map, is_zero_map)).apply([[0.3, 0.7]]), [[0.5, 0.5]])


# --- refusals


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ([1], "not a recalibration map"),
        ({"kind": "platt", "slope": 1, "intercept": 0}, "schema 1"),
        ({"schema": 2, "kind": "platt"}, "schema 1"),
        ({"schema": 1, "kind": "plat"}, "did you mean platt"),
        ({"schema": 1}, "no map of kind None"),
        ({"schema": 1, "kind": "platt", "slope": 1}, "lacks 'intercept'"),
        (
            {"schema": 1, "kind": "platt", "slope": "1", "intercept": 0},
            "slope of the platt map must be a finite number",
        ),
        ({"schema": 1, "kind": "platt", "slope": math.nan, "intercept": 0}, "must be a finite number"),
        ({"schema": 1, "kind": "platt", "slope": 1, "intercept": 0, "on": "log"}, "on='log'"),
        ({"schema": 1, "kind": "platt", "slope": 1, "intercept": 0, "low": 2, "high": 1}, "range"),
        ({"schema": 1, "kind": "isotonic", "score": [1, 2], "probability": [0.5]}, "as many scores as probabilities"),
        ({"schema": 1, "kind": "isotonic", "score": [], "probability": []}, "at least one"),
        ({"schema": 1, "kind": "isotonic", "score": [1, 1], "probability": [0, 1]}, "must increase"),
        ({"schema": 1, "kind": "isotonic", "score": [1, 2], "probability": [0.6, 0.5]}, "0.6 and then 0.5"),
        ({"schema": 1, "kind": "isotonic", "score": [1, 2], "probability": [0.5, 1.5]}, "between 0 and 1"),
        ({"schema": 1, "kind": "isotonic", "score": [1, None], "probability": [0, 1]}, "finite numbers"),
        ({"schema": 1, "kind": "isotonic", "score": [1, "x"], "probability": [0, 1]}, "must be numbers"),
        ({"schema": 1, "kind": "temperature", "temperature": 0}, "not a positive number"),
        ({"schema": 1, "kind": "temperature", "temperature": True}, "must be a finite number"),
        ({"schema": 1, "kind": "minmax", "low": 1, "high": 1}, "low below high"),
        ({"schema": 1, "kind": "classes", "classes": ["a"], "maps": []}, "one map for each"),
        ({"schema": 1, "kind": "classes", "classes": "a", "maps": []}, "lists its classes"),
        ({"schema": 1, "kind": "classes", "classes": ["a"], "maps": [{"schema": 1}]}, "no map of kind None"),
    ],
)
def test_a_wrong_map_is_refused(content, problem):
    with pytest.raises(DataError, match=problem):
        map_from_dict(content)


def test_wrong_scores_are_refused():
    with pytest.raises(ScoreError, match="missing or infinite"):
        LogisticMap().apply([0.5, math.nan])
    with pytest.raises(ScoreError, match="each case"):
        LogisticMap().apply([[0.5, 0.5]])
    with pytest.raises(ScoreError, match="needs probabilities"):
        PlattMap(1.0, 0.0, "logit").apply([1.5])
    with pytest.raises(ScoreError, match="needs probabilities"):
        TemperatureMap(1.0).apply([[-0.1, 1.1]])
    with pytest.raises(ScoreError, match="probability 0 for every"):
        TemperatureMap(1.0).apply([[0.0, 0.0]])
    with pytest.raises(ScoreError, match="2 scores for each"):
        ClassMaps(("a", "b"), (LogisticMap(), LogisticMap())).apply([[1.0, 2.0, 3.0]])
