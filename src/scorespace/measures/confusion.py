"""Measures of decisions: everything that follows from the four outcomes."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from scorespace.errors import MeasureError
from scorespace.measures.measure import measure
from scorespace.tables import Array, ConfusionTable, Counts, ratio
from scorespace.tables.labels import distances

KappaWeights = Annotated[
    Literal["none", "linear", "quadratic"], "of classes in order: by how many classes a decision is off, or its square"
]
_INF = float("inf")
_NO_POSITIVES = "there are no positive cases"
_NO_NEGATIVES = "there are no negative cases"
_ONE_CLASS = "a class has no cases"
_NOTHING_POSITIVE = "nothing is predicted positive"
_NOTHING_NEGATIVE = "nothing is predicted negative"
_NO_CASES = "there are no cases"


@measure(
    title="True positives", range=(0, _INF), best="high", undefined=_NO_CASES, aliases=("true_positives", "hits", "hit")
)
def tp(c: Counts) -> Array:
    """Positives predicted positive: TP."""
    return c.tp


@measure(
    title="False positives",
    range=(0, _INF),
    best="low",
    undefined=_NO_CASES,
    aliases=(
        *("false_positives", "false_alarms", "false_alarm", "type_1_errors", "type_1_error", "type_I_error"),
        "overestimation",
    ),
)
def fp(c: Counts) -> Array:
    """Negatives predicted positive: FP."""
    return c.fp


@measure(
    title="False negatives",
    range=(0, _INF),
    best="low",
    undefined=_NO_CASES,
    aliases=(
        *("false_negatives", "misses", "miss", "type_2_errors", "type_2_error", "type_II_error"),
        "underestimation",
    ),
)
def fn(c: Counts) -> Array:
    """Positives predicted negative: FN."""
    return c.fn


@measure(
    title="True negatives",
    range=(0, _INF),
    best="high",
    undefined=_NO_CASES,
    aliases=("true_negatives", "correct_rejections", "correct_rejection"),
)
def tn(c: Counts) -> Array:
    """Negatives predicted negative: TN."""
    return c.tn


@measure(title="Positives", range=(0, _INF), best=None, undefined=_NO_CASES, aliases=("positives", "actual_positives"))
def p(c: Counts) -> Array:
    """Cases that are positive: P = TP + FN."""
    return c.p


@measure(title="Negatives", range=(0, _INF), best=None, undefined=_NO_CASES, aliases=("negatives", "actual_negatives"))
def n(c: Counts) -> Array:
    """Cases that are negative: N = FP + TN."""
    return c.n


@measure(
    title="Predicted positives",
    range=(0, _INF),
    best=None,
    undefined=_NO_CASES,
    aliases=("predicted_positives", "alarms", "alerts"),
)
def pp(c: Counts) -> Array:
    """Cases predicted positive: PP = TP + FP."""
    return c.pp


@measure(title="Predicted negatives", range=(0, _INF), best=None, undefined=_NO_CASES, aliases=("predicted_negatives",))
def pn(c: Counts) -> Array:
    """Cases predicted negative: PN = FN + TN."""
    return c.pn


@measure(title="Accuracy", range=(0, 1), best="high", undefined=_NO_CASES, trials="total", aliases=("accuracy",))
def acc(c: Counts) -> Array:
    """Share of cases predicted right: (TP + TN) / all."""
    return ratio(c.tp + c.tn, c.total)


@acc.on
def _acc_of_classes(t: ConfusionTable) -> Array:
    return ratio(np.trace(t.matrix, axis1=-2, axis2=-1), t.total)


@measure(
    title="Error rate",
    range=(0, 1),
    best="low",
    undefined=_NO_CASES,
    trials="total",
    aliases=("error", "error_rate", "misclassification_rate", "zero_one_loss"),
)
def err(c: Counts) -> Array:
    """Share of cases predicted wrong: (FP + FN) / all."""
    return ratio(c.fp + c.fn, c.total)


@err.on
def _err_of_classes(t: ConfusionTable) -> Array:
    return 1 - _acc_of_classes(t)


@measure(
    title="True positive rate",
    range=(0, 1),
    best="high",
    undefined=_NO_POSITIVES,
    trials="p",
    aliases=(
        *("recall", "sensitivity", "sens", "sen", "hit_rate", "power", "true_positive_rate", "tp_rate", "rec"),
        *("probability_of_detection", "pod"),
    ),
    within_classes=True,
    covers="near 0 and 1 it holds the truth in 85 to 100 % of samples, as counts come in steps",
)
def tpr(c: Counts) -> Array:
    """Share of positives that are found: TP / (TP + FN)."""
    return ratio(c.tp, c.p)


@measure(
    title="False positive rate",
    range=(0, 1),
    best="low",
    undefined=_NO_NEGATIVES,
    trials="n",
    aliases=(
        *("fallout", "fall_out", "false_positive_rate", "fp_rate", "false_alarm_rate", "type_1_error_rate"),
        *("type_I_error_rate", "probability_of_false_alarm", "pfa", "probability_of_false_detection", "pofd"),
    ),
    within_classes=True,
)
def fpr(c: Counts) -> Array:
    """Share of negatives that raise a false alarm: FP / (FP + TN)."""
    return ratio(c.fp, c.n)


@measure(
    title="True negative rate",
    range=(0, 1),
    best="high",
    undefined=_NO_NEGATIVES,
    trials="n",
    aliases=("specificity", "spec", "spc", "selectivity", "true_negative_rate", "tn_rate"),
    within_classes=True,
)
def tnr(c: Counts) -> Array:
    """Share of negatives that are left alone: TN / (FP + TN)."""
    return ratio(c.tn, c.n)


@measure(
    title="False negative rate",
    range=(0, 1),
    best="low",
    undefined=_NO_POSITIVES,
    trials="p",
    aliases=("miss_rate", "false_negative_rate", "fn_rate", "type_2_error_rate", "type_II_error_rate"),
    within_classes=True,
)
def fnr(c: Counts) -> Array:
    """Share of positives that are missed: FN / (TP + FN)."""
    return ratio(c.fn, c.p)


@measure(
    title="Positive predictive value",
    range=(0, 1),
    best="high",
    undefined=_NOTHING_POSITIVE,
    trials="pp",
    aliases=("precision", "prec", "positive_predictive_value"),
)
def ppv(c: Counts) -> Array:
    """Share of predicted positives that are positive: TP / (TP + FP)."""
    return ratio(c.tp, c.pp)


@measure(
    title="Negative predictive value",
    range=(0, 1),
    best="high",
    undefined=_NOTHING_NEGATIVE,
    trials="pn",
    aliases=("negative_predictive_value",),
)
def npv(c: Counts) -> Array:
    """Share of predicted negatives that are negative: TN / (FN + TN)."""
    return ratio(c.tn, c.pn)


@measure(
    title="False discovery rate",
    range=(0, 1),
    best="low",
    undefined=_NOTHING_POSITIVE,
    trials="pp",
    aliases=("false_discovery_rate", "pcfall"),
)
def fdr(c: Counts) -> Array:
    """Share of predicted positives that are negative: FP / (TP + FP)."""
    return ratio(c.fp, c.pp)


@measure(
    title="False omission rate",
    range=(0, 1),
    best="low",
    undefined=_NOTHING_NEGATIVE,
    trials="pn",
    aliases=("false_omission_rate", "for", "pcmiss"),
)
def fomr(c: Counts) -> Array:
    """Share of predicted negatives that are positive: FN / (FN + TN)."""
    return ratio(c.fn, c.pn)


@measure(
    title="F1",
    range=(0, 1),
    best="high",
    undefined="there are neither positives nor predicted positives",
    aliases=("f_score", "f_measure", "f1_score", "dice"),
    trials="union",
    share=(lambda f: f / (2 - f), lambda j: 2 * j / (1 + j)),
    covers="near 0 in 85 % of samples, as counts come in steps; f1[macro] with 15 cases of a class in 86 to 92 %",
)
def f1(c: Counts) -> Array:
    """Harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN)."""
    return ratio(2 * c.tp, 2 * c.tp + c.fp + c.fn)


@measure(
    title="F-beta",
    range=(0, 1),
    best="high",
    undefined="there are neither positives nor predicted positives",
    aliases=("f_beta", "fbeta_score"),
)
def fbeta(c: Counts, *, beta: Annotated[float, "how many times as much recall counts as precision"] = 1.0) -> Array:
    """Mean of precision and recall, recall beta times as important: (1+β²) TP / ((1+β²) TP + FP + β² FN)."""
    if not (beta >= 0 and np.isfinite(beta)):
        raise MeasureError(f"beta={beta} is not a weight of recall.", hint="a number ≥ 0, such as beta=2")
    b = min(beta, 1e100) ** 2  # from there on nothing is left of precision, and larger squares are no numbers
    return ratio((1 + b) * c.tp, (1 + b) * c.tp + c.fp + b * c.fn)


@measure(
    title="Fowlkes-Mallows index",
    range=(0, 1),
    best="high",
    undefined=f"{_NO_POSITIVES}, or {_NOTHING_POSITIVE}",
    aliases=("fowlkes_mallows",),
)
def fm(c: Counts) -> Array:
    """Geometric mean of precision and recall: √(PPV · TPR)."""
    return np.sqrt(ratio(c.tp, c.pp) * ratio(c.tp, c.p))


@measure(
    title="Balanced accuracy",
    range=(0, 1),
    best="high",
    undefined=_ONE_CLASS,
    aliases=("balanced_accuracy", "macro_accuracy", "bal_accuracy"),
    within_classes=True,
    covers="with 15 cases of the rarest of three classes it holds the truth in 86 to 91 % of samples",
)
def bacc(c: Counts) -> Array:
    """Mean of the two classes' accuracies: (TPR + TNR) / 2."""
    return (ratio(c.tp, c.p) + ratio(c.tn, c.n)) / 2


@bacc.on
def _bacc_of_classes(t: ConfusionTable) -> Array:
    # As tpr[macro] does: a class that is decided but never occurs has no accuracy to average. Two must occur.
    found = ratio(np.diagonal(t.matrix, axis1=-2, axis2=-1), t.class_totals)
    present = (t.class_totals > 0).sum(axis=-1)
    return ratio(np.where(t.class_totals > 0, found, 0.0).sum(axis=-1), np.where(present > 1, present, np.nan))


@measure(
    title="Matthews correlation coefficient",
    range=(-1, 1),
    best="high",
    undefined="a row or column of the confusion table is empty",
    aliases=("matthews", "matthews_corrcoef", "phi"),
)
def mcc(c: Counts) -> Array:
    """Correlation of truth and decision: (TP·TN − FP·FN) / √(P · N · PP · PN)."""
    covariance = c.tp * c.tn - c.fp * c.fn
    # Roots of two products each, so paired that ±1 comes out exactly; clipped against the last rounding.
    agreeing, opposed = np.sqrt(c.p * c.pp) * np.sqrt(c.n * c.pn), np.sqrt(c.p * c.pn) * np.sqrt(c.n * c.pp)
    return np.clip(ratio(covariance, np.where(covariance < 0, opposed, agreeing)), -1, 1)


@mcc.on
def _mcc_of_classes(t: ConfusionTable) -> Array:
    # Σ over classes of products that stay small: differences of squared totals would cancel.
    c = t.one_vs_rest
    covariance = (c.tp * c.tn - c.fp * c.fn).sum(axis=-1)
    spread = np.sqrt((c.p * c.n).sum(axis=-1)) * np.sqrt((c.pp * c.pn).sum(axis=-1))
    return np.clip(ratio(covariance, spread), -1, 1)


@measure(
    title="Cohen's kappa",
    range=(-1, 1),
    best="high",
    undefined="truth and decision are the same single class",
    aliases=("cohen_kappa", "cohens_kappa"),
)
def kappa(c: Counts, *, weights: KappaWeights = "none") -> Array:
    """Agreement beyond chance: (accuracy − expected) / (1 − expected).

    Of classes in order, `weights` count how far apart two are: 1 − Σ w·n / Σ w·expected. Of two classes all are alike.
    """
    # The same without differences of squared totals, which would cancel: 2 (TP·TN − FP·FN) / (P·PN + N·PP).
    return ratio(2 * (c.tp * c.tn - c.fp * c.fn), c.p * c.pn + c.n * c.pp)


@kappa.on
def _kappa_of_classes(t: ConfusionTable, *, weights: KappaWeights = "none") -> Array:
    if weights != "none":
        apart = distances(t.classes, t.ordinal).astype(np.float64) ** (1 if weights == "linear" else 2)
        rows, columns = t.matrix.sum(axis=-1), t.matrix.sum(axis=-2)
        expected = np.einsum("...i,ij,...j->...", rows, apart, columns)
        return 1 - ratio((t.matrix * apart).sum(axis=(-2, -1)) * t.total, expected)
    c = t.one_vs_rest
    return ratio((c.tp * c.tn - c.fp * c.fn).sum(axis=-1), (c.p * c.pn).sum(axis=-1))


@measure(
    title="Youden's index",
    range=(-1, 1),
    best="high",
    undefined=_ONE_CLASS,
    aliases=("youden_j", "informedness", "bookmaker_informedness"),
    within_classes=True,
)
def youden(c: Counts) -> Array:
    """Height above the diagonal in ROC space: TPR − FPR."""
    return ratio(c.tp * c.n - c.fp * c.p, c.p * c.n)  # one division, so that equal values are equal floats


@measure(
    title="Markedness",
    range=(-1, 1),
    best="high",
    undefined="all cases are predicted the same",
    aliases=("delta_p",),
)
def markedness(c: Counts) -> Array:
    """How much a prediction tells about the truth: PPV + NPV − 1."""
    return ratio(c.tp, c.pp) + ratio(c.tn, c.pn) - 1


@measure(
    title="Positive likelihood ratio",
    range=(0, _INF),
    best="high",
    undefined=f"{_ONE_CLASS}, or {_NOTHING_POSITIVE}",
    infinite="there are no false positives",
    aliases=("plr", "positive_likelihood_ratio"),
    within_classes=True,
)
def lr_pos(c: Counts) -> Array:
    """Factor by which a positive prediction raises the odds: TPR / FPR."""
    return ratio(ratio(c.tp, c.p), ratio(c.fp, c.n))


@measure(
    title="Negative likelihood ratio",
    range=(0, _INF),
    best="low",
    undefined=f"{_ONE_CLASS}, or {_NOTHING_NEGATIVE}",
    infinite="there are no true negatives",
    aliases=("nlr", "negative_likelihood_ratio"),
    within_classes=True,
)
def lr_neg(c: Counts) -> Array:
    """Factor by which a negative prediction changes the odds: FNR / TNR."""
    return ratio(ratio(c.fn, c.p), ratio(c.tn, c.n))


@measure(
    title="Diagnostic odds ratio",
    range=(0, _INF),
    best="high",
    undefined="a row or column of the confusion table is empty",
    infinite="there are no false positives or no false negatives",
    aliases=("diagnostic_odds_ratio", "odds_ratio"),
    within_classes=True,
)
def dor(c: Counts) -> Array:
    """Odds of a positive prediction in positives over those in negatives: TP·TN / (FP·FN)."""
    return ratio(c.tp * c.tn, c.fp * c.fn)


@measure(
    title="Jaccard index",
    range=(0, 1),
    best="high",
    undefined="there are neither positives nor predicted positives",
    aliases=("csi", "threat_score", "critical_success_index", "iou"),
    trials="union",
)
def jaccard(c: Counts) -> Array:
    """Overlap of positives and predicted positives: TP / (TP + FP + FN)."""
    return ratio(c.tp, c.tp + c.fp + c.fn)


@measure(
    title="Geometric mean",
    range=(0, 1),
    best="high",
    undefined=_ONE_CLASS,
    aliases=("g_mean", "geometric_mean"),
    within_classes=True,
)
def gmean(c: Counts) -> Array:
    """Geometric mean of the two classes' accuracies: √(TPR · TNR)."""
    return np.sqrt(ratio(c.tp, c.p) * ratio(c.tn, c.n))


@measure(title="Prevalence", range=(0, 1), best=None, undefined=_NO_CASES, trials="total", aliases=("base_rate",))
def prevalence(c: Counts) -> Array:
    """Share of positives: (TP + FN) / all."""
    return ratio(c.p, c.total)


@measure(
    title="Predicted positive rate",
    range=(0, 1),
    best=None,
    undefined=_NO_CASES,
    trials="total",
    aliases=("rpp", "predicted_positive_rate", "alarm_rate"),
)
def pp_rate(c: Counts) -> Array:
    """Share of cases predicted positive: (TP + FP) / all."""
    return ratio(c.pp, c.total)


@measure(
    title="Lift",
    range=(0, _INF),
    best="high",
    undefined=f"{_NO_POSITIVES}, or {_NOTHING_POSITIVE}",
    aliases=("lift_value",),
)
def lift(c: Counts) -> Array:
    """How many times as many positives as a random choice finds: PPV / prevalence."""
    return ratio(ratio(c.tp, c.pp), ratio(c.p, c.total))
