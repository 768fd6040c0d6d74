"""The page of a ranking."""

import pytest

from oracles.load import reference
from scorespace.comparisons.ranking import rank_models
from scorespace.results import note
from scorespace.views import ranking as view
from scorespace.views.document import Grid, Notes, Picture, Text, Verdict


def demsar(**named):
    theirs = reference("r_friedman_nemenyi")
    return rank_models(theirs["data"], theirs["names"], measure="auc", **named)


def blocks(found, kind, **named):
    (section,) = view.document(found, "demsar.csv", **named).sections
    return [block for block in section.blocks if isinstance(block, kind)]


def test_the_page():
    found = demsar()
    page = view.document(found, "demsar.csv")
    assert (page.title, page.facts) == ("demsar.csv", "14 data sets   4 models   auc, higher is better")
    assert [grid.columns[0] for grid in blocks(found, Grid)] == ["model", "test of all", "rank of row − column"]
    assert blocks(found, Text) == [Text("Cannot be told apart: C4.5+m+cf, C4.5+m, C4.5+cf, C4.5.")]
    assert blocks(found, Verdict) == [Verdict(found.words)]
    assert len(blocks(found, Picture)) == 1


def test_models_stand_from_the_best():
    grid = view.rank_grid(demsar())
    assert [row[0] for row in grid.rows] == ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]
    assert grid.rows[0][1] == "1.96"
    assert grid.columns[2] == "mean auc"


def test_stars_mark_the_critical_difference():
    found = rank_models([[3, 2, 1]] * 8, ["a", "b", "c"], best="high")
    grid = view.nemenyi_grid(found.nemenyi)
    assert [[cell.endswith("*") for cell in row[1:]] for row in grid.rows] == [[False, True], [False, False]]
    assert "critical difference 1.17" in grid.caption


def test_a_control_has_its_own_table():
    found = demsar(control="C4.5")
    grid = blocks(found, Grid)[-1]
    assert grid.columns == ("against C4.5", "rank difference", "z", "p", "Holm", "Hochberg")
    assert grid.rows[0] == ("C4.5+m", "−1.14", "−2.342", "0.019", "0.047", "0.038")  # R


def test_pairs_show_medians():
    grids = blocks(demsar(test="sign"), Grid)
    assert [grid.columns[0] for grid in grids] == ["model", "median of row − column", "models"]
    assert grids[1].caption == "Median of row minus column over data sets; * marks p < 0.05."
    assert blocks(demsar(test="sign"), Picture) == []


def test_notes_on_the_data_come_first():
    (notes,) = blocks(demsar(), Notes, notes=[note("SS009", "gone.")])
    assert [one.code for one in notes.notes] == ["SS009", "SS018"]


@pytest.mark.parametrize("named", [{}, {"control": "C4.5"}])
def test_the_picture_can_be_drawn(named, valid):
    (picture,) = blocks(demsar(**named), Picture)
    assert picture.alt.startswith("Average ranks, 1 is best: C4.5 3.14")
    spec = valid(picture.draw())
    assert "Not distinguishable" in spec["description"]


def test_two_models_may_be_drawn_too(valid):
    found = rank_models({"a": [1, 2, 3], "b": [2, 1, 1]}, best="low", test="friedman")
    assert valid(view.picture(found).draw())
    assert view.document(found, "two").facts == "3 data sets   2 models   lower is better"
