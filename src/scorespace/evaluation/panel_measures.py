"""Measures over all thresholds of the interactive panel: limits, printed texts and encoding for the script."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import numpy as np

from scorespace.inference.analytic import wilson_interval
from scorespace.inference.estimate import Estimate
from scorespace.inference.interval import is_proportion, resolve_interval, unequal_trials
from scorespace.inference.interval_formulas import unit_weights
from scorespace.inference.jeffreys import OutcomeCache, jeffreys_interval, jeffreys_limits
from scorespace.inference.proportion import wilson
from scorespace.measures import MeasureSpec
from scorespace.measures.request import Request, bind
from scorespace.report.protocol import ResultsView
from scorespace.results import decimal_places_by_column, decimals
from scorespace.tables import Array, Counts, ScoreTable, Table, ratio

_INTEGERS: Final = (("i2", 2**15 - 1), ("i4", 2**31 - 1))
"""Integer types of measures; the negative of the number encodes undefined values."""

SCRIPT_MEASURES: Final = frozenset(
    (
        *("tp", "fp", "fn", "tn", "p", "n", "pp", "pn", "acc", "err", "ppv", "npv", "fdr", "fomr", "f1", "fbeta", "fm"),
        *("mcc", "kappa", "markedness", "jaccard", "prevalence", "nir", "pp_rate", "lift"),
    )
)
"""Prevalence-dependent measures whose formulas the script of the report implements."""


@dataclass(frozen=True)
class MeasureCurve:
    """A measure at every kept threshold, with its confidence limits."""

    spec: MeasureSpec
    value: Array
    low: Array
    high: Array

    @property
    def depends_on_prevalence(self) -> bool:
        """Whether the measure depends on the class proportions."""
        return not self.spec.measure.drawn_within(**self.spec.arguments)

    def at(self, counts: Counts, prevalence: float) -> float:
        """Value for another prevalence; NaN if the script does not implement the measure."""
        is_known = self.spec.name in SCRIPT_MEASURES
        return float(replace(self.spec, prevalence=prevalence).along(counts)) if is_known else math.nan


def measure_curve(
    evaluation: ResultsView,
    table: ScoreTable,
    kept: Array,
    spec: MeasureSpec,
    prevalence: float | None = None,
    *,
    nodes: Array,
    outcomes: OutcomeCache,
    units: Callable[[], Array],
) -> MeasureCurve:
    """A measure at the kept thresholds, with Wilson or Jeffreys limits where these are its default intervals."""
    spec, counts = spec.for_prevalence(prevalence), table.sweep[kept]
    value = spec.along(counts)
    request = bind(replace(spec, at=0.5), table)
    method = resolve_interval(request, evaluation.interval, strict=False).name
    if evaluation.models.grouped or not table.counted:
        method = "none"
    # The default of a weighted proportion depends on the weights of its trials, which change with the threshold.
    by_weights = counts.squares is not None and evaluation.interval is None and not request.stated
    if by_weights and method != "none" and is_proportion(request):
        is_simulated = np.array([unequal_trials(request, one) for one in units()])
    else:
        is_simulated = np.full(kept.size, method == jeffreys_interval.name)
    if is_simulated.all():
        return MeasureCurve(spec, value, *simulated_limits(evaluation, request, counts, value, nodes, outcomes))
    if method in (wilson_interval.name, jeffreys_interval.name) and is_proportion(request):
        name = str(request.measure.trials)
        trials = getattr(counts, name)
        if counts.squares is not None:
            trials = ratio(trials * trials, getattr(counts.squares, name))
        limits = wilson_limits(request, value, trials, evaluation.level)
        if is_simulated.any():
            simulated = simulated_limits(evaluation, request, counts, value, nodes, outcomes)
            low, high = np.where(is_simulated, simulated, limits)
            limits = low, high
        return MeasureCurve(spec, value, *limits)
    undefined = np.full(kept.size, math.nan)
    return MeasureCurve(spec, value, undefined, undefined)


def units_at(table: ScoreTable, kept: Array) -> Callable[[], Array]:
    """The weight of a case in each outcome at the kept thresholds, computed once when first needed."""

    @cache
    def units() -> Array:
        counts = table.sweep[kept]
        pairs = zip(counts.cells, np.asarray(counts.cell_squares), strict=True)
        return np.stack([unit_weights(counts.strata, cells, squares) for cells, squares in pairs])

    return units


def wilson_limits(request: Request, value: Array, trials: Array, level: float) -> tuple[Array, Array]:
    """Wilson limits of a proportion at every threshold."""
    to_share, back = request.measure.share or (np.asarray, np.asarray)
    low, high = wilson(np.asarray(to_share(value)) * trials, trials, level)  # type: ignore[arg-type]
    return np.asarray(back(low)), np.asarray(back(high))


def simulated_limits(
    evaluation: ResultsView,
    request: Request,
    table: Table,
    value: Array,
    nodes: Array,
    outcomes: OutcomeCache | None = None,
) -> tuple[Array, Array]:
    """Limits simulated at the nodes; between nodes their distance from the value is interpolated linearly."""
    nodes = nodes[np.isfinite(value[nodes])]
    if not nodes.size:
        return value * math.nan, value * math.nan
    squares = None if table.cell_squares is None else table.cell_squares[nodes]
    limits_at_nodes = jeffreys_limits(
        request, table.cells[nodes], evaluation.level, evaluation.seed, outcomes, squares=squares
    )
    indices, (lowest, highest) = np.arange(value.size), request.range
    low, high = (value + np.interp(indices, nodes, limit - value[nodes]) for limit in limits_at_nodes)
    return np.maximum(low, lowest), np.minimum(high, highest)


def cost_text(value: float) -> str:
    """A cost as in tables and sentences."""
    return decimals(value)


def estimate_text(measure: MeasureCurve, index: int) -> str:
    """Value and interval of a measure at a threshold."""
    value_and_limits = float(measure.value[index]), float(measure.low[index]), float(measure.high[index])
    return Estimate("", measure.spec, *value_and_limits, math.nan, None, None).text


def encode_measure(measure: MeasureCurve) -> list[str]:
    """Value and limits as integers in units of their last decimal, and the number of decimals."""
    has_limits = ~(np.isnan(measure.low) | np.isnan(measure.high))
    n_decimals = decimal_places_by_column(
        np.stack([measure.value, *(np.where(has_limits, side, np.nan) for side in (measure.low, measure.high))])
    )
    if measure.spec.measure.count:
        n_decimals = np.where(measure.value == np.rint(measure.value), 0, n_decimals)
    # Rounded to the printed digits, so that Python and the script print the same text.
    sides = [_rounded(side, n_decimals) for side in (measure.value, measure.low, measure.high)]
    scaled = [np.rint(side * 10.0**n_decimals) for side in sides]
    largest = max((float(np.nanmax(np.abs(side), initial=0.0)) for side in scaled), default=0.0)
    kind, undefined = next((pair for pair in _INTEGERS if largest < pair[1]), ("f8", 0))
    if kind == "f8":
        return [*(encode_array(side) for side in sides), encode_array(n_decimals, "u1")]
    return [
        *(encode_array(np.where(np.isnan(side), -undefined, side), kind) for side in scaled),
        encode_array(n_decimals, "u1"),
    ]


def _rounded(values: Array, n_decimals: Array) -> Array:
    """Round as in printed texts: exact decimals for values near a tie."""
    scale = 10.0**n_decimals
    scaled = values * scale
    rounded = np.rint(scaled) / scale
    with np.errstate(invalid="ignore"):  # infinite values
        near_tie = np.flatnonzero(np.abs(scaled - np.floor(scaled) - 0.5) < 1e-6)
    rounded[near_tie] = [
        float(f"{value:.{n}f}")
        for value, n in zip(values[near_tie].tolist(), n_decimals[near_tie].tolist(), strict=True)
    ]
    return np.asarray(rounded)


def encode_array(values: Any, kind: str = "f8") -> str:
    """An array as base64 text with its type."""
    return f"{kind} {base64.b64encode(np.ascontiguousarray(values, dtype=f'<{kind}').tobytes()).decode()}"
