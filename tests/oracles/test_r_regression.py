"""Predicted numbers: R 4.2.2, and the worked example of the lecture slides computed again with R."""

import pytest

import scorespace as ss
from oracles.load import reference
from scorespace.curves import rroc
from scorespace.measures import find
from scorespace.tables import residual_table


@pytest.mark.parametrize("name", ["pearson", "spearman", "mae", "mse", "rmse", "rae", "rse", "rrse"])
def test_measures(name):
    theirs = reference("r_regression")
    ours = find(name)(residual_table(theirs["y"], theirs["yhat"]))
    assert ours == pytest.approx(theirs[name], rel=1e-12)


def test_errors_and_the_area_over_the_curve():
    theirs = reference("r_regression")
    table = residual_table(theirs["y"], theirs["yhat"])
    assert ss.kendall(table) == pytest.approx(theirs["kendall_taub"], rel=1e-12)
    assert ss.bias(table) == pytest.approx(theirs["error_mean"], rel=1e-9)
    assert ss.err_var(table) == pytest.approx(theirs["error_var_pop"], rel=1e-12)
    assert rroc(table, axes="sum").area() == pytest.approx(theirs["aoc_expected_half_sumsq"], rel=1e-12)
    assert rroc(table).area() == pytest.approx(theirs["error_var_pop"] / 2, rel=1e-12)


@pytest.mark.parametrize("name", ["mae", "mse", "rmse", "rae", "rse", "pearson", "spearman", "bias"])
def test_the_lecture_example(name):
    theirs = reference("lecture_examples")["regression"]
    assert find(name)(residual_table(theirs["actual"], theirs["pred"])) == pytest.approx(theirs[name], rel=1e-12)


def test_the_area_of_the_lecture_example():
    theirs = reference("lecture_examples")["regression"]
    table = residual_table(theirs["actual"], theirs["pred"])
    assert ss.aoc(table) == pytest.approx(theirs["aoc_mean_axes"], rel=1e-12)
    assert rroc(table).area() == pytest.approx(theirs["aoc_mean_axes"], rel=1e-12)
    assert ss.err_var(table) == pytest.approx(theirs["var_pop"], rel=1e-12)
