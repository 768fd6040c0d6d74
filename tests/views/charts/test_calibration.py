"""The reliability diagram: points of the curve, the diagonal, and where the scores lie."""

import numpy as np
import pytest

from scorespace.curves import calibration
from scorespace.probabilities.tests import calibration_band
from scorespace.tables import score_table
from scorespace.views.charts.calibration import calibration_chart
from views.charts.drawn import TABLES, points, rows, table


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
