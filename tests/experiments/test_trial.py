import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.experiments.data import datasets_of
from scorespace.experiments.learners import learners_of
from scorespace.experiments.resampling import parse
from scorespace.experiments.trial import judge_of, studied

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


def test_a_learner_is_tried_as_scikit_learn_would():
    (data,), (learner,) = datasets_of({"iris": (X, NAMES)}), learners_of({"nb": GaussianNB()})
    split = parse("3").splits(data, 0)[0]
    found = judge_of(data, "acc").score(learner, split, 0, train=True)
    model = GaussianNB().fit(X[split.train], NAMES[split.train])
    assert found.test == pytest.approx(model.score(X[split.test], NAMES[split.test]))
    assert found.training == pytest.approx(model.score(X[split.train], NAMES[split.train]))
    assert np.isnan(judge_of(data).score(learner, split, 0).training)


def test_the_usual_measure():
    (classes,) = datasets_of({"iris": (X, NAMES)})
    (two,) = datasets_of({"iris": (X, Y == 1)})
    (numbers,) = datasets_of({"iris": (X, X[:, 0])})
    assert [str(judge_of(one).spec) for one in (classes, two, numbers)] == ["auc[hand_till]", "auc", "r2"]
    assert judge_of(classes, "tpr", positive="setosa").positive == "setosa"
    with pytest.raises(MeasureError, match="neither end of prevalence"):
        judge_of(two, "prevalence")


def test_a_study_is_of_one_learner_on_one_data_set():
    with pytest.raises(ScoreSpaceError) as error:
        studied(["knn", "pet"], (X, NAMES))
    assert str(error.value) == (
        "a study is of one learner on one data set.\n  seen: 'knn', 'pet' on 'data'\n  hint: ss.benchmark takes several"
    )
