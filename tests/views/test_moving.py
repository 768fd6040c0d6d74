"""Pictures that follow the operating point."""

from types import SimpleNamespace

import scorespace as ss
from scorespace.views.charts.here import HERE
from scorespace.views.document import Panel
from scorespace.views.moving import curves_picture, moving, threshold_panel

DATA = {"y": [1, 0, 1, 1, 0, 0], "s": [0.9, 0.8, 0.7, 0.4, 0.3, 0.1], "d": [1, 0, 1, 0, 0, 1]}


def test_without_an_operating_point_nothing_is_added():
    chart = {"layer": []}
    assert moving(SimpleNamespace(operating=None), "roc", lambda: chart)() is chart


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
