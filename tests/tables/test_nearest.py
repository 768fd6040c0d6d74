"""Borders and diameters equal brute force on random points, with ties and duplicates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from scorespace.tables import nearest
from scorespace.tables.nearest import borders, diameter


def brute(parts):
    size = len(parts)
    found = np.full((size, size), np.inf)
    for i in range(size):
        for j in range(size):
            if i != j and len(parts[i]) and len(parts[j]):
                found[i, j] = cdist(parts[i], parts[j]).min()
    return found


@st.composite
def some_parts(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    features, tied = draw(st.integers(1, 4)), draw(st.booleans())
    sizes = draw(st.lists(st.integers(0, 40), min_size=1, max_size=6))
    if tied:
        return [rng.integers(0, 6, (size, features)).astype(float) for size in sizes]
    return [rng.normal(rng.normal(0, 4, features), 1, (size, features)) for size in sizes]


@given(parts=some_parts())
@settings(max_examples=80)
def test_borders_equal_brute_force(parts):
    assert_allclose(borders(parts, whole=True), brute(parts), rtol=1e-12)


@given(parts=some_parts())
@settings(max_examples=80)
def test_the_nearest_cluster_of_each_is_found_without_all_pairs(parts):
    assert_allclose(borders(parts, whole=False).min(axis=1), brute(parts).min(axis=1), rtol=1e-12)


@pytest.mark.parametrize("apart", [0.5, 3.0, 30.0])
def test_large_clusters_are_asked_of_trees(apart, monkeypatch):
    monkeypatch.setattr(nearest, "_PAIRS", 100)  # else so few points are compared at once
    rng = np.random.default_rng(2)
    parts = [rng.normal(place * apart, 1, (700, 3)) for place in range(3)]
    assert_allclose(borders(parts, whole=True), brute(parts), rtol=1e-12)


@given(seed=st.integers(0, 10_000), size=st.integers(1, 60), tied=st.booleans())
@settings(max_examples=80)
def test_diameter_equals_brute_force(seed, size, tied):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, (size, 2)).astype(float) if tied else rng.normal(0, 1, (size, 3))
    assert diameter(points) == pytest.approx(cdist(points, points).max(), rel=1e-12)


def test_diameter_of_many_points():
    points = np.random.default_rng(3).normal(0, 1, (3000, 5))
    assert diameter(points) == pytest.approx(cdist(points, points).max(), rel=1e-12)


def test_far_from_the_origin_no_pair_is_ruled_out_by_rounding():
    parts = [np.array([[1e8, 1e8], [1e8 + 1, 1e8]]), np.array([[1e8 + 1, 1e8], [1e8 + 2, 1e8]])]
    assert borders(parts, whole=True)[0, 1] == 0
