"""Intervals that hold at every look."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scorespace as ss
from scorespace.errors import MeasureError
from scorespace.inference.any_look import (
    auc_limits,
    bounded_limits,
    half_width,
    log_evidence,
    mean_limits,
    share_limits,
    spread_rate,
)
from scorespace.inference.estimate import estimate
from scorespace.inference.proportion import wilson
from scorespace.measures import parse
from scorespace.tables import Counts, score_table


def test_the_worked_examples():
    assert share_limits(190, 10) == pytest.approx((0.879, 0.986), abs=5e-4)
    assert wilson(190, 200) == pytest.approx((0.910, 0.973), abs=5e-4)
    assert share_limits(0, 100) == pytest.approx((0.0, 0.104), abs=5e-4)
    assert np.isnan(share_limits(0, 0)).all()


@pytest.mark.parametrize(("n", "share", "width"), [(250, 0.5, 1.66), (1000, 0.5, 1.55), (5000, 0.9, 1.61)])
def test_the_price_in_width(n, share, width):
    low, high = share_limits(share * n, n - share * n)
    single = wilson(share * n, n)
    assert (high - low) / (single[1] - single[0]) == pytest.approx(width, abs=0.02)


@pytest.mark.parametrize(("n", "width"), [(250, 1.67), (1000, 1.55), (5000, 1.61)])
def test_the_price_of_the_asymptotic_form(n, width):
    assert float(half_width(1 / n, n)) * math.sqrt(n) / 1.96 == pytest.approx(width, abs=0.01)


@pytest.mark.parametrize("side", ["both", "low", "high"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.97])
def test_the_evidence_is_a_martingale(side, share):
    """Its mean over the next case is its value today; from 1 before the first case."""
    rate = spread_rate(0.05, 200)

    def evidence(s, f):
        return float(np.exp(log_evidence(s, f, np.array(share), rate, side)))

    assert evidence(0, 0) == pytest.approx(1)
    for s, f in [(0, 0), (3, 1), (7, 20), (40, 2)]:
        following = share * evidence(s + 1, f) + (1 - share) * evidence(s, f + 1)
        assert following == pytest.approx(evidence(s, f), rel=1e-9)


@given(st.integers(0, 300), st.integers(0, 300), st.sampled_from([20, 1000, 50_000]))
def test_what_is_outside_the_limits_is_rejected_and_what_is_inside_is_not(s, f, cases):
    if not s + f:
        return
    for side in ("both", "low", "high"):
        rate = spread_rate(0.05 if side == "both" else 0.1, cases)
        low, high = share_limits(s, f, cases=cases, side=side)
        assert low <= s / (s + f) <= high
        tested = np.linspace(0.001, 0.999, 97)
        rejected = log_evidence(s, f, tested, rate, side) >= -math.log(0.05)
        below = (tested < low - 1e-9) if side != "high" else np.zeros(97, dtype=bool)
        above = (tested > high + 1e-9) if side != "low" else np.zeros(97, dtype=bool)
        assert (rejected == (below | above)).all()


def test_one_limit_is_nearer_than_both_and_at_a_given_number_of_cases_tightest():
    assert share_limits(30, 70)[0] < share_limits(30, 70, side="low")[0] < 0.3
    assert share_limits(30, 70, side="low")[1] == 1.0
    widths = [np.diff(share_limits(60, 40, cases=cases))[0] for cases in (10, 100, 1000)]
    assert min(widths) == widths[1]


def test_values_between_bounds_are_fractions_of_successes():
    cells, values = np.array([30, 20, 10, 40]), np.array([0.0, 1.0, 5.0, 0.0])
    low, high = bounded_limits(cells, values)
    assert (low / 5, high / 5) == pytest.approx(share_limits(14, 86))  # 70 of 500
    near = mean_limits(cells, values)
    assert near[0] < 0.7 < near[1] < high


def test_limits_of_an_auc_stay_inside_and_allow_for_no_observed_variance():
    low, high = auc_limits(np.array([0.9, 1.0]), 200, 200, np.array([0.0002, 0.0]))
    assert 0.8 < low[0] < 0.9 < high[0] < 1
    assert low[1] < low[0]  # no misordered pair says little on the logit scale


def binormal(n=400, seed=1):
    rng = np.random.default_rng(seed)
    label = (rng.random(n) < 0.3).astype(int)
    return score_table(label, 1 / (1 + np.exp(-rng.normal(size=n) - 1.5 * label + 1.5)))


@pytest.mark.parametrize(
    "name", ["auc", "gini", "tpr@0.5", "fpr@0.5", "ppv@0.5", "f1@0.5", "cost(fp=1, fn=5)@0.5", "nb@0.2", "acc@0.5"]
)
def test_it_is_wider_than_the_default_and_its_sides_are_nearer(name):
    table, spec = binormal(), parse(name)
    found, single = estimate(spec, table, method="any-look"), estimate(spec, table)
    assert found.method.startswith("any-look")
    assert found.low < single.low <= found.value <= single.high < found.high
    lower = estimate(spec, table, method="any-look(side=low)")
    upper = estimate(spec, table, method="any-look(side=high)")
    is_mean = name.startswith(("cost", "nb"))  # whose limits alone are those of both
    assert (lower.low == found.low) if is_mean else (found.low < lower.low < found.value)
    assert (upper.high == found.high) if is_mean else (found.value < upper.high < found.high)


def test_too_early_and_no_such_interval():
    small = score_table([1, 0, 1, 0, 1], [0.9, 0.1, 0.6, 0.3, 0.2])
    assert "too early" in estimate(parse("auc"), small, method="any-look").reason
    assert estimate(parse("cost@0.5"), small, method="any-look").method == "any-look, exact"
    for name in ("brier", "logloss", "auprc", "snb@0.2"):
        one = estimate(parse(name), binormal(), method="any-look")
        assert math.isnan(one.low)
        assert "every look" in one.reason


def test_weights_and_groups_have_none():
    data = {"y": [1, 0] * 60, "s": list(np.linspace(0, 1, 120)), "g": [k // 2 for k in range(120)], "w": [1, 2] * 60}
    for role in ({"columns": {"group": "g"}}, {"columns": {"weight": "w"}}):
        ev = ss.evaluate(data, truth="y", scores="s", settings={"interval": "any-look"}, **role)
        (one,) = ev.measures("auc")
        assert math.isnan(one.low)
        assert "independent cases without weights" in one.reason


@pytest.mark.parametrize(
    "method", ["any-look(cases=0)", "any-look(cases=x)", "any-look(side=none)", "any-look(look=1)"]
)
def test_bad_options(method):
    with pytest.raises(MeasureError):
        estimate(parse("acc"), Counts(3, 1, 2, 4), method=method)
