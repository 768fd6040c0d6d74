"""Out-of-sample outcomes of decisions, and confidence intervals of their cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from scorespace.costs import Condition
from scorespace.errors import DataError, warn_renamed
from scorespace.inference.proportion import normal_quantile, wilson
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.cost import cost
from scorespace.results import Row, decimals, format_interval, grouped, join_words, short, to_json_types
from scorespace.tables import Array, Counts, ScoreTable
from scorespace.tables.labels import is_plain_code
from scorespace.tables.threshold import threshold_text

OUTCOMES: Final = ("tp", "fp", "fn", "tn")
Losses = tuple[float, float, float, float]
"""Loss of each of the outcomes tp, fp, fn, tn."""


@dataclass(frozen=True)
class CostEstimate:
    """An estimate with its confidence interval, or the reason why there is none.

    >>> CostEstimate(0.53, 0.47, 0.6)
    0.53 [0.47, 0.6]
    """

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    reason: str | None = None

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return not (math.isnan(self.low) or math.isnan(self.high))

    def row(self, name: str, value: str | None = None) -> Row:
        """Return the value and its limits by name: `gain`, `gain_low`, `gain_high`."""
        return to_json_types({value or name: self.value, f"{name}_low": self.low, f"{name}_high": self.high})

    def named_row(self, what: str) -> Row:
        """Return the value and its limits as `cross_fitted_cost`, `cross_fitted_low` …, and by their names of 0.1."""
        return self.row("cross_fitted", f"cross_fitted_{what}") | self.row("honest", f"honest_{what}")

    def named(self, what: str, apparent: float, fitted: str | None) -> str:
        """Return the value with its kind (cross-fitted or external), interval and apparent value.

        >>> CostEstimate(0.53, 0.47, 0.6).named("ppv", 0.55, None)
        'cross-fitted ppv 0.530 [0.470, 0.600] (apparent 0.550)'
        """
        kind = "cross-fitted" if fitted is None else "external"
        return f"{kind} {what} {format_interval(self.value, self.low, self.high)} (apparent {decimals(apparent)})"

    def __neg__(self) -> CostEstimate:
        return CostEstimate(-self.value, -self.high, -self.low, self.reason)

    @property
    def text(self) -> str:
        """The value with its interval, as measures are printed."""
        return format_interval(self.value, self.low, self.high)

    def __repr__(self) -> str:
        if not self.known:
            return short(self.value)
        value, low, high = (short(number, self.low, self.high) for number in (self.value, self.low, self.high))
        return f"{value} [{low}, {high}]"


class FormerlyHonest:
    """A result whose `out_of_sample` was called `honest` in version 0.1."""

    out_of_sample: CostEstimate

    @property
    def honest(self) -> CostEstimate:
        """The former name of `out_of_sample`."""
        warn_renamed("honest", "out_of_sample")
        return self.out_of_sample


@dataclass(frozen=True)
class OutOfSampleCounts:
    """Out-of-sample outcomes of a decision, in each of several repeats.

    `folds` is the number of folds of cross-fitting (0: another sample, or nothing was chosen); `spread` is the design
    effect. Where there are no outcomes, `reason` says why.

    >>> OutOfSampleCounts(Counts(tp=50, fp=30, fn=10, tn=110)).cost(Condition(fp=1, fn=5))
    0.4 [0.283, 0.6]
    """

    outcomes: Counts | None
    folds: int = 0
    spread: float = 1.0
    reason: str | None = None

    @property
    def counts(self) -> Counts | None:
        """Mean outcomes over repeats, not necessarily integers."""
        return None if self.outcomes is None else means(self.outcomes)

    def cost(self, condition: Condition, level: float = 0.95) -> CostEstimate:
        """The cost per case under a condition."""
        return self._mean((condition.tp, condition.fp, condition.fn, condition.tn), condition, level)

    def gain(self, condition: Condition, *, always: bool, level: float = 0.95) -> CostEstimate:
        """Saving per case against predicting every case positive (`always`) or negative."""
        c = condition
        savings = (0.0, 0.0, c.tp - c.fn, c.fp - c.tn) if always else (c.fn - c.tp, c.tn - c.fp, 0.0, 0.0)
        return self._mean(savings, condition, level)

    def shares(self, condition: Condition | None = None) -> dict[str, float]:
        """Share of cases with each outcome, at the stated prevalence."""
        if self.counts is None:
            return dict.fromkeys(OUTCOMES, math.nan)
        prevalence = None if condition is None else condition.prevalence
        return dict(zip(OUTCOMES, map(float, shares_at(self.counts, prevalence)), strict=True))

    def measure(self, spec: MeasureSpec, level: float = 0.95) -> CostEstimate:
        """Estimate a measure of decisions: Wilson's interval for a proportion, else the delta method."""
        counts, outcomes = self.counts, self.outcomes
        if counts is None or outcomes is None:
            return CostEstimate(reason=self.reason)
        value = value_of(spec, counts)
        if not math.isfinite(value):
            return CostEstimate(value, reason=spec.measure.reason(value))
        if spec.measure.trials is not None and spec.prevalence is None:
            trials = float(getattr(counts, spec.measure.trials)) / self.spread
            to_share, inverse = spec.measure.share or (float, float)
            low, high = wilson(to_share(value) * trials, trials, level)
            estimate = CostEstimate(value, inverse(low), inverse(high))
        else:
            half = normal_quantile(level) * math.sqrt(self.spread) * _delta_method_error(spec, counts)
            estimate = CostEstimate(value, value - half, value + half)
        return clip_interval(widen_by_repeats(estimate, spec.along(outcomes), level), spec.measure.range)

    def _mean(self, losses: Losses, condition: Condition, level: float) -> CostEstimate:
        if self.outcomes is None or self.counts is None:
            return CostEstimate(reason=self.reason)
        sizes = float(self.counts.p), float(self.counts.n)
        return mean_loss(self.outcomes, losses, sizes, condition.prevalence, spread=self.spread, level=level)


NOTHING_CHOSEN: Final = "nothing chosen"
"""Estimand where neither model nor threshold was chosen on data."""

UNKNOWN_COST: Final = CostEstimate()
NO_OUTCOMES: Final = OutOfSampleCounts(None)


def model_at_threshold(model: str, threshold: float, fitted: str | None = None) -> str:
    """Describe a model, its threshold, and the sample it was chosen on, if another."""
    at = "" if math.isnan(threshold) else f" at threshold {threshold_text(threshold)}"
    return f"{model}{at}" + ("" if fitted is None else f", chosen on {fitted}")


def describe_estimand(chosen: Sequence[str], fitted: str | None) -> str:
    """Describe what a cost estimates: which choices were made, and where."""
    if not chosen:
        return NOTHING_CHOSEN
    what = f"{join_words(chosen)} chosen"
    return f"cross-fitted: {what}" if fitted is None else f"external: {what} on {fitted}"


def class_labels(table: ScoreTable) -> tuple[str, str]:
    """Return the names of the two classes for sentences: their labels, unless these are mere codes."""
    positive = table.classes[table.positive]
    others = [name for name in table.classes if name != positive]
    negative = others[0] if len(others) == 1 else f"not {positive}"
    return ("positive", "negative") if is_plain_code(positive) else (positive, negative)


def per_1000_text(cost: float) -> str:
    """Format a cost per case as cost per 1 000 cases."""
    return grouped(round(1000 * cost) + 0.0)


def check_models(names: Iterable[str], models: Mapping[str, Any]) -> None:
    """Raise an error if the sample lacks a model."""
    for name in names:
        if name not in models:
            raise DataError(
                f"there is no model {name!r} in the second sample.",
                seen=", ".join(models),
                hint="the same columns in both samples",
            )


def mean_loss(
    outcomes: Counts,
    losses: Losses,
    sizes: tuple[float, float],
    prevalence: float | None = None,
    *,
    spread: float = 1.0,
    level: float = 0.95,
) -> CostEstimate:
    """Mean loss per case with its confidence interval, as the mean over repeats (the axis of outcomes).

    `sizes` are the class sizes. Without a prevalence all shares of the outcomes are random, with one only those within
    each class. The variance between repeats is added, since other cases change the result as another split does. The
    interval is clipped to the possible range of the loss.
    """
    positives, negatives = sizes
    tp, fp, fn, tn = (float(getattr(means(outcomes), name)) for name in OUTCOMES)
    if prevalence is None:
        estimate = mover_sum((tp, fp, fn, tn), losses, positives + negatives, spread, level)
        limits = min(losses), max(losses)
    else:
        positive_losses = losses[0] * prevalence, losses[2] * prevalence
        negative_losses = losses[1] * (1 - prevalence), losses[3] * (1 - prevalence)
        estimate = add_independent(
            mover_sum((tp, fn), positive_losses, positives, spread, level),
            mover_sum((fp, tn), negative_losses, negatives, spread, level),
        )
        limits = min(positive_losses) + min(negative_losses), max(positive_losses) + max(negative_losses)
    shares = shares_at(outcomes, prevalence, sizes)
    repeat_losses = np.sum([loss * share for loss, share in zip(losses, shares, strict=True)], axis=0)
    return clip_interval(widen_by_repeats(estimate, repeat_losses, level), limits)


def mover_sum(
    cells: tuple[float, ...],
    losses: tuple[float, ...],
    total: float,
    spread: float = 1.0,
    level: float = 0.95,
    bounds: Callable[[float, float, float], tuple[float, float]] = wilson,
) -> CostEstimate:
    """Σ loss · share for cells of a multinomial sample, with a MOVER confidence interval (Zou and Donner 2008).

    The distances to the limits of each share (Wilson's, or other `bounds`) are combined with the correlations of a
    multinomial sample. The interval is asymmetric for small cells and has positive width for empty ones. The rest of
    the total has no loss.

    >>> mover_sum((8,), (1,), 10), wilson(8, 10)
    (0.8 [0.49, 0.943], (0.4901..., 0.9433...))
    """
    share, loss = np.array(cells, dtype=np.float64) / total, np.array(losses, dtype=np.float64)
    constant = 0.0
    if loss.all() and math.isclose(float(share.sum()), 1.0):  # a cost common to all cases is not random
        constant = float(loss[-1])
        loss = loss - constant
    share, loss = share[loss != 0], loss[loss != 0]
    trials = total / spread
    limits = np.array([bounds(float(proportion) * trials, trials, level) for proportion in share]).reshape(-1, 2)
    low, high = limits[:, 0], limits[:, 1]
    odds = np.sqrt(share / np.maximum(1 - share, 1e-300))
    correlation = -np.minimum(np.outer(odds, odds), 1.0)
    np.fill_diagonal(correlation, 1.0)
    below = loss * np.where(loss > 0, share - low, high - share)
    above = loss * np.where(loss > 0, high - share, share - low)
    value = constant + float(loss @ share)
    return CostEstimate(value, value - _norm(below, correlation), value + _norm(above, correlation))


def shares_at(counts: Counts, prevalence: float | None, sizes: tuple[float, float] | None = None) -> tuple[Array, ...]:
    """Shares of the four outcomes among all cases, or in a population with the given prevalence.

    >>> [round(float(one), 3) for one in shares_at(Counts(tp=30, fp=10, fn=10, tn=50), 0.2)]
    [0.15, 0.133, 0.05, 0.667]
    """
    p, n = sizes or (counts.p, counts.n)
    pos_factor, neg_factor = (
        (1 / (p + n), 1 / (p + n)) if prevalence is None else (prevalence / p, (1 - prevalence) / n)
    )
    return counts.tp * pos_factor, counts.fp * neg_factor, counts.fn * pos_factor, counts.tn * neg_factor


def means(outcomes: Counts) -> Counts:
    """Mean outcomes over all axes."""
    return Counts(*(getattr(outcomes, name).mean() for name in OUTCOMES))


def costs_of(counts: Counts, condition: Condition) -> Array:
    """Expected cost per case, by the measure `cost`."""
    c = condition
    return np.asarray(cost(counts, fp=c.fp, fn=c.fn, tp=c.tp, tn=c.tn, prevalence=c.prevalence))


def value_of(spec: MeasureSpec, counts: Counts) -> float:
    """Value of a measure of decisions."""
    return float(spec.along(counts))


def add_independent(a: CostEstimate, b: CostEstimate) -> CostEstimate:
    """Sum of two independent estimates; distances to the limits are added in squares."""
    value = a.value + b.value
    below = math.hypot(a.value - a.low, b.value - b.low)
    return CostEstimate(value, value - below, value + math.hypot(a.high - a.value, b.high - b.value))


def widen_by_repeats(estimate: CostEstimate, values: Array, level: float) -> CostEstimate:
    """Widen an interval by the variance between repeats."""
    values = values[np.isfinite(values)]
    half = normal_quantile(level) * float(values.std()) if values.size else 0.0
    return add_independent(estimate, CostEstimate(0.0, -half, half))


def clip_interval(estimate: CostEstimate, limits: tuple[float, float]) -> CostEstimate:
    """Clip an interval to the possible range."""
    return CostEstimate(estimate.value, max(estimate.low, limits[0]), min(estimate.high, limits[1]), estimate.reason)


def _norm(distances: Array, correlation: Array) -> float:
    return math.sqrt(max(0.0, float(distances @ correlation @ distances)))


def _delta_method_error(spec: MeasureSpec, counts: Counts) -> float:
    """Standard error of a function of four shares by the delta method: √((Σ p·g² − (Σ p·g)²) / n), g its gradient."""
    counts_ = np.array([float(getattr(counts, name)) for name in OUTCOMES])
    total = counts_.sum()
    shifted = np.maximum(counts_ + 1e-4 * total * np.concatenate([np.eye(4), -np.eye(4)]), 0.0)
    values = spec.along(Counts(*shifted.T))
    slopes = (values[:4] - values[4:]) / (np.diag(shifted[:4] - shifted[4:]) / total)
    share = counts_ / total
    return math.sqrt(max(0.0, float((share * slopes**2).sum() - (share * slopes).sum() ** 2)) / total)
