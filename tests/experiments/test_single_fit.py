import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.experiments.data import resolve_datasets
from scorespace.experiments.learners import resolve_learners
from scorespace.experiments.resampling import parse_resampling
from scorespace.experiments.single_fit import make_split_scorer, resolve_study

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


def test_a_learner_is_tried_as_scikit_learn_would():
    (data,), (learner,) = resolve_datasets({"iris": (X, NAMES)}), resolve_learners({"nb": GaussianNB()})
    split = parse_resampling("3").splits(data, 0)[0]
    found = make_split_scorer(data, "acc").score(learner, split, 0, train=True)
    model = GaussianNB().fit(X[split.train], NAMES[split.train])
    assert found.test == pytest.approx(model.score(X[split.test], NAMES[split.test]))
    assert found.training == pytest.approx(model.score(X[split.train], NAMES[split.train]))
    assert np.isnan(make_split_scorer(data).score(learner, split, 0).training)


def test_the_usual_measure():
    (classes,) = resolve_datasets({"iris": (X, NAMES)})
    (two,) = resolve_datasets({"iris": (X, Y == 1)})
    (numbers,) = resolve_datasets({"iris": (X, X[:, 0])})
    assert [str(make_split_scorer(one).spec) for one in (classes, two, numbers)] == ["auc[hand_till]", "auc", "r2"]
    assert make_split_scorer(classes, "tpr", positive="setosa").positive == "setosa"
    with pytest.raises(MeasureError, match="cannot rank learners"):
        make_split_scorer(two, "prevalence")


def test_a_study_is_of_one_learner_on_one_data_set():
    with pytest.raises(ScoreSpaceError) as error:
        resolve_study(["knn", "pet"], (X, NAMES))
    assert str(error.value) == (
        "a study needs one learner and one data set.\n  seen: 'knn', 'pet' on 'data'\n"
        "  hint: use ss.benchmark for several"
    )
