"""Worlds near to the data in which the truth is known: smooth rates of positives, from which labels are drawn again.

A value such as KS or the H-measure is the best of many on the same cases, so chance makes it too good, and drawing
cases again shows only about half of that. Labels drawn from smooth rates show all of it: the value on the rates
themselves is the truth of that world, and what its samples have more is the bias.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from scorespace.curves.isotonic import rising
from scorespace.special import expit, logit, ndtri
from scorespace.tables import Array, ScoreTable

RIDGE: Final = 0.3
STEPS: Final = (0.0, 0.4, 0.8, 1.2, 1.7, 2.3, 3.0, 4.0, 6.0)
"""How far worlds of recalibrated scores go: 0 are the scores as they stand, 1 is the fit."""
_FINITE: Final = 1e-6  # scores of 0 and 1 have no logit
_ROUNDS: Final = 50
_MANY: Final = 10  # cases of each class from which on a rate may have humps
_SOME: Final = 1e-9  # a score that no case has, as of decisions that are all alike, still has a rank
_FEW: Final = 12  # cases at a score up to which one uniform number for all of them is quicker than NumPy's binomial


def mid_ranks(cases: Array) -> Array:
    """Where the middle of the cases of each score lies among all, from 0 to 1."""
    return np.asarray((np.cumsum(cases) - cases / 2) / cases.sum())


def rates_by_rank(cases: Array, hits: Array, degree: int = 5) -> Array:
    """A smooth rate of positives for each distinct score, from its rank: logit p = a + b·z + c·z² + … + f·z⁵.

    z is the normal score of the mid-rank, so up to z² the fit is that of ROC curves of two normal classes; the rest
    follows humps, where each class has ten cases. A small penalty keeps it finite where the classes do not overlap.

    >>> rates_by_rank(np.ones(6), np.array([1.0, 1.0, 0.0, 1.0, 0.0, 0.0])).round(2)
    array([0.9 , 0.74, 0.58, 0.42, 0.26, 0.1 ])
    """
    cases = np.maximum(cases, _SOME)
    z = -ndtri(mid_ranks(cases))
    rarer = min(hits.sum(), cases.sum() - hits.sum())
    return expit(_fitted(z, cases, hits, np.zeros(z.size), degree=degree if rarer >= _MANY else 2))


def rates_in_steps(cases: Array, hits: Array, steps: int = 5) -> Array:
    """The rate of positives in each of a few parts of equally many cases by rank, never rising towards lower scores.

    Where rates have humps, scores within a hump tell nothing, and a hull has more to fit than where rates are smooth.

    >>> rates_in_steps(np.ones(6), np.array([1.0, 1.0, 0.0, 1.0, 0.0, 0.0]), 3).round(2)
    array([1. , 1. , 0.5, 0.5, 0. , 0. ])
    """
    part = np.minimum(mid_ranks(cases) * steps, steps - 1).astype(np.intp)
    part = np.unique(part, return_inverse=True)[1]  # of tied scores a part may be empty
    size = np.bincount(part, np.maximum(cases, _SOME))
    return np.asarray(-rising(-np.bincount(part, hits) / size, size)[0][part])


def recalibrated(score: Array, cases: Array, hits: Array, steps: tuple[float, ...] = STEPS) -> Array:
    """Rates (steps, scores) on the way from the scores themselves to a smooth recalibration and beyond.

    logit p = logit s + step · (a + b·logit s + c·(logit s)²), with a, b and c fitted and lightly penalised.

    >>> recalibrated(np.array([0.8, 0.2]), np.array([50.0, 50.0]), np.array([25.0, 5.0]), (0.0, 1.0)).round(2)
    array([[0.8, 0.2],
           [0.5, 0.1]])
    """
    x = logit(np.clip(score, _FINITE, 1 - _FINITE))
    away = _fitted(x, cases, hits, x) - x
    return np.asarray(expit(x + np.asarray(steps)[:, None] * away))


def relabelled(table: ScoreTable, hits: Array) -> ScoreTable:
    """The table with so many positives (…, scores) at each score, and the rest negative."""
    cases = table.counts.sum(axis=-2, dtype=np.float64).astype(hits.dtype)
    return ScoreTable(table.score, np.stack([cases - hits, hits], axis=-2), ("0", "1"), 1)


def labels_again(cases: Array, rates: Array, rng: np.random.Generator, draws: int) -> Array:
    """Positives at each score (draws, …, scores) when every case is positive at its rate.

    >>> labels_again(np.array([4, 4]), np.array([1.0, 0.0]), np.random.default_rng(0), 2).tolist()
    [[4, 0], [4, 0]]
    """
    # NumPy draws no number for a rate of exactly 0 or 1, so a last digit, which differs by processor, would shift all.
    rates, number = np.clip(rates, _SOME, 1 - _SOME), np.asarray(cases, dtype=np.int64)
    size = (draws, *np.shape(rates))
    if not 1 <= number.min(initial=1) <= number.max(initial=1) <= _FEW:
        return rng.binomial(number, rates, size)
    # The same labels as NumPy's, which inverts the distribution of the rarer label one by one.
    common = rates > 0.5
    rarer = np.where(common, 1 - rates, rates)
    uniform, found = rng.random(size), np.zeros(size, dtype=np.uint8)
    chance = (1 - rarer) ** number
    reached = chance
    for k in range(number.max(initial=0)):
        more = np.flatnonzero(number > k) if k else slice(None)
        found[..., more] += uniform[..., more] > reached[..., more]
        chance = chance * (number - k) / (k + 1) * rarer / (1 - rarer)
        reached = reached + chance
    return np.where(common, number.astype(np.uint8) - found, found)


def _fitted(x: Array, cases: Array, hits: Array, offset: Array, degree: int = 2) -> Array:
    """The logits of a penalised logistic fit, a polynomial in x, on top of an offset."""
    cases = np.maximum(cases, _SOME)
    total = cases.sum()
    distinct = 1 + int(np.count_nonzero(np.diff(x)))  # x falls, as scores do
    powers = np.vander(x, min(degree + 1, distinct), increasing=True)
    share = np.sqrt(cases / total)[:, None]
    # Columns that are orthonormal over the cases: the penalty then treats all scales alike.
    columns = np.linalg.qr(powers * share)[0] / share
    penalty = np.diag([0.0] + [RIDGE] * (columns.shape[1] - 1))
    start = logit((hits.sum() + 0.5) / (total + 1)) if not offset.any() else 0.0
    at = np.zeros(columns.shape[1])
    at[0] = start * np.sign(columns[0, 0])

    def likely(at: Array) -> float:
        """The logarithm of the likelihood, less the penalty."""
        logits = offset + columns @ at
        return float(hits @ logits - cases @ np.logaddexp(0.0, logits) - at @ penalty @ at / 2)

    now = likely(at)
    for _ in range(_ROUNDS):
        rate = expit(offset + columns @ at)
        weight = np.maximum(cases * rate * (1 - rate), 1e-9)
        slope = columns.T @ (hits - cases * rate) - penalty @ at
        step = np.linalg.solve((columns * weight[:, None]).T @ columns + penalty, slope)
        if float(np.abs(step).max()) < 1e-9:
            break
        while (then := likely(at + step)) < now - 1e-9 and float(np.abs(step).max()) > 1e-9:
            step = step / 2  # the tails of high powers overshoot
        at, now = at + step, then
    return np.asarray(offset + columns @ at)
