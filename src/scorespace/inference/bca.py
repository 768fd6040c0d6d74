"""Bootstrap intervals that use the influence of single cases: BCa and bootstrap-t; jackknife standard errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from scipy.special import ndtr, ndtri

from scorespace.errors import MeasureError
from scorespace.inference.auc_variance import delong_variances
from scorespace.inference.bootstrap import run_in_blocks
from scorespace.inference.interval import (
    Interval,
    IntervalRequest,
    clip_to_range,
    excluded_remark,
    interval,
    is_linear_in_auc,
    is_proportion,
    undefined_interval,
)
from scorespace.inference.subsampling import SingleSample
from scorespace.measures.request import Request
from scorespace.tables import Array, Counts, ratio
from scorespace.tables.chunks import thread_pool

Function = Callable[[Any], Array]


_MOST_INNER_CELLS: Final = (
    200_000_000  # limit of the counts evaluated for a jackknife in every replicate: a few seconds
)
_CELLS_AT_ONCE: Final = 2_000_000


def _has_cells(request: Request) -> bool:
    """Whether cases are in cells, so that one can be left out, and evaluation is cheap enough for every replicate."""
    return request.table.grouping is None and not request.table.by_case


@interval("bca", "bias-corrected and accelerated bootstrap", suits=_has_cells, replicates=True)
def bca_interval(plan: IntervalRequest) -> Interval:
    """Quantiles at Φ(z₀ + (z₀ + z) / (1 − a (z₀ + z))): z₀ from the share of replicates below the value (Efron 1987).

    The acceleration a = Σ U³ / 6 (Σ U²)^1.5 is the skewness of the influence U of cases, by the jackknife. Replicates
    equal to the value count half to either side.
    """
    defined, reason = plan.replicates()
    signs = _signs(defined, plan.value)
    if not signs.any():
        return Interval(plan.value, plan.value, f"bca{plan.how}", "the measure is the same in every replicate")
    share = 0.5 - signs.mean() / 2  # below, plus half of the ties
    if not 0 < share < 1:
        return undefined_interval("all replicates lie on one side of the value, so BCa cannot correct their bias")
    light = plan.draws.source(plan.model).tables[plan.model]
    skewness = acceleration(plan.request.on, light, plan.request.within)
    if math.isnan(skewness):
        return undefined_interval("leaving out one case makes the measure undefined, so BCa has no acceleration")
    bias = ndtri(share)
    steps = bias + ndtri(plan.tails)
    denominators = 1 - skewness * steps
    if not (denominators > 0).all():
        return undefined_interval("the cases' influence is too skewed for BCa")
    low, high = np.quantile(defined, ndtr(bias + steps / denominators))
    return clip_to_range(plan, low, high, f"bca{plan.how}", reason)


@interval("studentised", "bootstrap-t", suits=_has_cells, replicates=True, aliases=("studentized", "bootstrap-t"))
def studentised_interval(plan: IntervalRequest) -> Interval:
    """Bootstrap-t: value − t·se, with t the quantiles of (replicate − value) / se of the replicate.

    A constant factor of the error cancels out.
    """
    table = plan.request.table
    light = table.condensed(2048) if table.cells.size > 20_000 else table
    error, kind = _error(plan.request, light)
    if kind == "jackknife" and not jackknife_is_affordable(light, plan.draws.replicates):
        raise MeasureError(
            f"method='studentised' takes too long for {plan.request.spec} in a sample of this size.",
            hint="bootstrap or bca",
        )
    formula = plan.request.formula
    centre, spread = (float(np.asarray(function(light))) for function in (formula, error))
    if not (math.isfinite(spread) and spread > 0):
        problem = "is zero" if spread == 0 else "is undefined"
        return undefined_interval(f"the standard error ({kind}) {problem}, so bootstrap-t is not possible")

    def value_and_error(drawn: Any) -> list[Array]:
        return [np.asarray(formula(drawn[""]), dtype=np.float64), error(drawn[""])]

    source = SingleSample({"": light}, False)
    cost = light.cells.size * (1 + (case_cells(light).size if kind == "jackknife" else 0))
    draw, seed = source.drawer(plan.request.within), [plan.draws.seed, int(plan.request.within)]
    values, errors = run_in_blocks(
        draw, value_and_error, cost, replicates=plan.draws.replicates, seed=seed, progress=plan.draws.progress
    )
    is_usable = np.isfinite(values) & np.isfinite(errors) & (errors > 0)
    if not is_usable.any():
        return undefined_interval(f"the standard error ({kind}) is zero or undefined in every replicate")
    ratios = (values[is_usable] - centre) / errors[is_usable]
    high, low = plan.value - np.quantile(ratios, plan.tails) * spread
    reason = excluded_remark(values.size, int(is_usable.sum()), "replicates without a standard error")
    if not _signs(values[is_usable], centre).any():
        reason = "the measure is the same in every replicate"
    low, high = np.clip([low, high], *plan.request.range)
    name = f"studentised, {kind}" + ("" if light is table else ", condensed")
    return Interval(float(low), float(high), name, reason)


def _error(request: Request, light: Any) -> tuple[Function, str]:
    """Return the standard error of a request as a function of replicates, and its name."""
    if is_linear_in_auc(request):
        slope = abs(request.measure.in_auc(request.table)[0])
        return (lambda drawn: slope * np.sqrt(delong_variances(drawn))), "delong"
    if is_proportion(request):
        trials = request.measure.trials or ""

        def binomial(drawn: Counts) -> Array:
            # Add half a success and half a failure, or replicates without failures would have no error.
            count = getattr(drawn, trials)
            share = (request.formula(drawn) * count + 0.5) / (count + 1)
            return np.sqrt(ratio(share * (1 - share), count))

        return binomial, "binomial"
    return jackknife_error(request.formula, light, request.within), "jackknife"


def acceleration(function: Function, table: Any, within: bool = True) -> float:
    """BCa's acceleration a = Σ U³ / 6 (Σ U²)^1.5, with U = (n − 1)(mean − leave-one-out value)/n within each class.

    0 when no case has influence; NaN when leaving out a case makes the measure undefined.

    >>> from scorespace.tables import Counts
    >>> round(acceleration(lambda c: c.tp / c.p, Counts(tp=9, fp=0, fn=1, tn=0)), 4)
    -0.1405
    """
    counts, strata = table.cells, _strata(table, within)
    cells = case_cells(table, within)
    values = _left_out_values(function, table, counts, cells)
    if not np.isfinite(values).all():
        return math.nan
    weights, row = counts[cells], strata[cells]
    sizes = np.bincount(strata, counts)
    means = np.bincount(row, weights * values, minlength=sizes.size) / np.maximum(sizes, 1)
    influence = (sizes - 1)[row] / sizes[row] * (means[row] - values)
    squares = float(weights @ influence**2)
    return float(weights @ influence**3) / (6 * squares**1.5) if squares > 0 else 0.0


def jackknife_error(function: Function, base: Any, within: bool = True) -> Function:
    """Jackknife standard errors √Σ (n − 1)/n Σ (leave-one-out value − mean)², summed over classes, of replicates.

    Cases in the same cell have the same leave-one-out value, so the measure is evaluated once per non-empty cell of the
    base table. NaN when leaving out a case makes the measure undefined.

    >>> from scorespace.tables import Counts
    >>> table = Counts(tp=8, fp=0, fn=2, tn=0)
    >>> round(float(jackknife_error(lambda c: c.tp / c.p, table)(table)), 4)
    0.1333
    """
    cells, strata = case_cells(base, within), _strata(base, within)
    member = (strata[cells][:, None] == np.arange(strata.max(initial=0) + 1)).astype(np.float64)
    of_class = (strata[:, None] == np.arange(member.shape[1])).astype(np.float64)

    def error(table: Any) -> Array:
        counts = table.cells
        weights = counts[..., cells].astype(np.float64)
        values = np.asarray(function(table.with_cells(_without_one(counts, cells))), dtype=np.float64)
        values = np.where(weights > 0, values, 0.0)  # an empty cell has no case to leave out
        sizes = counts @ of_class
        means = (weights * values) @ member / np.maximum(sizes, 1)
        spread = (weights * (values - means @ member.T) ** 2) @ member
        return np.sqrt((spread * (1 - 1 / np.maximum(sizes, 1))).sum(axis=-1))

    return error


def jackknife_is_affordable(table: Any, replicates: int) -> bool:
    """Whether a jackknife in every replicate takes seconds rather than hours."""
    work = replicates * table.cells.size
    return work <= _MOST_INNER_CELLS and work * case_cells(table).size <= _MOST_INNER_CELLS


def case_cells(table: Any, within: bool = True) -> Array:
    """Return the cells with cases that can be left out: of classes with at least two cases."""
    strata = _strata(table, within)
    sizes = np.bincount(strata, table.cells)
    return np.flatnonzero((table.cells > 0) & (sizes[strata] > 1))


def _strata(table: Any, within: bool) -> Array:
    return np.asarray(table.strata if within else np.zeros_like(table.strata))


def _left_out_values(function: Function, table: Any, counts: Array, cells: Array) -> Array:
    """Return the leave-one-out value of each cell, in chunks of bounded size."""
    size = max(1, _CELLS_AT_ONCE // max(1, counts.size))
    chunks = [cells[start : start + size] for start in range(0, cells.size, size)]

    def evaluate_chunk(chunk: Array) -> Array:
        return np.asarray(function(table.with_cells(_without_one(counts, chunk))), dtype=np.float64)

    if len(chunks) <= 1:
        return evaluate_chunk(cells) if cells.size else np.empty(0)
    with thread_pool() as pool:
        return np.concatenate(list(pool.map(evaluate_chunk, chunks)))


def _without_one(counts: Array, cells: Array) -> Array:
    """Return the counts (…, cells) once for each chosen cell, with one case fewer in it if it has any."""
    copies = np.repeat(counts[..., None, :], cells.size, axis=-2)
    copy = np.arange(cells.size)
    copies[..., copy, cells] -= (copies[..., copy, cells] > 0).astype(copies.dtype)
    return copies


def _signs(values: Array, value: float) -> Array:
    """1 above the value, −1 below, 0 when equal up to rounding."""
    gaps = values - value
    return np.where(np.abs(gaps) <= 1e-12 * max(1.0, abs(value)), 0.0, np.sign(gaps))
