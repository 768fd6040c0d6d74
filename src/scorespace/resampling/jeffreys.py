"""Intervals over the outcomes of decisions as they may be, given those seen."""

from __future__ import annotations

from typing import Final, cast

import numpy as np

from scorespace.measures.request import Request
from scorespace.resampling import limits, worlds
from scorespace.resampling.draw import REPLICATES
from scorespace.resampling.interval import WORLD_ROWS, Interval, Plan, interval, left_out, none, within
from scorespace.tables import Array, ScoreTable, Top
from scorespace.tables.pieces import threads

_PLACES_AT_ONCE: Final = 16  # operating points whose outcomes are drawn together


def _of_decisions(request: Request) -> bool:
    weighed = request.stated and request.share is None  # for a stated prevalence: these are no counts of cases
    return request.table.counts_outcomes and not request.table.by_case and not weighed


@interval("jeffreys", "percentiles over the outcomes as they may be", suits=_of_decisions, general=True, weighted=True)
def jeffreys_interval(plan: Plan) -> Interval:
    """Percentiles of the measure on outcomes drawn from Dirichlet(counts + ½): a cell without cases is not impossible.

    Of K classes, one error in all is added instead, 1 / (K (K − 1)) to each cell. For measures within classes, the
    outcomes of each class apart. At an operating point by rank, the cut moves so that the places stay. Of weighted
    cases, each cell holds as many as are worth its weights, and each of these weighs as much as they do.
    """
    table = plan.request.table
    cells, squares = table.cells.astype(np.float64), table.cell_squares
    drawn = _outcomes(plan.request, cells, plan.draws.seed, plan.draws.replicates, squares)
    if isinstance(plan.request.spec.at, Top):
        drawn = _cut_again(plan, drawn)
    values = np.asarray(plan.request.formula(table.with_cells(drawn)), dtype=np.float64)
    defined = values[np.isfinite(values)]
    if not defined.size:
        return none("the measure is undefined in every draw")
    low, high = np.quantile(defined, plan.tails)
    reason = left_out(values.size, defined.size, "undefined draws")
    return within(plan, low, high, "jeffreys", reason)


def _outcomes(request: Request, cells: Array, seed: int, replicates: int, squares: Array | None = None) -> Array:
    """Cells (replicates, m) as they may be where these were seen; for measures within classes, of each class apart."""
    table = request.table
    prior = limits.cell_prior(max(2, len(table.class_names)))
    rng = np.random.default_rng([seed, 2])  # outcomes as they may be, given those seen: a posterior, no bootstrap
    units = np.ones(cells.size) if squares is None else limits.unit_weights(table.strata, cells, squares)
    strata = table.strata if request.within else np.zeros_like(table.strata)
    drawn = np.empty((replicates, cells.size))
    for stratum in np.unique(strata):
        own = strata == stratum
        drawn[:, own] = limits.posterior(cells[own], rng, replicates, prior=prior, unit=units[own]) * cells[own].sum()
    return drawn


Outcomes = dict[tuple[bool, bytes, bytes], Array]


def jeffreys_along(
    request: Request,
    cells: Array,
    level: float,
    seed: int = 0,
    kept: Outcomes | None = None,
    *,
    squares: Array | None = None,
) -> tuple[Array, Array]:
    """The limits of that interval where a request's table holds each of many rows of cells (places, m) in turn.

    `squares` holds the squared weights of the cells, where cases have weights. Every place is drawn from the seed anew,
    so that its limits are those that the interval of this one place has.
    What is drawn of a place is `kept` for further measures there.

    >>> from scorespace.measures.catalog import parse
    >>> from scorespace.measures.request import bind
    >>> from scorespace.tables import Counts
    >>> low, high = jeffreys_along(bind(parse("mcc"), Counts(9, 2, 1, 8)), np.array([[9, 1, 2, 8], [5, 5, 5, 5]]), 0.95)
    >>> low.round(2), high.round(2)
    (array([ 0.29, -0.38]), array([0.88, 0.39]))
    """
    tails = limits.tails(level)
    cells, known = np.asarray(cells, dtype=np.float64), {} if kept is None else kept

    def drawn(row: Array, squared: Array | None) -> Array:
        key = request.within, row.tobytes(), b"" if squared is None else squared.tobytes()
        if key not in known:
            known[key] = _outcomes(request, row, seed, REPLICATES, squared)
        return known[key]

    def limits_of(places: Array) -> Array:
        outcomes = np.stack([drawn(cells[at], None if squares is None else squares[at]) for at in places])
        values = np.asarray(request.formula(request.table.with_cells(outcomes)), dtype=np.float64)
        if np.isfinite(values).all():
            return np.quantile(values, tails, axis=1).T
        defined = [row[np.isfinite(row)] for row in values]
        return np.array([np.quantile(row, tails) if row.size else (np.nan, np.nan) for row in defined])

    pieces = np.array_split(np.arange(len(cells)), max(1, len(cells) // _PLACES_AT_ONCE))
    with threads() as pool:
        found = np.concatenate(list(pool.map(limits_of, pieces)))
    value = np.asarray(request.formula(request.table.with_cells(cells)))
    lowest, highest = request.range
    return np.maximum(np.fmin(found[:, 0], value), lowest), np.minimum(np.fmax(found[:, 1], value), highest)


def _cut_again(plan: Plan, drawn: Array) -> Array:
    """Outcomes (draws, 4) drawn at a fixed cut, with the cut moved to where it leaves as many places as there are.

    What lies between both cuts is positive at the rate that is smooth along the ranks, read off at the cut.
    """
    spec = plan.request.spec
    scores = plan.table.inside(ScoreTable, spec.of if len(plan.table.class_names) > 2 else None)
    light = scores.condensed(WORLD_ROWS) if scores.score.size > 2 * WORLD_ROWS else scores
    cases = light.counts.sum(axis=-2, dtype=np.float64)
    rates = worlds.rates_by_rank(cases, light.pos, degree=2)
    flagged = np.array([1, 0, 1, 0])  # TP, FN, FP and TN; of the other class of two, those that are left alone
    positive = np.array([1, 1, 0, 0])
    if spec.of is not None and len(plan.table.class_names) == 2 and spec.of != plan.table.positive_name:
        flagged, positive = 1 - flagged, 1 - positive
    places = float(cast(Top, plan.request.point).of(1.0))
    rate = float(np.interp(places, worlds.mid_ranks(cases), rates))
    size = drawn.sum(axis=-1)
    short = places * size - (drawn * flagged).sum(axis=-1)  # so many more have to be flagged
    moved = drawn.copy()
    for own, part in ((1, rate), (0, 1 - rate)):
        yes, no = (int(np.flatnonzero((positive == own) & (flagged == one))[0]) for one in (1, 0))
        step = np.clip(short * part, -drawn[:, yes], drawn[:, no])
        moved[:, yes] += step
        moved[:, no] -= step
    return moved
