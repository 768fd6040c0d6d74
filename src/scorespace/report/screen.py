"""The short answer of an evaluation: one screen with measures, confusion matrix, verdict and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from scorespace.report import measures as measures_view
from scorespace.report.confusion_matrix import confusion_blocks
from scorespace.report.document import Block, Document, Grid, Notes, Section, Verdict
from scorespace.report.formulas import worked_grid
from scorespace.report.protocol import EvaluationView, facts
from scorespace.report.sections import SECTIONS

MAX_WARNINGS: Final = 2

MAX_CONCLUSIONS: Final = 4
"""Requested measures on which the verdict concludes; the table shows all of them."""


def summary_blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """Measures and confusion matrix; the matrix comes first where models give decisions only."""
    grid, *texts = measures_view.measure_blocks(evaluation)
    table = [short_grid(grid, evaluation) if isinstance(grid, Grid) else grid, *texts]
    matrix = [] if evaluation.requested else confusion_blocks(evaluation)
    if matrix and evaluation.profile.full and evaluation.leader in evaluation.models.two_class:
        matrix.append(worked_grid(evaluation.counts(evaluation.leader)))
    crisp = not any(one.thresholded or one.scores_classes for one in evaluation.models.values())
    return [*matrix, *table] if crisp else [*table, *matrix]


def short_grid(grid: Grid, evaluation: EvaluationView) -> Grid:
    """The default table with the names of the profile, and with the cross-fitted cost only.

    A measure keeps the name that a user typed.
    """
    specs = {
        str(replace(one.spec, at=None)): replace(one.spec, at=None)
        for one in evaluation.shown
        if one.spec.asked is None
    }
    renamed: list[tuple[str, ...]] = []
    for name, *cells in grid.rows:
        measure, _, arrow = name.rpartition(" ")
        bare, at, threshold = measure.partition("@")
        if bare in specs and not evaluation.requested:
            name = f"{evaluation.profile.label(specs[bare])}{at}{threshold} {arrow}"
        renamed.append((name, *cells))
    cross_fitted = f"{measures_view.CROSS_FITTED_COST} ↓"
    if evaluation.requested or evaluation.full:
        verdict_has_all = bool(evaluation.requested) and len(grid.rows) <= MAX_CONCLUSIONS  # differences included
        return replace(grid, rows=tuple(renamed), optional=grid.optional if verdict_has_all else 0)
    names = {"chosen threshold": "at threshold", "threshold": "at threshold"}
    if any(row[0] == cross_fitted for row in renamed):
        renamed = [row for row in renamed if not row[0].startswith(measures_view.APPARENT_COST)]
        names[cross_fitted] = f"{measures_view.COST} ↓"
    return replace(grid, rows=tuple((names.get(row[0], row[0]), *row[1:]) for row in renamed))


def summary_document(
    evaluation: EvaluationView,
    *,
    every_note: bool = False,
    python: bool = False,
    extra: Sequence[Block] = (),
    skipped: Sequence[str] = (),
) -> Document:
    """The short answer: measures, matrix, further parts that were requested, verdict, warnings, and what was left out.

    `every_note` shows all notes; `python` names attributes instead of flags in the last line; `extra` comes above the
    verdict, and `skipped` names sections that are left out.
    """
    blocks = [*summary_blocks(evaluation), *extra]
    if not evaluation.requested and not evaluation.full:
        skipped = ("class_by_class", *skipped)
    for kind in SECTIONS:
        if kind.brief and kind.name not in ("models", "verdict", "notes", *skipped):
            blocks += kind.brief(evaluation) if callable(kind.brief) else kind.builder(evaluation)
    notes = evaluation.notes if every_note else evaluation.headlines[:MAX_WARNINGS]
    closing = Notes(notes, footer(evaluation, every_note=every_note, python=python))
    section = Section("summary", "Summary", (*blocks, Verdict(evaluation.verdict), closing), brief=True)
    return Document(evaluation.models.name, facts(evaluation.models), (section,))


def footer(evaluation: EvaluationView, *, every_note: bool = False, python: bool = False) -> str:
    """What was left out, and how to see it."""
    remarks = 0 if every_note else sum(one.level != "warning" for one in evaluation.notes)
    warnings = 0 if every_note else max(0, len(evaluation.headlines) - MAX_WARNINGS)
    hidden = left_out(warnings, remarks)
    notes, every, report = "--notes", "--all", "--report r.html"
    if python:
        notes, every, report = "ev.notes", "ev.everything", 'ev.report("r.html")'
    parts = [f"{hidden}: {notes}"] if hidden else []
    parts += [] if evaluation.requested or evaluation.full or evaluation.profile.full else [f"all measures: {every}"]
    return "   ".join([*parts, f"report: {report}"])


def left_out(warnings: int, remarks: int) -> str:
    """The numbers of warnings and remarks that are not shown."""
    counts = {"more warning": warnings, "remark": remarks}
    return " and ".join(f"{count} {what}{'s' * (count != 1)}" for what, count in counts.items() if count)
