"""Tests of any measure for two models on the same cases: paired bootstrap and permutation test."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from scorespace.argument_checks import check_type
from scorespace.comparisons.design import Design, PairedModels
from scorespace.comparisons.difference import (
    Bounds,
    add_interval_test,
    add_replicate_test,
    interval_at,
    least_p,
    mover_interval,
)
from scorespace.comparisons.eligibility import (
    discourages_few_cases,
    discourages_few_discordant,
    discourages_folds,
    requires_measure,
    requires_single_cases,
)
from scorespace.comparisons.result import (
    Comparison,
    one_sided,
)
from scorespace.comparisons.test import NotApplicable, test
from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.inference.bootstrap import REPLICATES, evaluate_replicates
from scorespace.results import Note, note
from scorespace.tables import Array, NoTableError, Table
from scorespace.tables.paired import PairTable

_FIXED_DENOMINATORS: Final = ("p", "n", "total")  # denominators that do not change when cases are swapped

Replicates = Annotated[int, "number of bootstrap replicates"]


@test(
    title="bootstrap",
    for_="any measure: resamples the cases, or whole groups, jointly for both models",
    suits=(
        requires_measure,
        requires_single_cases,
        discourages_folds,
        discourages_few_cases,
        discourages_few_discordant,
    ),
    general=True,
    directed=True,
)
def bootstrap(design: PairedModels[Table], *, replicates: Replicates = REPLICATES) -> Comparison:
    """Quantiles of the difference over bootstrap replicates; p is twice the share of them beyond zero."""
    difference = design.difference
    drawn = "bootstrap of groups" if design.grouped else "bootstrap"
    comparison = Comparison(*design.names, drawn, design.of, difference, level=design.level)
    if not math.isfinite(difference):
        return _undefined(comparison, design)
    values = design.differences(check_replicates(replicates))
    comparison = replace(comparison, notes=grouped_notes(design))
    equal_reason = "both models are equal on every case"
    return add_replicate_test(
        comparison, values, equal_reason, range=design.range, least=least_p(design.units), fewest=design.fewest
    )


def swappable(design: PairedModels[Table]) -> NotApplicable | None:
    """Requires models of one kind, whose cases can be swapped."""
    if design.cases.times is not None:
        seen = "binned cases"
        return NotApplicable("{title} swaps cases one by one.", seen=seen, hint='test="bootstrap"', error=MeasureError)
    try:
        _shared_table(design)
    except NoTableError as error:
        return NotApplicable(f"{{title}} {error.reason}.", hint='test="bootstrap"', error=MeasureError)
    return None


@test(
    title="permutation test",
    for_="any measure, and few cases: swaps the models case by case, or group by group",
    suits=(requires_measure, requires_single_cases, discourages_folds, swappable),
    general=True,
    directed=True,
)
def permutation(
    design: PairedModels[Table],
    *,
    replicates: Annotated[int, "number of random swaps; all swaps are used where there are not more"] = REPLICATES,
    null: Annotated[
        Literal["equal", "exchangeable"],
        "what is tested: equal measures, with p at least that of the interval; or exchangeable models, by swaps alone",
    ] = "equal",
) -> Comparison:
    """Share of swaps with a difference as large as observed: p = (1 + #{|swapped| ≥ |observed|}) / (1 + swaps).

    Ranking measures swap ranks within each model, since scores may be on different scales; measures at a threshold and
    of probabilities swap scores. The test is exact for exchangeable models and for proportions. For models with equal
    AUC whose scores have different spreads it rejected in up to 14 % of samples (5 to 15 positives), so p is at least
    that of the interval, one minus the level at which it reaches zero: then in 2 to 5 %.
    """
    difference = design.difference
    comparison = Comparison(*design.names, "permutation", design.of, difference, level=design.level)
    if not math.isfinite(difference):
        return _undefined(comparison, design)
    bounds = _interval_function(design)
    low, high = bounds(design.level)
    comparison = replace(comparison, low=low, high=high, statistic=difference, notes=grouped_notes(design, "swapped"))
    if not design.tested:
        return comparison
    gaps, is_exhaustive = _swapped_gaps(design, check_replicates(replicates))
    sign = {"two-sided": 0, "greater": 1, "less": -1}[design.alternative]
    swapped, observed = (sign * gaps, sign * difference) if sign else (np.abs(gaps), abs(difference))
    # Ties between swapped and observed differences are up to rounding; an undefined difference counts as extreme.
    extreme = int((~(swapped < observed - 1e-12)).sum())
    comparison = replace(comparison, alternative=design.alternative)
    if is_exhaustive:
        comparison = replace(comparison, test="permutation, exact", p=extreme / gaps.size)
    else:
        comparison = replace(comparison, p=(1 + extreme) / (1 + gaps.size))
    is_proportion = design.bound[0].measure.trials in _FIXED_DENOMINATORS
    return (
        comparison
        if null == "exchangeable" or is_proportion or abs(difference) <= 1e-12
        else _at_least_interval_p(comparison, bounds)
    )


def _at_least_interval_p(comparison: Comparison, bounds: Callable[[float], Bounds]) -> Comparison:
    """Use the p value of the interval where that is larger."""
    two_sided = add_interval_test(replace(comparison, alternative="two-sided"), bounds, 0.0, 0.0)
    p = one_sided(two_sided, comparison.alternative).p
    return replace(comparison, test="permutation, interval", p=p) if p > comparison.p else comparison


def _swapped_gaps(design: PairedModels[Table], replicates: int) -> tuple[Array, bool]:
    """Return the difference after each of `replicates` random swaps, or after all swaps, and whether it is all."""
    pairs, (table, *maps) = design.cases, _shared_table(design)
    k = [pairs.index(model) for model in design.names]
    cells_ = [cell_map[pairs.cell[row]] for cell_map, row in zip(maps, k, strict=True)]
    unit, units = np.arange(pairs.cases), pairs.cases
    if pairs.group is not None:
        unit = np.unique(pairs.group, return_inverse=True)[1]
        units = int(unit.max(initial=-1)) + 1
    is_exhaustive = units <= 31 and 2 ** (units - 1) <= replicates
    size, request = int(table.cells.shape[-1]), design.bound[0]

    def gaps(swapped: NDArray[np.bool_]) -> Array:
        is_swapped = swapped[:, unit]
        first, second = np.where(is_swapped, cells_[1], cells_[0]), np.where(is_swapped, cells_[0], cells_[1])
        return request.on(_fill_table(table, first, size, pairs)) - request.on(_fill_table(table, second, size, pairs))

    def swap(rng: np.random.Generator, number: int) -> NDArray[np.bool_]:
        return rng.integers(0, 2, (number, units), dtype=np.uint8).view(bool)

    if is_exhaustive:  # the first case stays, since swapping all cases only changes the sign
        swaps = (np.arange(2 ** max(0, units - 1))[:, None] >> np.arange(units)) & 1
        half = gaps(np.roll(swaps, 1, axis=1).astype(bool))
        return np.concatenate([half, -half]), True
    draws = design.draws
    cost = 2 * pairs.cases + 2 * size
    return evaluate_replicates(swap, gaps, cost, replicates=replicates, seed=draws.seed, progress=draws.progress), False


def _fill_table(table: Any, places: Array, size: int, pairs: PairTable) -> Any:
    """Return the table of a model for each replicate, from the cells (replicates, cases) of its cases."""
    count = places.shape[0]
    cells = places + (np.arange(count) * size)[:, None]
    weight = None if pairs.weight is None else np.broadcast_to(pairs.weight, places.shape).ravel()
    return table.with_cells(np.bincount(cells.ravel(), weight, minlength=count * size).reshape(count, size))


def _shared_table(design: PairedModels[Table]) -> tuple[Any, Array, Array]:
    """Return one table for both models, and the cells of their cases in it."""
    spec = design.spec
    keep_scores = spec is None or spec.at is not None or spec.measure.probability
    a, b = design.tables
    result: tuple[Any, Array, Array] = a.shared_with(b, sized=keep_scores)
    return result


def _interval_function(design: PairedModels[Table]) -> Callable[[float], Bounds]:
    """Return the interval of the difference as a function of its level (MOVER, with correlated replicates)."""
    draws = design.drawn(REPLICATES)
    values = np.stack([draws.of(model, request) for model, request in zip(design.names, design.bound, strict=True)])
    values = values[:, np.isfinite(values).all(axis=0)]
    value_range = np.ptp(values, axis=1, keepdims=True) if values.shape[1] > 1 else np.zeros(1)
    # Scaled by their range, since squares of very large costs would overflow.
    correlation = (
        float(np.corrcoef((values - values[:, :1]) / value_range)[0, 1]) if (value_range > 1e-12).all() else 0.0
    )
    a, b = (request.value for request in design.bound)

    def bounds(level: float) -> Bounds:
        of_a, of_b = (
            interval_at(request, model, draws, level) for model, request in zip(design.names, design.bound, strict=True)
        )
        return mover_interval(a, (of_a.low, of_a.high), b, (of_b.low, of_b.high), correlation)

    return bounds


def _undefined(comparison: Comparison, design: PairedModels[Table]) -> Comparison:
    """Return an undefined comparison with the reason."""
    reasons = (request.reason(request.value) for request in design.bound)
    return replace(comparison, difference=math.nan, reason=next(filter(None, reasons), None))


def grouped_notes(design: Design[Table], how: str = "drawn") -> tuple[Note, ...]:
    """Return the note that groups are resampled or swapped as a whole."""
    if not design.grouped:
        return ()
    return (note("SS016", f"cases of a group are not independent, so whole groups are {how}."),)


def check_replicates(replicates: int) -> int:
    """Check a number of replicates."""
    check_type("replicates", replicates, int)
    if replicates < 1:
        raise ScoreSpaceError(f"replicates={replicates} is too few.", hint=f"replicates={REPLICATES}")
    return replicates
