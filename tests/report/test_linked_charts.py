"""Pictures that follow the operating point."""

from types import SimpleNamespace

import pytest

import scorespace as ss
from helpers.drawn_charts import TABLES, table
from scorespace.curves import pr, roc
from scorespace.measures.confusion import f1, tpr
from scorespace.report.chart_theme import OTHER, SELECTED
from scorespace.report.curve_charts import curve_chart, threshold_chart
from scorespace.report.document import Panel
from scorespace.report.linked_charts import HERE, MARKS, SWEEP, curves_picture, link_to_panel, linked
from scorespace.report.operating import price_chart, threshold_panel

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
    assert [one.tab for one in panel.pictures] == ["ROC", "PR", "Decision curve", "Calibration", "Scores", "Cost"]
    assert all(one.drag for one in panel.pictures)
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


def test_the_selected_model_is_in_colour_and_the_chart_given_stays_as_it_is():
    given = chart("roc")
    spec = link_to_panel(given, "roc", ROW)
    colours = [layer["encoding"].get("color") for layer in spec["layer"] if layer["mark"]["type"] == "line"]
    assert {"condition": {"test": "datum.name === model", "value": SELECTED}, "value": OTHER} in colours
    (names,) = (layer for layer in spec["layer"] if layer.get("name") == "beside")
    assert {row["name"] for row in names["data"]["values"]} == set(TABLES)
    assert {"name": "model", "value": "nb"} in spec["params"]
    assert given == chart("roc")


def test_a_score_that_is_no_probability_leaves_the_others_their_charts(valid):
    data = {**DATA, "t": [10 * score for score in DATA["s"]]}
    (panel,) = threshold_panel(ss.evaluate(data, truth="y", scores=["s", "t"]))
    for picture in panel.pictures[2:4]:
        assert "Not for 't': its scores are no probabilities." in picture.caption
        names = {row.get("name") for rows in valid(picture.draw())["datasets"].values() for row in rows}
        assert "s" in names
        assert "t" not in names


def test_costs_by_threshold_are_those_of_the_measure():
    evaluation = ss.evaluate(DATA, truth="y", scores="s", condition=ss.Condition(fp=1, fn=3))
    rows = [row for row in evaluation.operating.prices() if row["kind"] == "model"]
    for row in rows:
        expected = evaluation.measures(f"cost(fp=1, fn=3)@{row['x']!r}")[0].value
        assert row["y"] == pytest.approx(expected, rel=1e-12)
    assert len(rows) == 6
    assert price_chart(evaluation.operating)["description"].startswith("Expected cost per case of s")


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
