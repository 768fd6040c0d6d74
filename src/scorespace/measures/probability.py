"""Measures of probabilities: how far the scores are from what happened, and why."""

from __future__ import annotations

import math
from typing import Annotated, Final, Literal

import numpy as np

from scorespace.curves.calibration import check_bins, count_parts, width_starts
from scorespace.curves.hull import HullEdges, edges_of
from scorespace.errors import MeasureError
from scorespace.measures.cox import dot, logistic_fit, logits, offset_fit
from scorespace.measures.measure import measure
from scorespace.tables import Array, ScoreTable, ratio

_INF = float("inf")
_NO_CASES = "there are no cases"
_ONE_CLASS = "only one class is present"
BINS: Final = 15
"""Bins of ECE and MCE, as in Guo et al. (2017)."""

Base = Annotated[float | None, "base of the logarithm, 2 for bits; nats unless stated"]
Eps = Annotated[float, "keeps scores that far from 0 and 1; else a case that was given no chance costs infinity"]
Groups = Annotated[int | None, "number of bins of equal width; groups of equal scores unless stated"]
Bins = Annotated[int, "number of bins"]
By = Annotated[Literal["width", "count"], "bins of equal width, or of equal count"]


@measure(
    title="Mean score",
    range=(-_INF, _INF),
    best=None,
    undefined=_NO_CASES,
    aliases=("average_score", "mean_probability", "average_probability"),
)
def mean_score(t: ScoreTable) -> Array:
    """Mean of the scores of all cases, which is the prevalence where they are calibrated: Σ s / n."""
    return ratio(dot(t.pos + t.neg, t.score), t.total)


@measure(
    title="Brier score",
    range=(0, 1),
    best="low",
    undefined=_NO_CASES,
    probability=True,
    aliases=("brier_score", "brier_score_loss", "quadratic_score"),
    interval="log-t",
)
def brier(t: ScoreTable) -> Array:
    """Mean squared distance of the scores from what happened, for two classes from 0 to 1: Σ (p − y)² / n."""
    pos, neg = t.pos, t.neg
    return ratio(dot(pos, (1 - t.score) ** 2) + dot(neg, t.score**2), t.total)


@measure(
    title="Brier skill score",
    range=(-_INF, 1),
    best="high",
    undefined=_ONE_CLASS,
    probability=True,
    aliases=("bss", "brier_skill_score"),
)
def brier_skill(t: ScoreTable) -> Array:
    """Gain over always stating the base rate: 1 − Brier / UNC."""
    base = _uncertainty(t)
    return np.where(base > 0, 1 - ratio(brier.function(t), base), np.nan)


@measure(
    title="Log loss",
    range=(0, _INF),
    best="low",
    undefined=_NO_CASES,
    infinite="a case happened that was given no chance",
    probability=True,
    aliases=("log_loss", "cross_entropy", "log_score", "negative_log_likelihood"),
    interval="log-t",
)
def logloss(t: ScoreTable, *, base: Base = None, eps: Eps = 0.0) -> Array:
    """Mean surprise at what happened: −Σ log p(y) / n, in nats; base=2 for bits.

    Without `eps` a case that was given no chance makes it infinite; `eps` keeps scores that far from 0 and 1.
    """
    check_log_options(base, eps)
    p = np.clip(t.score, eps, 1 - eps)
    with np.errstate(divide="ignore"):
        happened, not_happened = -np.log(p), -np.log(1 - p)
    # Only the ends of the table can be 0 and 1; infinity times no case is 0 there.
    impossible = _impossible(t) if eps == 0 else np.zeros(())
    happened, not_happened = (np.where(np.isinf(v), 0.0, v) for v in (happened, not_happened))
    surprise = dot(t.pos, happened) + dot(t.neg, not_happened)
    nats = ratio(np.where(impossible > 0, _INF, surprise), t.total)
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


@measure(
    title="Calibration loss",
    range=(0, 1),
    best="low",
    undefined=_NO_CASES,
    probability=True,
    aliases=("calibration_loss", "miscalibration", "mcb"),
    interval="inverted",
    biased="too high on small samples: even calibrated scores show some by chance",
)
def cal(t: ScoreTable) -> Array:
    """What the best monotone recalibration would save of the Brier score: Brier − REF.

    The recalibration (isotonic, the hull of the ROC curve) is fitted to the same cases, so in small
    samples CAL is too high and REF too low.
    """
    whole = brier.function(t)
    lost = whole - refinement(t, edges_of(t))
    return np.where((lost < 0) & (lost > -1e-12), 0.0, lost)  # rounding of two equal numbers


@measure(
    title="Refinement loss",
    range=(0, 0.25),
    best="low",
    undefined=_NO_CASES,
    probability=True,
    aliases=("refinement", "refinement_loss"),
    interval="corrected",
    biased="too low on small samples: the best recalibration is fitted to the same cases",
)
def ref(t: ScoreTable) -> Array:
    """Brier score after the best monotone recalibration, so a matter of ranking alone: Brier − CAL."""
    return refinement(t, edges_of(t))


def refinement(t: ScoreTable, edges: HullEdges) -> Array:
    """The Brier score of the rates on the edges of the hull: Σ pos · neg / (pos + neg) / n."""
    lost = edges.pos * edges.neg / (edges.pos + edges.neg)
    return ratio(np.bincount(edges.owner, lost, minlength=max(1, t.n_pos.size)).reshape(t.n_pos.shape), t.total)


@measure(
    title="Uncertainty",
    range=(0, 0.25),
    best=None,
    undefined=_NO_CASES,
    probability=True,
    aliases=("uncertainty", "brier_uncertainty"),
)
def unc(t: ScoreTable) -> Array:
    """Brier score of always stating the base rate: π (1 − π)."""
    return _uncertainty(t)


def _uncertainty(t: ScoreTable) -> Array:
    return ratio(ratio(t.n_pos * t.n_neg, t.total), t.total)


@measure(
    title="Calibration loss of the log loss",
    range=(0, _INF),
    best="low",
    undefined=_NO_CASES,
    infinite="a case happened that was given no chance",
    probability=True,
    aliases=("logloss_cal",),
    interval="bootstrap",
    biased="too high on small samples: even calibrated scores show some by chance",
)
def log_cal(t: ScoreTable) -> Array:
    """What the best monotone recalibration would save of the log loss: log loss − its refinement, in nats."""
    lost = logloss.function(t) - _log_refinement(t, edges_of(t))
    return np.where((lost < 0) & (lost > -1e-12), 0.0, lost)


@measure(
    title="Refinement loss of the log loss",
    range=(0, math.log(2)),
    best="low",
    undefined=_NO_CASES,
    probability=True,
    aliases=("logloss_ref",),
    interval="bootstrap",
    biased="too low on small samples: the best recalibration is fitted to the same cases",
)
def log_ref(t: ScoreTable) -> Array:
    """Log loss after the best monotone recalibration, so a matter of ranking alone: log loss − its calibration loss."""
    return _log_refinement(t, edges_of(t))


@measure(
    title="Uncertainty of the log loss",
    range=(0, math.log(2)),
    best=None,
    undefined=_NO_CASES,
    probability=True,
    aliases=("logloss_unc", "entropy"),
    interval="bootstrap",
)
def log_unc(t: ScoreTable) -> Array:
    """Log loss of always stating the base rate, its entropy: −π log π − (1 − π) log(1 − π)."""
    share = ratio(t.n_pos, t.total)
    return _surprise(share, 1 - share)


def _log_refinement(t: ScoreTable, edges: HullEdges) -> Array:
    """The log loss of the rates on the edges of the hull."""
    size = edges.pos + edges.neg
    lost = size * _surprise(edges.pos / size, edges.neg / size)
    return ratio(np.bincount(edges.owner, lost, minlength=max(1, t.n_pos.size)).reshape(t.n_pos.shape), t.total)


def _surprise(one: Array, other: Array) -> Array:
    """−Σ p log p of two shares, of which nothing is no surprise."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return -(np.where(one > 0, one * np.log(one), 0.0) + np.where(other > 0, other * np.log(other), 0.0)) + 0.0


@measure(
    title="Reliability (Murphy)",
    range=(0, 1),
    best="low",
    undefined=_NO_CASES,
    probability=True,
    aliases=("reliability", "murphy_reliability"),
)
def rel(t: ScoreTable, *, bins: Groups = None) -> Array:
    """Squared distance of the groups' mean scores from their rates: Σ n_k (f_k − o_k)² / n.

    Groups are cases of equal score, or bins of equal width; then Brier = rel − res + unc + murphy_residual.
    """
    cases, hits, scores = _grouped(t, bins, "width")
    return ratio(_share(np.square(scores - hits), cases).sum(axis=-1), t.total)


@measure(
    title="Resolution (Murphy)",
    range=(0, 0.25),
    best="high",
    undefined=_NO_CASES,
    probability=True,
    aliases=("resolution", "murphy_resolution"),
)
def res(t: ScoreTable, *, bins: Groups = None) -> Array:
    """Squared distance of the groups' rates from the base rate: Σ n_k (o_k − o)² / n.

    Groups are cases of equal score (with distinct scores it is then UNC, whatever the model), or bins.
    """
    cases, hits, _ = _grouped(t, bins, "width")
    expected = cases * ratio(t.n_pos, t.total)[..., None]
    return ratio(_share(np.square(hits - expected), cases).sum(axis=-1), t.total)


@measure(
    title="Residual of Murphy's terms",
    range=(-1, 1),
    best=None,
    undefined=_NO_CASES,
    probability=True,
    aliases=("within_bin",),
)
def murphy_residual(t: ScoreTable, *, bins: Groups = None) -> Array:
    """What bins hide, the scores inside them not being equal: Brier − (rel − res + unc).

    0 for groups of equal scores.
    """
    if bins is None:
        return ratio(0 * t.total, t.total)
    terms = rel.function(t, bins=bins) - res.function(t, bins=bins) + unc.function(t)
    return np.asarray(brier.function(t) - terms)


@measure(
    title="Expected calibration error",
    range=(0, 1),
    best="low",
    undefined=_NO_CASES,
    probability=True,
    aliases=("expected_calibration_error",),
    interval="inverted",
    of_several="top",
    biased="too high on small samples: even calibrated scores show some by chance",
)
def ece(t: ScoreTable, *, bins: Bins = BINS, by: By = "width") -> Array:
    """Mean distance of mean score and rate over bins of equal width or count: Σ n_k |o_k − f_k| / n."""
    _, hits, scores = _grouped(t, bins, by)
    return ratio(np.abs(hits - scores).sum(axis=-1), t.total)


@measure(
    title="Maximum calibration error",
    range=(0, 1),
    best="low",
    undefined=_NO_CASES,
    probability=True,
    aliases=("maximum_calibration_error", "max_calibration_error"),
    of_several="top",
    biased="too high on small samples: it is the largest of many distances",
)
def mce(t: ScoreTable, *, bins: Bins = BINS, by: By = "width") -> Array:
    """Largest distance of mean score and rate over bins of equal width or count: max |o_k − f_k|."""
    cases, hits, scores = _grouped(t, bins, by)
    return np.where(t.total > 0, _share(np.abs(hits - scores), cases).max(axis=-1, initial=0.0), np.nan)


def _grouped(t: ScoreTable, bins: int | None, by: str) -> tuple[Array, Array, Array]:
    """Cases, positives and sum of scores of each group, for every replicate; without bins, of each score."""
    hits = t.pos
    cases = hits + t.neg
    if bins is None:
        return cases, hits, cases * t.score
    check_bins(by, bins, ("width", "count"))
    columns = (cases, hits, cases * t.score)
    if not t.score.size:
        return columns
    if by == "width":
        starts = width_starts(t.score, bins)
        return tuple(np.add.reduceat(column, starts, axis=-1) for column in columns)  # type: ignore[return-value]
    # Here the bins depend on the weights, so each replicate has its own.
    part = count_parts(cases, bins)
    owner = np.arange(part.size // part.shape[-1]).reshape(*part.shape[:-1], 1)
    place, size = (part + owner * bins).ravel(), max(1, owner.size) * bins
    shape = (*part.shape[:-1], bins)
    return tuple(np.bincount(place, column.ravel(), size).reshape(shape) for column in columns)  # type: ignore[return-value]


def _share(part: Array, whole: Array) -> Array:
    """part / whole, and 0 for groups without cases."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


@measure(
    title="Calibration in the large",
    range=(-1, 1),
    best=None,
    undefined=_NO_CASES,
    probability=True,
    aliases=("calibration_in_the_large", "mean_calibration"),
)
def cal_large(t: ScoreTable) -> Array:
    """Share of positives minus mean score, positive where scores are too low: o − mean p."""
    return ratio(t.n_pos - dot(t.pos + t.neg, t.score), t.total)


_NO_OVERLAP = "the classes do not overlap in scores between 0 and 1, or all these scores are the same"


@measure(
    title="Calibration slope",
    range=(-_INF, _INF),
    best=None,
    undefined=_NO_OVERLAP,
    probability=True,
    aliases=("calibration_slope", "cox_slope"),
)
def cal_slope(t: ScoreTable) -> Array:
    """Slope b of the logistic fit logit P(y) = a + b · logit p: below 1 for overconfident scores.

    Scores of exactly 0 and 1 have no finite logit and are left out.
    """
    return logistic_fit(*logits(t)).slope


@measure(
    title="Calibration intercept, with the slope",
    range=(-_INF, _INF),
    best=None,
    undefined=_NO_OVERLAP,
    probability=True,
    aliases=("calibration_intercept", "cox_intercept"),
)
def cal_intercept(t: ScoreTable) -> Array:
    """Intercept a of the logistic fit logit P(y) = a + b · logit p, fitted together with the slope b.

    Not the intercept for a slope of 1, which is `cal_offset`. Scores of 0 and 1 are left out.
    """
    return logistic_fit(*logits(t)).intercept


@measure(
    title="Calibration intercept, for slope 1",
    range=(-_INF, _INF),
    best=None,
    undefined="a class has no scores between 0 and 1",
    probability=True,
    aliases=("calibration_offset", "offset_intercept"),
)
def cal_offset(t: ScoreTable) -> Array:
    """Intercept a of logit P(y) = a + logit p, the slope held at 1: positive where scores are too low.

    Scores of 0 and 1 are left out.
    """
    return offset_fit(*logits(t))
