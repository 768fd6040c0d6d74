"""The page of an audit: its sections, its small pictures, and that no text from data can do harm."""

import json
import re

import numpy as np
import pytest

import scorespace as ss
from scorespace.report import audit as view
from scorespace.report import html, notebook, serialize, terminal
from scorespace.report.audit import column_chart
from scorespace.report.chart_theme import COLOURS
from scorespace.report.document import Grid, Notes, Picture, Verdict

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def audit():
    source = np.random.default_rng(0)
    table = {
        "age": np.where(source.random(300) < 0.05, 999, source.integers(18, 90, 300)),
        "town": source.choice(["Rome", "Paris", HOSTILE], 300),
        HOSTILE: np.datetime64("2020-01-01") + source.integers(0, 300, 300),
        "rating": source.integers(1, 6, 300),
        "same": [1] * 300,
        "y": source.integers(0, 2, 300),
    }
    return ss.audit(table, target="y")


def blocks(document, kind):
    return [block for section in document.sections for block in section.blocks if isinstance(block, kind)]


def test_the_page_has_every_finding_column_and_picture(audit):
    page = view.document(audit)
    assert [section.title for section in page.sections] == ["Findings", "Columns", "Charts"]
    assert page.facts == "300 rows   6 columns   target = y"
    assert blocks(page, Notes)[0].notes == audit.notes
    assert [row[0] for row in blocks(page, Grid)[1].rows] == [one.name for one in audit.columns]
    assert len(blocks(page, Picture)) == 6
    assert all(picture.small for picture in blocks(page, Picture))


def test_the_terminal_ends_with_the_answer(audit):
    brief = view.document(audit).brief()
    assert isinstance(brief.sections[0].blocks[-1], Verdict)
    text = terminal.text(brief, 120)
    assert text.splitlines()[0] == "arrays   300 rows   6 columns   target = y"
    assert re.findall(r"\d+", text.splitlines()[-1]) == ["2", "1"]
    assert re.search(r"SS110 .*999\b.*'age'|SS110 .*'age'.*\b999\b", text)


def test_many_columns_show_those_with_findings():
    source = np.random.default_rng(1)
    table = {f"x{place}": source.normal(size=60) for place in range(40)} | {"same": [1] * 60}
    kinds, columns = blocks(view.document(ss.audit(table)).brief(), Grid)
    assert kinds.rows == (("interval", "40"), ("constant", "1"))
    assert [row[0] for row in columns.rows] == ["same"]


def test_pictures_hold_tables_and_names_are_values(audit):
    for column in audit.columns:
        spec = column_chart(column)
        assert sum(row["rows"] for row in spec["data"]["values"]) == column.rows - column.missing
        fields = {each["field"] for each in spec["encoding"].values() if isinstance(each, dict)}
        assert fields <= {"low", "high", "rows", "label"}
        json.dumps(spec, allow_nan=False)


def test_nothing_from_the_data_is_markup(audit):
    page = html.render(view.document(audit))
    assert HOSTILE not in page
    assert HOSTILE not in notebook.html(view.document(audit))
    assert "<img" not in serialize.text(view.document(audit).brief()).replace("\\<img", "")


def test_a_real_browser_draws_every_picture(audit, visit, tmp_path):
    path = html.write(view.document(audit), tmp_path / "audit.html")
    for width in (1200, 380):
        found = visit(path, width=width)
        assert found.page.locator("figure.picture[data-drawn=yes]").count() == 6
        assert all(one.locator("path").count() for one in found.page.locator("figure.picture .chart").all())
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width
        assert found.page.locator("img").count() == 0
        assert found.console == []


def test_the_levels_of_an_ordinal_stand_in_their_order():
    found = ss.audit({"size": ["large", "small", "large", "medium", "?"] * 9}).columns[0]
    assert [bar.label for bar in found.bars] == ["small", "medium", "large", "?"]
    stated = ss.audit({"size": ["c", "a", "b"] * 9}, kinds={"size": "ordinal(b, a, c)"}).columns[0]
    assert [bar.label for bar in stated.bars] == ["b", "a", "c"]


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
    plain, warned = (column_chart(columns["size"], has_warning=one)["mark"]["color"] for one in (False, True))
    assert (plain, warned) == (COLOURS[0], COLOURS[1])
