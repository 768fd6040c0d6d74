"""What moves on the charts of a page: marks that are drawn from one row, and models that step back."""

import pytest

from scorespace.curves import pr, roc
from scorespace.measures.confusion import f1, tpr
from scorespace.views.charts.curves import curve_chart, threshold_chart
from scorespace.views.charts.here import HERE, MARKS, SWEEP, following
from views.charts.drawn import TABLES, table

ROW = {"model": "nb", "threshold": 0.4, "tpr": 0.7, "fpr": 0.2, "precision": 0.6} | {
    "left": 0,
    "right": 1,
    "at_left": 0.5,
    "at_right": 1.5,
}


def chart(kind):
    return curve_chart({name: {"roc": roc, "pr": pr}[kind](one) for name, one in TABLES.items()})


@pytest.mark.parametrize("kind", ["roc", "pr"])
def test_marks_are_drawn_from_the_row(kind, valid):
    spec = valid(following(chart(kind), kind, ROW))
    assert spec["datasets"][HERE] == [ROW]
    marks = [layer for layer in spec["layer"] if layer["data"] == {"name": HERE}]
    assert len(marks) == len(MARKS[kind])
    fields = {given["field"] for layer in marks for given in layer["encoding"].values()}
    assert fields <= set(ROW)


def test_other_models_step_back_and_the_chart_given_stays_as_it_is():
    given = chart("roc")
    spec = following(given, "roc", ROW)
    seen = [layer["encoding"]["opacity"] for layer in spec["layer"] if "test" in str(layer["encoding"].get("opacity"))]
    assert seen == [{"condition": {"test": "datum.name === model", "value": 1}, "value": 0.5}]
    assert {"name": "model", "value": "nb"} in spec["params"]
    assert given == chart("roc")


def test_measures_against_the_threshold_are_of_the_model_looked_at():
    spec = following(threshold_chart(table(), [tpr, f1]), "threshold", ROW)
    assert set(spec["datasets"]) == {SWEEP, HERE}


def test_every_mark_has_its_place():
    assert {layer["mark"]["type"] for layers in MARKS.values() for layer in layers} == {"point", "rule"}


def test_on_a_log_axis_the_line_of_equal_cost_is_bent_and_not_drawn(valid):
    logged = curve_chart({name: roc(one) for name, one in TABLES.items()}, log_from=1e-4)
    marks = [one for one in valid(following(logged, "roc", ROW))["layer"] if one["data"] == {"name": HERE}]
    assert [one["mark"]["type"] for one in marks] == ["point"]


def test_what_falls_below_the_chart_is_not_drawn_beside_it():
    assert MARKS["net_benefit"][-1]["mark"]["clip"]
