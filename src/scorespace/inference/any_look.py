"""Intervals that hold at every look: the chance that any of them ever misses is at most one minus the level.

A share is tested against every value m by a martingale, the mixture of likelihood ratios over a Beta(c·m, c·(1 − m))
prior; by Ville's (1939) inequality it ever reaches 1/α with probability at most α if m is true (Howard et al. 2021).
The mean cost of cases has the same interval with fractions of successes, which is wide, until enough of the costly
errors occurred; then it and the AUC have asymptotic confidence sequences (Waudby-Smith et al. 2024). All depend on
today's counts only, not on the order of the cases, so nothing is stored between looks. Cases must be independent and
from one population; if that changes, the intervals are about the average so far.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Final, Literal, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincc, betaln, expit, logit, xlog1py, xlogy

from scorespace.errors import MeasureError
from scorespace.inference.auc_variance import delong_variance
from scorespace.inference.interval import (
    INTERVALS,
    Interval,
    IntervalRequest,
    interval,
    is_linear_in_auc,
    is_proportion,
    undefined_interval,
)
from scorespace.inference.proportion import Limits, pair
from scorespace.measures.request import Request
from scorespace.options import format_call
from scorespace.results import grouped
from scorespace.tables import Array, Counts, ScoreTable

ANY_LOOK: Final = "any-look"
CASES: Final = 1000
"""Default number of cases at which intervals are tightest."""

START: Final = 20
"""Cases of the rarer class, or of the dearer error, from which on asymptotic intervals are given."""

Side = Literal["both", "low", "high"]
_STEPS: Final = 60  # of the bisection
_OUTCOMES: Final = Counts(*np.eye(4))


def is_any_look(method: str | None) -> bool:
    """Whether a method of intervals is the one that holds at every look."""
    return method is not None and method.partition("(")[0].strip() == ANY_LOOK


def one_sided(method: str, side: Side) -> str:
    """The method with one of its limits.

    >>> one_sided("any-look(cases=500)", "low")
    'any-look(cases=500, side=low)'
    """
    options = INTERVALS.parse(method).options | {"side": side}
    return format_call(ANY_LOOK, tuple(options.items()))


def spread_rate(alpha: float, cases: float) -> float:
    """ρ² of the mixture that is tightest at a number of cases: (−2 log α + log(1 − 2 log α)) / cases.

    >>> round(1000 * spread_rate(0.05, 1000), 2)
    7.94
    """
    return (-2 * math.log(alpha) + math.log1p(-2 * math.log(alpha))) / cases


def log_evidence(successes: ArrayLike, failures: ArrayLike, share: Array, rate: float, side: Side) -> Array:
    """Logarithm of the martingale against a share: the likelihood ratio averaged over a Beta prior around it.

    For one side, over the part of the prior above it ("low", for lower limits) or below it ("high").
    """
    s, f = np.asarray(successes, dtype=np.float64), np.asarray(failures, dtype=np.float64)
    if side == "high":
        return log_evidence(f, s, 1 - share, rate, "low")
    a, b = share / rate, (1 - share) / rate
    with np.errstate(divide="ignore", invalid="ignore"):  # at shares of 0 and 1, where it is not needed
        found = betaln(a + s, b + f) - betaln(a, b) - xlogy(s, share) - xlog1py(f, -share)
        if side == "low":
            found = found + np.log(betaincc(a + s, b + f, share)) - np.log(betaincc(a, b, share))
    return np.asarray(found)


def share_limits(
    successes: ArrayLike, failures: ArrayLike, alpha: float = 0.05, *, cases: float = CASES, side: Side = "both"
) -> Limits:
    """Limits of a share that hold at every look, by bisection on both sides of the observed one.

    Successes may be fractions: sums of values between 0 and 1. NaN without trials.

    >>> tuple(round(limit, 3) for limit in share_limits(190, 10))
    (0.879, 0.986)
    >>> round(share_limits(0, 100)[1], 3)
    0.104
    """
    s, f = np.broadcast_arrays(np.asarray(successes, dtype=np.float64), np.asarray(failures, dtype=np.float64))
    rate = spread_rate(alpha if side == "both" else min(0.5, 2 * alpha), cases)
    share = np.divide(s, s + f, out=np.full(s.shape, np.nan), where=s + f > 0)

    def end(outside: float, one_side: Side) -> Array:
        rejected, kept = np.full(share.shape, outside), share.copy()
        for _ in range(_STEPS):
            middle = (rejected + kept) / 2
            is_rejected = log_evidence(s, f, middle, rate, one_side) >= -math.log(alpha)
            rejected, kept = np.where(is_rejected, middle, rejected), np.where(is_rejected, kept, middle)
        return np.asarray(kept)

    low = np.where(s > 0, end(0.0, side), 0.0) if side != "high" else np.zeros(share.shape)
    high = np.where(f > 0, end(1.0, side), 1.0) if side != "low" else np.ones(share.shape)
    return pair(np.where(np.isnan(share), np.nan, low), np.where(np.isnan(share), np.nan, high))


def half_width(
    variance: ArrayLike, n: ArrayLike, alpha: float = 0.05, *, cases: float = CASES, side: Side = "both"
) -> Any:
    """Half width of the asymptotic confidence sequence of an estimate with this variance from n cases.

    >>> round(float(half_width(1 / 1000, 1000)) / math.sqrt(1 / 1000), 2)  # standard errors; 1.96 for a single look
    3.04
    """
    size, is_one_sided = np.asarray(n, dtype=np.float64), side != "both"
    rate = size * spread_rate(min(0.5, 2 * alpha) if is_one_sided else alpha, cases)
    ratio = np.sqrt(rate + 1) / alpha
    bound = np.log1p(ratio / 2) if is_one_sided else np.log(ratio)
    return np.sqrt(np.asarray(variance) * 2 * (rate + 1) / rate * bound)


def auc_limits(
    area: ArrayLike,
    positives: ArrayLike,
    negatives: ArrayLike,
    variance: ArrayLike,
    alpha: float = 0.05,
    *,
    cases: float = CASES,
    side: Side = "both",
) -> Limits:
    """Limits of an AUC on the logit scale, with the larger of DeLong's and of Hanley and McNeil's variance."""
    p, n = np.asarray(positives, dtype=np.float64), np.asarray(negatives, dtype=np.float64)
    a = (np.asarray(area) * p * n + 0.5) / (p * n + 1)
    q1, q2 = a / (2 - a), 2 * a * a / (1 + a)
    hanley = (a * (1 - a) + (p - 1) * (q1 - a * a) + (n - 1) * (q2 - a * a)) / (p * n)
    on_logits = np.maximum(np.asarray(variance), hanley) / (a * (1 - a)) ** 2
    half = half_width(on_logits, p + n, alpha, cases=cases, side=side)
    low = np.zeros_like(a) if side == "high" else expit(logit(a) - half)
    high = np.ones_like(a) if side == "low" else expit(logit(a) + half)
    return pair(low, high)


def mean_limits(
    counts: ArrayLike, values: ArrayLike, alpha: float = 0.05, *, cases: float = CASES, side: Side = "both"
) -> Limits:
    """Limits of the mean of values of outcomes (last axis), asymptotic; see `bounded_limits` for the exact ones.

    A limit alone is that of both: the one-sided form missed rare gains in up to 7.5 % of simulated streams.
    """
    cells, each = np.asarray(counts, dtype=np.float64), np.asarray(values, dtype=np.float64)
    n = cells.sum(axis=-1)
    mean = cells @ each / n
    variance = (cells @ each**2 / n - mean**2) / n
    half = half_width(np.maximum(variance, 0.0), n, alpha, cases=cases)
    return pair(mean - (half if side != "high" else np.inf), mean + (half if side != "low" else np.inf))


def bounded_limits(
    counts: ArrayLike, values: ArrayLike, alpha: float = 0.05, *, cases: float = CASES, side: Side = "both"
) -> Limits:
    """Exact limits of the mean of values of outcomes (last axis), which have a lowest and a highest value."""
    cells, each = np.asarray(counts, dtype=np.float64), np.asarray(values, dtype=np.float64)
    lowest, span = each.min(), np.ptp(each)
    successes = cells @ (each - lowest) / span
    low, high = share_limits(successes, cells.sum(axis=-1) - successes, alpha, cases=cases, side=side)
    return lowest + span * low, lowest + span * high


def case_values(request: Request) -> Array | None:
    """Value of a true and a false positive, a false and a true negative, if the measure is their mean; else None."""
    if not request.table.four_outcomes or request.averaged or request.stated:
        return None
    table = cast("Counts", request.table)
    if np.ndim(table.tp):
        return None
    values = np.asarray(request.formula(_OUTCOMES), dtype=np.float64)
    if not np.isfinite(values).all() or not np.ptp(values):
        return None
    counts = _cells(table)
    probe = counts + np.array([1.0, 2.0, 4.0, 8.0])
    means = [float(cells @ values / cells.sum()) for cells in (counts, probe)]
    found = [float(request.formula(Counts(*cells))) for cells in (counts, probe)]
    return values if np.allclose(means, found, rtol=1e-9, atol=1e-12) else None


def _cells(table: Counts) -> Array:
    return np.array([float(table.tp), float(table.fp), float(table.fn), float(table.tn)])


def _is_known(request: Request) -> bool:
    return is_proportion(request) or _is_auc(request) or case_values(request) is not None


def _is_auc(request: Request) -> bool:
    """Whether a measure is a fixed linear function of the AUC; some depend on the prevalence, which is estimated."""
    return is_linear_in_auc(request) and isinstance(request.measure.area, tuple)


@interval(ANY_LOOK, "interval that holds at every look", suits=_is_known, every_look=True)
def any_look_interval(
    plan: IntervalRequest,
    *,
    cases: Annotated[int, "number of cases at which it is tightest; fix it before the first look"] = CASES,
    side: Annotated[Side, "both limits, or one of them"] = "both",
) -> Interval:
    """Limits that hold at every look: exact for shares, asymptotic for the AUC, costs and net benefit."""
    if cases < 1:
        raise MeasureError(f"cases={cases} is not a number of cases.", hint="any-look(cases=1000)")
    table, draws, alpha = plan.request.table, plan.draws, 1 - plan.level
    if table.cell_squares is not None or draws.grouped or draws.time is not None:
        return undefined_interval("those for every look need independent cases without weights")
    settings: dict[str, Any] = {"cases": cases, "side": side}
    if _is_auc(plan.request):
        return _auc(plan, alpha, settings)
    if is_proportion(plan.request):
        measure = plan.request.measure
        to_share, inverse = measure.share or (float, float)
        trials = table.effective(measure.trials or "")
        hits = to_share(plan.value) * trials
        if inverse(1.0) < inverse(0.0):
            settings["side"] = {"low": "high", "high": "low"}.get(side, side)
        ends = sorted(map(inverse, share_limits(hits, trials - hits, alpha, **settings)))
        return Interval(float(ends[0]), float(ends[1]), ANY_LOOK)
    values = case_values(plan.request)
    if values is None:
        return undefined_interval("those for every look are known for shares, AUCs and means over cases only")
    return _mean(_cells(cast("Counts", table)), values, plan, alpha, settings)


def _auc(plan: IntervalRequest, alpha: float, settings: dict[str, Any]) -> Interval:
    table = plan.request.table.inside(ScoreTable)
    slope, intercept = plan.request.measure.in_auc(table)
    sizes = float(table.n_pos), float(table.n_neg)
    if min(sizes) < START:
        return undefined_interval(f"too early, as the rarer class has {grouped(min(sizes))} of {START} cases")
    area = (plan.value - intercept) / slope
    low, high = auc_limits(area, *sizes, delong_variance(table), alpha, **settings)
    return Interval(slope * low + intercept, slope * high + intercept, f"{ANY_LOOK}, asymptotic")


def _mean(cells: Array, values: Array, plan: IntervalRequest, alpha: float, settings: dict[str, Any]) -> Interval:
    """Asymptotic from enough cases on: of the rarer class for a benefit, of the dearer error for a cost."""
    tp, fp, fn, tn = values
    if plan.request.measure.best == "low":
        enough = cells[2] if fn - tp > fp - tn else cells[1]
    else:
        enough = min(cells[0] + cells[2], cells[1] + cells[3])
    exact = enough < START
    low, high = (bounded_limits if exact else mean_limits)(cells, values, alpha, **settings)
    low, high = max(float(low), float(values.min())), min(float(high), float(values.max()))
    return Interval(low, high, f"{ANY_LOOK}, {'exact' if exact else 'asymptotic'}")
