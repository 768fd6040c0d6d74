"""The short answer of an evaluation: one screen with measures, confusion matrix, verdict and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from typing import Any, Final

import numpy as np

from scorespace.report import measures as measures_view
from scorespace.report.document import Block, Document, Grid, Notes, Section, Verdict
from scorespace.report.protocol import EvaluationView, facts
from scorespace.report.sections import SECTIONS
from scorespace.results import Row, format_whole_percent, grouped
from scorespace.tables import Array
from scorespace.tables.threshold import threshold_text

MAX_CLASSES: Final = 12
"""Classes up to which a confusion matrix fits a screen."""

MAX_WARNINGS: Final = 2

MAX_CONCLUSIONS: Final = 4
"""Requested measures on which the verdict concludes; the table shows all of them."""


def summary_blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """Measures and confusion matrix; the matrix comes first where models give decisions only."""
    grid, *texts = measures_view.measure_blocks(evaluation)
    table = [short_grid(grid, evaluation) if isinstance(grid, Grid) else grid, *texts]
    matrix = [] if evaluation.requested else confusion_blocks(evaluation)
    crisp = not any(one.thresholded or one.scores_classes for one in evaluation.models.values())
    return [*matrix, *table] if crisp else [*table, *matrix]


def short_grid(grid: Grid, evaluation: EvaluationView) -> Grid:
    """The default table with the names of the profile, and with the cross-fitted cost only.

    A measure keeps the name that a user typed.
    """
    specs = {str(replace(one.spec, at=None)): one.spec for one in evaluation.shown if one.spec.asked is None}
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


def confusion_blocks(evaluation: EvaluationView) -> list[Block]:
    """The confusion matrix of the leading model, with counts and the share of each actual class."""
    found = confusion_of(evaluation, evaluation.leader)
    if found is None or len(found["classes"]) > MAX_CLASSES:
        return []
    shares = np.asarray(found["shares"], dtype=np.float64)
    cells = [
        tuple(f"{grouped(count)} ({format_whole_percent(share)})" for count, share in zip(counts, row, strict=True))
        for counts, row in zip(found["matrix"], shares.tolist(), strict=True)
    ]
    at = "" if found["threshold"] is None else f" at {threshold_text(evaluation.threshold(found['model']))}"
    rows = tuple((name, *line) for name, line in zip(found["classes"], cells, strict=True))
    return [Grid((f"{found['model']}{at}", *found["predicted"]), rows, "Actual classes in rows.")]


def confusion_of(evaluation: EvaluationView, model: str | None) -> Row | None:
    """The confusion matrix of a model as plain data; rows are actual classes, the positive one first."""
    if model is None or not evaluation.models[model].class_names:
        return None
    table = evaluation.models[model]
    if model in evaluation.models.two_class:
        counts = evaluation.counts(model)
        positive, negative = _two_names(table)
        classes: tuple[str, ...] = (positive, negative)
        predicted: tuple[str, ...] = evaluation.profile.outcomes(positive, negative)
        matrix: Array = np.array([[counts.tp, counts.fn], [counts.fp, counts.tn]], dtype=np.float64)
        threshold = float(evaluation.threshold(model)) if table.thresholded else None
    else:
        decided = table.decisions if table.scores_classes else table
        matrix, classes, threshold = np.asarray(decided.matrix, dtype=np.float64), tuple(decided.classes), None
        predicted = tuple(f"predicted {name}" for name in classes)
    totals = matrix.sum(axis=1, keepdims=True)
    shares = np.divide(matrix, totals, out=np.zeros_like(matrix), where=totals > 0)
    return {
        "model": model,
        "threshold": None if threshold is None or isnan(threshold) else threshold,
        "classes": list(classes),
        "predicted": list(predicted),
        "matrix": [[round(count) for count in line] for line in matrix.tolist()],
        "shares": shares.tolist(),
    }


def _two_names(table: Any) -> tuple[str, str]:
    positive = str(table.positive_name)
    return positive, next((str(name) for name in table.class_names if name != table.positive_name), f"not {positive}")


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
    parts += [] if evaluation.requested or evaluation.full else [f"all measures: {every}"]
    return "   ".join([*parts, f"report: {report}"])


def left_out(warnings: int, remarks: int) -> str:
    """The numbers of warnings and remarks that are not shown."""
    counts = {"more warning": warnings, "remark": remarks}
    return " and ".join(f"{count} {what}{'s' * (count != 1)}" for what, count in counts.items() if count)
