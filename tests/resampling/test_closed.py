"""Intervals in closed form."""

import math

import numpy as np
import pytest
from scipy import stats

from resampling.drawn import TABLE, of
from scorespace.measures import parse
from scorespace.resampling.estimate import estimate
from scorespace.resampling.share import clopper_pearson
from scorespace.tables import Counts, confusion, score_table


def test_clopper_pearson_of_an_estimate():
    counts = TABLE.at(0.5)
    expected = clopper_pearson(float(counts.tp), float(counts.p), 0.9)
    found = of("tpr@0.5", method="clopper-pearson", level=0.9)
    assert (found.low, found.high) == expected


@pytest.mark.parametrize("method", ["delong", "delong-logit", "newcombe", "area"])
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


def test_f1_has_the_interval_of_a_jaccard_index():
    # F1 = 2J / (1 + J), and J is a share of all cases but the true negatives.
    outcomes = Counts(tp=12, fp=5, fn=3, tn=20)
    share = stats.binomtest(12, 20).proportion_ci(method="wilson")
    found = of("f1", outcomes)
    assert (found.low, found.high) == pytest.approx(tuple(2 * j / (1 + j) for j in (share.low, share.high)))


@pytest.mark.parametrize("classes", [2, 3, 20])
def test_the_largest_of_equal_shares_is_held(classes):
    # Wilson's interval of the commonest class holds the truth in 0.94, 0.92 and 0.53 of such samples.
    names = [str(k) for k in range(classes)]
    drawn = np.random.default_rng(5).multinomial(100, np.full(classes, 1 / classes), 300)
    found = [estimate(parse("nir"), confusion(np.diag(one), classes=names)) for one in drawn]
    assert {one.method for one in found} == {"largest"}
    assert np.mean([one.low <= 1 / classes <= one.high for one in found]) >= 0.93
