"""Numbers that are fitted to their cases."""

import math

import numpy as np
import pytest

from resampling.drawn import of
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.resampling.estimate import estimate
from scorespace.tables import score_table


@pytest.mark.parametrize("name", ["ece", "cal"])
def test_calibrated_scores_show_their_chance_value_and_an_excess_that_may_be_nothing(name):
    rng = np.random.default_rng(12)
    score = rng.random(300)
    found = estimate(parse(name), score_table(rng.random(300) < score, score))
    brute = []
    for _ in range(300):  # what labels drawn from the scores show
        brute.append(bind(parse(name), score_table(rng.random(300) < score, score)).value)
    assert found.chance == pytest.approx(np.mean(brute), rel=0.06)
    assert found.low == 0
    assert found.row()["chance"] == found.chance
    assert "chance" not in estimate(parse("auc"), score_table([1, 0, 1], [0.9, 0.4, 0.3])).row()


def test_scores_of_0_and_1_that_are_right_leave_the_parts_of_the_log_loss_finite():
    rng = np.random.default_rng(3)
    score = np.concatenate([np.zeros(20), np.ones(10), rng.uniform(0.1, 0.9, 70)])
    label = np.concatenate([np.zeros(20), np.ones(10), rng.random(70) < score[30:]]).astype(int)
    found = estimate(parse("log_cal"), score_table(label, score))
    assert found.method == "inverted"
    assert 0 <= found.low <= found.value <= found.high < 1


@pytest.mark.parametrize("name", ["h", "ks", "auch", "ref"])
def test_equal_scores_say_nothing_of_how_others_would_be_ranked(name):
    found = estimate(parse(name), score_table([1, 0, 1, 0], [0.5] * 4))
    assert found.value == pytest.approx({"auch": 0.5, "ref": 0.25}.get(name, 0.0), abs=1e-8)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.reason == "no interval: every case has the same score: nothing says how others would be ranked"


@pytest.mark.parametrize("name", ["ref", "log_ref"])
def test_one_class_says_nothing_of_how_the_other_would_be_scored(name):
    found = estimate(parse(name), score_table(["a"] * 3, [0.3, 0.2, 0.5], positive="a"))
    assert found.value == 0
    assert found.reason == "no interval: only one class is present: nothing says how the other would be scored"


def test_the_hull_of_humps_is_corrected_for_more_than_smooth_rates_show():
    rng = np.random.default_rng(2)
    label = rng.random(200) < 0.5
    high = rng.random(200) < np.where(label, 0.7, 0.3)
    table = score_table(label, rng.normal(np.where(high, 2, -2), 0.7), positive=True)
    found, smooth = of("auch", table), of("auch", table, method="corrected")
    assert (found.method, smooth.method) == ("corrected-hull", "corrected")
    assert found.low < smooth.low
    assert found.high == smooth.high
