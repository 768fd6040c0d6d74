"""An interval on every number: Wilson for proportions, DeLong for AUC, bootstrap for the rest; others on request."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from scipy.special import betaincinv, expit, logit, ndtri

from scorespace.errors import MeasureError, ScoreSpaceError, did_you_mean, listing
from scorespace.measures.average import AVERAGES
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.request import bind
from scorespace.resampling.draw import REPLICATES
from scorespace.resampling.interval import (
    CELLED,
    Interval,
    Resampling,
    bca,
    jackknife_error,
    jackknife_is_affordable,
    percentile,
    studentised,
)
from scorespace.results import SCHEMA, Note, Progress, Row, decimals, plain
from scorespace.tables import Array, ConfusionTable, Counts, ScoreTable, Table, ratio

METHODS: Final = ("wilson", "clopper-pearson", "delong", "delong-logit", "bootstrap", "bca", "studentised")
# Measures that are scale · AUC + (1 − scale), so that an interval of the area is one of theirs.
_AREA_SCALES: Final = {"auc": 1.0, "gini": 2.0}
NEEDS_WHOLE_WEIGHTS = "no interval: the weights are not whole numbers, so cases cannot be counted"


@dataclass(frozen=True)
class Estimate:
    """One number with its interval, and the reason when either is undefined."""

    model: str
    spec: MeasureSpec
    value: float
    low: float
    high: float
    level: float
    method: str | None
    reason: str | None

    def row(self) -> Row:
        """The row of tidy output; undefined and infinite numbers are None, with the reason."""
        return plain(
            {
                "model": self.model,
                "measure": self.spec.label,
                "at": self.spec.at,
                "class": self.spec.of,
                "value": self.value,
                "low": self.low,
                "high": self.high,
                "level": self.level,
                "method": self.method,
                "reason": self.reason,
            }
        )

    def __repr__(self) -> str:
        name = f"{self.model} {self.spec}" if self.model else str(self.spec)
        return f"{name} {self.text}" + (f"  ({self.reason})" if self.reason else "")

    @property
    def text(self) -> str:
        """Value and interval for people: `0.787 [0.757, 0.817]`."""
        places = 3 if self.spec.measure.range[1] <= 1 or abs(self.value) < 10 else 1
        if 0 < abs(self.value) < 0.001:  # rates of rare things would all read 0.000
            places = min(6, 1 - math.floor(math.log10(abs(self.value))))
        value = decimals(self.value, places)
        if math.isnan(self.low) or math.isnan(self.high):
            return value
        return f"{value} [{decimals(self.low, places)}, {decimals(self.high, places)}]"


@dataclass(frozen=True)
class Estimates:
    """Estimates of measures for models, as tidy rows."""

    estimates: tuple[Estimate, ...]
    notes: tuple[Note, ...] = ()
    as_frame: Callable[[list[Row]], Any] | None = field(default=None, compare=False)

    def rows(self) -> list[Row]:
        return [estimate.row() for estimate in self.estimates]

    def to_dict(self) -> Row:
        return {"schema": SCHEMA, "rows": self.rows(), "notes": [note.to_dict() for note in self.notes]}

    def to_frame(self) -> Any:
        """The rows as a data frame, of the caller's library where they came from one."""
        if self.as_frame is None:
            raise ScoreSpaceError("these estimates know no frame library.", hint="use .rows()")
        return self.as_frame(self.rows())

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __getitem__(self, index: int) -> Estimate:
        return self.estimates[index]

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.estimates))


def estimate(
    spec: MeasureSpec,
    table: Table,
    *,
    model: str = "",
    level: float = 0.95,
    seed: int = 0,
    replicates: int = REPLICATES,
    method: str | None = None,
    progress: Progress | None = None,
) -> Estimate:
    """The measure's value on the table with the interval that suits it, or with that of the method asked for.

    `method`: wilson or clopper-pearson for proportions, delong or delong-logit for the AUC, and
    bootstrap (percentiles), bca or studentised for every measure.

    >>> from scorespace.measures import parse
    >>> from scorespace.tables import score_table
    >>> estimate(parse("ppv@0.5"), score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7]))
    ppv@0.5 0.667 [0.208, 0.939]
    >>> estimate(parse("ppv@0.5"), score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7]), method="clopper-pearson")
    ppv@0.5 0.667 [0.094, 0.992]
    """
    check_level(level)
    request = bind(spec, table)
    function, suitable = request.formula, request.table
    chosen = _method(spec, suitable, method, replicates)
    value = float(np.asarray(function(suitable)))
    found = Interval(math.nan, math.nan, None, spec.measure.reason(value))
    if found.reason is None and not table.whole:
        found = replace(found, reason=NEEDS_WHOLE_WEIGHTS)
    elif found.reason is None:
        found = _interval(spec, Resampling(function, suitable, value, level, replicates, seed, progress), chosen)
    return Estimate(model, spec, value, found.low, found.high, level, found.method, found.reason)


def suiting(spec: MeasureSpec, table: Any, replicates: int = REPLICATES) -> tuple[str, ...]:
    """The methods that suit a request on the table it is computed from, the usual one first."""
    if _is_proportion(spec, table):
        return "wilson", "clopper-pearson", "bootstrap", "bca", "studentised"
    if isinstance(table, CELLED) and jackknife_is_affordable(table, replicates):
        resampled: tuple[str, ...] = ("bootstrap", "bca", "studentised")
    else:
        resampled = ("bootstrap", "bca") if isinstance(table, CELLED) else ("bootstrap",)
    if _area_scale(spec, table) is None:
        return resampled
    usual = ("delong", "delong-logit", "bootstrap", "bca", "studentised")
    return usual if spec.measure.interval == "delong" else ("bootstrap", "delong", "delong-logit", *usual[3:])


def _method(spec: MeasureSpec, table: Any, asked: str | None, replicates: int) -> str:
    """The method asked for, refused when it does not suit; the usual one when none is asked for."""
    suitable = suiting(spec, table, replicates)
    if asked is None:
        return suitable[0]
    check_method(asked)
    if asked not in suitable:
        large = asked == "studentised" and isinstance(table, CELLED)
        what = f"takes too long for {spec} of so many cases" if large else f"does not suit {spec}"
        raise MeasureError(f"method={asked!r} {what}.", hint=f"{', '.join(suitable[:-1])} or {suitable[-1]}")
    return asked


def _is_proportion(spec: MeasureSpec, table: Any) -> bool:
    counted = isinstance(table, (Counts, ConfusionTable))
    return spec.measure.trials is not None and counted and spec.of not in AVERAGES


def _area_scale(spec: MeasureSpec, table: Any) -> float | None:
    """The measure's scale to the AUC when it is one, else None."""
    if not isinstance(table, ScoreTable):
        return None
    return _AREA_SCALES.get(spec.name, 1.0 if spec.measure.interval == "delong" else None)


def _interval(spec: MeasureSpec, plan: Resampling, method: str) -> Interval:
    measure, table = spec.measure, plan.table
    if method in ("wilson", "clopper-pearson"):
        trials = float(getattr(table, measure.trials or ""))
        exact = wilson if method == "wilson" else clopper_pearson
        return Interval(*exact(plan.value * trials, trials, plan.level), method)
    if method in ("delong", "delong-logit"):
        return _area_interval(_area_scale(spec, table) or 1.0, table, plan.level, method)
    if method == "bca":
        return bca(plan)
    if method == "studentised":
        return studentised(plan, *_error(spec, plan), limits=measure.range)
    found = percentile(plan)
    lowest, highest = measure.ranges.get(type(table), measure.range)
    return replace(found, low=max(found.low, lowest), high=min(found.high, highest))


def _area_interval(scale: float, table: ScoreTable, level: float, method: str) -> Interval:
    low, high = delong(table, level) if method == "delong" else delong_logit(table, level)
    if math.isnan(low):
        few = math.isnan(delong_variance(table))
        why = "a class has fewer than two cases" if few else "the logit of an area of 0 or 1 is infinite"
        return Interval(low, high, None, f"no {'DeLong' if method == 'delong' else 'DeLong-logit'} interval: {why}")
    return Interval(scale * low + (1 - scale), scale * high + (1 - scale), method)


def _error(spec: MeasureSpec, plan: Resampling) -> tuple[Callable[[Any], Array], str]:
    """The standard error of a request as a function of replicates, and its name."""
    scale = _area_scale(spec, plan.table)
    if scale is not None:
        return (lambda drawn: scale * np.sqrt(delong_variances(drawn))), "delong"
    if _is_proportion(spec, plan.table):
        trials = spec.measure.trials or ""

        def binomial(drawn: Any) -> Array:
            # Half a hit and half a miss more, or replicates of hits alone would have no error.
            count = getattr(drawn, trials)
            share = (plan.function(drawn) * count + 0.5) / (count + 1)
            return np.sqrt(ratio(share * (1 - share), count))

        return binomial, "binomial"
    return jackknife_error(plan.function, plan.table), "jackknife"


def wilson(hits: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a proportion; NaN without trials.

    >>> tuple(round(x, 4) for x in wilson(8, 10))
    (0.4902, 0.9433)
    """
    if not trials > 0:
        return math.nan, math.nan
    z = normal_quantile(level)
    share, shrink = hits / trials, 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / shrink
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / shrink
    # The bounds reach 0 and 1 exactly in theory; rounding must not pull them inside.
    return (0.0 if hits == 0 else max(0.0, centre - half)), (1.0 if hits == trials else min(1.0, centre + half))


def clopper_pearson(hits: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """The exact interval of Clopper and Pearson: quantiles of Beta(x, n − x + 1) and Beta(x + 1, n − x).

    >>> tuple(round(x, 4) for x in clopper_pearson(8, 10))
    (0.4439, 0.9748)
    """
    if not trials > 0:
        return math.nan, math.nan
    hits, tail = round(hits), (1 - level) / 2  # a share times its trials may miss a whole number by rounding
    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, tail))
    high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - tail))
    return low, high


def delong_variance(table: ScoreTable) -> float:
    """DeLong's variance of the AUC: var(V10)/P + var(V01)/N, from the placements at each score.

    NaN when a class has fewer than two cases or the weights are not whole numbers.
    """
    return float(delong_variances(table))


def delong_variances(table: ScoreTable) -> Array:
    """DeLong's variance of the AUC for every replicate of a table."""
    n_pos, n_neg = table.n_pos, table.n_neg
    if not (table.whole and np.all(n_pos >= 2) and np.all(n_neg >= 2)):  # replicates have the same cases per class
        return np.full(n_pos.shape, np.nan)
    return _placement_variance(table.neg, table.pos, n_neg, n_pos) + _placement_variance(
        table.pos[..., ::-1], table.neg[..., ::-1], n_pos, n_neg
    )


def _placement_variance(judged: Array, others: Array, n_judged: Array, n_others: Array) -> Array:
    """Variance of the mean share of the other class that lies before each judged case, ties half."""
    placement = np.cumsum(others, axis=-1)
    placement -= others / 2
    placement /= n_others[..., None]
    placement -= (np.vecdot(judged, placement) / n_judged)[..., None]
    placement *= placement
    return np.asarray(np.vecdot(judged, placement) / (n_judged - 1) / n_judged)


def delong(table: ScoreTable, level: float = 0.95) -> tuple[float, float]:
    """DeLong's interval for the AUC, cut to [0, 1].

    >>> from scorespace.tables import score_table
    >>> low, high = delong(score_table([0, 0, 1, 1, 1], [0.1, 0.6, 0.4, 0.7, 0.9]))
    >>> round(low, 4), round(high, 4)
    (0.3714, 1.0)
    """
    from_table = MeasureSpec("auc").measure(table)
    half = normal_quantile(level) * math.sqrt(delong_variance(table))
    if math.isnan(half):
        return math.nan, math.nan
    return max(0.0, from_table - half), min(1.0, from_table + half)


def delong_logit(table: ScoreTable, level: float = 0.95) -> tuple[float, float]:
    """DeLong's interval on the logit scale: expit(logit A ± z·se / (A (1 − A))); NaN for an area of 0 or 1.

    >>> from scorespace.tables import score_table
    >>> low, high = delong_logit(score_table([0, 0, 1, 1, 1], [0.1, 0.6, 0.4, 0.7, 0.9]))
    >>> round(low, 4), round(high, 4)
    (0.1523, 0.9929)
    """
    area = MeasureSpec("auc").measure(table)
    error = math.sqrt(delong_variance(table))
    if math.isnan(error) or not 0 < area < 1:
        return math.nan, math.nan
    half = normal_quantile(level) * error / (area * (1 - area))
    return float(expit(logit(area) - half)), float(expit(logit(area) + half))


def normal_quantile(level: float) -> float:
    """Half width of a two-sided normal interval of that level, in standard errors."""
    return float(ndtri((1 + level) / 2))


def check_method(method: str | None) -> None:
    """Refuse a method of intervals that there is not."""
    if method is not None and method not in METHODS:
        near = did_you_mean(method, METHODS)
        hint = f"did you mean {near}?" if near else None
        raise MeasureError(f"method={method!r} is unknown.", seen=f"methods {listing(METHODS)}", hint=hint)


def check_level(level: float) -> None:
    """Refuse a level of confidence that is no probability."""
    if not 0 < level < 1:
        raise ScoreSpaceError(f"level={level:g} is not a level of confidence.", hint="between 0 and 1, such as 0.95")
