"""R's calibration statistics on the data of ROCR."""

import numpy as np
import pytest
from scipy.special import expit, logit

import scorespace as ss
from oracles.load import columns, reference

DATA = columns("rocr_simple_input")
TABLE = ss.score_table(DATA["label"].astype(int), DATA["score"])
R = reference("r_calibration")


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("brier", R["brier"]),
        ("logloss", R["logloss_nat"]),
        ("logloss(base=2)", R["logloss_bits"]),
        ("ref", R["isotonic_brier"]),
        ("cal", R["brier"] - R["isotonic_brier"]),
        ("rel", R["murphy_exact_unique_p"]["reliability"]),
        ("res", R["murphy_exact_unique_p"]["resolution"]),
        ("unc", R["murphy_exact_unique_p"]["uncertainty"]),
        ("murphy_residual", 0.0),
    ],
)
def test_proper_scores_and_their_parts(measure, value):
    found = ss.measure(measure, truth=DATA["label"].astype(int), score=DATA["score"])
    assert found == pytest.approx(value, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        (ss.cal_slope, R["calibration_slope"]),
        (ss.cal_intercept, R["calibration_intercept_joint"]),
        (ss.cal_offset, R["calibration_in_the_large"]),
    ],
)
def test_slope_and_both_intercepts(measure, value):
    # glm stops when the deviance changes by less than 1e-8 of itself; ours solves the equations below.
    assert measure(TABLE) == pytest.approx(value, abs=1e-8)


def test_the_fits_solve_the_equations_of_the_likelihood():
    x, y = logit(DATA["score"]), DATA["label"]
    left = y - expit(ss.cal_intercept(TABLE) + ss.cal_slope(TABLE) * x)
    assert np.abs([left.sum(), (left * x).sum()]).max() < 1e-12
    assert abs((y - expit(ss.cal_offset(TABLE) + x)).sum()) < 1e-12


def test_spiegelhalter():
    found = ss.spiegelhalter(TABLE)
    assert (found.statistic, found.p) == pytest.approx((R["spiegelhalter_z"], R["spiegelhalter_p"]), rel=1e-9)


def test_hosmer_lemeshow():
    found, expected = ss.hosmer_lemeshow(TABLE), R["hosmer_lemeshow"]
    assert (found.statistic, found.df, found.p) == pytest.approx(
        (expected["chi2"], expected["df"], expected["p"]), rel=1e-9
    )


def test_the_summary_has_the_same_numbers():
    found = ss.calibration_summary(TABLE, model="rocr")
    assert found.brier == pytest.approx(R["brier"], rel=1e-9)
    assert found.ref == pytest.approx(R["isotonic_brier"], rel=1e-9)
    assert found.spiegelhalter.p == pytest.approx(R["spiegelhalter_p"], rel=1e-9)
    # R takes the scores for fitted on these cases; the summary does not, and has two degrees of freedom more.
    assert found.hosmer_lemeshow.statistic == pytest.approx(R["hosmer_lemeshow"]["chi2"], rel=1e-9)
    assert found.hosmer_lemeshow.df == R["hosmer_lemeshow"]["df"] + 2
    assert found.slope == pytest.approx(R["calibration_slope"], abs=1e-8)


def test_the_tests_disagree_and_that_is_said():
    found = ss.calibration_summary(TABLE, model="rocr")
    (text,) = [note.text for note in found.notes if note.code == "SS023"]
    assert "Spiegelhalter p = 0.785, Hosmer-Lemeshow p < 0.001" in text
    assert "disagree" in found.words


def test_isotonic_curve_is_isoreg():
    given = reference("r_isoreg")["binary"]
    curve = ss.calibration(ss.score_table(given["y"], given["x"]))
    fitted = [curve.y[np.searchsorted(curve.threshold, x, side="right") - 1] for x in given["x"]]
    assert fitted == pytest.approx(given["fitted"], rel=1e-9)
