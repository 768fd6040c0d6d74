"""Charts of the published experiment: a dot for each data set and learner."""

import pytest

from scorespace.views.charts.suite import area_chart, difference_chart, spread_chart
from views.shown import published

REPORT = published()


def test_a_dot_for_each_set_and_learner():
    spec = spread_chart(REPORT)
    dots = [row for rows in spec["datasets"].values() for row in rows if "learner" in row]
    assert [(row["x"], row["y"]) for row in dots] == [
        (float(f"{one.auc_sd:.6g}"), float(f"{one.smauc_sd:.6g}")) for one in REPORT.cells
    ]


@pytest.mark.parametrize("draw", [spread_chart, difference_chart, lambda found: area_chart(found, "one")])
def test_charts_are_valid_whatever_sets_are_called(draw, valid):
    valid(draw(REPORT))
