"""The page of the published experiment, and its charts."""

import pytest

from helpers.shown import published
from scorespace.report import suite
from scorespace.report.suite import area_chart, difference_chart, signed_chart, spread_chart

REPORT = published()


def test_the_table():
    grid = suite.area_grid(REPORT)
    assert grid.columns == ("data set", "AUC one", "smAUC one", "AUC two", "smAUC two")
    first = REPORT.cells[0]
    assert grid.rows[0][1] == f"{first.auc:.3f} ± {first.auc_sd:.3f}"
    assert grid.caption == "Mean ± standard deviation over the folds; 2 folds lack a class."


def test_the_page():
    page = suite.document(REPORT, "facts")
    assert (page.title, page.facts) == ("3 sets", "facts")
    assert [len(section.blocks) for section in page.sections] == [2, 5]
    assert [section.name for section in page.brief().sections] == ["sets"]


def test_a_dot_for_each_set_and_learner():
    spec = spread_chart(REPORT)
    dots = [row for rows in spec["datasets"].values() for row in rows if "learner" in row]
    assert [(row["x"], row["y"]) for row in dots] == [
        (float(f"{one.auc_sd:.6g}"), float(f"{one.smauc_sd:.6g}")) for one in REPORT.cells
    ]


def test_signed_differences_of_both_areas():
    spec = signed_chart(REPORT, "one", "two")
    bars = {
        (row["set"], row["area"]): row["difference"]
        for rows in spec["datasets"].values()
        for row in rows
        if "set" in row
    }
    by_key = {(cell.dataset, cell.learner): cell for cell in REPORT.cells}
    for name in REPORT.datasets:
        one, two = by_key[name, "one"], by_key[name, "two"]
        assert bars[name, "AUC"] == pytest.approx(one.auc - two.auc, abs=1e-6)
        assert bars[name, "smAUC"] == pytest.approx(one.smauc - two.smauc, abs=1e-6)


@pytest.mark.parametrize(
    "draw",
    [
        spread_chart,
        difference_chart,
        lambda found: area_chart(found, "one"),
        lambda found: signed_chart(found, "one", "two"),
    ],
)
def test_charts_are_valid_whatever_sets_are_called(draw, valid):
    valid(draw(REPORT))
