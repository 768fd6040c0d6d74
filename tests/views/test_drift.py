"""The page and the chart of two samples."""

import pytest

from scorespace.samples.drift import drift
from scorespace.views import drift as view
from scorespace.views import terminal
from views.shown import sample


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
