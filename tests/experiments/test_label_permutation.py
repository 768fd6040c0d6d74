import math

import numpy as np
import pytest
from joblib import parallel_backend
from scipy import stats
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from scorespace.errors import ScoreSpaceError
from scorespace.experiments.label_permutation import PermutationTest, permute_labels


def test_p_counts_the_labels_as_they_are():
    null = np.array([0.4, 0.5, 0.6, 0.7])
    assert PermutationTest("nb", "auc", "high", 0.6, null, 3).p == pytest.approx(3 / 5)
    assert PermutationTest("nb", "err", "low", 0.45, null, 3).p == pytest.approx(2 / 5)
    assert PermutationTest("nb", "auc", "high", 0.9, null, 3).p == pytest.approx(1 / 5)  # never 0
    assert math.isnan(PermutationTest("nb", "auc", "high", math.nan, null, 3).p)


def test_words():
    null = np.linspace(0.4, 0.6, 199)
    assert PermutationTest("nb", "auc", "high", 0.9, null, 3).words == (
        "nb has auc 0.900 on test cases and mean 0.500 with permuted training labels: better than "
        "chance (0 of 199 permutations score at least as well, p = 0.005)."
    )
    assert PermutationTest("nb", "auc", "high", 0.5, null, 3).words == (
        "nb has auc 0.500 on test cases and mean 0.500 with permuted training labels: no evidence that "
        "it is better than chance (100 of 199 permutations score at least as well, p = 0.505)."
    )


def test_signal_is_found_and_test_labels_stay():
    data = make_classification(120, 4, random_state=0)
    found = permute_labels({"nb": GaussianNB()}, data, resampling="2", permutations=19)
    assert found.p == pytest.approx(1 / 20)
    assert abs(float(found.null.mean()) - 0.5) < 0.08
    with parallel_backend("threading"):
        assert found == permute_labels({"nb": GaussianNB()}, data, resampling="2", permutations=19, workers=2)
    assert found.to_dict()["p"] == pytest.approx(1 / 20)
    assert len(found.rows()) == 19
    assert found.words.startswith("nb has auc 0.")


def test_what_is_permuted_is_what_is_learned():
    """1-NN knows the classes without fail, so what it gets wrong is what the permuted training labels say."""
    centre = np.repeat([0.0, 100.0], 60)
    data = (np.random.default_rng(0).normal(size=120) + centre)[:, None], np.repeat([0, 1], 60)
    found = permute_labels("knn(k=1)", data, resampling="2", measure="acc", permutations=40)
    assert found.observed == 1
    assert abs(float(found.null.mean()) - 0.5) < 0.05


def test_noise_is_found_as_often_as_it_should():
    """p is uniform where labels mean nothing: of 30 such data sets few have p ≤ 0.1."""
    draws = np.random.default_rng(3)
    p = []
    for _ in range(30):
        data = draws.normal(size=(40, 2)), np.repeat([0, 1], 20)
        p.append(permute_labels("naive_bayes", data, resampling="holdout:0.5", measure="acc", permutations=9).p)
    rejected = int(np.sum(np.array(p) <= 0.1))
    assert stats.binomtest(rejected, 30, 0.1, alternative="greater").pvalue > 0.01


def test_what_cannot_be_permuted():
    data = np.arange(8.0)[:, None], [0, 1] * 4
    with pytest.raises(ScoreSpaceError, match="permutations=0"):
        permute_labels("naive_bayes", data, permutations=0)
    with pytest.raises(ScoreSpaceError, match="study needs"):
        permute_labels(["naive_bayes", "knn"], data)
