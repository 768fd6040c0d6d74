"""`scorespace evaluate` on forecasts: quantiles, ensembles, a training series, and tests of intervals."""

import numpy as np
import pytest

import scorespace as ss
from oracles.load import reference

CASE = next(case for case in reference("trades") if case["topic"] == "kupiec christoffersen")
MISSES = CASE["inputs"]["misses"]
CRPS = next(case for case in reference("trades") if case["topic"] == "crps")
ACTUAL, MEMBERS = CRPS["inputs"]["actual"], CRPS["inputs"]["members"]
NAMES = ("q10", "q25", "q50", "q75", "q90")


@pytest.fixture
def load(write):
    rows = [",".join(map(str, (k, y, *x))) for k, (y, x) in enumerate(zip(ACTUAL * 5, MEMBERS * 5, strict=True))]
    return write("load.csv", "\n".join([f"t,y,{','.join(NAMES)}", *rows]) + "\n")


def values(done):
    assert done.code == 0, done.err
    return {row["measure"]: row["value"] for row in done.json()["rows"]}


def test_quantiles_by_pattern(run, load):
    found = run("evaluate", load, "--truth", "y", "--quantiles", "q*", "--format", "json")
    assert values(found)["wis"] == pytest.approx(CRPS["expected"]["quantiles_mean_2pinball"])
    assert found.json()["rows"][0]["model"] == "q"
    assert {row["test"] for row in found.json()["calibration"]} == {"binomial_coverage", "kupiec", "christoffersen"}
    measured = [one["measure"] for one in found.json()["rows"]]
    assert measured[-4:] == ["coverage", "width", "interval_score", "wis"]
    assert "SS162" in {note["code"] for note in found.json()["notes"]}


def test_an_ensemble_and_its_mean(run, load):
    found = run("evaluate", load, "--truth", "y", "--ensemble", "m=q*", "--measures", "crps,mae", "--format", "json")
    assert values(found)["crps"] == pytest.approx(CRPS["expected"]["ensemble"])
    assert values(found)["mae"] == pytest.approx(np.abs(np.mean(MEMBERS, axis=1) - ACTUAL).mean())


def test_two_models_are_compared_by_crps(run, load):
    found = run("compare", load, "--truth", "y", "--ensemble", "a=q*", "--ensemble", "b=q10,q90", "--measure", "crps")
    assert found.code == 0
    assert "a − b" in found.out


def test_quantiles_of_a_named_prediction(run, load):
    asked = ["evaluate", load, "--truth", "y", "--prediction", "q25", "--quantiles", "q10,q90", "--format", "json"]
    assert values(run(*asked, "--measures", "coverage"))["coverage"] == 1
    by_level = {"m": {0.1: "q10", 0.5: "q50", 0.9: "q90"}}
    ev = ss.evaluate(load, truth="y", columns={"quantiles": by_level}, measures="wis")
    assert list(ev.models) == ["m"]


def test_curves_and_their_band(run, load, tmp_path):
    for kind in ("quantile_reliability", "pit"):
        assert run("curve", load, "--truth", "y", "--quantiles", "q*", "--kind", kind, "--out", f"{kind}.svg").code == 0
        assert (tmp_path / f"{kind}.svg").stat().st_size > 100


def test_the_report_shows_reliability(run, load, tmp_path):
    assert run("evaluate", load, "--truth", "y", "--quantiles", "q*", "--report", "r.html").code == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Is the stated uncertainty right?" in page
    assert "weighted interval score 0.562" in page


def test_crossing_quantiles_are_noted(run, write):
    data = write("crossed.csv", "y,q10,q50,q90\n" + "1,0,1,2\n2,3,2,1\n" * 5)
    asked = ["evaluate", data, "--truth", "y", "--quantiles", "q*", "--measures", "wis", "--format", "json"]
    assert "SS161" in {note["code"] for note in run(*asked).json()["notes"]}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--quantiles", "q10,q90"], "have no median"),
        (["--quantiles", "x*"], "no column matches 'x*'"),
        (["--quantiles", "t,y"], "levels of the quantiles 't,y' are not clear"),
        (["--ensemble", "q10"], "is one column"),
        (["--prediction", "q50,q90", "--quantiles", "q*"], "needs a model, since there are several"),
        (["--quantiles", "m=q*", "--ensemble", "m=q*"], "stated twice"),
        (["--prediction", "q50", "--train", "load.csv", "--measures", "mase(season=0)"], "season=0 must be at least 1"),
        (["--prediction", "q50", "--train", "other.csv"], "other.csv"),
    ],
)
def test_errors(run, load, arguments, words):
    done = run("evaluate", load, "--truth", "y", *arguments)
    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err


def test_scaled_errors_of_a_training_series(run, write):
    write("past.csv", "t,y\n" + "".join(f"{k},{y}\n" for k, y in enumerate([3, 5, 4, 6, 8, 7, 9, 6, 10, 12])))
    data = write("now.csv", "t,y,m\n11,11,10\n12,9,10\n13,13,12\n14,12,14\n")
    asked = ["evaluate", data, "--truth", "y", "--prediction", "m", "--train", "past.csv", "--format", "json"]
    found = values(run(*asked, "--measures", "mase,mase(season=4),rmsse,smape,wape"))
    # R's forecast 8.20 and by hand
    expected = {"mase": 0.5921, "mase(season=4)": 0.3947, "rmsse": 0.5789, "smape": 0.1086, "wape": 0.1111}
    assert found == pytest.approx(expected, abs=5e-5)
    notes = run(*asked, "--measures", "mase").json()["notes"]
    assert "mean absolute error 2.111" in next(note["text"] for note in notes if note["code"] == "SS163")
    without = run(
        "evaluate", data, "--truth", "y", "--prediction", "m", "--measures", "mase", "--format", "json"
    ).json()
    assert "no training series" in without["rows"][0]["reason"]
    past = [3, 5, 4, 6, 8, 7, 9, 6, 10, 12]
    table = ss.residual_table([11, 9, 13, 12], [10, 10, 12, 14], history=[0, 0, *past])
    assert ss.rmsse(table, from_first=True) == pytest.approx(expected["rmsse"], abs=5e-5)


def test_requirements(run, write):
    lines = [f"{k},{5.0 if miss else 0.0},0,-1,1" for k, miss in enumerate(MISSES)]
    data = write("load.csv", "\n".join(["t,y,m,low,high", *lines]) + "\n")
    asked = ["evaluate", data, "--truth", "y", "--prediction", "m", "--interval", "low,high,0.9", "--time", "t"]
    assert run(*asked, "--require", "kupiec>=0.05").code == 0
    failed = run(*asked, "--require", "kupiec>=0.5")
    assert (failed.code, "m kupiec: p = 0.262" in failed.err + failed.out) == (1, True)
    tests = run(*asked, "--format", "json").json()["calibration"]
    assert {row["test"] for row in tests} == {"binomial_coverage", "kupiec", "christoffersen"}
