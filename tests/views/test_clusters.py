"""The page of clusters and its picture."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.views import clusters as view
from scorespace.views import report, terminal
from scorespace.views.clusters import number
from views.shown import points

DATA = points()


@pytest.fixture(scope="module")
def found():
    return ss.clusters(DATA, labels=["one", "two"], features="x*", resamples=10, replicates=100)


def test_a_screen_of_text(found):
    text = terminal.text(view.document(found).brief(), 80)
    lines = text.splitlines()
    assert lines[0] == "arrays   150 points   3 features"
    assert max(map(len, lines)) <= 80
    assert "one cluster   points   silhouette" in text
    assert "labellings   adjusted Rand   adjusted mutual information" in text
    assert "one is best by silhouette, davies_bouldin and calinski_harabasz." in text


def test_many_clusters_are_cut_short_in_a_terminal():
    labels = np.arange(150) % 25
    many = ss.clusters({**DATA, "k": labels}, labels="k", features="x*", resamples=0, replicates=20)
    assert "… 13 more" in terminal.text(view.document(many).brief(), 100)


def test_the_page_shows_all_and_runs_nothing_of_the_data(found):
    page = report.render(view.document(found))
    assert "Distances between clusters" in page
    assert "<td></script>" not in page
    assert "&lt;/script&gt;" in page


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1.5, "1.50"), (123.4, "123"), (12_345.0, "12 300"), (1e-9, "1.0e−09"), (np.inf, "∞"), (np.nan, "–")],
)
def test_numbers_of_any_unit(value, text):
    assert number(value) == text
