"""Trees: leaves by hand, and pruning that scikit-learn's own search chooses, too."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from scorespace.experiments.trees import ProbabilityTree, PrunedClassifier, PrunedRegressor


def test_leaves_are_smoothed():
    """x < 2.5 holds three of a, the rest three of b and one of a that no split parts: (n + 1) / (N + 2)."""
    x = np.array([[1.0], [2.0], [2.0], [3.0], [3.0], [3.0], [3.0]])
    y = np.array(["a", "a", "a", "b", "b", "b", "a"])
    fitted = ProbabilityTree(leaf=1).fit(x, y)
    assert fitted.predict_proba(np.array([[0.0], [9.0]])) == pytest.approx(np.array([[4 / 5, 1 / 5], [2 / 6, 4 / 6]]))
    assert fitted.predict(np.array([[0.0], [9.0]])).tolist() == ["a", "b"]


def test_without_laplace_it_is_the_tree():
    x, y = load_breast_cancer(return_X_y=True)
    ours = ProbabilityTree(leaf=5, laplace=0.0, random_state=3).fit(x, y)
    theirs = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=5, random_state=3).fit(x, y)
    assert ours.predict_proba(x) == pytest.approx(theirs.predict_proba(x), abs=1e-12)


def test_pruning_is_what_a_search_over_the_same_folds_finds():
    x, y = load_breast_cancer(return_X_y=True)
    ours = PrunedClassifier(random_state=1).fit(x, y)
    grid = {"ccp_alpha": ours._strengths(x, y)}
    folds = StratifiedKFold(5, shuffle=True, random_state=1)
    search = GridSearchCV(DecisionTreeClassifier(min_samples_leaf=2, random_state=1), grid, cv=folds).fit(x, y)
    best = search.cv_results_["mean_test_score"]
    chosen = float(ours.tree_.ccp_alpha)
    assert best[np.flatnonzero(grid["ccp_alpha"] == chosen)[0]] == pytest.approx(best.max(), abs=2e-3)
    assert ours.tree_.get_n_leaves() < DecisionTreeClassifier(random_state=1).fit(x, y).get_n_leaves()


def test_numbers_are_pruned_too():
    x, y = load_diabetes(return_X_y=True)
    fitted = PrunedRegressor(random_state=0).fit(x[:300], y[:300])
    assert 1 < fitted.tree_.get_n_leaves() < 100
    assert fitted.score(x[300:], y[300:]) > 0
