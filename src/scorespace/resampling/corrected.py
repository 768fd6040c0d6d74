"""Intervals of numbers that are fitted to their cases, by worlds in which the truth is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from scorespace.frozen import dataclass
from scorespace.measures.request import Request
from scorespace.resampling import limits, worlds
from scorespace.resampling.chance import by_chance, merged
from scorespace.resampling.interval import WORLD_ROWS, Interval, Plan, by_replicates, labelled, none, within
from scorespace.tables import Array, ScoreTable

Rates = Callable[[ScoreTable, Array, Array], Array]
"""Rates of positives (worlds, scores) near to a table, of so many cases and hits at each score."""

_WORLD_DRAWS: Final = 250
_INVERTED_DRAWS: Final = 100


def _bounded(request: Request) -> bool:
    return labelled(request) and all(map(math.isfinite, request.range))


@dataclass(frozen=True)
class _Weights:
    """How many effective cases each score has, what a positive and a negative of them weigh, and what all are worth.

    Weights may differ by class, as in a case-control sample: `odds` is what a positive weighs for a negative's one.
    """

    number: Array
    positive: Array
    negative: Array
    odds: float
    worth: float

    def counts(self, hits: Array) -> Array:
        """The weights (…, 2, scores) of negatives and positives, where so many cases of each score are positive."""
        return np.stack([(self.number - hits) * self.negative, hits * self.positive], axis=-2)


def _weights(table: ScoreTable) -> _Weights | None:
    """The weights of a table; None where each case counts once."""
    if table.squares is None:
        return None
    weight = np.stack([table.neg, table.pos]).astype(np.float64)
    own = table.squares[table.positive]
    squares = np.stack([table.squares.sum(axis=0) - own, own])
    number = np.maximum(1.0, np.round(limits.kish(weight, squares).sum(axis=0)))
    total = weight.sum()
    upper = np.cumsum(weight.sum(axis=0)) <= total / 2
    halves = [np.stack([one[:, upper].sum(axis=1), one[:, ~upper].sum(axis=1)], axis=1) for one in (weight, squares)]
    unit = limits.cell_units(*halves)
    odds = float(np.exp(np.log(unit[1] / unit[0]).mean()))
    positive = (weight[1] + weight[0] * odds) / number
    return _Weights(number, positive, positive / odds, odds, float(limits.kish(total, squares.sum()) / total))


@dataclass(frozen=True)
class _Worlds:
    """Tables of worlds in which the rates of positives are known, and of labels drawn again from these rates.

    `of` is the table that they are near to, `light` the one whose labels were drawn: a condensed one leaves chance less
    to fit, so a value is compared as it is there.
    """

    of: ScoreTable
    light: ScoreTable
    known: ScoreTable
    drawn: ScoreTable

    def values(self, request: Request) -> tuple[float, Array, Array]:
        """The measure as it is, in every world, and on labels drawn from it (worlds, draws)."""
        tables = self.light, self.known, self.drawn
        seen, known, drawn = (np.asarray(request.formula(each), dtype=np.float64) for each in tables)
        return float(seen), known, drawn.reshape(-1, known.size).T


def _worlds(plan: Plan, name: str, rates_of: Rates, draws: int, stream: int) -> _Worlds:
    """The worlds that such rates make, drawn once for all measures of a table that ask in turn."""
    table = plan.request.table.inside(ScoreTable)
    kept = plan.worlds.get(name)
    if kept is None or kept.of is not table:
        light = merged(table, WORLD_ROWS) if table.score.size > 2 * WORLD_ROWS else table
        cases, weights = light.counts.sum(axis=-2, dtype=np.float64), _weights(light)
        worth = 1.0 if weights is None else weights.worth
        rates = rates_of(light, cases * worth, light.pos * worth)
        # Labels of worlds whose truth is known, and no cases drawn again: the draws of the measures do not serve here.
        rng = np.random.default_rng([plan.draws.seed, stream])
        if weights is None:
            hits = worlds.labels_again(cases, rates, rng, draws).reshape(-1, cases.size)
            known, drawn = worlds.relabelled(light, cases * rates), worlds.relabelled(light, hits)
        else:
            # Among the cases of a sample a class is as rare as its cases are heavy.
            sampled = rates / (rates + (1 - rates) * weights.odds)
            hits = worlds.labels_again(weights.number, sampled, rng, draws).reshape(-1, cases.size)
            expected, found = (weights.counts(one) for one in (weights.number * sampled, hits))
            known, drawn = (ScoreTable(light.score, one, ("0", "1"), 1) for one in (expected, found))
        kept = plan.worlds[name] = _Worlds(table, light, known, drawn)
    return kept


@by_replicates("corrected", "corrected for the bias seen where the truth is known", suits=_bounded, instead="shifted")
def corrected_interval(plan: Plan) -> Interval:
    """The bias and spread of the measure are seen on labels drawn from smooth rates, whose own value is known.

    A value such as KS is the best of many on the same cases, so chance makes it too good; the bootstrap shows about
    half of that. Where labels without any relation to the scores would show such a value, theirs belongs to it.
    """
    table = plan.request.table.inside(ScoreTable)
    if table.score.size == 1:
        # Then no labels change the value, and what others would score is not known.
        return none("every case has the same score: nothing says how others would be ranked")
    if min(table.n_pos, table.n_neg) == 0:
        return none("only one class is present: nothing says how the other would be scored")
    seen, known, values = _worlds(plan, "smooth", _smooth_and_noise, _WORLD_DRAWS, stream=3).values(plan.request)
    defined, reason = plan.replicates()
    if not (defined.size and np.isfinite(values).any(axis=1).all() and np.isfinite(known).all()):
        return none("the measure is undefined in every replicate")
    low, high = _corrected(plan, seen, known[0], values[0])
    if limits.as_by_chance(seen, known[1], values[1], plan.rarer, plan.level):
        low, high = min(low, known[1]), max(high, known[1])
    return within(plan, low, high, f"corrected{plan.how}", reason)


def _corrected(plan: Plan, seen: float, known: Array, values: Array) -> tuple[float, float]:
    """The limits for the bias and the error that one world shows."""
    spread, within = float(plan.replicates()[0].std()), plan.request.range
    return limits.corrected(seen, known, values, plan.rarer, plan.level, spread=spread, within=within)


@by_replicates(
    "corrected-hull",
    "corrected also for the bias where rates have humps",
    suits=_bounded,
    declared=True,
    instead="shifted",
)
def corrected_hull_interval(plan: Plan) -> Interval:
    """As corrected, and at least what a world of a few steps asks for: where a curve is straight, a hull bends most."""
    found = corrected_interval.function(plan)
    if found.method is None:
        return found
    seen, known, values = _worlds(plan, "steps", _in_steps, _WORLD_DRAWS, stream=7).values(plan.request)
    low, high = _corrected(plan, seen, known[0], values[0])
    return within(plan, min(low, found.low), max(high, found.high), f"corrected-hull{plan.how}", found.reason)


def _in_steps(table: ScoreTable, cases: Array, hits: Array) -> Array:
    """Rates (1, scores) that are the same in each of a few parts of the ranks."""
    return worlds.rates_in_steps(cases, hits)[None]


def _smooth_and_noise(table: ScoreTable, cases: Array, hits: Array) -> Array:
    """Rates (2, scores): smooth along the ranks, and the same at every score."""
    return np.stack([worlds.rates_by_rank(cases, hits), np.full(cases.size, float(table.n_pos / table.total))])


def _recalibrated(table: ScoreTable, cases: Array, hits: Array) -> Array:
    """Rates (steps, scores) from the scores as they stand to ever stronger recalibrations of them."""
    return worlds.recalibrated(table.score, cases, hits)


def _at_their_word(table: ScoreTable, cases: Array, hits: Array) -> Array:
    """The same, but scores of 0 and 1 are taken at their word."""
    return np.where((table.score == 0) | (table.score == 1), table.score, _recalibrated(table, cases, hits))


@by_replicates("inverted", "the truths that the value agrees with", suits=labelled, instead="none")
def inverted_interval(plan: Plan) -> Interval:
    """For measures that chance alone lifts above zero: which miscalibrations would show such a value.

    Labels are drawn from the scores as they stand and from ever stronger recalibrations of them.
    """
    seen, known, values = _worlds(plan, "recalibrated", _recalibrated, _INVERTED_DRAWS, stream=4).values(plan.request)
    if not np.isfinite(known).all():  # a score of 0 or 1 that is wrong costs infinity
        sure = _worlds(plan, "at their word", _at_their_word, _INVERTED_DRAWS, stream=4)
        seen, known, values = sure.values(plan.request)
    defined, reason = plan.replicates()
    spread = float(defined.std())
    low, high = limits.inverted(seen, known, values, plan.rarer, plan.level, spread=spread)
    found = within(plan, low, high, f"inverted{plan.how}", reason)
    name, table = replace(plan.request.spec, of=None).canonical, plan.request.table.inside(ScoreTable)
    # Labels are drawn from probabilities alone.
    own, share = table, plan.request.spec.prevalence if plan.request.stated else None
    if share is not None:
        own = plan.table.inside(ScoreTable, plan.request.spec.of)
        share = share if own.positive_name == plan.table.positive_name else 1 - share
    asked: dict[str, Any] = {"seed": plan.draws.seed, "prevalence": share}
    chance = by_chance(own, name, plan.request.formula, **asked) if table.probabilities else None
    return replace(found, chance=float(np.nanmean(values[0] if chance is None else chance[1])))
