"""DeLong's tests: AUCs of models on the same cases, on different cases, and of several at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Annotated, Final, Literal

import numpy as np

from scorespace.comparisons.answer import Comparison, ValueTest
from scorespace.comparisons.certain import difference_bounds, widened
from scorespace.comparisons.question import Against, Paired, Question, Several, Unpaired
from scorespace.comparisons.suits import (
    any_of_several,
    by_request,
    each_case_once,
    enough_cases,
    not_in_folds,
    of_areas,
    ungrouped,
    unweighted,
)
from scorespace.comparisons.test import test
from scorespace.measures.ranking import auc
from scorespace.resampling.area import delong_variance
from scorespace.resampling.share import normal_quantile
from scorespace.special import chdtrc, fdtrc, ndtr, stdtr, stdtrit
from scorespace.tables import Array, ScoreTable
from scorespace.tables.pair import PairTable, each_model

_FEW = "a class has fewer than two cases"
_FEW_MODELS: Final = 4
_KNOWN: Final = 40  # cases of the rarer class from which on DeLong's variance may pass for known
Reference = Annotated[
    Literal["auto", "normal", "student"],
    "what Z is held against: normal as in pROC (χ² for several models), or Student's t; auto: t below 40 cases of the "
    "rarer class; of several models F",
]


def covariance_of(pairs: PairTable, models: Sequence[str]) -> tuple[Array, Array]:
    """Areas of models and, of positives and of negatives, their part of the covariances; kept with the cases."""
    kept = pairs.__dict__.setdefault("delong", {})
    names = next((held for held in kept if set(models) <= set(held)), None)
    if names is None:
        scored = tuple(name for name, table in zip(pairs.models, pairs.tables, strict=True) if table.thresholded)
        # Of a few models all are compared sooner or later.
        names = scored if len(scored) <= _FEW_MODELS and set(models) <= set(scored) else tuple(models)
        kept[names] = class_covariances(pairs.only(*names).scoring())
    areas, parts = kept[names]
    places = [names.index(model) for model in models]
    return areas[places], parts[:, places][:, :, places]


@test(
    title="DeLong's test",
    for_="the area under the ROC curve; knows that both models saw the same cases",
    suits=(of_areas, each_case_once, unweighted, not_in_folds, ungrouped, enough_cases),
    directed=True,
)
def delong(question: Paired[ScoreTable], *, reference: Reference = "auto") -> Comparison:
    """The difference of two areas by its standard error: Z = (A − B) / √(var A + var B − 2 cov).

    Below 40 cases of the rarer class its variance is not known well enough for the normal distribution, which would
    reject a true null in up to 6.8 % of samples; Student's t, with one degree of freedom less than such cases, does
    so in at most 5.8 %.
    """
    if question.cases.times is not None:
        return _of_bins(question)
    among = question.among or question.models
    areas, parts = covariance_of(question.cases, among)
    i, j = map(among.index, question.names)
    student = reference == "student" or (reference == "auto" and question.fewest < _KNOWN)
    freedom = max(1.0, question.fewest - 1.0) if student else math.inf
    return _scaled(delong_pair(areas, parts.sum(axis=0), question.names, i, j, question.level, freedom), question)


def _of_bins(question: Paired[ScoreTable]) -> Comparison:
    """The same from bins of both models: certain whatever the order inside them."""
    areas, covariance, spread = binned_covariance(question.cases, question.tables)
    found = _scaled(delong_pair(areas, covariance, question.names, 0, 1, question.level), question)
    return widened(found, difference_bounds(question), spread) if math.isfinite(spread) else found


@delong.on(of_areas, each_case_once, unweighted, any_of_several)
def _all_areas(question: Several[ScoreTable], *, reference: Reference = "auto") -> Comparison:
    """Whether several areas are equal."""
    names = question.models
    known = math.inf if reference == "normal" else None
    if question.couples:
        areas, covariance = _covariance_of_couples(question)
        freedom = max(1.0, question.fewest - 1.0)  # the least that the variances of two classes can have
        return replace(all_equal(areas, covariance, names, known or freedom), measure=question.of)
    return replace(delong_omnibus(question.cases, names, known), measure=question.of)


def _covariance_of_couples(question: Several[ScoreTable]) -> tuple[Array, Array]:
    """The areas of all models and their covariances, from the bins of every two of them."""
    size = len(question.models)
    areas, covariance = np.empty(size), np.empty((size, size))
    for places in combinations(range(size), 2):
        a, b = places
        pairs = question.couples[question.models[a], question.models[b]]
        areas[[a, b]], covariance[np.ix_(places, places)], _ = binned_covariance(
            pairs, [question.tables[a], question.tables[b]]
        )
    return areas, covariance


@delong.on(of_areas, unweighted, ungrouped, enough_cases)
def _two_areas(question: Unpaired[ScoreTable]) -> Comparison:
    """Two areas from different cases."""
    if question.constant is not None:
        return question.answer("delong, unpaired")
    a, b = (table.inside(ScoreTable) for table in question.tables)
    return _scaled(delong_unpaired(a, b, question.names, question.level), question)


@delong.on(of_areas, unweighted, by_request, ungrouped, enough_cases)
def _area_and_value(question: Against[ScoreTable]) -> Comparison:
    """An area against a value."""
    slope, start = _area(question)
    (table,) = question.tables
    area = (question.value - start) / slope
    found = _scaled(auc_against(table.inside(ScoreTable), area, question.level, question.model), question)
    return ValueTest(**{**vars(found), "b": f"{question.value:g}"}, value=question.value)


def _area(question: Question[ScoreTable]) -> tuple[float, float]:
    spec = question.spec
    return (1.0, 0.0) if spec is None or spec.measure.area is None else spec.measure.area


def _scaled(found: Comparison, question: Question[ScoreTable]) -> Comparison:
    """A comparison of areas as one of the measure that scales with them, cut to the range of its differences."""
    slope, (lowest, highest) = _area(question)[0], question.range
    ends = sorted((slope * found.low, slope * found.high))
    low, high = (end if math.isnan(end) else min(max(end, lowest), highest) for end in ends)
    statistic = math.copysign(1.0, slope) * found.statistic
    return replace(
        found, measure=question.of, difference=slope * found.difference, low=low, high=high, statistic=statistic
    )


def delong_covariance(pairs: PairTable) -> tuple[Array, Array]:
    """The AUCs of all models and their covariance matrix: cov(V10)/P + cov(V01)/N over the placements.

    NaN when a class has fewer than two cases.
    """
    areas, parts = class_covariances(pairs)
    return areas, parts.sum(axis=0)


def class_covariances(pairs: PairTable) -> tuple[Array, Array]:
    """The AUCs of all models, and cov(V10)/P and cov(V01)/N (2, models, models), whose sum is DeLong's covariance."""
    positives, negatives = np.flatnonzero(pairs.label), np.flatnonzero(pairs.label == 0)
    n_pos, n_neg, size = positives.size, negatives.size, len(pairs.models)
    if n_pos < 2 or n_neg < 2:
        return np.array([auc(table) for table in pairs.tables]), np.full((2, size, size), np.nan)
    of_pos, of_neg = np.empty((size, n_pos)), np.empty((size, n_neg))

    def fill(k: int) -> float:
        """The area of a model; its placements, less the area, go into the two arrays."""
        table, place, area = pairs.tables[k], pairs.place[k], float(auc(pairs.tables[k]))
        pos, neg = table.pos, table.neg
        below = n_neg * (1 - area) - np.cumsum(neg) + neg / 2
        above = np.cumsum(pos) - pos / 2 - n_pos * area
        np.take(below, place[positives], out=of_pos[k], mode="clip")  # all are within; any other mode makes a copy
        np.take(above, place[negatives], out=of_neg[k], mode="clip")
        return area

    areas = np.array(each_model(fill, range(size), pairs.cases))
    # The placements were left as numbers of cases: one division for all of them.
    by_pos = of_pos @ of_pos.T / ((n_pos - 1) * n_pos * float(n_neg) ** 2)
    by_neg = of_neg @ of_neg.T / ((n_neg - 1) * n_neg * float(n_pos) ** 2)
    return areas, np.stack([by_pos, by_neg])


def binned_covariance(pairs: PairTable, tables: Sequence[ScoreTable]) -> tuple[Array, Array, float]:
    """The areas of two models and their covariances, from bins of both together and their own finer tables.

    And by how much the standard error of their difference may be larger. The placement of a case lies at most half its
    bin from the true one; so the length of the vector of all their differences is known to within the length of what it
    misses (Minkowski).
    """
    areas = np.array([float(auc(table)) for table in tables])
    n_pos, n_neg = (float(size) for size in (tables[0].n_pos, tables[0].n_neg))
    if n_pos < 2 or n_neg < 2:
        return areas, np.full((2, 2), np.nan), math.nan
    covariance = np.diag([delong_variance(table) for table in tables])
    times, positive = np.asarray(pairs.times, dtype=np.float64), pairs.label == 1
    least = most = 0.0
    for of_class, size, others in ((positive, n_pos, n_neg), (~positive, n_neg, n_pos)):
        weight, unit = times[of_class], size * (size - 1)
        a, b = (
            _placement(table, of_class is positive)[place[of_class]] / others
            for table, place in zip(pairs.tables, pairs.place, strict=True)
        )
        a, b = (one - (weight * one).sum() / size for one in (a, b))
        covariance[0, 1] += float((weight * a * b).sum()) / unit
        length = math.sqrt(float((weight * (a - b) ** 2).sum()))
        missed = sum(
            math.sqrt(float((own * (other / 2 / others) ** 2).sum()))
            for own, other in (_sides(table, of_class is positive) for table in pairs.tables)
        )
        least, most = least + max(0.0, length - missed) ** 2 / unit, most + (length + missed) ** 2 / unit
    own = float(covariance[0, 0] + covariance[1, 1])
    variance = min(max(own - 2 * float(covariance[0, 1]), least), most)
    covariance[0, 1] = covariance[1, 0] = (own - variance) / 2
    return areas, covariance, math.sqrt(most / variance) if variance > 0 else math.inf if most > 0 else 1.0


def _sides(table: ScoreTable, positives: bool) -> tuple[Array, Array]:
    """The cases that are placed, and those among which they are."""
    return (table.pos, table.neg) if positives else (table.neg, table.pos)


def _placement(table: ScoreTable, positives: bool) -> Array:
    """How many of the other class a case at each score beats, ties half."""
    _, other = _sides(table, positives)
    above = np.cumsum(other) - other / 2
    return other.sum() - above if positives else above


def delong_pair(
    areas: Array, covariance: Array, names: tuple[str, str], i: int, j: int, level: float, freedom: float = math.inf
) -> Comparison:
    """The paired test of two models, from the AUCs and covariances of all.

    Z = (A − B) / √(var A + var B − 2 cov), held against Student's t with that freedom, or the normal distribution
    without; equal models differ by 0 with p = 1.
    """
    variance = float(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])
    found = Comparison(*names, "delong", auc.name, float(areas[i] - areas[j]), level=level)
    if math.isnan(variance):
        return replace(found, reason=_FEW)
    if variance > 1e-18:
        return _judged(found, variance, freedom)
    if found.difference == 0:
        reason = "the models order positives and negatives alike"
        return replace(found, low=0.0, high=0.0, statistic=0.0, p=1.0, reason=reason)
    return replace(found, reason="DeLong's variance is zero, as with perfect separation")


def _judged(found: Comparison, variance: float, freedom: float = math.inf) -> Comparison:
    """Interval and p of a difference with that variance, by Student's t with that freedom or by the normal."""
    error, normal, difference = math.sqrt(variance), math.isinf(freedom), found.difference
    z = difference / error
    half = error * (normal_quantile(found.level) if normal else float(stdtrit(freedom, (1 + found.level) / 2)))
    p = 2 * float(ndtr(-abs(z)) if normal else stdtr(freedom, -abs(z)))
    df = math.nan if normal else freedom
    return replace(found, low=difference - half, high=difference + half, statistic=z, df=df, p=p)


def delong_unpaired(a: ScoreTable, b: ScoreTable, names: tuple[str, str], level: float = 0.95) -> Comparison:
    """Two AUCs from different cases: D = (A − B) / √(var A + var B), t with Welch's degrees of freedom."""
    variances = delong_variance(a), delong_variance(b)
    total = sum(variances)
    found = Comparison(*names, "delong, unpaired", auc.name, auc(a) - auc(b), level=level, independent=True)
    if math.isnan(total):
        counted = "the weights are not whole numbers, so cases cannot be counted"
        return replace(found, reason=_FEW if a.whole and b.whole else counted)
    if total == 0:
        return replace(found, reason="both DeLong variances are zero")
    sizes = float(a.total), float(b.total)
    df = total**2 / sum(variance**2 / (size - 1) for variance, size in zip(variances, sizes, strict=True))
    return _judged(found, total, df)


def delong_omnibus(pairs: PairTable, models: Sequence[str] = (), freedom: float | None = None) -> Comparison:
    """Whether several AUCs are equal: T² = (Lθ)ᵀ (L S Lᵀ)⁺ (Lθ), with L the differences to the last, as an F.

    S is the sum of two covariances that are estimated from few cases each, so χ² rejects too often: five equal models
    with 20 positives in 11 % of samples. With the degrees of freedom ν of Krishnamoorthy and Yu (2004), T² is held
    against ν r / (ν − r + 1) times F of r and ν − r + 1; with infinite `freedom`, against χ² of r.
    """
    names = models or pairs.models
    areas, parts = covariance_of(pairs, names)
    sizes = np.array([(pairs.label == 1).sum(), (pairs.label == 0).sum()], dtype=np.float64)
    contrasts = _contrasts(areas.size)
    if freedom is None:
        freedom = _freedom(contrasts @ parts @ contrasts.T, sizes) if np.isfinite(parts).all() else math.nan
    return all_equal(areas, parts.sum(axis=0), names, freedom)


def _contrasts(size: int) -> Array:
    """The differences of so many numbers to the last of them."""
    return np.hstack([np.eye(size - 1), -np.ones((size - 1, 1))])


def _freedom(parts: Array, sizes: Array) -> float:
    """Degrees of freedom of a sum of covariances, each estimated from so many cases.

    ν = (r + r²) / Σ (tr((Sᵢ S⁺)²) + tr(Sᵢ S⁺)²) / (nᵢ − 1), with S their sum, of rank r.
    """
    inverse = np.linalg.pinv(parts.sum(axis=0), hermitian=True)
    rank = int(np.linalg.matrix_rank(parts.sum(axis=0), hermitian=True))
    shares = parts @ inverse
    traces = np.trace(shares @ shares, axis1=1, axis2=2) + np.trace(shares, axis1=1, axis2=2) ** 2
    known = float((traces / (sizes - 1)).sum())
    return (rank + rank**2) / known if known > 0 else math.inf


def all_equal(areas: Array, covariance: Array, models: Sequence[str], freedom: float) -> Comparison:
    """The same from the areas, their covariances and the degrees of freedom of these."""
    found = Comparison(models[0], ", ".join(models[1:]), "delong, all equal", auc.name, several=True)
    if np.isnan(covariance).any():
        return replace(found, reason=_FEW)
    contrasts = _contrasts(areas.size)
    gaps, spread = contrasts @ areas, contrasts @ covariance @ contrasts.T
    rank = int(np.linalg.matrix_rank(spread, hermitian=True))
    inverse = np.linalg.pinv(spread, hermitian=True)
    if not np.allclose(spread @ inverse @ gaps, gaps, atol=1e-9):  # T² would leave these differences out
        return replace(found, reason="some AUCs differ with DeLong variance zero")
    if rank == 0:
        return replace(found, statistic=0.0, p=1.0, reason="the models order positives and negatives alike")
    left = freedom - rank + 1
    if not left > 0:
        return replace(found, reason=f"the cases of a class are too few to compare {len(models)} models at once")
    squared = float(gaps @ inverse @ gaps)
    if math.isinf(freedom):
        return replace(found, statistic=squared, df=float(rank), p=float(chdtrc(rank, squared)))
    statistic = squared * left / (freedom * rank)
    return replace(found, statistic=statistic, df=(float(rank), left), p=float(fdtrc(rank, left, statistic)))


def auc_against(table: ScoreTable, value: float = 0.5, level: float = 0.95, name: str = "") -> Comparison:
    """Whether an AUC differs from a given value: Z = (A − value) / √var."""
    variance = delong_variance(table)
    found = Comparison(name, f"{value:g}", "delong", auc.name, auc(table) - value, level=level)
    if variance > 0:
        return _judged(found, variance)
    zero = "constant scores" if table.score.size == 1 else "perfect separation"
    return replace(found, reason=_FEW if math.isnan(variance) else f"DeLong's variance is zero, as with {zero}")
