"""The look that charts share: who has which colour and dash, and how many digits a picture needs."""

import json
import math

import altair as alt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import ValidationError

from scorespace.report.chart_theme import (
    COLOURS,
    DASHES,
    MORE_COLOURS,
    UNIT,
    axis,
    coloured,
    dashed,
    datum,
    field,
    layered,
    mark,
    scale,
    themed,
    unit_or_none,
    with_tables,
)


def test_seventy_models_are_told_apart_and_fourteen_by_colour():
    names = [f"m{k}" for k in range(70)]
    assert len(set(coloured("name", names[:14])["scale"]["range"])) == 14
    pairs = zip(
        coloured("name", names)["scale"]["range"], map(str, dashed("name", names)["scale"]["range"]), strict=True
    )
    assert len(set(pairs)) == 70 == (len(COLOURS) + len(MORE_COLOURS)) * len(DASHES)


def test_what_belongs_to_a_model_has_its_colour():
    found = coloured("name", ["a", "b", "b, recalibrated"], of={"b, recalibrated": "b"})["scale"]["range"]
    assert found == [COLOURS[0], COLOURS[1], COLOURS[1]]


@given(st.floats(allow_nan=False))
def test_six_digits_are_enough_for_any_number(value):
    found = datum(value)
    assert found is None if math.isinf(value) else found is not None and abs(found - value) <= 1e-5 * abs(value)


def test_axes_between_nought_and_one():
    assert unit_or_none(np.array([0.2, 1.0])) == UNIT
    assert unit_or_none(np.array([0.2, 1.1])) is None
    assert unit_or_none(np.array([])) is None
    assert axis(UNIT)["values"][-1] == 1
    assert axis((0.0, 5.0)) == {}
    assert scale(None, zero=True) == {"zero": True}
    assert scale((-1.0, 2.0))["domain"] == [-1.0, 2.0]


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
