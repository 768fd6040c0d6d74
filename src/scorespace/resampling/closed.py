"""Intervals in closed form: of shares, of areas by their variance, and of mean losses over classes in bins."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np

from scorespace.measures.average import MICRO, OVER_PAIRS, by_class, mean_of
from scorespace.measures.class_bins import has_losses, loss_error
from scorespace.measures.request import Request
from scorespace.resampling import limits
from scorespace.resampling.area import delong, delong_logit, delong_variance, weighted_variance
from scorespace.resampling.chance import counts_of
from scorespace.resampling.interval import Interval, Plan, counted, interval, like_an_area, none, of_area, within
from scorespace.resampling.share import clopper_pearson, normal_quantile, wilson
from scorespace.tables import ClassBins, ScoreTable, ratio


def _share(plan: Plan, bounds: Callable[[float, float, float], tuple[float, float]], method: str) -> Interval:
    measure, table = plan.request.measure, plan.request.table
    trials = table.effective(measure.trials or "")
    to_share, back = measure.share or (float, float)
    low, high = bounds(to_share(plan.value) * trials, trials, plan.level)
    return Interval(back(low), back(high), method)


@interval("wilson", "Wilson's interval of a share", suits=counted, weighted=True, uneven="jeffreys")
def wilson_interval(plan: Plan) -> Interval:
    """Wilson's interval; of weighted cases, for as many equal ones as are worth the weights.

    That holds where weights have nothing to do with the outcome; where outcomes weigh differently, it is not chosen.
    """
    return _share(plan, wilson, "wilson")


@interval(
    "clopper-pearson", "exact interval of a share", suits=counted, weighted=True, aliases=("clopper_pearson", "exact")
)
def clopper_pearson_interval(plan: Plan) -> Interval:
    """The exact interval of Clopper and Pearson."""
    return _share(plan, clopper_pearson, "clopper-pearson")


@interval("largest", "limits of the largest of several shares", suits=counted, declared=True, weighted=True)
def largest_interval(plan: Plan) -> Interval:
    """Wilson's upper limit, and the exact lower one that allows for every class that could have come out largest.

    The largest share seen is above the largest true one where several are alike: of 20 equal classes and 100 cases,
    Wilson's interval holds the truth in half of the samples.
    """
    kinds = max(2, len(plan.request.table.class_names))
    low = _share(replace(plan, level=1 - (1 - plan.level) / kinds), clopper_pearson, "largest").low
    return Interval(max(low, 1 / kinds), _share(plan, wilson, "largest").high, "largest")


def _area(plan: Plan, bounds: Callable[[ScoreTable, float], tuple[float, float]], method: str) -> Interval:
    slope, start = plan.request.measure.area or (1.0, 0.0)
    table = plan.request.table.inside(ScoreTable)
    low, high = bounds(table, plan.level)
    if math.isnan(low):
        few = math.isnan(delong_variance(table))
        why = "a class has fewer than two cases" if few else "the logit of an area of 0 or 1 is infinite"
        why = why if table.cell_squares is None else "cases have weights"
        return Interval(low, high, None, f"no {'DeLong' if method == 'delong' else 'DeLong-logit'} interval: {why}")
    return Interval(slope * low + start, slope * high + start, method)


@interval("delong", "DeLong's interval of an area", suits=of_area)
def delong_interval(plan: Plan) -> Interval:
    """DeLong's interval, cut to the range."""
    return _area(plan, delong, "delong")


@interval("delong-logit", "DeLong's interval on the logit scale", suits=of_area, aliases=("delong_logit",))
def delong_logit_interval(plan: Plan) -> Interval:
    """DeLong's interval on the logit scale."""
    return _area(plan, delong_logit, "delong-logit")


@interval("newcombe", "Newcombe's score interval of an area, for few cases", suits=of_area)
def newcombe_interval(plan: Plan) -> Interval:
    """Newcombe's interval, never narrower than DeLong's variance asks for: it has width also at 0 and 1."""
    slope, start = plan.request.measure.area or (1.0, 0.0)
    table = plan.request.table.inside(ScoreTable)
    area = (plan.value - start) / slope
    sizes = float(table.n_pos), float(table.n_neg)
    low, high = limits.newcombe_auc(area, *sizes, plan.level, variance=delong_variance(table))
    return Interval(slope * low + start, slope * high + start, "newcombe")


@interval("area", "DeLong's interval of an area where it covers, else Newcombe's", suits=of_area, weighted=True)
def area_interval(plan: Plan) -> Interval:
    """DeLong's interval from ten cases of the rarer class times min(A, 1 − A) on; Newcombe's below.

    Of weighted cases, both with as many cases as are worth the weights of each class, and Student's t for as many as
    bear the spread.
    """
    slope, start = plan.request.measure.area or (1.0, 0.0)
    table, area = plan.request.table.inside(ScoreTable), (plan.value - start) / slope
    counted_once = counts_of(table)
    if counted_once is not None:
        suits = limits.delong_suits(area, float(counted_once.n_pos), float(counted_once.n_neg))
        plain = replace(plan, request=replace(plan.request, table=counted_once))
        return (delong_interval if suits else newcombe_interval).function(plain)
    found = weighted_variance(table)
    if limits.delong_suits(area, *found.sizes):
        half = math.sqrt(found.variance) * float(limits.student(plan.level, found.borne))
        low, high, method = max(0.0, area - half), min(1.0, area + half), "weighted delong"
    else:
        low, high = limits.newcombe_auc(area, *found.sizes, plan.level, variance=found.variance, borne=found.borne)
        method = "weighted newcombe"
    return Interval(slope * low + start, slope * high + start, method)


def _of_binned_areas(request: Request) -> bool:
    whole = request.averaged and request.spec.of != MICRO
    return whole and like_an_area(request) and request.table.undrawn(request.table) is not None


@interval(
    "delong-mean",
    "DeLong's errors of areas over classes, as if all moved together",
    suits=_of_binned_areas,
    general=True,
)
def binned_area_interval(plan: Plan) -> Interval:
    """The mean of the errors of the classes, or of the pairs of them: no sum spreads more than its parts together.

    How they move together is not known of bins, so it is the widest that it can be. Where classes count by their cases,
    these vary, too: by the multinomial, which the slope of the mean in the size of each class carries over.
    """
    table, how = cast(ClassBins, plan.request.table), str(plan.request.spec.of)
    size, totals = len(table.classes), table.class_totals.astype(np.float64)
    if how in OVER_PAIRS:
        errors, areas = np.full((size, size), np.nan), table.pair_areas()
        for i, j, one in table.pairwise(ScoreTable):
            errors[i, j] = math.sqrt(delong_variance(one))
    else:
        errors = np.array([math.sqrt(delong_variance(one)) for one in table.each(ScoreTable)])
        areas = by_class(plan.request.measure, table)
    steps = totals + np.eye(size) * totals * 1e-4
    slopes = np.array([float(mean_of(areas, each, how)) for each in steps]) - float(mean_of(areas, totals, how))
    mixed = math.sqrt(float(ratio(slopes**2, totals).sum())) / 1e-4
    half = normal_quantile(plan.level) * (float(mean_of(errors, totals, how)) + mixed)
    if math.isnan(half):
        return none("classes have fewer than two cases")
    return within(plan, plan.value - half, plan.value + half, "delong, at most")


def _of_binned_losses(request: Request) -> bool:
    return not request.averaged and request.table.undrawn(request.table) is not None and has_losses(request.measure)


@interval("loss", "errors of the mean loss over classes, as if all moved together", suits=_of_binned_losses)
def binned_loss_interval(plan: Plan) -> Interval:
    """Value · exp(± z · error / value), with the error of the mean loss of a case, or the most that it can be."""
    table = cast(ClassBins, plan.request.table)
    error, known = loss_error(plan.request.measure, table, **dict(plan.request.spec.options))
    if not (plan.value > 0 and math.isfinite(error)):
        return none("the losses of cases do not vary, or are infinite")
    factor = math.exp(normal_quantile(plan.level) * error / plan.value)
    return within(plan, plan.value / factor, plan.value * factor, "log" if known else "log, at most")
