"""Numbers of the report's sections that are not estimates: classes, smooth ROC curves, ranked targeting, errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from scorespace.calibration.tests import calibration_band
from scorespace.curves import calibration
from scorespace.curves.smooth import gaps, smooth
from scorespace.decisions.hard_cases import set_sizes, zones
from scorespace.measures.class_measures import AREAS, ClassMeasures, class_areas, class_measures
from scorespace.measures.ranking import auc
from scorespace.measures.smooth import prob_auc, sauc, smauc
from scorespace.report.protocol import ResultsView
from scorespace.report.section_numbers import CalibrationBins, SmoothModel
from scorespace.tables import Array, ConfusionTable, Counts, ScoreTable, ratio
from scorespace.tables.counts import class_factors
from scorespace.tables.models import Models
from scorespace.tables.paired import binary_class_names

MAX_ROWS_OF_HULLS: Final = 100_000
"""Larger tables are condensed for the gaps to the hull, which leaves three decimals exact."""


def smooth_models(evaluation: ResultsView) -> dict[str, SmoothModel]:
    """Models with scores between 0 and 1 and cases of both classes."""
    tables = {name: evaluation.at_stated_prevalence.score_table(name) for name in evaluation.models.thresholded}
    tables = {name: one for name, one in tables.items() if one.probabilities and one.n_pos * one.n_neg > 0}
    spread = evaluation.spread(auc.name, smauc.name) if tables else {}
    return {name: _smooth_model(table, spread[name]) for name, table in tables.items()}


def _smooth_model(table: ScoreTable, spread: Mapping[str, float]) -> SmoothModel:
    curve = smooth(table)
    return SmoothModel(
        table,
        curve,
        zones(table),
        gaps(table.condensed(MAX_ROWS_OF_HULLS)),
        set_sizes(table, curve.midpoint),
        tuple((measure, float(measure(table))) for measure in (auc, smauc, sauc, prob_auc)),
        spread[auc.name],
        spread[smauc.name],
    )


def multiclass_measures(models: Models) -> dict[str, ClassMeasures]:
    """Measures of each class of the models that have classes and no positive one."""
    return {
        name: _measures(table) for name, table in models.items() if table.class_names and table.positive_name is None
    }


def _measures(table: Any) -> ClassMeasures:
    return class_measures(table.inside(ConfusionTable), class_areas(table) if table.scores_classes else None)


def every_class_measures(evaluation: ResultsView) -> dict[str, ClassMeasures]:
    """Measures of each class of every classifier; binary ones at their threshold and the stated prevalence."""
    found = {}
    for name, table in evaluation.at_stated_prevalence.items():
        if len(table.class_names) < 2:  # not a classifier
            continue
        if not table.thresholded:
            found[name] = _measures(table)
            continue
        counts = evaluation.at_stated_prevalence.counts(name, evaluation.threshold(name))
        scores, decisions = table.inside(ScoreTable), two_by_two(evaluation.models, counts)
        if len(scores.classes) > 2:  # merge all negative classes
            scores = ScoreTable(scores.score, np.stack([scores.neg, scores.pos]), decisions.classes[::-1], 1)
        parts = [scores.inside(ScoreTable, label) for label in decisions.classes]
        areas = {area.name: np.array([float(area(part)) for part in parts]) for area in AREAS}
        found[name] = class_measures(decisions, areas)
    return found


def two_by_two(models: Models, counts: Counts) -> ConfusionTable:
    """Outcomes of a binary classifier as a confusion table, positive class first."""
    classes = tuple(models.classes)
    negative, positive = binary_class_names(classes, classes.index(str(models.positive)))
    cells = np.array([[counts.tp, counts.fn], [counts.fp, counts.tn]], dtype=np.float64)
    return ConfusionTable(cells, (positive, negative))


def decision_tables(evaluation: ResultsView) -> dict[str, ConfusionTable]:
    """Confusion table of every classifier, binary ones at their threshold."""
    models = evaluation.models
    return {
        name: two_by_two(models, evaluation.counts(name)) if name in models.two_class else table.inside(ConfusionTable)
        for name, table in models.items()
        if table.class_names
    }


def calibration_bins(evaluation: ResultsView, model: str) -> CalibrationBins:
    """Ten bins of equal width with Wilson intervals of the rates, reweighted to the stated prevalence."""
    table = evaluation.models.score_table(model)
    curve, band = calibration(table, by="width"), calibration_band(table, by="width", level=evaluation.level)
    reweighted = calibration(evaluation.at_stated_prevalence.score_table(model), by="width")
    rates = (_at_prevalence(evaluation, rate) for rate in (curve.y, band.low, band.high))
    return CalibrationBins(curve.threshold, curve.highest, curve.cases, reweighted.x, *rates)


def _at_prevalence(evaluation: ResultsView, rates: Array) -> Array:
    """Rates of positives reweighted to the stated prevalence, by their odds."""
    if evaluation.prevalence is None:
        return rates
    sample = np.asarray(evaluation.models.prevalence)
    pos, neg = class_factors(sample, 1 - sample, evaluation.prevalence)
    return ratio(rates * pos, rates * pos + (1 - rates) * neg)
