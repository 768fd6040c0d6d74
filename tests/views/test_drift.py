"""The page and the chart of two samples."""

import numpy as np
import pytest
from scipy.special import expit

from scorespace.samples.drift import drift
from scorespace.tables import score_table
from scorespace.views import drift as view
from scorespace.views import terminal
from scorespace.views.charts.drift import drift_chart


def sample(seed, scale=1.0):
    rng = np.random.default_rng(seed)
    label = np.arange(300) % 3 == 0
    return score_table(label.astype(int), scale * expit(rng.normal(-1, 1, 300) + 1.5 * label))


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
