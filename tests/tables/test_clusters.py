"""The table of points in clusters, and of clusters and known classes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

import scorespace as ss
from scorespace.errors import ScoreSpaceError
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.tables import clusters
from scorespace.tables.clusters import borders, contingency, diameter

POINTS = [[0.0, 0.0], [3.0, 1.0], [0.0, 2.0], [3.0, 3.0], [9.0, 9.0]]
TABLE = ss.cluster_table(POINTS, ["b", "a", "b", "a", "c"])


def test_points_come_in_the_order_of_their_clusters():
    assert TABLE.names == ("a", "b", "c")
    assert_array_equal(TABLE.label, [0, 0, 1, 1, 2])
    assert_array_equal(TABLE.centroids, [[3, 2], [0, 1], [9, 9]])
    assert_array_equal(TABLE.sizes, [2, 2, 1])
    assert_array_equal(TABLE.distance_to_centroid, [1, 1, 1, 1, 0])


def test_one_cluster_is_asked_about_in_brackets():
    assert bind(parse("centroid_distance[c]"), TABLE).value == pytest.approx(np.hypot(6, 7))
    with pytest.raises(ScoreSpaceError, match=r"radius\[d\] names the unknown cluster 'd'"):
        bind(parse("radius[d]"), TABLE)
    with pytest.raises(ScoreSpaceError, match="specifies a threshold"):
        bind(parse("radius@0.5"), TABLE)
    with pytest.raises(ScoreSpaceError, match="auc cannot be computed from points in 3 clusters"):
        bind(parse("auc"), TABLE)


def test_a_part_keeps_its_clusters():
    part, place = TABLE.part(np.array([4, 0, 2], dtype=np.int32))
    assert_array_equal(part.label, [0, 1, 2])
    assert_array_equal(place, [2, 0, 1])
    assert_array_equal(part.point[place], TABLE.point[[4, 0, 2]])


def test_what_was_computed_is_not_that_of_other_weights():
    assert_array_equal(TABLE.sizes, [2, 2, 1])
    assert_array_equal(TABLE.with_cells(np.array([0, 1, 1, 1, 1])).sizes, [1, 2, 1])


@pytest.mark.parametrize(
    ("points", "labels", "options", "message"),
    [
        ([1.0, 2.0], ["a", "b"], {}, "points must be rows of features"),
        ([[1.0], [np.nan]], ["a", "b"], {}, "points must be finite numbers"),
        ([[1.0], [2.0]], ["a"], {}, "points and labels differ in number"),
        ([[1.0], [2.0]], ["a", "b"], {"weight": [1.0]}, "weights and points differ in number"),
        ([[1.0], [2.0]], ["a", "b"], {"weight": [1.0, -1.0]}, "weights must be finite numbers ≥ 0"),
        ([[1.0], [2.0]], ["a", "b"], {"weight": [0.0, 0.0]}, "weights must be finite numbers ≥ 0, not all 0"),
    ],
)
def test_what_is_refused(points, labels, options, message):
    with pytest.raises(ScoreSpaceError, match=message):
        ss.cluster_table(points, labels, **options)


def test_classes_beside_clusters():
    table = contingency(["x", "x", "y"], ["a", "b", "b"], weight=np.array([2.0, 1.0, 0.5]))
    assert_array_equal(table.matrix, [[2, 1], [0, 0.5]])
    assert_array_equal(table.squares, [[4, 1], [0, 0.25]])
    assert table.described() == "2 clusters and 2 classes"
    with pytest.raises(ScoreSpaceError, match="differ in number"):
        contingency(["x"], ["a", "b"])


def test_counts_drawn_as_bytes_do_not_overflow():
    table = contingency(np.repeat([0, 1], 100), np.repeat([0, 1], 100))
    drawn = table.with_cells(table.cells.astype(np.uint8))
    assert ss.ari(drawn) == 1.0
    assert ss.pair_fm(drawn) == 1.0


def test_the_sum_of_weighted_contingencies_keeps_what_the_weights_are_worth():
    weight = np.array([0.5, 2.0, 1.5])
    weighted, plain = contingency(["x", "x", "y"], ["a", "b", "b"], weight=weight), contingency(["x", "y"], ["a", "b"])
    both = contingency(["x", "x", "y", "x", "y"], ["a", "b", "b", "a", "b"], weight=np.append(weight, [1.0, 1.0]))
    assert (weighted + plain).cells.tolist() == both.cells.tolist()
    assert (weighted + plain).cell_squares.tolist() == both.cell_squares.tolist()
    assert (plain + plain).cell_squares is None


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
    monkeypatch.setattr(clusters, "_MAX_DIRECT_DISTANCES", 100)  # else so few points are compared at once
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
