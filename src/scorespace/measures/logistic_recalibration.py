"""Logistic recalibration (Cox 1958): logistic regression of the outcome on the logit of the score, vectorised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.chunks import map_chunks

WeightedLogits = tuple[Array, Array, Array]
_MAX_STEPS: Final = 200
# Newton's method converges quadratically; for many rows a further pass is not worth an error of 1e-10.
_TOLERANCE, _TOLERANCE_OF_LARGE = 1e-8, 1e-5
_LARGE_SIZE: Final = 100_000
_COARSE_SIZE: Final = 65_536


@dataclass(frozen=True)
class LogisticFit:
    """logit P(y) = intercept + slope · logit p, with the standard error of the slope; NaN if there is no fit."""

    intercept: Array
    slope: Array
    slope_error: Array


def dot(weights: Array, values: Array) -> Array:
    """Σ weight · value along the last axis in one thread, because BLAS threads wait for each other on busy machines."""
    return np.asarray(np.einsum("...i,...i->...", weights, values))


def logits(table: ScoreTable) -> WeightedLogits:
    """Finite logits of the scores in descending order, with the weights of positives and negatives."""
    score = table.score
    inside = slice(int(bool(score.size and score[0] == 1)), score.size - int(bool(score.size and score[-1] == 0)))
    pos, neg = table.columns
    finite = score[inside]
    x = np.empty(finite.size)

    def fill(rows: slice) -> None:
        # In place: NumPy's logarithm is vectorised, SciPy's logit is not.
        odds = np.subtract(1, finite[rows], out=x[rows])
        np.log(np.divide(finite[rows], odds, out=odds), out=odds)

    map_chunks(fill, x.size)
    return x, pos[..., inside], neg[..., inside]


def logistic_fit(x: Array, pos: Array, neg: Array, near: WeightedLogits | None = None) -> LogisticFit:
    """Maximum likelihood estimates of intercept and slope by Newton's method.

    x (m,) is descending; pos and neg (…, m) are the weights of the classes at each x. `near` are the same data with
    neighbours merged; their fit is a start from which one or two passes over all rows suffice.

    >>> fit = logistic_fit(np.array([1.0, -1.0]), np.array([3.0, 1.0]), np.array([1.0, 3.0]))
    >>> round(float(fit.slope), 6), round(float(np.log(3)), 6)
    (1.098612, 1.098612)
    """
    fitted = _classes_overlap(pos > 0, neg > 0)
    shape = pos.shape[:-1]
    if not fitted.any():
        undefined = np.full(shape, np.nan)
        return LogisticFit(undefined, undefined, undefined)
    # Start with equal probabilities, where the likelihood is curved in every direction, however extreme the scores.
    n_pos, n_neg = (side.sum(axis=-1, dtype=np.float64) for side in (pos, neg))
    start = np.log((n_pos + 1) / (n_neg + 1)), np.zeros(shape)
    near = near or neighbours(x, pos, neg)
    if near is not None:
        start = _maximise(*near, *start, fitted)[:2]
    intercept, slope, (h0, h1, h2) = _maximise(x, pos, neg, *start, fitted)
    with np.errstate(invalid="ignore"):
        error = np.sqrt(ratio(h0, h0 * h2 - h1 * h1))
    return LogisticFit(*(np.where(fitted, value, np.nan) for value in (intercept, slope, error)))


def offset_fit(x: Array, pos: Array, neg: Array, near: WeightedLogits | None = None) -> Array:
    """Maximum likelihood intercept a for slope 1: Σ cases · expit(a + x) = Σ positives.

    Newton's method, with bisection where a step would leave the bounds.

    >>> round(float(offset_fit(np.array([0.0, 0.0]), np.array([3.0, 3.0]), np.array([1.0, 1.0]))), 6)
    1.098612
    """
    n_pos, n_neg = (side.sum(axis=-1, dtype=np.float64) for side in (pos, neg))
    fitted = (n_pos > 0) & (n_neg > 0)
    if not fitted.any():
        return np.full(n_pos.shape, np.nan)
    base = np.log(np.where(fitted, n_pos, 1.0)) - np.log(np.where(fitted, n_neg, 1.0))
    low, high = base - x[0] - 1, base - x[-1] + 1  # there all probabilities are below or above the prevalence
    intercept = np.clip(np.zeros_like(base), low, high)
    near = near or neighbours(x, pos, neg)
    if near is not None:
        intercept = np.clip(offset_fit(*near), low, high)
    done = ~fitted
    for _ in range(_MAX_STEPS):
        residual, _, curvature, _, _ = _derivatives(x, pos, neg, intercept, np.ones_like(intercept), sloped=False)
        low, high = np.where(residual > 0, intercept, low), np.where(residual > 0, high, intercept)
        step = ratio(residual, curvature)
        step = np.where(np.isfinite(step), step, np.where(residual == 0, 0.0, np.inf))
        is_short = np.abs(step) <= (_TOLERANCE if x.size <= _LARGE_SIZE else _TOLERANCE_OF_LARGE)
        candidate = intercept + step
        following = np.where(is_short | ((candidate > low) & (candidate < high)), candidate, (low + high) / 2)
        intercept = np.where(done, intercept, following)
        done = done | is_short  # after convergence the bounds differ by rounding only, so bisection would diverge
        if done.all():
            break
    return np.where(fitted, intercept, np.nan)


def neighbours(x: Array, pos: Array, neg: Array) -> WeightedLogits | None:
    """Merge neighbouring rows at their mean x if there are very many, as a start for the fits."""
    if x.size <= _LARGE_SIZE or pos.ndim > 1:
        return None
    size = -(-x.size // _COARSE_SIZE)

    def sums(rows: slice) -> Array:
        starts = np.arange(0, x[rows].size, size)
        weights = [column[rows].astype(np.float64) for column in (pos, neg)]
        weighted = (weights[0] + weights[1]) * x[rows]
        return np.stack([np.add.reduceat(column, starts) for column in (weighted, *weights)])

    weighted, merged_pos, merged_neg = np.concatenate(map_chunks(sums, x.size), axis=1)
    return weighted / (merged_pos + merged_neg), merged_pos, merged_neg


def _derivatives(x: Array, pos: Array, neg: Array, a: Array, b: Array, *, sloped: bool = True) -> Array:
    """Gradient of the log likelihood in a and b, and the negated Hessian (aa, ab, bb)."""

    def sums(rows: slice) -> Array:
        at, positives = x[rows], pos[..., rows].astype(np.float64)
        mean = -b[..., None] * at
        mean -= a[..., None]
        with np.errstate(over="ignore"):  # 1 / (1 + ∞) is correctly 0
            np.exp(mean, out=mean)
        mean += 1
        np.reciprocal(mean, out=mean)
        expected = (positives + neg[..., rows]) * mean
        residual = np.subtract(positives, expected, out=positives)
        curvature = np.multiply(expected, np.subtract(1, mean, out=mean), out=expected)
        sums_a = residual.sum(axis=-1), curvature.sum(axis=-1)
        if not sloped:
            return np.stack([sums_a[0], sums_a[0], sums_a[1], sums_a[1], sums_a[1]])
        moments = dot(curvature, at), dot(curvature * at, at)
        return np.stack([sums_a[0], dot(residual, at), sums_a[1], *moments])

    return np.asarray(sum(map_chunks(sums, x.size)))


def _classes_overlap(positive: Array, negative: Array) -> Array:
    """Whether the likelihood has a maximum: the classes overlap in x, in both directions."""
    both = positive.any(axis=-1) & negative.any(axis=-1)
    size = positive.shape[-1]
    if not size:
        return np.asarray(both)
    first_pos, first_neg = positive.argmax(axis=-1), negative.argmax(axis=-1)
    last_pos, last_neg = (size - 1 - side[..., ::-1].argmax(axis=-1) for side in (positive, negative))
    return np.asarray(both & (first_pos < last_neg) & (first_neg < last_pos))


def _maximise(
    x: Array, pos: Array, neg: Array, a: Array, b: Array, fitted: Array
) -> tuple[Array, Array, tuple[Array, Array, Array]]:
    """Newton's method for all replicates together, with step halving.

    The likelihood is concave: a step is too long if the gradient at its end points back steeply.
    """
    farthest = np.abs(x[[0, -1]]).max()
    tolerance = _TOLERANCE if x.size <= _LARGE_SIZE else _TOLERANCE_OF_LARGE
    step_a = step_b = rise = h0 = h1 = h2 = np.zeros_like(a)
    share = np.ones_like(a)
    for _ in range(_MAX_STEPS):
        at_a, at_b = a + share * step_a, b + share * step_b
        grad_a, grad_b, h0, h1, h2 = _derivatives(x, pos, neg, at_a, at_b)
        too_far = grad_a * step_a + grad_b * step_b < -0.5 * rise
        next_a, next_b = _newton_step(grad_a, grad_b, h0, h1, h2)
        a, b = np.where(too_far, a, at_a), np.where(too_far, b, at_b)
        step_a, step_b = np.where(too_far, step_a, next_a), np.where(too_far, step_b, next_b)
        rise = np.where(too_far, rise, grad_a * next_a + grad_b * next_b)
        share = np.where(too_far, share / 2, 1.0)
        if not np.any(fitted & (np.abs(step_a) + np.abs(step_b) * farthest > tolerance)):
            break
    return a + step_a, b + step_b, (h0, h1, h2)


def _newton_step(grad_a: Array, grad_b: Array, h0: Array, h1: Array, h2: Array) -> tuple[Array, Array]:
    """The Newton step; zero if the Hessian is singular."""
    determinant = h0 * h2 - h1 * h1
    step_a = ratio(h2 * grad_a - h1 * grad_b, determinant)
    step_b = ratio(h0 * grad_b - h1 * grad_a, determinant)
    return np.where(np.isfinite(step_a), step_a, 0.0), np.where(np.isfinite(step_b), step_b, 0.0)
