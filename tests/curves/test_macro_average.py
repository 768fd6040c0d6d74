"""Averages of the curves of several classes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.strategies import samples
from oracles.load import columns, reference
from scorespace.curves import pr, roc
from scorespace.curves.macro_average import average_pr, average_roc
from scorespace.tables import score_table

CLASSES = ("Iris-setosa", "Iris-versicolor", "Iris-virginica")
ONE_CLASS = score_table([0, 0, 0], [0.2, 0.5, 0.9])

several = st.lists(samples(both=True), min_size=1, max_size=4)


def iris(curve):
    given = columns("weka_iris_nb_predictions")
    return [curve(score_table(given["actual"], given[f"p_{name}"], positive=name)) for name in CLASSES]


def test_points_by_hand():
    # One curve goes straight up to the corner, the other is the diagonal.
    perfect, constant = roc(score_table([1, 0], [2, 1])), roc(score_table([1, 0], [1, 1]))
    curve = average_roc([perfect, constant])
    assert list(zip(curve.x.tolist(), curve.y.tolist(), strict=True)) == [(0, 0), (0, 0.5), (1, 1)]


def test_area_is_the_macro_auc_of_mlr3measures():
    wanted = reference("mlr3measures_iris")["iris_NB"]["aunu"]
    assert average_roc(iris(roc)).area() == pytest.approx(wanted, abs=1e-9)


@settings(max_examples=50)
@given(several)
def test_area_is_the_mean_of_the_areas(found):
    curves = [roc(sample.table()) for sample in found]
    assert average_roc(curves).area() == pytest.approx(np.mean([curve.area() for curve in curves]), abs=1e-12)


@settings(max_examples=50)
@given(several)
def test_it_rises_from_corner_to_corner(found):
    curve = average_roc([roc(sample.table()) for sample in found])
    assert (curve.x[0], curve.y[0], curve.x[-1], curve.y[-1]) == pytest.approx((0, 0, 1, 1))
    assert (np.diff(curve.x) >= 0).all()
    assert (np.diff(curve.y) >= 0).all()


@settings(max_examples=50)
@given(samples(both=True))
def test_the_average_of_one_is_itself(sample):
    curve = roc(sample.table())
    alone = average_roc([curve]).area()
    assert alone == pytest.approx(curve.area(), abs=1e-12)
    assert alone == pytest.approx(average_roc([curve, curve]).area(), abs=1e-12)


@settings(max_examples=50)
@given(several)
def test_area_of_precision_is_the_mean_of_the_areas_too(found):
    # Its bends are drawn in steps of 0.01 of recall, so nearly; a first false alarm bends from precision 0.
    curves = [pr(sample.table()) for sample in found]
    assert average_pr(curves).area() == pytest.approx(np.mean([curve.area() for curve in curves]), abs=0.01)


def test_precision_by_hand():
    # a: TP, FP, TP; b: FP, TP, TP. At recall ½ precision is 1 or ½ on reaching it, then ½ of a after its false alarm.
    curves = [pr(score_table([1, 0, 1], [3, 2, 1])), pr(score_table([0, 1, 1], [3, 2, 1]))]
    curve = average_pr(curves)
    halfway = curve.y[curve.x == 0.5].tolist()
    assert halfway == pytest.approx([(1 + 1 / 2) / 2, (1 / 2 + 1 / 2) / 2])
    assert curve.y[0] == pytest.approx((1 + 0) / 2)
    assert curve.y[-1] == pytest.approx(2 / 3)


@pytest.mark.parametrize(("curve", "averaged"), [(roc, average_roc), (pr, average_pr)])
def test_classes_without_cases_are_left_out(curve, averaged):
    usual = curve(score_table([1, 0, 1, 0], [4, 3, 2, 1]))
    assert averaged([usual, curve(ONE_CLASS)]).area() == averaged([usual]).area()


@pytest.mark.parametrize(("curve", "averaged"), [(roc, average_roc), (pr, average_pr)])
def test_without_any_class_it_is_undefined_and_not_zero(curve, averaged):
    assert np.isnan(averaged([curve(ONE_CLASS)]).area())


def test_no_single_threshold_reaches_it():
    assert np.isnan(average_roc(iris(roc)).threshold).all()
