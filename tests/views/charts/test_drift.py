"""Two samples in pictures."""

import pytest

from scorespace.samples.drift import drift
from scorespace.views import drift as view
from scorespace.views.charts.drift import drift_chart, drift_panels
from views.shown import sample


@pytest.fixture(scope="module")
def found():
    return drift({"nb": sample(0)}, {"nb": sample(1)}, replicates=99)


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
