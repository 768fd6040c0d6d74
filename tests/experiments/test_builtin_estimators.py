"""Naive Bayes: scikit-learn's on numbers and on levels, and a count by hand on both."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.tree import DecisionTreeClassifier

from scorespace.experiments.builtin_estimators import (
    MixedNaiveBayes,
    ProbabilityTree,
    PrunedClassifier,
    PrunedRegressor,
)

SOURCE = np.random.default_rng(0)
TRUTH = SOURCE.integers(0, 3, 200)
NUMBERS = SOURCE.normal(size=(200, 4)) + TRUTH[:, None] * [1, 0, 2, 0.5]
LEVELS = np.stack([SOURCE.integers(0, k, 200) for k in (2, 3, 5)], axis=1).astype(float)


def test_numbers_as_in_scikit_learn():
    ours, theirs = MixedNaiveBayes().fit(NUMBERS, TRUTH), GaussianNB().fit(NUMBERS, TRUTH)
    assert ours.predict_proba(NUMBERS) == pytest.approx(theirs.predict_proba(NUMBERS), abs=1e-12)
    assert np.array_equal(ours.predict(NUMBERS), theirs.predict(NUMBERS))


@pytest.mark.parametrize("laplace", [0.5, 1.0])
def test_levels_as_in_scikit_learn(laplace):
    ours = MixedNaiveBayes(np.ones(3, dtype=bool), laplace).fit(LEVELS, TRUTH)
    theirs = CategoricalNB(alpha=laplace).fit(LEVELS.astype(int), TRUTH)
    assert ours.predict_proba(LEVELS) == pytest.approx(theirs.predict_proba(LEVELS.astype(int)), abs=1e-12)


def test_mixed_is_the_product():
    both = np.concatenate([NUMBERS, LEVELS], axis=1)
    found = MixedNaiveBayes(np.arange(7) >= 4).fit(both, TRUTH).predict_joint_log_proba(both)
    gauss, levels = GaussianNB().fit(NUMBERS, TRUTH), CategoricalNB().fit(LEVELS.astype(int), TRUTH)
    wanted = gauss.predict_joint_log_proba(NUMBERS) + levels.predict_joint_log_proba(LEVELS.astype(int))
    assert found == pytest.approx(wanted - np.log(np.bincount(TRUTH) / 200), abs=1e-9)


def test_what_is_missing_or_unknown_says_nothing():
    nominal = np.array([False, True])
    table = np.array([[1.0, 0], [2.0, 0], [4.0, 1], [np.nan, 1], [6.0, np.nan]])
    fitted = MixedNaiveBayes(nominal).fit(table, np.array([0, 0, 1, 1, 1]))
    nothing = fitted.predict_proba(np.array([[np.nan, np.nan], [np.nan, 7.0]]))
    assert nothing == pytest.approx(np.array([[0.4, 0.6], [0.4, 0.6]]))
    # Class 1: numbers 4 and 6, so mean 5 and variance 1; levels: one of one known, Laplace (1 or 2 + 1) / (2 + 2).
    density = np.exp(-0.5 * (5.0 - np.array([1.5, 5.0])) ** 2 / [0.25, 1.0]) / np.sqrt(
        2 * np.pi * np.array([0.25, 1.0])
    )
    joint = np.array([0.4, 0.6]) * density * np.array([1 / 4, 3 / 4])
    assert fitted.predict_proba(np.array([[5.0, 1.0]])) == pytest.approx((joint / joint.sum())[None], abs=1e-6)


def test_a_column_without_any_number():
    table = np.array([[np.nan, 1.0], [np.nan, 2.0], [np.nan, 5.0], [np.nan, 6.0]])
    truth = np.array([0, 0, 1, 1])
    alone = MixedNaiveBayes().fit(table[:, 1:], truth).predict_proba(table[:, 1:])
    assert MixedNaiveBayes().fit(table, truth).predict_proba(table) == pytest.approx(alone, abs=1e-6)


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
