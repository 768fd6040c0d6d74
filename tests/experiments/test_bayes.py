"""Naive Bayes: scikit-learn's on numbers and on levels, and a count by hand on both."""

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from scorespace.experiments.bayes import MixedNaiveBayes

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
