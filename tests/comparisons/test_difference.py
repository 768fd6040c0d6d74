"""Interval and p of a difference: from replicates, from two intervals, and by turning an interval into a test."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scorespace.comparisons.difference import add_replicate_test, boundary_z, interval_at, least_p, mover_interval
from scorespace.comparisons.result import Comparison
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.proportion import wilson
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.tables import score_table
from scorespace.tables.paired import pair_table


def test_replicates_that_leave_the_difference_out_are_centred_on_it():
    # Drawing cases twice lifts maxima such as KS: here every replicate lies above the value itself.
    found = add_replicate_test(Comparison("a", "b", "bootstrap", "ks", 0.1), np.linspace(0.2, 0.3, 101))
    assert found.test == "bootstrap, centred"
    assert (found.low, found.high) == pytest.approx((0.1 - 0.0475, 0.1 + 0.0475))
    assert found.p == pytest.approx(2 / 102)


FOUND = Comparison("a", "b", "bootstrap", "auc", 0.1)


def test_interval_and_p_are_quantiles_and_shares_of_the_replicates():
    drawn = np.random.default_rng(1).normal(0.1, 0.06, 999)
    found = add_replicate_test(FOUND, drawn)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])))
    assert found.statistic == pytest.approx(0.1 / drawn.std(ddof=1))
    assert found.p == 2 * (1 + int((drawn <= 0).sum())) / 1000
    assert (found.p < 0.05) == (not found.low < 0 < found.high)
    # Turned round, everything turns with it.
    turned = add_replicate_test(replace(FOUND, difference=-0.1), -drawn)
    assert (turned.low, turned.high, turned.p) == pytest.approx((-found.high, -found.low, found.p))


def test_an_interval_stays_in_the_range_and_p_above_what_so_few_cases_can_give():
    found = add_replicate_test(FOUND, np.linspace(-0.3, 0.5, 201), range=(-0.2, 0.2), least=0.9)
    assert (found.low, found.high, found.p) == (-0.2, 0.2, 0.9)


@pytest.mark.parametrize(
    ("drawn", "alike", "p", "reason"),
    [
        ([math.nan] * 3, None, math.nan, "the measure is undefined in every replicate"),
        (
            [0.1] * 3,
            None,
            math.nan,
            "all bootstrap replicates gave the same value, so neither p nor an interval is informative",
        ),
        ([0.1] * 3, "they decide alike", math.nan, "the difference is the same in every replicate"),
        ([0.05, 0.2, math.nan, math.nan], None, 2 / 3, "excludes 2 of 4 undefined replicates"),
    ],
)
def test_replicates_that_say_little(drawn, alike, p, reason):
    found = add_replicate_test(FOUND, np.array(drawn), alike)
    assert found.reason == reason
    assert found.p == pytest.approx(p, nan_ok=True)


def test_models_that_decide_alike_in_every_replicate():
    found = add_replicate_test(replace(FOUND, difference=0.0), np.zeros(5), "they decide alike")
    assert (found.low, found.high, found.statistic, found.p, found.reason) == (0, 0, 0, 1, "they decide alike")


@pytest.mark.parametrize("units", [0, 1, 2, 5, 10])
def test_the_least_p_is_that_of_all_signs_alike(units):
    assert least_p(units) == pytest.approx(min(1.0, stats.binomtest(0, units).pvalue if units else 1.0))


def test_two_shares_have_newcombes_interval():
    # Newcombe (1998), method 10, his example (a): 56/70 against 48/80 gives 0.0524 to 0.3339.
    low, high = mover_interval(56 / 70, wilson(56, 70), 48 / 80, wilson(48, 80))
    assert (low, high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@given(*[st.floats(0, 1)] * 6, st.floats(-1, 1))
def test_combined_bounds_hold_the_difference(a, b, la, ha, lb, hb, correlation):
    of_a, of_b = (a - la * a, a + ha * (1 - a)), (b - lb * b, b + hb * (1 - b))
    low, high = mover_interval(a, of_a, b, of_b)
    assert -1 - 1e-9 <= low <= a - b <= high <= 1 + 1e-9
    turned = mover_interval(b, of_b, a, of_a)
    assert (-turned[1], -turned[0]) == pytest.approx((low, high), abs=1e-9)
    # Estimates that go together leave no more than both lengths, and no less than their difference.
    kept = mover_interval(a, of_a, b, of_b, correlation)
    left, right = a - of_a[0], of_b[1] - b
    assert abs(left - right) - 1e-6 <= a - b - kept[0] <= left + right + 1e-6


@given(st.floats(0.1, 0.9), st.floats(0.01, 0.2), st.floats(-6, 6))
def test_a_normal_interval_turned_round_is_its_z(value, error, z):
    def bounds(level):
        half = stats.norm.isf((1 - level) / 2) * error
        return value - half, value + half

    assert boundary_z(bounds, value - z * error) == pytest.approx(abs(z), abs=1e-5)


def test_intervals_that_cannot_be_turned_round():
    assert boundary_z(lambda level: (0.4, 0.6), 0.5) == 0  # always inside
    assert boundary_z(lambda level: (0.4, 0.6), 0.9) == 8  # never
    assert math.isnan(boundary_z(lambda level: (math.nan, math.nan), 0.5))


def test_the_interval_that_is_shown_is_the_one_that_tests():
    table = score_table([1, 0] * 40, np.random.default_rng(2).random(80))
    request = bind(parse("tpr@0.5"), table)
    counts = table.at(0.5)
    found = interval_at(request, "m", BootstrapDraws({"m": table}), 0.9)
    assert (found.low, found.high) == pytest.approx(wilson(float(counts.tp), float(counts.p), 0.9))
    undefined = interval_at(bind(parse("ppv@2"), table), "m", BootstrapDraws({"m": table}), 0.9)
    assert (undefined.method, undefined.reason) == (None, "undefined: nothing is predicted positive")
    pairs = pair_table([1, 0] * 40, {"m": np.random.default_rng(2).random(80)}, group=np.arange(80) // 4)
    grouped = BootstrapDraws({"m": pairs.tables[0]}, pairs, replicates=50)
    assert interval_at(request, "m", grouped, 0.9).method == "bootstrap of groups"


def test_with_few_cases_students_t_widens_the_quantiles():
    drawn = np.random.default_rng(5).normal(0.3, 0.1, 4000)
    few, many = (
        add_replicate_test(Comparison("a", "b", "bootstrap", "auc", 0.3), drawn, fewest=n) for n in (4, 10_000)
    )
    half = stats.t.ppf(0.975, 3) * drawn.std(ddof=1)
    assert (few.low, few.high) == pytest.approx((0.3 - half, 0.3 + half))
    assert few.p == pytest.approx(2 * stats.t.sf(0.3 / drawn.std(ddof=1), 3))
    assert many.high - many.low == pytest.approx(2 * 1.96 * 0.1, rel=0.05)
