"""Cox's recalibration: the logistic fit of what happened on the logits of the scores, for every replicate at once."""

from __future__ import annotations

from typing import Final

import numpy as np

from scorespace.frozen import dataclass
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.pieces import over_pieces

Weighed = tuple[Array, Array, Array]
_STEPS: Final = 200
# The step after one this short is about its square; many rows are not gone through again for 1e-10.
_CLOSE, _CLOSE_ENOUGH = 1e-8, 1e-5
_LARGE: Final = 100_000
_COARSE: Final = 65_536


@dataclass(frozen=True)
class LogisticFit:
    """logit P(y) = intercept + slope · logit p, with the standard error of the slope; NaN where there is no fit."""

    intercept: Array
    slope: Array
    slope_error: Array


def dot(weights: Array, values: Array) -> Array:
    """Σ weight · value along the last axis, in one thread: those of BLAS wait for each other on a busy machine."""
    return np.asarray(np.einsum("...i,...i->...", weights, values))


def logits(table: ScoreTable) -> Weighed:
    """The finite logits of the scores, highest first, with the weights of positives and negatives there."""
    score = table.score
    inside = slice(int(bool(score.size and score[0] == 1)), score.size - int(bool(score.size and score[-1] == 0)))
    pos, neg = table.columns
    finite = score[inside]
    x = np.empty(finite.size)

    def fill(rows: slice) -> None:
        # Step by step in place: NumPy's logarithm works on many numbers at once, SciPy's logit on one.
        odds = np.subtract(1, finite[rows], out=x[rows])
        np.log(np.divide(finite[rows], odds, out=odds), out=odds)

    over_pieces(fill, x.size)
    return x, pos[..., inside], neg[..., inside]


def logistic_fit(x: Array, pos: Array, neg: Array, near: Weighed | None = None) -> LogisticFit:
    """The intercept and slope of highest likelihood, by Newton's steps.

    x (m,) falls; pos and neg (…, m) are the weights of the classes at each x. `near`: the same with
    neighbours together, whose fit is so near that all rows are gone through once or twice only.

    >>> fit = logistic_fit(np.array([1.0, -1.0]), np.array([3.0, 1.0]), np.array([1.0, 3.0]))
    >>> round(float(fit.slope), 6), round(float(np.log(3)), 6)
    (1.098612, 1.098612)
    """
    fitted = _overlapping(pos > 0, neg > 0)
    shape = pos.shape[:-1]
    if not fitted.any():
        nothing = np.full(shape, np.nan)
        return LogisticFit(nothing, nothing, nothing)
    # All the same chance: there the likelihood bends in every direction, however extreme the scores are.
    hits, misses = (side.sum(axis=-1, dtype=np.float64) for side in (pos, neg))
    start = np.log((hits + 1) / (misses + 1)), np.zeros(shape)
    near = near or neighbours(x, pos, neg)
    if near is not None:
        start = _climb(*near, *start, fitted)[:2]
    intercept, slope, (h0, h1, h2) = _climb(x, pos, neg, *start, fitted)
    with np.errstate(invalid="ignore"):
        error = np.sqrt(ratio(h0, h0 * h2 - h1 * h1))
    return LogisticFit(*(np.where(fitted, value, np.nan) for value in (intercept, slope, error)))


def offset_fit(x: Array, pos: Array, neg: Array, near: Weighed | None = None) -> Array:
    """The intercept a of highest likelihood where the slope is 1: Σ cases · expit(a + x) = Σ positives.

    Newton's steps, and the middle of the bounds so far where a step would leave them.

    >>> round(float(offset_fit(np.array([0.0, 0.0]), np.array([3.0, 3.0]), np.array([1.0, 1.0]))), 6)
    1.098612
    """
    hits, misses = (side.sum(axis=-1, dtype=np.float64) for side in (pos, neg))
    fitted = (hits > 0) & (misses > 0)
    if not fitted.any():
        return np.full(hits.shape, np.nan)
    base = np.log(np.where(fitted, hits, 1.0)) - np.log(np.where(fitted, misses, 1.0))
    low, high = base - x[0] - 1, base - x[-1] + 1  # at these, all chances are below or above the share of positives
    found = np.clip(np.zeros_like(base), low, high)
    near = near or neighbours(x, pos, neg)
    if near is not None:
        found = np.clip(offset_fit(*near), low, high)
    done = ~fitted
    for _ in range(_STEPS):
        missing, _, bend, _, _ = _derivatives(x, pos, neg, found, np.ones_like(found), sloped=False)
        low, high = np.where(missing > 0, found, low), np.where(missing > 0, high, found)
        step = ratio(missing, bend)
        step = np.where(np.isfinite(step), step, np.where(missing == 0, 0.0, np.inf))
        short = np.abs(step) <= (_CLOSE if x.size <= _LARGE else _CLOSE_ENOUGH)
        stepped = found + step
        following = np.where(short | ((stepped > low) & (stepped < high)), stepped, (low + high) / 2)
        found = np.where(done, found, following)
        done = done | short  # once there, the bounds are rounding: a step between them would lead away
        if done.all():
            break
    return np.where(fitted, found, np.nan)


def neighbours(x: Array, pos: Array, neg: Array) -> Weighed | None:
    """Neighbouring rows together, at their mean x, where there are very many: a start for the fits."""
    if x.size <= _LARGE or pos.ndim > 1:
        return None
    size = -(-x.size // _COARSE)

    def sums(rows: slice) -> Array:
        starts = np.arange(0, x[rows].size, size)
        weights = [column[rows].astype(np.float64) for column in (pos, neg)]
        weighed = (weights[0] + weights[1]) * x[rows]
        return np.stack([np.add.reduceat(column, starts) for column in (weighed, *weights)])

    weighed, few_pos, few_neg = np.concatenate(over_pieces(sums, x.size), axis=1)
    return weighed / (few_pos + few_neg), few_pos, few_neg


def _derivatives(x: Array, pos: Array, neg: Array, a: Array, b: Array, *, sloped: bool = True) -> Array:
    """The slopes of the log likelihood in a and b, and its bends in a, in both and in b (negated)."""

    def sums(rows: slice) -> Array:
        at, hits = x[rows], pos[..., rows].astype(np.float64)
        mean = -b[..., None] * at
        mean -= a[..., None]
        with np.errstate(over="ignore"):  # 1 / (1 + ∞) is 0, as it should be
            np.exp(mean, out=mean)
        mean += 1
        np.reciprocal(mean, out=mean)
        expected = (hits + neg[..., rows]) * mean
        missing = np.subtract(hits, expected, out=hits)
        bend = np.multiply(expected, np.subtract(1, mean, out=mean), out=expected)
        alone = missing.sum(axis=-1), bend.sum(axis=-1)
        if not sloped:
            return np.stack([alone[0], alone[0], alone[1], alone[1], alone[1]])
        return np.stack([alone[0], dot(missing, at), alone[1], dot(bend, at), dot(bend * at, at)])

    return np.asarray(sum(over_pieces(sums, x.size)))


def _overlapping(positive: Array, negative: Array) -> Array:
    """Whether the likelihood has a maximum: the classes overlap in x, in both directions."""
    both = positive.any(axis=-1) & negative.any(axis=-1)
    size = positive.shape[-1]
    if not size:
        return np.asarray(both)
    first_pos, first_neg = positive.argmax(axis=-1), negative.argmax(axis=-1)
    last_pos, last_neg = (size - 1 - side[..., ::-1].argmax(axis=-1) for side in (positive, negative))
    return np.asarray(both & (first_pos < last_neg) & (first_neg < last_pos))


def _climb(
    x: Array, pos: Array, neg: Array, a: Array, b: Array, fitted: Array
) -> tuple[Array, Array, tuple[Array, Array, Array]]:
    """Newton's steps up the likelihood for all replicates together, halved where one went too far.

    The likelihood is concave: a step is too long when the way on from its end leads back steeply.
    """
    farthest = np.abs(x[[0, -1]]).max()
    close = _CLOSE if x.size <= _LARGE else _CLOSE_ENOUGH
    step_a = step_b = rise = h0 = h1 = h2 = np.zeros_like(a)
    share = np.ones_like(a)
    for _ in range(_STEPS):
        at_a, at_b = a + share * step_a, b + share * step_b
        up, up_x, h0, h1, h2 = _derivatives(x, pos, neg, at_a, at_b)
        too_far = up * step_a + up_x * step_b < -0.5 * rise
        next_a, next_b = _newton(up, up_x, h0, h1, h2)
        a, b = np.where(too_far, a, at_a), np.where(too_far, b, at_b)
        step_a, step_b = np.where(too_far, step_a, next_a), np.where(too_far, step_b, next_b)
        rise = np.where(too_far, rise, up * next_a + up_x * next_b)
        share = np.where(too_far, share / 2, 1.0)
        if not np.any(fitted & (np.abs(step_a) + np.abs(step_b) * farthest > close)):
            break
    return a + step_a, b + step_b, (h0, h1, h2)


def _newton(up: Array, up_x: Array, h0: Array, h1: Array, h2: Array) -> tuple[Array, Array]:
    """The step to the top of the parabola; none where it has no top."""
    spread = h0 * h2 - h1 * h1
    along, across = ratio(h2 * up - h1 * up_x, spread), ratio(h0 * up_x - h1 * up, spread)
    return np.where(np.isfinite(along), along, 0.0), np.where(np.isfinite(across), across, 0.0)
