"""Clusters that hold in resamples, and such that do not."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

import scorespace as ss
from scorespace.errors import ScoreSpaceError
from scorespace.unsupervised.stability import UNSTABLE_JACCARD, stability

RNG = np.random.default_rng(1)
LABELS = np.repeat([0, 1, 2], 60)
APART = ss.cluster_table(RNG.normal(0, 1, (180, 2)) + 9 * np.eye(3, 2)[LABELS], LABELS)
CHANCE = ss.cluster_table(RNG.normal(0, 1, (180, 2)), RNG.permutation(LABELS))


def test_clusters_far_apart_hold():
    found = stability(APART, 50)
    assert found.ari == pytest.approx(1.0)
    assert min(found.jaccard) > 0.99
    assert found.how == "neighbours"


def test_labels_by_chance_do_not():
    found = stability(CHANCE, 50)
    assert abs(found.ari) < 0.1  # as alike as labels dealt out at random
    assert max(found.jaccard) < UNSTABLE_JACCARD


def test_neighbours_tell_what_the_nearest_drawn_point_would():
    """By brute force: among the drawn points, the nearest to each that was not."""
    from scipy.spatial.distance import cdist

    table = ss.cluster_table(np.random.default_rng(2).normal(0, 1, (40, 2)), np.arange(40) % 2)
    rng = np.random.default_rng([0, 5])
    expected = []
    for _ in range(30):
        drawn = np.bincount(rng.integers(0, 40, 40), minlength=40) > 0
        near = np.flatnonzero(drawn)[cdist(table.point[~drawn], table.point[drawn]).argmin(axis=1)]
        both = (table.label[~drawn] == 1) & (table.label[near] == 1)
        either = (table.label[~drawn] == 1) | (table.label[near] == 1)
        expected.append(both.sum() / either.sum())
    assert stability(table, 30).jaccard[1] == pytest.approx(np.mean(expected))


def test_clusters_are_found_anew():
    held = stability(APART, 10, refit=KMeans(3, n_init=2, random_state=0).fit_predict)
    assert held.how == "refit"
    assert held.ari == pytest.approx(1.0)
    assert min(held.jaccard) > 0.99
    merged = stability(APART, 10, refit=KMeans(2, n_init=2, random_state=0).fit_predict)
    assert min(merged.jaccard) < 0.7  # two of three clusters have one


def test_what_refit_gives_is_checked():
    with pytest.raises(ScoreSpaceError, match="refit must return"):
        stability(APART, 2, refit=lambda points: points)


def test_the_same_seed_gives_the_same():
    assert stability(CHANCE, 20, seed=3) == stability(CHANCE, 20, seed=3) != stability(CHANCE, 20, seed=4)


def test_many_points_that_coincide():
    found = stability(ss.cluster_table(np.zeros((60, 1)), np.arange(60) % 2), 20)
    assert np.isfinite(found.ari)
