"""Closed-form intervals: of proportions, of AUCs from their variance, and of mean multiclass losses in bins."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np
from scipy.special import ndtri, stdtrit

from scorespace.inference import interval_formulas
from scorespace.inference.auc_variance import delong_interval as delong
from scorespace.inference.auc_variance import delong_logit, delong_variance, weighted_variance
from scorespace.inference.calibration_null import as_counts
from scorespace.inference.interval import (
    Interval,
    IntervalRequest,
    clip_to_range,
    interval,
    is_auc_like,
    is_linear_in_auc,
    is_proportion,
    undefined_interval,
)
from scorespace.inference.proportion import clopper_pearson, normal_quantile, wilson
from scorespace.measures.average import MICRO, PAIR_AVERAGES, by_class, class_mean
from scorespace.measures.calibration import oe
from scorespace.measures.clusters import silhouette_influence, silhouette_rows
from scorespace.measures.multiclass_bins import has_losses, loss_error
from scorespace.measures.ranking import fpr_at, tnr_at, tpr_at
from scorespace.measures.request import Request
from scorespace.results import grouped
from scorespace.tables import ClassBins, ScoreTable, ratio
from scorespace.tables.clusters import ClusterTable


def _proportion_interval(
    plan: IntervalRequest, bounds: Callable[[float, float, float], tuple[float, float]], method: str
) -> Interval:
    measure, table = plan.request.measure, plan.request.table
    trials = table.effective(measure.trials or "")
    to_share, inverse = measure.share or (float, float)
    low, high = bounds(to_share(plan.value) * trials, trials, plan.level)
    return Interval(inverse(low), inverse(high), method)


@interval(
    "wilson",
    "Wilson's score interval of a proportion",
    suits=is_proportion,
    weighted=True,
    time_series_fallback="hac-wilson",
    unequal_weights_fallback="jeffreys",
)
def wilson_interval(plan: IntervalRequest) -> Interval:
    """Wilson's score interval (1927); for weighted cases with the effective sample size.

    The effective sample size is valid if weights are unrelated to outcomes; otherwise another method is the default.
    """
    return _proportion_interval(plan, wilson, "wilson")


@interval(
    "clopper-pearson",
    "exact interval of a proportion",
    suits=is_proportion,
    weighted=True,
    aliases=("clopper_pearson", "exact"),
)
def clopper_pearson_interval(plan: IntervalRequest) -> Interval:
    """Exact interval of Clopper and Pearson (1934)."""
    return _proportion_interval(plan, clopper_pearson, "clopper-pearson")


def _is_oe(request: Request) -> bool:
    return request.measure is oe and not request.averaged and not request.stated and not request.table.coarse


@interval("oe-score", "score interval of O:E with the residual variance", suits=_is_oe, declared=True)
def oe_interval(plan: IntervalRequest) -> Interval:
    """Roots θ of (O − θE)² = z² θ E v with v = n · var(y − oe · p) / O; for O = 0, v = Σ p (1 − p) / E.

    The usual limits exp(log oe ± z √((1 − O/n) / O)) are too wide, since the scores explain a part of the outcomes.
    Simulated coverage of miscalibrated scores, 100 to 1 000 cases, 400 samples each: 0.95 to 0.96.
    """
    table = plan.request.table.inside(ScoreTable)
    cases, p = table.pos + table.neg, table.score
    observed, expected, n_cases = float(table.n_pos), float(cases @ p), float(table.total)
    z = normal_quantile(plan.level)
    if n_cases < 2 or not expected > 0:
        return undefined_interval("there are too few cases")
    if observed == 0:
        return Interval(0.0, z**2 * float(cases @ (p * (1 - p))) / expected**2, "oe-score")
    fitted = plan.value * p
    squares = float(table.pos @ (1 - fitted) ** 2 + table.neg @ fitted**2)
    variance = n_cases * squares / (n_cases - 1) / observed
    middle = 2 * observed * expected + z**2 * expected * variance
    root = math.sqrt(middle**2 - (2 * observed * expected) ** 2)
    return Interval((middle - root) / (2 * expected**2), (middle + root) / (2 * expected**2), "oe-score")


def _is_on_roc(request: Request) -> bool:
    return request.measure in (tpr_at, fpr_at, tnr_at) and request.table.thresholded and not request.averaged


@interval(
    "wilson-eff",
    "Wilson's interval with the effective number of cases, for a rate at an estimated threshold",
    suits=_is_on_roc,
    declared=True,
    replicates=True,
    weighted=True,
)
def effective_wilson_interval(plan: IntervalRequest) -> Interval:
    """Wilson's interval of a rate at a fixed other rate, whose threshold is estimated on the other class.

    The effective number of cases n is that for which a proportion v has the variance V of the replicates within
    classes: v (1 − v) / V, at most the size of the class, with v shrunk by two successes and two failures. The
    quantile is Student's, with Satterthwaite's degrees of freedom. Wilson's interval at the threshold itself covers in
    68 to 85 % of samples with classes of equal size.
    """
    defined, remark = plan.replicates()
    table = plan.request.table.inside(ScoreTable)
    is_tpr = plan.request.measure is tpr_at
    size, other = _class_sizes(table)[:: 1 if is_tpr else -1]
    rate = plan.request.spec.arguments.get("fpr" if is_tpr else "tpr", 0.1 if is_tpr else 0.9)
    shrunk = (size * plan.value + 2) / (size + 4)
    steps = rate if is_tpr else 1 - rate
    counting = shrunk * (1 - shrunk) / size
    spread = max(float(defined.var()), counting)
    effective = min(size, shrunk * (1 - shrunk) / spread)
    own = counting / spread  # the rest of the variance rests on the few cases of the other class near the threshold
    freedom = 1 / (own**2 / max(1.0, size - 1) + (1 - own) ** 2 / max(2.0, 2 * other * steps))
    low, high = wilson(plan.value * effective, effective, plan.level, float(stdtrit(freedom, (1 + plan.level) / 2)))
    if other * steps < 1:
        side, name = ("negatives", "specificity") if is_tpr else ("positives", "sensitivity")
        stated = 1 - rate if is_tpr else rate
        remark = f"{grouped(other)} {side} are too few for a {name} of {stated:g}: the threshold is beyond all of them"
    return clip_to_range(plan, low, high, f"wilson-eff{plan.how}", remark)


def _class_sizes(table: ScoreTable) -> tuple[float, float]:
    """Effective number of positives and of negatives."""
    if table.squares is None:
        return float(table.n_pos), float(table.n_neg)
    of_positives = table.squares[table.positive].sum()
    sums = ((table.n_pos, of_positives), (table.n_neg, table.squares.sum() - of_positives))
    positives, negatives = (float(interval_formulas.effective_sample_size(*one)) for one in sums)
    return positives, negatives


@interval(
    "maximum-share", "bounds of the largest of several proportions", suits=is_proportion, declared=True, weighted=True
)
def maximum_share_interval(plan: IntervalRequest) -> Interval:
    """Wilson's upper limit, and the exact lower limit with a Bonferroni correction for the number of classes.

    The largest observed share exceeds the largest true one where several are similar: with 20 equal classes and 100
    cases, Wilson's interval has a coverage of only one half.
    """
    n_classes = max(2, len(plan.request.table.class_names))
    low = _proportion_interval(
        replace(plan, level=1 - (1 - plan.level) / n_classes), clopper_pearson, "maximum-share"
    ).low
    return Interval(max(low, 1 / n_classes), _proportion_interval(plan, wilson, "maximum-share").high, "maximum-share")


def _auc_interval(
    plan: IntervalRequest, bounds: Callable[[ScoreTable, float], tuple[float, float]], method: str
) -> Interval:
    table = plan.request.table.inside(ScoreTable)
    slope, intercept = plan.request.measure.in_auc(table)
    low, high = bounds(table, plan.level)
    if math.isnan(low):
        is_small = math.isnan(delong_variance(table))
        why = "a class has fewer than two cases" if is_small else "the logit of an AUC of 0 or 1 is infinite"
        why = why if table.cell_squares is None else "cases have weights"
        return Interval(low, high, None, f"no {'DeLong' if method == 'delong' else 'DeLong-logit'} interval: {why}")
    return Interval(slope * low + intercept, slope * high + intercept, method)


@interval("delong", "DeLong's interval of an AUC", suits=is_linear_in_auc)
def delong_interval(plan: IntervalRequest) -> Interval:
    """DeLong's interval (1988), clipped to the range."""
    return _auc_interval(plan, delong, "delong")


@interval("delong-logit", "DeLong's interval on the logit scale", suits=is_linear_in_auc, aliases=("delong_logit",))
def delong_logit_interval(plan: IntervalRequest) -> Interval:
    """DeLong's interval on the logit scale."""
    return _auc_interval(plan, delong_logit, "delong-logit")


@interval("newcombe", "Newcombe's score interval of an AUC, for few cases", suits=is_linear_in_auc)
def newcombe_interval(plan: IntervalRequest) -> Interval:
    """Newcombe's interval (2006) with at least DeLong's variance: it has positive width also at 0 and 1."""
    table = plan.request.table.inside(ScoreTable)
    slope, intercept = plan.request.measure.in_auc(table)
    area = (plan.value - intercept) / slope
    sizes = float(table.n_pos), float(table.n_neg)
    low, high = interval_formulas.newcombe_auc(area, *sizes, plan.level, variance=delong_variance(table))
    return Interval(slope * low + intercept, slope * high + intercept, "newcombe")


@interval(
    "delong-newcombe", "DeLong's interval of an AUC; Newcombe's for few cases", suits=is_linear_in_auc, weighted=True
)
def delong_newcombe_interval(plan: IntervalRequest) -> Interval:
    """DeLong's interval if the rarer class size times min(A, 1 − A) is at least ten, else Newcombe's.

    For weighted cases, both use the effective sample size of each class, and Student's t with Satterthwaite degrees of
    freedom.
    """
    table = plan.request.table.inside(ScoreTable)
    slope, intercept = plan.request.measure.in_auc(table)
    area = (plan.value - intercept) / slope
    counted_once = as_counts(table)
    if counted_once is not None:
        is_reliable = interval_formulas.is_delong_reliable(area, float(counted_once.n_pos), float(counted_once.n_neg))
        unweighted = replace(plan, request=replace(plan.request, table=counted_once))
        return (delong_interval if is_reliable else newcombe_interval).function(unweighted)
    weighted = weighted_variance(table)
    if interval_formulas.is_delong_reliable(area, *weighted.sizes):
        half = math.sqrt(weighted.variance) * float(interval_formulas.student_quantile(plan.level, weighted.df_cases))
        low, high, method = max(0.0, area - half), min(1.0, area + half), "weighted delong"
    else:
        low, high = interval_formulas.newcombe_auc(
            area, *weighted.sizes, plan.level, variance=weighted.variance, df_cases=weighted.df_cases
        )
        method = "weighted newcombe"
    return Interval(slope * low + intercept, slope * high + intercept, method)


def _is_binned_auc_average(request: Request) -> bool:
    is_average = request.averaged and request.spec.of != MICRO
    return is_average and is_auc_like(request) and request.table.reason_not_resampled(request.table) is not None


@interval(
    "delong-mean",
    "DeLong's errors of multiclass AUCs, assuming perfect correlation",
    suits=_is_binned_auc_average,
    general=True,
)
def binned_auc_interval(plan: IntervalRequest) -> Interval:
    """Mean of the standard errors of the classes or pairs of classes: an upper bound for the error of their mean.

    Correlations between classes are unknown for binned scores, so perfect correlation is assumed. Where classes are
    weighted by size, the multinomial error of the sizes is added by the delta method.
    """
    table, average = cast(ClassBins, plan.request.table), str(plan.request.spec.of)
    size, totals = len(table.classes), table.class_totals.astype(np.float64)
    if average in PAIR_AVERAGES:
        errors, areas = np.full((size, size), np.nan), table.pair_areas()
        for i, j, class_table in table.pairwise(ScoreTable):
            errors[i, j] = math.sqrt(delong_variance(class_table))
    else:
        errors = np.array([math.sqrt(delong_variance(class_table)) for class_table in table.each(ScoreTable)])
        areas = by_class(plan.request.measure, table)
    steps = totals + np.eye(size) * totals * 1e-4
    slopes = np.array([float(class_mean(areas, class_sizes, average)) for class_sizes in steps]) - float(
        class_mean(areas, totals, average)
    )
    mix_error = math.sqrt(float(ratio(slopes**2, totals).sum())) / 1e-4
    half = normal_quantile(plan.level) * (float(class_mean(errors, totals, average)) + mix_error)
    if math.isnan(half):
        return undefined_interval("classes have fewer than two cases")
    return clip_to_range(plan, plan.value - half, plan.value + half, "delong, at most")


def _is_binned_loss(request: Request) -> bool:
    return (
        not request.averaged
        and request.table.reason_not_resampled(request.table) is not None
        and has_losses(request.measure)
    )


@interval("loss-variance", "standard error of a mean loss over classes", suits=_is_binned_loss)
def binned_loss_interval(plan: IntervalRequest) -> Interval:
    """Value · exp(± z · se / value), with the standard error of the mean loss per case, or its upper bound."""
    table = cast(ClassBins, plan.request.table)
    error, known = loss_error(plan.request.measure, table, **dict(plan.request.spec.options))
    if not (plan.value > 0 and math.isfinite(error)):
        return undefined_interval("the losses of cases do not vary, or are infinite")
    factor = math.exp(normal_quantile(plan.level) * error / plan.value)
    return clip_to_range(plan, plan.value / factor, plan.value * factor, "log" if known else "log, at most")


def _uses_extremes(request: Request) -> bool:
    """Whether the measure depends on extreme points only, rather than on a mean."""
    return dict(request.spec.options).get("how", "max") == "max"


@interval(
    "border-points",
    "no interval: the index depends on extreme points only",
    suits=_uses_extremes,
    declared=True,
    weighted=True,
    instead="border-points",
)
def border_points_interval(plan: IntervalRequest) -> Interval:
    """No interval: resampling never draws points beyond the observed extremes."""
    return undefined_interval("the index depends on extreme points only, and resampling never draws points beyond them")


@interval(
    "influence",
    "normal interval by the influence of each point",
    declared=True,
    weighted=True,
    instead="influence",
)
def influence_interval(plan: IntervalRequest) -> Interval:
    """v ± z √(Σ U²) / n: U is the influence of a point on the mean, by its own silhouette and those of all others.

    Where silhouettes of a sample of points represent all, the sampling error is added. The influences of the points of
    one group are summed.
    """
    table = plan.request.table.inside(ClusterTable, plan.request.spec.of)
    if table.weight.ndim > 1 or (table.weight > 0).sum() < 3:
        return undefined_interval("fewer than three points")
    rows = silhouette_rows(table, int(dict(plan.request.spec.options).get("points", 4000)))
    values, effects, represented = silhouette_influence(table, rows)
    in_focus = np.ones(rows.size, dtype=bool) if table.focus is None else table.label[rows] == table.focus
    weight = table.weight[rows]
    total = float((weight * represented)[in_focus].sum())
    influence = weight * (np.where(in_focus, values - plan.value, 0.0) + effects) / total
    if table.group is None:
        variance = float((represented * influence**2).sum())
    else:
        group_influence = np.bincount(table.group[rows], represented * influence)
        groups = np.unique(table.group).size
        variance = float((group_influence**2).sum()) * groups / max(1, groups - 1)
    if rows.size < table.label.size:
        label, sampled_values = table.label[rows[in_focus]], values[in_focus]
        n_sampled = np.maximum(1, np.bincount(label))
        spread = (
            np.bincount(label, sampled_values**2) / n_sampled - (np.bincount(label, sampled_values) / n_sampled) ** 2
        )
        size = np.bincount(table.label, minlength=n_sampled.size)[: n_sampled.size]
        variance += (
            float((size**2 / n_sampled * np.maximum(0.0, 1 - n_sampled / np.maximum(size, 1)) * spread).sum())
            / total**2
        )
    half_width = ndtri((1 + plan.level) / 2) * math.sqrt(variance)
    how = "influence" + (" of groups" if table.group is not None else "")
    return Interval(max(-1.0, plan.value - half_width), min(1.0, plan.value + half_width), how)
