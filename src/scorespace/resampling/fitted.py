"""The interval of what a curve fitted to the same cases leaves: seen on cases drawn around a curve that is known."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Final

import numpy as np

from scorespace.curves.isotonic import rising
from scorespace.frozen import dataclass
from scorespace.resampling import limits
from scorespace.resampling.interval import Interval, Plan, interval, none
from scorespace.resampling.worlds import STEPS
from scorespace.tables import Array

_DRAWS: Final = 100
_THROUGH: Final = "the curve that is fitted goes through every truth"
_LEVELS: Final = 2048  # predictions beyond which neighbours are taken together: a curve has far fewer steps
_FITTED: Final = (2, 3)  # the worlds around the fit itself
_LEAST: Final = 0.2  # of an error that the fit may leave of a case that it follows


@dataclass(frozen=True)
class World:
    """Truths around a smooth curve of the predictions, from which they are drawn again.

    Everything is counted from the mean truth, in units of the largest number. `noise` is how far each case is from the
    curve, lengthened by what the case pulled it to itself; `squares` are squares of the weights, or copies.
    """

    predicted: Array
    truth: Array
    weight: Array
    squares: Array
    noise: Array
    curve: Array
    level: Array
    unit: float

    @cached_property
    def levels(self) -> tuple[Array, Array, Array]:
        """Of each level of predictions its weight, its place, and how far its mean truth is off by chance."""
        weight = np.bincount(self.level, self.weight)
        place = np.bincount(self.level, self.weight * self.predicted) / weight
        return weight, place, np.sqrt(np.bincount(self.level, self.squares * self.noise**2)) / weight

    def share(self, values: Array) -> Array:
        """The mean over levels, by their weights."""
        weight = self.levels[0]
        return np.asarray(values @ weight / weight.sum())

    def mean(self, values: Array) -> float:
        return float(values @ self.weight / self.weight.sum())

    def error(self, values: Array, cases: float) -> float:
        """The standard error of a mean over cases."""
        apart = values - self.mean(values)
        return float(np.sqrt(self.squares @ apart**2 * cases / max(1.0, cases - 1)) / self.weight.sum())

    def drawn(self, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """In worlds ever farther from the predictions, their miscalibration, and on draws (worlds, draws) that of each.

        The last is what the rising curve of a draw leaves of the squared noise.
        """
        weight, place, off = self.levels
        away = np.bincount(self.level, self.weight * (self.curve - self.predicted)) / weight
        chance = rng.standard_normal((_DRAWS, weight.size))
        single = np.bincount(self.level) == 1
        chance = np.where(single, np.sign(chance), chance)  # the size of one error is known, its sign is chance
        known = place + np.asarray(STEPS)[:, None] * away
        truths = known[:, None, :] + off * chance
        curves = rising(truths.reshape(-1, weight.size), np.broadcast_to(weight, (_DRAWS * len(STEPS), weight.size)))
        left = self.share((curves.reshape(truths.shape) - truths) ** 2)
        return self.share((known - place) ** 2), self.share((place - truths) ** 2) - left, left


def world_of(table: Any) -> World:
    """The world near to a residual table: the predictions moved by a parabola that is fitted to the errors.

    Where the rising curve of the truths is nearer to other cases, as for one steep step, it stands in.
    """
    numbers, weight = table.numbers, np.asarray(table.cells, dtype=np.float64)
    predicted, truth = numbers.predicted - numbers.mean, numbers.truth - numbers.mean
    unit = float(max(np.abs(predicted).max(), np.abs(truth).max())) or 1.0
    predicted, truth = predicted / unit, truth / unit
    squares = weight if table.cell_squares is None else table.cell_squares
    order = numbers.by_prediction
    fresh = np.append(True, np.diff(numbers.predicted[order]) > 0)
    distinct = np.cumsum(fresh) - 1
    if distinct[-1] >= _LEVELS:
        before = np.cumsum(weight[order]) - weight[order]
        distinct = np.minimum(before / weight.sum() * _LEVELS, _LEVELS - 1).astype(np.intp)[fresh][distinct]
        distinct = np.unique(distinct, return_inverse=True)[1]
    level = np.empty(order.size, dtype=np.intp)
    level[order] = distinct
    spread = float(predicted.std()) or 1.0
    places = (predicted - predicted.mean()) / spread
    powers = np.stack([np.ones(places.size), places, places**2], axis=1)[:, : min(3, int(level.max()) + 1)]
    root = np.sqrt(weight / weight.sum())[:, None]
    axes = np.linalg.qr(powers * root)[0]
    near = predicted + (axes @ (axes.T @ ((truth - predicted) * root[:, 0]))) / root[:, 0], (axes**2).sum(axis=1)
    curve, share = min(near, _rising(truth, weight, level), key=lambda one: _off(truth, weight, squares, *one))
    pull = share * squares / weight**2  # of one copy
    noise = (truth - curve) / np.maximum(_LEAST, 1 - pull)
    return World(predicted, truth, weight, squares, noise, curve, level, unit)


def _rising(truth: Array, weight: Array, level: Array) -> tuple[Array, Array]:
    """The rising curve of the truths, and which share of its own step each case is."""
    size = np.bincount(level, weight)
    curve = rising(np.bincount(level, weight * truth) / size, size)[0]
    step = np.append(0, np.cumsum(np.diff(curve) != 0))
    return curve[level], weight / np.bincount(step, size)[step][level]


def _off(truth: Array, weight: Array, squares: Array, curve: Array, share: Array) -> float:
    """How far a curve is from other cases than those that made it: Σ e² / (1 − p / n)², p numbers fitted to n cases.

    Not known of a curve that has about as many numbers as there are cases.
    """
    free = 1 - float(share.sum() * squares.sum() / weight.sum() ** 2)
    return float(weight @ (truth - curve) ** 2) / free**2 if free > _LEAST else np.inf


_of_numbers = partial(interval, declared=True, weighted=True, instead="none")


@_of_numbers("inverted-numbers", "the miscalibrations of numbers that the value agrees with")
def inverted_numbers(plan: Plan) -> Interval:
    """For what chance alone lifts above zero: which miscalibrations would show such a value.

    Truths are drawn around the predictions as they stand and around ever stronger recalibrations of them.
    """
    cases = float(plan.table.cases)
    if cases < 3:
        return none("fewer than three cases")
    world, (known, values, _) = _drawn(plan)
    value = plan.value / world.unit / world.unit
    gains = (world.predicted - world.truth) ** 2 - (world.curve - world.truth) ** 2
    low, high = limits.inverted(value, known, values, cases, plan.level, spread=world.error(gains, cases))
    scale = world.unit * world.unit
    found = _holding(plan.value, float(low) * scale, float(high) * scale, "inverted")
    return replace(found, chance=float(values[0].mean()) * scale)


@_of_numbers("corrected-numbers", "corrected for the curve that is fitted to the same cases")
def corrected_numbers(plan: Plan) -> Interval:
    """What a fitted curve leaves is too little: by which part is seen where the curve is known; then as a mean loss."""
    cases = float(plan.table.cases)
    if cases < 3:
        return none("fewer than three cases")
    world, (_, _, left) = _drawn(plan)
    whole = world.mean(world.noise**2)
    if not whole > 0:
        return Interval(plan.value, plan.value, "corrected")
    if not plan.value > 0:
        return none(_THROUGH)
    lost = float(world.share(world.levels[2] ** 2)) - float(left[list(_FITTED)].mean())
    part = min(1.0, max(_LEAST, 1 - lost / whole))
    weight = world.levels[0]
    means = np.bincount(world.level, world.weight * world.truth) / weight
    losses = (world.truth - rising(means, weight)[0][world.level]) ** 2 / part
    centre = world.mean(losses)
    if not centre > 0:  # the value itself is rounding
        return none(_THROUGH)
    error, t = world.error(losses, cases) / centre, float(limits.student(plan.level, cases))
    apart = losses / centre - 1
    spread = world.mean(apart**2)
    skew = world.mean(apart**3) / spread**1.5 / np.sqrt(cases) if spread > 0 else 0.0
    longer = error * skew * (2 * t * t + 1) / 6
    value = plan.value / part
    low, high = value * np.exp(min(0.0, longer) - t * error), value * np.exp(t * error + max(0.0, longer))
    return _holding(plan.value, float(low), float(high), "corrected")


def _drawn(plan: Plan) -> tuple[World, tuple[Array, Array, Array]]:
    """The world near to a table and what was drawn in it, once for both intervals: truths, and no cases again."""
    kept = plan.worlds.get("fitted")
    if kept is None or kept[0] is not plan.table:
        world = world_of(plan.table)
        kept = plan.table, world, world.drawn(np.random.default_rng([plan.draws.seed, 6]))
        plan.worlds["fitted"] = kept
    return kept[1], kept[2]


def _holding(value: float, low: float, high: float, method: str) -> Interval:
    """Limits that hold the value, which what corrects a bias may leave out."""
    return Interval(max(0.0, min(low, value)), max(high, value), method)
