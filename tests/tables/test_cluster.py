"""The table of points in clusters, and of clusters beside classes."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import scorespace as ss
from scorespace.errors import ScoreSpaceError
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.tables.cluster import contingency

POINTS = [[0.0, 0.0], [3.0, 1.0], [0.0, 2.0], [3.0, 3.0], [9.0, 9.0]]
TABLE = ss.cluster_table(POINTS, ["b", "a", "b", "a", "c"])


def test_points_come_in_the_order_of_their_clusters():
    assert TABLE.names == ("a", "b", "c")
    assert_array_equal(TABLE.label, [0, 0, 1, 1, 2])
    assert_array_equal(TABLE.centroids, [[3, 2], [0, 1], [9, 9]])
    assert_array_equal(TABLE.sizes, [2, 2, 1])
    assert_array_equal(TABLE.away, [1, 1, 1, 1, 0])


def test_one_cluster_is_asked_about_in_brackets():
    assert bind(parse("centroid_distance[c]"), TABLE).value == pytest.approx(np.hypot(6, 7))
    with pytest.raises(ScoreSpaceError, match=r"radius\[d\] names the cluster 'd', which there is not"):
        bind(parse("radius[d]"), TABLE)
    with pytest.raises(ScoreSpaceError, match="asks for a threshold"):
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
    assert table.described() == "2 clusters beside 2 classes"
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
