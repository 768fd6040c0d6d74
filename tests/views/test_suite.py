"""The page of the published experiment, and its charts."""

import numpy as np

from scorespace.experiments.smooth import Cell, Finding, SmoothReport
from scorespace.views import suite

SOURCE = np.random.default_rng(0)
CELLS = tuple(
    Cell(name, learner, 10, int(name == 'a"<b>'), *(0.5 + SOURCE.random(4) / 4).tolist())
    for name in ('a"<b>', "c.d[0]", "e")
    for learner in ("one", "two")
)
REPORT = SmoothReport(
    CELLS, (Finding("smAUC varies less", 2, 1, 1.0), Finding("it tells further apart", 1, 2, 0.5)), "3 sets"
)


def test_the_table():
    grid = suite.area_grid(REPORT)
    assert grid.columns == ("data set", "AUC one", "smAUC one", "AUC two", "smAUC two")
    first = CELLS[0]
    assert grid.rows[0][1] == f"{first.auc:.3f} ± {first.auc_sd:.3f}"
    assert grid.caption == "Mean ± standard deviation over the folds; 2 folds lack a class."


def test_the_page():
    page = suite.document(REPORT, "facts")
    assert (page.title, page.facts) == ("3 sets", "facts")
    assert [len(section.blocks) for section in page.sections] == [2, 4]
    assert [section.name for section in page.brief().sections] == ["sets"]
