"""Pictures that follow the operating point."""

from types import SimpleNamespace

import pytest

import scorespace as ss
from helpers.drawn_charts import TABLES, table
from scorespace.curves import pr, roc
from scorespace.measures.confusion import f1, tpr
from scorespace.report.curve_charts import curve_chart, threshold_chart
from scorespace.report.document import Panel
from scorespace.report.linked_charts import HERE, MARKS, SWEEP, curves_picture, link_to_panel, linked, threshold_panel

DATA = {"y": [1, 0, 1, 1, 0, 0], "s": [0.9, 0.8, 0.7, 0.4, 0.3, 0.1], "d": [1, 0, 1, 0, 0, 1]}


def test_without_an_operating_point_nothing_is_added():
    chart = {"layer": []}
    assert linked(SimpleNamespace(operating=None), "roc", lambda: chart)() is chart


def test_the_marks_are_where_the_page_opens():
    evaluation = ss.evaluate(DATA, truth="y", scores="s")
    spec = curves_picture(evaluation, "roc", "about").draw()
    (row,) = spec["datasets"][HERE]
    assert (row["tpr"], row["fpr"]) == (0.666667, 0.333333)  # at 0.5: 0.9 and 0.7 of three, 0.8 of three


def test_the_panel_is_for_scores_alone(valid):
    (panel,) = threshold_panel(ss.evaluate(DATA, truth="y", scores="s"))
    assert isinstance(panel, Panel)
    assert [one.drag for one in panel.pictures] == [True, False]
    assert all(valid(one.draw()) for one in panel.pictures)
    assert threshold_panel(ss.evaluate(DATA, truth="y", decisions="d")) == []


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
    spec = valid(link_to_panel(chart(kind), kind, ROW))
    assert spec["datasets"][HERE] == [ROW]
    marks = [layer for layer in spec["layer"] if layer["data"] == {"name": HERE}]
    assert len(marks) == len(MARKS[kind])
    fields = {given["field"] for layer in marks for given in layer["encoding"].values()}
    assert fields <= set(ROW)


def test_other_models_step_back_and_the_chart_given_stays_as_it_is():
    given = chart("roc")
    spec = link_to_panel(given, "roc", ROW)
    seen = [layer["encoding"]["opacity"] for layer in spec["layer"] if "test" in str(layer["encoding"].get("opacity"))]
    assert seen == [{"condition": {"test": "datum.name === model", "value": 1}, "value": 0.5}]
    assert {"name": "model", "value": "nb"} in spec["params"]
    assert given == chart("roc")


def test_measures_against_the_threshold_are_of_the_model_looked_at():
    spec = link_to_panel(threshold_chart(table(), [tpr, f1]), "threshold", ROW)
    assert set(spec["datasets"]) == {SWEEP, HERE}


def test_every_mark_has_its_place():
    assert {layer["mark"]["type"] for layers in MARKS.values() for layer in layers} == {"point", "rule"}


def test_on_a_log_axis_the_line_of_equal_cost_is_bent_and_not_drawn(valid):
    logged = curve_chart({name: roc(one) for name, one in TABLES.items()}, log_from=1e-4)
    marks = [one for one in valid(link_to_panel(logged, "roc", ROW))["layer"] if one["data"] == {"name": HERE}]
    assert [one["mark"]["type"] for one in marks] == ["point"]


def test_what_falls_below_the_chart_is_not_drawn_beside_it():
    assert MARKS["net_benefit"][-1]["mark"]["clip"]
