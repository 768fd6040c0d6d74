"""Bands and tests of calibration, and what chance alone shows."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binomtest

import scorespace as ss
from helpers.calibration_data import overconfident, sample
from scorespace.calibration.tests import _envelope
from scorespace.errors import ScoreError, ScoreSpaceError
from scorespace.inference.calibration_null import merge_scores
from scorespace.inference.subsampling import CONDENSED_ROWS, MAX_JOINT_CASES

# --- tests


def test_spiegelhalter_by_hand():
    # One case of 0.9, positive: deviation 0.1 · (−0.8), variance 0.64 · 0.09.
    found = ss.spiegelhalter(ss.score_table([1], [0.9], positive=1))
    assert found.statistic == pytest.approx(-0.08 / math.sqrt(0.0576))


def test_spiegelhalter_is_undefined_where_nothing_can_deviate():
    found = ss.spiegelhalter(ss.score_table([1, 0, 1], [1.0, 0.0, 0.5]))
    assert math.isnan(found.p)
    assert "0, one half or 1" in found.reason


def test_hosmer_lemeshow_by_hand():
    # Two groups of ten at 0.2 and 0.6 with 4 and 5 positives: 4/1.6 + 1/2.4.
    t = ss.score_table([1] * 4 + [0] * 6 + [1] * 5 + [0] * 5, [0.2] * 10 + [0.6] * 10)
    found = ss.hosmer_lemeshow(t, groups=2, fitted=False)
    assert found.statistic == pytest.approx(4 / 1.6 + 1 / 2.4)
    assert found.df == 2
    assert found.p == pytest.approx(math.exp(-found.statistic / 2))  # χ² with two degrees of freedom


def test_hosmer_lemeshow_needs_more_than_two_groups():
    found = ss.hosmer_lemeshow(ss.score_table([1, 0, 1, 0], [0.5] * 4))
    assert math.isnan(found.p)
    assert "1 groups" in found.reason


def test_hosmer_lemeshow_of_certain_scores():
    sure = ss.score_table([0] * 5 + [1, 0] * 3 + [1] * 5, [0.0] * 5 + [0.4] * 3 + [0.6] * 3 + [1.0] * 5)
    assert math.isfinite(ss.hosmer_lemeshow(sure).statistic)
    wrong = ss.score_table([1] + [0] * 4 + [1, 0] * 3 + [1] * 5, [0.0] * 5 + [0.4] * 3 + [0.6] * 3 + [1.0] * 5)
    assert ss.hosmer_lemeshow(wrong).p == 0


def test_deciles_are_those_of_numpy():
    t = sample(237)
    score = np.repeat(t.score, t.counts.sum(axis=0).astype(int))
    positive = np.concatenate([[1] * int(p) + [0] * int(n) for p, n in zip(t.pos, t.neg, strict=True)])
    edges = np.quantile(score, np.arange(11) / 10)  # type 7
    group = np.clip(np.searchsorted(edges, score, side="left") - 1, 0, 9)
    hits, promised, n = np.bincount(group, positive), np.bincount(group, score), np.bincount(group)
    expected = np.sum((hits - promised) ** 2 / (promised * (1 - promised / n)))
    assert ss.hosmer_lemeshow(t).statistic == pytest.approx(expected)


def test_copies_are_cases():
    score, truth = [0.2, 0.4, 0.7, 0.7, 0.9], [0, 1, 1, 0, 1]
    doubled = ss.score_table(truth, score, weight=[2] * 5, copies=True)
    twice = ss.score_table(truth * 2, score * 2)
    assert ss.spiegelhalter(doubled) == ss.spiegelhalter(twice)
    assert ss.hosmer_lemeshow(doubled, 4) == ss.hosmer_lemeshow(twice, 4)


def test_a_test_shows_its_numbers():
    found = ss.spiegelhalter(ss.score_table([1, 0, 1, 0], [0.9, 0.2, 0.8, 0.3]))
    assert found.rows()[0]["df"] is None
    assert found.to_dict()["schema"] == 1
    assert found.notes == ()


# --- bands


def test_the_band_surrounds_the_diagonal():
    band = ss.calibration_band(sample(400), replicates=300)
    inside = (band.x > 0.2) & (band.x < 0.8)
    assert np.all((band.low < band.x) & (band.x < band.high) | ~inside)
    assert np.all(np.diff(band.low) >= 0)
    assert np.all(np.diff(band.high) >= 0)


def test_a_band_for_the_whole_curve_is_wider():
    t = sample(300)
    each, whole = (ss.calibration_band(t, simultaneous=s, replicates=300) for s in (False, True))
    assert np.all(whole.low <= each.low + 1e-12)
    assert np.all(whole.high >= each.high - 1e-12)
    assert "simultaneous" in repr(whole)


def test_a_miscalibrated_curve_leaves_its_band():
    band = ss.calibration_band(sample(1000, distort=overconfident), simultaneous=True, replicates=300)
    assert np.any(band.y < band.low)
    assert np.any(band.y > band.high)


def test_coverage_of_the_bands():
    # 60 calibrated samples: 95 % bands should hold almost all of them.
    held, pointwise = 0, []
    for seed in range(60):
        t = sample(150, seed)
        whole = ss.calibration_band(t, simultaneous=True, replicates=400, seed=seed)
        each = ss.calibration_band(t, replicates=400, seed=seed)
        held += bool(np.all((whole.y >= whole.low - 1e-12) & (whole.y <= whole.high + 1e-12)))
        pointwise.append(np.mean((each.y >= each.low - 1e-12) & (each.y <= each.high + 1e-12)))
    assert held >= 50
    assert 0.9 < np.mean(pointwise) <= 1


def test_the_same_seed_gives_the_same_band():
    t = sample(100)
    assert ss.calibration_band(t, replicates=50, seed=3) == ss.calibration_band(t, replicates=50, seed=3)


def test_many_scores_are_condensed():
    t = sample(MAX_JOINT_CASES + 500)
    band = ss.calibration_band(t, replicates=20)
    assert band.method == "labels drawn from the scores, condensed"
    light = merge_scores(t, CONDENSED_ROWS)
    assert 0.9 * CONDENSED_ROWS <= light.score.size <= CONDENSED_ROWS
    assert float(light.total) == float(t.total)
    assert np.sum(light.score * light.counts.sum(axis=0)) == pytest.approx(np.sum(t.score * (t.pos + t.neg)))


def test_a_constant_score_has_a_band_of_one_point():
    band = ss.calibration_band(ss.score_table([1, 0, 0, 0] * 5, [0.25] * 20), replicates=100)
    assert_array_equal(band.x, [0.25])
    assert band.low[0] < 0.25 < band.high[0]


@pytest.mark.parametrize(("interval", "method"), [("wilson", "wilson"), ("clopper-pearson", "exact")])
def test_intervals_of_bins_are_scipys(interval, method):
    t = sample(200)
    band = ss.calibration_band(t, by="width", bins=5, interval=interval)
    curve = ss.calibration(t, by="width", bins=5)
    expected = [
        binomtest(int(h), int(n)).proportion_ci(0.95, method) for h, n in zip(curve.hits, curve.cases, strict=True)
    ]
    assert_allclose(np.stack([band.low, band.high], axis=1), expected, atol=1e-9)
    together = ss.calibration_band(t, by="width", bins=5, interval=interval, simultaneous=True)
    assert np.all(together.high - together.low >= band.high - band.low)


def test_an_unknown_interval():
    with pytest.raises(ScoreSpaceError, match="interval='normal'"):
        ss.calibration_band(sample(20), by="width", interval="normal")


# --- the other class


def test_the_other_class_has_the_other_probability():
    evaluation = ss.evaluate(
        {"y": ["a", "b", "a", "b"], "s": [0.9, 0.4, 0.3, 0.2]}, truth="y", scores="s", positive="a", measures="brier"
    )
    same, large, loss = (evaluation.measures(f"{name}[b]")[0].value for name in ("brier", "cal_large", "logloss"))
    assert same == pytest.approx(evaluation.measures("brier")[0].value)
    assert large == pytest.approx(0.5 - (0.1 + 0.6 + 0.7 + 0.8) / 4)
    assert loss == pytest.approx(evaluation.measures("logloss")[0].value)


# --- cases that weigh more or less than one


@pytest.mark.parametrize("weight", [1, 0.5, 100])
def test_cases_that_weigh_the_same_are_cases(weight):
    rng = np.random.default_rng(5)
    p = rng.random(80)
    truth = (rng.random(80) < p).astype(int)
    plain, heavy = ss.score_table(truth, p), ss.score_table(truth, p, weight=np.full(80, weight))
    for test in (ss.spiegelhalter, ss.hosmer_lemeshow):
        assert test(heavy).p == pytest.approx(test(plain).p)
    ours, theirs = (ss.calibration_band(table, by="width", bins=4) for table in (heavy, plain))
    assert_allclose(ours.low, theirs.low)


def test_weights_that_differ_do_not_count_cases():
    weighed = [{"weight": [1, 2, 1, 2]}, {"weight": [0.5, 1, 1, 1]}, {"weight": [0.5, 1, 1, 1], "copies": True}]
    for weights in weighed:
        t = ss.score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7], **weights)
        for found in (ss.spiegelhalter(t), ss.hosmer_lemeshow(t, groups=2), ss.calibration_band(t)):
            assert found.reason == "undefined: the weights do not give the number of cases"


def test_scores_that_are_no_probabilities_are_refused():
    t = ss.score_table([1, 0], [2.0, 0.1])
    for function in (ss.calibration_summary, ss.spiegelhalter, ss.hosmer_lemeshow, ss.calibration_band):
        with pytest.raises(ScoreError, match="not probabilities"):
            function(t)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
@pytest.mark.parametrize("tied", [False, True])
def test_a_simultaneous_band_leaves_out_those_of_the_most_extreme_ranks(level, tied):
    values = np.random.default_rng(4).normal(size=(101, 7)).round(1 if tied else 9)
    below, above = ((side(values[None, :], values[:, None])).sum(axis=1) for side in (np.less_equal, np.greater_equal))
    rank = np.minimum(below, above).min(axis=1)
    kept = int(np.quantile(rank, 1 - level, method="lower"))
    low, high = _envelope(values, level)
    assert_array_equal(low, np.sort(values, axis=0)[kept - 1])
    assert_array_equal(high, np.sort(values, axis=0)[101 - kept])
