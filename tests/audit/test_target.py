"""The target: its scale beside SciPy's Box-Cox, its classes, its gaps."""

import numpy as np
import pytest
from scipy import stats

import scorespace as ss
from scorespace.audit.target import compare_log_scale

SOURCE = np.random.default_rng(41)


def test_skewness_and_gain_are_those_of_scipy():
    y = np.sort(SOURCE.lognormal(3, 0.8, 500))
    found = compare_log_scale(y, np.ones(500, dtype=np.int64))
    assert found.skew == pytest.approx(stats.skew(y))
    assert found.log_skew == pytest.approx(stats.skew(np.log(y)))
    assert found.gain == pytest.approx((stats.boxcox_llf(0, y) - stats.boxcox_llf(1, y)) / 500)


def found(y, **more):
    return [
        (one.code, one.level)
        for one in ss.audit({"x": SOURCE.normal(size=len(y)), "y": y}, target="y", **more).findings
    ]


@pytest.mark.parametrize(
    "y", [SOURCE.lognormal(7, 1, 500), SOURCE.lognormal(0, 0.6, 500), SOURCE.lognormal(9, 1, 500).round()]
)
def test_skewed_targets(y):
    assert found(y) == [("SS130", "warning")]


@pytest.mark.parametrize(
    "y",
    [
        SOURCE.normal(100, 10, 500),
        SOURCE.normal(0, 10, 500),
        SOURCE.exponential(3, 500),  # the logarithm is as skewed, to the other side
        SOURCE.random(500),
        SOURCE.lognormal(0, 1, 500) - 1,
        SOURCE.poisson(30, 500),
    ],
)
def test_targets_that_are_well_as_they_are(y):
    assert found(y) == []


def test_unequal_classes():
    assert found(np.r_[np.ones(20), np.zeros(980)][SOURCE.permutation(1000)]) == [("SS131", "info")]
    assert found(np.r_[np.ones(4), np.zeros(200)][SOURCE.permutation(204)]) == [("SS131", "warning")]
    assert found(SOURCE.integers(0, 2, 500)) == []


def test_a_missing_target():
    y = np.where(np.arange(300) == 6, np.nan, SOURCE.normal(size=300))
    (one,) = ss.audit({"x": SOURCE.normal(size=300), "y": y}, target="y").findings
    assert (one.code, one.text, one.examples) == ("SS132", "1 of 300 rows have no value in 'y'.", ({"row": 7},))


def test_few_whole_numbers_are_classes_unless_stated():
    y = SOURCE.integers(0, 4, 200)
    table = {"x": SOURCE.normal(size=200), "copy": y, "y": y}
    assert "above the majority class" in ss.audit(table, target="y").failing(["SS103"])[0].text
    assert "R²" in ss.audit(table, target="y", kinds={"y": "ratio"}).failing(["SS103"])[0].text
