"""Deviances, their D² and the Gini index by exposure: scikit-learn, statsmodels' formulas, and the sum over pairs."""

import numpy as np
import pytest
from sklearn.metrics import d2_tweedie_score, mean_gamma_deviance, mean_poisson_deviance, mean_tweedie_deviance

import scorespace as ss
from oracles.load import reference
from scorespace.errors import MeasureError
from scorespace.tables import residual_table

RNG = np.random.default_rng(2)
MEAN = RNG.gamma(2, 1.0, 60)
COUNTS = RNG.poisson(MEAN).astype(float)
AMOUNTS = RNG.gamma(2, MEAN)
EXPOSURE = RNG.uniform(0.1, 2, 60)
CASE = next(case for case in reference("trades") if case["topic"] == "lorenz gini with exposure")


@pytest.mark.parametrize(
    ("name", "truth", "theirs", "power"),
    [
        ("poisson", COUNTS, mean_poisson_deviance, 1),
        ("gamma", AMOUNTS, mean_gamma_deviance, 2),
        ("tweedie", COUNTS, lambda *given, **named: mean_tweedie_deviance(*given, power=1.5, **named), 1.5),
    ],
)
def test_deviances_are_scikit_learns(name, truth, theirs, power):
    for weight in (None, EXPOSURE):
        table = residual_table(truth, MEAN, weight)
        deviance = getattr(ss, f"{name}_deviance")(table)
        assert deviance == pytest.approx(theirs(truth, MEAN, sample_weight=weight))
        explained = d2_tweedie_score(truth, MEAN, power=power, sample_weight=weight)
        assert getattr(ss, f"d2_{name}")(table) == pytest.approx(explained)
        assert ss.tweedie_deviance(table, power=power) == pytest.approx(deviance)
        assert ss.d2_tweedie(table, power=power) == pytest.approx(explained)


def test_gini_is_the_sum_over_pairs():
    table = residual_table(*(CASE["inputs"][name] for name in ("y", "pred", "exposure")))
    assert ss.lorenz_gini(table) == pytest.approx(CASE["expected"]["gini"])
    assert ss.gini_correlation(table) == pytest.approx(CASE["expected"]["normalised"])
    curve = ss.lorenz(table)
    assert 1 - 2 * curve.area() == pytest.approx(CASE["expected"]["gini"])
    assert (curve.x[0], curve.y[0], curve.x[-1], curve.y[-1]) == (0, 0, 1, 1)


def test_gini_of_two_classes_is_that_of_the_auc():
    truth = (RNG.random(80) < 0.3).astype(float)
    score = np.round(RNG.random(80) + truth, 1)
    scaled = (1 - truth.mean()) * (2 * ss.auc(truth.astype(int), score) - 1)
    assert ss.lorenz_gini(residual_table(truth, score)) == pytest.approx(scaled)


def test_observed_to_expected_of_numbers():
    table = residual_table(COUNTS, MEAN, EXPOSURE)
    assert ss.oe(table) == pytest.approx((COUNTS @ EXPOSURE) / (MEAN @ EXPOSURE))
    found = ss.evaluate({"m": table}).measures("oe", "poisson_deviance", "d2_poisson", "lorenz_gini")
    assert [one.method for one in found] == ["jackknife", "skew-t", "skew-t", "fisher-t"]
    assert all(one.low < one.value < one.high for one in found)


def test_undefined_with_a_reason():
    (found,) = ss.evaluate({"m": residual_table([1, 2], [0, 1])}).measures("poisson_deviance")
    assert np.isnan(found.value)
    assert "a prediction is not above 0" in found.reason
    assert np.isnan(ss.gamma_deviance(residual_table([0, 2], [1, 1])))
    assert np.isnan(ss.d2_poisson(residual_table([2, 2], [1, 3])))
    assert np.isnan(ss.lorenz_gini(residual_table([0, 0], [1, 3])))
    assert np.isnan(ss.lorenz_gini(residual_table([-1, 2], [1, 3])))
    # a case of weight 0 is absent
    assert ss.poisson_deviance(residual_table([1, 2], [0, 1], [0, 1])) == pytest.approx(2 * (2 * np.log(2) - 1))
    with pytest.raises(MeasureError, match="power=3 is not between 1 and 2"):
        ss.tweedie_deviance(residual_table([1, 2], [1, 1]), power=3)
