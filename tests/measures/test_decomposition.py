"""Losses in parts: by hand, by bins, and as scikit-learn's isotonic regression has them."""

import math

import numpy as np
import pytest

import scorespace as ss

# Three cases of 0.2 (one positive) and two of 0.8 (one positive).
TRUTH, SCORE = [1, 0, 0, 1, 0], [0.2, 0.2, 0.2, 0.8, 0.8]
TABLE = ss.score_table(TRUTH, SCORE)


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


def test_distinct_scores_do_not_make_refinement_zero():
    # scikit-learn 22233: with every case its own group, refinement would be 0 and reliability all.
    t = ss.score_table([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])
    assert ss.ref(t) == pytest.approx(2 * 0.25 / 4)
    assert ss.cal(t) == pytest.approx(ss.brier(t) - 0.125)


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
