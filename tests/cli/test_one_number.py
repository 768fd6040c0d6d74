"""One number per quantity: costs and thresholds are the same in every verb, format and page that shows them."""

import csv
import io
import math
import re

import numpy as np
import pytest

from scorespace.results import decimals, format_interval
from scorespace.tables.threshold import round_threshold

COSTS = ["--cost-fp", "1", "--cost-fn", "5"]
THREE = ["--score", "naive_bayes", "--score", "tree", "--score", "logistic"]
ROUTES = {
    "one model": ["--score", "naive_bayes", *COSTS],
    "three models": [*THREE, *COSTS],
    "prevalence": [*THREE, *COSTS, "--prevalence", "0.1"],
    "bins": ["--score", "naive_bayes", *COSTS, "--memory", "1KB"],
    "gains, groups": ["--score", "logistic", "--score", "tree", *COSTS, "--cost-tp", "-1", "--group", "fold"],
}


def unwrapped(text):
    return " ".join(text.split())


@pytest.fixture(params=ROUTES)
def route(request, credit, run, tmp_path):
    """What evaluate and decide say in every format, and the report."""
    asked = [*credit, *ROUTES[request.param]]
    said = {
        (verb, form): run(verb, *asked, "--format", form, columns=400)
        for verb in ("evaluate", "decide")
        for form in ("json", "table", "csv", "markdown")
    }
    run("evaluate", *asked, "--report", "r.html")
    return said, re.sub(r"</?(?:b|span|td|th|tr)\b(?! data-say)[^>]*>", "", (tmp_path / "r.html").read_text()), asked


def test_every_view_tells_the_same_cost(route):
    said, page, _ = route
    decided, evaluated = said["decide", "json"].json(), said["evaluate", "json"].json()
    assert evaluated["decision"] == {**decided, "notes": evaluated["decision"]["notes"]}
    used = next((row for row in decided["rows"] if row["model"] == decided["model"]), decided)
    limits = (used["cross_fitted_low"] or math.nan, used["cross_fitted_high"] or math.nan)  # trivial rules have none
    value = format_interval(used["cross_fitted_cost"], *limits).partition(" [")[0]
    assert f"{value} per case" in evaluated["verdict"]
    for verb, verdict in (("evaluate", evaluated["verdict"]), ("decide", decided["verdict"])):
        for form in ("table", "markdown"):
            assert verdict in unwrapped(said[verb, form].out.replace("\\", ""))
    assert decided["verdict"] in unwrapped(page)
    told_of_printed_thresholds(route)
    models = [row for row in decided["rows"] if not row["model"].startswith("always ")]
    shown = {form: unwrapped(said["decide", form].out) for form in ("table", "markdown")}
    for row in models:
        crossfitted = format_interval(row["cross_fitted_cost"], row["cross_fitted_low"], row["cross_fitted_high"])
        for text in (*shown.values(), unwrapped(said["evaluate", "table"].out), unwrapped(page)):
            assert crossfitted in text.replace("\\", "")
        # The cost of the measure at the threshold is the apparent one, and says so.
        (cost,) = (
            one for one in evaluated["rows"] if one["model"] == row["model"] and one["measure"].startswith("cost(")
        )
        assert cost["value"] == pytest.approx(row["cost_per_case"], abs=1e-12)
        assert (cost["at"], cost["estimand"]) == (row["threshold"], "apparent")
        assert row["estimand"] == "cross-fitted: threshold chosen"
    # The panel of the page opens at the model that is used, at its threshold.
    panel = dict(re.findall(r'data-say="([\w ]+)">([^<]*)', page))
    best = next((row for row in models if row["model"] == decided["model"]), None)
    if best is not None:
        (cost,) = (
            one for one in evaluated["rows"] if one["model"] == best["model"] and one["measure"].startswith("cost(")
        )
        alone = format_interval(cost["value"], math.nan, math.nan)  # of groups the panel has no interval
        assert panel["cost"].partition(";")[0] in {
            f"{one} per case" for one in (format_interval(cost["value"], cost["low"], cost["high"]), alone)
        }
        assert panel["cross_fitted"].partition(" ")[0].rstrip(".") == decimals(best["cross_fitted_cost"])
    rows = list(csv.DictReader(io.StringIO(said["decide", "csv"].out)))
    for row, one in zip(rows, decided["rows"], strict=True):
        assert row["model"] == one["model"]
        for name in ("threshold", "cost_per_case", "cross_fitted_cost", "cross_fitted_low", "cross_fitted_high"):
            assert (float(row[name]) if row[name] else None) == one[name]


def told_of_printed_thresholds(route):
    said, page, asked = route
    decided = said["decide", "json"].json()
    binned = "--memory" in asked
    with open(asked[0]) as file:
        loans = list(csv.DictReader(file))
    for row in decided["rows"]:
        if row["threshold"] is None:
            continue
        scores = np.array([float(loan[row["model"]]) for loan in loans])
        below = scores[scores < row["threshold"]].max(initial=-np.inf)
        text = f"{row['threshold']!r}" if binned else round_threshold(row["threshold"], below).text
        for shown in (said["evaluate", "table"].out, said["decide", "table"].out, said["decide", "markdown"].out, page):
            assert re.search(rf"(?<![\d.]){re.escape(text)}(?![\d.])", shown), (text, shown[:2000])
        # What is printed does what is told beside it.
        alarm, bad = scores >= float(text), np.array([loan["outcome"] == "bad" for loan in loans])
        counted = {"tp": alarm & bad, "fp": alarm & ~bad, "fn": ~alarm & bad, "tn": ~alarm & ~bad}
        assert {name: row[name] for name in counted} == {name: int(cases.sum()) for name, cases in counted.items()}


def test_youden_is_one_number(run, credit, tmp_path):
    """It was 0.561 in one verb and 0.565 in the other: the folds were others."""
    with open(credit[0]) as file:
        loans = list(csv.DictReader(file))
    text = "outcome,points\n" + "".join(f"{one['outcome']},{1000 * float(one['logistic']):.3f}\n" for one in loans)
    (tmp_path / "points.csv").write_text(text)
    asked = ["points.csv", *credit[1:], "--score", "points"]
    for more in ([], ["--seed", "5"], ["--level", "0.8"]):
        decided = run("decide", *asked, *more, "--maximise", "youden", "--format", "json").json()
        (note,) = (
            one["text"]
            for one in run("evaluate", *asked, *more, "--format", "json").json()["notes"]
            if one["code"] == "SS003"
        )
        (row,) = decided["rows"]
        interval = format_interval(row["cross_fitted_value"], row["cross_fitted_low"], row["cross_fitted_high"])
        assert note.endswith(f"cross-fitted youden {interval} (apparent {decimals(row['value'])}).")
        assert f"cross-fitted youden {interval}" in decided["verdict"]


def test_a_matrix_has_one_interval(run):
    """One cost had two intervals, in the table and in the verdict."""
    asked = ["--matrix", "a=300 200; 500 99000", "--matrix", "b=400 100; 5400 94100", "--cost-fp", "100", "--cost-fn"]
    for miss in ("2000", "20000"):
        evaluated, decided = (run(verb, *asked, miss, "--format", "json").json() for verb in ("evaluate", "decide"))
        rows = {one["model"]: one for one in evaluated["rows"] if one["measure"].startswith("cost(")}
        for one in decided["rows"]:
            if one["model"] in rows:
                own = rows[one["model"]]
                assert [one["cross_fitted_cost"], one["cross_fitted_low"], one["cross_fitted_high"]] == pytest.approx(
                    [own["value"], own["low"], own["high"]], abs=1e-12
                )
        shown = run("decide", *asked, miss, columns=300).out
        best = rows[decided["model"]]
        both = format_interval(best["value"], best["low"], best["high"])
        assert shown.count(both) == 2  # its row, and that of the choice
        assert both.replace(" ", " per case ", 1) in unwrapped(shown)


@pytest.mark.parametrize("bound", ["tpr=0.9", "tpr=0.8", "tnr=0.9", "ppv=0.5", "npv=0.9"])
@pytest.mark.parametrize("model", ["naive_bayes", "tree", "logistic"])
def test_the_printed_threshold_keeps_the_bound(run, credit, bound, model):
    """ "Use logistic at 0.1232" for tpr ≥ 0.9 gave 0.8967."""
    name, _, least = bound.partition("=")
    objective = {"tpr": "ppv", "tnr": "tpr", "ppv": "tpr", "npv": "tnr"}[name]
    asked = [*credit, "--score", model]
    words = run("decide", *asked, "--at-least", bound, "--maximise", objective, "--format", "json").json()["verdict"]
    at = re.search(r"at threshold (\S+):", words)[1]
    found = run("evaluate", *asked, "--measures", f"{name}@{at},{objective}@{at}", "--format", "json").json()["rows"]
    assert found[0]["value"] >= float(least)
    assert f"(apparent {decimals(found[1]['value'])})" in words


def test_thresholds_on_a_scale_are_in_its_units(run, credit, tmp_path):
    with open(credit[0]) as file:
        loans = list(csv.DictReader(file))
    lines = [(one["outcome"], round(1 + 4 * float(one["logistic"]), 3)) for one in loans]  # one to five stars
    (tmp_path / "stars.csv").write_text("outcome,stars\n" + "".join(f"{a},{b}\n" for a, b in lines))
    asked = ["evaluate", "stars.csv", *credit[1:], "--score", "stars", "--scale", "1..5"]
    bad, stars = np.array([a == "bad" for a, _ in lines]), np.array([b for _, b in lines])
    found = run(*asked, "--measures", "tpr@3.5,auc", "--format", "json").json()
    row = found["rows"][0]
    assert (row["at"], row["value"]) == (3.5, pytest.approx(float((stars[bad] >= 3.5).mean())))
    assert f"stars: tpr@3.5 {decimals(row['value'])} [" in found["verdict"]
    assert "tpr@3.5" in run(*asked, "--measures", "tpr@3.5,auc").out
    assert "stars at threshold 3: " in run(*asked, "--format", "json").json()["verdict"]  # the middle of the scale
    decided = run(*asked, *COSTS, "--format", "json").json()["decision"]
    alarm = stars >= decided["threshold"]
    assert decided["tp"] == int((alarm & bad).sum())
    assert decided["fp"] == int((alarm & ~bad).sum())
    typed = re.search(r"at threshold (\S+):", decided["verdict"])[1]
    assert int(((stars >= float(typed)) & bad).sum()) == decided["tp"]
    (own,) = (one for one in decided["rows"] if one["model"] == "stars")
    assert 1 <= own["threshold_low"] <= own["threshold"] <= own["threshold_high"] <= 5
    points = run("curve", *asked[1:], "--format", "json").json()["rows"]
    highest = next(one for one in points if one["threshold"] is not None)
    assert highest["threshold"] == pytest.approx(stars.max())
