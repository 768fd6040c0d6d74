"""Parametric bootstrap of labels: draw labels from a smooth model of P(positive | score), whose true value is known.

Statistics that maximise over thresholds (KS, H, hull area) are biased upwards, and resampling cases reproduces only
about half of that bias. Labels drawn from fitted rates reproduce all of it: the value on the rates themselves is the
truth, and the mean excess of the replicates is the bias (Efron and Tibshirani 1993).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.special import expit, logit, ndtri

from scorespace.curves.isotonic import increasing_regression
from scorespace.tables import Array, ScoreTable

RIDGE: Final = 0.3
STEPS: Final = (0.0, 0.4, 0.8, 1.2, 1.7, 2.3, 3.0, 4.0, 6.0)
"""Positions on the recalibration path: 0 are the scores themselves, 1 is the fitted recalibration."""
_LOGIT_MARGIN: Final = 1e-6  # scores of 0 and 1 have no logit
_MAX_NEWTON_STEPS: Final = 50
_MIN_CASES_FOR_QUINTIC: Final = 10  # of each class
_TINY: Final = 1e-9  # weight of a score without cases, which still needs a rank
_MAX_CASES_FOR_INVERSION: Final = 12  # cases per score up to which inversion by one uniform beats NumPy's binomial


def mid_ranks(cases: Array) -> Array:
    """Return the mid-rank of each score among all cases, from 0 to 1."""
    return np.asarray((np.cumsum(cases) - cases / 2) / cases.sum())


def rates_by_rank(cases: Array, positives: Array, degree: int = 5) -> Array:
    """Fit a smooth rate of positives at each distinct score by rank: logit p = a + b·z + c·z² + … + f·z⁵.

    z is the normal quantile of the mid-rank, so up to z² the fit is the binormal ROC model; higher powers follow humps
    and are used from ten cases of each class. A small ridge penalty keeps it finite for separated classes.

    >>> rates_by_rank(np.ones(6), np.array([1.0, 1.0, 0.0, 1.0, 0.0, 0.0])).round(2)
    array([0.9 , 0.74, 0.58, 0.42, 0.26, 0.1 ])
    """
    cases = np.maximum(cases, _TINY)
    z = -ndtri(mid_ranks(cases))
    n_rarer = min(positives.sum(), cases.sum() - positives.sum())
    return expit(
        _fit_logits(z, cases, positives, np.zeros(z.size), degree=degree if n_rarer >= _MIN_CASES_FOR_QUINTIC else 2)
    )


def rates_in_steps(cases: Array, positives: Array, steps: int = 5) -> Array:
    """Rate of positives in a few equally large intervals of ranks, made monotone (isotonic) in the score.

    Within an interval scores carry no information, so a ROC hull is more biased than under smooth rates.

    >>> rates_in_steps(np.ones(6), np.array([1.0, 1.0, 0.0, 1.0, 0.0, 0.0]), 3).round(2)
    array([1. , 1. , 0.5, 0.5, 0. , 0. ])
    """
    interval = np.minimum(mid_ranks(cases) * steps, steps - 1).astype(np.intp)
    interval = np.unique(interval, return_inverse=True)[1]  # an interval may be empty for tied scores
    size = np.bincount(interval, np.maximum(cases, _TINY))
    return np.asarray(-increasing_regression(-np.bincount(interval, positives) / size, size)[0][interval])


def recalibration_path(score: Array, cases: Array, positives: Array, steps: tuple[float, ...] = STEPS) -> Array:
    """Rates between the scores (step 0) and their logistic recalibration (step 1), and beyond; shape (steps, scores).

    logit p = logit s + step · (a + b·logit s + c·(logit s)²), with a, b and c fitted with a small ridge penalty.

    >>> recalibration_path(np.array([0.8, 0.2]), np.array([50.0, 50.0]), np.array([25.0, 5.0]), (0.0, 1.0)).round(2)
    array([[0.8, 0.2],
           [0.5, 0.1]])
    """
    x = logit(np.clip(score, _LOGIT_MARGIN, 1 - _LOGIT_MARGIN))
    correction = _fit_logits(x, cases, positives, x) - x
    return np.asarray(expit(x + np.asarray(steps)[:, None] * correction))


def with_positives(table: ScoreTable, positives: Array) -> ScoreTable:
    """Return the table with the given number of positives (…, scores) at each score."""
    cases = table.counts.sum(axis=-2, dtype=np.float64).astype(positives.dtype)
    return ScoreTable(table.score, np.stack([cases - positives, positives], axis=-2), ("0", "1"), 1)


def draw_labels(cases: Array, rates: Array, rng: np.random.Generator, draws: int) -> Array:
    """Draw the number of positives at each score, binomial with the given rates; shape (n_draws, …, n_scores).

    >>> draw_labels(np.array([4, 4]), np.array([1.0, 0.0]), np.random.default_rng(0), 2).tolist()
    [[4, 0], [4, 0]]
    """
    # NumPy consumes no random number for a rate of exactly 0 or 1, so a rounding difference would shift the stream.
    rates, n_cases = np.clip(rates, _TINY, 1 - _TINY), np.asarray(cases, dtype=np.int64)
    size = (draws, *np.shape(rates))
    if not 1 <= n_cases.min(initial=1) <= n_cases.max(initial=1) <= _MAX_CASES_FOR_INVERSION:
        return rng.binomial(n_cases, rates, size)
    # The same draws as NumPy's binomial, which inverts the distribution function of the rarer label.
    is_majority = rates > 0.5
    rare_rate = np.where(is_majority, 1 - rates, rates)
    uniform, n_rare = rng.random(size), np.zeros(size, dtype=np.uint8)
    probability = (1 - rare_rate) ** n_cases
    cumulative = probability
    for k in range(n_cases.max(initial=0)):
        has_more = np.flatnonzero(n_cases > k) if k else slice(None)
        n_rare[..., has_more] += uniform[..., has_more] > cumulative[..., has_more]
        probability = probability * (n_cases - k) / (k + 1) * rare_rate / (1 - rare_rate)
        cumulative = cumulative + probability
    return np.where(is_majority, n_cases.astype(np.uint8) - n_rare, n_rare)


def _fit_logits(x: Array, cases: Array, positives: Array, offset: Array, degree: int = 2) -> Array:
    """Fit a ridge-penalised logistic polynomial in x with an offset, and return its logits."""
    cases = np.maximum(cases, _TINY)
    total = cases.sum()
    distinct = 1 + int(np.count_nonzero(np.diff(x)))  # x decreases, as scores do
    powers = np.vander(x, min(degree + 1, distinct), increasing=True)
    share = np.sqrt(cases / total)[:, None]
    # Columns orthonormal over the cases, so that the penalty does not depend on the scale.
    columns = np.linalg.qr(powers * share)[0] / share
    penalty = np.diag([0.0] + [RIDGE] * (columns.shape[1] - 1))
    start = logit((positives.sum() + 0.5) / (total + 1)) if not offset.any() else 0.0
    coefficients = np.zeros(columns.shape[1])
    coefficients[0] = start * np.sign(columns[0, 0])

    def log_likelihood(coefficients: Array) -> float:
        """Penalised log-likelihood."""
        logits = offset + columns @ coefficients
        return float(positives @ logits - cases @ np.logaddexp(0.0, logits) - coefficients @ penalty @ coefficients / 2)

    current = log_likelihood(coefficients)
    for _ in range(_MAX_NEWTON_STEPS):
        rate = expit(offset + columns @ coefficients)
        weight = np.maximum(cases * rate * (1 - rate), 1e-9)
        gradient = columns.T @ (positives - cases * rate) - penalty @ coefficients
        step = np.linalg.solve((columns * weight[:, None]).T @ columns + penalty, gradient)
        if float(np.abs(step).max()) < 1e-9:
            break
        while (candidate := log_likelihood(coefficients + step)) < current - 1e-9 and float(np.abs(step).max()) > 1e-9:
            step = step / 2  # steps in high powers overshoot
        coefficients, current = coefficients + step, candidate
    return np.asarray(offset + columns @ coefficients)
