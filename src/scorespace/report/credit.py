"""Validation of credit scores: the sections on discrimination, grades, stability and concentration.

They are shown where the profile names them, in the order in which validators expect them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan
from typing import Final

from scorespace.comparisons.grades import MAX_GRADES
from scorespace.curves.tabular import TabularCurve
from scorespace.report import comparison as comparison_view
from scorespace.report import measures as measures_view
from scorespace.report import stability as stability_view
from scorespace.report.document import Block, Grid, Picture, Text
from scorespace.report.protocol import EvaluationView
from scorespace.results import decimals, percent

Builder = Callable[[EvaluationView], Sequence[Block]]

_MEASURES: Final = ("auc", "gini", "ks", "iv", "divergence")


def in_profile(name: str) -> Callable[[Builder], Builder]:
    """Leave a section empty where the profile does not name it."""

    def wrap(builder: Builder) -> Builder:
        return lambda evaluation: builder(evaluation) if name in evaluation.profile.sections else []

    return wrap


def _scored(evaluation: EvaluationView) -> list[str]:
    """Binary models with scores, if both classes are present."""
    if not 0 < evaluation.models.prevalence < 1:
        return []
    return [name for name in evaluation.models.thresholded if name in evaluation.models.two_class]


@in_profile("discrimination")
def discrimination(evaluation: EvaluationView) -> Sequence[Block]:
    """Gini, KS, information value and divergence of each model, the CAP curve, and its score bands."""
    names = _scored(evaluation)
    if not names:
        return []
    found = evaluation.measures(*_MEASURES)
    ginis = (one for one in found if one.spec.name == "gini" and not isnan(one.value))
    text = "Gini (accuracy ratio): " + ", ".join(f"{one.model} {one.text}" for one in ginis) + "."
    alt = "Share of positives found against the share of cases, from the highest scores on."
    caption = "Cumulative accuracy profile (CAP): share of positives among the highest scores."
    grids = [block for name in names for block in _table(evaluation, name, "bands")]
    labels = {str(one.spec): evaluation.profile.label(one.spec) for one in found}
    grid = measures_view.measure_grid(list(found), names, labels)
    return [Text(text), grid, Picture(lambda: evaluation.drawing("gain"), alt, caption), *grids]


@in_profile("grades")
def grades(evaluation: EvaluationView) -> Sequence[Block]:
    """Each grade with binomial and Jeffreys tests, where the scores are the probabilities of few grades."""
    return [block for name in _graded(evaluation) for block in _table(evaluation, name, "grades")]


@in_profile("stability")
def stability(evaluation: EvaluationView) -> Sequence[Block]:
    """PSI of each model against the baseline, and its measures now and then."""
    found = evaluation.stability
    if found is None:
        if not _scored(evaluation):
            return []
        command = "scorespace drift BEFORE AFTER --measures psi,csi"
        return [Text(f"No reference sample is stated: --baseline FILE that --save wrote, or {command}.")]
    changes = evaluation.changes
    more = [] if changes is None else [comparison_view.grid(changes)]
    return [Text(found.words), *stability_view.blocks(found), *more]


@in_profile("concentration")
def concentration(evaluation: EvaluationView) -> Sequence[Block]:
    """Herfindahl index over grades, or the largest share of cases with one score."""
    rows = []
    for name in _scored(evaluation):
        table = evaluation.models[name]
        cases = table.counts.sum(axis=0)
        largest = float(cases.max() / cases.sum())
        index = evaluation.herfindahl(name)
        values = ("–", "–") if index is None else (decimals(index["sum_squares"], 3), decimals(index["hi"], 3))
        rows.append((name, str(table.score.size), percent(largest), *values))
    if not rows:
        return []
    text = "The Herfindahl index is 1 where all cases have one grade; the second form, of the ECB, is 0 where all have "
    caption = "Of models with more than 40 distinct scores only the largest share of one score is shown."
    heading = ("model", "distinct scores", "largest share", "Herfindahl Σ R²", "Herfindahl, ECB")
    return [Text(f"{text}equal shares."), Grid(heading, tuple(rows), caption)]


def _graded(evaluation: EvaluationView) -> list[str]:
    """Models whose scores are the probabilities of few grades."""
    models = evaluation.models
    return [
        name for name in _scored(evaluation) if models[name].probabilities and models[name].score.size <= MAX_GRADES
    ]


def _table(evaluation: EvaluationView, model: str, kind: str) -> list[Block]:
    """A curve that is read as a table, with its sentence."""
    curve = evaluation.curve(kind, model)
    assert isinstance(curve, TabularCurve)
    grid = Grid(tuple(curve.shown), tuple(zip(*curve.shown.values(), strict=True)))
    return [Text(f"{model}: {curve.words}"), grid] if curve.words else [grid]
