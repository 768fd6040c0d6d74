"""The page and the chart of two samples."""

import pytest

from helpers.shown import sample
from scorespace.drift.drift import drift
from scorespace.drift.monitor import BatchEstimate, MonitoredBatch, Monitoring
from scorespace.report import drift as view
from scorespace.report import terminal
from scorespace.report.drift import drift_chart, drift_panels, monitor_chart, quantity_chart


@pytest.fixture(scope="module")
def found():
    return drift({"nb": sample(0)}, {"nb": sample(1)}, replicates=99)


def test_the_page_names_samples_tests_and_aspects(found):
    page = view.document(found, ("spring.csv", "autumn.csv"))
    assert page.facts.startswith("spring.csv: 300 cases   autumn.csv: 300 cases")
    text = terminal.text(page.brief(), 80)
    for title in ("share of positives", "positives at equal scores", "AUC", "smAUC", "area between smooth ROC curves"):
        assert title in text


def test_reasons_that_aspects_share_are_told_once():
    text = terminal.text(view.document(drift({"nb": sample(0, 9)}, {"nb": sample(1, 9)}, replicates=99)).brief(), 200)
    assert (
        "Undefined: calibration in the large, calibration loss (CAL), smAUC, area between smooth ROC curves (" in text
    )


def test_the_chart_has_a_panel_for_scores_and_for_each_curve(found):
    spec = drift_chart(found)
    (row,) = spec["vconcat"]
    scores, roc, smooth = row["hconcat"]
    assert (roc["title"]["text"], smooth["title"]["text"]) == ("ROC", "Smooth ROC, at the prevalence before")
    bars = spec["datasets"][scores["layer"][1]["data"]["name"]]
    for name in ("before", "after"):
        shares = [bar["share"] for bar in bars if bar["sample"] == name and bar["side"] == "up"]
        assert sum(shares[:-1]) == pytest.approx(1, abs=1e-4)  # the last only ends the last step


def test_without_truth_there_are_no_curves():
    unknown = drift({"nb": sample(0)}, {"nb": sample(1)}, labelled=False, replicates=99)
    (row,) = drift_chart(unknown)["vconcat"]
    assert [panel["title"]["text"] for panel in row["hconcat"]] == ["Scores"]


def test_a_narrow_page_has_the_panels_one_below_the_other(found):
    panels = [draw() for draw in drift_panels(found)]
    assert [one["title"]["text"] for one in panels][1:] == ["ROC", "Smooth ROC, at the prevalence before"]
    assert all(one["width"] and one["datasets"] and one["config"] for one in panels)
    assert len(view.document(found).sections[-1].blocks) == 3


@pytest.mark.parametrize(("p", "layers"), [([0.5, 0.6], 3), ([0.001] * 3, 5)])
def test_the_chart_draws_what_the_table_says(p, layers):
    batches = tuple(MonitoredBatch(f"<b>{k}</b>", 10, 3, {("nb", "scores"): one}) for k, one in enumerate(p))
    found = Monitoring("spring.csv", 100, "1", ("nb",), batches)
    spec = monitor_chart(found)
    rows = next(values for values in spec["datasets"].values() if len(values) == len(p) and "evidence" in values[0])
    assert [row["evidence"] for row in rows] == pytest.approx(found.evidence.tolist(), rel=1e-3)
    assert rows[0]["batch"] == "<b>0</b>"
    assert len(spec["layer"]) == layers
    assert spec["description"] == "Evidence of a change since spring.csv, by batch."


@pytest.mark.parametrize("batches", [3, 80])
@pytest.mark.parametrize("models", [("nb",), ("nb", "tree")])
def test_numbers_over_time(models, batches, valid):
    """A dot for each model and batch that has the number, and a line for the sample before."""
    seen = {(model, "auc"): BatchEstimate(0.8, 0.7, 0.9) for model in models}
    held = tuple(MonitoredBatch(str(k), 10, 3, {("nb", "scores"): 0.5}, seen if k else {}) for k in range(batches))
    spec = quantity_chart(Monitoring("spring.csv", 100, "1", models, held, seen), "auc")
    before, rows = spec["datasets"].values()
    assert [row["before"] for row in before] == [0.8] * len(models)
    assert len(rows) == (batches - 1) * len(models)
    assert rows[0] == {"place": 2, "batch": "1", "model": "nb", "value": 0.8, "low": 0.7, "high": 0.9}
    assert spec["description"] == "AUC of each batch; dashed line: spring.csv."
    valid(spec)
