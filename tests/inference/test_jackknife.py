"""The interval of sums: what it is on plain means, that it covers, and that sums of products say the same."""

import math

import numpy as np
import pytest
from scipy import stats

from scorespace import io
from scorespace.inference.estimate import estimate
from scorespace.io.out_of_core import count_in_engine
from scorespace.measures import parse
from scorespace.tables import residual_table

RNG = np.random.default_rng(12)


def test_of_a_plain_mean_it_is_students():
    error = np.array([-2.0, -1.0, 0.0, 1.0, 2.0] * 8)  # without skewness
    found = estimate(parse("bias"), residual_table(np.zeros(40), error))
    low, high = stats.t.interval(0.95, 39, error.mean(), stats.sem(error))
    assert (found.low, found.high) == pytest.approx((low, high))


@pytest.mark.parametrize("side", [1, -1])
def test_skewness_lengthens_the_side_of_its_tail(side):
    # Johnson's term: the standard error times G₁ / √n · (2t² + 1) / 6.
    error = side * np.random.default_rng(3).exponential(2.0, 30)
    found = estimate(parse("bias"), residual_table(np.zeros(30), error))
    low, high = stats.t.interval(0.95, 29, error.mean(), stats.sem(error))
    t = stats.t.ppf(0.975, 29)
    longer = stats.sem(error) * stats.skew(error, bias=False) / math.sqrt(30) * (2 * t * t + 1) / 6
    assert math.copysign(1, longer) == side
    assert found.low == pytest.approx(low + min(0.0, longer))
    assert found.high == pytest.approx(high + max(0.0, longer))


def test_copies_are_cases_and_weights_are_not():
    truth, predicted = RNG.normal(0, 1, (2, 30))
    times = np.full(30, 4.0)
    plain = estimate(parse("mae"), residual_table(np.repeat(truth, 4), np.repeat(predicted, 4)))
    copies = estimate(parse("mae"), residual_table(truth, predicted, weight=times, copies=True))
    weighted = estimate(parse("mae"), residual_table(truth, predicted, weight=times))
    alone = estimate(parse("mae"), residual_table(truth, predicted))
    assert (copies.low, copies.high) == pytest.approx((plain.low, plain.high))
    assert (weighted.low, weighted.high) == pytest.approx((alone.low, alone.high))


@pytest.mark.parametrize(
    "name", ["mae", "mse", "r2", "pearson", "bias", "rae", "rse", "aoc", "asym(alpha=0.8)", "smape"]
)
def test_sums_of_products_say_the_same_of_many_cases(name):
    truth = RNG.gamma(5, 4, 6000)
    columns = {"y": truth, "m": truth + RNG.normal(0.3, 3, 6000), "w": RNG.uniform(0.5, 2, 6000)}
    source = io.read(columns)
    for weight in (None, "w"):
        named = io.resolve_roles(source, truth="y", predictions="m", weight=weight)
        cases, sums = io.count_tables(io.validate(source, named))["m"], count_in_engine(source, named)[1]["m"]
        a, b = estimate(parse(name), cases), estimate(parse(name), sums)
        assert b.value == pytest.approx(a.value, rel=1e-9)
        assert b.high - b.low == pytest.approx(a.high - a.low, rel=0.05)
        assert a.method == b.method == "jackknife"


SHAPES = {"normal": lambda rng, n: rng.normal(0.5, 1, n), "heavy": lambda rng, n: rng.standard_t(5, n)}
KNOWN = {
    ("normal", "mse"): 1.25,
    ("normal", "err_var"): 1.0,
    ("normal", "bias"): 0.5,
    ("heavy", "mse"): 5 / 3,
    ("heavy", "bias"): 0.0,
    ("heavy", "mae"): float(stats.t(5).expect(abs)),
}


@pytest.mark.parametrize(("shape", "name"), KNOWN)
def test_it_holds_the_true_value_about_as_often_as_it_says(shape, name):
    rng = np.random.default_rng(4)
    held = []
    for _ in range(300):
        found = estimate(parse(name), residual_table(np.zeros(40), SHAPES[shape](rng, 40)))
        held.append(found.low <= KNOWN[shape, name] <= found.high)
    assert 0.9 <= np.mean(held) <= 0.99


def test_what_cannot_be_left_out_has_no_interval_or_a_plain_one():
    one_bears_all = estimate(parse("mae"), residual_table(np.zeros(10), np.eye(10)[0]))
    assert one_bears_all.low == 0
    assert one_bears_all.high > 0.2
    perfect = estimate(parse("mae"), residual_table([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]))
    assert (perfect.low, perfect.high) == (0, 0)
    alone = estimate(parse("mae"), residual_table([1.0], [2.0]))
    assert math.isnan(alone.low)
    assert alone.reason == "no interval: leaving out one case makes the measure undefined"
    assert estimate(parse("max_error"), residual_table([1.0, 2.0], [1.0, 3.0])).reason.startswith("no interval: new")


def test_rank_correlations_stay_below_one():
    truth = np.arange(12.0)
    found = estimate(parse("spearman"), residual_table(truth, truth + RNG.normal(0, 1, 12)))
    assert -1 < found.low < found.value < found.high < 1


def test_losses_that_are_no_sums_are_covered_too():
    rng = np.random.default_rng(11)
    held = {"huber": 0, "interval_score(level=0.9)": 0}
    z = stats.norm
    # Of normal errors and intervals ± h: the expected distance outside is 2 (φ(h) − h (1 − Φ(h))).
    half = 1.2
    outside = 2 * (z.pdf(half) - half * z.sf(half))
    beyond = 2 * (z.pdf(1) - 0.5 * z.sf(1))  # δ (|e| − δ/2) outside of ± δ, for δ = 1
    inner = (z.cdf(1) - z.cdf(-1) - 2 * z.pdf(1)) / 2
    known = {"huber": inner + beyond, "interval_score(level=0.9)": 2 * half + 20 * outside}
    for seed in range(120):
        error = rng.normal(0, 1, 60)
        table = residual_table(np.zeros(60), error, interval=(error - half, error + half, 0.95))
        for name, true in known.items():
            found = estimate(parse(name), table, replicates=400, seed=seed)
            held[name] += found.low <= true <= found.high
    assert all(0.87 <= held[name] / 120 <= 1 for name in known)


def test_a_value_that_rounding_puts_at_its_end_has_an_interval_around_it():
    truth = np.ones(40)
    predicted = truth.copy()
    predicted[0] += 2**-52
    found = estimate(parse("smape"), residual_table(truth, predicted))
    assert 0 <= found.low <= found.value <= found.high < 1e-15


def test_a_case_that_bears_nearly_all_of_a_loss_leaves_limits_that_can_be_read():
    # On the logarithmic scale that one case is worth a factor of 1e4, and the limits would be 1e15 and farther.
    error = np.append(np.random.default_rng(4).normal(0, 40, 399), 1e7)
    table = residual_table(np.zeros(400), error)
    for name in ("mae", "rmse"):
        found = estimate(parse(name), table)
        assert 0 <= found.low < found.value < found.high < 10 * found.value
