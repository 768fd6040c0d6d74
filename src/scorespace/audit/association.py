"""Cross-fitted association of each column with the target.

Each column becomes integer levels: values if few, quantile bins if many, and missing as a level of its own. Everything
is then computed from sums by fold and level, so that any shape of dependence shows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from scorespace.audit.cheap_checks import sortedness
from scorespace.io.column_profile import ColumnValues

FOLDS = 5
BINS = 50
MAX_ROWS = 50_000
MAX_CLASSES = 30
_N_PERMUTATIONS = 1_999
_MAX_ROWS_FOR_PERMUTATION = 400

Codes = NDArray[np.int64]
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TargetOutcome:
    """The target on the sampled rows: class codes, or ranks from 0 to 1.

    `rows` are row indices in the source. `serial` means that the target is autocorrelated along the rows without being
    sorted.
    """

    name: str
    rows: NDArray[np.int64] = field(repr=False)
    classes: tuple[str, ...]
    codes: Codes = field(repr=False)
    rank: Array = field(repr=False)
    folds: Codes = field(repr=False)
    blocks: Codes = field(repr=False)
    serial: bool

    @property
    def size(self) -> int:
        return int(self.rows.size)


@dataclass(frozen=True)
class Association:
    """How well a column alone predicts the target, its p-value, and whether autocorrelation explains it.

    `strength` is an AUC for two classes, otherwise R² of ranks or the accuracy above the majority class, rescaled.
    `of_class` is the best separated class of several, with its AUC as `class_strength`. `neighbour_strength` is the
    strength with contiguous blocks held out, or between neighbouring rows: given for autocorrelated targets, whose
    smooth columns all predict each other. `labels` are the most frequent labels of a text column.
    """

    column: str
    measure: str
    strength: float
    p: float
    neighbour_strength: float = math.nan
    of_class: str = ""
    class_strength: float = math.nan
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class MissingAssociation:
    """AUC of the missingness of a column for the target."""

    column: str
    share: float
    area: float
    p: float
    of_class: str = ""


def sample_target(
    values: ColumnValues, classes: tuple[str, ...], seed: int = 0, group: NDArray[np.int32] | None = None
) -> TargetOutcome:
    """Sample at most 50 000 rows of the target, with random folds and contiguous blocks.

    Rows of a group share a fold, or a column that identifies the group would seem to predict the target.
    """
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(values.codes >= 0)
    if rows.size > MAX_ROWS:
        rows = np.sort(rng.choice(rows, MAX_ROWS, replace=False))
    codes = values.codes[rows].astype(np.int64)
    if len(classes) > MAX_CLASSES:  # merge the rarest classes
        codes, classes = np.minimum(codes, MAX_CLASSES - 1), (*classes[: MAX_CLASSES - 1], "others")
    rank = (stats.rankdata(codes) - 0.5) / max(1, codes.size)
    unit = np.arange(rows.size) if group is None else np.unique(group[rows], return_inverse=True)[1]
    folds = rng.permutation(np.arange(int(unit.max(initial=0)) + 1) % FOLDS)[unit]
    blocks = np.arange(rows.size) * FOLDS // max(1, rows.size)
    return TargetOutcome(
        values.name, rows, classes, codes, rank, folds, blocks, _is_autocorrelated(codes, rank, bool(classes))
    )


def _is_autocorrelated(codes: Codes, rank: Array, nominal: bool) -> bool:
    """Whether neighbouring rows have more similar targets than random ones."""
    if codes.size < 10 or np.ptp(codes) == 0:
        return False
    if sortedness(codes, nominal) >= 0.9:
        return False
    similarity = codes[1:] == codes[:-1] if nominal else -((rank[1:] - rank[:-1]) ** 2)
    permutation = np.random.default_rng(0).permutation(codes.size)
    permuted_similarity = (
        codes[permutation][1:] == codes[permutation][:-1]
        if nominal
        else -((rank[permutation][1:] - rank[permutation][:-1]) ** 2)
    )
    difference = float(np.mean(similarity) - np.mean(permuted_similarity))
    return difference > 3 * math.sqrt((float(np.var(similarity)) + float(np.var(permuted_similarity))) / codes.size)


def associate_with_target(values: ColumnValues, target: TargetOutcome) -> Association:
    """Association of a column with the target."""
    levels, value = _to_levels(values, target), _value_ranks(values, target)
    if target.classes:
        return _associate_with_classes(values, levels, value, target)
    fitted = _cross_fit_ranks(levels, target.rank, target.folds)
    if _has_many_values(values):
        interpolated = _cross_fit_interpolation(value, target.rank, target.folds)
        fitted = max(fitted, interpolated, key=lambda prediction: _r_squared(prediction, target.rank))
    strength, steady = _r_squared(fitted, target.rank), math.nan
    if target.serial and strength >= 0.9:
        blocked = _r_squared(_cross_fit_ranks(levels, target.rank, target.blocks), target.rank)
        linear = _blocked_linear_r_squared(value, target.rank, target.blocks)
        steady = max(blocked, linear, 2 * _neighbour_concordance(values, value, target.rank) - 1)
    return Association(values.name, "R²", strength, _correlation_p_value(fitted, target.rank), steady)


def associate_missingness(values: ColumnValues, target: TargetOutcome) -> MissingAssociation | None:
    """Association of missingness with the target; None if too few values are missing or present."""
    is_missing = values.codes[target.rows] < 0
    n_missing = int(is_missing.sum())
    if min(n_missing, target.size - n_missing) < 5:
        return None
    if not target.classes:
        auc_value, of_class, p = auc(target.rank, is_missing), "", auc_p_value(target.rank, is_missing)
    else:
        indicator = is_missing.astype(np.float64)
        auc_by_class = {k: auc(indicator, target.codes == k) for k in np.unique(target.codes).tolist()}
        best = max(auc_by_class, key=lambda k: (round(abs(auc_by_class[k] - 0.5), 9), auc_by_class[k]))
        auc_value, of_class = auc_by_class[best], target.classes[best]
        p = min(1.0, max(1, len(auc_by_class) - 1) * auc_p_value(indicator, target.codes == best))
    return MissingAssociation(values.name, n_missing / target.size, auc_value, p, of_class)


def _associate_with_classes(values: ColumnValues, levels: Codes, value: Array, target: TargetOutcome) -> Association:
    """Association with a target of classes."""
    count = len(target.classes)
    scores = _cross_fit_shares(levels, target.codes, count, target.folds)
    if count == 2 and _has_many_values(values):
        is_second = (target.codes == 1).astype(np.float64)
        interpolated = _cross_fit_interpolation(value, is_second, target.folds)
        if auc(interpolated, target.codes == 1) > auc(scores[:, 1], target.codes == 1):
            scores = np.stack([1 - interpolated, interpolated], axis=1)
    scored_classes = [1] if count == 2 else list(range(count))
    aucs = {k: auc(scores[:, k], target.codes == k) for k in scored_classes}
    sizes = np.bincount(target.codes, minlength=count)
    eligible = {k: a for k, a in aucs.items() if sizes[k] >= 0.05 * target.size and sizes[k] >= 5} or aucs
    best = max(eligible, key=lambda k: eligible[k])
    p = min(1.0, len(scored_classes) * auc_p_value(scores[:, best], target.codes == best, exact=eligible[best] >= 0.7))
    if count == 2:
        measure, strength = "AUC", aucs[1]
    else:
        measure = "accuracy above the majority class (rescaled)"
        majority_share = sizes.max() / target.size
        accuracy = float(np.mean(scores.argmax(axis=1) == target.codes))
        strength = (accuracy - majority_share) / (1 - majority_share) if majority_share < 1 else math.nan
    steady = math.nan
    if target.serial and max(strength, eligible[best]) >= 0.9:
        blocked = _cross_fit_shares(levels, target.codes, count, target.blocks)
        concordance = _neighbour_concordance(values, value, (target.codes == best).astype(np.float64))
        steady = max(auc(blocked[:, best], target.codes == best), concordance)
    labels = tuple(str(value) for value in values.values[:200]) if values.stored == "text" else ()
    return Association(values.name, measure, strength, p, steady, target.classes[best], eligible[best], labels)


# --- levels


def _to_levels(values: ColumnValues, target: TargetOutcome) -> Codes:
    """Level of each row: its value if there are few, otherwise its quantile bin; missing is 0."""
    codes = values.codes[target.rows].astype(np.int64)
    max_levels = min(BINS, max(2, target.size // 10))
    if values.stored == "text" or values.distinct <= max_levels:
        return codes + 1
    midpoints = np.cumsum(values.counts) - values.counts / 2
    bins = np.minimum((midpoints * max_levels / values.counts.sum()).astype(np.int64), max_levels - 1)
    # Frequent values get their own level, so that a code such as 0 is not merged with its neighbours.
    spikes = values.counts >= values.counts.sum() / max_levels
    bins[spikes] = max_levels + np.arange(int(spikes.sum()))
    return np.append(bins + 1, 0)[codes]


def _has_many_values(values: ColumnValues) -> bool:
    return values.stored in ("number", "date") and values.distinct > 10


def _value_ranks(values: ColumnValues, target: TargetOutcome) -> Array:
    """Rank of each row's value; missing values in the middle."""
    codes = values.codes[target.rows].astype(np.float64)
    codes[codes < 0] = (values.distinct - 1) / 2
    return codes


# --- cross-fitting


def _cross_fit_shares(levels: Codes, codes: Codes, count: int, folds: Codes) -> Array:
    """Class shares at each row's level in the other folds, shrunk to the overall shares."""
    levels = np.unique(levels, return_inverse=True)[1]
    prior = np.bincount(codes, minlength=count) / codes.size
    n_others = _sums_of_other_folds(levels, folds) + 1
    fitted = np.empty((codes.size, count))
    for k in range(count):  # class by class, to save memory
        fitted[:, k] = ((_sums_of_other_folds(levels, folds, codes == k) + prior[k]) / n_others)[folds, levels]
    return fitted


def _cross_fit_ranks(levels: Codes, rank: Array, folds: Codes) -> Array:
    """Mean rank of the target at each row's level in the other folds."""
    sums, n_others = _sums_of_other_folds(levels, folds, rank), _sums_of_other_folds(levels, folds)
    return np.where(n_others > 0, sums / np.maximum(n_others, 1), 0.5)[folds, levels]


def _sums_of_other_folds(levels: Codes, folds: Codes, weight: NDArray[Any] | None = None) -> NDArray[Any]:
    """Number of rows, or sum of weights, of each level in the other folds; shape (folds, levels)."""
    size = int(levels.max()) + 1
    by_fold = np.bincount(folds * size + levels, weight, minlength=FOLDS * size).reshape(FOLDS, size)
    return by_fold.sum(axis=0) - by_fold


def _cross_fit_interpolation(value: Array, truth: Array, folds: Codes) -> Array:
    """Mean target of the next lower and next higher value in the other folds.

    Rows with exactly the same value are skipped, since they may be the same case. Follows any smooth function and needs
    fewer rows than bins.
    """
    fitted = np.full(truth.size, float(truth.mean()))
    for fold in range(FOLDS):
        in_fold, other = folds == fold, folds != fold
        distinct, inverse, rows = np.unique(value[other], return_inverse=True, return_counts=True)
        if distinct.size < 3 or not in_fold.any():
            continue
        means = np.bincount(inverse, truth[other]) / rows
        below = np.clip(np.searchsorted(distinct, value[in_fold], side="left") - 1, 0, distinct.size - 1)
        above = np.clip(np.searchsorted(distinct, value[in_fold], side="right"), 0, distinct.size - 1)
        fitted[in_fold] = (means[below] + means[above]) / 2
    return fitted


def _r_squared(fitted: Array, rank: Array) -> float:
    total = float(np.sum((rank - rank.mean()) ** 2))
    return 1 - float(np.sum((rank - fitted) ** 2)) / total if total else math.nan


def _blocked_linear_r_squared(value: Array, rank: Array, blocks: Codes) -> float:
    """R² of a straight line through ranks, fitted to the other blocks of rows."""
    x = (stats.rankdata(value) - 0.5) / value.size
    fitted = np.empty_like(rank)
    for block in range(FOLDS):
        in_block, other = blocks == block, blocks != block
        if not in_block.any() or np.ptp(x[other]) == 0:
            return 0.0
        slope, level = np.polyfit(x[other], rank[other], 1)
        fitted[in_block] = level + slope * x[in_block]
    return _r_squared(fitted, rank)


def _neighbour_concordance(values: ColumnValues, value: Array, truth: Array) -> float:
    """Concordance of value and target between neighbouring rows, in the better direction; ties count half."""
    change, value_change = np.diff(truth), np.diff(value)
    has_change = change != 0
    if values.stored == "text" or has_change.sum() < 10:
        return 0.0
    concordance = float(np.mean(np.where(value_change == 0, 0.5, np.sign(value_change) == np.sign(change))[has_change]))
    return max(concordance, 1 - concordance)


# --- AUC and p-values


def auc(score: Array, positive: NDArray[np.bool_]) -> float:
    """AUC: probability that a positive scores above a negative, ties count half.

    >>> auc(np.array([0.1, 0.4, 0.4]), np.array([False, True, False]))
    0.75
    """
    n_positive = int(positive.sum())
    if not 0 < n_positive < positive.size:
        return math.nan
    ranks = stats.rankdata(score)
    return float(
        (ranks[positive].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * (positive.size - n_positive))
    )


def auc_p_value(score: Array, positive: NDArray[np.bool_], *, exact: bool = False) -> float:
    """Two-sided p-value of an AUC by normal approximation with ties; `exact` permutes small samples."""
    n_positive, size = int(positive.sum()), positive.size
    if not 0 < n_positive < size or np.ptp(score) == 0:
        return 1.0
    ranks = stats.rankdata(score)
    deviation = abs(ranks[positive].sum() - n_positive * (size + 1) / 2)
    standard_deviation = math.sqrt(
        n_positive * (size - n_positive) / (size * (size - 1)) * float(np.sum((ranks - ranks.mean()) ** 2))
    )
    tail = 2 * float(stats.norm.sf(max(0.0, deviation - 0.5) / standard_deviation)) if standard_deviation else 1.0
    return (
        _permutation_p_value(ranks, positive.astype(np.float64), tail)
        if exact and size <= _MAX_ROWS_FOR_PERMUTATION
        else tail
    )


def _permutation_p_value(a: Array, b: Array, tail: float) -> float:
    """Permutation p-value of a covariance; where no permutation reaches it, the normal tail."""
    rng = np.random.default_rng(0)
    centred, other = a - a.mean(), b - b.mean()
    observed = abs(float(centred @ other)) * (1 - 1e-12)
    permuted = rng.permuted(np.broadcast_to(other, (_N_PERMUTATIONS, other.size)), axis=1)
    n_reached = int(np.sum(np.abs(permuted @ centred) >= observed))
    return (1 + n_reached) / (1 + _N_PERMUTATIONS) if n_reached else min(tail, 1 / (1 + _N_PERMUTATIONS))


def _correlation_p_value(a: Array, b: Array) -> float:
    if a.size < 4 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return 1.0
    r = float(np.corrcoef(a, b)[0, 1])
    if r <= 0:
        return 1.0
    t = r * math.sqrt((a.size - 2) / max(1e-300, 1 - r * r))
    return float(stats.t.sf(t, a.size - 2))


def spearman_test(a: Array, b: Array) -> tuple[float, float]:
    """Spearman's rank correlation and its permutation p-value; in the far tail, Student's t.

    >>> spearman_test(np.arange(30.0), np.arange(30.0))[0]
    1.0
    """
    x, y = stats.rankdata(a), stats.rankdata(b)
    if x.size < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan, 1.0
    rho = round(float(np.corrcoef(x, y)[0, 1]), 12)
    t = abs(rho) * math.sqrt((x.size - 2) / max(1e-300, 1 - rho * rho))
    tail = 2 * float(stats.t.sf(t, x.size - 2))
    if abs(rho) < 0.3:  # too weak to be reported, so the approximation suffices
        return rho, tail
    subset = slice(None) if x.size <= 1000 else np.linspace(0, x.size - 1, 1000).astype(int)
    return rho, _permutation_p_value(x[subset], y[subset], tail)
