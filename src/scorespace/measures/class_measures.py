"""Measures of each class of a classifier against the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from scorespace.measures.average import by_class
from scorespace.measures.confusion import f1, fpr, mcc, ppv, tpr
from scorespace.measures.measure import Measure
from scorespace.measures.ranking import auc, auprc
from scorespace.tables import Array, ClassBins, ClassTable, ConfusionTable, ratio

AREAS: Final = (auc, auprc)
"""Areas under the ROC and the precision-recall curve, for classifiers with scores."""

_OF_DECISIONS: Final = (tpr, fpr, ppv, f1, mcc)
_NO_AREA: Final = "the class, or the rest, has no cases"


@dataclass(frozen=True)
class ClassMeasure:
    """A measure of every class, its mean weighted by class size, and the reason why it may be undefined."""

    measure: Measure
    values: Array
    mean: float
    undefined: str


@dataclass(frozen=True)
class ClassMeasures:
    """The decisions of a classifier, and its measures of each class."""

    decisions: ConfusionTable
    measures: tuple[ClassMeasure, ...]
    has_scores: bool

    def __getitem__(self, name: str) -> ClassMeasure:
        """The measure of that name."""
        return next(one for one in self.measures if one.measure.name == name)


def class_measures(decisions: ConfusionTable, areas: Mapping[str, Array] | None = None) -> ClassMeasures:
    """Rates of each class by the decisions, and areas if given, as in WEKA's "Detailed Accuracy By Class".

    >>> from scorespace.tables import confusion
    >>> class_measures(confusion([[3, 1], [0, 4]], classes=["a", "b"]))["f1"].values.round(3)
    array([0.857, 0.889])
    """
    values = {measure: (by_class(measure, decisions), measure.undefined) for measure in _OF_DECISIONS}
    values |= {measure: (areas[measure.name], _NO_AREA) for measure in AREAS if areas and measure.name in areas}
    found = (
        ClassMeasure(measure, each, _weighted_mean(each, decisions.class_totals), undefined)
        for measure, (each, undefined) in values.items()
    )
    return ClassMeasures(decisions, tuple(found), bool(areas))


def class_areas(table: ClassTable | ClassBins) -> dict[str, Array]:
    """Areas of each class against the rest, by measure."""
    return {measure.name: by_class(measure, table) for measure in AREAS}


def _weighted_mean(values: Array, totals: Array) -> float:
    """Mean over the classes in which the measure is defined; NaN without one."""
    weights = np.where(np.isnan(values), 0.0, totals)
    return float(ratio((np.nan_to_num(values) * weights).sum(), weights.sum()))
