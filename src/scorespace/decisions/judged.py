"""What decisions did to cases that had no part in choosing them, and how sure their cost is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from scorespace.conditions import Condition
from scorespace.errors import DataError
from scorespace.frozen import dataclass
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.cost import cost
from scorespace.resampling.share import normal_quantile, wilson
from scorespace.results import Row, decimals, grouped, joined, limits, plain, short
from scorespace.tables import Array, Counts, ScoreTable
from scorespace.tables.labels import is_plain_code
from scorespace.tables.threshold import threshold_text

OUTCOMES: Final = ("tp", "fp", "fn", "tn")
Losses = tuple[float, float, float, float]
"""What each of the outcomes tp, fp, fn, tn brings."""


@dataclass(frozen=True)
class Value:
    """A number with its interval, or the reason why there is none.

    >>> Value(0.53, 0.47, 0.6)
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
        """The number and its limits under their names: `gain`, `gain_low`, `gain_high`."""
        return plain({value or name: self.value, f"{name}_low": self.low, f"{name}_high": self.high})

    def named(self, what: str, apparent: float, fitted: str | None) -> str:
        """The number under the name of how it was found, with its interval and the one on the cases that chose.

        >>> Value(0.53, 0.47, 0.6).named("ppv", 0.55, None)
        'cross-fitted ppv 0.530 [0.470, 0.600] (apparent 0.550)'
        """
        kind = "cross-fitted" if fitted is None else "external"
        return f"{kind} {what} {limits(self.value, self.low, self.high)} (apparent {decimals(apparent)})"

    def __neg__(self) -> Value:
        return Value(-self.value, -self.high, -self.low, self.reason)

    def __repr__(self) -> str:
        if not self.known:
            return short(self.value)
        value, low, high = (short(one, self.low, self.high) for one in (self.value, self.low, self.high))
        return f"{value} [{low}, {high}]"


@dataclass(frozen=True)
class Judged:
    """The four outcomes on cases that did not choose the threshold, in each of several repeats.

    `folds` says how cases were kept apart (0: they are another sample, or nothing was chosen); `spread` by
    how much related cases widen a variance. Where there are no outcomes, `reason` says why.

    >>> Judged(Counts(tp=50, fp=30, fn=10, tn=110)).cost(Condition(fp=1, fn=5))
    0.4 [0.283, 0.6]
    """

    outcomes: Counts | None
    folds: int = 0
    spread: float = 1.0
    reason: str | None = None

    @property
    def counts(self) -> Counts | None:
        """The outcomes as means over repeats: they need not be whole numbers."""
        return None if self.outcomes is None else means(self.outcomes)

    def cost(self, condition: Condition, level: float = 0.95) -> Value:
        """The cost per case under a condition."""
        return self._mean((condition.tp, condition.fp, condition.fn, condition.tn), condition, level)

    def gain(self, condition: Condition, *, always: bool, level: float = 0.95) -> Value:
        """By how much a case costs less than when every case is called positive (`always`), or none is."""
        c = condition
        spared = (0.0, 0.0, c.tp - c.fn, c.fp - c.tn) if always else (c.fn - c.tp, c.tn - c.fp, 0.0, 0.0)
        return self._mean(spared, condition, level)

    def shares(self, condition: Condition | None = None) -> dict[str, float]:
        """The share of the cases with each outcome, at the prevalence that the condition states."""
        if self.counts is None:
            return dict.fromkeys(OUTCOMES, math.nan)
        prevalence = None if condition is None else condition.prevalence
        return dict(zip(OUTCOMES, map(float, shares_at(self.counts, prevalence)), strict=True))

    def measure(self, spec: MeasureSpec, level: float = 0.95) -> Value:
        """A measure of decisions: Wilson's interval for a proportion, else by its slopes in the four outcomes."""
        counts, outcomes = self.counts, self.outcomes
        if counts is None or outcomes is None:
            return Value(reason=self.reason)
        value = value_of(spec, counts)
        if not math.isfinite(value):
            return Value(value, reason=spec.measure.reason(value))
        if spec.measure.trials is not None and spec.prevalence is None:
            trials = float(getattr(counts, spec.measure.trials)) / self.spread
            to_share, back = spec.measure.share or (float, float)
            low, high = wilson(to_share(value) * trials, trials, level)
            found = Value(value, back(low), back(high))
        else:
            half = normal_quantile(level) * math.sqrt(self.spread) * _slope_error(spec, counts)
            found = Value(value, value - half, value + half)
        return within(shaken(found, spec.along(outcomes), level), spec.measure.range)

    def _mean(self, losses: Losses, condition: Condition, level: float) -> Value:
        if self.outcomes is None or self.counts is None:
            return Value(reason=self.reason)
        sizes = float(self.counts.p), float(self.counts.n)
        return mean_loss(self.outcomes, losses, sizes, condition.prevalence, spread=self.spread, level=level)


NOTHING_CHOSEN: Final = "nothing chosen"
"""What a cost is an estimate of where neither model nor threshold was chosen on data."""

UNKNOWN: Final = Value()
UNJUDGED: Final = Judged(None)


def placed(model: str, threshold: float, fitted: str | None = None) -> str:
    """A model at its threshold, where it has one, and the sample that chose it, where that is another."""
    at = "" if math.isnan(threshold) else f" at threshold {threshold_text(threshold)}"
    return f"{model}{at}" + ("" if fitted is None else f", chosen on {fitted}")


def estimand_of(chosen: Sequence[str], fitted: str | None) -> str:
    """What a cost is an estimate of, by what was chosen and where."""
    if not chosen:
        return NOTHING_CHOSEN
    what = f"{joined(chosen)} chosen"
    return f"cross-fitted: {what}" if fitted is None else f"external: {what} on {fitted}"


def labels_of(table: ScoreTable) -> tuple[str, str]:
    """What the two classes are called in a sentence: by their labels, unless these are mere codes."""
    positive = table.classes[table.positive]
    others = [name for name in table.classes if name != positive]
    plainly = others[0] if len(others) == 1 else f"not {positive}"
    return ("positive", "negative") if is_plain_code(positive) else (positive, plainly)


def of_1000(cost: float) -> str:
    """A cost per case as that of a thousand cases."""
    return grouped(round(1000 * cost) + 0.0)


def check_judged(names: Iterable[str], models: Mapping[str, Any]) -> None:
    """Refuse to judge models that the sample lacks."""
    for name in names:
        if name not in models:
            raise DataError(
                f"there is no model {name!r} to judge.",
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
) -> Value:
    """The mean over all cases of a loss that each outcome brings, its mean over repeats (the axis of outcomes).

    `sizes` are those of the classes. Without a prevalence all shares of the outcomes are left to chance, with
    one only those within each class. How far repeats differ is added: what another split of the same cases
    changes, other cases change as well. The interval ends where the loss cannot be higher or lower.
    """
    positives, negatives = sizes
    tp, fp, fn, tn = (float(getattr(means(outcomes), name)) for name in OUTCOMES)
    if prevalence is None:
        found = sum_of_shares((tp, fp, fn, tn), losses, positives + negatives, spread, level)
        limits = min(losses), max(losses)
    else:
        of_positives = losses[0] * prevalence, losses[2] * prevalence
        of_negatives = losses[1] * (1 - prevalence), losses[3] * (1 - prevalence)
        found = added(
            sum_of_shares((tp, fn), of_positives, positives, spread, level),
            sum_of_shares((fp, tn), of_negatives, negatives, spread, level),
        )
        limits = min(of_positives) + min(of_negatives), max(of_positives) + max(of_negatives)
    each = shares_at(outcomes, prevalence, sizes)
    again = np.sum([loss * one for loss, one in zip(losses, each, strict=True)], axis=0)
    return within(shaken(found, again, level), limits)


def sum_of_shares(
    cells: tuple[float, ...],
    losses: tuple[float, ...],
    total: float,
    spread: float = 1.0,
    level: float = 0.95,
    bounds: Callable[[float, float, float], tuple[float, float]] = wilson,
) -> Value:
    """Σ loss · share for cells of a multinomial sample, with the interval put together from those of the shares.

    Wilson's limits of each share, or other `bounds`, as far from it as they are, add up by squares with the
    correlations of a multinomial sample (Zou and Donner's MOVER). So it is lopsided where a cell holds few cases,
    and has width where it holds none. What is left of the total has no loss.

    >>> sum_of_shares((8,), (1,), 10), wilson(8, 10)
    (0.8 [0.49, 0.943], (0.4901..., 0.9433...))
    """
    share, loss = np.array(cells, dtype=np.float64) / total, np.array(losses, dtype=np.float64)
    constant = 0.0
    if loss.all() and math.isclose(float(share.sum()), 1.0):  # what every case costs is no matter of chance
        constant = float(loss[-1])
        loss = loss - constant
    share, loss = share[loss != 0], loss[loss != 0]
    trials = total / spread
    limits = np.array([bounds(float(one) * trials, trials, level) for one in share]).reshape(-1, 2)
    low, high = limits[:, 0], limits[:, 1]
    odds = np.sqrt(share / np.maximum(1 - share, 1e-300))
    related = -np.minimum(np.outer(odds, odds), 1.0)
    np.fill_diagonal(related, 1.0)
    below = loss * np.where(loss > 0, share - low, high - share)
    above = loss * np.where(loss > 0, high - share, share - low)
    value = constant + float(loss @ share)
    return Value(value, value - _length(below, related), value + _length(above, related))


def shares_at(counts: Counts, prevalence: float | None, sizes: tuple[float, float] | None = None) -> tuple[Array, ...]:
    """The shares of the four outcomes among all cases, or among those of a population with that prevalence.

    >>> [round(float(one), 3) for one in shares_at(Counts(tp=30, fp=10, fn=10, tn=50), 0.2)]
    [0.15, 0.133, 0.05, 0.667]
    """
    p, n = sizes or (counts.p, counts.n)
    of_p, of_n = (1 / (p + n), 1 / (p + n)) if prevalence is None else (prevalence / p, (1 - prevalence) / n)
    return counts.tp * of_p, counts.fp * of_n, counts.fn * of_p, counts.tn * of_n


def means(outcomes: Counts) -> Counts:
    """The mean outcomes over all axes."""
    return Counts(*(getattr(outcomes, name).mean() for name in OUTCOMES))


def costs_of(counts: Counts, condition: Condition) -> Array:
    """Expected cost per case of each of several outcomes, by the measure `cost`."""
    c = condition
    return np.asarray(cost(counts, fp=c.fp, fn=c.fn, tp=c.tp, tn=c.tn, prevalence=c.prevalence))


def value_of(spec: MeasureSpec, counts: Counts) -> float:
    """The value of a measure of decisions."""
    return float(spec.along(counts))


def added(a: Value, b: Value) -> Value:
    """The sum of two independent numbers; distances to their limits add up by squares."""
    value = a.value + b.value
    below = math.hypot(a.value - a.low, b.value - b.low)
    return Value(value, value - below, value + math.hypot(a.high - a.value, b.high - b.value))


def shaken(found: Value, again: Array, level: float) -> Value:
    """The interval widened by how far the repeats differ."""
    again = again[np.isfinite(again)]
    half = normal_quantile(level) * float(again.std()) if again.size else 0.0
    return added(found, Value(0.0, -half, half))


def within(found: Value, limits: tuple[float, float]) -> Value:
    """The interval cut where the number cannot be lower or higher."""
    return Value(found.value, max(found.low, limits[0]), min(found.high, limits[1]), found.reason)


def _length(parts: Array, related: Array) -> float:
    return math.sqrt(max(0.0, float(parts @ related @ parts)))


def _slope_error(spec: MeasureSpec, counts: Counts) -> float:
    """Standard error of a smooth function of four shares: √((Σ p·g² − (Σ p·g)²) / n), g its slopes."""
    four = np.array([float(getattr(counts, name)) for name in OUTCOMES])
    total = four.sum()
    around = np.maximum(four + 1e-4 * total * np.concatenate([np.eye(4), -np.eye(4)]), 0.0)
    values = spec.along(Counts(*around.T))
    slopes = (values[:4] - values[4:]) / (np.diag(around[:4] - around[4:]) / total)
    share = four / total
    return math.sqrt(max(0.0, float((share * slopes**2).sum() - (share * slopes).sum() ** 2)) / total)
