"""The page of the published experiment: AUC beside smAUC on every data set, and what became of the claims."""

from __future__ import annotations

from functools import partial

from scorespace.experiments.smooth import SmoothReport
from scorespace.results import grouped
from scorespace.views.charts.suite import area_chart, difference_chart, spread_chart
from scorespace.views.document import Block, Document, Grid, Picture, Section, Verdict


def document(found: SmoothReport, facts: str = "") -> Document:
    """The whole page; a terminal shows the table and the findings."""
    grid = area_grid(found)
    pictures: list[Block] = [Picture(lambda: spread_chart(found), _alt(found, "varies less"))]
    if len(found.learners) > 1:
        pictures.append(Picture(lambda: difference_chart(found), _alt(found, "further apart")))
    about = "Mean and standard deviation of AUC and smAUC on every data set, of "
    pictures += [Picture(partial(area_chart, found, one), f"{about}{one}.") for one in found.learners]
    sections = (
        Section("sets", "Every data set", (grid, Verdict(found.words)), brief=True),
        Section("pictures", "The claims as pictures", tuple(pictures)),
    )
    return Document(found.title, facts, sections)


def area_grid(found: SmoothReport) -> Grid:
    """A row per data set, mean ± standard deviation over the folds."""
    by = {(one.dataset, one.learner): one for one in found.cells}
    columns = ("data set", *(f"{name} {learner}" for learner in found.learners for name in ("AUC", "smAUC")))
    rows = []
    for name in found.datasets:
        cells = [by[name, learner] for learner in found.learners]
        areas = ((mean, sd) for one in cells for mean, sd in ((one.auc, one.auc_sd), (one.smauc, one.smauc_sd)))
        rows.append((name, *(f"{mean:.3f} ± {sd:.3f}" for mean, sd in areas)))
    lost = sum(one.undefined for one in found.cells)
    caption = "Mean ± standard deviation over the folds" + (f"; {grouped(lost)} folds lack a class." if lost else ".")
    return Grid(columns, tuple(rows), caption)


def _alt(found: SmoothReport, words: str) -> str:
    return " ".join(one.words for one in found.findings if words in one.claim)
