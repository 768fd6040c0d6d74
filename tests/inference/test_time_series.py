"""Errors in time order: long-run variances and blocks that are resampled together."""

import json
from pathlib import Path

import numpy as np
import pytest

import scorespace as ss
from scorespace.inference.time_series import block_counts, block_length, long_run_variance

ARCH = json.loads((Path(__file__).parents[1] / "oracles/arch_block_length.json").read_text())["cases"]


def autoregressive(rho: float, noise: np.ndarray) -> np.ndarray:
    series = [0.0]
    for value in noise:
        series.append(rho * series[-1] + value)
    return np.array(series[1:])


@pytest.mark.parametrize("case", ARCH, ids=lambda case: f"rho={case['rho']}")
def test_block_length_is_that_of_arch(case):
    noise = np.random.default_rng(case["seed"]).standard_normal(case["n"])
    series = np.round(autoregressive(case["rho"], noise), 3)
    assert block_length(series) == pytest.approx(max(1.0, case["length"]))


def test_long_run_variance_of_an_autoregressive_series():
    """That of an AR(1) with unit noise is 1 / (1 − ρ)²."""
    rng = np.random.default_rng(3)
    for rho in (0.0, 0.5, 0.8):
        series = autoregressive(rho, rng.standard_normal(4_000))
        variance, freedom = long_run_variance(series - series.mean())
        assert variance == pytest.approx(1 / (1 - rho) ** 2, rel=4 * np.sqrt(2 / freedom))


def test_blocks_keep_neighbours_together():
    drawn = block_counts(50, 10.0, np.random.default_rng(0), 400)
    assert (drawn.sum(axis=1) == 50).all()
    assert np.corrcoef(drawn[:, 20], drawn[:, 21])[0, 1] > 0.7
    alone = block_counts(50, 1.0, np.random.default_rng(0), 400)
    assert abs(np.corrcoef(alone[:, 20], alone[:, 21])[0, 1]) < 0.2


def series(rho: float, times: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    error = np.sqrt(1 - rho**2) * autoregressive(rho, rng.standard_normal(times + 100))[100:]
    truth = rng.normal(50, 3, times)
    return {"y": truth, "p": truth + error, "day": np.arange(times)}


def test_intervals_of_mean_errors_allow_for_correlated_errors():
    """In time order they cover, as if rows were independent they do not."""
    known, held, alone = {"mae": np.sqrt(2 / np.pi), "rmse": 1.0, "bias": 0.0}, 0, 0
    for seed in range(60):
        rows = series(0.72, 150, seed)
        for time in ("day", None):
            found = ss.evaluate(rows, truth="y", predictions="p", time=time, measures=",".join(known))
            inside = sum(one.low <= known[one.spec.name] <= one.high for one in found.summary)
            held, alone = (held + inside, alone) if time else (held, alone + inside)
    assert held / 180 > 0.9
    assert alone / 180 < 0.85


def test_the_order_of_rows_is_that_of_time_and_not_of_the_file():
    rows = series(0.72, 120, 1)
    shuffled = np.random.default_rng(0).permutation(120)
    asked = {"truth": "y", "predictions": "p", "time": "day", "measures": "mae,rmse,medae"}
    ordered = ss.evaluate(rows, **asked).summary
    for a, b in zip(ordered, ss.evaluate({k: v[shuffled] for k, v in rows.items()}, **asked).summary, strict=True):
        assert (a.method, b.method) == (("block-t",) * 2 if a.spec.name == "medae" else ("hac", "hac"))
        assert (a.low, a.high) == pytest.approx((b.low, b.high))


def test_correlated_errors_without_a_time_are_reported():
    rows = series(0.72, 150, 2)
    found = ss.evaluate(rows, truth="y", predictions="p")
    assert "SS049" in {one.code for one in found.notes}
    assert "SS049" not in {one.code for one in ss.evaluate(rows, truth="y", predictions="p", time="day").notes}
    assert "SS049" not in {one.code for one in ss.evaluate(series(0.0, 150, 2), truth="y", predictions="p").notes}


@pytest.mark.parametrize("rho", [0.0, 0.72])
def test_coverage_of_prediction_intervals_allows_for_correlated_misses(rho):
    """The 90 % intervals of a normal error of variance 1 cover in 90 % of times."""
    held = 0
    for seed in range(100):
        rows = series(rho, 100, seed)
        limits = {"low": rows["p"] - 1.6449, "high": rows["p"] + 1.6449}
        found = ss.evaluate(
            {**rows, **limits},
            truth="y",
            predictions="p",
            measures="coverage",
            columns={"time": "day", "intervals": ("low", "high", 0.9)},
        )
        (one,) = [one for one in found.summary if one.spec.name == "coverage"]
        assert one.method == "hac-wilson"
        held += one.low <= 0.9 <= one.high
    assert held >= 91
