"""Measures of probabilities: how far the scores are from what happened."""

from __future__ import annotations

import math
from functools import partial
from typing import Annotated, Final

import numpy as np

from scorespace.errors import MeasureError
from scorespace.measures.cox import dot
from scorespace.measures.measure import INF, NO_CASES, ONE_CLASS, Formula, measure
from scorespace.tables import Array, ScoreTable, ratio

NO_CHANCE: Final = "a case happened that was given no chance"
of_probabilities = partial(measure, undefined=NO_CASES, probability=True)

Base = Annotated[float | None, "base of the logarithm, 2 for bits; nats unless stated"]
Eps = Annotated[float, "keeps scores that far from 0 and 1; else a case that was given no chance costs infinity"]


def certain_brier(formula: Formula, t: ScoreTable) -> list[Array]:
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
    """Mean of the scores of all cases, which is the prevalence where they are calibrated: Σ s / n."""
    return ratio(dot(t.pos + t.neg, t.score), t.total)


@of_probabilities(
    title="Brier score",
    range=(0, 1),
    best="low",
    aliases=("brier_score", "brier_score_loss", "quadratic_score"),
    interval="log-t",
    certain=certain_brier,
)
def brier(t: ScoreTable) -> Array:
    """Mean squared distance of the scores from what happened, for two classes from 0 to 1: Σ (p − y)² / n."""
    pos, neg = t.pos, t.neg
    return ratio(dot(pos, (1 - t.score) ** 2) + dot(neg, t.score**2), t.total)


def uncertainty(t: ScoreTable) -> Array:
    """The Brier score of always stating the base rate: π (1 − π)."""
    return ratio(ratio(t.n_pos * t.n_neg, t.total), t.total)


def _certain_brier_skill(formula: Formula, t: ScoreTable) -> list[Array]:
    return [1 - ratio(one, uncertainty(t)) for one in certain_brier(brier.function, t)]


@of_probabilities(
    title="Brier skill score",
    range=(-INF, 1),
    best="high",
    undefined=ONE_CLASS,
    aliases=("bss", "brier_skill_score"),
    covers="with 20 positives in 2 000 cases, and in case-control samples, it holds the truth in 87 to 90 % of samples",
    certain=_certain_brier_skill,
)
def brier_skill(t: ScoreTable) -> Array:
    """Gain over always stating the base rate: 1 − Brier / UNC."""
    base = uncertainty(t)
    return np.where(base > 0, 1 - ratio(brier.function(t), base), np.nan)


def _certain_logloss(formula: Formula, t: ScoreTable, *, base: Base = None, eps: Eps = 0.0) -> list[Array]:
    """In each bin and class, −log bends down: the mean score bounds it below (Jensen), the chord to both ends above."""
    check_log_options(base, eps)
    bins, low, high = t.binned, np.asarray(0.0), np.asarray(0.0)
    for weight, total, ends in (
        (t.pos, bins.first[t.positive], (bins.low, bins.high)),
        (t.neg, t.neg - np.delete(bins.first, t.positive, axis=0).sum(axis=0), (1 - bins.high, 1 - bins.low)),
    ):
        held = weight > 0
        a, b = (end[held] for end in ends)
        mean = np.clip(total[held] / weight[held], a, b)
        share = np.where(b > a, (b - mean) / np.where(b > a, b - a, 1.0), 1.0)
        below, above, middle = (surprise(x, eps) for x in (a, b, mean))
        # Clipped, −log is flat at first and bends there the other way: its ends bound it.
        bent = (a < eps) | (b > 1 - eps) if eps else np.zeros(a.size, dtype=bool)
        chord = _part(share, below) + _part(1 - share, above)
        low = low + weight[held] @ np.where(bent, above, middle)
        high = high + weight[held] @ np.where(bent, below, chord)
    unit = 1.0 if base is None else abs(math.log(base))
    return [ratio(low, t.total * unit), ratio(high, t.total * unit)]


def _part(share: Array, of: Array) -> Array:
    """share · of, where nothing of infinity is 0."""
    return share * np.where(share > 0, of, 0.0)


def surprise(p: Array, eps: float) -> Array:
    """|log p|, of what was given at least that much of a chance, and no more than the rest."""
    with np.errstate(divide="ignore"):
        return np.abs(np.log(np.clip(p, eps, 1 - eps)))


@of_probabilities(
    title="Log loss",
    range=(0, INF),
    best="low",
    infinite=NO_CHANCE,
    aliases=("log_loss", "cross_entropy", "log_score", "negative_log_likelihood", "ignorance_score"),
    spelled={"bits": "logloss(base=2)"},
    interval="log-t",
    covers="of almost perfect models, and of scores with heavy tails, it holds the truth in 89 to 92 % of samples",
    certain=_certain_logloss,
)
def logloss(t: ScoreTable, *, base: Base = None, eps: Eps = 0.0) -> Array:
    """Mean surprise at what happened: −Σ log p(y) / n, in nats; base=2 for bits.

    Without `eps` a case that was given no chance makes it infinite; `eps` keeps scores that far from 0 and 1.
    """
    check_log_options(base, eps)
    p = np.clip(t.score, eps, 1 - eps)
    with np.errstate(divide="ignore"):
        happened, not_happened = -np.log(p), -np.log1p(-p)
    # Only the ends of the table can be 0 and 1; infinity times no case is 0 there.
    impossible = _impossible(t) if eps == 0 else np.zeros(())
    happened, not_happened = (np.where(np.isinf(v), 0.0, v) for v in (happened, not_happened))
    surprise = dot(t.pos, happened) + dot(t.neg, not_happened)
    nats = ratio(np.where(impossible > 0, INF, surprise), t.total)
    return np.abs(nats) if base is None else np.abs(nats / math.log(base))  # 0, not −0


def check_log_options(base: float | None, eps: float) -> None:
    """Refuse what is no base of logarithms, and what would clip everything."""
    if base is not None and not (base > 0 and base != 1 and math.isfinite(base)):
        raise MeasureError(f"base={base:g} is no base of logarithms.", hint="2 for bits; nats without")
    if not 0 <= eps < 0.5:
        raise MeasureError(f"eps={eps:g} cannot clip probabilities.", hint="0 or more and below 0.5, such as 1e-15")


def clipped_cases(t: ScoreTable, eps: float) -> float:
    """How many cases log loss moves with that `eps`; without it, how many happened that were given no chance."""
    if eps == 0:
        return float(_impossible(t))
    return float((t.pos + t.neg)[(t.score < eps) | (t.score > 1 - eps)].sum())


def _impossible(t: ScoreTable) -> Array:
    """The weight of positives with score 0 and of negatives with score 1."""
    pos, neg = t.columns
    zero, one = slice(-1, None), slice(0, 1)  # scores fall, so only the ends can be 0 and 1
    at_zero, at_one = pos[..., zero][..., t.score[zero] == 0], neg[..., one][..., t.score[one] == 1]
    return at_zero.sum(axis=-1, dtype=np.float64) + at_one.sum(axis=-1, dtype=np.float64)
