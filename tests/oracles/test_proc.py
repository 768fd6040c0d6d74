"""pROC: areas, DeLong, partial areas, coordinates and best thresholds."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from oracles.load import columns, reference
from scorespace.costs import Condition
from scorespace.curves import roc
from scorespace.decisions import best_threshold
from scorespace.inference.auc_variance import delong_interval, delong_variance
from scorespace.inference.estimate import estimate
from scorespace.measures import parse
from scorespace.measures.confusion import tnr, tpr, youden
from scorespace.measures.cost import cost
from scorespace.measures.ranking import auc
from scorespace.tables import score_table

PREDICTORS = ("s100b", "ndka")
EDGE_CASES = ("ties", "below_half", "perfect", "constant", "one_pos", "big_normal")
REGIONS = range(12)  # six ranges of specificity, six of sensitivity


def asah(name):
    given = columns("asah")
    return score_table(given["outcome"], given[name], positive="Poor"), reference("proc_asah")["per_predictor"][name]


def edge_case(name):
    case = reference("proc_edge_cases")[name]
    return score_table(case["y"], case["s"]), case


def rates(focus, bounds):
    """pROC names a region by specificity or sensitivity, from high to low."""
    high, low = bounds
    if focus == "specificity":
        return {"fpr_low": 1 - high, "fpr_high": 1 - low}
    return {"tpr_low": low, "tpr_high": high}


@pytest.mark.parametrize("name", PREDICTORS)
def test_class_totals(name):
    table, theirs = asah(name)
    assert (table.n_pos, table.n_neg) == (theirs["n_cases"], theirs["n_controls"])


@pytest.mark.parametrize("name", PREDICTORS)
def test_auc(name):
    table, theirs = asah(name)
    assert auc(table) == pytest.approx(theirs["auc"], abs=1e-9)


@pytest.mark.parametrize("name", PREDICTORS)
def test_delong_variance(name):
    table, theirs = asah(name)
    assert delong_variance(table) == pytest.approx(theirs["delong_var"], rel=1e-9)


@pytest.mark.parametrize("percent", [90, 95, 99])
@pytest.mark.parametrize("name", PREDICTORS)
def test_delong_interval(name, percent):
    table, theirs = asah(name)
    low, _, high = theirs[f"ci{percent}"]
    assert_allclose(delong_interval(table, percent / 100), (low, high), rtol=1e-9)


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("name", PREDICTORS)
def test_partial_area(name, region):
    table, theirs = asah(name)
    region = theirs["partial"][region]
    area = roc(table).partial_area(**rates(region["focus"], region["range"]))
    assert area == pytest.approx(region["pauc"], abs=1e-9)


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("name", PREDICTORS)
def test_corrected_partial_area(name, region):
    # One of these lies below the diagonal; pROC's default hides that value, its full answer has it.
    table, theirs = asah(name)
    region = theirs["partial"][region]
    area = roc(table).partial_area(**rates(region["focus"], region["range"]), corrected=True)
    assert area == pytest.approx(region["pauc_corrected"], abs=1e-9)


@pytest.mark.parametrize("name", PREDICTORS)
def test_sensitivity_at_specificity(name):
    table, theirs = asah(name)
    at = theirs["coords_spec"]
    assert_allclose(roc(table).tpr_at(1 - np.array(at["specificity"])), at["sensitivity"], rtol=1e-9)


@pytest.mark.parametrize("name", PREDICTORS)
def test_specificity_at_sensitivity(name):
    table, theirs = asah(name)
    at = theirs["coords_sens"]
    assert_allclose(1 - roc(table).fpr_at(at["sensitivity"]), at["specificity"], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", PREDICTORS)
def test_youden_threshold_makes_the_same_decisions(name):
    table, theirs = asah(name)
    ours = best_threshold(table, youden).threshold
    assert table.at(ours) == table.at(theirs["best_youden"]["threshold"])


@pytest.mark.parametrize("name", PREDICTORS)
def test_rates_at_the_youden_threshold(name):
    table, theirs = asah(name)
    chosen = table.at(best_threshold(table, youden).threshold)
    assert tnr(chosen) == pytest.approx(theirs["best_youden"]["specificity"], rel=1e-9)
    assert tpr(chosen) == pytest.approx(theirs["best_youden"]["sensitivity"], rel=1e-9)


@pytest.mark.parametrize("name", PREDICTORS)
def test_least_cost_threshold(name):
    # A miss costs twice a false alarm, and 20 % are positive: the false positives of the sample are reweighted.
    table, theirs = asah(name)
    slope = Condition(fp=1, fn=2, prevalence=0.2).slope()
    ours = best_threshold(table, cost, fp=slope * float(table.n_pos / table.n_neg), fn=1).threshold
    assert table.at(ours) == table.at(theirs["best_youden_w_cost2_prev02"]["threshold"])


@pytest.mark.parametrize("name", EDGE_CASES)
def test_edge_case_auc(name):
    table, theirs = edge_case(name)
    assert auc(table) == pytest.approx(theirs["auc"], abs=1e-9)


@pytest.mark.parametrize("name", [name for name in EDGE_CASES if name != "one_pos"])
def test_edge_case_delong_variance(name):
    table, theirs = edge_case(name)
    assert delong_variance(table) == pytest.approx(theirs["delong_var"], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in EDGE_CASES if name != "one_pos"])
def test_edge_case_delong_interval(name):
    table, theirs = edge_case(name)
    low, _, high = theirs["ci95"]
    assert_allclose(delong_interval(table), (low, high), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("focus", ["spec", "sens"])
@pytest.mark.parametrize("name", EDGE_CASES)
def test_edge_case_partial_area(name, focus, corrected):
    table, theirs = edge_case(name)
    bounds = {"fpr_high": 0.2} if focus == "spec" else {"tpr_low": 0.8}
    area = roc(table).partial_area(**bounds, corrected=corrected)
    assert area == pytest.approx(theirs[f"pauc_{focus}_1_.8" + "_corr" * corrected], abs=1e-9)


def test_a_single_positive_has_no_variance():
    table, theirs = edge_case("one_pos")
    assert theirs["delong_var"] is None
    assert math.isnan(delong_variance(table))


def test_a_single_positive_has_no_delong_interval_and_says_why():
    table, _ = edge_case("one_pos")
    found = estimate(parse("auc"), table, method="delong")
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.reason == "no DeLong interval: a class has fewer than two cases"


def test_perfect_separation_has_no_width_by_delong_and_one_by_default():
    table, _ = edge_case("perfect")
    found = estimate(parse("auc"), table, method="delong")
    assert (found.value, found.low, found.high) == (1, 1, 1)
    usual = estimate(parse("auc"), table)
    assert usual.low < usual.high == 1


def test_auc_below_one_half_is_not_flipped():
    table, theirs = edge_case("below_half")
    assert auc(table) == pytest.approx(1 - theirs["auto_direction_auc"], abs=1e-9)
