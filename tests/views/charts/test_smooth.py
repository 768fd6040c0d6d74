"""Smooth ROC in pictures: curve, hull and plain curve, and the zones of the scores."""

import numpy as np
import pytest

from scorespace.curves import smooth
from scorespace.decisions.cases import zones
from scorespace.errors import DataError
from scorespace.tables import score_table
from scorespace.views.charts.files import save
from scorespace.views.charts.smooth import smooth_chart, zones_chart
from views.shown import HOSTILE, SIX, rows, table

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
    found = [row for row in rows(zones_chart(scores, zones(scores))) if "zone" in row]
    for sign in (1, -1):
        assert sum(row["share"] for row in found if row["sign"] == sign) == pytest.approx(1, abs=1e-4)
    assert {row["zone"] for row in found} == {"easy", "rescued", "hard", "confident error"}


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_values(name, tmp_path):
    scores = score_table([name, "b", name, "b"], [0.9, 0.6, 0.4, 0.1], positive=name)
    for place, chart in enumerate((smooth_chart({name: smooth(scores)}), zones_chart(scores, zones(scores)))):
        assert save(chart, tmp_path / f"{place}.svg").stat().st_size > 1000


def test_nothing_to_draw():
    with pytest.raises(DataError, match="no curve to draw"):
        smooth_chart({})


@pytest.mark.parametrize("midpoint", [0, 0.02, 0.98, 1])
def test_zones_at_the_ends(midpoint, tmp_path):
    scores = table()
    assert save(zones_chart(scores, zones(scores, midpoint)), tmp_path / "zones.png").stat().st_size > 1000
