"""Measures of probabilities: how far the scores are from what happened, and why."""

from __future__ import annotations

import math
from typing import Annotated, Final, Literal

import numpy as np

from scorespace.curves.calibration import check_bins, count_parts, width_starts
from scorespace.curves.hull import HullEdges, edges_of
from scorespace.errors import MeasureError
from scorespace.measures.cox import dot, logistic_fit, logits, offset_fit
from scorespace.measures.measure import Formula, by_hull, by_size, by_totals, measure
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


def _certain_brier(formula: Formula, t: ScoreTable) -> list[Array]:
    """Exact, from the sums of each bin: Σ (s − y)² = Σ s² − 2 Σ_pos s + P."""
    if t.bins is None:
        return [formula(t)]
    squares, of_pos = t.bins.second.sum(), t.bins.first[t.positive].sum()
    return [ratio(np.maximum(squares - 2 * of_pos + t.n_pos, 0.0), t.total)]


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
    certain=_certain_brier,
)
def brier(t: ScoreTable) -> Array:
    """Mean squared distance of the scores from what happened, for two classes from 0 to 1: Σ (p − y)² / n."""
    pos, neg = t.pos, t.neg
    return ratio(dot(pos, (1 - t.score) ** 2) + dot(neg, t.score**2), t.total)


def _certain_brier_skill(formula: Formula, t: ScoreTable) -> list[Array]:
    return [1 - ratio(one, _uncertainty(t)) for one in _certain_brier(brier.function, t)]


@measure(
    title="Brier skill score",
    range=(-_INF, 1),
    best="high",
    undefined=_ONE_CLASS,
    probability=True,
    aliases=("bss", "brier_skill_score"),
    certain=_certain_brier_skill,
)
def brier_skill(t: ScoreTable) -> Array:
    """Gain over always stating the base rate: 1 − Brier / UNC."""
    base = _uncertainty(t)
    return np.where(base > 0, 1 - ratio(brier.function(t), base), np.nan)


def _certain_logloss(formula: Formula, t: ScoreTable, *, base: Base = None, eps: Eps = 0.0) -> list[Array]:
    """In each bin and class, −log bends down: the mean score bounds it below (Jensen), the chord to both ends above."""
    if t.bins is None:
        return [formula(t, base=base, eps=eps)]
    check_log_options(base, eps)
    bins, low, high = t.bins, np.asarray(0.0), np.asarray(0.0)
    for weight, total, ends in (
        (t.pos, bins.first[t.positive], (bins.low, bins.high)),
        (t.neg, t.neg - np.delete(bins.first, t.positive, axis=0).sum(axis=0), (1 - bins.high, 1 - bins.low)),
    ):
        held = weight > 0
        a, b = (end[held] for end in ends)
        mean = np.clip(total[held] / weight[held], a, b)
        share = np.where(b > a, (b - mean) / np.where(b > a, b - a, 1.0), 1.0)
        below, above, middle = (_surprise(x, eps) for x in (a, b, mean))
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


def _surprise(p: Array, eps: float) -> Array:
    with np.errstate(divide="ignore"):
        return np.abs(np.log(np.clip(p, eps, 1 - eps)))


@measure(
    title="Log loss",
    range=(0, _INF),
    best="low",
    undefined=_NO_CASES,
    infinite="a case happened that was given no chance",
    probability=True,
    aliases=("log_loss", "cross_entropy", "log_score", "negative_log_likelihood"),
    interval="log-t",
    certain=_certain_logloss,
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


def _certain_cal(formula: Formula, t: ScoreTable) -> list[Array]:
    (whole,) = _certain_brier(brier.function, t)
    return [np.maximum(whole - one, 0.0) for one in by_hull(ref.function, t)]


@measure(
    title="Calibration loss",
    range=(0, 1),
    best="low",
    undefined=_NO_CASES,
    probability=True,
    aliases=("calibration_loss", "miscalibration", "mcb"),
    interval="inverted",
    biased="too high on small samples: even calibrated scores show some by chance",
    certain=_certain_cal,
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
    certain=by_hull,
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
    certain=by_totals,
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
    return _entropy(share, 1 - share)


def _log_refinement(t: ScoreTable, edges: HullEdges) -> Array:
    """The log loss of the rates on the edges of the hull."""
    size = edges.pos + edges.neg
    lost = size * _entropy(edges.pos / size, edges.neg / size)
    return ratio(np.bincount(edges.owner, lost, minlength=max(1, t.n_pos.size)).reshape(t.n_pos.shape), t.total)


def _entropy(one: Array, other: Array) -> Array:
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


def _certain_ece(formula: Formula, t: ScoreTable, *, bins: Bins = BINS, by: By = "width") -> list[Array] | None:
    """Only cases of a bin that straddles two groups can be in the other one; each moves both sums by at most one."""
    if by != "width" or t.bins is None:
        return None if t.coarse else [formula(t, bins=bins, by=by)]
    _, distance, inward, outward = _certain_groups(t, bins)
    middle, moved = ratio(distance.sum(), t.total), ratio(inward.sum() + outward.sum(), t.total)
    return [np.maximum(middle - moved, 0.0), np.minimum(middle + moved, 1.0)]


def _certain_groups(t: ScoreTable, bins: int) -> tuple[Array, Array, Array, Array]:
    """By group of equal width: cases, |positives − Σ s|, and the weight of cases that may belong to it, or elsewhere.

    A bin counts for the group of its lowest score.
    """
    check_bins("width", bins, ("width", "count"))
    if t.bins is None:
        raise ValueError("an exact table leaves nothing open")
    lowest, highest = _group_of(t.bins.low, bins), _group_of(t.bins.high, bins)
    cases = t.counts.sum(axis=-2, dtype=np.float64)
    apart = t.pos - t.bins.first.sum(axis=0)
    size, gap = (np.bincount(lowest, one, bins) for one in (cases, apart))
    torn = highest > lowest
    outward = np.bincount(lowest[torn], cases[torn], bins)
    inward = np.zeros(bins + 1)
    np.add.at(inward, lowest[torn] + 1, cases[torn])
    np.subtract.at(inward, highest[torn] + 1, cases[torn])
    return size, np.abs(gap), np.cumsum(inward)[:-1], outward


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
    certain=_certain_ece,
)
def ece(t: ScoreTable, *, bins: Bins = BINS, by: By = "width") -> Array:
    """Mean distance of mean score and rate over bins of equal width or count: Σ n_k |o_k − f_k| / n."""
    _, hits, scores = _grouped(t, bins, by)
    return ratio(np.abs(hits - scores).sum(axis=-1), t.total)


def _group_of(score: Array, bins: int) -> Array:
    """The group of equal width of each score; one on an edge belongs above it."""
    return np.searchsorted(np.arange(1, bins) / bins, score, side="right")


def _certain_mce(formula: Formula, t: ScoreTable, *, bins: Bins = BINS, by: By = "width") -> list[Array] | None:
    if by != "width" or t.bins is None:
        return None if t.coarse else [formula(t, bins=bins, by=by)]
    size, distance, inward, outward = _certain_groups(t, bins)
    moved = inward + outward
    fewest = size - outward
    least = _share(np.maximum(distance - moved, 0.0), size + inward)
    most = np.where(
        fewest > 0, np.minimum(_share(distance + moved, fewest), 1.0), np.where(size + inward > 0, 1.0, 0.0)
    )
    return [least.max(initial=0.0), most.max(initial=0.0)]


@measure(
    title="Maximum calibration error",
    range=(0, 1),
    best="low",
    undefined=_NO_CASES,
    probability=True,
    aliases=("maximum_calibration_error", "max_calibration_error"),
    of_several="top",
    biased="too high on small samples: it is the largest of many distances",
    certain=_certain_mce,
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


def _certain_cal_large(formula: Formula, t: ScoreTable) -> list[Array]:
    """Exact, from the sum of the scores."""
    return [formula(t)] if t.bins is None else [ratio(t.n_pos - t.bins.first.sum(), t.total)]


@measure(
    title="Calibration in the large",
    range=(-1, 1),
    best=None,
    undefined=_NO_CASES,
    probability=True,
    aliases=("calibration_in_the_large", "mean_calibration"),
    certain=_certain_cal_large,
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


def _certain_cal_offset(formula: Formula, t: ScoreTable) -> list[Array] | None:
    """It falls with every score; but a bin that holds 0 or 1 and other scores would be left out or not."""
    torn = t.bins is not None and bool(np.any(t.bins.loose & ((t.bins.low == 0) | (t.bins.high == 1))))
    return None if torn else by_size(formula, t)


@measure(
    title="Calibration intercept, for slope 1",
    range=(-_INF, _INF),
    best=None,
    undefined="a class has no scores between 0 and 1",
    probability=True,
    aliases=("calibration_offset", "offset_intercept"),
    certain=_certain_cal_offset,
)
def cal_offset(t: ScoreTable) -> Array:
    """Intercept a of logit P(y) = a + logit p, the slope held at 1: positive where scores are too low.

    Scores of 0 and 1 are left out.
    """
    return offset_fit(*logits(t))
