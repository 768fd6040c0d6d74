"""Numbers that sections of the report show besides estimates; an evaluation computes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scorespace.curves.smooth import Gaps, SmoothCurve
from scorespace.decisions.hard_cases import CaseZones
from scorespace.measures import Measure
from scorespace.tables import Array, ScoreTable


@dataclass(frozen=True)
class SmoothModel:
    """Smooth ROC curve and uncertain cases of a model, with areas under the curves and their standard deviations."""

    table: ScoreTable
    curve: SmoothCurve
    zones: CaseZones
    gaps: Gaps
    set_sizes: Mapping[str, float]
    areas: tuple[tuple[Measure, float], ...]
    sd_auc: float
    sd_smauc: float


@dataclass(frozen=True)
class CalibrationBins:
    """Bins of scores: their range, weight of cases, mean score, and observed rate with its interval."""

    lowest: Array
    highest: Array
    cases: Array
    mean_score: Array
    rate: Array
    low: Array
    high: Array
