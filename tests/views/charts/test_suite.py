"""Charts of the published experiment: a dot for each data set and learner."""

import numpy as np
import pytest

from scorespace.experiments.smooth import Cell, Finding, SmoothReport
from scorespace.views.charts.suite import area_chart, difference_chart, spread_chart

SOURCE = np.random.default_rng(0)
CELLS = tuple(
    Cell(name, learner, 10, int(name == 'a"<b>'), *(0.5 + SOURCE.random(4) / 4).tolist())
    for name in ('a"<b>', "c.d[0]", "e")
    for learner in ("one", "two")
)
REPORT = SmoothReport(
    CELLS, (Finding("smAUC varies less", 2, 1, 1.0), Finding("it tells further apart", 1, 2, 0.5)), "3 sets"
)


def test_a_dot_for_each_set_and_learner():
    spec = spread_chart(REPORT)
    dots = [row for rows in spec["datasets"].values() for row in rows if "learner" in row]
    assert [(row["x"], row["y"]) for row in dots] == [
        (float(f"{one.auc_sd:.6g}"), float(f"{one.smauc_sd:.6g}")) for one in CELLS
    ]


@pytest.mark.parametrize("draw", [spread_chart, difference_chart, lambda found: area_chart(found, "one")])
def test_charts_are_valid_whatever_sets_are_called(draw, valid):
    valid(draw(REPORT))
