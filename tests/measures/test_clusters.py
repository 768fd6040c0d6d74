"""Cluster indices equal scikit-learn's on random points, duplicates and ties included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn import metrics as sklearn

import scorespace as ss
from scorespace.errors import ScoreSpaceError
from scorespace.measures import clusters as module
from scorespace.measures import find, parse
from scorespace.measures.clusters import silhouette_rows, silhouettes
from scorespace.measures.request import bind

INDICES = {
    "silhouette": sklearn.silhouette_score,
    "davies_bouldin": sklearn.davies_bouldin_score,
    "calinski_harabasz": sklearn.calinski_harabasz_score,
}


@st.composite
def labelled(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    size, features, clusters = draw(st.integers(6, 50)), draw(st.integers(1, 4)), draw(st.integers(2, 5))
    points = (
        rng.integers(0, 5, (size, features)).astype(float)
        if draw(st.booleans())
        else rng.normal(0, 1, (size, features))
    )
    labels = rng.integers(0, clusters, size)
    labels[:2] = 0, 1
    return points, labels, rng.integers(0, draw(st.integers(1, 4)), size)


@pytest.mark.parametrize("name", INDICES)
@given(sample=labelled())
@settings(max_examples=40)
def test_indices_equal_those_of_scikit_learn(name, sample):
    points, labels, _ = sample
    found = find(name)(ss.cluster_table(points, labels))
    if np.isfinite(found):  # scikit-learn says 0 or 1 where centroids or all points of a cluster coincide
        assert found == pytest.approx(INDICES[name](points, labels), rel=1e-7, abs=1e-9)


def test_each_point_has_its_silhouette():
    rng = np.random.default_rng(5)
    points, labels = rng.normal(0, 1, (60, 3)), np.sort(rng.integers(0, 4, 60))
    table = ss.cluster_table(points, labels)
    found = silhouettes(table, np.arange(60))
    np.testing.assert_allclose(found, sklearn.silhouette_samples(points, labels), atol=1e-12)
    of_one = bind(parse("silhouette[2]"), table).value
    assert of_one == pytest.approx(found[labels == 2].mean())


@pytest.mark.parametrize("spread", [0.01, 1.0, 30.0])
def test_clusters_that_cannot_be_the_nearest_are_left_out_and_nothing_changes(spread, monkeypatch):
    rng = np.random.default_rng(8)
    labels = np.repeat(np.arange(12), rng.integers(1, 40, 12))
    points = rng.normal(0, 10, (12, 3))[labels] + spread * rng.normal(0, 1, (labels.size, 3)) * (1 + labels[:, None])
    weight = rng.integers(0, 3, labels.size).astype(float)
    weight[labels == 5] = 0  # a cluster that is absent
    asked = []
    plain = module._distances
    monkeypatch.setattr(module, "_distances", lambda table, rows: asked.append(table.label.size) or plain(table, rows))
    for held in (None, weight):
        kept = labels if held is None else np.repeat(labels, held.astype(int))
        expected = sklearn.silhouette_score(
            points if held is None else np.repeat(points, held.astype(int), axis=0), kept
        )
        assert ss.silhouette(ss.cluster_table(points, labels, weight=held)) == pytest.approx(expected, rel=1e-9)
    assert min(asked) < labels.size / 2 or spread > 1


def test_of_very_many_points_a_part_stands_for_all():
    rng = np.random.default_rng(6)
    labels = np.sort(rng.choice(4, 12_000, p=[0.6, 0.3, 0.09, 0.01]))
    points = rng.normal(0, 1, (12_000, 2)) + 3 * labels[:, None]
    table = ss.cluster_table(points, labels)
    rows = silhouette_rows(table, 4000)
    assert rows.size < 4100
    assert np.bincount(labels[rows]).min() >= 50
    part, whole = ss.silhouette(table), ss.silhouette(table, points=0)
    assert part != whole
    assert part == pytest.approx(whole, abs=0.01)


def test_distances_by_brute_force():
    rng = np.random.default_rng(7)
    points, labels = rng.normal(0, 1, (80, 2)), rng.integers(0, 3, 80)
    table = ss.cluster_table(points, labels)
    parts = [points[labels == k] for k in range(3)]
    pairs = [(0, 1), (0, 2), (1, 2)]
    borders = {pair: cdist(parts[pair[0]], parts[pair[1]]).min() for pair in pairs}
    centres = [part.mean(axis=0) for part in parts]
    away = [np.linalg.norm(part - centre, axis=1) for part, centre in zip(parts, centres, strict=True)]
    widest = max(cdist(part, part).max() for part in parts)
    assert ss.border_distance(table) == pytest.approx(min(borders.values()))
    assert bind(parse("border_distance[1]"), table).value == pytest.approx(min(borders[0, 1], borders[1, 2]))
    assert ss.centroid_distance(table) == pytest.approx(min(np.linalg.norm(centres[i] - centres[j]) for i, j in pairs))
    assert ss.radius(table) == pytest.approx(max(map(np.max, away)))
    assert ss.radius(table, how="mean") == pytest.approx(np.concatenate(away).mean())
    assert bind(parse("radius(how=mean)[2]"), table).value == pytest.approx(away[2].mean())
    assert ss.dunn(table) == pytest.approx(min(borders.values()) / widest)
    # Points per area of a disc.
    areas = [np.pi * one.max() ** 2 for one in away]
    assert ss.density(table) == pytest.approx(80 / sum(areas))
    assert bind(parse("density[0]"), table).value == pytest.approx(len(parts[0]) / areas[0])


def test_one_cluster_has_nothing_to_be_apart_from():
    table = ss.cluster_table([[0.0], [1.0], [5.0]], ["a", "a", "a"])
    for name in ("silhouette", "davies_bouldin", "calinski_harabasz", "dunn", "border_distance", "centroid_distance"):
        assert np.isnan(find(name)(table))
        assert "only one cluster" in find(name).reason(np.nan)
    assert ss.radius(table) == 3.0


def test_coinciding_points():
    table = ss.cluster_table([[1.0], [1.0], [4.0], [4.0]], list("aabb"))
    assert ss.silhouette(table) == 1.0
    assert ss.davies_bouldin(table) == 0.0
    assert np.isinf(ss.calinski_harabasz(table))
    assert np.isinf(ss.density(table))
    assert ss.border_distance(ss.cluster_table([[1.0], [1.0]], list("ab"))) == 0
    together = ss.cluster_table([[0.0], [2.0], [1.0], [1.0]], list("aabb"))
    assert np.isinf(ss.davies_bouldin(together))


def test_an_index_of_all_clusters_has_no_part():
    with pytest.raises(ScoreSpaceError, match="all clusters together"):
        bind(parse("calinski_harabasz[a]"), ss.cluster_table([[0.0], [1.0], [2.0]], list("aab"))).value  # noqa: B018
