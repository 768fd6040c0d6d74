"""Measures of probabilities, by hand calculation and on the cases that others get wrong."""

import math

import numpy as np
import pytest

import scorespace as ss
from scorespace.errors import MeasureError
from scorespace.measures.probability import clipped_cases

# Three cases of 0.2 (one positive) and two of 0.8 (one positive).
TRUTH, SCORE = [1, 0, 0, 1, 0], [0.2, 0.2, 0.2, 0.8, 0.8]
TABLE = ss.score_table(TRUTH, SCORE)


def test_brier_by_hand():
    assert ss.brier(TABLE) == pytest.approx((0.64 + 0.04 + 0.04 + 0.04 + 0.64) / 5)


def test_skill_against_the_base_rate():
    assert ss.brier_skill(ss.score_table([1, 0, 0, 0], [0.25] * 4)) == 0
    assert ss.brier_skill(ss.score_table([1, 0], [1.0, 0.0])) == 1
    assert math.isnan(ss.brier_skill(ss.score_table([1, 1], [0.5, 0.4], positive=1)))


def test_log_loss_in_nats_and_bits():
    t = ss.score_table([1, 0], [0.5, 0.25])
    assert ss.logloss(t) == pytest.approx((math.log(2) - math.log(0.75)) / 2)
    assert ss.logloss(t, base=2) == pytest.approx((1 - math.log2(0.75)) / 2)


def test_log_loss_is_infinite_when_the_impossible_happened():
    t = ss.score_table([1, 1, 0], [0.0, 0.5, 1.0])
    assert ss.logloss(t) == math.inf
    assert ss.logloss.reason(math.inf) == "infinite: an outcome occurred that had probability 0"
    assert ss.logloss(t, eps=0.1) == pytest.approx((-2 * math.log(0.1) + math.log(2)) / 3)
    assert (clipped_cases(t, 0.0), clipped_cases(t, 0.1)) == (2, 2)


def test_log_loss_of_certain_and_right_scores_is_zero():
    value = ss.logloss(ss.score_table([1, 0], [1.0, 0.0]))
    assert (value, math.copysign(1, value)) == (0, 1)


def test_log_loss_of_float32_ones_is_a_number():
    # scikit-learn 24315: float32 p = 1 clipped at 1e-15 stays 1, and log(0) · 0 is nan.
    score = np.array([1.0, 0.0, 1.0], dtype=np.float32)
    t = ss.score_table([1, 0, 1], score)
    assert ss.logloss(t) == 0
    assert ss.logloss(t, eps=1e-15) == pytest.approx(1e-15, rel=0.2)


@pytest.mark.parametrize("options", [{"base": 1.0}, {"base": -2.0}, {"eps": 0.5}, {"eps": -0.1}])
def test_options_that_make_no_sense(options):
    with pytest.raises(MeasureError):
        ss.logloss(TABLE, **options)


def test_scores_that_are_no_probabilities_are_refused():
    with pytest.raises(MeasureError, match="needs probabilities"):
        ss.brier(ss.score_table([1, 0], [1.5, 0.2]))


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("brier_score", "brier"),
        ("log_loss", "logloss"),
        ("cross_entropy", "logloss"),
        ("bss", "brier_skill"),
        ("expected_calibration_error", "ece"),
        ("calibration_slope", "cal_slope"),
    ],
)
def test_known_by_other_names(alias, name):
    assert getattr(ss, alias) is getattr(ss, name)


def test_the_mean_score_is_the_average_probability():
    truth, score, weight = [1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7], [1.0, 2.0, 0.0, 1.0]
    assert ss.measure("average probability", truth=truth, score=score) == pytest.approx(np.mean(score))
    weighted = ss.measure("mean_score", truth=truth, score=score, weight=weight)
    assert weighted == pytest.approx(np.average(score, weights=weight))


def test_logloss_keeps_its_digits_next_to_zero_and_one():
    """Of p = 1e-9 and 1 − 2e-9, log(1 − p) has nine digits and log1p(−p) all of them."""
    found = ss.measure("logloss", truth=[0, 1], score=[1e-9, 1 - 2.0**-29])
    assert found == pytest.approx((1e-9 + 0.5e-18 - math.log1p(-(2.0**-29))) / 2, rel=1e-14)
