"""The words of Vega-Lite: columns, layers, and rows that stand beside a chart once."""

import json

import altair as alt
import pytest
from jsonschema import ValidationError

from scorespace.views.charts.marks import field, layered, mark, with_tables
from scorespace.views.charts.theme import themed


def test_a_column_has_its_type_where_one_is_named():
    assert field("model:N", title=None) == {"field": "model", "type": "nominal", "title": None}
    assert field("side:O")["type"] == "ordinal"
    assert field("high") == {"field": "high"}


def test_a_layer_is_what_altair_makes_of_the_same_words():
    rows = [{"x": 1, "low": 0, "high": 2, "name": "a"}]
    ours = mark("rule", rows, {"x": "x:Q", "y": "low:Q", "y2": "high"}, where="datum.x > 0", color="red")
    theirs = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_rule(color="red")
        .encode(x="x:Q", y="low:Q", y2="high:Q")
        .transform_filter("datum.x > 0")
    )
    with alt.data_transformers.enable(consolidate_datasets=False):
        found = theirs.to_dict()
    assert ours == {key: found[key] for key in ("data", "mark", "encoding", "transform")}


def test_rows_stand_beside_the_chart_once_however_deep_they_are_drawn():
    one, other = [{"x": 1}], [{"x": 1}]
    place = {"x": "x:Q"}
    deep = layered([mark("point", one, place), mark("line", one, place), mark("rule", None, place)], 10, 10)
    spec = with_tables({"vconcat": [{"hconcat": [deep]}, {"concat": [layered([mark("bar", other, place)], 10, 10)]}]})
    assert spec["datasets"] == {"table 1": one, "table 2": other}
    assert [part.get("data") for part in spec["vconcat"][0]["hconcat"][0]["layer"]] == [
        {"name": "table 1"},
        {"name": "table 1"},
        None,
    ]
    assert spec["vconcat"][1]["concat"][0]["layer"][0]["data"] == {"name": "table 2"}
    assert json.dumps(deep).count('"values"') == 2  # what was given stays as it was


@pytest.mark.parametrize(
    "wrong",
    [
        {"mark": {"type": "lines"}},
        {"mark": {"type": "line", "colour": "red"}},
        {"encoding": {"x": {"field": "x", "type": "number"}}},
        {"encoding": {"x": {"field": "x", "type": "quantitative", "scale": {"domains": [0, 1]}}}},
    ],
)
def test_the_schema_finds_what_is_wrong(valid, wrong):
    right = mark("line", [{"x": 1}], {"x": "x:Q"})
    assert valid(themed(layered([right], 10, 10)))
    with pytest.raises(ValidationError):
        valid(themed(layered([right | wrong], 10, 10)))
