"""Intervals of cluster indices: by influence, by drawing points again, and none of the outermost points."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.measures import parse
from scorespace.measures.clusters import silhouette_influence
from scorespace.measures.request import bind
from scorespace.resampling.estimate import estimate
from scorespace.tables.cluster import contingency

CENTRES = np.array([[0, 0], [3, 0], [0, 4]])


def drawn(rng, size, alike=None):
    labels = rng.integers(0, 3, size)
    points = CENTRES[labels] + rng.normal(0, 1, (size, 2))
    return ss.cluster_table(np.where((labels == alike)[:, None], CENTRES[labels], points), labels)


@pytest.mark.parametrize("alike", [None, 1])
@pytest.mark.parametrize("focus", [None, 1])
def test_influence_is_the_slope_in_the_weight_of_a_point(focus, alike):
    table = drawn(np.random.default_rng(0), 40, alike)  # those of a cluster may all be in one place
    asked = parse("silhouette" if focus is None else f"silhouette[{focus}]")
    inner = table.inside(type(table), None if focus is None else str(focus))
    values, moves, _ = silhouette_influence(inner, np.arange(40))
    own = np.ones(40, dtype=bool) if focus is None else table.label == focus
    value = bind(asked, table).value
    found = (np.where(own, values - value, 0) + moves) / own.sum()
    step = 1e-6
    for point in range(40):
        weight = np.ones(40)
        weight[point] += step
        slope = (bind(asked, table.with_cells(weight)).value - value) / step
        assert found[point] == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("name", ["silhouette", "davies_bouldin", "calinski_harabasz", "centroid_distance"])
def test_intervals_hold_the_true_value_often_enough(name):
    """Of 100 intervals of a level of 95 %, 13 or more fail with a chance of 0.001."""
    rng = np.random.default_rng(3)
    truth = np.mean([bind(parse(name), drawn(rng, 120)).value for _ in range(800)])
    found = [estimate(parse(name), drawn(rng, 120), replicates=300, seed=seed) for seed in range(100)]
    assert sum(not one.low <= truth <= one.high for one in found) < 14


def test_groups_of_related_points_widen_the_interval():
    rng = np.random.default_rng(4)
    labels, group = np.repeat([0, 1, 0, 1, 0, 1], 30), np.repeat(np.arange(6, dtype=np.int32), 30)
    shift = rng.normal(0, 0.8, (6, 2))
    points = 3 * labels[:, None] + shift[group] + rng.normal(0, 0.5, (180, 2))
    alone = estimate(parse("silhouette"), ss.cluster_table(points, labels))
    together = estimate(parse("silhouette"), ss.cluster_table(points, labels, group=group))
    assert together.method == "influence of groups"
    assert together.high - together.low > 1.5 * (alone.high - alone.low)
    assert (
        estimate(parse("davies_bouldin"), ss.cluster_table(points, labels, group=group)).method == "bootstrap of groups"
    )


def test_a_part_of_the_points_widens_it_by_their_sampling():
    rng = np.random.default_rng(5)
    table = drawn(rng, 11_000)
    part, whole = (estimate(parse(f"silhouette(points={points})"), table) for points in (300, 0))
    assert part.low < whole.value < part.high
    assert part.high - part.low > 2 * (whole.high - whole.low)


@pytest.mark.parametrize("name", ["border_distance", "dunn", "radius", "density"])
def test_the_outermost_points_have_no_interval(name):
    found = estimate(parse(name), drawn(np.random.default_rng(6), 60))
    assert found.method is None
    assert np.isnan(found.low)
    assert found.reason.startswith("no interval: it rests on the outermost points")


def test_the_mean_radius_has_one():
    found = estimate(parse("radius(how=mean)"), drawn(np.random.default_rng(7), 60))
    assert found.method == "bootstrap"
    assert found.low < found.value < found.high


@pytest.mark.parametrize("name", ["ari", "ami", "nmi", "purity"])
def test_intervals_beside_classes_hold_the_true_value_often_enough(name):
    """Entropies of few points are too small, so that plain percentiles of nmi hold it in 76 % of such samples."""
    rng = np.random.default_rng(8)

    def sample(size):
        classes = rng.integers(0, 3, size)
        return contingency(classes, np.where(rng.random(size) < 0.6, classes, rng.integers(0, 4, size)))

    truth = bind(parse(name), sample(200_000)).value
    found = [estimate(parse(name), sample(100), replicates=300, seed=seed) for seed in range(80)]
    assert sum(not one.low <= truth <= one.high for one in found) < 14
