"""Tests of prediction intervals: Kupiec's and Christoffersen's by hand, SciPy's exact test, and the command line."""

import numpy as np
import pytest
from scipy.stats import binomtest, chi2

import scorespace as ss
from oracles.load import reference
from scorespace.comparisons.calibration import run_coverage_tests
from scorespace.comparisons.coverage import IntervalsOfModel, binomial_coverage, christoffersen, kupiec
from scorespace.errors import ScoreSpaceError
from scorespace.tables import residual_table

CASE = next(case for case in reference("trades") if case["topic"] == "kupiec christoffersen")
MISSES, NOMINAL, EXPECTED = CASE["inputs"]["misses"], CASE["inputs"]["nominal_miss"], CASE["expected"]


def intervals(misses=MISSES, nominal=NOMINAL, weight=None, ordered=True):
    size = len(misses)
    truth = np.where(misses, 5.0, 0.0)
    table = residual_table(truth, np.zeros(size), weight, interval=(-np.ones(size), np.ones(size), 1 - nominal))
    order = np.arange(size) if ordered else None
    return IntervalsOfModel(spec=None, model="m", sample=table.intervals, order=order)


def test_statistics_by_hand():
    found = kupiec(intervals())
    assert (found.statistic, found.p) == pytest.approx((EXPECTED["lr_uc"], EXPECTED["p_uc"]))
    assert found.difference == pytest.approx(NOMINAL - np.mean(MISSES))
    assert binomial_coverage(intervals()).p == pytest.approx(EXPECTED["binom_p"])
    alone = christoffersen(intervals(), reference="chi2")
    assert (alone.statistic, alone.p) == pytest.approx((EXPECTED["lr_ind"], EXPECTED["p_ind"]))
    both = christoffersen(intervals(), joint=True, reference="chi2")
    assert both.p == pytest.approx(EXPECTED["p_cc"])


@pytest.mark.parametrize(("misses", "cases", "nominal"), [(0, 20, 0.1), (3, 20, 0.1), (9, 40, 0.05), (20, 20, 0.2)])
def test_exact_p_is_scipys(misses, cases, nominal):
    found = binomial_coverage(intervals([1] * misses + [0] * (cases - misses), nominal))
    assert found.p == pytest.approx(binomtest(misses, cases, nominal).pvalue)


def test_misses_that_follow_each_other_are_seen():
    runs = ([1] * 5 + [0] * 45) * 4
    spread = ([1] + [0] * 9) * 20
    assert christoffersen(intervals(runs)).p < 0.01
    assert kupiec(intervals(runs)).p == pytest.approx(kupiec(intervals(spread)).p)
    later = intervals(runs)
    shuffled = IntervalsOfModel(
        spec=None, model="m", sample=later.sample, order=np.random.default_rng(1).permutation(len(runs))
    )
    assert christoffersen(shuffled).p > 0.05


def test_simulated_p_of_many_misses_is_near_chi2():
    rng = np.random.default_rng(4)
    design = intervals(rng.random(600) < 0.2, 0.2)
    for joint in (False, True):
        found = christoffersen(design, joint=joint)
        assert found.p == pytest.approx(chi2.sf(found.statistic, found.df), abs=0.05)


def test_undefined_with_a_reason():
    assert christoffersen(intervals([0] * 20)).reason == "undefined: no interval misses"
    assert christoffersen(intervals(ordered=False)).reason == "undefined: there is no time column"
    assert "weighted" in kupiec(intervals(weight=np.arange(1, 31))).reason
    assert "is undefined" in kupiec(intervals([0])).words


def test_every_test_runs_and_the_evaluation_names_them():
    assert [one.test for one in run_coverage_tests(intervals())] == ["binomial_coverage", "kupiec", "christoffersen"]
    data = {"y": [5.0 if miss else 0.0 for miss in MISSES], "m": [0.0] * 30, "low": [-1.0] * 30, "high": [1.0] * 30}
    data["t"] = list(range(30))
    columns = {"intervals": ("low", "high", 0.9), "time": "t"}
    ev = ss.evaluate(data, truth="y", predictions="m", columns=columns)
    found = ev.calibration_tests()
    assert [one.p for one in found][:2] == pytest.approx([EXPECTED["binom_p"], EXPECTED["p_uc"]])
    assert [row["test"] for row in ev.to_dict()["calibration"]] == [one.test for one in found]
    assert [one.test for one in ev.calibration_tests("kupiec")] == ["kupiec"]
    with pytest.raises(ScoreSpaceError, match="not a test of calibration"):
        ev.calibration_tests("delong")


def test_shares_of_misses_by_side():
    table = residual_table([0, 5, 1, -5], np.zeros(4), interval=([-1] * 4, [1] * 4, 0.9))
    assert (ss.below_interval(table), ss.above_interval(table), ss.coverage(table)) == (0.25, 0.25, 0.5)
