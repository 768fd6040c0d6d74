"""The page of the published experiment, and its charts."""

from scorespace.views import suite
from views.shown import published

REPORT = published()


def test_the_table():
    grid = suite.area_grid(REPORT)
    assert grid.columns == ("data set", "AUC one", "smAUC one", "AUC two", "smAUC two")
    first = REPORT.cells[0]
    assert grid.rows[0][1] == f"{first.auc:.3f} ± {first.auc_sd:.3f}"
    assert grid.caption == "Mean ± standard deviation over the folds; 2 folds lack a class."


def test_the_page():
    page = suite.document(REPORT, "facts")
    assert (page.title, page.facts) == ("3 sets", "facts")
    assert [len(section.blocks) for section in page.sections] == [2, 4]
    assert [section.name for section in page.brief().sections] == ["sets"]
