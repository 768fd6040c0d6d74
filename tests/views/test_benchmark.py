"""The page of a benchmark: every learner on every data set, with the best marked."""

import pytest

from experiments.runs import folded
from scorespace.experiments.results import benchmark_summary
from scorespace.views import benchmark as view
from scorespace.views.document import Verdict


@pytest.fixture(scope="module")
def found():
    return benchmark_summary(folded(), measure="auc[hand_till]")


def test_the_best_on_a_data_set_has_a_star(found):
    grid = view.mean_grid(found)
    assert grid.columns == ("data set", *found.learners)
    for row in grid.rows[:-1]:
        starred = [name for name, cell in zip(found.learners, row[1:], strict=True) if cell.endswith(" *")]
        assert starred == [found.best(row[0])]
    assert grid.rows[-1][0] == "mean"


def test_the_page_asks_and_the_terminal_is_short(found):
    page = view.document(found, "scorespace benchmark …")
    assert [one.question for one in page.sections if one.name == "results"] == ["How good is each learner?"]
    assert page.made[-1] == "scorespace benchmark …"
    assert [type(one.blocks[-1]) for one in page.brief().sections if one.name == "verdict"] == [Verdict]
    fit = view.fit_grid(found)
    assert len(fit.rows) == len(found.datasets) * len(found.learners)
    assert len(view.pooled_grid(found).rows) == len(fit.rows)


def test_compare_shows_differences_and_ranks_without_pictures(found):
    (section,) = view.comparison(found).sections
    assert section.blocks[0] == view.difference_grid(found)
