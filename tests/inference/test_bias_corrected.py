"""Numbers that are fitted to their cases."""

import math

import numpy as np
import pytest

from helpers.resampled import of
from scorespace.inference.calibration_null import merge_scores
from scorespace.inference.estimate import estimate
from scorespace.measures import parse
from scorespace.measures.request import bind
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
    assert found.method == "test-inversion"
    assert 0 <= found.low <= found.value <= found.high < 1


@pytest.mark.parametrize("name", ["h", "ks", "auch", "ref"])
def test_equal_scores_say_nothing_of_how_others_would_be_ranked(name):
    found = estimate(parse(name), score_table([1, 0, 1, 0], [0.5] * 4))
    assert found.value == pytest.approx({"auch": 0.5, "ref": 0.25}.get(name, 0.0), abs=1e-8)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.reason == "no interval: every case has the same score"


@pytest.mark.parametrize("name", ["ref", "log_ref"])
def test_one_class_says_nothing_of_how_the_other_would_be_scored(name):
    found = estimate(parse(name), score_table(["a"] * 3, [0.3, 0.2, 0.5], positive="a"))
    assert found.value == 0
    assert found.reason == "no interval: only one class is present"


def test_the_hull_of_humps_is_corrected_for_more_than_smooth_rates_show():
    rng = np.random.default_rng(2)
    label = rng.random(200) < 0.5
    high = rng.random(200) < np.where(label, 0.7, 0.3)
    table = score_table(label, rng.normal(np.where(high, 2, -2), 0.7), positive=True)
    found, smooth = of("auch", table), of("auch", table, method="bias-corrected")
    assert (found.method, smooth.method) == ("bias-corrected-hull", "bias-corrected")
    assert found.low < smooth.low
    assert found.high == smooth.high


# --- what is biased


@pytest.mark.parametrize("name", ["rel", "rel(bins=10)"])
def test_reliability_of_calibrated_scores_may_be_0(name):
    # Percentiles of the bootstrap never reached it.
    rng = np.random.default_rng(21)
    lows = []
    for _ in range(20):
        score = rng.random(150)
        lows.append(estimate(parse(name), score_table(rng.random(150) < score, score), replicates=100).low)
    assert sum(low == 0 for low in lows) >= 17


@pytest.mark.parametrize(("name", "truth"), [("best(measure=acc)", 0.6914624612740131), ("res(bins=5)", None)])
def test_what_is_best_by_chance_is_corrected(name, truth):
    # Normal scores one apart: the best accuracy is Φ(½); percentiles held it in two of three samples.
    rng, held = np.random.default_rng(22), 0

    def sample(cases):
        label = rng.random(cases) < 0.5
        return score_table(label, 1 / (1 + np.exp(0.5 - rng.normal(size=cases) - label)), positive=True)

    truth = bind(parse(name), sample(400_000)).value if truth is None else truth
    for _ in range(60):
        one = estimate(parse(name), sample(100), replicates=200)
        held += one.low <= truth <= one.high
        assert one.method == "bias-corrected"
    assert held >= 54


def test_cases_drawn_for_the_bias_weigh_as_much_as_their_class():
    # In a case-control sample labels that were drawn again weighed like those that they replaced: h covered always.
    rng = np.random.default_rng(23)
    truth = np.repeat([1, 0], [60, 70])
    score = 1 / (1 + np.exp(3 - rng.normal(size=130) - 1.5 * truth))
    plain, heavy = (
        estimate(parse("ks"), score_table(truth, score, weight=np.where(truth == 1, 1.0, weight)), replicates=400)
        for weight in (1.0, 20.0)
    )
    assert heavy.high - heavy.low == pytest.approx(plain.high - plain.low, rel=0.25)


def test_rare_positives_lie_in_many_rows_at_their_mean_scores():
    rng = np.random.default_rng(24)
    truth = np.arange(300_000) < 300
    score = 1 / (1 + np.exp(11 - 3 * (rng.normal(size=truth.size) + 3 * truth)))
    table = score_table(truth, score, positive=True)
    light = merge_scores(table, 512)
    below = np.cumsum(light.pos) <= 150
    assert below.sum() > 100  # 14 when rows held equal shares of all cases
    assert float((light.pos + light.neg) @ light.score) == pytest.approx(score.sum())
    assert bind(parse("cal"), light).value == pytest.approx(bind(parse("cal"), table).value, rel=0.3)


def test_the_calibration_loss_of_rare_positives_is_covered():
    rng, lows = np.random.default_rng(25), []
    for _ in range(20):
        score = 1 / (1 + np.exp(7.6 - 1.2 * rng.normal(size=50_000)))
        lows.append(estimate(parse("cal"), score_table(rng.random(50_000) < score, score), replicates=50).low)
    assert sum(low == 0 for low in lows) >= 17
