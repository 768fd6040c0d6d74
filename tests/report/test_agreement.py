"""The page and the chart of raters."""

from dataclasses import replace

import pytest

from helpers.shown import ANN, BOB, CY
from scorespace.agreement.scored_raters import agreement
from scorespace.report import agreement as view
from scorespace.report.agreement import agreement_chart, agreement_panels
from scorespace.report.html import render


@pytest.fixture
def three():
    return agreement({"Ann": ANN, "Bob": BOB, "Cy": CY})


def test_two_raters_need_no_matrix():
    titles = [grid.columns[0] for grid in view.grids(agreement({"Ann": ANN, "Bob": BOB}))]
    assert titles == ["rater", "raters", "chance-corrected agreement", "instance"]


def test_three_do(three):
    assert [grid.columns[0] for grid in view.grids(three)] == [
        "rater",
        "raters",
        "chance-corrected agreement",
        "area between",
        "instance",
    ]
    matrix = view.matrix_grid(three)
    assert [row[k] for k, row in enumerate(matrix.rows, start=1)] == ["0.000"] * 3


def test_long_lists_are_shortened():
    many = [True] * 20, [0.9] * 20
    few = [True] * 20, [0.2] * 20
    rows = view.instance_grid(agreement({"a": many, "b": few})).rows
    assert len(rows) == 9
    assert rows[-1][0] == "… 12 more"


def test_the_page_owns_that_it_names_instances(three):
    assert "This report lists instances of the data" in render(view.document(three))
    assert "This report contains summaries but no rows of the data" in render(replace(view.document(three), names=""))


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
