"""The curves of two classes as a chart that Vega-Lite allows, in ink alone."""

from scorespace.views.charts.here import following
from scorespace.views.charts.pairs import pair_chart
from scorespace.views.charts.theme import INK
from scorespace.views.pairs import pairs_of
from views.classed import scored


def test_the_page_replaces_its_rows(valid):
    rows = pairs_of(scored(3, 60)).rows(0, 1)
    spec = valid(following(pair_chart(rows), "pair", {"model": "m"}))
    assert spec["datasets"]["sweep"] == rows
    assert spec["layer"][0]["data"] == {"name": "sweep"}
    assert spec["layer"][0]["mark"]["color"] == INK
    valid(following(pair_chart([]), "pair", {"model": "m"}))
