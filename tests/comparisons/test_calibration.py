"""Declared tests of calibration: R's numbers, Cox's test by its formula, rows in JSON, and requirements."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import chi2

import scorespace as ss
from oracles.load import columns, reference
from scorespace.comparisons.calibration import calibration_tests
from scorespace.errors import ScoreSpaceError

DATA = columns("rocr_simple_input")
R = reference("r_calibration")
FRAME = {"y": DATA["label"].astype(int), "p": DATA["score"]}


@pytest.fixture(scope="module")
def rocr():
    return ss.evaluate(FRAME, truth="y", scores="p", positive=1)


def test_values_are_those_of_r(rocr):
    found = {one.test: one for one in rocr.calibration_tests()}
    assert list(found) == ["spiegelhalter", "hosmer_lemeshow", "cox", "calibration_loss"]
    assert found["spiegelhalter"].statistic == pytest.approx(R["spiegelhalter_z"], rel=1e-9)
    assert found["spiegelhalter"].p == pytest.approx(R["spiegelhalter_p"], rel=1e-9)
    assert found["hosmer_lemeshow"].statistic == pytest.approx(R["hosmer_lemeshow"]["chi2"], rel=1e-9)
    assert found["hosmer_lemeshow"].df == 10  # on new cases; R's 8 are for scores fitted to these cases


def test_cox_by_its_formula(rocr):
    """Twice the gain in log-likelihood of R's intercept and slope over 0 and 1."""
    x, y = logit(DATA["score"]), DATA["label"]

    def likelihood(a, b):
        return np.log(np.where(y == 1, expit(a + b * x), expit(-a - b * x))).sum()

    statistic = 2 * (likelihood(R["calibration_intercept_joint"], R["calibration_slope"]) - likelihood(0, 1))
    (found,) = rocr.calibration_tests("cox")
    assert (found.statistic, found.df, found.p) == pytest.approx((statistic, 2, chi2.sf(statistic, 2)), rel=1e-6)


def test_options_unknown_names_and_json(rocr):
    by_five, by_ten = (rocr.calibration_tests(f"hosmer-lemeshow(groups={k})")[0] for k in (5, 10))
    assert (by_five.df, by_ten.df) == (5, 10)
    with pytest.raises(ScoreSpaceError, match="'delong' is not a test of calibration"):
        rocr.calibration_tests("delong")
    rows = rocr.to_dict()["calibration"]
    assert [row["test"] for row in rows] == [kind.name for kind in calibration_tests()]
    assert rows[0] == {
        "model": "p",
        "test": "spiegelhalter",
        "measure": "",
        "statistic": pytest.approx(R["spiegelhalter_z"]),
        "df": None,
        "p": pytest.approx(R["spiegelhalter_p"]),
        "reason": None,
    }


def test_grouped_cases_are_not_tested():
    grouped = {**FRAME, "patient": np.arange(DATA["score"].size) // 4}
    found = ss.evaluate(grouped, truth="y", scores="p", positive=1, columns={"group": "patient"})
    assert all(np.isnan(one.p) and one.reason for one in found.calibration_tests())


def test_their_level():
    rng, rejected = np.random.default_rng(2), np.zeros(3)
    for _ in range(300):
        p = expit(rng.normal(-1, 1.2, 200))
        found = ss.evaluate({"y": (rng.random(200) < p).astype(int), "p": p}, truth="y", scores="p", positive=1)
        rejected += [one.p < 0.05 for one in found.calibration_tests("spiegelhalter", "hosmer_lemeshow", "cox")]
    assert (rejected <= 30).all()  # 15 expected
