"""The page of a run."""

import numpy as np

from scorespace.experiments.data import Dataset
from scorespace.experiments.run import benchmark
from scorespace.views import run as view
from scorespace.views.document import Grid, Notes, Verdict


def test_where_a_run_stands(tmp_path):
    few = Dataset("few", {"x": np.repeat(np.arange(4.0), 2)}, np.arange(8) % 2, "classes")
    run = benchmark(["majority", "knn(k=7)"], few, "2", tmp_path / "r", workers=1)
    page = view.document(run)
    assert page.facts == "1 data set   2 learners   2 folds, stratified by class   seed 0"
    (section,) = page.sections
    grid, verdict, notes = section.blocks
    assert isinstance(grid, Grid)
    assert [row[:4] for row in grid.rows] == [("few", "knn(k=7)", "2 of 2", "2"), ("few", "majority", "2 of 2", "")]
    assert isinstance(verdict, Verdict)
    assert verdict.text.startswith("4 of 4 fits are done, 2 failed; they took ")
    assert isinstance(notes, Notes)
    assert [one.code for one in notes.notes] == ["SS080", "SS082"]
