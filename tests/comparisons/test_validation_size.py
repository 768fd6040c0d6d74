"""Sample size of an external validation, beside pmvalsampsize and simulation."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from oracles.load import reference
from scorespace.comparisons.validation_size import LinearPredictor, normal_predictor, validation_size
from scorespace.errors import ConditionError

ORACLE = reference("clinical")["sample size validation"]
GIVEN, EXPECTED = ORACLE["inputs"], ORACLE["expected"]
PREDICTOR = LinearPredictor(*GIVEN["lp_normal"])


def test_cases_are_those_of_pmvalsampsize():
    found = validation_size(
        GIVEN["prevalence"],
        GIVEN["c"],
        predictor=PREDICTOR,
        threshold=GIVEN["threshold"],
        rates=(GIVEN["sensitivity"], GIVEN["specificity"]),
        widths={
            "oe": GIVEN["oe_width"],
            "slope": GIVEN["slope_width"],
            "auc": GIVEN["c_width"],
            "snb": GIVEN["snb_width"],
        },
    )
    cases = {one.name: one.cases for one in found.criteria}
    assert cases == {
        "oe": EXPECTED["oe"],
        "slope": EXPECTED["slope_quadrature"],
        "auc": EXPECTED["c"],
        "snb": EXPECTED["snb_exact_se"],
    }
    assert found.criteria[-1].value == pytest.approx(EXPECTED["snb_value"], abs=1e-5)
    assert found.cases == EXPECTED["slope_quadrature"]


def test_the_predictor_has_the_prevalence_and_c_statistic_by_simulation():
    found = normal_predictor(0.75, 0.3)
    x = np.random.default_rng(0).normal(found.mean, found.sd, 400_000)
    y = np.random.default_rng(1).random(x.size) < expit(x)
    ranks = np.argsort(np.argsort(x)) + 1
    auc = (ranks[y].sum() - y.sum() * (y.sum() + 1) / 2) / y.sum() / (~y).sum()
    assert (float(y.mean()), auc) == pytest.approx((0.3, 0.75), abs=0.004)
    sensitivity, specificity = found.rates_at(0.3)
    acted = expit(x) >= 0.3
    assert (acted[y].mean(), (~acted)[~y].mean()) == pytest.approx((sensitivity, specificity), abs=0.005)


def test_the_width_of_the_slope_by_simulation():
    """Logistic regressions of samples of that size have slopes that vary as planned."""
    size, rng, slopes = validation_size(0.1, predictor=PREDICTOR, widths={"slope": 0.4}).criteria[1].cases, None, []
    rng = np.random.default_rng(4)
    for _ in range(300):
        x = rng.normal(PREDICTOR.mean, PREDICTOR.sd, size)
        y = rng.random(size) < expit(x)
        design, beta = np.stack([np.ones(size), x], axis=1), np.array([0.0, 1.0])
        for _ in range(8):
            p = expit(design @ beta)
            beta = beta + np.linalg.solve(design.T @ (design * (p * (1 - p))[:, None]), design.T @ (y - p))
        slopes.append(beta[1])
    assert 2 * norm.ppf(0.975) * np.std(slopes) == pytest.approx(0.4, rel=0.1)


def test_other_expected_ratios_and_wider_intervals():
    wide, narrow = (validation_size(0.2, 0.7, widths={"oe": width}).criteria[0].cases for width in (0.4, 0.2))
    assert wide < narrow
    error = np.sqrt(0.8 / (0.2 * validation_size(0.2, 0.7, oe=1.5, widths={"oe": 0.3}).criteria[0].cases))
    assert 1.5 * 2 * np.sinh(norm.ppf(0.975) * error) == pytest.approx(0.3, rel=1e-3)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"auc": 0.4}, "auc=0.4"),
        ({}, "the expected model is missing"),
        ({"auc": 0.8, "widths": {"brier": 0.1}}, "no criterion 'brier'"),
        ({"auc": 0.8, "threshold": 2.0}, "threshold=2"),
        ({"auc": 0.8, "widths": {"auc": 0.0}}, "auc=0 is not a width"),
        ({"predictor": LinearPredictor(-2, 0)}, "lp_sd=0"),
    ],
)
def test_what_is_refused(options, problem):
    with pytest.raises(ConditionError, match=problem):
        validation_size(0.1, **options)
