"""What all curves share."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorespace.curves import Curve, pr, roc
from scorespace.tables import score_table

INF = float("inf")


def curve(x, y):
    return Curve("roc", np.asarray(x, float), np.asarray(y, float), -np.arange(len(x), dtype=float), "x", "y")


@st.composite
def rising(draw, least=2):
    """Steps of very different length, in both directions."""
    steps = draw(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=least, max_size=60))
    x, y = np.cumsum([(0, 0), *steps], axis=0).T
    return curve(x / max(1, x[-1]), y / max(1, y[-1]))


def test_area_is_of_trapezoids():
    assert curve([0, 0.5, 1], [0, 1, 1]).area() == 0.75


def test_area_of_an_undefined_curve_is_undefined():
    assert math.isnan(curve([0, 1], [np.nan, np.nan]).area())


def test_rows_hold_the_points():
    assert curve([0, 1], [0.5, 1]).rows() == [
        {"x": 0.0, "y": 0.5, "threshold": 0.0},
        {"x": 1.0, "y": 1.0, "threshold": -1.0},
    ]


def test_the_infinite_threshold_survives_json():
    # JSON has no Infinity (scikit-learn 9790, 26193; ROCR 16): it is null.
    text = json.dumps(roc(score_table([1, 0], [0.9, 0.1])).to_dict(), allow_nan=False)
    assert [row["threshold"] for row in json.loads(text)["rows"]] == [None, 0.9, 0.1]


def test_to_dict_says_what_it_holds():
    found = curve([0, 1], [0, 1]).to_dict()
    assert (found["schema"], found["kind"], found["x"], found["y"]) == (1, "roc", "x", "y")


def test_text_of_a_curve():
    assert repr(curve([0, 1], [0, 1])) == "roc curve: 2 points, y against x"


def test_equality_is_by_value():
    assert curve([0, 1], [0, np.nan]) == curve([0, 1], [0, np.nan])
    assert curve([0, 1], [0, 1]) != curve([0, 1], [0, 0])


# --- thinned


def test_a_short_curve_is_not_thinned():
    short = curve([0, 0.5, 1], [0, 1, 1])
    assert short.thinned(3) is short


@given(rising(), st.integers(2, 30))
def test_thinning_keeps_both_ends(long, most):
    thin = long.thinned(most)
    assert (thin.x[0], thin.y[0], thin.threshold[0]) == (long.x[0], long.y[0], long.threshold[0])
    assert (thin.x[-1], thin.y[-1], thin.threshold[-1]) == (long.x[-1], long.y[-1], long.threshold[-1])


@given(rising(), st.integers(2, 30))
def test_thinning_keeps_points_of_the_curve_in_order(long, most):
    thin = long.thinned(most)
    kept = (-thin.threshold).astype(int)
    assert (np.diff(kept) > 0).all()
    assert thin.x.tolist() == long.x[kept].tolist()
    assert thin.y.tolist() == long.y[kept].tolist()


@given(rising(), st.integers(2, 30))
def test_thinning_leaves_about_that_many_points(long, most):
    assert long.thinned(most).x.size <= most + 2


@given(rising(least=20), st.integers(4, 20))
def test_a_dropped_point_is_near_to_a_kept_one(long, most):
    thin = long.thinned(most)
    gaps = np.maximum(np.abs(long.x[:, None] - thin.x), np.abs(long.y[:, None] - thin.y)).min(axis=1)
    assert gaps.max() <= 2 / most + 1e-12


def test_a_dropped_point_before_a_long_step_is_near_too():
    # Four kept points leave thirds of the length; a point just before the end of one, with a long step after it.
    x = [0, 0, 0, 0, 0, 1]
    y = [0, 0.001, 0.002, 0.003, 0.66, 1]
    long = curve(x, y)
    thin = long.thinned(4)
    gaps = np.maximum(np.abs(long.x[:, None] - thin.x), np.abs(long.y[:, None] - thin.y)).min(axis=1)
    assert gaps.max() <= 2 / 4


def test_thinning_copes_with_undefined_and_infinite_points():
    y = np.linspace(0, 1, 1000)
    y[[0, 500]] = np.nan, np.inf
    assert curve(np.linspace(0, 1, 1000), y).thinned(50).x.size <= 52


@pytest.fixture
def many():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 2000)
    return score_table(truth, truth + rng.normal(size=2000))


def test_thinned_area_is_close(many):
    assert roc(many).thinned(200).area() == pytest.approx(roc(many).area(), abs=0.01)


def test_a_thinned_precision_recall_curve_still_has_its_exact_area(many):
    assert pr(many).thinned(50).area() == pr(many).area()
