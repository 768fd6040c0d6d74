"""One fit and many: as cross_val_predict has it, and a failure that stops nothing."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import LeaveOneOut, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from scorespace.errors import ScoreSpaceError
from scorespace.experiments.data import Dataset, resolve_datasets
from scorespace.experiments.fit import check_task, fit_all, fit_predict
from scorespace.experiments.leakage_checks import TrainTestSplit
from scorespace.experiments.learners import resolve_learners
from scorespace.experiments.resampling import parse_resampling
from scorespace.experiments.splits import repeat_seed

X, Y = load_breast_cancer(return_X_y=True)
(WDBC,) = resolve_datasets({"wdbc": (X, Y)})


def test_cross_val_predict_agrees():
    (bayes,) = resolve_learners("naive_bayes")
    done = fit_all(bayes, WDBC, parse_resampling("10").splits(WDBC), 0)
    folds = StratifiedKFold(10, shuffle=True, random_state=repeat_seed(0, 0))
    wanted = cross_val_predict(GaussianNB(), X, Y, cv=folds, method="predict_proba")
    found = np.empty_like(wanted)
    found[done.columns["row"]] = np.stack([done.columns["p_0"], done.columns["p_1"]], axis=1)
    assert found == pytest.approx(wanted, abs=1e-9)
    assert np.array_equal(done.columns["truth"], Y[done.columns["row"]])


def test_leave_one_out_of_one_nearest_neighbour():
    """By brute force: the class of the nearest other row; and scikit-learn's."""
    few = X[:60]
    data = Dataset("few", {f"x{k}": column for k, column in enumerate(few.T)}, Y[:60], "classes")
    (nearest,) = resolve_learners("knn(k=1, scale=false)")
    done = fit_all(nearest, data, parse_resampling("loo").splits(data), 0)
    distance = ((few[:, None] - few) ** 2).sum(axis=-1)
    np.fill_diagonal(distance, np.inf)
    assert np.array_equal(done.columns["p_1"], Y[:60][distance.argmin(axis=1)])
    theirs = cross_val_predict(KNeighborsClassifier(1), few, Y[:60], cv=LeaveOneOut())
    assert np.array_equal(done.columns["p_1"], theirs)


def test_leave_one_out_of_the_mean_and_of_least_squares():
    """Closed forms: (sum - y) / (n - 1), and y - e / (1 - h) with the leverages h."""
    x, y = load_diabetes(return_X_y=True)
    (data,) = resolve_datasets({"diabetes": (x[:50], y[:50])})
    mean, linear = resolve_learners(["mean", "linear"])
    splits = parse_resampling("loo").splits(data)
    said = fit_all(mean, data, splits, 0).columns["prediction"]
    assert said == pytest.approx((y[:50].sum() - y[:50]) / 49)
    design = np.column_stack([np.ones(50), x[:50]])
    hat = design @ np.linalg.pinv(design)
    residual = y[:50] - hat @ y[:50]
    said = fit_all(linear, data, splits, 0).columns["prediction"]
    assert said == pytest.approx(y[:50] - residual / (1 - np.diag(hat)), rel=1e-6)
    own = resolve_learners({"own": LinearRegression()})
    assert fit_all(own[0], data, splits, 0).columns["prediction"] == pytest.approx(said, rel=1e-6)


def test_training_rows_are_told_when_asked():
    (tree,) = resolve_learners({"tree": DecisionTreeClassifier(max_depth=3)})
    splits = parse_resampling("2").splits(WDBC)
    plain, both = fit_all(tree, WDBC, splits, 0), fit_all(tree, WDBC, splits, 0, train=True)
    assert not plain.columns["part"].any()
    assert both.columns["part"].sum() == sum(one.train.size for one in splits)
    test = ~both.columns["part"]
    assert np.array_equal(both.columns["p_1"][test], plain.columns["p_1"])


def test_the_fit_to_all_rows_of_a_bootstrap():
    (one,) = resolve_learners("majority")
    done = fit_all(one, WDBC, parse_resampling("bootstrap:2").splits(WDBC), 0)
    whole = done.columns["repeat"] == -1
    assert whole.sum() == WDBC.rows
    assert done.columns["part"][whole].all()
    assert done.columns["p_1"][whole] == pytest.approx(Y.mean())


class Moody(ClassifierMixin, BaseEstimator):
    """Fails where the first training row is not the first row."""

    def fit(self, x, y):
        if x[0, 0] != X[0, 0]:
            raise RuntimeError("not today\nnor tomorrow")
        self.classes_ = np.unique(y)
        return self

    def predict(self, x):
        return np.full(len(x), self.classes_[0])


def test_a_failed_fit_is_recorded_and_stops_nothing():
    (moody,) = resolve_learners({"moody": Moody()})
    splits = parse_resampling("5").splits(WDBC)
    done = fit_all(moody, WDBC, splits, 0)
    failing = [one.fold for one in splits if one.train[0] != 0]
    assert [(fold, text) for _, fold, text in done.errors] == [
        (fold, "RuntimeError: not today nor tomorrow") for fold in failing
    ]
    assert len(done.splits) == 5
    assert set(done.columns["fold"]) == {0, 1, 2, 3, 4} - set(failing)


def test_a_class_that_training_lacks_gets_nothing():
    data = Dataset("d", {"x": np.arange(6.0)}, np.array(["a", "a", "b", "b", "c", "c"]), "classes")
    (one,) = resolve_learners("naive_bayes")
    found = fit_predict(one, data, TrainTestSplit(0, 0, np.arange(4), np.array([4, 5]))).test
    assert (found[:, 2] == 0).all()
    assert found.sum(axis=1) == pytest.approx(1)


def test_other_labels_to_learn_from():
    (one,) = resolve_learners("majority")
    split = parse_resampling("2").splits(WDBC)[0]
    assert (fit_predict(one, WDBC, split, truth=np.ones(WDBC.rows, dtype=int)).test[:, 1] == 1).all()


def test_a_learner_of_the_wrong_task_is_told():
    with pytest.raises(ScoreSpaceError) as caught:
        check_task(resolve_learners("linear")[0], WDBC)
    assert str(caught.value) == (
        "linear predicts numbers, but the target of wdbc holds classes.\n"
        "  seen: '0', '1'\n"
        '  hint: use another learner, or task="numbers"'
    )
