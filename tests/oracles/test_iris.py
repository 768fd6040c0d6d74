"""WEKA's naive Bayes on iris: decisions against WEKA's own table and mlr3measures."""

import numpy as np
import pytest

from oracles.load import columns, reference, weka_classes, weka_kappa
from scorespace.measures import average, find
from scorespace.measures.ranking import auc
from scorespace.tables import confusion, score_table

CLASSES = ("Iris-setosa", "Iris-versicolor", "Iris-virginica")
PER_CLASS = ("tpr", "fpr", "ppv", "recall", "f1")


@pytest.fixture(scope="module")
def decisions():
    given = columns("weka_iris_nb_predictions")
    return confusion(given["actual"], given["predicted"])


def area_of(name):
    given = columns("weka_iris_nb_predictions")
    return auc(score_table(given["actual"], given[f"p_{name}"], positive=name))


def test_matrix_is_wekas(decisions):
    assert decisions.classes == CLASSES
    assert decisions.matrix.tolist() == [[50, 0, 0], [0, 48, 2], [0, 4, 46]]


@pytest.mark.parametrize("name", ["acc", "bacc", "mcc"])
def test_mlr3measures(decisions, name):
    assert find(name)(decisions) == pytest.approx(reference("mlr3measures_iris")["iris_NB"][name], abs=1e-9)


def test_kappa(decisions):
    assert round(find("kappa")(decisions), 4) == weka_kappa()


@pytest.mark.parametrize("measure", PER_CLASS)
@pytest.mark.parametrize("name", CLASSES)
def test_per_class(decisions, name, measure):
    value = find(measure)(decisions.counts_of(CLASSES.index(name)))
    assert round(value, 3) == weka_classes()[name][measure]


@pytest.mark.parametrize("measure", PER_CLASS)
def test_weighted_average(decisions, measure):
    value = float(average(find(measure), "weighted")(decisions))
    assert round(value, 3) == weka_classes()["Weighted Avg."][measure]


@pytest.mark.parametrize("name", CLASSES)
def test_area_per_class(name):
    assert round(area_of(name), 3) == weka_classes()[name]["auc"]


def test_mean_of_the_areas():
    mean = np.mean([area_of(name) for name in CLASSES])
    assert mean == pytest.approx(reference("mlr3measures_iris")["iris_NB"]["aunu"], abs=1e-9)
