"""Numbers of decisions on cases that did not choose them, and their intervals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scorespace.costs import Condition
from scorespace.decisions.out_of_sample import (
    CostEstimate,
    OutOfSampleCounts,
    costs_of,
    mean_loss,
    mover_sum,
    shares_at,
)
from scorespace.measures import parse
from scorespace.tables import Counts

COUNTS = Counts(tp=60, fp=30, fn=20, tn=90)
CONDITION = Condition(fp=1, fn=3)

cells = st.integers(0, 40)
filled = st.builds(Counts, tp=cells, fp=st.integers(1, 40), fn=st.integers(1, 40), tn=cells)
conditions = st.builds(
    Condition,
    fp=st.sampled_from([1, 2, 10]),
    fn=st.sampled_from([1, 5]),
    tp=st.sampled_from([0, -2, 0.5]),
    tn=st.sampled_from([0, -1]),
    prevalence=st.sampled_from([None, 0.05, 0.5]),
)


# --- the interval of a sum of shares


def test_one_share_has_wilsons_interval():
    # Brown, Cai and DasGupta (2001): 8 of 10.
    found = mover_sum((8,), (1,), 10)
    assert (found.low, found.high) == pytest.approx((0.4902, 0.9433), abs=5e-5)


@pytest.mark.parametrize("losses", [(0, 1, 3, 0), (-2, 1, 3, 0.5), (0, 0, -3, 1)])
def test_with_many_cases_it_is_that_of_a_multinomial_sample(losses):
    counts = np.array([6000, 3000, 2000, 9000])
    share, loss = counts / counts.sum(), np.array(losses)
    error = math.sqrt(((share * loss**2).sum() - (share * loss).sum() ** 2) / counts.sum())
    found = mover_sum(tuple(counts), losses, counts.sum())
    assert found.value == pytest.approx((share * loss).sum())
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * error, rel=0.01)


def test_no_misses_seen_are_not_no_misses():
    # None of 30 missed: up to 11.4 % may be, by Wilson's interval.
    found = OutOfSampleCounts(Counts(tp=30, fp=0, fn=0, tn=70)).cost(Condition(fp=1, fn=5, prevalence=0.3))
    assert found.low == found.value == 0
    assert found.high > 0.3 * 5 * 0.11


@given(filled, conditions)
def test_the_interval_holds_the_number_and_stays_within_what_is_possible(counts, condition):
    found = OutOfSampleCounts(counts).cost(condition)
    assert found.value == pytest.approx(float(costs_of(counts, condition)))
    best, worst = condition.cost(0, 1, float(counts.p / counts.total)), condition.cost(1, 0, 0.5)
    assert found.low - 1e-12 <= found.value <= found.high + 1e-12
    if condition.prevalence is not None:
        assert found.low >= best - 1e-9
        assert found.high <= condition.cost(1, 0) + 1e-9
    assert np.isfinite([best, worst]).all()


@pytest.mark.parametrize("prevalence", [None, 0.1])
def test_width_of_the_interval_on_the_cost(prevalence):
    # Misses and false alarms are two independent binomials, 20 of 80 and 30 of 120, where the prevalence is stated;
    # else their shares of all cases are two of a multinomial.
    found = OutOfSampleCounts(COUNTS).cost(Condition(fp=1, fn=3, prevalence=prevalence))
    if prevalence is None:
        variance = (0.1 * 9 + 0.15 * 1 - 0.45**2) / 200
    else:
        variance = (0.1 * 3) ** 2 * 0.25 * 0.75 / 80 + 0.9**2 * 0.25 * 0.75 / 120
    assert found.high - found.low == pytest.approx(2 * 1.96 * math.sqrt(variance), rel=0.06)


# --- costs and gains


@given(filled, conditions, st.booleans())
def test_a_gain_is_the_difference_to_a_trivial_rule(counts, condition, always):
    p, n = float(counts.p), float(counts.n)
    trivial = Counts(tp=p, fp=n, fn=0, tn=0) if always else Counts(tp=0, fp=0, fn=p, tn=n)
    expected = float(costs_of(trivial, condition) - costs_of(counts, condition))
    assert OutOfSampleCounts(counts).gain(condition, always=always).value == pytest.approx(expected, abs=1e-12)


def test_repeats_that_differ_widen_the_interval():
    repeats = Counts(tp=[55.0, 65.0], fp=[30.0, 30.0], fn=[25.0, 15.0], tn=[90.0, 90.0])
    steady, widen_by_repeats = OutOfSampleCounts(COUNTS).cost(CONDITION), OutOfSampleCounts(repeats).cost(CONDITION)
    assert widen_by_repeats.value == pytest.approx(steady.value)
    # Costs of 0.525 and 0.375: a standard deviation of 0.075 beside that of the cases.
    assert (widen_by_repeats.high - widen_by_repeats.value) ** 2 - (steady.high - steady.value) ** 2 == pytest.approx(
        (1.96 * 0.075) ** 2, rel=1e-3
    )


def test_related_cases_count_for_fewer():
    alone, related = OutOfSampleCounts(COUNTS).cost(CONDITION), OutOfSampleCounts(COUNTS, spread=4.0).cost(CONDITION)
    quarter = mean_loss(Counts(tp=15, fp=7.5, fn=5, tn=22.5), (0, 1, 3, 0), (20, 30))
    assert (related.low, related.high) == pytest.approx((quarter.low, quarter.high))
    assert alone.high - alone.low < related.high - related.low


def test_shares_at_a_prevalence():
    # 75 % of the positives are found and 25 % of the negatives alarm.
    assert np.array(shares_at(COUNTS, 0.1)) == pytest.approx([0.075, 0.225, 0.025, 0.675])
    assert OutOfSampleCounts(COUNTS).shares() == pytest.approx({"tp": 0.3, "fp": 0.15, "fn": 0.1, "tn": 0.45})


# --- measures


def test_a_proportion_has_wilsons_interval():
    found = OutOfSampleCounts(Counts(tp=8, fp=0, fn=2, tn=10)).measure(parse("tpr"))
    assert (found.value, found.low, found.high) == pytest.approx((0.8, 0.4902, 0.9433), abs=5e-5)
    related = OutOfSampleCounts(Counts(tp=8, fp=0, fn=2, tn=10), spread=2.0).measure(parse("tpr"))
    half = stats.binomtest(4, 5).proportion_ci(method="wilson")
    assert (related.low, related.high) == pytest.approx((half.low, half.high))


@pytest.mark.parametrize("name", ["f1", "mcc", "youden", "kappa"])
def test_other_measures_have_the_spread_of_samples_drawn_again(name):
    counts = Counts(tp=600, fp=300, fn=200, tn=900)
    found = OutOfSampleCounts(counts).measure(parse(name))
    drawn = np.random.default_rng(0).multinomial(2000, [0.3, 0.15, 0.1, 0.45], 20_000).T
    again = parse(name).measure(Counts(*drawn.astype(float)))
    assert found.high - found.value == pytest.approx(1.96 * again.std(), rel=0.03)
    assert found.value - found.low == pytest.approx(1.96 * again.std(), rel=0.03)


def test_an_undefined_measure_has_a_reason():
    found = OutOfSampleCounts(Counts(tp=0, fp=0, fn=5, tn=5)).measure(parse("ppv"))
    assert math.isnan(found.value)
    assert found.reason == "undefined: nothing is predicted positive"


def test_without_outcomes_there_is_a_reason():
    none = OutOfSampleCounts(None, reason="too few")
    assert none.cost(CONDITION).reason == none.measure(parse("tpr")).reason == "too few"
    assert not none.cost(CONDITION).known
    assert none.counts is None
    assert np.isnan(list(none.shares().values())).all()


def test_a_value_turned_round():
    assert -CostEstimate(1.0, 0.5, 2.0) == CostEstimate(-1.0, -2.0, -0.5)
    assert repr(CostEstimate(-0.5)) == "−0.5"
