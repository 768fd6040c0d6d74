"""What belongs beside the curves in a picture."""

import json

import pytest

import scorespace as ss
from scorespace.curves import brier_curve, calibration, cost_curve, net_benefit, pr, roc, smooth
from scorespace.curves.brier import net_benefit_of_all, optimal_curve
from scorespace.curves.classes import average_roc
from scorespace.views.charts import (
    calibration_chart,
    class_curves_chart,
    cost_space_chart,
    curve_chart,
    smooth_chart,
)
from scorespace.views.charts.curves import _frame
from scorespace.views.plots import draw

ONE = ss.score_table([1, 0, 1, 0, 0], [0.9, 0.4, 0.6, 0.7, 0.1])
OTHER = ss.score_table([1, 0, 1, 0, 0], [0.8, 0.5, 0.3, 0.2, 0.1])
RARE = ss.score_table([1, 0, 0, 0, 0], [0.8, 0.5, 0.3, 0.2, 0.1])
TABLES = {"one": ONE, "other": OTHER}


def spec(chart):
    """A chart without the names that Altair numbers."""
    found = chart if isinstance(chart, dict) else chart.to_dict()
    return json.dumps(found, sort_keys=True)


def picture(kind, tables=TABLES, bands=None, classes=None):
    return draw(kind, {name: kind(table) for name, table in tables.items()}, tables, bands or {}, classes)


def curves(kind, tables=TABLES):
    return {name: kind(table) for name, table in tables.items()}


def test_brier_curves_stand_beside_the_recalibrated_ones():
    best = {f"{name}, recalibrated": optimal_curve(table) for name, table in TABLES.items()}
    assert spec(picture(brier_curve)) == spec(curve_chart({**curves(brier_curve), **best}))


def test_acting_on_all_is_drawn_once_where_it_is_the_same():
    all_ = {"acting on all": net_benefit_of_all(0.4)}
    assert spec(picture(net_benefit)) == spec(curve_chart({**curves(net_benefit), **all_}))


def test_acting_on_all_is_drawn_for_each_where_prevalence_differs():
    tables = {"one": ONE, "rare": RARE}
    each = {"one, acting on all": net_benefit_of_all(0.4), "rare, acting on all": net_benefit_of_all(0.2)}
    assert spec(picture(net_benefit, tables)) == spec(curve_chart({**curves(net_benefit, tables), **each}))


def test_chance_in_pr_space_is_the_prevalence():
    assert spec(picture(pr)) == spec(curve_chart(curves(pr), baseline=0.4))


def test_chance_of_different_prevalences_is_not_one_line():
    tables = {"one": ONE, "rare": RARE}
    assert spec(picture(pr, tables)) == spec(curve_chart(curves(pr, tables)))


def test_pictures_of_their_own():
    lines = {name: ss.curves.cost.cost_lines(table) for name, table in TABLES.items()}
    assert spec(picture(cost_curve)) == spec(cost_space_chart(curves(cost_curve), lines))
    assert spec(picture(smooth)) == spec(smooth_chart(curves(smooth)))
    assert spec(picture(calibration)) == spec(calibration_chart(curves(calibration), TABLES))


def test_the_mean_of_classes_is_drawn_with_them():
    classes = {"m[a]": "a", "m[b]": "b"}
    tables = dict(zip(classes, TABLES.values(), strict=True))
    drawn = {"a": roc(ONE), "b": roc(OTHER)}
    assert spec(picture(roc, tables, classes=classes)) == spec(
        class_curves_chart(drawn, average_roc(drawn.values()), "roc")
    )


@pytest.mark.parametrize("kind", [roc, pr, smooth, calibration, brier_curve])
def test_the_frame_is_that_of_the_declaration(kind):
    assert _frame(kind.name) is kind.frame


def test_a_curve_of_no_declared_kind_is_framed_by_its_points():
    assert _frame("smooth_counts") == type(roc.frame)()
