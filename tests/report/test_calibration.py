"""Calibration on the page, and its picture."""

import numpy as np
import pytest

import scorespace as ss
from helpers.drawn_charts import TABLES, points, rows, table
from scorespace.calibration.maps import LogisticMap
from scorespace.calibration.recalibration_effect import MeasureEffect, Recalibration
from scorespace.calibration.tests import calibration_band
from scorespace.curves import calibration
from scorespace.errors import DataError, ScoreSpaceError
from scorespace.report import calibration as view
from scorespace.report import sections, terminal
from scorespace.report.calibration import calibration_chart
from scorespace.report.chart_files import save
from scorespace.report.document import Grid, Picture, Text
from scorespace.tables import score_table

RNG = np.random.default_rng(0)
P = RNG.beta(2, 2, 300)
DATA = {
    "y": (RNG.random(300) < P).astype(int),
    "fine": P,
    "bold": P**3 / (P**3 + (1 - P) ** 3),
    "margin": 10 * P - 5,
    "d": (P > 0.5).astype(int),
}


@pytest.fixture(scope="module")
def evaluation():
    return ss.evaluate(DATA, truth="y", scores=["fine", "bold", "margin"], decisions="d", measures="auc")


def test_the_section_shows_probabilities_only(evaluation):
    answer, picture, *rest = view.blocks(evaluation)
    grid, *bins = [block for block in rest if isinstance(block, Grid)]
    assert isinstance(picture, Picture)
    assert grid.columns == ("", "fine", "bold")
    assert isinstance(answer, Text)
    assert answer.text.startswith("fine is discriminating")
    assert "bold is discriminating" in answer.text
    assert len(bins) == 2


def test_the_numbers_of_the_grid(evaluation):
    grid = view.summary_grid(evaluation.calibrations)
    rows = {row[0]: row[1:] for row in grid.rows}
    table = ss.score_table(DATA["y"], DATA["fine"])
    assert rows["brier"][0] == f"{ss.brier(table):.3f}"
    assert rows["slope"][0] == f"{ss.cal_slope(table):.3f}"
    assert rows["ece, 15 bins"][0] == f"{ss.ece(table, bins=15):.3f}"
    assert rows["Hosmer-Lemeshow χ²"][0] == f"{ss.hosmer_lemeshow(table).statistic:.2f}"
    assert {name for name, _ in grid.hints} == set(rows)


def test_bins_show_cases_and_intervals(evaluation):
    *_, grid = view.blocks(evaluation)
    assert isinstance(grid, Grid)
    assert grid.columns == ("scores", "cases", "mean score", "observed rate")
    assert sum(int(row[1]) for row in grid.rows) == 300
    assert "[" in grid.rows[0][3]


def test_the_section_stands_in_the_report_and_not_on_the_screen(evaluation):
    document = sections.document(evaluation)
    names = [section.name for section in document.sections]
    assert "calibration" in names
    assert names.index("calibration") < names.index("distributions")
    assert "calibration" not in [section.name for section in document.brief().sections]


def test_no_section_without_probabilities():
    found = ss.evaluate(DATA, truth="y", scores="margin", measures="auc")
    assert view.blocks(found) == []


def test_no_section_for_one_class():
    found = ss.evaluate({"y": [1, 1, 1], "s": [0.5, 0.6, 0.7]}, truth="y", scores="s", positive=1, measures="brier")
    assert view.blocks(found) == []


def test_cases_left_out_are_named():
    found = ss.evaluate({**DATA, "s": np.where(P > 0.7, 1.0, P)}, truth="y", scores="s", measures="auc")
    assert f"a score of 0 or 1: s {np.sum(P > 0.7)}" in view.summary_grid(found.calibrations).caption


# --- from the evaluation


def test_the_summary_of_a_model(evaluation):
    assert evaluation.calibration("fine") is evaluation.calibrations["fine"]
    with pytest.raises(ScoreSpaceError, match="not probabilities"):
        evaluation.calibration("margin")
    assert evaluation.calibration("d").brier > 0  # a crisp decision is a score of 1 or 0
    with pytest.raises(ScoreSpaceError, match="no model 'nobody'"):
        evaluation.calibration("nobody")


def test_curve_and_band_of_a_model(evaluation):
    assert evaluation.curve("calibration", "fine") == ss.calibration(ss.score_table(DATA["y"], DATA["fine"]))
    assert evaluation.curve("calibration", "fine", by="width", bins=3).x.size == 3
    assert evaluation.band("calibration", "fine").kind == "calibration"


def test_brier_and_its_parts_are_usual_for_probabilities():
    asked = [str(one.spec) for one in ss.evaluate(DATA, truth="y", scores="fine").summary]
    assert asked.index("auc") < asked.index("brier")
    asked = [str(one.spec) for one in ss.evaluate(DATA, truth="y", scores="fine", full=True).summary]
    assert asked.index("auc") < asked.index("brier") < asked.index("cal") < asked.index("ref")
    assert "brier" not in [str(one.spec) for one in ss.evaluate(DATA, truth="y", scores="margin").summary]


# --- the picture


def drawn(chart):
    """The values of each layer, by the kind of mark."""
    found, spec = {}, chart.to_dict()
    for layer in spec["layer"]:
        data = layer["data"]
        values = data["values"] if "values" in data else spec["datasets"][data["name"]]
        found.setdefault(layer["mark"]["type"], []).append(values)
    return found


def picture(by="isotonic", band=True, models=("fine", "bold")):
    found = ss.evaluate(DATA, truth="y", scores=list(models), measures="auc")
    return found.plot("calibration", band=band, by=by)


def test_the_picture_has_lines_bands_and_histograms():
    found = drawn(picture())
    assert {row["name"] for row in found["area"][0]} == {"fine", "bold"}
    heights = [row["height"] for row in found["rect"][0]]
    assert max(heights) == pytest.approx(0.14)
    assert sum(row["share"] for row in found["rect"][0] if row["name"] == "fine") == pytest.approx(1)


def test_bins_are_dots_with_whiskers():
    found = drawn(picture(by="width"))
    assert "area" not in found
    assert len(found["rule"][0]) == len(found["point"][-1])


def test_without_bands():
    assert "area" not in drawn(picture(band=False))


def test_no_curve_is_an_error():
    with pytest.raises(DataError, match="no curve"):
        calibration_chart({}, {})


@pytest.mark.parametrize("by", ["isotonic", "count"])
def test_the_picture_can_be_written(by, tmp_path):
    assert save(picture(by=by), tmp_path / "x.png").stat().st_size > 10_000


EFFECTS = (
    MeasureEffect("brier", 0.25, 0.2),
    MeasureEffect("cal", 0.05, 0.0),
    MeasureEffect("ref", 0.2, 0.2),
    MeasureEffect("logloss", np.inf, np.inf, "infinite"),
    MeasureEffect("auc", 0.7, 0.71),
)


def found(effects=EFFECTS):
    return Recalibration(
        "x.csv", "nb", "platt", "by hand", 2, 2, ("nb_calibrated",), LogisticMap(), np.zeros(2), effects
    )


def test_changes_bear_their_sign():
    rows = view.effect_grid(found()).rows
    assert [row[0] for row in rows] == ["brier ↓", "cal ↓", "ref ↓", "logloss ↓", "auc ↑"]
    assert [row[3] for row in rows] == ["−0.050", "−0.050", "0.000", "–", "+0.010"]


def test_without_a_truth_there_is_no_table():
    text = terminal.text(view.document(found(())))
    assert text.splitlines()[0] == "x.csv   2 cases   platt, by hand"
    assert "before" not in text


def test_the_line_is_the_curve(valid):
    curves = {name: calibration(one) for name, one in TABLES.items()}
    chart = valid(calibration_chart(curves, TABLES))
    drawn = {row["y"] for row in points(chart) if "place" in row}
    assert drawn == {float(f"{y:.6g}") for y in curves["nb"].y}  # each step as high as the share of positives in it
    shares = [row["share"] for row in points(chart) if "share" in row]
    assert sum(shares) == pytest.approx(1, abs=1e-4)


def test_a_band_holds_the_diagonal_of_a_calibrated_model(valid):
    source = np.random.default_rng(5)
    score = source.random(2000)
    honest = score_table((source.random(2000) < score).astype(int), score)
    band = calibration_band(honest, simultaneous=True)
    chart = valid(calibration_chart({"m": calibration(honest)}, {"m": honest}, {"m": band}))
    held = [row for row in rows(chart) if "low" in row and "high" in row and row.get("x") is not None]
    inside = [row["low"] - 1e-9 <= row["x"] <= row["high"] + 1e-9 for row in held if "y" not in row]
    assert held
    assert np.mean(inside) > 0.9


@pytest.mark.parametrize("size", [2, 30])
def test_few_cases_are_drawn_too(size, valid):
    one = table(3, size)
    assert valid(calibration_chart({"m": calibration(one)}, {"m": one}))
