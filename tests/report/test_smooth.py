"""Smooth ROC in the report, and its charts."""

import numpy as np
import pytest

import scorespace as ss
from helpers.shown import HOSTILE, SIX, rows, table
from scorespace.curves import smooth
from scorespace.decisions.hard_cases import SETS, zones
from scorespace.errors import DataError
from scorespace.report import sections, terminal
from scorespace.report import smooth as view
from scorespace.report.chart_files import save
from scorespace.report.document import Grid, Picture, Text
from scorespace.report.smooth_charts import smooth_chart, zones_chart
from scorespace.tables import score_table


def section(evaluation):
    return [part for part in sections.document(evaluation).sections if part.name == "smooth"]


def test_the_section_of_a_report(valid):
    (part,) = section(ss.evaluate(SIX, truth="y", scores="s"))
    pictures = [block for block in part.blocks if isinstance(block, Picture)]
    (grid,) = (block for block in part.blocks if isinstance(block, Grid))
    cells = dict(grid.rows)
    assert len(pictures) == 3  # the curves, the zones, and what handing over cases brings
    assert (cells["auc ↑"], cells["smauc ↑"]) == ("0.889", "0.840")  # ELKI
    assert (cells["appropriate"], cells["inappropriate"]) == ("5", "1")
    assert [cells[f"– {one}"] for one in SETS] == ["3", "2", "0", "1"]
    assert (cells["τv"], cells["τh"], cells["gap of ROC"]) == ("2.77", "3.23", "0.056")
    assert not part.brief
    assert set(dict(grid.hints)) == set(cells)
    for picture in pictures:
        assert valid(picture.draw())


def test_words_of_the_section():
    words = [block.text for block in view.blocks(ss.evaluate(SIX, truth="y", scores="s")) if isinstance(block, Text)]
    assert words == [
        "s: 67 % of the cases are certain and correct, 0 % certain but wrong; of the uncertain ones, 1 correct "
        "and 1 wrong."
    ]


@pytest.mark.parametrize(
    "data", [{"y": [1, 0, 1], "s": [3, 1, 2]}, {"y": [1, 1], "s": [0.4, 0.3]}], ids=["no probabilities", "one class"]
)
def test_no_section_without_probabilities_of_both_classes(data):
    assert section(ss.evaluate(data, truth="y", scores="s", positive=1)) == []


def test_the_page_of_cases():
    found = ss.cases(SIX["y"], SIX["s"], id=list("abcdef"))
    text = terminal.text(view.document("six.csv", "s", found))
    assert "hard" in text
    assert found.words.split(".")[0] in text


def test_plots_of_an_evaluation():
    found = ss.evaluate(SIX, truth="y", scores="s")
    assert found.plot("smooth").to_dict()
    assert found.curve("smooth", midpoint="median").midpoint == pytest.approx(0.555)


# --- charts


def test_smooth_chart_holds_curve_hull_and_plain_curve():
    six = score_table(SIX["y"], SIX["s"])
    found = rows(smooth_chart({"s": smooth(six)}))
    points = {(row["x"], row["y"]) for row in found if "x" in row}
    assert {(0, 0), (1, 1), (0, 0.333333), (0, 0.666667), (0.333333, 1)} <= points  # the plain ROC curve
    assert (round(0.05 / 3.23, 6), round(0.95 / 2.77, 6)) in {(round(x, 6), round(y, 6)) for x, y in points}
    assert any("thin: ROC" in str(row.get("label")) for row in found)


def test_axes_of_counts_have_no_plain_curve():
    found = rows(smooth_chart({"s": smooth(table(), normalised=False)}))
    assert not any("thin" in str(row.get("label")) for row in found)
    assert max(row["x"] for row in found if "x" in row) > 100


def test_large_curves_are_thinned():
    source = np.random.default_rng(3)
    big = score_table(source.random(50_000) < 0.4, source.random(50_000))
    assert len(rows(smooth_chart({"s": smooth(big)}))) < 3000


def test_zones_chart_counts_every_case():
    scores = table()
    found = [row for row in rows(zones_chart(scores, zones(scores))) if "kind" in row]
    for sign in (1, -1):
        assert sum(row["share"] for row in found if row["sign"] == sign) == pytest.approx(1, abs=1e-4)
    assert {row["kind"] for row in found} == {"easy", "rescued", "hard", "confident error"}


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_values(name, tmp_path):
    scores = score_table([name, "b", name, "b"], [0.9, 0.6, 0.4, 0.1], positive=name)
    for place, chart in enumerate((smooth_chart({name: smooth(scores)}), zones_chart(scores, zones(scores)))):
        assert save(chart, tmp_path / f"{place}.svg").stat().st_size > 1000


def test_nothing_to_draw():
    with pytest.raises(DataError, match="curve to draw"):
        smooth_chart({})


@pytest.mark.parametrize("midpoint", [0, 0.02, 0.98, 1])
def test_zones_at_the_ends(midpoint, tmp_path):
    scores = table()
    assert save(zones_chart(scores, zones(scores, midpoint)), tmp_path / "zones.png").stat().st_size > 1000
