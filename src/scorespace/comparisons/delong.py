"""DeLong's tests (1988) of AUCs: on the same cases, on different cases, and of several models at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Annotated, Final, Literal

import numpy as np
from scipy.special import chdtrc, fdtrc, ndtr, stdtr, stdtrit

from scorespace.comparisons.bounds import difference_bounds, widen_by_bounds
from scorespace.comparisons.design import Design, FixedValue, IndependentSamples, MultipleModels, PairedModels
from scorespace.comparisons.eligibility import (
    discourages_few_cases,
    discourages_folds,
    discourages_groups,
    only_on_request,
    requires_auc,
    requires_single_cases,
    requires_two_sided_omnibus,
    requires_unweighted,
)
from scorespace.comparisons.result import Comparison, ValueTest
from scorespace.comparisons.test import test
from scorespace.inference.auc_variance import delong_variance
from scorespace.inference.proportion import normal_quantile
from scorespace.measures.ranking import auc
from scorespace.tables import Array, ScoreTable
from scorespace.tables.paired import PairTable, map_models

_TOO_FEW_CASES = "a class has fewer than two cases"
_MAX_MODELS_AT_ONCE: Final = 4
_MIN_CASES_FOR_NORMAL: Final = 40  # cases of the rarer class from which on the normal distribution is used
Reference = Annotated[
    Literal["auto", "normal", "student"],
    "reference distribution of Z: normal as in pROC (χ² for several models), or Student's t; auto: t below 40 cases of "
    "the rarer class, F for several models",
]


def cached_covariances(pairs: PairTable, models: Sequence[str]) -> tuple[Array, Array]:
    """Return the AUCs of models and the covariance parts of positives and negatives; cached with the cases."""
    cache = pairs.__dict__.setdefault("delong", {})
    names = next((cached_names for cached_names in cache if set(models) <= set(cached_names)), None)
    if names is None:
        scored = tuple(name for name, table in zip(pairs.models, pairs.tables, strict=True) if table.thresholded)
        # With a few models, all are compared eventually.
        names = scored if len(scored) <= _MAX_MODELS_AT_ONCE and set(models) <= set(scored) else tuple(models)
        cache[names] = class_covariances(pairs.only(*names).scoring())
    areas, parts = cache[names]
    indices = [names.index(model) for model in models]
    return areas[indices], parts[:, indices][:, :, indices]


@test(
    title="DeLong's test",
    for_="the area under the ROC curve, for models on the same cases",
    suits=(
        requires_auc,
        requires_single_cases,
        requires_unweighted,
        discourages_folds,
        discourages_groups,
        discourages_few_cases,
    ),
    directed=True,
)
def delong(design: PairedModels[ScoreTable], *, reference: Reference = "auto") -> Comparison:
    """Difference of two AUCs divided by its standard error: Z = (A − B) / √(var A + var B − 2 cov).

    Below 40 cases of the rarer class, the normal distribution rejects a true null hypothesis in up to 6.8 % of samples;
    Student's t, with the number of these cases minus 1 degrees of freedom, in at most 5.8 %.
    """
    if design.cases.times is not None:
        return _binned_test(design)
    among = design.among or design.models
    areas, parts = cached_covariances(design.cases, among)
    i, j = map(among.index, design.names)
    use_student = reference == "student" or (reference == "auto" and design.fewest < _MIN_CASES_FOR_NORMAL)
    freedom = max(1.0, design.fewest - 1.0) if use_student else math.inf
    return _convert_to_measure(delong_pair(areas, parts.sum(axis=0), design.names, i, j, design.level, freedom), design)


def _binned_test(design: PairedModels[ScoreTable]) -> Comparison:
    """Paired test from binned scores, valid for any order within the bins."""
    areas, covariance, spread = binned_covariance(design.cases, design.tables)
    comparison = _convert_to_measure(delong_pair(areas, covariance, design.names, 0, 1, design.level), design)
    return widen_by_bounds(comparison, difference_bounds(design), spread) if math.isfinite(spread) else comparison


@delong.on(requires_auc, requires_single_cases, requires_unweighted, requires_two_sided_omnibus)
def _omnibus(design: MultipleModels[ScoreTable], *, reference: Reference = "auto") -> Comparison:
    """Whether several AUCs are equal."""
    names = design.models
    known = math.inf if reference == "normal" else None
    if design.couples:
        areas, covariance = _pairwise_covariances(design)
        freedom = max(1.0, design.fewest - 1.0)  # a lower bound of the degrees of freedom
        return replace(all_equal(areas, covariance, names, known or freedom), measure=design.of)
    return replace(delong_omnibus(design.cases, names, known), measure=design.of)


def _pairwise_covariances(design: MultipleModels[ScoreTable]) -> tuple[Array, Array]:
    """AUCs of all models and their covariances, from the bins of every two of them."""
    size = len(design.models)
    areas, covariance = np.empty(size), np.empty((size, size))
    for indices in combinations(range(size), 2):
        a, b = indices
        pairs = design.couples[design.models[a], design.models[b]]
        areas[[a, b]], covariance[np.ix_(indices, indices)], _ = binned_covariance(
            pairs, [design.tables[a], design.tables[b]]
        )
    return areas, covariance


@delong.on(requires_auc, requires_unweighted, discourages_groups, discourages_few_cases)
def _independent_aucs(design: IndependentSamples[ScoreTable]) -> Comparison:
    """Two AUCs from different cases."""
    if design.constant is not None:
        return design.answer("delong, unpaired")
    a, b = (table.inside(ScoreTable) for table in design.tables)
    return _convert_to_measure(delong_unpaired(a, b, design.names, design.level), design)


@delong.on(requires_auc, requires_unweighted, only_on_request, discourages_groups, discourages_few_cases)
def _auc_and_value(design: FixedValue[ScoreTable]) -> Comparison:
    """An AUC against a fixed value."""
    slope, intercept = _linear_in_auc(design)
    (table,) = design.tables
    area = (design.value - intercept) / slope
    comparison = _convert_to_measure(auc_against(table.inside(ScoreTable), area, design.level, design.model), design)
    return ValueTest(**{**vars(comparison), "b": f"{design.value:g}"}, value=design.value)


def _linear_in_auc(design: Design[ScoreTable]) -> tuple[float, float]:
    spec = design.spec
    return (1.0, 0.0) if spec is None else spec.measure.in_auc(design.tables[0])


def _convert_to_measure(comparison: Comparison, design: Design[ScoreTable]) -> Comparison:
    """Convert a comparison of AUCs to the measure that is linear in them, clipped to its range."""
    slope, (lowest, highest) = _linear_in_auc(design)[0], design.range
    limits = sorted((slope * comparison.low, slope * comparison.high))
    low, high = (end if math.isnan(end) else min(max(end, lowest), highest) for end in limits)
    statistic = math.copysign(1.0, slope) * comparison.statistic
    return replace(
        comparison,
        measure=design.of,
        difference=slope * comparison.difference,
        low=low,
        high=high,
        statistic=statistic,
    )


def delong_covariance(pairs: PairTable) -> tuple[Array, Array]:
    """Return the AUCs of all models and their covariance matrix: cov(V10)/P + cov(V01)/N over the placements.

    NaN when a class has fewer than two cases.
    """
    areas, parts = class_covariances(pairs)
    return areas, parts.sum(axis=0)


def class_covariances(pairs: PairTable) -> tuple[Array, Array]:
    """Return the AUCs of all models, and cov(V10)/P and cov(V01)/N (2, models, models), whose sum is the covariance."""
    positives, negatives = np.flatnonzero(pairs.label), np.flatnonzero(pairs.label == 0)
    n_pos, n_neg, size = positives.size, negatives.size, len(pairs.models)
    if n_pos < 2 or n_neg < 2:
        return np.array([auc(table) for table in pairs.tables]), np.full((2, size, size), np.nan)
    of_pos, of_neg = np.empty((size, n_pos)), np.empty((size, n_neg))

    def fill(k: int) -> float:
        """Return the AUC of a model, and store its centred placements in the two arrays."""
        table, place, area = pairs.tables[k], pairs.place[k], float(auc(pairs.tables[k]))
        pos, neg = table.pos, table.neg
        below = n_neg * (1 - area) - np.cumsum(neg) + neg / 2
        above = np.cumsum(pos) - pos / 2 - n_pos * area
        np.take(below, place[positives], out=of_pos[k], mode="clip")  # all indices are valid; other modes make a copy
        np.take(above, place[negatives], out=of_neg[k], mode="clip")
        return area

    areas = np.array(map_models(fill, range(size), pairs.cases))
    # Placements are kept as counts of cases, and divided once here.
    by_pos = of_pos @ of_pos.T / ((n_pos - 1) * n_pos * float(n_neg) ** 2)
    by_neg = of_neg @ of_neg.T / ((n_neg - 1) * n_neg * float(n_pos) ** 2)
    return areas, np.stack([by_pos, by_neg])


def binned_covariance(pairs: PairTable, tables: Sequence[ScoreTable]) -> tuple[Array, Array, float]:
    """Return the AUCs of two models and their covariances, from joint bins and their own finer tables.

    Also return the factor by which the standard error of the difference may be larger. The placement of a case is
    within half its bin of the true one, so by Minkowski's inequality the norm of all differences is known to within the
    norm of these errors.
    """
    areas = np.array([float(auc(table)) for table in tables])
    n_pos, n_neg = (float(size) for size in (tables[0].n_pos, tables[0].n_neg))
    if n_pos < 2 or n_neg < 2:
        return areas, np.full((2, 2), np.nan), math.nan
    covariance = np.diag([delong_variance(table) for table in tables])
    times, positive = np.asarray(pairs.times, dtype=np.float64), pairs.label == 1
    min_variance = max_variance = 0.0
    for in_class, size, others in ((positive, n_pos, n_neg), (~positive, n_neg, n_pos)):
        weight, unit = times[in_class], size * (size - 1)
        a, b = (
            _placements(table, in_class is positive)[place[in_class]] / others
            for table, place in zip(pairs.tables, pairs.place, strict=True)
        )
        a, b = (placement - (weight * placement).sum() / size for placement in (a, b))
        covariance[0, 1] += float((weight * a * b).sum()) / unit
        length = math.sqrt(float((weight * (a - b) ** 2).sum()))
        error = sum(
            math.sqrt(float((own_cases * (other / 2 / others) ** 2).sum()))
            for own_cases, other in (_placed_and_other(table, in_class is positive) for table in pairs.tables)
        )
        min_variance, max_variance = (
            min_variance + max(0.0, length - error) ** 2 / unit,
            max_variance + (length + error) ** 2 / unit,
        )
    own_cases = float(covariance[0, 0] + covariance[1, 1])
    variance = min(max(own_cases - 2 * float(covariance[0, 1]), min_variance), max_variance)
    covariance[0, 1] = covariance[1, 0] = (own_cases - variance) / 2
    return (
        areas,
        covariance,
        math.sqrt(max_variance / variance) if variance > 0 else math.inf if max_variance > 0 else 1.0,
    )


def _placed_and_other(table: ScoreTable, positives: bool) -> tuple[Array, Array]:
    """Return the counts of the placed class and of the other class."""
    return (table.pos, table.neg) if positives else (table.neg, table.pos)


def _placements(table: ScoreTable, positives: bool) -> Array:
    """Number of cases of the other class below a case at each score, ties counting half."""
    _, other = _placed_and_other(table, positives)
    above = np.cumsum(other) - other / 2
    return other.sum() - above if positives else above


def delong_pair(
    areas: Array, covariance: Array, names: tuple[str, str], i: int, j: int, level: float, freedom: float = math.inf
) -> Comparison:
    """Paired test of two models, from the AUCs and covariances of all.

    Z = (A − B) / √(var A + var B − 2 cov), with Student's t with `freedom` degrees of freedom or the normal
    distribution; identical models have difference 0 and p = 1.
    """
    variance = float(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])
    comparison = Comparison(*names, "delong", auc.name, float(areas[i] - areas[j]), level=level)
    if math.isnan(variance):
        return replace(comparison, reason=_TOO_FEW_CASES)
    if variance > 1e-18:
        return _z_test(comparison, variance, freedom)
    if comparison.difference == 0:
        reason = "the models rank positives and negatives identically"
        return replace(comparison, low=0.0, high=0.0, statistic=0.0, p=1.0, reason=reason)
    return replace(comparison, reason="DeLong's variance is zero, as with perfect separation")


def _z_test(comparison: Comparison, variance: float, freedom: float = math.inf) -> Comparison:
    """Add interval and p of a difference with the given variance, by Student's t or the normal distribution."""
    error, normal, difference = math.sqrt(variance), math.isinf(freedom), comparison.difference
    z = difference / error
    half = error * (
        normal_quantile(comparison.level) if normal else float(stdtrit(freedom, (1 + comparison.level) / 2))
    )
    p = 2 * float(ndtr(-abs(z)) if normal else stdtr(freedom, -abs(z)))
    df = math.nan if normal else freedom
    return replace(comparison, low=difference - half, high=difference + half, statistic=z, df=df, p=p)


def delong_unpaired(a: ScoreTable, b: ScoreTable, names: tuple[str, str], level: float = 0.95) -> Comparison:
    """Two AUCs from different cases: D = (A − B) / √(var A + var B), t with Welch's degrees of freedom."""
    variances = delong_variance(a), delong_variance(b)
    total = sum(variances)
    comparison = Comparison(*names, "delong, unpaired", auc.name, auc(a) - auc(b), level=level, independent=True)
    if math.isnan(total):
        uncounted = "the weights are not whole numbers, so the number of cases is unknown"
        return replace(comparison, reason=_TOO_FEW_CASES if a.whole and b.whole else uncounted)
    if total == 0:
        return replace(comparison, reason="both DeLong variances are zero")
    sizes = float(a.total), float(b.total)
    df = total**2 / sum(variance**2 / (size - 1) for variance, size in zip(variances, sizes, strict=True))
    return _z_test(comparison, total, df)


def delong_omnibus(pairs: PairTable, models: Sequence[str] = (), freedom: float | None = None) -> Comparison:
    """Whether several AUCs are equal: T² = (Lθ)ᵀ (L S Lᵀ)⁺ (Lθ), with L the contrasts to the last, as an F.

    S is the sum of two covariances that are estimated from few cases, so χ² rejects too often: five equal models with
    20 positives in 11 % of samples. With the degrees of freedom ν of Krishnamoorthy and Yu (2004), T² is compared with
    ν r / (ν − r + 1) times F of r and ν − r + 1; with infinite `freedom`, with χ² of r.
    """
    names = models or pairs.models
    areas, parts = cached_covariances(pairs, names)
    sizes = np.array([(pairs.label == 1).sum(), (pairs.label == 0).sum()], dtype=np.float64)
    contrasts = _contrasts(areas.size)
    if freedom is None:
        freedom = _degrees_of_freedom(contrasts @ parts @ contrasts.T, sizes) if np.isfinite(parts).all() else math.nan
    return all_equal(areas, parts.sum(axis=0), names, freedom)


def _contrasts(size: int) -> Array:
    """Contrasts of values to the last of them."""
    return np.hstack([np.eye(size - 1), -np.ones((size - 1, 1))])


def _degrees_of_freedom(parts: Array, sizes: Array) -> float:
    """Degrees of freedom of a sum of covariances, each estimated from the given number of cases.

    ν = (r + r²) / Σ (tr((Sᵢ S⁺)²) + tr(Sᵢ S⁺)²) / (nᵢ − 1), with S their sum, of rank r.
    """
    inverse = np.linalg.pinv(parts.sum(axis=0), hermitian=True)
    rank = int(np.linalg.matrix_rank(parts.sum(axis=0), hermitian=True))
    shares = parts @ inverse
    traces = np.trace(shares @ shares, axis1=1, axis2=2) + np.trace(shares, axis1=1, axis2=2) ** 2
    total = float((traces / (sizes - 1)).sum())
    return (rank + rank**2) / total if total > 0 else math.inf


def all_equal(areas: Array, covariance: Array, models: Sequence[str], freedom: float) -> Comparison:
    """Omnibus test from the AUCs, their covariances and degrees of freedom."""
    comparison = Comparison(models[0], ", ".join(models[1:]), "delong, all equal", auc.name, several=True)
    if np.isnan(covariance).any():
        return replace(comparison, reason=_TOO_FEW_CASES)
    contrasts = _contrasts(areas.size)
    differences, covariance_ = contrasts @ areas, contrasts @ covariance @ contrasts.T
    rank = int(np.linalg.matrix_rank(covariance_, hermitian=True))
    inverse = np.linalg.pinv(covariance_, hermitian=True)
    if not np.allclose(
        covariance_ @ inverse @ differences, differences, atol=1e-9
    ):  # T² would ignore these differences
        return replace(comparison, reason="some AUCs differ with DeLong variance zero")
    if rank == 0:
        return replace(comparison, statistic=0.0, p=1.0, reason="the models rank positives and negatives identically")
    denominator_df = freedom - rank + 1
    if not denominator_df > 0:
        return replace(comparison, reason=f"the cases of a class are too few to compare {len(models)} models at once")
    squared = float(differences @ inverse @ differences)
    if math.isinf(freedom):
        return replace(comparison, statistic=squared, df=float(rank), p=float(chdtrc(rank, squared)))
    statistic = squared * denominator_df / (freedom * rank)
    return replace(
        comparison,
        statistic=statistic,
        df=(float(rank), denominator_df),
        p=float(fdtrc(rank, denominator_df, statistic)),
    )


def auc_against(table: ScoreTable, value: float = 0.5, level: float = 0.95, name: str = "") -> Comparison:
    """Whether an AUC differs from a given value: Z = (A − value) / √var."""
    variance = delong_variance(table)
    comparison = Comparison(name, f"{value:g}", "delong", auc.name, auc(table) - value, level=level)
    if variance > 0:
        return _z_test(comparison, variance)
    cause = "constant scores" if table.score.size == 1 else "perfect separation"
    return replace(
        comparison, reason=_TOO_FEW_CASES if math.isnan(variance) else f"DeLong's variance is zero, as with {cause}"
    )
