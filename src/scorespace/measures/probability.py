"""Measures of probabilities: Brier score, log loss and skill."""

from __future__ import annotations

import math
from functools import partial
from typing import Annotated, Final

import numpy as np

from scorespace.errors import MeasureError
from scorespace.measures.logistic_recalibration import dot
from scorespace.measures.measure import INF, NO_CASES, ONE_CLASS, Formula, measure
from scorespace.tables import Array, ScoreTable, ratio

NO_CHANCE: Final = "an outcome occurred that had probability 0"
probability_measure = partial(measure, undefined=NO_CASES, probability=True)

Base = Annotated[float | None, "base of the logarithm, 2 for bits; by default e (nats)"]
Eps = Annotated[float, "clip scores to [eps, 1 − eps]; with 0, an outcome of probability 0 makes it infinite"]


def brier_bounds(formula: Formula, t: ScoreTable) -> list[Array]:
    """Exact, from the sums of each bin: Σ (s − y)² = Σ s² − 2 Σ_pos s + P."""
    squares, of_pos = t.binned.second.sum(), t.binned.first[t.positive].sum()
    return [ratio(np.maximum(squares - 2 * of_pos + t.n_pos, 0.0), t.total)]


@measure(
    title="Mean score",
    range=(-INF, INF),
    best=None,
    undefined=NO_CASES,
    aliases=("average_score", "mean_probability", "average_probability"),
)
def mean_score(t: ScoreTable) -> Array:
    """Mean of the scores, which equals the prevalence if they are calibrated: Σ s / n."""
    return ratio(dot(t.pos + t.neg, t.score), t.total)


@probability_measure(
    title="Brier score",
    range=(0, 1),
    best="low",
    aliases=("brier_score", "brier_score_loss", "quadratic_score"),
    interval="log-t",
    bounds=brier_bounds,
)
def brier(t: ScoreTable) -> Array:
    """Mean squared difference of score and outcome, for two classes from 0 to 1: Σ (p − y)² / n (Brier 1950)."""
    pos, neg = t.pos, t.neg
    return ratio(dot(pos, (1 - t.score) ** 2) + dot(neg, t.score**2), t.total)


def uncertainty(t: ScoreTable) -> Array:
    """Brier score of predicting the prevalence for every case: π (1 − π)."""
    return ratio(ratio(t.n_pos * t.n_neg, t.total), t.total)


def _brier_skill_bounds(formula: Formula, t: ScoreTable) -> list[Array]:
    return [1 - ratio(value, uncertainty(t)) for value in brier_bounds(brier.function, t)]


@probability_measure(
    title="Brier skill score",
    range=(-INF, 1),
    best="high",
    undefined=ONE_CLASS,
    aliases=("bss", "brier_skill_score"),
    coverage_note="20 positives in 2 000 cases, and case-control samples: covers in 87 to 90 % of samples",
    bounds=_brier_skill_bounds,
)
def brier_skill(t: ScoreTable) -> Array:
    """Improvement over predicting the prevalence for every case: 1 − Brier / UNC."""
    base = uncertainty(t)
    return np.where(base > 0, 1 - ratio(brier.function(t), base), np.nan)


def _logloss_bounds(formula: Formula, t: ScoreTable, *, base: Base = None, eps: Eps = 0.0) -> list[Array]:
    """In each bin and class −log is convex: the mean score bounds it below (Jensen), the chord above."""
    check_log_options(base, eps)
    bins, low, high = t.binned, np.asarray(0.0), np.asarray(0.0)
    for weight, total, ends in (
        (t.pos, bins.first[t.positive], (bins.low, bins.high)),
        (t.neg, t.neg - np.delete(bins.first, t.positive, axis=0).sum(axis=0), (1 - bins.high, 1 - bins.low)),
    ):
        occupied = weight > 0
        a, b = (end[occupied] for end in ends)
        mean = np.clip(total[occupied] / weight[occupied], a, b)
        share = np.where(b > a, (b - mean) / np.where(b > a, b - a, 1.0), 1.0)
        below, above, middle = (surprise(x, eps) for x in (a, b, mean))
        # Clipping makes −log constant near the ends and not convex there: use its values at the ends.
        is_clipped = (a < eps) | (b > 1 - eps) if eps else np.zeros(a.size, dtype=bool)
        chord = _product(share, below) + _product(1 - share, above)
        low = low + weight[occupied] @ np.where(is_clipped, above, middle)
        high = high + weight[occupied] @ np.where(is_clipped, below, chord)
    unit = 1.0 if base is None else abs(math.log(base))
    return [ratio(low, t.total * unit), ratio(high, t.total * unit)]


def _product(share: Array, value: Array) -> Array:
    """share · value, with 0 · ∞ = 0."""
    return share * np.where(share > 0, value, 0.0)


def surprise(p: Array, eps: float) -> Array:
    """|log p|, with p clipped to [eps, 1 − eps]."""
    with np.errstate(divide="ignore"):
        return np.abs(np.log(np.clip(p, eps, 1 - eps)))


@probability_measure(
    title="Log loss",
    range=(0, INF),
    best="low",
    infinite=NO_CHANCE,
    aliases=("log_loss", "cross_entropy", "log_score", "negative_log_likelihood", "ignorance_score"),
    shorthands={"bits": "logloss(base=2)"},
    interval="log-t",
    coverage_note="almost perfect models, and scores with heavy tails: covers in 89 to 92 % of samples",
    bounds=_logloss_bounds,
)
def logloss(t: ScoreTable, *, base: Base = None, eps: Eps = 0.0) -> Array:
    """Mean negative log probability of the outcome: −Σ log p(y) / n, in nats; base=2 for bits.

    Without `eps`, an outcome of probability 0 makes it infinite; `eps` clips scores to [eps, 1 − eps].
    """
    check_log_options(base, eps)
    p = np.clip(t.score, eps, 1 - eps)
    with np.errstate(divide="ignore"):
        of_positive, of_negative = -np.log(p), -np.log1p(-p)
    # Only the first and the last score can be 1 and 0; infinity times zero cases is 0 there.
    impossible = _impossible(t) if eps == 0 else np.zeros(())
    of_positive, of_negative = (np.where(np.isinf(loss), 0.0, loss) for loss in (of_positive, of_negative))
    total = dot(t.pos, of_positive) + dot(t.neg, of_negative)
    nats = ratio(np.where(impossible > 0, INF, total), t.total)
    return np.abs(nats) if base is None else np.abs(nats / math.log(base))  # 0, not −0


def check_log_options(base: float | None, eps: float) -> None:
    """Refuse an invalid base of logarithms, and clipping at 0.5 or more."""
    if base is not None and not (base > 0 and base != 1 and math.isfinite(base)):
        raise MeasureError(f"base={base:g} is not a base of logarithms.", hint="2 for bits; nats by default")
    if not 0 <= eps < 0.5:
        raise MeasureError(f"eps={eps:g} cannot clip probabilities.", hint="0 or more and below 0.5, such as 1e-15")


def clipped_cases(t: ScoreTable, eps: float) -> float:
    """Weight of the cases that `eps` clips; without it, of the outcomes that had probability 0."""
    if eps == 0:
        return float(_impossible(t))
    return float((t.pos + t.neg)[(t.score < eps) | (t.score > 1 - eps)].sum())


def _impossible(t: ScoreTable) -> Array:
    """Weight of positives with score 0 and of negatives with score 1."""
    pos, neg = t.columns
    zero, one = slice(-1, None), slice(0, 1)  # scores are descending
    at_zero, at_one = pos[..., zero][..., t.score[zero] == 0], neg[..., one][..., t.score[one] == 1]
    return at_zero.sum(axis=-1, dtype=np.float64) + at_one.sum(axis=-1, dtype=np.float64)
