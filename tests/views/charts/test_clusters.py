"""Points of clusters in pictures: on their principal axes, thinned where they are many."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.views import clusters as view
from scorespace.views.charts.clusters import cluster_chart, principal
from scorespace.views.document import Picture
from views.shown import points

DATA = points()
POINTS = np.column_stack([DATA[f"x{k}"] for k in range(3)])


@pytest.fixture(scope="module")
def found():
    return ss.clusters(DATA, labels=["one", "two"], features="x*", resamples=10, replicates=100)


def test_the_picture(found, valid):
    (picture,) = [
        block for part in view.document(found).sections for block in part.blocks if isinstance(block, Picture)
    ]
    spec = valid(picture.draw())
    assert len(spec["hconcat"]) == 2
    valid(cluster_chart(ss.clusters(DATA, labels="one", features="x1", resamples=0, replicates=20)))


def test_very_many_points_are_thinned(valid):
    rng = np.random.default_rng(2)
    data = {"x": rng.normal(0, 1, 5000), "y": rng.normal(0, 1, 5000), "k": np.arange(5000) % 40}
    spec = valid(cluster_chart(ss.clusters(data, labels="k", features=["x", "y"], resamples=0, replicates=20)))
    assert 1000 < len(spec["datasets"]["table 1"]) <= 1900


def test_principal_axes_are_those_of_the_singular_values():
    middle, axes, shares = principal(POINTS, np.ones(150))
    _, values, directions = np.linalg.svd(POINTS - POINTS.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(middle, POINTS.mean(axis=0))
    np.testing.assert_allclose(np.abs(axes.T), np.abs(directions[:2]), atol=1e-9)
    np.testing.assert_allclose(shares, (values**2 / (values**2).sum())[:2])
