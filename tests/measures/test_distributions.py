"""CRPS, weighted interval score and reliability: properscoring, scoringrules, scikit-learn and identities."""

import numpy as np
import pytest
from sklearn.metrics import mean_pinball_loss

import scorespace as ss
from oracles.load import reference
from scorespace.errors import DataError, MeasureError
from scorespace.tables import residual_table
from scorespace.tables.distributions import DistributionTable
from scorespace.tables.regression import IntervalTable

CASE = next(case for case in reference("trades") if case["topic"] == "crps")
ACTUAL, MEMBERS, LEVELS = (CASE["inputs"][name] for name in ("actual", "members", "levels"))
EXPECTED = CASE["expected"]
RNG = np.random.default_rng(8)
TRUTH = RNG.normal(size=200)


def ensemble(members=None, truth=ACTUAL):
    members = np.array(MEMBERS).T if members is None else members
    return residual_table(truth, np.mean(members, axis=0), quantiles=(members, None))


def quantiles(levels=tuple(LEVELS)):
    return residual_table(ACTUAL, np.array(MEMBERS)[:, 2], quantiles=(np.array(MEMBERS).T, levels))


def test_crps_of_ensembles_is_that_of_other_programs():
    assert ss.crps(ensemble()) == pytest.approx(EXPECTED["properscoring"])
    assert ss.crps(ensemble(), fair=True) == pytest.approx(EXPECTED["scoringrules_fair"])
    assert ss.crps(ensemble(np.array(MEMBERS).T[::-1])) == pytest.approx(EXPECTED["ensemble"])  # members in any order


def test_interval_score_of_weighted_levels():
    assert ss.wis(quantiles()) == pytest.approx(EXPECTED["quantiles_mean_2pinball"])
    by_level = [2 * mean_pinball_loss(ACTUAL, np.array(MEMBERS)[:, k], alpha=q) for k, q in enumerate(LEVELS)]
    assert ss.wis(quantiles()) == pytest.approx(np.mean(by_level))
    assert ss.crps(quantiles()) == pytest.approx(np.trapezoid(by_level, LEVELS))


def test_levels_in_the_middle_of_steps_give_the_crps_of_the_ensemble():
    levels = (np.arange(1, 6) - 0.5) / 5
    assert ss.wis(quantiles(levels)) == pytest.approx(ss.crps(ensemble()))
    assert ss.wis(ensemble()) == pytest.approx(ss.crps(ensemble()))


def test_shares_up_to_quantiles():
    shares = [np.mean(np.array(ACTUAL) <= np.array(MEMBERS)[:, k]) for k in range(5)]
    assert [ss.quantile_coverage(quantiles(), q=q) for q in LEVELS] == shares
    curve = ss.quantile_reliability(quantiles())
    assert curve.x.tolist() == LEVELS
    assert curve.y.tolist() == shares
    (one,) = ss.evaluate({"m": quantiles()}).measures("quantile_coverage(q=0.25)")
    assert one.method == "wilson"


def test_outermost_levels_are_a_prediction_interval():
    found = quantiles().inside(IntervalTable)
    assert found.level == 0.8
    assert found.low.tolist() == [row[0] for row in MEMBERS]


def test_pit_is_flat_for_calibrated_and_hollow_for_wide_ensembles():
    members = np.random.default_rng(1).normal(size=(19, 200))
    same = ss.pit(ensemble(members, TRUTH))
    assert np.diff(same.x)[::2] @ same.y[::2] == pytest.approx(1)
    assert same.y.max() < 2
    narrow, wide = (ss.pit(ensemble(scale * members, TRUTH)).y[[0, 10]] for scale in (0.3, 3))
    assert narrow[0] > 2 > 1 > narrow[1]
    assert wide[0] < 1 < wide[1]


def test_pit_of_quantiles_counts_between_levels():
    curve = ss.pit(quantiles((0.1, 0.25, 0.5, 0.75, 0.9)))
    assert curve.x.tolist() == [0, 0.1, 0.1, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 0.9, 0.9, 1]


def test_ties_are_spread():
    curve = ss.pit(
        residual_table([0.0, 0.0], [0.0, 0.0], quantiles=([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]], None)), bins=4
    )
    assert curve.y == pytest.approx(np.ones(8))


def test_weights_are_copies_in_value():
    times = np.array([1, 3, 2, 1])
    light = residual_table(ACTUAL, ACTUAL, times, quantiles=(np.array(MEMBERS).T, None))
    heavy = np.repeat(np.array(MEMBERS), times, axis=0).T
    full = residual_table(np.repeat(ACTUAL, times), heavy[0], quantiles=(heavy, None))
    for name in ("crps", "wis", "quantile_coverage"):
        assert getattr(ss, name)(light) == pytest.approx(getattr(ss, name)(full))
    assert ss.pit(light).y == pytest.approx(ss.pit(full).y)


def test_bad_input():
    with pytest.raises(MeasureError, match=r"q=0\.3 is not a predicted quantile"):
        ss.quantile_coverage(quantiles(), q=0.3)
    with pytest.raises(MeasureError, match="fair=true is for ensembles"):
        ss.crps(quantiles(), fair=True)
    with pytest.raises(MeasureError, match="crps needs predicted quantiles or an ensemble"):
        ss.crps(residual_table([1, 2], [1, 2]))
    with pytest.raises(DataError, match="levels of quantiles"):
        quantiles((0.1, 0.1, 0.5, 0.7, 0.9))
    with pytest.raises(DataError, match="two columns or more"):
        residual_table([1.0], [1.0], quantiles=([[1.0]], [0.5]))
    with pytest.raises(DataError, match="cannot be merged"):
        quantiles().inside(DistributionTable) + ensemble().inside(DistributionTable)
