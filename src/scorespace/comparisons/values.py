"""Values per case of two models on the same cases: means, shares and quantiles of paired differences."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

import numpy as np

from scorespace.comparisons.design import Design, PairedModels
from scorespace.comparisons.resampling_tests import bootstrap, check_replicates
from scorespace.comparisons.result import Comparison
from scorespace.comparisons.test import NotApplicable, test
from scorespace.errors import MeasureError
from scorespace.inference.bootstrap import evaluate_replicates
from scorespace.inference.case_values import (
    MeanEstimate,
    MeanSpread,
    agresti_min,
    column_of,
    crossed_mean,
    groups_of,
    is_mean_over_cases,
    is_quantile,
    order_ranks,
)
from scorespace.measures.values import mean, median
from scorespace.tables import Array, RankTable, Table

_SAME = "the values are the same in every case"
_ALWAYS = "the difference is the same in every case"


def requires_mean_over_cases(design: Design[Any]) -> NotApplicable | None:
    """Requires a measure that is a mean over cases or queries."""
    if design.spec is not None and all(map(is_mean_over_cases, design.bound)):
        return None
    hint = f'measure="{mean.name}", with values=…'
    return NotApplicable("{title} is for means of values per case.", hint=hint, error=MeasureError)


def requires_quantile(design: Design[Any]) -> NotApplicable | None:
    """Requires the median of values per case, without weights or groups."""
    suits = design.spec is not None and all(map(is_quantile, design.bound)) and design.spec.measure is median
    if suits and not design.grouped and not design.weighted:
        return None
    return NotApplicable(
        "{title} is for medians of values per case, without weights and groups.",
        hint='measure="median", or test="bootstrap"',
        error=MeasureError,
    )


def paired_columns(design: PairedModels[Any]) -> tuple[Array, Array, Array]:
    """The values of both models on their shared cases whose means are compared, and the weights."""
    (a, weight), (b, _) = map(column_of, design.bound)
    defined = np.isfinite(a) & np.isfinite(b)
    return a[defined], b[defined], weight[defined]


def _blank(design: PairedModels[Table], name: str, difference: float) -> Comparison:
    return Comparison(*design.names, name, design.of, difference, level=design.level)


def with_estimate(comparison: Comparison, estimate: MeanEstimate, bounds: tuple[float, float]) -> Comparison:
    """Add the interval, statistic and p of a mean difference."""
    if not estimate.df > 0:
        return replace(comparison, reason="a single case or group has no variance")
    if estimate.error == 0:
        is_zero = estimate.centre == 0
        both: dict[str, Any] = {
            "low": estimate.centre,
            "high": estimate.centre,
            "reason": _SAME if is_zero else _ALWAYS,
        }
        return replace(comparison, **both, p=1.0 if is_zero else math.nan)
    low, high = estimate.limits(comparison.level)
    low, high = max(low, bounds[0]), min(high, bounds[1])
    found: dict[str, Any] = {"statistic": estimate.statistic, "df": estimate.df, "p": estimate.p}
    return replace(comparison, low=low, high=high, **found)


def _bounds(design: PairedModels[Table]) -> tuple[float, float]:
    """Range of a difference, from the stated range of the values."""
    table: Any = design.bound[0].table
    low, high = table.limits or design.bound[0].range
    return low - high, high - low


def requires_queries(design: Design[Any]) -> NotApplicable | None:
    """Requires rankings per query."""
    if design.spec is not None and all(request.table.by_query for request in design.bound):
        return None
    return NotApplicable(
        "{title} is for rankings per query.", hint="query=…, the column of queries", error=MeasureError
    )


_ALL_SIGNS: Final = 12  # queries up to which all signs are used


@test(
    title="paired randomisation test",
    for_="rankings per query of two models: swaps the models in random queries",
    suits=(requires_queries,),
    aliases=("randomization", "fisher_randomization"),
)
def randomisation(
    design: PairedModels[RankTable],
    *,
    replicates: Annotated[int, "number of random signs; all are used up to 12 queries"] = 10_000,
) -> Comparison:
    """Share of signs of the differences per query with a mean as large: p = (1 + #{|d̄*| ≥ |d̄|}) / (1 + B).

    The interval is that of the mean difference over queries.
    """
    t = mean_difference.function(replace(design, tested=False))
    a, b, weight = paired_columns(design)
    gaps, n = weight * (a - b), a.size
    if n < 2:
        return replace(t, test="randomisation", p=math.nan)

    def means(signs: Array) -> Array:
        return np.abs((2.0 * signs - 1) @ gaps)

    if n <= _ALL_SIGNS:
        extreme, total = means((np.arange(2**n)[:, None] >> np.arange(n)) & 1), 0
    else:
        extreme, total = (
            evaluate_replicates(
                lambda rng, number: rng.integers(0, 2, (number, n), dtype=np.int8),
                means,
                n,
                replicates=check_replicates(replicates),
                seed=design.draws.seed,
            ),
            1,
        )
    hits = int((extreme >= abs(float(gaps.sum())) - 1e-12).sum())
    name = "randomisation, exact" if total == 0 else "randomisation"
    statistic = float(gaps.sum() / weight.sum())
    return replace(t, test=name, statistic=statistic, df=math.nan, p=(total + hits) / (total + extreme.size))


@test(
    title="Student's t of paired values",
    for_="means of values per case of two models: whether the mean difference is zero",
    suits=(requires_mean_over_cases,),
    aliases=("paired_values", "value_t"),
)
def mean_difference(design: PairedModels[Table]) -> Comparison:
    """Mean of the differences over its error, over cases or groups, corrected for skewness where they are skewed.

    Shares of single cases use Agresti and Min's interval (2005), which adds ½ to each of the four cells; means over
    items and runs use the variance of the two-way table of differences.
    """
    a, b, weight = paired_columns(design)
    comparison = _blank(design, "mean_difference", design.difference)
    if design.spec is not None and dict(design.spec.options).get("over") == "runs":
        tables: list[Any] = [request.table for request in design.bound]
        crossed, _ = crossed_mean(tables[0].numbers.runs - tables[1].numbers.runs)
        return with_estimate(comparison, crossed, _bounds(design))
    gap, group = a - b, groups_of(design.draws)
    is_share = group is None and not design.weighted and bool(np.isin([a, b], (0.0, 1.0)).all())
    if is_share and gap.any():
        low, high, z, p = agresti_min(a, b, design.level)
        return replace(comparison, test="mean_difference, Agresti–Min", low=low, high=high, statistic=z, p=p)
    spread = MeanSpread(gap[None, :], weight, group)
    if not gap.size:
        return replace(comparison, reason="no case has a value of both models")
    if not spread.units > 1 + 1e-9:
        return replace(comparison, reason="a single case or group has no variance")
    return with_estimate(comparison, spread.estimate(), _bounds(design))


@test(
    title="order statistics of paired values",
    for_="medians of values per case of two models: the median of the differences",
    suits=(requires_quantile,),
)
def median_difference(
    design: PairedModels[Table],
    *,
    diff: Annotated[
        Literal["within", "between"], "median of the differences within cases, or difference of the two medians"
    ] = "within",
) -> Comparison:
    """Median of the differences within cases, limits from order statistics; p from the sign test of the differences.

    It is another number than the difference of the medians, whose bootstrap interval is far too wide for models that
    are alike.
    """
    if diff == "between":
        found: Comparison = bootstrap.function(design)
        return replace(found, test="median_difference(diff=between)")
    tables: list[Any] = [request.table for request in design.bound]
    a, b = (table.numbers.value for table in tables)
    gap = np.sort(a - b)
    comparison = _blank(design, "median_difference, within cases", float(np.median(gap)))
    comparison = replace(comparison, asked="median of differences")
    ranks = order_ranks(gap.size, 0.5, design.level)
    if ranks is None:
        return replace(comparison, reason="there are too few cases for an interval of a median")
    low, high = float(gap[ranks[0]]), float(gap[ranks[1]])
    higher, lower = int((gap > 0).sum()), int((gap < 0).sum())
    from scipy.stats import binomtest

    p = 1.0 if higher + lower == 0 else float(binomtest(higher, higher + lower).pvalue)
    return replace(
        comparison, low=low, high=high, statistic=float(higher), p=p, reason=None if p < 1 or gap.any() else _SAME
    )
