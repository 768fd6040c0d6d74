"""The interval of what follows from sums: each case left out in turn, without drawing any again."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from scorespace.measures.request import Request
from scorespace.resampling.interval import Interval, Plan, bootstrap_interval, interval, none
from scorespace.resampling.limits import student
from scorespace.resampling.time_series import by_time, long_run_variance, longest_block
from scorespace.tables import Array
from scorespace.tables.pieces import over_pieces

Map = Callable[[Any], Any]
_STEP: Final = 1e-3  # standard deviations by which a mean is moved to see how a measure follows
_FAR: Final = 2.0  # how far one case may move the logarithm: one that bears 86 % of a loss


def scale_of(range: tuple[float, float]) -> tuple[Map, Map]:
    """The scale on which a measure of that range has no ends, and the way back: log, logit, Fisher's z.

    >>> there, back = scale_of((0, math.inf))
    >>> float(there(math.e)), float(back(0.0))
    (1.0, 1.0)
    """
    low, high = range
    if math.isinf(low) and math.isinf(high):
        return _same, _same
    if math.isinf(high):
        return (lambda v: np.log(v - low)), (lambda u: low + np.exp(u))
    if math.isinf(low):
        return (lambda v: -np.log(high - v)), (lambda u: high - np.exp(-u))
    middle, half = (low + high) / 2, (high - low) / 2
    return (lambda v: np.arctanh((v - middle) / half)), (lambda u: middle + half * np.tanh(u))


def _same(value: Any) -> Any:
    return value


def _summed(request: Request) -> bool:
    return request.table.summed


@interval("jackknife", "each case left out in turn, corrected for skew", suits=_summed, weighted=True, in_time="hac")
def jackknife_interval(plan: Plan) -> Interval:
    """θ ± (t · se + skew), on the scale on which the measure has no ends: t with as many cases as there are, less one.

    The value without each case tells the standard error, the bias and the skewness γ of the cases' influence; the
    side to which it is skewed is longer by se · γ (2t² + 1) / 6√n (Johnson), and by the bias. Where cases are no
    longer known one by one, the error follows from sums of products.
    """
    return _of_spread(plan, "jackknife", _of_products if plan.table.summed else _of_cases)


def _in_time(request: Request) -> bool:
    return request.table.summed and not request.averaged


@interval("hac", "jackknife with the long-run variance of errors in time order", suits=_in_time, weighted=True)
def hac_interval(plan: Plan) -> Interval:
    """As the jackknife, with the long-run variance of the cases' influence in time order and its degrees of freedom."""
    if plan.draws.time is None:
        return none("no time is named")
    return _of_spread(plan, "hac", _of_times)


Spread = tuple[float, float, float, float]
"""Standard error, skewness over √n, bias, and the number of independent cases that they rest on."""


def _of_spread(plan: Plan, method: str, spread: Callable[[Plan, Map], Spread | None]) -> Interval:
    """The interval of a spread, on the scale without ends or, where it is undefined there, on that of the measure."""
    value, (low, high) = plan.value, plan.request.range
    if value in (low, high):
        return Interval(value, value, method)
    there, back = scale_of((low, high))
    found = spread(plan, there)
    if found is None:  # as where one case bears the loss: without it the logarithm is infinite, or far away
        there, back = _same, _same
        found = spread(plan, there)
    if found is None:
        return none("leaving out one case makes the measure undefined")
    error, skew, bias, cases = found
    t = float(student(plan.level, cases))
    longer = error * skew * (2 * t * t + 1) / 6
    middle = float(there(value))
    below = t * error + max(0.0, -longer) + max(0.0, bias)
    above = t * error + max(0.0, longer) + max(0.0, -bias)
    ends = np.clip([back(middle - below), back(middle + above)], low, high)
    return Interval(float(ends[0]), float(ends[1]), method)


def _of_cases(plan: Plan, there: Map) -> Spread | None:
    """The spread over independent cases; None where it is not defined on the scale."""
    moves = _moves(plan, there)
    if moves is None:
        return None
    table: Any = plan.table
    times = np.maximum(table.cells, 1.0) if table.copies else np.ones_like(moves)
    return _moments(moves, times, float(table.cases))


def _of_times(plan: Plan, there: Map) -> Spread | None:
    """The spread over times, whose influence may be correlated; None where it is not defined on the scale."""
    moves, pairs = _moves(plan, there), plan.draws.pairs
    if moves is None or pairs is None or pairs.time is None:
        return None
    series = by_time(moves[pairs.cell[pairs.index(plan.model)]], pairs.time)
    alone, skew, bias, times = _moments(series, np.ones_like(series), float(series.size))
    variance, freedom = long_run_variance(series - series.mean())
    error = math.sqrt(variance * times)
    return error, skew * (error / alone if alone > 0 else 1.0), bias, freedom + 1.0


def _moves(plan: Plan, there: Map) -> Array | None:
    """How far the value on a scale moves without each case, times the weight that is left; None where it cannot."""
    table: Any = plan.table
    weight = table.cells
    gone = np.minimum(1.0, weight) if table.copies else weight
    with np.errstate(divide="ignore"):
        total, centre = float(weight.sum()), float(there(plan.value))
    if not math.isfinite(centre):  # so near an end that rounding puts it there
        return None

    def moved(rows: slice) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            values = there(np.asarray(plan.request.formula(table.without_each(rows)), dtype=np.float64))
        return (values - centre) * (total - gone[rows]) / total

    moves = np.concatenate(over_pieces(moved, weight.size)) if weight.size > 2**17 else moved(slice(None))
    far = there is not _same and np.abs(moves).max() > _FAR
    return None if not np.isfinite(moves).all() or float(table.cases) < 2 or far else moves


def _moments(moves: Array, times: Array, cases: float) -> Spread:
    """The spread of a sum of moves, each of which occurs so many times."""
    bias = float(times @ moves)
    apart = moves - bias / float(times.sum())
    squares = float(times @ apart**2)
    if squares <= 0:
        return 0.0, 0.0, 0.0, cases
    few = math.sqrt(cases * (cases - 1)) / (cases - 2) if cases > 2 else 1.0
    skew = -float(times @ apart**3) / squares**1.5 * few
    return math.sqrt(squares * cases / (cases - 1)), skew, bias, cases


def _of_products(plan: Plan, there: Map) -> Spread | None:
    """The error by how the measure follows the means of the terms (delta method): √(g' C g)."""
    sums: Any = plan.request.table
    products = sums.products
    if products is None:
        return None
    total = float(sums.sums[0])
    means = sums.sums / total
    cross = np.outer(means, products[0])
    spread = (products - cross - cross.T + np.outer(means, means) * products[0, 0]) / total**2
    each = _STEP * np.sqrt(np.maximum(np.diag(spread), 0.0) * float(plan.table.cases))
    each = np.where(np.isfinite(each), each, 0.0)
    steps = np.diag(each)[1:]
    around = type(sums)(total * np.stack([means + steps, means - steps]), sums.origin, sums.base, sums.tilt)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = there(np.asarray(plan.request.formula(around), dtype=np.float64))
    slopes = np.append(
        0.0, np.divide(values[0] - values[1], 2 * each[1:], out=np.zeros(each.size - 1), where=each[1:] > 0)
    )
    used = np.flatnonzero(slopes)
    variance = float(slopes[used] @ spread[np.ix_(used, used)] @ slopes[used])
    return (math.sqrt(max(0.0, variance)), 0.0, 0.0, float(plan.table.cases)) if math.isfinite(variance) else None


# --- measures of cases that are no sums


def _correlation(request: Request) -> bool:
    return tuple(request.range) == (-1.0, 1.0) and not request.averaged and request.table.by_case


@interval(
    "fisher-t", "bootstrap on Fisher's scale with Student's t", suits=_correlation, replicates=True, weighted=True
)
def fisher_interval(plan: Plan) -> Interval:
    """tanh(artanh v ± t · sd of the replicates' artanh): a correlation near 1 has little room above."""
    defined, reason = plan.replicates()
    inner = defined[np.abs(defined) < 1]
    if not abs(plan.value) < 1 or inner.size < defined.size / 2 or inner.size < 2:
        return bootstrap_interval.function(plan)
    half = float(student(plan.level, plan.table.cases)) * float(np.arctanh(inner).std())
    middle = math.atanh(plan.value)
    return Interval(math.tanh(middle - half), math.tanh(middle + half), f"fisher-t{plan.how}", reason)


def _bounded_or_not(request: Request) -> bool:
    return request.table.by_case and not request.averaged


@interval("skew-t", "bootstrap corrected for skew", suits=_bounded_or_not, replicates=True, weighted=True)
def skewed_interval(plan: Plan) -> Interval:
    """As the jackknife's, with the standard error and the skewness of the replicates: for losses that are no sums."""
    defined, reason = plan.replicates()
    there, back = scale_of(plan.request.range)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle, scaled = float(there(plan.value)), np.asarray(there(defined))
    spread = float(defined.std()) if defined.size else 0.0
    if not (math.isfinite(middle) and np.isfinite(scaled).all() and spread > 0):
        return bootstrap_interval.function(plan)
    cases = float(plan.table.cases)
    error = float(scaled.std()) * math.sqrt(cases / max(1.0, cases - 1))
    t = float(student(plan.level, cases))
    longer = error * float(((defined - defined.mean()) ** 3).mean()) / spread**3 * (2 * t * t + 1) / 6
    low, high = middle - t * error + min(0.0, longer), middle + t * error + max(0.0, longer)
    return Interval(float(back(low)), float(back(high)), f"skew-t{plan.how}", reason)


@interval(
    "block-t",
    "stationary bootstrap with Student's t, for cases in time order",
    suits=_bounded_or_not,
    replicates=True,
    weighted=True,
)
def block_interval(plan: Plan) -> Interval:
    """θ ± t · sd of the replicates, on the scale on which the measure has no ends; t with a case for each block."""
    defined, reason = plan.replicates()
    there, back = scale_of(plan.request.range)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle, scaled = float(there(plan.value)), np.asarray(there(defined))
    pairs = plan.draws.pairs
    if pairs is None or not plan.draws.times or not (math.isfinite(middle) and np.isfinite(scaled).all()):
        return bootstrap_interval.function(plan)
    blocks = plan.draws.times / longest_block(pairs)
    half = float(student(plan.level, max(3.0, blocks))) * float(scaled.std())
    return Interval(float(back(middle - half)), float(back(middle + half)), "block-t", reason)


@interval(
    "extreme",
    "none: the largest of a sample says little of the largest there is",
    declared=True,
    weighted=True,
    instead="extreme",
    in_time="extreme",
)
def no_interval_of_extremes(plan: Plan) -> Interval:
    """Left out: no case drawn again is farther off than the farthest."""
    return none("new cases can miss by more than any of these")
