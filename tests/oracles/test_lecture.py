"""The worked examples of the lecture slides, recomputed with ROCR, pROC and R."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from oracles.load import reference
from scorespace.costs import Condition
from scorespace.curves import hull, roc
from scorespace.decisions import best_threshold
from scorespace.inference.auc_variance import delong_interval
from scorespace.measures import average, find
from scorespace.measures.confusion import acc, f1, tnr, tpr, youden
from scorespace.measures.cost import cost
from scorespace.measures.ranking import auc, u
from scorespace.tables import Counts, confusion, score_table

RANKED = ("practical_method_20", "shavlik_10", "threshold_12")
VALVES = ("c1", "c2", "c3")


def example(name):
    case = reference("lecture_examples")[name]
    return score_table(case["label"], case["score"]), case


def valve(name):
    case = reference("lecture_examples")["valve"][name]
    return Counts(case["TP"], case["FP"], case["FN"], case["TN"]), case


def three_classes():
    case = reference("lecture_examples")["multiclass"]
    return confusion(case["confusion_rows_actual"]), case


@pytest.mark.parametrize("name", RANKED)
def test_auc(name):
    table, theirs = example(name)
    assert auc(table) == pytest.approx(theirs["auc"], abs=1e-9)


@pytest.mark.parametrize("name", RANKED)
def test_u(name):
    table, theirs = example(name)
    assert u(table) == pytest.approx(theirs["U"], abs=1e-9)


@pytest.mark.parametrize("name", RANKED)
def test_delong_interval(name):
    table, theirs = example(name)
    low, _, high = theirs["delong_ci95"]
    assert_allclose(delong_interval(table), (low, high), rtol=1e-9)


@pytest.mark.parametrize(("measure", "key"), [(acc, "accuracy"), (f1, "f1")])
@pytest.mark.parametrize("name", RANKED)
def test_best_value(name, measure, key):
    table, theirs = example(name)
    assert best_threshold(table, measure).value == pytest.approx(theirs[f"best_{key}"], abs=1e-9)


@pytest.mark.parametrize(("measure", "key"), [(acc, "accuracy"), (f1, "f1")])
@pytest.mark.parametrize("name", RANKED)
def test_best_threshold_is_the_highest_of_the_best(name, measure, key):
    table, theirs = example(name)
    assert best_threshold(table, measure).threshold == max(theirs[f"best_{key}_thresholds"])


@pytest.mark.parametrize("name", RANKED)
def test_youden_threshold_makes_the_same_decisions(name):
    table, theirs = example(name)
    ours = best_threshold(table, youden).threshold
    assert table.at(ours) == table.at(theirs["youden_best_threshold_midpoint"]["threshold"])


@pytest.mark.parametrize("name", RANKED)
def test_rates_at_the_youden_threshold(name):
    table, theirs = example(name)
    chosen, expected = table.at(best_threshold(table, youden).threshold), theirs["youden_best_threshold_midpoint"]
    assert tnr(chosen) == pytest.approx(expected["specificity"], rel=1e-9)
    assert tpr(chosen) == pytest.approx(expected["sensitivity"], rel=1e-9)


@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize(("key", "bounds"), [("fpr_0_0.2", {"fpr_high": 0.2}), ("tpr_0.8_1", {"tpr_low": 0.8})])
@pytest.mark.parametrize("name", RANKED)
def test_partial_area(name, key, bounds, corrected):
    table, theirs = example(name)
    area = roc(table).partial_area(**bounds, corrected=corrected)
    assert area == pytest.approx(theirs[f"pauc_{key}" + "_mcclish" * corrected], abs=1e-9)


@pytest.mark.parametrize("name", RANKED)
def test_hull(name):
    table, theirs = example(name)
    assert_allclose(hull(table).x, theirs["hull_fpr"], rtol=1e-9)
    assert_allclose(hull(table).y, theirs["hull_tpr"], rtol=1e-9)


@pytest.mark.parametrize("count", ["TP", "FP", "FN", "TN"])
def test_outcomes_at_a_threshold(count):
    # The slide says 6, 2, 1, 3: it takes a score of 0.40 for one above 0.42.
    table, theirs = example("threshold_12")
    assert getattr(table.at(0.42), count.lower()) == theirs["T_0.42"][count]


@pytest.mark.parametrize("name", ["accuracy", "precision", "recall", "f1"])
def test_measure_at_a_threshold(name):
    table, theirs = example("threshold_12")
    assert find(name)(table.at(0.42)) == pytest.approx(theirs["T_0.42"][name], abs=1e-9)


@pytest.mark.parametrize("rate", ["error", "tpr", "fnr", "tnr", "fpr", "ppv", "npv", "macro_acc"])
@pytest.mark.parametrize("name", VALVES)
def test_valve_rate(name, rate):
    counts, theirs = valve(name)
    measure = find("macro_accuracy" if rate == "macro_acc" else rate)
    assert measure(counts) == pytest.approx(theirs[rate], abs=1e-9, nan_ok=True)


def test_precision_of_the_valve_rule_that_never_fires_is_undefined():
    counts, theirs = valve("c2")
    assert np.isnan(theirs["ppv"])
    assert find("ppv").reason(find("ppv")(counts)) == "undefined: nothing is predicted positive"


@pytest.mark.parametrize("name", VALVES)
def test_valve_cost_per_unit(name):
    counts, theirs = valve(name)
    assert cost(counts, fp=100, fn=2000) == pytest.approx(theirs["cost_per_unit"], abs=1e-9)


def test_valve_slope():
    slope = Condition(fp=100, fn=2000, prevalence=0.005).slope()
    assert slope == pytest.approx(reference("lecture_examples")["valve"]["slope"], abs=1e-9)


def test_three_class_accuracy():
    table, theirs = three_classes()
    assert acc(table) == pytest.approx(theirs["accuracy"], abs=1e-9)


@pytest.mark.parametrize("name", ["precision", "recall", "f1"])
def test_three_class_measure_per_class(name):
    table, theirs = three_classes()
    assert_allclose(find(name)(table.one_vs_rest), theirs[name], rtol=1e-9)


@pytest.mark.parametrize("how", ["macro", "weighted"])
def test_three_class_average(how):
    table, theirs = three_classes()
    assert average(f1, how)(table) == pytest.approx(theirs[f"{how}_f1"], abs=1e-9)
