"""Several charts as one picture: each keeps its own tables, whatever they are called."""

from scorespace.curves import gain, roc
from scorespace.views.charts.curves import curve_chart
from scorespace.views.charts.several import beside_each_other
from views.charts.drawn import TABLES


def test_charts_side_by_side_keep_their_tables():
    charts = [curve_chart({name: kind(one) for name, one in TABLES.items()}) for kind in (roc, gain)]
    both = beside_each_other(charts)
    assert len(both["concat"]) == 2
    assert len(both["datasets"]) == sum(len(chart["datasets"]) for chart in charts)
    for place, chart in enumerate(charts, start=1):
        for name, rows in chart["datasets"].items():
            assert both["datasets"][f"{place} {name}"] == rows
        used = {layer["data"]["name"] for layer in both["concat"][place - 1]["layer"]}
        assert used <= set(both["datasets"])
    assert both["description"] == " ".join(chart["description"] for chart in charts)
