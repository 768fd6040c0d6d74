"""A binary model at all kept thresholds: outcomes, measures, thresholds and their encoding for the script."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from scorespace.decisions.cross_fitting import CostPath
from scorespace.evaluation.panel_measures import (
    MeasureCurve,
    encode_array,
    encode_measure,
)
from scorespace.evaluation.panel_thresholds import (
    TOP_BUTTONS,
    describe_ties,
)
from scorespace.results import Row
from scorespace.tables import Array, Counts, ScoreTable, ratio
from scorespace.tables.paired import binary_class_names
from scorespace.tables.threshold import Threshold, threshold_text, to_scale_units


@dataclass(frozen=True)
class OperatingPoints:
    """A model at its kept thresholds, from +inf downwards; a crisp classifier has a single point."""

    name: str
    table: ScoreTable
    kept: Array
    crisp: bool
    at: float
    """Threshold at which the report opens."""
    measures: tuple[MeasureCurve, ...]
    cost: MeasureCurve | None = None
    cross_fitted: tuple[CostPath | None, ...] = (None, None)
    target_prevalence: float | None = None
    """Prevalence of the drawn curves, if it is not that of the sample."""

    @property
    def labels(self) -> tuple[str, str]:
        """Labels of the positive and the negative class."""
        negative, positive = binary_class_names(self.table.classes, self.table.positive)
        return positive, negative

    @property
    def positives(self) -> float:
        return float(self.table.n_pos)

    @property
    def negatives(self) -> float:
        return float(self.table.n_neg)

    @property
    def prevalence(self) -> float:
        return self.positives / (self.positives + self.negatives)

    @cached_property
    def counts(self) -> Counts:
        return self.table.sweep[self.kept]

    @cached_property
    def reweighted(self) -> Counts:
        """Outcomes at the prevalence of the drawn curves."""
        return self.counts if self.target_prevalence is None else self.counts.at_prevalence(self.target_prevalence)

    @cached_property
    def threshold(self) -> Array:
        return self.table.thresholds[self.kept]

    @cached_property
    def rounded_thresholds(self) -> list[Threshold]:
        """Thresholds with just enough digits to classify every case as the exact ones."""
        return [self.table.threshold(float(threshold)) for threshold in self.threshold]

    def threshold_label(self, index: int, threshold: float) -> str:
        """Text of a threshold: that of a score in the sample, or as typed."""
        if self.crisp:
            return "–"
        if math.isinf(threshold):
            return "above all scores"
        is_score = threshold == self.threshold[index]
        return threshold_text(
            self.rounded_thresholds[index] if is_score else to_scale_units(threshold, self.table.scale)
        )

    @cached_property
    def ties(self) -> dict[str, str]:
        """Notes on ties, by the number of top-ranked cases that no threshold selects exactly."""
        return {} if self.crisp else {top: text for top in TOP_BUTTONS if (text := describe_ties(self.table, top))}

    def shares(self, index: int) -> dict[str, float]:
        """Each outcome as a proportion of its class (tpr, fnr, fpr, tnr) at a point."""
        of_class = {"tp": self.positives, "fn": self.positives, "fp": self.negatives, "tn": self.negatives}
        return {side: float(getattr(self.counts, side)[index]) / total for side, total in of_class.items()}

    def index_at(self, threshold: float) -> int:
        """Index of the kept threshold that selects the cases with a score of at least `threshold`."""
        return 0 if self.crisp else int(np.searchsorted(-self.threshold, -threshold, side="right")) - 1


def precision(points: OperatingPoints) -> Array:
    """Precision at each threshold."""
    return np.asarray(ratio(points.reweighted.tp, points.reweighted.pp))


def net_benefit(points: OperatingPoints) -> Array:
    """Net benefit at each threshold (Vickers & Elkin 2006), if the scores are probabilities."""
    if points.crisp or not points.table.probabilities:
        return np.full(points.kept.size, math.nan)
    threshold = np.where(points.threshold < 1, points.threshold, math.nan)  # at 1 the weight of FP is infinite
    return np.asarray(
        ratio(points.reweighted.tp - points.reweighted.fp * threshold / (1 - threshold), points.reweighted.total)
    )


def encode_points(points: OperatingPoints) -> Row:
    """Data of a model for the script, arrays as base64."""
    is_integer = bool(points.table.whole) and float(points.table.total) < 2**32
    sides: Mapping[str, Array] = {"tp": points.counts.tp, "fp": points.counts.fp}
    return {
        "name": points.name,
        "positives": points.positives,
        "negatives": points.negatives,
        "crisp": points.crisp,
        "at": finite(points.at),
        "threshold": encode_array(points.threshold),
        "scale": points.table.scale,
        "rounded": encode_array([math.inf if math.isinf(at) else float(at.text) for at in points.rounded_thresholds]),
        **{side: encode_array(counts, "u4" if is_integer else "f8") for side, counts in sides.items()},
        "shown": [encode_measure(measure) for measure in points.measures],
        "cost": None if points.cost is None else encode_measure(points.cost),
        "cross_fitted": [
            None
            if path is None
            else {"worth": encode_array(path.worth), "tp": encode_array(path.tp), "fp": encode_array(path.fp)}
            for path in points.cross_fitted
        ],
    }


def finite(value: float) -> float | None:
    """The value, or None if it is infinite or undefined."""
    return value if math.isfinite(value) else None
