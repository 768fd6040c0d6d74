import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorespace.errors import DataError, ScoreSpaceError
from scorespace.experiments.estimate import (
    bootstrap_632,
    bootstrap_632_plus,
    left_out_error,
    no_information,
)

share = st.floats(0, 1)


def test_left_out_is_the_mean_over_cases_and_not_over_samples():
    nothing = math.nan
    loss = [[1, nothing, 0], [0, 1, nothing], [nothing, 1, nothing]]
    assert left_out_error(loss) == pytest.approx((0.5 + 1 + 0) / 3)  # pooled it would be 3/5


def test_cases_that_every_sample_holds_are_left_out():
    assert left_out_error([[1.0, math.nan], [0.0, math.nan]]) == 0.5
    assert math.isnan(left_out_error([[math.nan, math.nan]]))
    with pytest.raises(DataError, match="samples × cases"):
        left_out_error([0.1, 0.2])


def test_632():
    assert bootstrap_632(0.1, 0.3) == pytest.approx(0.368 * 0.1 + 0.632 * 0.3)


def test_632_plus_worked_by_hand():
    # err = 0.1, Err1 = 0.3, gamma = 0.5: R = 0.2 / 0.4 = 0.5, w = 0.632 / (1 - 0.184) = 0.7745098…
    found = bootstrap_632_plus(0.1, 0.3, 0.5)
    assert found.overfitting == pytest.approx(0.5)
    assert found.weight == pytest.approx(0.632 / 0.816)
    assert found.value == pytest.approx(0.1 + (0.632 / 0.816) * 0.2)


def test_by_heart_on_noise_is_chance():
    # The case that .632 gets wrong: no training error, and 0.5 on others.
    assert bootstrap_632(0, 0.5) == pytest.approx(0.316)
    assert bootstrap_632_plus(0, 0.5, 0.5).value == pytest.approx(0.5)


def test_clipping():
    worse = bootstrap_632_plus(0.1, 0.7, 0.5)  # left out is worse than chance: R and Err1 stop there
    assert (worse.overfitting, worse.value) == (1.0, pytest.approx(0.5))
    better = bootstrap_632_plus(0.3, 0.2, 0.5)  # left out is better than training: R = 0
    assert better.overfitting == 0
    assert better.value == pytest.approx(bootstrap_632(0.3, 0.2))
    useless = bootstrap_632_plus(0.6, 0.7, 0.5)  # training is worse than chance: R = 0, Err1 is chance
    assert useless.overfitting == 0
    assert useless.value == pytest.approx(bootstrap_632(0.6, 0.5))


@given(share, share, share)
def test_632_plus_lies_between_its_parts(training, left_out, chance):
    found = bootstrap_632_plus(training, left_out, chance)
    ends = training, min(left_out, chance)
    assert min(ends) - 1e-12 <= found.value <= max(ends) + 1e-12
    assert 0 <= found.overfitting <= 1
    assert 0.632 - 1e-12 <= found.weight <= 1 + 1e-12


def test_undefined_stays_so():
    found = bootstrap_632_plus(0.1, math.nan, 0.5)
    assert math.isnan(found.value)
    assert found.reason == "the error of left out is undefined"
    assert found.to_dict()["value"] is None


def pairs(loss, truth, said):
    return np.mean([loss(a, b) for a in truth for b in said])


def test_no_information_is_the_mean_over_all_pairs():
    rng = np.random.default_rng(1)
    truth, score = rng.integers(0, 2, 30), rng.random(30)
    assert no_information("brier", truth, score) == pytest.approx(pairs(lambda y, p: (y - p) ** 2, truth, score))
    assert no_information("auc", truth, score) == pytest.approx(0.5)
    numbers = rng.normal(size=30)
    told = numbers + rng.normal(size=30)
    assert no_information("mae", numbers, told) == pytest.approx(pairs(lambda y, p: abs(y - p), numbers, told))


def test_no_information_of_decisions_is_the_closed_form():
    truth, said = list("aaabbc"), list("aabbbc")
    p, q = np.array([3, 2, 1]) / 6, np.array([2, 3, 1]) / 6
    assert no_information("err", truth, said) == pytest.approx(np.sum(p * (1 - q)))
    scores = np.eye(3)[["abc".index(one) for one in said]]
    assert no_information("err", truth, scores) == pytest.approx(np.sum(p * (1 - q)))
    with pytest.raises(ScoreSpaceError, match="differ in length"):
        no_information("err", truth, said[1:])
