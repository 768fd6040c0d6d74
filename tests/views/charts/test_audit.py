"""A column in a small picture: numbers as a histogram, labels as bars, one row for each bar."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.views.charts.audit import column_chart
from scorespace.views.charts.theme import COLOURS

DATA = {
    "y": np.arange(200) % 2,
    "size": np.random.default_rng(0).normal(5, 2, 200),
    "</script>": np.repeat(["red", "<b>", "a.b[0]", "two lines"], 50),
}


@pytest.fixture(scope="module")
def columns():
    return {one.name: one for one in ss.audit(DATA, target="y").columns}


@pytest.mark.parametrize("name", list(DATA))
def test_every_row_is_in_a_bar(columns, name):
    spec = column_chart(columns[name])
    assert sum(bar["rows"] for bar in spec["data"]["values"]) == 200
    assert spec["title"]["text"] == [name]


def test_numbers_have_ends_and_labels_have_names(columns):
    assert column_chart(columns["size"])["encoding"]["x2"] == {"field": "high"}
    spec = column_chart(columns["</script>"])
    assert spec["encoding"]["y"]["field"] == "label"
    assert {bar["label"] for bar in spec["data"]["values"]} == set(DATA["</script>"].tolist())


def test_a_warned_column_has_another_colour(columns):
    plain, warned = (column_chart(columns["size"], warned=one)["mark"]["color"] for one in (False, True))
    assert (plain, warned) == (COLOURS[0], COLOURS[1])
