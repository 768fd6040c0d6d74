"""Costs in other programs: the lecture's valves, ROCR's cost curve, pROC's thresholds, hmeasure's weighted loss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from oracles.load import columns, reference
from scorespace.costs import Condition, CostMatrix
from scorespace.curves import brier_curve, cost_curve, optimal_curve, roc
from scorespace.decisions import best_threshold, choose_under, decide, decide_multiclass
from scorespace.measures import find, parse
from scorespace.tables import confusion, score_table

INPUTS = ("simple", "ties")
PREDICTORS = ("s100b", "ndka")
RANKED = ("practical_method_20", "shavlik_10", "threshold_12")


def rocr(name):
    given = columns(f"rocr_{name}_input")
    return score_table(given["label"], given["score"]), reference("rocr_summary")[name]


def asah(name):
    given = columns("asah")
    return score_table(given["outcome"], given[name], positive="Poor"), reference("proc_asah")["per_predictor"][name]


# --- the lecture


def valves():
    given = reference("lecture_examples")["valve"]
    cells = {
        name: [[given[name][k] for k in pair] for pair in (("TP", "FN"), ("FP", "TN"))] for name in ("c1", "c2", "c3")
    }
    return {
        name: confusion(matrix, classes=["broken", "fine"], positive="broken") for name, matrix in cells.items()
    }, given


def test_valves():
    models, theirs = valves()
    found = decide(models, Condition(fp=100, fn=2000))
    assert found.slope == pytest.approx(theirs["slope"], abs=1e-9)
    assert found.best.model == "c1"
    for choice in found.choices:
        assert choice.relative_cost == pytest.approx(theirs[choice.model]["M"], abs=1e-9)
        assert choice.cost_per_case == pytest.approx(theirs[choice.model]["cost_per_unit"], abs=1e-9)
        assert choice.cost_per_case * 100_000 == pytest.approx(theirs[choice.model]["total_cost"])


def test_total_cost_of_three_classes():
    # The slide has a row for each decision, we for each actual class.
    theirs = reference("lecture_examples")["multiclass_cost"]
    costs = CostMatrix(("a", "b", "c"), np.transpose(theirs["cost_rows_predicted"]))
    counts = np.transpose(theirs["counts_rows_predicted"])
    assert costs.total(counts) == theirs["total"]
    assert decide_multiclass({"slide": confusion(counts, classes=costs.classes)}, costs).totals == {
        "slide": theirs["total"]
    }


@pytest.mark.parametrize("name", RANKED)
def test_closest_to_the_corner_in_the_lecture(name):
    theirs = reference("lecture_examples")[name]
    table = score_table(theirs["label"], theirs["score"])
    ours = best_threshold(table, find("corner")).threshold
    assert table.at(ours) == table.at(theirs["closest_topleft"]["threshold"])


# --- ROCR


@pytest.mark.parametrize("name", INPUTS)
def test_cost_curve(name):
    table, theirs = rocr(name)
    curve = cost_curve(table)
    assert_allclose(curve.x, theirs["ecost"]["probability_cost_function"], rtol=0, atol=1e-9)
    assert_allclose(curve.y, theirs["ecost"]["normalized_expected_cost"], rtol=0, atol=1e-9)


def test_area_under_the_cost_curve():
    table, theirs = rocr("simple")
    x, y = theirs["ecost"]["probability_cost_function"], theirs["ecost"]["normalized_expected_cost"]
    assert cost_curve(table).area() == pytest.approx(np.trapezoid(y, x), abs=1e-9)
    assert cost_curve(table).area() == pytest.approx(0.126317, abs=5e-7)  # METHODS §6


@pytest.mark.parametrize(("column", "costs"), [("cost", {}), ("cost_fp2_fn5", {"fp": 2, "fn": 5})])
@pytest.mark.parametrize("name", INPUTS)
def test_expected_cost_at_every_cutoff(name, column, costs):
    table, _ = rocr(name)
    curve, theirs = roc(table), columns(f"rocr_{name}_by_cutoff")[column]
    ours = Condition(**costs).cost(curve.x, curve.y, float(table.n_pos / table.total))
    assert_allclose(ours, theirs, rtol=0, atol=1e-9)
    assert decide({"it": table}, Condition(**costs)).best.cost_per_case == pytest.approx(min(theirs), abs=1e-9)


def test_area_of_the_brier_curve_is_the_squared_error_of_rocr():
    table, theirs = rocr("simple")
    assert brier_curve(table).area() == pytest.approx(theirs["rmse"] ** 2, abs=1e-9)


def test_refinement_and_calibration_loss():
    table, _ = rocr("simple")  # METHODS §7
    assert optimal_curve(table).area() == pytest.approx(0.125853, abs=5e-7)
    assert brier_curve(table).area() - optimal_curve(table).area() == pytest.approx(0.041810, abs=1e-6)


# --- pROC


@pytest.mark.parametrize(("rule", "key"), [("youden", "best_youden"), ("corner", "best_topleft")])
@pytest.mark.parametrize("name", PREDICTORS)
def test_rule_for_the_threshold(name, rule, key):
    table, theirs = asah(name)
    best = choose_under({name: table}, parse(rule)).best
    assert best.counts == table.at(theirs[key]["threshold"])
    assert best.counts.tp / best.counts.p == pytest.approx(theirs[key]["sensitivity"], abs=1e-9)
    assert best.counts.tn / best.counts.n == pytest.approx(theirs[key]["specificity"], abs=1e-9)


def test_the_two_rules_differ_for_ndka():
    table, theirs = asah("ndka")
    assert theirs["best_youden"]["threshold"] != theirs["best_topleft"]["threshold"]
    assert choose_under({"a": table}, parse("youden")).best != choose_under({"a": table}, parse("corner")).best


@pytest.mark.parametrize("name", PREDICTORS)
def test_least_cost_at_another_prevalence(name):
    # pROC's best.weights = c(2, 0.2): a miss costs twice a false alarm, one case of five is positive.
    table, theirs = asah(name)
    found = decide({name: table}, Condition(fp=1, fn=2, prevalence=0.2)).choices[0]
    expected = theirs["best_youden_w_cost2_prev02"]
    assert found.counts == table.at(expected["threshold"])
    price = 0.2 * 2 * (1 - expected["sensitivity"]) + 0.8 * (1 - expected["specificity"])
    assert found.cost_per_case == pytest.approx(price, abs=1e-9)


# --- hmeasure


@pytest.mark.parametrize("key", ["MWL", "MWL_SR1"])
def test_minimum_weighted_loss(key):
    # Twice the least cost when a false alarm and a miss cost k and 1 − k, k = SR/(1 + SR).
    table, _ = rocr("simple")
    theirs = reference("hmeasure")["rocr_simple"]
    ratio = 1 if key == "MWL_SR1" else theirs["severity_ratio_default"]
    k = ratio / (1 + ratio)
    expected = theirs[key] if key == "MWL_SR1" else theirs["default"][key]
    assert 2 * decide({"it": table}, Condition(fp=k, fn=1 - k)).best.cost_per_case == pytest.approx(expected, abs=1e-9)


# --- rows: predicted class


def test_python_calls_take_rows():
    theirs = reference("lecture_examples")["multiclass_cost"]
    costs = CostMatrix.of("abc", theirs["cost_rows_predicted"], rows="predicted")
    table = confusion(theirs["counts_rows_predicted"], classes="abc", rows="predicted")
    assert decide_multiclass({"m": table}, costs).totals == {"m": theirs["total"]}
