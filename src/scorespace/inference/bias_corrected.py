"""Intervals by parametric bootstrap for measures that are fitted to their cases and therefore biased, such as KS."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
from scipy.special import expit, logit

from scorespace.curves.smooth_calibration import MANY_RARE, RIDGE, fit_spline
from scorespace.inference import interval_formulas, parametric_bootstrap
from scorespace.inference.calibration_null import calibration_null, merge_scores
from scorespace.inference.interval import (
    PARAMETRIC_ROWS,
    Interval,
    IntervalRequest,
    bootstrap_method,
    clip_to_range,
    is_score_measure,
    undefined_interval,
)
from scorespace.measures.request import Request
from scorespace.measures.smooth_calibration import emax
from scorespace.tables import Array, ScoreTable

RateModel = Callable[[ScoreTable, Array, Array], Array]
"""Function of a table, cases and positives at each score that returns rates of positives, shape (models, scores)."""

_BIAS_DRAWS: Final = 250
_INVERSION_DRAWS: Final = 100
_MIN_DEFINED_DRAWS: Final = 10  # replicates with both classes that the test of a model needs
_MIN_CASES_OF_MAXIMUM: Final = 500


def _has_finite_range(request: Request) -> bool:
    return is_score_measure(request) and all(map(math.isfinite, request.range))


@dataclass(frozen=True)
class _EffectiveWeights:
    """Effective number of cases at each score, the weights of one positive and one negative, and a scale for all.

    Weights may differ by class, as in a case-control sample: `odds` is the weight of a positive relative to a negative.
    `worth` is the effective sample size per unit of weight.
    """

    number: Array
    positive: Array
    negative: Array
    odds: float
    worth: float

    def counts(self, positives: Array) -> Array:
        """Weights (…, 2, scores) of negatives and positives, for the given number of positives at each score."""
        return np.stack([(self.number - positives) * self.negative, positives * self.positive], axis=-2)


def _weights(table: ScoreTable) -> _EffectiveWeights | None:
    """Return the effective weights of a table; None for unweighted cases."""
    if table.squares is None:
        return None
    weight = np.stack([table.neg, table.pos]).astype(np.float64)
    pos_squares = table.squares[table.positive]
    squares = np.stack([table.squares.sum(axis=0) - pos_squares, pos_squares])
    number = np.maximum(1.0, np.round(interval_formulas.effective_sample_size(weight, squares).sum(axis=0)))
    total = weight.sum()
    is_upper = np.cumsum(weight.sum(axis=0)) <= total / 2
    halves = [
        np.stack([sums[:, is_upper].sum(axis=1), sums[:, ~is_upper].sum(axis=1)], axis=1) for sums in (weight, squares)
    ]
    unit = interval_formulas.effective_case_weights(*halves)
    odds = float(np.exp(np.log(unit[1] / unit[0]).mean()))
    positive = (weight[1] + weight[0] * odds) / number
    return _EffectiveWeights(
        number,
        positive,
        positive / odds,
        odds,
        float(interval_formulas.effective_sample_size(total, squares.sum()) / total),
    )


@dataclass(frozen=True)
class _ParametricReplicates:
    """Tables under models with known rates of positives, and parametric bootstrap replicates of them.

    `of` is the table that the models are fitted to, `light` the one whose labels were drawn. A condensed table leaves
    less noise to fit, so the observed value is taken from it as well.
    """

    of: ScoreTable
    light: ScoreTable
    known: ScoreTable
    drawn: ScoreTable

    def values(self, request: Request) -> tuple[float, Array, Array]:
        """Return the observed value, the value under each model, and the replicates, shape (models, draws)."""
        tables = self.light, self.known, self.drawn
        observed, expected, replicates = (np.asarray(request.formula(table), dtype=np.float64) for table in tables)
        return float(observed), expected, replicates.reshape(-1, expected.size).T


def _parametric_replicates(
    plan: IntervalRequest, name: str, rates_of: RateModel, draws: int, stream: int
) -> _ParametricReplicates:
    """Return parametric replicates for these rates, drawn once for all measures of a table."""
    table = plan.request.table.inside(ScoreTable)
    cached = plan.parametric_cache.get(name)
    if cached is None or cached.of is not table:
        light = merge_scores(table, PARAMETRIC_ROWS) if table.score.size > 2 * PARAMETRIC_ROWS else table
        cases, weights = light.counts.sum(axis=-2, dtype=np.float64), _weights(light)
        worth = 1.0 if weights is None else weights.worth
        rates = rates_of(light, cases * worth, light.pos * worth)
        # These are draws of labels, not of cases, so they need a stream of their own.
        rng = np.random.default_rng([plan.draws.seed, stream])
        if weights is None:
            positives = parametric_bootstrap.draw_labels(cases, rates, rng, draws).reshape(-1, cases.size)
            known, drawn = (
                parametric_bootstrap.with_positives(light, cases * rates),
                parametric_bootstrap.with_positives(light, positives),
            )
        else:
            # In a weighted sample a class is the rarer the heavier its cases are.
            sampled = rates / (rates + (1 - rates) * weights.odds)
            positives = parametric_bootstrap.draw_labels(weights.number, sampled, rng, draws).reshape(-1, cases.size)
            expected, observed = (weights.counts(labels) for labels in (weights.number * sampled, positives))
            known, drawn = (ScoreTable(light.score, labels, ("0", "1"), 1) for labels in (expected, observed))
        cached = plan.parametric_cache[name] = _ParametricReplicates(table, light, known, drawn)
    return cached


@bootstrap_method(
    "bias-corrected", "parametric bootstrap, corrected for bias", suits=_has_finite_range, instead="bias-shifted"
)
def bias_corrected_interval(plan: IntervalRequest) -> Interval:
    """Estimate bias and error of the measure by a parametric bootstrap from smooth rates, where its value is known.

    KS and similar measures are maxima over thresholds on the same cases, so they are biased upwards; resampling cases
    shows about half of that. If the value is consistent with labels unrelated to the scores, the interval includes the
    value without any relation.
    """
    table = plan.request.table.inside(ScoreTable)
    if table.score.size == 1:
        # No labels would change the value.
        return undefined_interval("every case has the same score")
    if min(table.n_pos, table.n_neg) == 0:
        return undefined_interval("only one class is present")
    observed, expected, values = _parametric_replicates(
        plan, "smooth", _smooth_and_constant_rates, _BIAS_DRAWS, stream=3
    ).values(plan.request)
    defined, reason = plan.replicates()
    if not (defined.size and np.isfinite(values).any(axis=1).all() and np.isfinite(expected).all()):
        return undefined_interval("the measure is undefined in every replicate")
    low, high = _corrected(plan, observed, expected[0], values[0])
    if interval_formulas.is_consistent_with(observed, expected[1], values[1], plan.rarer_class_size, plan.level):
        low, high = min(low, expected[1]), max(high, expected[1])
    return clip_to_range(plan, low, high, f"bias-corrected{plan.how}", reason)


def _corrected(plan: IntervalRequest, observed: float, expected: Array, values: Array) -> tuple[float, float]:
    """Return the limits for the bias and the error under one model."""
    spread, measure_range = float(plan.replicates()[0].std()), plan.request.range
    return interval_formulas.bias_corrected(
        observed, expected, values, plan.rarer_class_size, plan.level, spread=spread, range_=measure_range
    )


@bootstrap_method(
    "bias-corrected-hull",
    "bias-corrected, also for non-concave ROC curves",
    suits=_has_finite_range,
    declared=True,
    instead="bias-shifted",
)
def bias_corrected_hull_interval(plan: IntervalRequest) -> Interval:
    """Bias-corrected, at least as wide as a step model requires: a hull is most biased where the ROC is linear."""
    smooth = bias_corrected_interval.function(plan)
    if smooth.method is None:
        return smooth
    observed, expected, values = _parametric_replicates(plan, "steps", _step_rates, _BIAS_DRAWS, stream=7).values(
        plan.request
    )
    low, high = _corrected(plan, observed, expected[0], values[0])
    return clip_to_range(
        plan, min(low, smooth.low), max(high, smooth.high), f"bias-corrected-hull{plan.how}", smooth.reason
    )


def _step_rates(table: ScoreTable, cases: Array, positives: Array) -> Array:
    """Rates (1, scores) that are constant within each of a few intervals of ranks."""
    return parametric_bootstrap.rates_in_steps(cases, positives)[None]


def _smooth_and_constant_rates(table: ScoreTable, cases: Array, positives: Array) -> Array:
    """Rates (2, scores): a smooth function of rank, and a constant."""
    return np.stack(
        [parametric_bootstrap.rates_by_rank(cases, positives), np.full(cases.size, float(table.n_pos / table.total))]
    )


def _recalibrated_rates(table: ScoreTable, cases: Array, positives: Array) -> Array:
    """Rates (steps, scores) from the scores themselves to ever stronger recalibrations."""
    return parametric_bootstrap.recalibration_path(table.score, cases, positives)


def _recalibrated_fixed_ends(table: ScoreTable, cases: Array, positives: Array) -> Array:
    """The same rates, but scores of exactly 0 and 1 remain unchanged."""
    return np.where((table.score == 0) | (table.score == 1), table.score, _recalibrated_rates(table, cases, positives))


@bootstrap_method("test-inversion", "test inversion by parametric bootstrap", suits=is_score_measure, instead="none")
def test_inversion_interval(plan: IntervalRequest) -> Interval:
    """Test inversion for measures that are biased above zero: which degrees of miscalibration are consistent.

    Labels are drawn from the scores themselves and from ever stronger recalibrations of them.
    """
    replicates = _parametric_replicates(plan, "recalibrated", _recalibrated_rates, _INVERSION_DRAWS, stream=4)
    if not np.isfinite(replicates.values(plan.request)[1]).all():  # a wrong score of 0 or 1 has an infinite loss
        replicates = _parametric_replicates(plan, "at their word", _recalibrated_fixed_ends, _INVERSION_DRAWS, stream=4)
    return _inverted(plan, replicates, "test-inversion")


@bootstrap_method(
    "test-inversion-smooth",
    "test inversion along the smooth calibration curve",
    suits=is_score_measure,
    declared=True,
    instead="none",
)
def smooth_inversion_interval(plan: IntervalRequest) -> Interval:
    """Test inversion for distances from the smooth calibration curve, whose labels are drawn along that curve.

    The largest distance rests on the outermost cases, so it has an interval from 500 cases on.
    """
    table = plan.request.table.inside(ScoreTable)
    if min(table.n_pos, table.n_neg) == 0:
        return undefined_interval("only one class is present")
    if plan.request.measure is emax and plan.table.cases < _MIN_CASES_OF_MAXIMUM:
        return undefined_interval(f"the largest distance rests on few of fewer than {_MIN_CASES_OF_MAXIMUM} cases")
    options = plan.request.spec.arguments
    knots = options.get("knots") or (5 if min(table.n_pos, table.n_neg) >= MANY_RARE else 4)
    ridge = options.get("ridge", RIDGE)

    def rates(table: ScoreTable, cases: Array, positives: Array) -> Array:
        path = np.asarray(parametric_bootstrap.STEPS)[:, None]
        x = logit(np.clip(table.score, 1e-6, 1 - 1e-6))
        curve = fit_spline(parametric_bootstrap.with_positives(table, positives), knots, ridge).rate(table.score)
        return np.asarray(expit(x + path * (logit(np.clip(curve, 1e-9, 1 - 1e-9)) - x)))

    request = replace(plan.request, formula=partial(plan.request.formula, knots=knots))
    name = f"smooth calibration, {knots} knots, ridge {ridge:g}"
    replicates = _parametric_replicates(plan, name, rates, _INVERSION_DRAWS, stream=4)
    return _inverted(replace(plan, request=request), replicates, "test-inversion")


def _inverted(plan: IntervalRequest, replicates: _ParametricReplicates, method: str) -> Interval:
    """Invert the test of each model on a path of ever stronger miscalibration."""
    observed, expected, values = replicates.values(plan.request)
    # Far along the path all labels may be of one class; such models cannot be tested, so the path ends before them.
    tested = (~np.isnan(values)).sum(axis=1) >= _MIN_DEFINED_DRAWS
    length = tested.size if tested.all() else int(np.argmin(tested))
    if length <= interval_formulas.NEAREST_MODEL:
        return undefined_interval("the measure is undefined in almost every replicate")
    path = slice(length)
    defined, reason = plan.replicates()
    low, high = interval_formulas.invert_test(
        observed, expected[path], values[path], plan.rarer_class_size, plan.level, spread=float(defined.std())
    )
    result = clip_to_range(plan, low, high, f"{method}{plan.how}", reason)
    name, table = replace(plan.request.spec, of=None).canonical, plan.request.table.inside(ScoreTable)
    # Labels can be drawn only from probabilities.
    source, share = table, plan.request.spec.prevalence if plan.request.stated else None
    if share is not None:
        source = plan.table.inside(ScoreTable, plan.request.spec.of)
        share = share if source.positive_name == plan.table.positive_name else 1 - share
    options: dict[str, Any] = {"seed": plan.draws.seed, "prevalence": share}
    chance = calibration_null(source, name, plan.request.formula, **options) if table.probabilities else None
    return replace(result, chance=float(np.nanmean(values[0] if chance is None else chance[1])))
