"""Tests between predicted numbers: SciPy's signed ranks, Diebold and Mariano's by its formula, and their words."""

import numpy as np
import pytest
from scipy import stats

import scorespace as ss
from scorespace.comparisons.paired import compare
from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.inference.time_series import long_run_variance
from scorespace.tables import residual_table
from scorespace.tables.paired import PairTable

RNG = np.random.default_rng(9)
TRUTH = RNG.normal(20, 5, 120)
DATA = {
    "y": TRUTH,
    "near": TRUTH + RNG.normal(0, 1, 120),
    "far": TRUTH + RNG.normal(0, 1.6, 120),
    "t": RNG.permutation(120),
}


def evaluated(data=DATA, **more):
    return ss.evaluate(data, truth="y", predictions=["near", "far"], **more)


def side_by_side(data):
    """The pair table, without reading columns."""
    tables = tuple(residual_table(data["y"], data[name]) for name in ("near", "far"))
    cells = np.tile(np.arange(60, dtype=np.int32), (2, 1))
    return PairTable(("near", "far"), tables, cells, np.zeros(60, dtype=np.uint8), (), None, time=data["t"])


def errors(data=DATA):
    return data["near"] - data["y"], data["far"] - data["y"]


@pytest.mark.parametrize("side", ["greater", "less"])
def test_signed_ranks_of_one_side_are_scipys(side):
    found = evaluated().compare(test="wilcoxon", alternative=side)[0]
    theirs = stats.wilcoxon(*map(np.abs, errors()), method="asymptotic", correction=False, alternative=side)
    assert found.p == pytest.approx(theirs.pvalue)
    assert f"one-sided: near {side})" in found.words


def test_signed_ranks_are_scipys():
    found = evaluated().compare(test="wilcoxon")[0]
    a, b = map(np.abs, errors())
    theirs = stats.wilcoxon(a, b, method="asymptotic", correction=False)
    assert found.p == pytest.approx(theirs.pvalue)
    assert found.difference == pytest.approx((a - b).mean())
    assert found.nearer == pytest.approx((a < b).mean())
    assert found.words == (
        "near has a smaller error than far on 63 % of the cases, statistically significant (Wilcoxon's signed ranks "
        f"of absolute errors, p < 0.001); mae differs by {(a - b).mean():.3f}.".replace("-", "−")
    )


def test_losses_that_stay_alike_ask_for_a_longer_horizon():
    data = {**DATA, "far": DATA["y"] + np.where(DATA["t"] < 60, 3.0, 0.1)}
    (told,) = evaluated(data, time="t").compare(test="dm(horizon=1)")[0].notes
    a, b = (np.abs(one)[np.argsort(data["t"])] for one in errors(data))
    d = (a - b) - (a - b).mean()
    related = (d[1:] @ d[:-1]) / (d @ d)
    assert told.code == "SS048"
    assert told.text.startswith("the loss differences of near and far are autocorrelated at lag 1 ")
    assert f"(correlation {related:.2f}): use a longer horizon, or none." in told.text


@pytest.mark.parametrize("horizon", [1, 3])
@pytest.mark.parametrize("measure", ["mae", "mse", "asym(alpha=0.8)"])
def test_diebold_and_mariano_by_the_formula(horizon, measure):
    found = evaluated(time="t").compare(test=f"dm(horizon={horizon})", measure=measure)[0]
    order = np.argsort(DATA["t"])
    losses = {"mae": np.abs, "mse": np.square, "asym(alpha=0.8)": lambda e: 2 * np.where(e < 0, -0.8 * e, 0.2 * e)}
    a, b = (losses[measure](error)[order] for error in errors())
    d = a - b
    n = d.size
    covariances = [np.sum((d[k:] - d.mean()) * (d[: n - k] - d.mean())) / n for k in range(horizon)]
    plain = d.mean() / np.sqrt((covariances[0] + 2 * sum(covariances[1:])) / n)
    corrected = plain * np.sqrt((n + 1 - 2 * horizon + horizon * (horizon - 1) / n) / n)
    assert found.statistic == pytest.approx(corrected)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(corrected), n - 1))


def autocorrelated(rng, rho, size, count):
    """Series with that correlation from each time to the next."""
    noise = rng.normal(size=(count, size + 100))
    for time in range(1, size + 100):
        noise[:, time] += rho * noise[:, time - 1]
    return noise[:, 100:]


def test_the_long_run_variance_by_its_definition():
    (apart,) = autocorrelated(np.random.default_rng(4), 0.5, 90, 1)
    apart = apart - apart.mean()
    variance, count = long_run_variance(apart)
    times = np.arange(90)
    waves = [np.sqrt(2 / 90) * np.cos(np.pi * j * (times + 0.5) / 90) @ apart for j in range(1, count + 1)]
    assert variance == pytest.approx(np.mean(np.square(waves)))
    assert long_run_variance(np.random.default_rng(1).normal(size=90))[1] > count  # independent ones tell more


@pytest.mark.parametrize(("rho", "times"), [(0.0, 60), (0.5, 60), (0.7, 120), (0.3, 30)])
def test_related_losses_are_called_different_in_at_most_one_of_twenty_samples(rho, times):
    rejected = 0
    for gap in autocorrelated(np.random.default_rng(8), rho, times, 4000):
        variance, freedom = long_run_variance(gap - gap.mean())
        rejected += 2 * stats.t.sf(abs(gap.mean()) / np.sqrt(variance / times), freedom) < 0.05
    assert rejected / 4000 < 0.065


def test_a_long_run_variance_below_zero_has_bartletts_weights_and_says_so():
    swing = np.where(np.arange(40) % 2, 1.0, -1.0)
    data = {"y": np.zeros(40), "near": 2 + swing, "far": np.full(40, 2.5), "t": np.arange(40)}
    found = evaluated(data, time="t").compare(test="dm(horizon=2)")[0]
    assert found.reason == "the sum of the autocovariances is not positive, so Bartlett's weights are used"
    gap = data["near"] - data["far"]
    apart = gap - gap.mean()
    variance = (apart @ apart + 2 * 0.5 * (apart[1:] @ apart[:-1])) / 40
    plain = gap.mean() / np.sqrt(variance / 40)
    assert found.statistic == pytest.approx(plain * np.sqrt((40 + 1 - 4 + 2 / 40) / 40))


def test_errors_that_differ_by_rounding_alone_tie():
    # Both miss every case by 0.2, which no float is: 1.2 − 1.0, 0.8 − 1.0, 5.2 − 5.0 all differ.
    truth = np.array([1.0, 5.0, 7.0, 0.3, 100.0, 3.0, 11.0, 2.0])
    data = {"y": truth, "near": truth + 0.2, "far": truth - 0.2, "t": np.arange(8)}
    assert (np.abs(data["near"] - truth) != np.abs(data["far"] - truth)).any()
    found = evaluated(data).compare(test="wilcoxon")[0]
    assert (found.nearer, found.p) == (0.5, 1.0)
    assert found.reason == "both models have equal absolute errors on every case"
    for measure in ("mae", "mse"):
        for horizon in ("", "(horizon=1)"):
            over = evaluated(data, time="t").compare(test=f"dm{horizon}", measure=measure)[0]
            assert (over.p, over.difference) == (1.0, 0.0)
            assert over.reason == "both models have equal losses at every time"


def test_it_is_chosen_where_rows_are_ordered_in_time_and_the_bootstrap_elsewhere():
    assert evaluated(time="t").compare()[0].test == "diebold_mariano, cosine"
    assert evaluated(time="t").compare(test="dm(horizon=1)")[0].test == "diebold_mariano"
    assert evaluated().compare()[0].test == "bootstrap"
    assert evaluated(time="t").compare(measure="r2")[0].test == "bootstrap"


def test_its_size_with_errors_related_in_time():
    rng = np.random.default_rng(1)
    rejected = {"dm(horizon=1)": 0, "dm(horizon=4)": 0, "dm": 0}
    for _ in range(200):
        common = rng.normal(0, 1, 63)
        data = {"y": np.zeros(60), "t": np.arange(60)}
        for name in ("near", "far"):
            noise = common + rng.normal(0, 1, 63)
            data[name] = np.convolve(noise, np.ones(4), "valid")  # errors of four steps ahead
        for test in rejected:
            rejected[test] += compare(side_by_side(data), test=test)[0].p < 0.05
    assert rejected["dm(horizon=1)"] > 24  # taken for independent, they look surer than they are
    assert rejected["dm(horizon=4)"] < rejected["dm(horizon=1)"]
    assert rejected["dm"] < 20


def test_what_does_not_suit():
    with pytest.raises(ScoreSpaceError, match="no time column"):
        evaluated().compare(test="dm")
    with pytest.raises(MeasureError, match="mae, mse, asym"):
        evaluated(time="t").compare(test="dm", measure="r2")
    with pytest.raises(MeasureError, match="mae or medae"):
        evaluated().compare(test="wilcoxon", measure="mse")
    with pytest.raises(ScoreSpaceError, match="same time"):
        evaluated({**DATA, "t": np.arange(120) // 2}, time="t").compare(test="dm")
    with pytest.raises(ScoreSpaceError, match="horizon=99"):
        evaluated(time="t").compare(test="dm(horizon=99)")


def test_equal_models_do_not_differ():
    data = {**DATA, "far": DATA["near"]}
    for test in ("dm", "wilcoxon", "bootstrap", "permutation"):
        found = evaluated(data, time="t").compare(test=test)[0]
        assert found.difference == 0
        assert found.p == 1
