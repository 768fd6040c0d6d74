"""Curves as one panel of several: thinned, named, and with the line of chance."""

from scorespace.curves import roc
from scorespace.views.charts.panel import curve_panel
from scorespace.views.charts.theme import themed
from views.charts.drawn import rows, table


def test_every_curve_is_there_with_few_points(valid):
    curves = {"before": roc(table(1, 20_000)), "after": roc(table(2, 50))}
    panel = curve_panel(curves, "ROC", 300, "sample")
    chart = valid(themed(panel))
    named = [row for row in rows(chart) if "sample" in row]
    assert {row["sample"] for row in named} == {"before", "after"}
    assert len(named) < 800
    ends = [(row["x"], row["y"]) for row in named if row["sample"] == "before"]
    assert (ends[0], ends[-1]) == ((0, 0), (1, 1))
    assert (panel["width"], panel["height"], panel["title"]["text"]) == (300, 300, "ROC")
