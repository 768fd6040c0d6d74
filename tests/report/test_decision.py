"""The section on costs."""

import re
from itertools import pairwise

import numpy as np
import pytest

import scorespace as ss
from helpers.drawn_charts import TABLES, rows
from scorespace.costs import Condition
from scorespace.curves import cost_curve, hull, roc
from scorespace.decisions import decide
from scorespace.errors import ConditionError
from scorespace.report import decision as view
from scorespace.report.cost_region import region_chart
from scorespace.report.decision import blocks, cost_chart, cost_space_chart, hull_chart
from scorespace.report.document import Grid, Notes, Picture, Text, Verdict

DATA = {"y": [1, 0, 1, 1, 0, 0], "s": [0.9, 0.8, 0.7, 0.4, 0.3, 0.1]}


def test_without_costs_it_tells_for_which_a_model_is_best(valid):
    words, *rest = blocks(ss.evaluate(DATA, truth="y", scores="s"))
    # The hull has the corners (0, 1/3) and (1/3, 1), above always and never at every slope but none and all.
    assert words == Text(
        "Without stated costs, the best model depends on the cost ratio: s for a cost ratio FN : FP of 0 to ∞."
    )
    assert [type(one) for one in rest] == [Picture, Picture, Grid]  # the panel shows the only ROC curve
    assert all(valid(one.draw()) for one in rest[:2])


def test_stated_costs_are_answered_and_the_cells_folded():
    words, *rest = blocks(ss.evaluate(DATA, truth="y", scores="s", condition=ss.Condition(fp=1, fn=5)))
    assert isinstance(words, Text)
    assert [one.folded for one in rest if isinstance(one, Grid)].count(
        "Outcomes and costs per 1 000 cases, by model"
    ) == 2


def test_numbers_have_none():
    assert blocks(ss.evaluate({"y": [1.5, 2.0, 3.0], "p": [1.0, 2.0, 3.5]}, truth="y", predictions="p")) == []


# From the highest score down: + − + + − −
SMALL = {"y": [1, 0, 1, 1, 0, 0], "s": [0.9, 0.8, 0.7, 0.4, 0.3, 0.1], "d": [1, 0, 1, 0, 0, 1]}
CLASSES = {"y": list("aabbcc"), "d": list("aabbca"), "e": list("aabbcc")}


@pytest.fixture
def evaluation():
    return ss.evaluate(SMALL, truth="y", scores="s", decisions="d")


def parts(evaluation, decision, kind):
    (section,) = view.document(evaluation, decision).sections
    return [block for block in section.blocks if isinstance(block, kind)]


def test_the_page_of_a_condition(evaluation):
    found = evaluation.decide(ss.Condition(fp=1, fn=5))
    assert parts(evaluation, found, Text) == [
        Text(
            "A false positive costs 1, a false negative 5; 50 % positives as in the data; slope 0.2. "
            "The threshold for probabilities calibrated at the 50 % positives of the data is 0.1666. "
            "M = FNR + slope · FPR, apparent."
        )
    ]
    choices, outcomes, products, regions = parts(evaluation, found, Grid)
    # s at 0.4: one false alarm of six cases; d: one false alarm and one miss; all positive: three false alarms.
    rules = ["always positive", "always negative"]
    assert [row[0] for row in choices.rows] == ["s", "d", "model chosen too", *rules]
    # Left out alone, the positive at 0.4 is missed: (5 + 1) / 6.
    prices = {row[0]: float(row[2].split()[0]) for row in choices.rows}
    assert prices == pytest.approx(
        {"s": 1, "d": 1, "model chosen too": 1, **dict(zip(rules, [1 / 2, 15 / 6], strict=True))}
    )
    assert choices.columns[2:4] == ("cost/case, cross-fitted", "apparent")
    assert choices.rows[0][3] == "0.167"
    assert outcomes.columns[0] == "per 1 000 cases, cross-fitted"
    assert outcomes.rows[0] == ("s", "333", "167", "167", "333")
    assert products.columns == ("cost per 1 000, cross-fitted", "false positives", "false negatives", "total")
    assert products.rows[0] == ("s", "167", "833", "1 000")
    # M of s at 0.4: no miss and a third of the negatives; of d: 1/3 + 0.2 · 1/3.
    assert (choices.columns[-1], choices.rows[0][-1], choices.rows[1][-1]) == ("M", "0.067", "0.400")
    assert ("d", "never in this sample", "never in this sample") in regions.rows
    assert parts(evaluation, found, Verdict) == [Verdict(found.words)]
    assert parts(evaluation, found, Notes) == [Notes(found.notes)]


def test_gains_and_a_stated_prevalence_are_said(evaluation):
    found = evaluation.decide(ss.Condition(fp=1, fn=5, tp=-2, prevalence=0.1))
    (text,) = parts(evaluation, found, Text)
    assert "a true positive -2; 10 % positives in use; slope 1.286." in text.text
    # Odds of 1/7 in use, where positives are 1 to 9; in the balanced sample 9/7.
    assert text.text.endswith(
        "The threshold for probabilities calibrated at the 50 % positives of the data is 0.5625, "
        "at the 10 % in use 0.125. M = FNR + slope · FPR, apparent."
    )
    outcomes = parts(evaluation, found, Grid)[1]
    assert outcomes.columns[0] == "per 1 000, 10 % positive, cross-fitted"
    # d finds two of three positives and alarms on one of three negatives.
    assert ("d", "67", "300", "33", "600") in outcomes.rows


def test_ranges_of_costs_in_which_each_model_is_best():
    # The hull has its corners at (0, 1/3), where bold is, and at (1/3, 1), where wary is: the edge has slope 2.
    data = {"y": [1, 1, 1, 0, 0, 0], "bold": [1, 0, 0, 0, 0, 0], "wary": [1, 1, 1, 1, 0, 0], "idle": [0, 0, 0, 0, 0, 0]}
    evaluation = ss.evaluate(data, truth="y", decisions=["bold", "wary", "idle"])
    # With as many positives as negatives, the slope is the inverse of the ratio of costs.
    assert view.region_grid(evaluation.decide(ss.Condition())).rows == (
        ("bold", "0 to 0.5", "∞ to 2"),
        ("wary", "0.5 to ∞", "2 to 0"),
        ("idle", "never", "never"),  # in every resample, too
    )


def test_crisp_rules_have_no_column_of_thresholds():
    evaluation = ss.evaluate(SMALL, truth="y", decisions="d")
    choices = parts(evaluation, evaluation.decide(ss.Condition(fp=1, fn=5)), Grid)[0]
    assert choices.columns == ("at minimum cost", "cost/case", "M")


def test_the_page_of_a_constraint(evaluation):
    found = evaluation.choose("ppv", at_least={"tpr": 1.0})
    (grid,) = parts(evaluation, found, Grid)
    here = "apparent"
    judged = ("ppv, cross-fitted", here, "tpr ≥ 1, cross-fitted", here)
    assert grid.columns == ("model", "threshold", *judged, "satisfied")
    assert [(*row[:2], row[3], *row[5:]) for row in grid.rows] == [
        ("s", "0.4", "0.750", "1.000", "yes"),
        ("d", "", "", "", "no"),
    ]
    assert grid.rows[1][2].startswith("0.667 [0.208, 0.939]")  # Wilson's of 2 of 3


def test_the_page_of_costs_of_several_classes():
    evaluation = ss.evaluate(CLASSES, truth="y", decisions=["d", "e"])
    costs = ss.CostMatrix(("a", "b", "c"), [[0, 1, 1], [1, 0, 1], [6, 1, 0]])
    grid, product = parts(evaluation, evaluation.decide(costs), Grid)
    assert grid.columns == ("model", "cost/case", "total cost")
    assert [row[0] for row in grid.rows] == ["e", "d", "always b", "always c", "always a"]
    assert [row[1].partition(" [")[0] for row in grid.rows] == ["0.000", "1.000", "0.667", "0.667", "2.333"]
    assert [row[2] for row in grid.rows] == ["0", "6", "", "", ""]
    assert product.columns == ("cost of e, rows: actual class", "predicted a", "predicted b", "predicted c", "total")
    assert {cell for row in product.rows for cell in row[1:]} == {"0"}


def test_the_page_of_a_rejection():
    evaluation = ss.evaluate(SMALL, truth="y", scores="s")
    choice = evaluation.reject(0.25)
    (grid,) = parts(evaluation, choice, Grid)
    # Kept are 0.9, 0.8 and 0.1: two of three are right. One error and three cases handed over: (1 + 0.75) / 6.
    low, high = choice.spent["s"].low, choice.spent["s"].high
    assert 0 < low < 1.75 / 6 < high < 1
    assert grid.rows[0] == ("s", "50.0 %", "0.667", f"0.292 [{low:.3f}, {high:.3f}]")
    # Rejecting all costs 0.25; s is wrong at 0.8 and 0.4 and at nothing else; calling all alike is wrong for half.
    assert [row[0] for row in grid.rows[1:]] == ["reject all", "s, decide all", "always positive", "always negative"]
    assert [row[3].partition(" ")[0] for row in grid.rows[1:]] == ["0.250", "0.333", "0.500", "0.500"]


def test_the_page_of_a_mixture():
    evaluation = ss.evaluate(SMALL, truth="y", scores="s")
    (grid,) = parts(evaluation, evaluation.mix(tpr=2 / 3), Grid)
    assert grid.rows == (("s", "0.9", "0.500", "0.000", "0.333"), ("s", "0.4", "0.500", "0.333", "1.000"))


def test_costs_that_follow_from_a_slope_have_few_digits():
    assert [view._cost(one) for one in (2 / 3, 4 / 3, 20000.0, 0.00001, 1234.5)] == [
        "0.6667",
        "1.333",
        "20000",
        "1e-05",
        "1234.5",
    ]


def test_thresholds_of_whole_points_have_limits_of_whole_points():
    card = {"y": SMALL["y"] * 5, "s": [810, 790, 700, 640, 600, 350] * 5}
    evaluation = ss.evaluate(card, truth="y", scores="s")
    choices, *_ = parts(evaluation, evaluation.decide(ss.Condition(fp=1, fn=5)), Grid)
    assert re.fullmatch(r"640 \[\d+, \d+\]", choices.rows[0][1])


ROC = {name: roc(one) for name, one in TABLES.items()}
COSTS = {name: cost_curve(one) for name, one in TABLES.items()}


@pytest.fixture(scope="module")
def decision():
    return decide(TABLES, Condition(fp=1, fn=3))


def test_the_hull_lies_above_all_curves(decision, valid):
    chart = valid(hull_chart(ROC, hull(TABLES), [decision]))
    outline = sorted((row["x"], row["y"]) for row in rows(chart) if "place" in row and "name" not in row)
    x, y = np.array(outline).T
    for curve in ROC.values():
        assert (np.interp(curve.x, x, y) >= curve.y - 1e-5).all()


def test_the_chosen_point_and_its_line_are_marked_on_request(decision):
    without, with_ = (len(hull_chart(ROC, hull(TABLES), one)["layer"]) for one in ([], [decision]))
    assert with_ > without


def test_bands_cover_all_costs_without_gaps(decision, valid):
    chart = valid(cost_chart(COSTS, decision))
    bands = sorted((row["low"], row["high"]) for row in rows(chart) if "slopes" in row)
    assert (bands[0][0], bands[-1][1]) == (0, 1)
    assert all(a[1] == pytest.approx(b[0]) for a, b in pairwise(bands))
    assert any("these costs" in str(row.get("label")) for row in rows(chart))
    assert not any("these costs" in str(row.get("label")) for row in rows(cost_chart(COSTS, decision, chosen=False)))


def test_each_threshold_is_a_line_in_cost_space(valid):
    chart = valid(cost_space_chart(COSTS, {"nb": np.array([[0.0, 1.0], [0.2, 0.4]])}))
    lines = [row for row in rows(chart) if "line" in row]
    assert [(row["x"], row["y"]) for row in lines] == [(0, 0.0), (1, 1.0), (0, 0.2), (1, 0.4)]


def test_decisions_have_no_regret(valid):
    data = {"y": [1, 0, 1, 0, 1, 0] * 9, "s": [0.9, 0.1, 0.4, 0.6, 0.7, 0.2] * 9, "d": [1, 0, 1, 0, 0, 1] * 9}
    both = ss.evaluate(data, truth="y", scores="s", decisions="d")
    found = both.regret((3, 10))
    assert [note.code for note in found.notes] == ["SS195"]
    assert valid(region_chart(both.curves("cost"), found))
    (section,) = view.report(both, found).sections
    assert section.blocks[0].key == "decision"
    with pytest.raises(ConditionError, match="none of the models has a threshold"):
        ss.evaluate(data, truth="y", decisions="d").regret((3, 10))
