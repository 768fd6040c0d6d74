"""Measures of ranking: how well the scores separate positives from negatives."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import numpy as np
from scipy.special import betainc

from scorespace.curves.hull import edges_of
from scorespace.curves.pr import pr_area
from scorespace.curves.rejection import risk_area, threshold_margins
from scorespace.curves.roc import partial_area, value_at
from scorespace.errors import MeasureError
from scorespace.measures.measure import (
    INF,
    NO_CASES,
    NO_POSITIVES,
    ONE_CLASS,
    Formula,
    bounds_by_hull,
    bounds_by_order,
    measure,
)
from scorespace.tables import Array, ClassTable, ScoreTable, ratio
from scorespace.tables.score_arrays import merge_equal_scores

_OF_AREAS = (
    "values near 1, and few positives with similar scores: covers in up to all samples; "
    "a few positives far below all others: in 90 %, "
    "one or two weighted cases that dominate the variance: in 86 to 90 %"
)
_OF_GROUPS = "a hundred groups of cases, and heavily weighted low scores: covers in 85 to 88 % of samples"
_AT_ONE_POINT = "20 positives in 2 000 cases, and heavily weighted low scores: covers in 86 to 90 % of samples"

_AT_TNR = {"sensitivity_at_specificity": "tpr@tnr=0.9"}
_CORRECTED = dict.fromkeys(
    ("mcclish", "standardised_partial_auc", "standardized_partial_auc", "max_fpr"),
    "pauc(fpr_high=0.1, corrected=true)",
)
_OF_PRECISION = "values near 1: covers in 91 to 100 % of samples; heavily weighted high scores: in 85 %"

_of_pairs = partial(measure, range=(0, 1), best="high", undefined=ONE_CLASS, bounds=bounds_by_order)
_on_roc = partial(_of_pairs, stratified=True)
_at_rate = partial(_on_roc, interval="wilson-eff")
_area = partial(_on_roc, interval="delong-newcombe", coverage_note=_OF_AREAS)
_precision = partial(
    measure, range=(0, 1), best="high", undefined=NO_POSITIVES, interval="precision-t", coverage_note=_OF_PRECISION
)


def concordant_pairs(table: ScoreTable) -> Array:
    """Number of concordant positive–negative pairs, ties counting half (Mann-Whitney U)."""
    pos, neg = table.columns
    has_floats = pos.dtype.kind == "f"
    # Positives with at least that score; cumulating integers is faster than cumulating floats.
    above = np.cumsum(pos, axis=-1, dtype=np.float64 if has_floats else np.int64)
    pairs = _dot(above, neg)
    if has_floats or np.logical_and(pos, neg).any():  # for floats the product is cheaper than the test
        pairs = pairs - 0.5 * _dot(pos, neg)
    return pairs


def _dot(a: Array, b: Array) -> Array:
    """Σ a · b along the scores, as floats, because integers might overflow."""
    return np.asarray(np.einsum("...i,...i->...", a, b, dtype=np.float64, casting="unsafe"))


@_area(
    title="Area under the ROC curve",
    aliases=(
        *("roc_auc", "auroc", "area_under_curve", "c_statistic", "concordance", "roc_auc_score", "roc_area"),
        "probability_of_superiority",
    ),
    shorthands=dict.fromkeys(("hand_till", "hand_and_till", "multiclass_auc", "mauc"), "auc[hand_till]"),
    area=(1, 0),
)
def auc(t: ScoreTable) -> Array:
    """Probability that a random positive scores higher than a random negative, ties counting half: U / (P · N)."""
    return ratio(concordant_pairs(t), t.n_pos * t.n_neg)


def _pairs(table: ScoreTable) -> float:
    """Number of pairs of a positive and a negative."""
    return float(table.n_pos * table.n_neg)


@_area(
    title="Mann-Whitney U",
    range=(0, INF),
    aliases=("mann_whitney", "mann_whitney_u", "wilcoxon_w"),
    count=True,
    stratified=False,
    area=lambda table: (_pairs(table), 0.0),
)
def u(t: ScoreTable) -> Array:
    """Number of concordant positive–negative pairs, ties counting half: AUC · P · N."""
    return np.where(t.n_pos * t.n_neg > 0, concordant_pairs(t), np.nan)


@_area(
    title="Rank sum of the positives",
    range=(0, INF),
    aliases=("wilcoxon_rank_sum", "sum_of_ranks", "r1"),
    count=True,
    stratified=False,
    area=lambda table: (_pairs(table), float(table.n_pos * (table.n_pos + 1) / 2)),
)
def rank_sum(t: ScoreTable) -> Array:
    """Sum of the ranks of the positives, lowest score first, with mean ranks for ties: U + P · (P + 1) / 2."""
    return np.where(t.n_pos * t.n_neg > 0, concordant_pairs(t) + t.n_pos * (t.n_pos + 1) / 2, np.nan)


@_area(title="Gini coefficient", range=(-1, 1), aliases=("somers_d", "accuracy_ratio"), area=(2, -1))
def gini(t: ScoreTable) -> Array:
    """Twice the area between the ROC curve and the diagonal: 2 · AUC − 1."""
    pairs = t.n_pos * t.n_neg
    return ratio(2 * concordant_pairs(t) - pairs, pairs)  # twice the AUC minus 1 would lose digits near 0


@_on_roc(
    title="Partial area under the ROC curve", range=(-INF, 1), aliases=("partial_auc", "pauroc"), shorthands=_CORRECTED
)
def pauc(
    t: ScoreTable,
    *,
    fpr_low: Annotated[float | None, "lower end of a range of FPR"] = None,
    fpr_high: Annotated[float | None, "upper end of a range of FPR; 0.1 if no end is given"] = None,
    tpr_low: Annotated[float | None, "lower end of a range of TPR, instead of FPR"] = None,
    tpr_high: Annotated[float | None, "upper end of a range of TPR, instead of FPR"] = None,
    corrected: Annotated[bool, "standardised (McClish 1989): 0.5 for chance and 1 for perfect"] = False,
) -> Array:
    """Partial area over a range of FPR (by default 0 to 0.1) or of TPR: ∫ TPR dFPR or ∫ TNR dTPR.

    `corrected` is McClish's (1989) standardisation, with 0.5 for chance and 1 for perfect.
    """
    if fpr_low is fpr_high is tpr_low is tpr_high is None:
        fpr_high = 0.1
    c = t.sweep
    return partial_area(ratio(c.fp, c.n), ratio(c.tp, c.p), fpr_low, fpr_high, tpr_low, tpr_high, corrected)


@_on_roc(
    title="Area under the ROC convex hull",
    range=(0.5, 1),
    aliases=("auc_hull", "rocch_auc"),
    interval="bias-corrected-hull",
    biased="too high in small samples: the hull is fitted to the same cases",
    bounds=bounds_by_hull,
)
def auch(t: ScoreTable) -> Array:
    """AUC after the best monotone recalibration: area under the convex hull of the ROC curve."""
    edges = edges_of(t)
    above = np.cumsum(edges.pos) - edges.pos / 2
    above -= _before(edges.owner, edges.pos)
    return ratio(edges.added(edges.neg * above, t), t.n_pos * t.n_neg)


def _ks_bounds(formula: Formula, t: ScoreTable) -> list[Array]:
    """The gap is known at the edges of bins; inside a bin it is widest if one class comes before the other."""
    return [formula(t), *(formula(t.ordered(best)) for best in (True, False))]


@_on_roc(
    title="Kolmogorov-Smirnov distance",
    aliases=("kolmogorov_smirnov", "ks_statistic"),
    interval="bias-corrected",
    biased="too high in small samples: it is the largest of many gaps",
    coverage_note=_OF_GROUPS,
    bounds=_ks_bounds,
)
def ks(t: ScoreTable) -> Array:
    """Largest gap between the score distributions of the classes: max |TPR − FPR|."""
    c = t.sweep
    gap = ratio(c.tp, c.p)
    gap -= ratio(c.fp, c.n)
    return np.maximum(gap.max(axis=-1), -gap.min(axis=-1)) + 0.0  # 0, not −0


def _ap_bounds(formula: Formula, t: ScoreTable) -> list[Array]:
    """Best: the positives of a bin tie at its top. Worst: they follow all negatives, in the limit of many cases.

    In the worst case precision is a concave function of TP, so its mean is at least that of the chord.
    """
    c, loose = t.sweep, t.binned.is_mixed
    before, after, fp = c.tp[:-1], c.tp[1:], c.fp[1:]
    first = np.where(fp > 0, ratio(before, before + fp), 1.0)
    last = ratio(after, after + fp)
    worst = np.where(t.pos > 0, t.pos * np.where(loose, (first + last) / 2, last), 0.0)
    return [ratio(worst.sum(), t.n_pos), formula(t.ordered(best=True))]


@_precision(title="Average precision", aliases=("average_precision", "average_precision_score"), bounds=_ap_bounds)
def ap(t: ScoreTable) -> Array:
    """Precision at each score, averaged over the positives there: Σ (R_k − R_{k−1}) · PPV_k."""
    c = t.sweep
    gained = np.diff(c.tp, axis=-1)
    precision = ratio(c.tp, c.pp)[..., 1:]
    return ratio(np.where(gained > 0, gained * precision, 0.0).sum(axis=-1), c.p[..., -1])


@_precision(
    title="Area under the precision-recall curve",
    aliases=("pr_auc", "aupr", "auc_pr", "prc_area", "area_under_pr"),
    bounds=bounds_by_order,
)
def auprc(t: ScoreTable) -> Array:
    """Area under the exactly interpolated precision-recall curve: ∫ PPV dTPR (Davis & Goadrich 2006)."""
    return pr_area(t.sweep)


@_at_rate(title="TPR at a fixed FPR", aliases=("tpr_at_fpr", "sensitivity_at", "recall_at"), shorthands=_AT_TNR)
def tpr_at(t: ScoreTable, *, fpr: Annotated[float, "the false positive rate"] = 0.1) -> Array:
    """True positive rate at a given false positive rate on the ROC curve: TPR(FPR = x)."""
    _check_rate("fpr", fpr)
    c = t.sweep
    return value_at(ratio(c.fp, c.n), ratio(c.tp, c.p), fpr)


@_at_rate(
    title="FPR at a fixed TPR", best="low", aliases=("fpr_at_tpr", "false_alarms_at"), coverage_note=_AT_ONE_POINT
)
def fpr_at(t: ScoreTable, *, tpr: Annotated[float, "the true positive rate to be reached"] = 0.9) -> Array:
    """Lowest false positive rate at a given true positive rate on the ROC curve: FPR(TPR = y)."""
    _check_rate("tpr", tpr)
    c = t.sweep
    # The lowest FPR at this TPR is one minus the highest TNR at this FNR.
    return 1 - value_at(1 - ratio(c.tp, c.p)[..., ::-1], 1 - ratio(c.fp, c.n)[..., ::-1], 1 - tpr)


@_at_rate(title="TNR at a fixed TPR", aliases=("tnr_at_tpr", "specificity_at"))
def tnr_at(t: ScoreTable, *, tpr: Annotated[float, "the true positive rate to be reached"] = 0.9) -> Array:
    """Highest true negative rate at a given true positive rate on the ROC curve: 1 − FPR(TPR = y)."""
    return 1 - fpr_at(t, tpr=tpr)


def _check_rate(name: str, rate: float) -> None:
    if not 0 <= rate <= 1:
        raise MeasureError(f"{name}={rate:g} is not a rate.", hint="between 0 and 1")


@_of_pairs(
    title="H-measure",
    aliases=("h_measure", "hmeasure"),
    interval="bias-corrected",
    biased="too high in small samples: the best recalibration is fitted to the same cases",
    coverage_note=f"nearly uninformative scores: covers the true value in all samples; {_OF_GROUPS}",
    bounds=bounds_by_hull,
)
def h(
    t: ScoreTable,
    *,
    prior: Annotated[Literal["prevalence", "symmetric", "balanced"], "distribution of costs"] = "prevalence",
    severity_ratio: Annotated[
        float | None, "cost of a false positive relative to a false negative; replaces the prior"
    ] = None,
) -> Array:
    """Improvement over the better trivial rule, averaged over costs with a Beta prior: 1 − L / L_max (Hand 2009).

    c is the cost share of a false positive. `prior`: prevalence is Beta(2, 1 + π₀/π₁), with its mode at c = π₁;
    symmetric is Beta(2, 2); balanced is Beta(1 + π₁, 1 + π₀) (Hand & Anagnostopoulos 2014). `severity_ratio` r is
    Beta(2, 1 + 1/r).
    """
    pos_share = ratio(t.n_pos, t.total)
    neg_share = 1 - pos_share
    a, b = (np.broadcast_to(v, np.shape(pos_share)) for v in _cost_prior(prior, severity_ratio, pos_share))
    edges = edges_of(t)
    by_edge = (np.ravel(values)[edges.owner] for values in (t.n_pos, t.n_neg, pos_share, neg_share, a, b))
    n_pos, n_neg, p1, p0, edge_a, edge_b = by_edge
    fpr = ratio(np.cumsum(edges.neg) - _before(edges.owner, edges.neg), n_neg)
    tpr = ratio(np.cumsum(edges.pos) - _before(edges.owner, edges.pos), n_pos)
    # The vertex after an edge is optimal for costs from the next edge's share of positives up to that of this edge.
    upper = edges.pos / (edges.pos + edges.neg)
    last = np.append(edges.owner[1:] != edges.owner[:-1], True)
    of_neg, of_pos = _masses(upper, edge_a, edge_b)
    below_neg, below_pos = (np.where(last, 0.0, np.append(mass[1:], 0.0)) for mass in (of_neg, of_pos))
    loss = p0 * fpr * (of_neg - below_neg) + p1 * (1 - tpr) * (of_pos - below_pos)
    first = np.append(True, edges.owner[1:] != edges.owner[:-1])
    start = p1 * (ratio(edge_b, edge_a + edge_b) - of_pos) * first  # the vertex (0, 0)
    at_share = _masses(pos_share, a, b)
    worst = neg_share * at_share[0] + pos_share * (ratio(b, a + b) - at_share[1])
    return 1 - ratio(edges.added(loss + start, t), worst)


def _cost_prior(prior: str, severity_ratio: float | None, pos_share: Array) -> tuple[Array, Array]:
    if severity_ratio is not None:
        if not (severity_ratio > 0 and np.isfinite(severity_ratio)):
            raise MeasureError(f"severity_ratio={severity_ratio} is not a cost ratio.", hint="a number above 0")
        return np.asarray(2.0), np.asarray(1 + 1 / severity_ratio)
    if prior == "prevalence":
        return np.asarray(2.0), 1 + ratio(1 - pos_share, pos_share)
    if prior == "symmetric":
        return np.asarray(2.0), np.asarray(2.0)
    if prior == "balanced":
        return 1 + pos_share, 2 - pos_share
    raise MeasureError(f"prior={prior} is unknown.", seen=None, hint="prevalence, symmetric or balanced")


def _masses(x: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """∫ c dB and ∫ (1 − c) dB over costs c from 0 to x, with c distributed as Beta(a, b).

    For a = 2, the usual case, these are powers of 1 − x, which are faster than incomplete beta functions.
    """
    first, second = ratio(a, a + b), ratio(b, a + b)
    if np.all(a == 2):
        with np.errstate(invalid="ignore", over="ignore"):  # without cases of a class the prior is undefined
            rest = (1 - x) ** b
            high = 1 - rest * (1 + b * x + b * (b + 1) * x * x / 2)
            low = 1 - rest * (1 - x) * (1 + (b + 1) * x)
        return first * high, second * low
    return first * betainc(a + 1, b, x), second * betainc(a, b + 1, x)


def _before(owner: Array, values: Array) -> Array:
    """For each edge, the cumulative sum of values before its hull starts."""
    cumulative = np.concatenate([[0.0], np.cumsum(values)])
    starts = np.searchsorted(owner, owner, side="left")
    return cumulative[starts]


@measure(
    title="Area under the risk-coverage curve",
    range=(0, 1),
    best="low",
    undefined=NO_CASES,
    aliases=("risk_coverage_area", "rejection_area"),
    interval="log-t",
)
def aurc(
    t: ScoreTable, *, at: Annotated[float, "threshold of the decisions; not used for multiclass models"] = 0.5
) -> Array:
    """Mean error of the k most certain cases over all k (reject option): Σ_k errors_k / k / n.

    >>> from scorespace.tables import score_table
    >>> round(aurc(score_table([1, 0, 1, 0], [0.9, 0.8, 0.3, 0.1])), 4)
    0.2083
    """
    correct = np.where(t.score >= t.in_precision(at), t.pos, t.neg)
    return _risk_coverage_area(threshold_margins(t.score, at), t.pos + t.neg, correct)


@aurc.on
def _multiclass_aurc(t: ClassTable, *, at: float = 0.5) -> Array:
    return _risk_coverage_area(t.lead, t.case_weight, np.where(t.decided == t.label, t.case_weight, 0.0))


def _risk_coverage_area(margin: Array, cases: Array, correct: Array) -> Array:
    _, counts = merge_equal_scores(margin, np.stack([cases - correct, cases], axis=-2))
    return risk_area(counts[..., 0, :], counts[..., 1, :])
