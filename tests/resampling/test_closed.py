"""Intervals in closed form."""

import math

import numpy as np
import pytest
from scipy import stats

from resampling.drawn import TABLE, of
from scorespace.resampling.share import clopper_pearson
from scorespace.tables import score_table


def test_clopper_pearson_of_an_estimate():
    counts = TABLE.at(0.5)
    expected = clopper_pearson(float(counts.tp), float(counts.p), 0.9)
    found = of("tpr@0.5", method="clopper-pearson", level=0.9)
    assert (found.low, found.high) == expected


@pytest.mark.parametrize("method", ["delong", "delong-logit"])
def test_gini_is_twice_the_area_less_one(method):
    area, gini = of("auc", method=method), of("gini", method=method)
    assert (gini.low, gini.high) == pytest.approx((2 * area.low - 1, 2 * area.high - 1))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["delong-logit", "bca", "studentised"])
def test_the_interval_covers_the_area(method):
    rng = np.random.default_rng(11)
    area = stats.norm.cdf(1.5 / math.sqrt(2))
    truth, covered = np.repeat([1, 0], [25, 40]), 0
    for seed in range(300):
        found = of("auc", score_table(truth, 1.5 * truth + rng.normal(size=65)), method=method, seed=seed)
        covered += found.low <= area <= found.high
    assert covered / 300 == pytest.approx(0.95, abs=0.035)
