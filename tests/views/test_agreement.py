"""The page and the chart of raters."""

from dataclasses import replace

import pytest

from scorespace.samples.agreement import agreement
from scorespace.views import agreement as view
from scorespace.views.report.page import render
from views.shown import ANN, BOB, CY


@pytest.fixture
def three():
    return agreement({"Ann": ANN, "Bob": BOB, "Cy": CY})


def test_two_raters_need_no_matrix():
    titles = [grid.columns[0] for grid in view.grids(agreement({"Ann": ANN, "Bob": BOB}))]
    assert titles == ["rater", "raters", "beyond chance", "instance"]


def test_three_do(three):
    assert [grid.columns[0] for grid in view.grids(three)] == [
        "rater",
        "raters",
        "beyond chance",
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
    assert "This page names instances of the data" in render(view.document(three))
    assert "This page holds summaries and no rows of the data" in render(replace(view.document(three), names=""))
