"""The page of clusters and its picture."""

import numpy as np
import pytest

import scorespace as ss
from helpers.shown import points
from scorespace.report import clusters as view
from scorespace.report import html, terminal
from scorespace.report.cluster_charts import cluster_chart, principal
from scorespace.report.clusters import number
from scorespace.report.document import Picture

DATA = points()


@pytest.fixture(scope="module")
def found():
    return ss.clusters(DATA, labels=["one", "two"], features="x*", resamples=10, replicates=100)


def test_a_screen_of_text(found):
    text = terminal.text(view.document(found).brief(), 80)
    lines = text.splitlines()
    assert lines[0] == "arrays   150 points   3 features"
    assert max(map(len, lines)) <= 80
    assert any(line.split()[:4] == ["one", "cluster", "points", "silhouette"] for line in lines)
    assert "adjusted mutual information" in text
    assert "one is best by silhouette, davies_bouldin and calinski_harabasz." in text


def test_many_clusters_are_cut_short_in_a_terminal():
    labels = np.arange(150) % 25
    many = ss.clusters({**DATA, "k": labels}, labels="k", features="x*", resamples=0, replicates=20)
    assert "… 13 more" in terminal.text(view.document(many).brief(), 100)


def test_the_page_shows_all_and_runs_nothing_of_the_data(found):
    page = html.render(view.document(found))
    assert "Distances between clusters" in page
    assert "<td></script>" not in page
    assert "&lt;/script&gt;" in page


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1.5, "1.50"), (123.4, "123"), (12_345.0, "12 300"), (1e-9, "1.0e−09"), (np.inf, "∞"), (np.nan, "–")],
)
def test_numbers_of_any_unit(value, text):
    assert number(value) == text


POINTS = np.column_stack([DATA[f"x{k}"] for k in range(3)])


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


def test_two_features_are_drawn_as_they_are_with_borders_and_radii():
    data = {"x": [0.0, 2.0, 1.0, 1.0, 7.0, 9.0], "y": [0.0, 0.0, 2.0, 0.5, 1.0, 1.0], "k": list("aaaabb")}
    spec = cluster_chart(ss.clusters(data, labels="k", features=["x", "y"], resamples=0, replicates=20))
    title = {layer["encoding"]["x"].get("title") for layer in spec["layer"]} - {None}
    assert title == {"x"}
    tables = [spec["datasets"][layer["data"]["name"]] for layer in spec["layer"]]
    border = {(row["x"], row["y"]) for row in tables[0] if row["cluster"] == "a"}
    assert border == {(0, 0), (2, 0), (1, 2)}  # without the inner point
    circle = [(row["x"] - 8, row["y"] - 1) for row in tables[1] if row["cluster"] == "b"]
    np.testing.assert_allclose(np.hypot(*np.transpose(circle)), 1, atol=1e-4)  # the radius of b
    # Centroids (1, 0.625) and (8, 1): 7.01 apart; the nearest points are (2, 0) and (7, 1).
    assert "7.01" in str(spec["datasets"])
    assert [{"x": 2.0, "y": 0.0}, {"x": 7.0, "y": 1.0}] in [
        [{"x": row["x"], "y": row["y"]} for row in table if "pair" in row] for table in tables
    ]
