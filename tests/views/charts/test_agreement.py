"""Raters in pictures."""

import pytest

from scorespace.samples.agreement import agreement
from scorespace.views import agreement as view
from scorespace.views.charts.agreement import agreement_chart, agreement_panels
from views.shown import ANN, BOB, CY


@pytest.fixture
def three():
    return agreement({"Ann": ANN, "Bob": BOB, "Cy": CY})


def test_the_chart_has_the_curves_and_a_panel_for_each_pair(three):
    spec = agreement_chart(three)
    curves, *pairs = spec["concat"]
    drawn = [spec["datasets"][panel["layer"][1]["data"]["name"]] for panel in (curves, pairs[0])]
    assert {row["rater"] for row in drawn[0]} == {"Ann", "Bob", "Cy"}
    assert len(pairs) == 3
    assert [dot["kind"] for dot in drawn[1]] == [
        "same decision",
        "different decisions",
        "same decision",
        "same decision",
    ]


def test_a_narrow_page_has_the_panels_one_below_the_other(three):
    panels = [draw() for draw in agreement_panels(three)]
    assert len(panels) == len(view.document(three).sections[-1].blocks) == 4
    assert all(one["width"] and one["datasets"] and one["config"] for one in panels)
