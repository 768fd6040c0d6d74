"""Measures of ranking: how well the scores put positives above negatives."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import numpy as np

from scorespace.curves.hull import edges_of
from scorespace.curves.pr import pr_area
from scorespace.curves.roc import partial_area, value_at
from scorespace.errors import MeasureError
from scorespace.measures.measure import INF, NO_POSITIVES, NOT_SIMULATED, ONE_CLASS, Formula, by_hull, by_order, measure
from scorespace.special import betainc
from scorespace.tables import Array, ScoreTable, ratio

_OF_AREAS = (
    "near 1, and of few positives that spread little, it holds the truth in up to all samples; "
    "where a few positives lie far below all others in 90 %, "
    "where one or two weighted cases bear its spread in 86 to 90 %"
)
_OF_GROUPS = "of a hundred groups of cases, and where low scores weigh most, it holds the truth in 85 to 88 %"
_AT_ONE_POINT = "with 20 positives in 2 000 cases, and where low scores weigh most, it holds the truth in 86 to 90 %"

_AT_TNR = {"sensitivity_at_specificity": "tpr_at(fpr=0.1), where the specificity is 0.9"}
_CORRECTED = dict.fromkeys(
    ("mcclish", "standardised_partial_auc", "standardized_partial_auc", "max_fpr"),
    "pauc(fpr_high=0.1, corrected=true)",
)
_OF_PRECISION = "near 1 it holds the truth in 91 to 100 % of samples, where high scores weigh most in 85 %"

_of_pairs = partial(measure, range=(0, 1), best="high", undefined=ONE_CLASS, certain=by_order)
_on_roc = partial(_of_pairs, within_classes=True)
_area = partial(_on_roc, interval="area", covers=_OF_AREAS)
_precision = partial(
    measure, range=(0, 1), best="high", undefined=NO_POSITIVES, interval="precision-t", covers=_OF_PRECISION
)


def concordant_pairs(table: ScoreTable) -> Array:
    """Pairs of a positive and a negative in the right order, ties counting one half (Mann-Whitney U)."""
    pos, neg = table.columns
    floats = pos.dtype.kind == "f"
    # Positives scored at least as high; whole numbers are added sooner than floats, which wait for each other.
    above = np.cumsum(pos, axis=-1, dtype=np.float64 if floats else np.int64)
    pairs = _products(above, neg)
    if floats or np.logical_and(pos, neg).any():  # floats are sooner multiplied than looked at
        pairs = pairs - 0.5 * _products(pos, neg)
    return pairs


def _products(one: Array, other: Array) -> Array:
    """Σ one · other along the scores, as floats: of whole numbers it may be beyond all that are counted."""
    return np.asarray(np.einsum("...i,...i->...", one, other, dtype=np.float64, casting="unsafe"))


@_area(
    title="Area under the ROC curve",
    aliases=(
        *("roc_auc", "auroc", "area_under_curve", "c_statistic", "concordance", "roc_auc_score", "roc_area"),
        "probability_of_superiority",
    ),
    spelled=dict.fromkeys(("hand_till", "hand_and_till", "multiclass_auc", "mauc"), "auc[hand_till]"),
    area=(1, 0),
)
def auc(t: ScoreTable) -> Array:
    """Probability that a positive is scored above a negative, ties counting half: U / (P · N)."""
    return ratio(concordant_pairs(t), t.n_pos * t.n_neg)


@_of_pairs(
    title="Mann-Whitney U",
    range=(0, INF),
    aliases=("mann_whitney", "mann_whitney_u", "wilcoxon_w"),
    covers=NOT_SIMULATED,
)
def u(t: ScoreTable) -> Array:
    """Number of pairs of a positive and a negative in the right order, ties counting half: AUC · P · N."""
    return np.where(t.n_pos * t.n_neg > 0, concordant_pairs(t), np.nan)


@_of_pairs(
    title="Rank sum of the positives",
    range=(0, INF),
    aliases=("wilcoxon_rank_sum", "sum_of_ranks"),
    covers=NOT_SIMULATED,
)
def rank_sum(t: ScoreTable) -> Array:
    """Sum of the ranks of the positives, the lowest score first and ties sharing theirs: U + P · (P + 1) / 2."""
    return np.where(t.n_pos * t.n_neg > 0, concordant_pairs(t) + t.n_pos * (t.n_pos + 1) / 2, np.nan)


@_area(title="Gini coefficient", range=(-1, 1), aliases=("somers_d", "accuracy_ratio"), area=(2, -1))
def gini(t: ScoreTable) -> Array:
    """Twice the area between the ROC curve and the diagonal: 2 · AUC − 1."""
    return 2 * ratio(concordant_pairs(t), t.n_pos * t.n_neg) - 1


@_on_roc(
    title="Partial area under the ROC curve", range=(-INF, 1), aliases=("partial_auc", "pauroc"), spelled=_CORRECTED
)
def pauc(
    t: ScoreTable,
    *,
    fpr_low: Annotated[float | None, "lower end of a range of FPR"] = None,
    fpr_high: Annotated[float | None, "upper end of a range of FPR; 0.1 when no end is stated"] = None,
    tpr_low: Annotated[float | None, "lower end of a range of TPR, instead of FPR"] = None,
    tpr_high: Annotated[float | None, "upper end of a range of TPR, instead of FPR"] = None,
    corrected: Annotated[bool, "rescaled after McClish: 0.5 for chance and 1 for perfect"] = False,
) -> Array:
    """Area over a range of FPR (0 to 0.1 unless stated) or of TPR: ∫ TPR dFPR or ∫ TNR dTPR.

    `corrected` is McClish's rescaling, with 0.5 for chance and 1 for perfect.
    """
    if fpr_low is fpr_high is tpr_low is tpr_high is None:
        fpr_high = 0.1
    c = t.sweep
    return partial_area(ratio(c.fp, c.n), ratio(c.tp, c.p), fpr_low, fpr_high, tpr_low, tpr_high, corrected)


@_on_roc(
    title="Area under the ROC convex hull",
    range=(0.5, 1),
    aliases=("auc_hull", "rocch_auc"),
    interval="corrected-hull",
    biased="too high on small samples: the hull is fitted to the same cases",
    certain=by_hull,
)
def auch(t: ScoreTable) -> Array:
    """AUC of the scores after the best monotone recalibration: area under the hull of the ROC curve."""
    edges = edges_of(t)
    above = np.cumsum(edges.pos) - edges.pos / 2
    above -= _before(edges.owner, edges.pos)
    return ratio(edges.added(edges.neg * above, t), t.n_pos * t.n_neg)


def _certain_ks(formula: Formula, t: ScoreTable) -> list[Array]:
    """The gap is known at the edges of bins, and inside one it is widest when one class comes before the other."""
    return [formula(t), *(formula(t.ordered(best)) for best in (True, False))]


@_on_roc(
    title="Kolmogorov-Smirnov distance",
    aliases=("kolmogorov_smirnov", "ks_statistic"),
    interval="corrected",
    biased="too high on small samples: it is the largest of many gaps",
    covers=_OF_GROUPS,
    certain=_certain_ks,
)
def ks(t: ScoreTable) -> Array:
    """Largest gap between the score distributions of the classes: max |TPR − FPR|."""
    c = t.sweep
    gap = ratio(c.tp, c.p)
    gap -= ratio(c.fp, c.n)
    return np.maximum(gap.max(axis=-1), -gap.min(axis=-1)) + 0.0  # no gap is 0, not −0


def _certain_ap(formula: Formula, t: ScoreTable) -> list[Array]:
    """Best: the positives of a bin tie at its top. Worst: they come one by one after all others, infinitely many.

    Then their mean precision is that of a concave curve, which its chord bounds from below.
    """
    c, loose = t.sweep, t.binned.loose
    before, after, alarms = c.tp[:-1], c.tp[1:], c.fp[1:]
    first = np.where(alarms > 0, ratio(before, before + alarms), 1.0)
    last = ratio(after, after + alarms)
    worst = np.where(t.pos > 0, t.pos * np.where(loose, (first + last) / 2, last), 0.0)
    return [ratio(worst.sum(), t.n_pos), formula(t.ordered(best=True))]


@_precision(title="Average precision", aliases=("average_precision", "average_precision_score"), certain=_certain_ap)
def ap(t: ScoreTable) -> Array:
    """Precision at each score, averaged over the positives there: Σ (R_k − R_{k−1}) · PPV_k."""
    c = t.sweep
    gained = np.diff(c.tp, axis=-1)
    precision = ratio(c.tp, c.pp)[..., 1:]
    return ratio(np.where(gained > 0, gained * precision, 0.0).sum(axis=-1), c.p[..., -1])


@_precision(
    title="Area under the precision-recall curve",
    aliases=("pr_auc", "aupr", "auc_pr", "prc_area", "area_under_pr"),
    certain=by_order,
)
def auprc(t: ScoreTable) -> Array:
    """Area under the precision-recall curve, exact between points: ∫ PPV dTPR."""
    return pr_area(t.sweep)


@_on_roc(title="TPR at a fixed FPR", aliases=("tpr_at_fpr", "sensitivity_at", "recall_at"), spelled=_AT_TNR)
def tpr_at(t: ScoreTable, *, fpr: Annotated[float, "the false positive rate"] = 0.1) -> Array:
    """Share of positives found at a given false positive rate, on the ROC curve: TPR(FPR = x)."""
    _check_rate("fpr", fpr)
    c = t.sweep
    return value_at(ratio(c.fp, c.n), ratio(c.tp, c.p), fpr)


@_on_roc(title="FPR at a fixed TPR", best="low", aliases=("fpr_at_tpr", "false_alarms_at"), covers=_AT_ONE_POINT)
def fpr_at(t: ScoreTable, *, tpr: Annotated[float, "the true positive rate to be reached"] = 0.9) -> Array:
    """Share of negatives falsely alarmed where a given share of positives is found, on the ROC curve: FPR(TPR = y)."""
    _check_rate("tpr", tpr)
    c = t.sweep
    # Seen from the other end the lowest FPR with this TPR is the highest TNR with this FNR.
    return 1 - value_at(1 - ratio(c.tp, c.p)[..., ::-1], 1 - ratio(c.fp, c.n)[..., ::-1], 1 - tpr)


def _check_rate(name: str, rate: float) -> None:
    if not 0 <= rate <= 1:
        raise MeasureError(f"{name}={rate:g} is not a rate.", hint="between 0 and 1")


@_of_pairs(
    title="H-measure",
    aliases=("h_measure", "hmeasure"),
    interval="corrected",
    biased="too high on small samples: the best recalibration is fitted to the same cases",
    covers=f"of noise and little more it holds the truth in all samples; {_OF_GROUPS}",
    certain=by_hull,
)
def h(
    t: ScoreTable,
    *,
    prior: Annotated[Literal["prevalence", "symmetric", "balanced"], "which costs are likely"] = "prevalence",
    severity_ratio: Annotated[
        float | None, "how many times as much as a false negative a false positive costs; instead of a prior"
    ] = None,
) -> Array:
    """Gain over the better trivial rule, averaged over costs drawn from a Beta prior: 1 − L / L_max.

    c is the cost share of a false positive. `prior`: prevalence gives Beta(2, 1 + π₀/π₁), with its mode
    at c = π₁; symmetric gives Beta(2, 2); balanced gives Beta(1 + π₁, 1 + π₀), the recommendation of
    2014. `severity_ratio` r gives Beta(2, 1 + 1/r).
    """
    pos_share = ratio(t.n_pos, t.total)
    neg_share = 1 - pos_share
    a, b = (np.broadcast_to(v, np.shape(pos_share)) for v in _cost_prior(prior, severity_ratio, pos_share))
    edges = edges_of(t)
    each = (np.ravel(v)[edges.owner] for v in (t.n_pos, t.n_neg, pos_share, neg_share, a, b))
    n_pos, n_neg, p1, p0, edge_a, edge_b = each
    fpr = ratio(np.cumsum(edges.neg) - _before(edges.owner, edges.neg), n_neg)
    tpr = ratio(np.cumsum(edges.pos) - _before(edges.owner, edges.pos), n_pos)
    # The corner after an edge is best for costs from the next edge's share of positives up to its own.
    upper = edges.pos / (edges.pos + edges.neg)
    last = np.append(edges.owner[1:] != edges.owner[:-1], True)
    of_neg, of_pos = _masses(upper, edge_a, edge_b)
    below_neg, below_pos = (np.where(last, 0.0, np.append(mass[1:], 0.0)) for mass in (of_neg, of_pos))
    loss = p0 * fpr * (of_neg - below_neg) + p1 * (1 - tpr) * (of_pos - below_pos)
    first = np.append(True, edges.owner[1:] != edges.owner[:-1])
    start = p1 * (ratio(edge_b, edge_a + edge_b) - of_pos) * first  # the corner (0, 0)
    at_share = _masses(pos_share, a, b)
    worst = neg_share * at_share[0] + pos_share * (ratio(b, a + b) - at_share[1])
    return 1 - ratio(edges.added(loss + start, t), worst)


def _cost_prior(prior: str, severity_ratio: float | None, pos_share: Array) -> tuple[Array, Array]:
    if severity_ratio is not None:
        if not (severity_ratio > 0 and np.isfinite(severity_ratio)):
            raise MeasureError(f"severity_ratio={severity_ratio} is not a ratio of costs.", hint="a number above 0")
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

    For a = 2, as usual, these are powers of 1 − x, which are several times quicker than incomplete beta functions.
    """
    first, second = ratio(a, a + b), ratio(b, a + b)
    if np.all(a == 2):
        with np.errstate(invalid="ignore", over="ignore"):  # a class without cases has no prior
            rest = (1 - x) ** b
            high = 1 - rest * (1 + b * x + b * (b + 1) * x * x / 2)
            low = 1 - rest * (1 - x) * (1 + (b + 1) * x)
        return first * high, second * low
    return first * betainc(a + 1, b, x), second * betainc(a, b + 1, x)


def _before(owner: Array, values: Array) -> Array:
    """For each edge, the running sum of values up to where its hull begins."""
    running = np.concatenate([[0.0], np.cumsum(values)])
    starts = np.searchsorted(owner, owner, side="left")
    return running[starts]
