"""Measures of probabilities, by hand calculation and on the cases that others get wrong."""

import math

import numpy as np
import pytest

import scorespace as ss
from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.measures.probability import clipped_cases

# Three cases of 0.2 (one positive) and two of 0.8 (one positive).
TRUTH, SCORE = [1, 0, 0, 1, 0], [0.2, 0.2, 0.2, 0.8, 0.8]
TABLE = ss.score_table(TRUTH, SCORE)


def test_brier_by_hand():
    assert ss.brier(TABLE) == pytest.approx((0.64 + 0.04 + 0.04 + 0.04 + 0.64) / 5)


def test_murphy_terms_by_hand():
    # Rates 1/3 and 1/2 of groups of 3 and 2; base rate 2/5.
    reliability = (3 * (0.2 - 1 / 3) ** 2 + 2 * (0.8 - 0.5) ** 2) / 5
    resolution = (3 * (1 / 3 - 0.4) ** 2 + 2 * (0.5 - 0.4) ** 2) / 5
    assert ss.rel(TABLE) == pytest.approx(reliability)
    assert ss.res(TABLE) == pytest.approx(resolution)
    assert ss.unc(TABLE) == pytest.approx(0.24)
    assert ss.brier(TABLE) == pytest.approx(reliability - resolution + 0.24)
    assert (ss.cal(TABLE), ss.ref(TABLE)) == pytest.approx((reliability, 0.24 - resolution))


@pytest.mark.parametrize("bins", [1, 2, 3, 10])
def test_the_residual_of_bins_is_shown(bins):
    t = ss.score_table([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.55, 0.5, 0.2, 0.05])
    whole = ss.rel(t, bins=bins) - ss.res(t, bins=bins) + ss.unc(t) + ss.murphy_residual(t, bins=bins)
    assert whole == pytest.approx(ss.brier(t), abs=1e-15)
    assert ss.murphy_residual(t) == 0


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
    assert ss.logloss.reason(math.inf) == "infinite: a case happened that was given no chance"
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


# --- bins: TRAPS, "Calibration bins"


@pytest.mark.parametrize("by", ["width", "count"])
def test_scores_of_0_and_1_fall_into_the_outer_bins(by):
    # torchmetrics 3510 and 1646: a phantom bin above 1, and the index −1 for 0.
    t = ss.score_table([0, 0, 1, 1], [0.0, 0.05, 0.95, 1.0])
    assert ss.ece(t, bins=2, by=by) == pytest.approx((0.05 + 0.05) / 4)
    assert ss.mce(t, bins=2, by=by) == pytest.approx(0.025)


def test_bins_take_the_mean_score_and_not_their_centre():
    # pycalib 4: with the centre 0.5 the error would be 0.5.
    assert ss.ece(ss.score_table([1, 1], [0.9, 0.9], positive=1), bins=1) == pytest.approx(0.1)


@pytest.mark.parametrize("bins", [1, 2, 15])
def test_constant_scores_are_one_bin(bins):
    t = ss.score_table([1, 0, 0, 0], [0.5] * 4)
    for by in ("width", "count"):
        assert ss.ece(t, bins=bins, by=by) == ss.mce(t, bins=bins, by=by) == 0.25


def test_distinct_scores_do_not_make_refinement_zero():
    # scikit-learn 22233: with every case its own group, refinement would be 0 and reliability all.
    t = ss.score_table([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])
    assert ss.ref(t) == pytest.approx(2 * 0.25 / 4)
    assert ss.cal(t) == pytest.approx(ss.brier(t) - 0.125)


def test_bins_compare_with_their_edges_exactly():
    # 0.29 · 100 is below 29 in floating point, yet 0.29 belongs to [0.29, 0.30).
    apart = ss.score_table([1, 0], [0.29, 0.285])
    together = ss.score_table([1, 0], [0.29, 0.295])
    assert ss.mce(apart, bins=100) == pytest.approx(0.71)
    assert ss.mce(together, bins=100) == pytest.approx(0.5 - 0.2925)


@pytest.mark.parametrize("options", [{"bins": 0}, {"by": "size"}, {"by": "isotonic"}])
def test_bins_that_make_no_sense(options):
    with pytest.raises(ScoreSpaceError):
        ss.ece(TABLE, **options)


# --- logistic recalibration


def test_calibration_in_the_large():
    assert ss.cal_large(TABLE) == pytest.approx(2 / 5 - 2.2 / 5)


def test_slope_and_intercept_of_two_groups_by_hand():
    # Logits ±log 4; the fit passes both observed rates, 1/3 and 1/2, exactly.
    low, high = math.log(0.5), math.log(1.0)
    assert ss.cal_slope(TABLE) == pytest.approx((high - low) / (2 * math.log(4)))
    assert ss.cal_intercept(TABLE) == pytest.approx((high + low) / 2)


def test_scores_of_0_and_1_are_left_out_of_the_fit():
    more = ss.score_table([*TRUTH, 0, 1], [*SCORE, 1.0, 0.0])
    for measure in (ss.cal_slope, ss.cal_intercept, ss.cal_offset):
        assert measure(more) == pytest.approx(measure(TABLE))


@pytest.mark.parametrize(
    ("truth", "score"),
    [
        ([1, 1, 0, 0], [0.9, 0.8, 0.3, 0.2]),  # separated
        ([0, 0, 1, 1], [0.9, 0.8, 0.3, 0.2]),  # separated the other way
        ([1, 0, 1, 0], [0.4] * 4),  # constant
        ([1, 0, 0], [0.9, 0.9, 0.2]),  # separated but for a tie
        ([1, 0], [1.0, 0.0]),  # nothing is left
    ],
)
def test_no_slope_without_overlap(truth, score):
    t = ss.score_table(truth, score)
    assert math.isnan(ss.cal_slope(t))
    assert math.isnan(ss.cal_intercept(t))
    assert "overlap" in ss.cal_slope.reason(math.nan)


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


# --- the log loss in parts


def test_log_loss_is_calibration_plus_refinement_by_scikit_learns_isotonic_regression():
    from sklearn.isotonic import IsotonicRegression
    from sklearn.metrics import log_loss

    rng = np.random.default_rng(8)
    truth = rng.integers(0, 2, 300)
    score = np.clip(rng.normal(0.35 + 0.3 * truth, 0.2), 0.02, 0.98)
    fitted = np.clip(IsotonicRegression(out_of_bounds="clip").fit_transform(score, truth), 1e-15, 1 - 1e-15)
    found = {name: ss.measure(name, truth=truth, score=score) for name in ("logloss", "log_cal", "log_ref", "log_unc")}
    assert found["log_ref"] == pytest.approx(log_loss(truth, fitted), abs=1e-9)
    assert found["log_cal"] == pytest.approx(log_loss(truth, score) - log_loss(truth, fitted), abs=1e-9)
    assert found["logloss"] == pytest.approx(found["log_cal"] + found["log_ref"])
    assert found["log_unc"] == pytest.approx(log_loss(truth, np.full(300, truth.mean())))


def test_an_impossible_case_is_a_matter_of_calibration_alone():
    truth, score = [1, 0, 1, 0], [0.0, 0.5, 1.0, 0.2]
    assert ss.measure("log_cal", truth=truth, score=score) == math.inf
    assert math.isfinite(ss.measure("log_ref", truth=truth, score=score))
