"""Thresholds for a range of cost ratios: the largest regret, and the threshold that minimises it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from scorespace.costs import Condition
from scorespace.decisions.cross_fitting import Criterion, JointOutcomes, Models, argmin_price, crossfit_against
from scorespace.decisions.minimum_cost import least_cost
from scorespace.decisions.out_of_sample import costs_of
from scorespace.errors import ConditionError
from scorespace.inference.proportion import normal_quantile
from scorespace.results import Note, Result, Row, note, percent, short, to_json_types
from scorespace.tables import Array, Counts, ScoreTable
from scorespace.tables.paired import PairTable
from scorespace.tables.threshold import threshold_text

TOLERANCE: Final = 0.03
"""Default of `within`: the share by which a cost may exceed the lowest one."""

_ROUNDING: Final = 1e-12
_MISSED: Final = np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]])
_FALSE: Final = 1 - _MISSED
"""Errors of a cross-fitted and of a fixed threshold, by the cells of `JointOutcomes`."""


@dataclass(frozen=True)
class Regret:
    """Regret of a threshold at one cost ratio: cost over the lowest cost − 1, or cost − lowest cost if that is 0.

    `value` is cross-fitted and at least 0, `high` its upper confidence bound; `reason` says why they are missing.
    """

    ratio: float
    apparent: float
    value: float = math.nan
    high: float = math.nan
    reason: str | None = None


@dataclass(frozen=True)
class RegionChoice:
    """A model at a threshold, its regret at both ends of a range of cost ratios, and where its cost is near the lowest.

    The largest regret in the range is at one of its ends. `within` is the range of cost ratios FN : FP in which the
    apparent cost exceeds the lowest one by at most the tolerance (NaN if there is none). `relative` is false where the
    lowest cost is 0, so that regrets are differences.
    """

    model: str
    threshold: float
    counts: Counts
    ends: tuple[Regret, Regret]
    within: tuple[float, float]
    relative: bool = True

    @property
    def apparent(self) -> float:
        """The largest apparent regret in the range of cost ratios."""
        return max(end.apparent for end in self.ends)

    @property
    def largest(self) -> Regret:
        """The end with the largest regret, cross-fitted where that is possible."""
        return max(self.ends, key=lambda end: end.apparent if math.isnan(end.value) else end.value)

    @property
    def high(self) -> float:
        """Upper confidence bound of the largest regret: the larger of the bounds at both ends."""
        return max(end.high for end in self.ends)

    def text(self, value: float) -> str:
        """A regret in percent of the lowest cost, or as a cost."""
        return percent(value) if self.relative else short(value)

    def row(self) -> Row:
        """Values by name."""
        ends = {
            f"{name}_{side}": getattr(end, attribute)
            for side, end in zip(("low_ratio", "high_ratio"), self.ends, strict=True)
            for name, attribute in (("apparent_regret", "apparent"), ("regret", "value"), ("regret_bound", "high"))
        }
        counts = {name: float(getattr(self.counts, name)) for name in ("tp", "fp", "fn", "tn")}
        own: Row = {"model": self.model, "threshold": self.threshold, **counts, "relative": self.relative, **ends}
        own |= {"largest_regret": self.largest.value, "largest_regret_bound": self.high}
        own |= {"within_low": self.within[0], "within_high": self.within[1], "reason": self.ends[0].reason}
        return to_json_types(own)


@dataclass(frozen=True, repr=False)
class CostRegion(Result):
    """A threshold of each model for all cost ratios FN : FP of a range, the cheapest model first.

    Models are ordered by their apparent cost, relative to the cheaper rule without a model, at the worse end.
    `stated` is true if the threshold was stated, not chosen on these cases.
    """

    ratios: tuple[float, float]
    choices: tuple[RegionChoice, ...]
    within: float
    stated: bool
    prevalence: float
    in_use: float | None = None
    level: float = 0.95
    ignored: tuple[str, ...] = field(default=())

    @property
    def best(self) -> RegionChoice:
        """The cheapest model."""
        return self.choices[0]

    def position(self, ratio: float) -> float:
        """Position of a cost ratio on the x axis of cost curves: π·FN / (π·FN + (1 − π)·FP)."""
        share = self.prevalence if self.in_use is None else self.in_use
        return 1.0 if math.isinf(ratio) else ratio * share / (ratio * share + 1 - share)

    def rows(self) -> list[Row]:
        """One row per model."""
        return [choice.row() for choice in self.choices]

    def facts(self) -> Row:
        """Range, tolerance, and how the thresholds came about."""
        return {
            "ratio_low": self.ratios[0],
            "ratio_high": self.ratios[1],
            "within": self.within,
            "threshold_stated": self.stated,
            "level": self.level,
        }

    @property
    def notes(self) -> tuple[Note, ...]:
        """Which models have no scores."""
        if not self.ignored:
            return ()
        return (note("SS195", f"{', '.join(self.ignored)}: decisions have no threshold to choose, so no regret."),)

    @property
    def words(self) -> str:
        """The largest regret of each model, and the cost ratios in which it is near the lowest cost."""
        return " ".join(self._sentence(choice) for choice in self.choices[:3])

    def _sentence(self, choice: RegionChoice) -> str:
        low, high = map(short, self.ratios)
        span = f"cost ratios FN : FP of {low} to {high}" if low != high else f"a cost ratio FN : FP of {low}"
        largest = choice.largest
        if math.isnan(largest.value):
            size = f"{choice.text(choice.apparent)} (apparent; cross-fitting is not possible: {largest.reason})"
        else:
            size = f"{choice.text(largest.value)} (at most {choice.text(choice.high)})"
        more = "more than its own best threshold of each ratio" if choice.relative else "per case more than no cost"
        start = (
            f"{choice.model} at threshold {threshold_text(choice.threshold)}: "
            f"for {span} it costs at worst {size} {more}, at {short(largest.ratio)}."
        )
        if not choice.relative:
            return start
        ends = choice.within
        if math.isnan(ends[0]):
            return f"{start} For no cost ratio is its apparent cost within {100 * self.within:g} % of the lowest."
        return (
            f"{start} Its apparent cost is within {100 * self.within:g} % of the lowest for cost ratios of "
            f"{short(ends[0])} to {short(ends[1])}."
        )


def cost_region(
    models: Models,
    ratios: tuple[float, float],
    *,
    at: float | None = None,
    prevalence: float | None = None,
    within: float = TOLERANCE,
    pairs: PairTable | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> CostRegion:
    """Evaluate a threshold, or choose the one of smallest largest regret, for cost ratios FN : FP of a range.

    The cost of a threshold is linear in the cost ratio and the lowest cost is concave, so the largest regret is at an
    end of the range, and the cost ratios with a regret of at most `within` are one interval. A stated threshold is
    compared with thresholds chosen on other folds. A chosen threshold is cross-fitted and compared with the lowest
    apparent cost, which is too low, so that the regret is too high rather than too low.

    >>> from scorespace.tables import score_table
    >>> table = score_table([1] * 40 + [0] * 60, [5] * 26 + [4] * 8 + [3] * 4 + [0] * 2 + [5] * 8 + [4] * 12 + [3] * 20
    ...     + [0] * 20)
    >>> [round(end.apparent, 3) for end in cost_region({"m": table}, (3, 10), at=3).choices[0].ends]
    [0.211, 0.0]
    """
    low, high = check_ratios(ratios)
    if not (math.isfinite(within) and within >= 0):
        raise ConditionError(f"within={within:g} is not a share of the lowest cost.", hint="within=0.03")
    tables = {name: table.inside(ScoreTable) for name, table in models.items() if table.thresholded}
    if not tables:
        raise ConditionError("none of the models has a threshold.", hint="a column of scores")
    if at is not None and math.isnan(at):
        raise ConditionError("at=nan is not a threshold.", hint="at=0.17")
    first = next(iter(tables.values()))
    if not (first.n_pos and first.n_neg):
        raise ConditionError("regret needs cases of both classes.", seen="one class only")
    conditions = tuple(Condition(fp=1, fn=ratio, prevalence=prevalence) for ratio in (low, high))
    choices = tuple(
        _choice(name, table, conditions, at, within, None if pairs is None else pairs.only(name), level, seed)
        for name, table in tables.items()
    )
    share = float(first.n_pos / first.total)
    ignored = tuple(name for name in models if name not in tables)
    in_use = share if prevalence is None else prevalence
    choices = tuple(sorted(choices, key=lambda choice: _worst_cost(choice, in_use)))
    return CostRegion((low, high), choices, within, at is not None, share, prevalence, level, ignored)


def _worst_cost(choice: RegionChoice, share: float) -> float:
    """Largest cost at an end of the range, relative to the cheaper of predicting every case positive and none."""
    counts = choice.counts
    fpr, fnr = float(counts.fp / counts.n), float(counts.fn / counts.p)
    costs = ((1 - share) * fpr + end.ratio * share * fnr for end in choice.ends)
    trivial = (min(1 - share, end.ratio * share) for end in choice.ends)
    return max(cost / least for cost, least in zip(costs, trivial, strict=True))


def check_ratios(ratios: Any) -> tuple[float, float]:
    """The ends of a range of cost ratios in order; refused unless both are above 0 and finite."""
    if isinstance(ratios, str) or not isinstance(ratios, Sequence) or len(ratios) != 2:
        raise ConditionError(f"{ratios!r} is not a range of cost ratios FN : FP.", hint="ratio=(3, 10)")
    low, high = sorted(map(float, ratios))
    if not (low > 0 and high < math.inf):
        seen = f"{ratios[0]:g}:{ratios[1]:g}"
        raise ConditionError("cost ratios FN : FP must be numbers above 0.", seen=seen, hint="ratio=(3, 10)")
    return low, high


def smallest_largest_regret(conditions: tuple[Condition, ...]) -> Criterion:
    """Criterion for choosing thresholds: the larger of the regrets under two conditions."""

    def price(counts: Counts) -> tuple[Array, Array]:
        worst = np.max([_regrets(costs_of(counts, one))[0] for one in conditions], axis=0)
        return np.zeros_like(worst), worst

    return price


def _regrets(costs: Array) -> tuple[Array, Array]:
    """Regret of each threshold (last axis), and the lowest cost; relative unless the lowest cost is 0."""
    lowest = costs.min(axis=-1, keepdims=True)
    return np.where(lowest > 0, costs / np.where(lowest > 0, lowest, 1.0) - 1, costs), lowest


def _choice(
    name: str,
    table: ScoreTable,
    conditions: tuple[Condition, ...],
    at: float | None,
    within: float,
    pairs: PairTable | None,
    level: float,
    seed: int,
) -> RegionChoice:
    sweep = table.sweep
    criterion = smallest_largest_regret(conditions)
    cut = int(argmin_price(*criterion(sweep))) if at is None else int(np.count_nonzero(table.score >= at))
    threshold = table.threshold(float(table.thresholds[cut])) if at is None else at
    costs = [costs_of(sweep, condition) for condition in conditions]
    relative = all(float(cost.min()) > 0 for cost in costs)
    ends = []
    for condition, cost in zip(conditions, costs, strict=True):
        lowest = int(argmin_price(np.zeros_like(cost), cost))
        chooser, fixed = (criterion, lowest) if at is None else (least_cost(condition), cut)
        joint = crossfit_against(
            table, chooser, fixed, pairs=pairs, stratified=condition.prevalence is not None, seed=seed
        )
        apparent = float(cost[cut] / cost[lowest] - 1 if relative else cost[cut] - cost[lowest])
        ends.append(_regret(condition, apparent, joint, at is None, relative, level))
    limits = _near_lowest(sweep, cut, conditions[0].prevalence, within) if relative else (math.nan, math.nan)
    return RegionChoice(name, threshold, sweep[cut], (ends[0], ends[1]), limits, relative)


def _regret(
    condition: Condition, apparent: float, joint: JointOutcomes, chosen: bool, relative: bool, level: float
) -> Regret:
    """Cross-fitted regret with its upper bound, from the losses of each case at two thresholds.

    Both thresholds are applied to the same cases, so the variance is that of the difference of their losses, each in
    units of its mean, over the cells of a 2 × 2 table of decisions in each class.
    """
    ratio, share = condition.fn / condition.fp, condition.prevalence
    if joint.reason is not None:
        return Regret(ratio, apparent, reason=joint.reason)
    classes = (joint.positives, ratio * _MISSED), (joint.negatives, condition.fp * _FALSE)
    sizes = [float(cells[0].sum()) for cells, _ in classes]
    total = sum(sizes)
    weights = [size / total for size in sizes] if share is None else [share, 1 - share]
    parts = [
        (weight, size, cells / size, losses)
        for weight, size, (cells, losses) in zip(weights, sizes, classes, strict=True)
    ]
    by_repeat = sum((weight * shares @ losses.T for weight, _, shares, losses in parts), start=np.zeros(2))
    costs = by_repeat.mean(axis=0)  # of the cross-fitted and of the fixed threshold
    if relative and not (costs > 0).all():
        return Regret(ratio, apparent, reason="thresholds chosen on other cases cost nothing")
    unit = costs if relative else np.ones(2)
    gaps = [(losses[0] / unit[0] - losses[1] / unit[1]) for *_, losses in parts]
    first, second = (
        [shares @ gap**power for (_, _, shares, _), gap in zip(parts, gaps, strict=True)] for power in (1, 2)
    )
    if share is None:  # one sample of all cases
        mean = sum(weight * one for weight, one in zip(weights, first, strict=True))
        variance = (sum(weight * one for weight, one in zip(weights, second, strict=True)) - mean**2) / total
    else:  # one of each class
        variance = sum(
            weight**2 * (two - one**2) / size
            for weight, size, one, two in zip(weights, sizes, first, second, strict=True)
        )
    error = math.hypot(math.sqrt(joint.spread * float(np.mean(variance))), float(by_repeat[:, 0].std() / unit[0]))
    half = normal_quantile(level) * (error if error > _ROUNDING else 0.0)
    ours, other = costs if chosen else costs[::-1]
    value, high = (
        (ours / other - 1, ours / other * math.exp(half) - 1) if relative else (ours - other, ours - other + half)
    )
    return Regret(ratio, apparent, max(0.0, float(value)), max(0.0, float(high)))


def _near_lowest(sweep: Counts, cut: int, prevalence: float | None, within: float) -> tuple[float, float]:
    """The cost ratios in which the cost of a threshold exceeds that of no other by more than a share."""
    pos, neg = (1.0, 1.0) if prevalence is None else (prevalence / sweep.p, (1 - prevalence) / sweep.n)
    fn, fp = sweep.fn * pos, sweep.fp * neg
    slope, rest = fn[cut] - (1 + within) * fn, (1 + within) * fp - fp[cut]  # slope · ratio ≤ rest
    with np.errstate(divide="ignore", invalid="ignore"):
        limit = rest / slope
    low = float(max(0.0, np.max(limit, where=slope < 0, initial=0.0)))
    high = float(np.min(limit, where=slope > 0, initial=np.inf))
    return (low, high) if 0 < high >= low and not (rest[slope == 0] < 0).any() else (math.nan, math.nan)
