"""Measures of decisions: rates and summary measures of the four outcomes TP, FP, FN and TN."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import numpy as np

from scorespace.errors import MeasureError
from scorespace.measures.measure import INF, NO_CASES, NO_POSITIVES, measure
from scorespace.tables import Array, ConfusionTable, Counts, ratio
from scorespace.tables.labels import distances

KappaWeights = Annotated[
    Literal["none", "linear", "quadratic"],
    "for ordered classes: weight of a disagreement by its distance or its square",
]
_ONE_CLASS = "a class has no cases"
_NOTHING_POSITIVE = "nothing is predicted positive"
_NOTHING_NEGATIVE = "nothing is predicted negative"
_NO_UNION = "there are neither positives nor predicted positives"
_EMPTY_SIDE = "a row or column of the confusion table is empty"

_share = partial(measure, range=(0, 1))
_of_p = partial(_share, trials="p", undefined=NO_POSITIVES, stratified=True)
_of_n = partial(_share, trials="n", undefined="there are no negative cases", stratified=True)
_of_pp = partial(_share, trials="pp", undefined=_NOTHING_POSITIVE)
_of_pn = partial(_share, trials="pn", undefined=_NOTHING_NEGATIVE)
_of_total = partial(_share, trials="total", undefined=NO_CASES)
_of_union = partial(_share, trials="union", undefined=_NO_UNION)
_of_rates = partial(_share, best="high", undefined=_ONE_CLASS, stratified=True)
_odds = partial(_of_rates, range=(0, INF))
_correlation = partial(measure, range=(-1, 1), best="high")


@_of_total(
    title="Accuracy",
    best="high",
    aliases=("accuracy", "accuracy_score", "fraction_correct", "correct_classification_rate"),
)
def acc(c: Counts) -> Array:
    """Share of cases predicted correctly: (TP + TN) / n."""
    return ratio(c.tp + c.tn, c.total)


@acc.on
def _multiclass_acc(t: ConfusionTable) -> Array:
    return ratio(np.trace(t.matrix, axis1=-2, axis2=-1), t.total)


@_of_total(
    title="Error rate",
    best="low",
    aliases=(
        *("error", "error_rate", "misclassification_rate", "misclassification_error", "classification_error"),
        *("zero_one_loss", "hamming_loss"),
    ),
)
def err(c: Counts) -> Array:
    """Share of cases predicted wrongly: (FP + FN) / n."""
    return ratio(c.fp + c.fn, c.total)


@err.on
def _multiclass_err(t: ConfusionTable) -> Array:
    return 1 - _multiclass_acc(t)


@_of_p(
    title="True positive rate",
    best="high",
    aliases=(
        *("recall", "sensitivity", "sens", "sen", "hit_rate", "power", "true_positive_rate", "tp_rate", "rec"),
        *("probability_of_detection", "pod", "recall_score"),
    ),
    shorthands={"recall_at_k": "tpr@top10", "r_at_k": "tpr@top10"},
    coverage_note="near 0 and 1: covers in 85 to 100 % of samples (discrete counts)",
)
def tpr(c: Counts) -> Array:
    """Share of positives that are predicted positive (sensitivity, recall): TP / (TP + FN)."""
    return ratio(c.tp, c.p)


@_of_n(
    title="False positive rate",
    best="low",
    aliases=(
        *("fallout", "fall_out", "false_positive_rate", "fp_rate", "false_alarm_rate", "type_1_error_rate"),
        *("type_I_error_rate", "probability_of_false_alarm", "pfa", "probability_of_false_detection", "pofd"),
        *("false_acceptance_rate", "false_match_rate"),
    ),
)
def fpr(c: Counts) -> Array:
    """Share of negatives that are predicted positive: FP / (FP + TN)."""
    return ratio(c.fp, c.n)


@_of_n(
    title="True negative rate",
    best="high",
    aliases=(
        *("specificity", "spec", "spc", "selectivity", "true_negative_rate", "tn_rate", "correct_rejection_rate"),
        "inverse_recall",
    ),
)
def tnr(c: Counts) -> Array:
    """Share of negatives that are predicted negative (specificity): TN / (FP + TN)."""
    return ratio(c.tn, c.n)


@_of_p(
    title="False negative rate",
    best="low",
    aliases=(
        *("miss_rate", "false_negative_rate", "fn_rate", "type_2_error_rate", "type_II_error_rate"),
        *("false_rejection_rate", "false_non_match_rate"),
    ),
)
def fnr(c: Counts) -> Array:
    """Share of positives that are predicted negative: FN / (TP + FN)."""
    return ratio(c.fn, c.p)


@_of_pp(
    title="Positive predictive value",
    best="high",
    aliases=("precision", "prec", "positive_predictive_value", "precision_score", "success_ratio"),
    shorthands={"precision_at_k": "ppv@top10", "p_at_k": "ppv@top10"},
)
def ppv(c: Counts) -> Array:
    """Share of predicted positives that are positive: TP / (TP + FP)."""
    return ratio(c.tp, c.pp)


@_of_pn(title="Negative predictive value", best="high", aliases=("negative_predictive_value", "inverse_precision"))
def npv(c: Counts) -> Array:
    """Share of predicted negatives that are negative: TN / (FN + TN)."""
    return ratio(c.tn, c.pn)


@_of_pp(title="False discovery rate", best="low", aliases=("false_discovery_rate", "pcfall", "false_alarm_ratio"))
def fdr(c: Counts) -> Array:
    """Share of predicted positives that are negative: FP / (TP + FP)."""
    return ratio(c.fp, c.pp)


@_of_pn(title="False omission rate", best="low", aliases=("false_omission_rate", "for", "pcmiss"))
def fomr(c: Counts) -> Array:
    """Share of predicted negatives that are positive: FN / (FN + TN)."""
    return ratio(c.fn, c.pn)


@_of_union(
    title="F1",
    best="high",
    aliases=("f_score", "f_measure", "f1_score", "dice", "dice_score", "sorensen", "sorensen_dice"),
    share=(lambda f: f / (2 - f), lambda j: 2 * j / (1 + j)),
    coverage_note="near 0: covers in 85 % of samples (discrete counts); f1[macro], 15 cases of a class: 86 to 92 %",
)
def f1(c: Counts) -> Array:
    """Harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN)."""
    return ratio(2 * c.tp, 2 * c.tp + c.fp + c.fn)


@_share(
    title="F-beta",
    best="high",
    undefined=_NO_UNION,
    aliases=("f_beta", "fbeta_score"),
    shorthands={"f2": "fbeta(beta=2)", "f0.5": "fbeta(beta=0.5)"},
)
def fbeta(c: Counts, *, beta: Annotated[float, "weight of recall relative to precision"] = 1.0) -> Array:
    """Weighted harmonic mean of precision and recall: (1+β²) TP / ((1+β²) TP + FP + β² FN)."""
    if not (beta >= 0 and np.isfinite(beta)):
        raise MeasureError(f"beta={beta} is not a weight of recall.", hint="a number ≥ 0, such as beta=2")
    b = min(beta, 1e100) ** 2  # beyond this precision no longer matters, and the square would overflow
    return ratio((1 + b) * c.tp, (1 + b) * c.tp + c.fp + b * c.fn)


@_share(
    title="Fowlkes-Mallows index",
    best="high",
    undefined=f"{NO_POSITIVES}, or {_NOTHING_POSITIVE}",
    aliases=("fowlkes_mallows", "g_measure"),
)
def fm(c: Counts) -> Array:
    """Geometric mean of precision and recall: √(PPV · TPR)."""
    return np.sqrt(ratio(c.tp, c.pp) * ratio(c.tp, c.p))


@_of_rates(
    title="Balanced accuracy",
    aliases=(
        *("balanced_accuracy", "macro_accuracy", "bal_accuracy", "balanced_accuracy_score", "mean_class_accuracy"),
        *("average_per_class_accuracy", "balanced_classification_rate", "unweighted_average_recall", "uar"),
    ),
    coverage_note="15 cases of the rarest of three classes: covers in 86 to 91 % of samples",
)
def bacc(c: Counts) -> Array:
    """Mean of sensitivity and specificity: (TPR + TNR) / 2."""
    return (ratio(c.tp, c.p) + ratio(c.tn, c.n)) / 2


@bacc.on
def _multiclass_bacc(t: ConfusionTable) -> Array:
    # As in tpr[macro], classes that do not occur are omitted; at least two must occur.
    recall = ratio(np.diagonal(t.matrix, axis1=-2, axis2=-1), t.class_totals)
    present = (t.class_totals > 0).sum(axis=-1)
    return ratio(np.where(t.class_totals > 0, recall, 0.0).sum(axis=-1), np.where(present > 1, present, np.nan))


@_of_rates(
    title="Balanced error rate",
    best="low",
    aliases=("balanced_error_rate", "balanced_error", "half_total_error_rate", "hter"),
)
def ber(c: Counts) -> Array:
    """Mean of the two classes' error rates: (FNR + FPR) / 2."""
    return (ratio(c.fn, c.p) + ratio(c.fp, c.n)) / 2


@ber.on
def _multiclass_ber(t: ConfusionTable) -> Array:
    return 1 - _multiclass_bacc(t)


@_correlation(
    title="Matthews correlation coefficient",
    undefined=_EMPTY_SIDE,
    aliases=("matthews", "matthews_corrcoef", "phi", "phi_coefficient"),
)
def mcc(c: Counts) -> Array:
    """Correlation of truth and decision: (TP·TN − FP·FN) / √(P · N · PP · PN)."""
    covariance = c.tp * c.tn - c.fp * c.fn
    # Products of two square roots each, paired so that ±1 is exact; clipped because of rounding.
    agreement, disagreement = np.sqrt(c.p * c.pp) * np.sqrt(c.n * c.pn), np.sqrt(c.p * c.pn) * np.sqrt(c.n * c.pp)
    return np.clip(ratio(covariance, np.where(covariance < 0, disagreement, agreement)), -1, 1)


@mcc.on
def _multiclass_mcc(t: ConfusionTable) -> Array:
    # A sum over classes of small products, because differences of squared totals would cancel (Gorodkin 2004).
    c = t.one_vs_rest
    covariance = (c.tp * c.tn - c.fp * c.fn).sum(axis=-1)
    spread = np.sqrt((c.p * c.n).sum(axis=-1)) * np.sqrt((c.pp * c.pn).sum(axis=-1))
    return np.clip(ratio(covariance, spread), -1, 1)


@_correlation(
    title="Cohen's kappa",
    undefined="truth and decision are the same single class",
    aliases=("cohen_kappa", "cohens_kappa", "cohen_kappa_score", "heidke_skill_score", "heidke", "hss"),
    shorthands={
        **dict.fromkeys(("linear_kappa", "linear_weighted_kappa"), "kappa(weights=linear)"),
        **dict.fromkeys(("quadratic_kappa", "quadratic_weighted_kappa", "qwk"), "kappa(weights=quadratic)"),
    },
)
def kappa(c: Counts, *, weights: KappaWeights = "none") -> Array:
    """Agreement corrected for chance: (accuracy − expected) / (1 − expected) (Cohen 1960).

    For ordered classes, `weights` weight disagreements by distance: 1 − Σ w·n / Σ w·expected (Cohen 1968).
    """
    # 2 (TP·TN − FP·FN) / (P·PN + N·PP) is the same, without cancellation.
    return ratio(2 * (c.tp * c.tn - c.fp * c.fn), c.p * c.pn + c.n * c.pp)


@kappa.on
def _multiclass_kappa(t: ConfusionTable, *, weights: KappaWeights = "none") -> Array:
    if weights != "none":
        distance = distances(t.classes, t.ordinal).astype(np.float64) ** (1 if weights == "linear" else 2)
        rows, columns = t.matrix.sum(axis=-1), t.matrix.sum(axis=-2)
        expected = np.einsum("...i,ij,...j->...", rows, distance, columns)
        return 1 - ratio((t.matrix * distance).sum(axis=(-2, -1)) * t.total, expected)
    c = t.one_vs_rest
    return ratio((c.tp * c.tn - c.fp * c.fn).sum(axis=-1), (c.p * c.pn).sum(axis=-1))


@_of_rates(
    title="Youden's index",
    range=(-1, 1),
    aliases=(
        *("youden_j", "youden_index", "j_statistic", "informedness", "bookmaker_informedness", "delta_p_prime"),
        *("true_skill_statistic", "tss", "peirce_skill_score", "peirce", "hanssen_kuipers"),
    ),
    shorthands={"elbow": "best(measure=youden)"},
)
def youden(c: Counts) -> Array:
    """Sensitivity + specificity − 1, the height above the diagonal of ROC space: TPR − FPR (Youden 1950)."""
    return ratio(c.tp * c.n - c.fp * c.p, c.p * c.n)  # one division, so that equal values compare equal


@_correlation(title="Markedness", undefined="all cases are predicted the same", aliases=("delta_p", "deltap"))
def markedness(c: Counts) -> Array:
    """Information of a prediction about the truth: PPV + NPV − 1."""
    return ratio(c.tp, c.pp) + ratio(c.tn, c.pn) - 1


@_odds(
    title="Positive likelihood ratio",
    undefined=f"{_ONE_CLASS}, or {_NOTHING_POSITIVE}",
    infinite="there are no false positives",
    aliases=("plr", "positive_likelihood_ratio", "lr_plus"),
)
def lr_pos(c: Counts) -> Array:
    """Factor by which a positive prediction multiplies the odds of being positive: TPR / FPR."""
    return ratio(ratio(c.tp, c.p), ratio(c.fp, c.n))


@_odds(
    title="Negative likelihood ratio",
    best="low",
    undefined=f"{_ONE_CLASS}, or {_NOTHING_NEGATIVE}",
    infinite="there are no true negatives",
    aliases=("nlr", "negative_likelihood_ratio", "lr_minus"),
)
def lr_neg(c: Counts) -> Array:
    """Factor by which a negative prediction multiplies the odds of being positive: FNR / TNR."""
    return ratio(ratio(c.fn, c.p), ratio(c.tn, c.n))


@_odds(
    title="Diagnostic odds ratio",
    undefined=_EMPTY_SIDE,
    infinite="there are no false positives or no false negatives",
    aliases=("diagnostic_odds_ratio", "odds_ratio"),
)
def dor(c: Counts) -> Array:
    """Odds of a positive prediction among positives divided by those among negatives: TP·TN / (FP·FN)."""
    return ratio(c.tp * c.tn, c.fp * c.fn)


@_of_union(
    title="Jaccard index",
    best="high",
    aliases=("csi", "threat_score", "critical_success_index", "iou", "intersection_over_union", "tanimoto"),
)
def jaccard(c: Counts) -> Array:
    """Overlap of positives and predicted positives: TP / (TP + FP + FN)."""
    return ratio(c.tp, c.tp + c.fp + c.fn)


@_of_rates(title="Geometric mean", aliases=("g_mean", "geometric_mean"))
def gmean(c: Counts) -> Array:
    """Geometric mean of sensitivity and specificity: √(TPR · TNR)."""
    return np.sqrt(ratio(c.tp, c.p) * ratio(c.tn, c.n))


@_of_total(title="Prevalence", best=None, aliases=("base_rate", "event_rate"))
def prevalence(c: Counts) -> Array:
    """Share of positives: (TP + FN) / n."""
    return ratio(c.p, c.total)


@_of_total(
    title="No-information rate",
    best=None,
    interval="maximum-share",
    aliases=("no_information_rate", "majority_rate", "zero_r_accuracy"),
)
def nir(c: Counts) -> Array:
    """Accuracy of always predicting the most common class: max(P, N) / n."""
    return ratio(np.maximum(c.p, c.n), c.total)


@nir.on
def _multiclass_nir(t: ConfusionTable) -> Array:
    return ratio(t.class_totals.max(axis=-1), t.total)


@_of_rates(
    title="Prevalence threshold",
    best="low",
    undefined=f"{_ONE_CLASS}, or {_NOTHING_POSITIVE}",
    aliases=("prevalence_threshold",),
)
def pt(c: Counts) -> Array:
    """Prevalence below which precision drops steeply: √FPR / (√TPR + √FPR) (Balayla 2020)."""
    root_fpr = np.sqrt(ratio(c.fp, c.n))
    return ratio(root_fpr, np.sqrt(ratio(c.tp, c.p)) + root_fpr)


@_of_total(
    title="Predicted positive rate",
    best=None,
    aliases=("rpp", "predicted_positive_rate", "alarm_rate", "selection_rate", "detection_prevalence"),
)
def pp_rate(c: Counts) -> Array:
    """Share of cases predicted positive: (TP + FP) / n."""
    return ratio(c.pp, c.total)


@measure(
    title="Lift",
    range=(0, INF),
    best="high",
    undefined=f"{NO_POSITIVES}, or {_NOTHING_POSITIVE}",
    aliases=("lift_value",),
    shorthands={"top_decile_lift": "lift@top10%", "lift_at_k": "lift@top10"},
)
def lift(c: Counts) -> Array:
    """Precision relative to random selection: PPV / prevalence."""
    return ratio(ratio(c.tp, c.pp), ratio(c.p, c.total))
