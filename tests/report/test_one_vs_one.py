"""The ROC curves behind the cells: points of the exact curves, areas of the pairs, for cases and bins alike."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from helpers.binned import class_bins
from helpers.classed import ABSENT, scored
from scorespace.curves import roc
from scorespace.evaluation.class_pairs import pairs_of
from scorespace.report.chart_theme import INK
from scorespace.report.linked_charts import link_to_panel
from scorespace.report.multiclass_panel import pair_chart
from scorespace.tables import class_table


@pytest.mark.parametrize("rows", [120, 3000])
def test_points_lie_on_the_exact_curves_and_leave_no_gap(rows):
    table = scored(4, rows)
    found = pairs_of(table)
    for row, column in ((0, 1), (3, 2), (2, 2)):
        exact = roc(table.one_vs_rest(row) if row == column else table.one_vs_one(row, column))
        points = set(zip(exact.x.round(12).tolist(), exact.y.round(12).tolist(), strict=True))
        x, y = found.curve(row, column)
        assert set(zip(x.round(12).tolist(), y.round(12).tolist(), strict=True)) <= points
        assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)
        assert max(np.diff(x).max(), np.diff(y).max()) < 0.05
        assert np.trapezoid(y, x) == pytest.approx(exact.area(), abs=0.01)
    assert found.x.size < 16 * 420


def test_areas_are_those_of_scikit_learn():
    table = scored(3, 400)
    found = pairs_of(table)
    among = np.isin(table.label, (1, 2))
    assert found.areas[1, 2] == pytest.approx(roc_auc_score(table.label[among] == 1, table.score[1, among]))
    assert found.areas[0, 0] == pytest.approx(roc_auc_score(table.label == 0, table.score[0]))
    one, other = f"{found.areas[1, 2]:.3f}", f"{found.areas[2, 1]:.3f}"
    assert found.describe(1, 2) == (
        f"class 1 against class 2: AUC {one} by the score of class 1 (solid), {other} by that of class 2 (dashed)."
    )
    assert found.describe(0, 0) == f"class 0 against the rest: AUC {found.areas[0, 0]:.3f}."


def test_bins_have_the_curves_of_their_cases():
    table = scored(3, 500)
    found, exact = pairs_of(class_bins(table)), pairs_of(table)
    assert found.x.tolist() == exact.x.tolist()
    assert found.y.tolist() == exact.y.tolist()
    assert found.areas == pytest.approx(exact.areas)


def test_weights_are_those_of_copies():
    chance = np.random.default_rng(3)
    truth, score, times = np.arange(90) % 3, chance.dirichlet([1, 1, 1], 90), chance.integers(1, 4, 90)
    weighted = pairs_of(class_table(truth, score, weight=times))
    copied = pairs_of(class_table(np.repeat(truth, times), np.repeat(score, times, axis=0)))
    for row, column in ((0, 1), (2, 0)):
        assert {*zip(*weighted.curve(row, column), strict=True)} == {*zip(*copied.curve(row, column), strict=True)}


def test_a_class_without_cases_has_no_area_and_decisions_have_no_curves():
    absent = class_table(["a", "b"] * 5, np.random.default_rng(0).dirichlet([1, 1, 1], 10), classes=["a", "b", "c"])
    found = pairs_of(absent)
    assert "AUC – by the score of a" in found.describe(0, 2)
    assert len(found.rows(0, 2)) > 0
    assert pairs_of(ABSENT) is None


def test_rows_are_of_both_classes_or_of_one():
    found = pairs_of(scored(3, 60))
    assert {row["name"] for row in found.rows(0, 1)} == {"row", "column"}
    assert {row["name"] for row in found.rows(1, 1)} == {"row"}


def test_the_page_replaces_its_rows(valid):
    rows = pairs_of(scored(3, 60)).rows(0, 1)
    spec = valid(link_to_panel(pair_chart(rows), "pair", {"model": "m"}))
    assert spec["datasets"]["sweep"] == rows
    assert spec["layer"][0]["data"] == {"name": "sweep"}
    assert spec["layer"][0]["mark"]["color"] == INK
    valid(link_to_panel(pair_chart([]), "pair", {"model": "m"}))
