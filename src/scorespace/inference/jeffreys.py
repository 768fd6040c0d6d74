"""Bayesian intervals of measures of decisions: Dirichlet posterior of the outcome counts with Jeffreys' prior."""

from __future__ import annotations

from typing import Final, cast

import numpy as np

from scorespace.inference import interval_formulas, parametric_bootstrap
from scorespace.inference.bootstrap import REPLICATES
from scorespace.inference.interval import (
    PARAMETRIC_ROWS,
    Interval,
    IntervalRequest,
    clip_to_range,
    excluded_remark,
    interval,
    undefined_interval,
)
from scorespace.measures.request import Request
from scorespace.tables import Array, ScoreTable, TopCases
from scorespace.tables.chunks import thread_pool

_POINTS_AT_ONCE: Final = 16  # operating points whose outcomes are drawn together


def _has_decisions(request: Request) -> bool:
    is_reweighted = request.stated and request.share is None  # a stated prevalence reweights the counts
    return request.table.counts_outcomes and not request.table.by_case and not is_reweighted


@interval(
    "jeffreys",
    "Jeffreys interval: percentiles of the posterior counts",
    suits=_has_decisions,
    general=True,
    weighted=True,
)
def jeffreys_interval(plan: IntervalRequest) -> Interval:
    """Percentiles of the measure on outcomes drawn from Dirichlet(counts + ½), so that empty cells are possible.

    For K classes, 1 / (K (K − 1)) is added to each cell, one error in total. For measures within classes, the outcomes
    of each class are drawn separately. For an operating point by rank, the threshold is adjusted so that the number of
    predicted positives stays. For weighted cases, each cell has its effective sample size and mean weight.
    """
    table = plan.request.table
    cells, squares = table.cells.astype(np.float64), table.cell_squares
    drawn = _draw_outcomes(plan.request, cells, plan.draws.seed, plan.draws.replicates, squares)
    if isinstance(plan.request.spec.at, TopCases):
        drawn = _adjust_threshold(plan, drawn)
    values = np.asarray(plan.request.formula(table.with_cells(drawn)), dtype=np.float64)
    defined = values[np.isfinite(values)]
    if not defined.size:
        return undefined_interval("the measure is undefined in every draw")
    low, high = np.quantile(defined, plan.tails)
    reason = excluded_remark(values.size, defined.size, "undefined draws")
    return clip_to_range(plan, low, high, "jeffreys", reason)


def _draw_outcomes(request: Request, cells: Array, seed: int, replicates: int, squares: Array | None = None) -> Array:
    """Draw posterior cells (replicates, m) given the observed ones; within each class for stratified measures."""
    table = request.table
    prior = interval_formulas.cell_prior(max(2, len(table.class_names)))
    rng = np.random.default_rng([seed, 2])  # stream of the posterior draws
    units = np.ones(cells.size) if squares is None else interval_formulas.unit_weights(table.strata, cells, squares)
    strata = table.strata if request.within else np.zeros_like(table.strata)
    drawn = np.empty((replicates, cells.size))
    for stratum in np.unique(strata):
        in_stratum = strata == stratum
        drawn[:, in_stratum] = (
            interval_formulas.dirichlet_posterior(
                cells[in_stratum], rng, replicates, prior=prior, unit=units[in_stratum]
            )
            * cells[in_stratum].sum()
        )
    return drawn


OutcomeCache = dict[tuple[bool, bytes, bytes], Array]


def jeffreys_limits(
    request: Request,
    cells: Array,
    level: float,
    seed: int = 0,
    kept: OutcomeCache | None = None,
    *,
    squares: Array | None = None,
) -> tuple[Array, Array]:
    """Limits of the Jeffreys interval of a request for each row of cells (points, m), such as operating points.

    `squares` holds the squared weights of the cells for weighted cases. Every row is drawn from the same seed, so its
    limits equal those of a separate interval. Draws are cached in `kept` for further measures.

    >>> from scorespace.measures.catalog import parse
    >>> from scorespace.measures.request import bind
    >>> from scorespace.tables import Counts
    >>> cells = np.array([[9, 1, 2, 8], [5, 5, 5, 5]])
    >>> low, high = jeffreys_limits(bind(parse("mcc"), Counts(9, 2, 1, 8)), cells, 0.95)
    >>> low.round(2), high.round(2)
    (array([ 0.29, -0.38]), array([0.88, 0.39]))
    """
    tails = interval_formulas.tail_probabilities(level)
    cells, known_draws = np.asarray(cells, dtype=np.float64), {} if kept is None else kept

    def draw_row(row: Array, squared: Array | None) -> Array:
        key = request.within, row.tobytes(), b"" if squared is None else squared.tobytes()
        if key not in known_draws:
            known_draws[key] = _draw_outcomes(request, row, seed, REPLICATES, squared)
        return known_draws[key]

    def compute_limits(points: Array) -> Array:
        outcomes = np.stack([draw_row(cells[point], None if squares is None else squares[point]) for point in points])
        values = np.asarray(request.formula(request.table.with_cells(outcomes)), dtype=np.float64)
        if np.isfinite(values).all():
            return np.quantile(values, tails, axis=1).T
        defined = [row[np.isfinite(row)] for row in values]
        return np.array([np.quantile(row, tails) if row.size else (np.nan, np.nan) for row in defined])

    chunks = np.array_split(np.arange(len(cells)), max(1, len(cells) // _POINTS_AT_ONCE))
    with thread_pool() as pool:
        limits = np.concatenate(list(pool.map(compute_limits, chunks)))
    value = np.asarray(request.formula(request.table.with_cells(cells)))
    lowest, highest = request.range
    return np.maximum(np.fmin(limits[:, 0], value), lowest), np.minimum(np.fmax(limits[:, 1], value), highest)


def _adjust_threshold(plan: IntervalRequest, drawn: Array) -> Array:
    """Adjust posterior outcomes (draws, 4) so that the number of predicted positives stays as requested.

    The cases between the old and the new threshold are positive at the smooth rate by rank at the threshold.
    """
    spec = plan.request.spec
    scores = plan.table.inside(ScoreTable, spec.of if len(plan.table.class_names) > 2 else None)
    light = scores.condensed(PARAMETRIC_ROWS) if scores.score.size > 2 * PARAMETRIC_ROWS else scores
    cases = light.counts.sum(axis=-2, dtype=np.float64)
    rates = parametric_bootstrap.rates_by_rank(cases, light.pos, degree=2)
    predicted_positive = np.array([1, 0, 1, 0])  # TP, FN, FP, TN
    positive = np.array([1, 1, 0, 0])
    if spec.of is not None and len(plan.table.class_names) == 2 and spec.of != plan.table.positive_name:
        predicted_positive, positive = 1 - predicted_positive, 1 - positive
    depth = float(cast(TopCases, plan.request.point).of(1.0))
    rate = float(np.interp(depth, parametric_bootstrap.mid_ranks(cases), rates))
    size = drawn.sum(axis=-1)
    shortfall = depth * size - (drawn * predicted_positive).sum(axis=-1)  # how many more must be predicted positive
    adjusted = drawn.copy()
    for actual, share in ((1, rate), (0, 1 - rate)):
        gaining, losing = (
            int(np.flatnonzero((positive == actual) & (predicted_positive == prediction))[0]) for prediction in (1, 0)
        )
        step = np.clip(shortfall * share, -drawn[:, gaining], drawn[:, losing])
        adjusted[:, gaining] += step
        adjusted[:, losing] -= step
    return adjusted
