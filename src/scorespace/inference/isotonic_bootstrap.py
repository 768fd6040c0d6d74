"""Intervals of calibration and refinement in regression, by bootstrap around a fitted (isotonic or smooth) curve."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Final

import numpy as np

from scorespace.curves.isotonic import increasing_regression
from scorespace.inference import interval_formulas
from scorespace.inference.interval import Interval, IntervalRequest, interval, undefined_interval
from scorespace.inference.parametric_bootstrap import STEPS
from scorespace.tables import Array

_DRAWS: Final = 100
_PERFECT_FIT: Final = "the fitted curve passes through every true value"
_MAX_LEVELS: Final = 2048  # distinct predictions above which neighbours are merged: an isotonic fit has far fewer steps
_NEAR_FIT: Final = (2, 3)  # positions in STEPS next to the fitted recalibration
_MIN_RESIDUAL_SHARE: Final = 0.2  # minimum share of the error of a case that the fit leaves


@dataclass(frozen=True)
class SmoothTruth:
    """True values around a smooth curve of the predictions, and their resampling.

    Values are centred at the mean true value and scaled by `unit`, the largest absolute value. `noise` is the residual
    from the curve, corrected for leverage; `squares` are squared weights, or copies.
    """

    predicted: Array
    truth: Array
    weight: Array
    squares: Array
    noise: Array
    curve: Array
    level: Array
    unit: float

    @cached_property
    def levels(self) -> tuple[Array, Array, Array]:
        """Weight, mean prediction and standard error of the mean true value, at each level of predictions."""
        weight = np.bincount(self.level, self.weight)
        place = np.bincount(self.level, self.weight * self.predicted) / weight
        return weight, place, np.sqrt(np.bincount(self.level, self.squares * self.noise**2)) / weight

    def share(self, values: Array) -> Array:
        """Weighted mean over levels."""
        weight = self.levels[0]
        return np.asarray(values @ weight / weight.sum())

    def mean(self, values: Array) -> float:
        return float(values @ self.weight / self.weight.sum())

    def error(self, values: Array, cases: float) -> float:
        """Standard error of a weighted mean over cases."""
        deviations = values - self.mean(values)
        return float(np.sqrt(self.squares @ deviations**2 * cases / max(1.0, cases - 1)) / self.weight.sum())

    def drawn(self, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """Return true and replicated miscalibration, and refinement, along the recalibration path.

        Shapes (steps,), (steps, draws) and (steps, draws). The last is the squared noise that the isotonic fit of a
        replicate leaves.
        """
        weight, place, error = self.levels
        correction = np.bincount(self.level, self.weight * (self.curve - self.predicted)) / weight
        noise = rng.standard_normal((_DRAWS, weight.size))
        is_single = np.bincount(self.level) == 1
        noise = np.where(is_single, np.sign(noise), noise)  # the size of a single error is known, its sign is random
        expected = place + np.asarray(STEPS)[:, None] * correction
        truths = expected[:, None, :] + error * noise
        curves = increasing_regression(
            truths.reshape(-1, weight.size), np.broadcast_to(weight, (_DRAWS * len(STEPS), weight.size))
        )
        refinement = self.share((curves.reshape(truths.shape) - truths) ** 2)
        return self.share((expected - place) ** 2), self.share((place - truths) ** 2) - refinement, refinement


def fit_truth(table: Any) -> SmoothTruth:
    """Fit the curve of a residual table: predictions plus a parabola fitted to the errors.

    Where the isotonic fit predicts better by generalised cross-validation, as for a steep step, it is used instead.
    """
    numbers, weight = table.numbers, np.asarray(table.cells, dtype=np.float64)
    predicted, truth = numbers.predicted - numbers.mean, numbers.truth - numbers.mean
    unit = float(max(np.abs(predicted).max(), np.abs(truth).max())) or 1.0
    predicted, truth = predicted / unit, truth / unit
    squares = weight if table.cell_squares is None else table.cell_squares
    order = numbers.by_prediction
    is_new = np.append(True, np.diff(numbers.predicted[order]) > 0)
    distinct = np.cumsum(is_new) - 1
    if distinct[-1] >= _MAX_LEVELS:
        before = np.cumsum(weight[order]) - weight[order]
        distinct = np.minimum(before / weight.sum() * _MAX_LEVELS, _MAX_LEVELS - 1).astype(np.intp)[is_new][distinct]
        distinct = np.unique(distinct, return_inverse=True)[1]
    level = np.empty(order.size, dtype=np.intp)
    level[order] = distinct
    spread = float(predicted.std()) or 1.0
    places = (predicted - predicted.mean()) / spread
    powers = np.stack([np.ones(places.size), places, places**2], axis=1)[:, : min(3, int(level.max()) + 1)]
    root = np.sqrt(weight / weight.sum())[:, None]
    axes = np.linalg.qr(powers * root)[0]
    parabola = predicted + (axes @ (axes.T @ ((truth - predicted) * root[:, 0]))) / root[:, 0], (axes**2).sum(axis=1)
    curve, share = min(
        parabola,
        _isotonic_fit(truth, weight, level),
        key=lambda fit: _cross_validation_error(truth, weight, squares, *fit),
    )
    leverage = share * squares / weight**2  # leverage of one copy
    noise = (truth - curve) / np.maximum(_MIN_RESIDUAL_SHARE, 1 - leverage)
    return SmoothTruth(predicted, truth, weight, squares, noise, curve, level, unit)


def _isotonic_fit(truth: Array, weight: Array, level: Array) -> tuple[Array, Array]:
    """Return the isotonic fit of the true values, and the leverage of each case."""
    size = np.bincount(level, weight)
    curve = increasing_regression(np.bincount(level, weight * truth) / size, size)[0]
    step = np.append(0, np.cumsum(np.diff(curve) != 0))
    return curve[level], weight / np.bincount(step, size)[step][level]


def _cross_validation_error(truth: Array, weight: Array, squares: Array, curve: Array, share: Array) -> float:
    """Generalised cross-validation error Σ e² / (1 − p / n)² of a curve with p fitted numbers and n cases.

    Infinite if there are about as many fitted numbers as cases.
    """
    free = 1 - float(share.sum() * squares.sum() / weight.sum() ** 2)
    return float(weight @ (truth - curve) ** 2) / free**2 if free > _MIN_RESIDUAL_SHARE else np.inf


_regression_interval = partial(interval, declared=True, weighted=True, instead="none")


@_regression_interval("test-inversion-regression", "test inversion for calibration in regression")
def regression_calibration_interval(plan: IntervalRequest) -> Interval:
    """Test inversion for calibration errors, which are biased upwards: which degrees of miscalibration are consistent.

    True values are drawn around the predictions themselves and around ever stronger recalibrations of them.
    """
    cases = float(plan.table.cases)
    if cases < 3:
        return undefined_interval("fewer than three cases")
    fit, (expected, values, _) = _fit_and_draw(plan)
    value = plan.value / fit.unit / fit.unit
    gains = (fit.predicted - fit.truth) ** 2 - (fit.curve - fit.truth) ** 2
    low, high = interval_formulas.invert_test(
        value, expected, values, cases, plan.level, spread=fit.error(gains, cases)
    )
    scale = fit.unit * fit.unit
    result = _including(plan.value, float(low) * scale, float(high) * scale, "test-inversion")
    return replace(result, chance=float(values[0].mean()) * scale)


@_regression_interval("bias-corrected-regression", "isotonic bootstrap, corrected for bias")
def refinement_interval(plan: IntervalRequest) -> Interval:
    """Correct the refinement loss for the overfit of the isotonic curve, then treat it as a mean loss."""
    cases = float(plan.table.cases)
    if cases < 3:
        return undefined_interval("fewer than three cases")
    fit, (_, _, refinement) = _fit_and_draw(plan)
    total = fit.mean(fit.noise**2)
    if not total > 0:
        return Interval(plan.value, plan.value, "bias-corrected")
    if not plan.value > 0:
        return undefined_interval(_PERFECT_FIT)
    overfit = float(fit.share(fit.levels[2] ** 2)) - float(refinement[list(_NEAR_FIT)].mean())
    share = min(1.0, max(_MIN_RESIDUAL_SHARE, 1 - overfit / total))
    weight = fit.levels[0]
    means = np.bincount(fit.level, fit.weight * fit.truth) / weight
    losses = (fit.truth - increasing_regression(means, weight)[0][fit.level]) ** 2 / share
    centre = fit.mean(losses)
    if not centre > 0:  # the value is only rounding error
        return undefined_interval(_PERFECT_FIT)
    error, t = fit.error(losses, cases) / centre, float(interval_formulas.student_quantile(plan.level, cases))
    deviations = losses / centre - 1
    spread = fit.mean(deviations**2)
    skew = fit.mean(deviations**3) / spread**1.5 / np.sqrt(cases) if spread > 0 else 0.0
    skew_correction = error * skew * (2 * t * t + 1) / 6
    value = plan.value / share
    low, high = (
        value * np.exp(min(0.0, skew_correction) - t * error),
        value * np.exp(t * error + max(0.0, skew_correction)),
    )
    return _including(plan.value, float(low), float(high), "bias-corrected")


def _fit_and_draw(plan: IntervalRequest) -> tuple[SmoothTruth, tuple[Array, Array, Array]]:
    """Return the fitted curve of a table and its replicates, drawn once for both intervals."""
    cached = plan.parametric_cache.get("fitted")
    if cached is None or cached[0] is not plan.table:
        fit = fit_truth(plan.table)
        cached = plan.table, fit, fit.drawn(np.random.default_rng([plan.draws.seed, 6]))
        plan.parametric_cache["fitted"] = cached
    return cached[1], cached[2]


def _including(value: float, low: float, high: float, method: str) -> Interval:
    """Extend limits so that they include the estimate, which a bias correction may exclude."""
    return Interval(max(0.0, min(low, value)), max(high, value), method)
