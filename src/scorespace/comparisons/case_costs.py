"""Costs of each case of two models on the same cases: the mean difference of the costs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any, Final, cast

import numpy as np
from scipy.special import ndtr

from scorespace.comparisons.design import Design, FixedValue, IndependentSamples, PairedModels
from scorespace.comparisons.eligibility import requires_single_cases
from scorespace.comparisons.result import Comparison
from scorespace.comparisons.test import NotApplicable, test
from scorespace.errors import MeasureError
from scorespace.inference.proportion import normal_quantile
from scorespace.inference.skew_k import savings_moments, skew_k
from scorespace.measures.request import Request
from scorespace.tables import Array
from scorespace.tables.case_costs import CostSums, CostTable, Moments, moments_of_cases
from scorespace.tables.paired import PairTable

FEW_DIFFERENT: Final = 20
"""Cases with different costs below which models are swapped case by case."""


def requires_case_costs(design: Design[Any]) -> NotApplicable | None:
    """Requires the mean cost of cases that have costs of their own."""
    if design.spec is not None and design.only_table is CostTable:
        return None
    requested = "decisions" if design.spec is None else str(design.spec)
    hint = 'measure="cost@0.5" with a column of costs'
    return NotApplicable(f"{{title}} is for costs per case, not for {requested}.", hint=hint, error=MeasureError)


@test(
    title="z test of costs per case",
    for_="costs that differ from case to case: mean difference of the costs of each case",
    suits=(requires_case_costs, requires_single_cases),
    name="case_costs",
    directed=True,
)
def case_costs(
    design: PairedModels[CostTable],
    *,
    replicates: Annotated[int, "swaps of the models where fewer than 20 cases have different costs"] = 10_000,
) -> Comparison:
    """z = mean D / √(Σ(D − mean D)² / (n (n − 1))) of the differences D of the costs of each case.

    Savings differ by −ΣD / ΣL₀, with the costs L₀ of the cheaper constant rule and U = D − L₀ · ΣD / ΣL₀. Where fewer
    than 20 cases differ, the share of random swaps of the models with a difference as large as observed.
    """
    first, second = (_losses(cast(CostSums, request.table)) for request in design.bound)
    pairs = design.cases
    differences, sums = first - second, cast(CostSums, design.bound[0].table)
    moments = moments_of_cases(differences, pairs.weight, pairs.group)
    if design.of.startswith("savings"):
        moments = _relative(differences, sums, moments.mean, pairs)
    comparison = Comparison(*design.names, "z of costs", design.of, moments.mean, level=design.level)
    error = math.sqrt(moments.second / (moments.cases * max(1.0, moments.cases - 1)))
    if error == 0:
        return replace(comparison, low=moments.mean, high=moments.mean, p=1.0, reason="both models cost the same")
    half = normal_quantile(design.level) * error
    z = moments.mean / error
    p = float(2 * ndtr(-abs(z)))
    comparison = replace(comparison, low=moments.mean - half, high=moments.mean + half, statistic=z, p=p)
    weighted = differences if pairs.weight is None else differences * pairs.weight
    units = weighted if pairs.group is None else np.bincount(pairs.group, weighted)
    units = units[units != 0]
    if units.size >= FEW_DIFFERENT:
        return comparison
    return replace(comparison, test="swaps of costs", statistic=float(units.sum()), p=_p_by_swaps(units, replicates))


@case_costs.on(requires_case_costs, directed=True)
def _of_samples(design: IndependentSamples[CostTable]) -> Comparison:
    """Difference of two independent samples; the distances to the limits of each are added in squares."""
    estimates = [_limits(request, design.level) for request in design.bound]
    (a, *first), (b, *second) = estimates
    low = a - b - math.hypot(a - first[0], second[1] - b)
    high = a - b + math.hypot(first[1] - a, b - second[0])
    error = math.hypot(first[2], second[2])
    z = (a - b) / error if error else math.nan
    p = float(2 * ndtr(-abs(z))) if error else 1.0
    return replace(design.answer("z of costs"), low=low, high=high, statistic=z, p=p)


@case_costs.on(requires_case_costs, directed=True)
def _of_value(design: FixedValue[CostTable]) -> Comparison:
    """Difference from a value, with the limits of the model."""
    value, low, high, error = _limits(design.bound[0], design.level)
    z = (value - design.value) / error if error else math.nan
    p = float(2 * ndtr(-abs(z))) if error else float(value == design.value)
    answer = design.answer("z of costs")
    return replace(answer, low=low - design.value, high=high - design.value, statistic=z, p=p)


def _limits(request: Request, level: float) -> tuple[float, float, float, float]:
    """Value, limits and standard error of a cost or of savings."""
    sums: Any = request.table
    if request.measure.name == "savings":
        moments = savings_moments(sums)
        limits = skew_k(moments, level, log=True)
        value, low, high = 1 - moments.mean, 1 - limits.high, 1 - limits.low
    else:
        moments = sums.moments((1, 0), (0, 1))
        limits = skew_k(moments, level, log=sums.nonnegative)
        value, low, high = moments.mean, limits.low, limits.high
    return value, low, high, math.sqrt(moments.second / (moments.cases * max(1.0, moments.cases - 1)))


def _relative(differences: Array, sums: CostSums, mean: float, pairs: PairTable) -> Moments:
    """Moments of a difference of savings: that of the costs, relative to the cheaper constant rule."""
    base = min(sums.mean_of_acting, sums.mean_of_waiting)
    loss = sums.table.act if sums.mean_of_acting <= sums.mean_of_waiting else sums.table.wait
    influence = (differences - mean / base * np.asarray(loss)) / base
    return moments_of_cases(influence, pairs.weight, pairs.group)._replace(mean=-mean / base)


def _losses(sums: CostSums) -> Array:
    """Cost of each case at the operating point."""
    table = sums.table
    assert table.act is not None
    assert table.wait is not None
    return np.asarray(sums.acted * table.act + (1 - sums.acted) * table.wait)


def _p_by_swaps(units: Array, replicates: int) -> float:
    """Share of random signs whose sum is as large as the observed one."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (replicates, units.size))
    extreme = np.abs(signs @ units) >= abs(units.sum()) * (1 - 1e-12)
    return float((1 + extreme.sum()) / (1 + replicates))
