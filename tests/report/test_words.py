"""Whatever stands in the data is text in a chart, and never a field name or an expression."""

import json

import numpy as np
import pytest
import vl_convert

from helpers.drawn_charts import table, within
from scorespace.curves import roc
from scorespace.errors import DataError
from scorespace.inference.estimate import estimate
from scorespace.measures import parse
from scorespace.report.curve_charts import curve_chart, threshold_chart
from scorespace.report.measures import measures_chart
from scorespace.report.score_charts import distribution_chart
from scorespace.tables import score_table

HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    'a.b["c"][0]',
    "it's {{7*7}} \\",
    "naïve 贝叶斯",
    "two\nlines",
    "datum.x",
]
FIELDS = {"name", "model", "label", "text", "reason", "class", "span", "side", "place", "threshold"} | {
    "x",
    "y",
    "low",
    "high",
    "value",
    "share",
    "signed",
}


@pytest.mark.parametrize("draw", [curve_chart, distribution_chart])
def test_nothing_to_draw_is_an_error(draw):
    with pytest.raises(DataError, match="to draw"):
        draw({})


def test_no_measure_and_no_estimate_to_draw_are_errors():
    with pytest.raises(DataError, match="to draw"):
        threshold_chart(table(), [])
    with pytest.raises(DataError, match="to draw"):
        measures_chart([[]])


def hostile_charts():
    tables = {
        name: score_table(
            np.where(np.arange(60) % 3, "</script>", "no\"'"), np.arange(60) * place % 17, positive="</script>"
        )
        for place, name in enumerate(HOSTILE, start=1)
    }
    return [
        curve_chart({name: roc(one) for name, one in tables.items()}),
        distribution_chart(tables),
        measures_chart([[estimate(parse("auc"), one, model=name) for name, one in tables.items()]]),
    ]


@pytest.mark.parametrize("drawn", hostile_charts())
def test_text_from_data_is_never_a_field_name_or_an_expression(drawn):
    spec = drawn
    assert set(within(spec, "field")) <= FIELDS
    code = [*within(spec, "expr"), *within(spec, "labelExpr"), *within(spec, "filter"), *within(spec, "signal")]
    assert not [name for name in HOSTILE for part in code if name in json.dumps(part)]


@pytest.mark.parametrize("drawn", hostile_charts())
def test_any_name_can_be_drawn_and_stands_in_the_picture_as_text(drawn):
    svg = vl_convert.vegalite_to_svg(drawn)
    assert "<img" not in svg
    assert "<script" not in svg
    assert "贝叶斯" in svg
    assert "&lt;img src=x" in svg
