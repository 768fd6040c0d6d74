"""A decision in pictures: the hull lies on or above every curve, and bands name the model that is best."""

from itertools import pairwise

import numpy as np
import pytest

from scorespace.conditions import Condition
from scorespace.curves import cost_curve, hull, roc
from scorespace.decisions import decide
from scorespace.views.charts.decision import cost_chart, cost_space_chart, hull_chart
from views.charts.drawn import TABLES, rows

ROC = {name: roc(one) for name, one in TABLES.items()}
COSTS = {name: cost_curve(one) for name, one in TABLES.items()}


@pytest.fixture(scope="module")
def decision():
    return decide(TABLES, Condition(fp=1, fn=3))


def test_the_hull_lies_above_all_curves(decision, valid):
    chart = valid(hull_chart(ROC, hull(TABLES), decision))
    outline = sorted((row["x"], row["y"]) for row in rows(chart) if "place" in row and "name" not in row)
    x, y = np.array(outline).T
    for curve in ROC.values():
        assert (np.interp(curve.x, x, y) >= curve.y - 1e-5).all()


def test_the_chosen_point_and_its_line_are_marked_on_request(decision):
    without, with_ = (len(hull_chart(ROC, hull(TABLES), one)["layer"]) for one in (None, decision))
    assert with_ > without


def test_bands_cover_all_costs_without_gaps(decision, valid):
    chart = valid(cost_chart(COSTS, decision))
    bands = sorted((row["low"], row["high"]) for row in rows(chart) if "slopes" in row)
    assert (bands[0][0], bands[-1][1]) == (0, 1)
    assert all(a[1] == pytest.approx(b[0]) for a, b in pairwise(bands))
    assert any("these costs" in str(row.get("label")) for row in rows(chart))
    assert not any("these costs" in str(row.get("label")) for row in rows(cost_chart(COSTS, decision, chosen=False)))


def test_each_threshold_is_a_line_in_cost_space(valid):
    chart = valid(cost_space_chart(COSTS, {"nb": np.array([[0.0, 1.0], [0.2, 0.4]])}))
    lines = [row for row in rows(chart) if "line" in row]
    assert [(row["x"], row["y"]) for row in lines] == [(0, 0.0), (1, 1.0), (0, 0.2), (1, 0.4)]
