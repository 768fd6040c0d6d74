"""Charts as files: every ending, and no file but the one asked for."""

import json
import re

import altair as alt
import pytest

from helpers.drawn_charts import TABLES, rows, table
from scorespace.curves import gain, roc
from scorespace.errors import DataError
from scorespace.report.chart_files import concatenate, curve_panel, save
from scorespace.report.chart_theme import themed
from scorespace.report.curve_charts import curve_chart


@pytest.fixture(scope="module")
def drawn():
    return curve_chart({name: roc(one) for name, one in TABLES.items()})


def test_png(drawn, tmp_path):
    path = save(drawn, tmp_path / "roc.png")
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(content) > 10_000
    width = int.from_bytes(content[16:20], "big")
    assert int.from_bytes(save(drawn, tmp_path / "small.PNG", scale=1).read_bytes()[16:20], "big") == pytest.approx(
        width / 2, abs=1
    )


def test_svg(drawn, tmp_path):
    svg = save(drawn, str(tmp_path / "roc.svg")).read_text(encoding="utf-8")
    assert all(f">{words}<" in svg for words in ("False positive rate", "True positive rate", "chance"))
    assert all(f">{name} " in svg for name in ("nb", "tree"))  # with the areas behind them
    assert "voronoi" not in svg  # what only a pointer can see stays out of still pictures


def test_pdf(drawn, tmp_path):
    assert save(drawn, tmp_path / "roc.pdf").read_bytes().startswith(b"%PDF-")


def test_json_is_the_spec(drawn, tmp_path):
    assert json.loads(save(drawn, tmp_path / "roc.json").read_text()) == drawn


def test_html_holds_all_it_needs(drawn, tmp_path):
    page = save(drawn, tmp_path / "roc.html").read_text(encoding="utf-8")
    outside = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"(src|href)=|url\(|@import", outside)
    assert not re.search(r"cdn|jsdelivr|unpkg", page)
    assert "True positive rate against false positive rate: nb, tree." in page


def test_a_chart_of_somebody_else_can_be_saved_too(tmp_path):
    other = alt.Chart(alt.InlineData(values=[{"a": 1}])).mark_point().encode(x="a:Q")
    for ending in ("svg", "html"):
        assert save(other, tmp_path / f"other.{ending}").stat().st_size > 100


@pytest.mark.parametrize("name", ["roc.gif", "roc", ".png"])
def test_an_unknown_ending_is_refused_with_the_known_ones(drawn, tmp_path, name):
    with pytest.raises(DataError, match=r"\.png, \.svg, \.pdf, \.html, \.json"):
        save(drawn, tmp_path / name)


def test_a_folder_that_is_not_there_is_refused(drawn, tmp_path):
    with pytest.raises(DataError, match=r"folder '.*absent'"):
        save(drawn, tmp_path / "absent" / "roc.json")


def test_a_failure_leaves_the_old_file_and_nothing_else(drawn, tmp_path, monkeypatch):
    path = tmp_path / "roc.json"
    path.write_text("old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(DataError, match="No space left"):
        save(drawn, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("ending", [".svg", ".png"])
def test_what_no_picture_may_hold_is_replaced(tmp_path, ending):
    label = "a\0b\x1b\ud800😀"
    mark = {"mark": "text", "data": {"values": [{"t": label}]}, "encoding": {"text": {"field": "t"}}, "title": label}
    found = save(mark, tmp_path / f"odd{ending}").read_bytes()
    assert found
    assert b"\0" not in found or ending == ".png"


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


def test_charts_side_by_side_keep_their_tables():
    charts = [curve_chart({name: kind(one) for name, one in TABLES.items()}) for kind in (roc, gain)]
    both = concatenate(charts)
    assert len(both["concat"]) == 2
    assert len(both["datasets"]) == sum(len(chart["datasets"]) for chart in charts)
    for place, chart in enumerate(charts, start=1):
        for name, kept in chart["datasets"].items():
            assert both["datasets"][f"{place} {name}"] == kept
        used = {layer["data"]["name"] for layer in both["concat"][place - 1]["layer"]}
        assert used <= set(both["datasets"])
    assert both["description"] == " ".join(chart["description"] for chart in charts)
