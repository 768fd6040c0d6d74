"""How well one column alone predicts the target: cross-fitted, from a table of folds, levels and outcomes.

The rows come in once, as integers; what is then computed are sums over (fold, level). Numbers are cut into as many
levels as there are quantile bins, so that any shape of dependence shows, and missing is a level of its own.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from scorespace.auditing.free import sortedness
from scorespace.frames.survey import Held
from scorespace.frozen import dataclass

FOLDS = 5
BINS = 50
MOST_ROWS = 50_000
MOST_CLASSES = 30
_PERMUTATIONS = 1_999
_SMALL = 400

Codes = NDArray[np.int64]
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Outcome:
    """The target on the rows used: its class by row, or its rank among the rows as a number from 0 to 1.

    `rows` are the places of these rows in the source, in their order. `serial`: neighbouring rows are alike, and
    not because all rows were sorted by the target.
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
    """How well a column alone predicts the target, how surely, and whether rows near each other explain it.

    `strength` is an AUC for two classes, else R² of ranks or the share of right classes beyond the commonest;
    `of_class` names the class of several that is told apart best, with its AUC as `class_strength`. `steady` is the
    strength that remains when whole stretches of rows are held out, or between neighbouring rows: known where the
    target moves with the rows, as in time series, whose smooth columns all predict each other. `labels` are the
    commonest of a column of texts.
    """

    column: str
    measure: str
    strength: float
    p: float
    steady: float = math.nan
    of_class: str = ""
    class_strength: float = math.nan
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gap:
    """The missing values of a column beside the target: AUC (or its like for numbers) of being missing."""

    column: str
    share: float
    area: float
    p: float
    of_class: str = ""


def outcome(held: Held, classes: tuple[str, ...], seed: int = 0, group: NDArray[np.int32] | None = None) -> Outcome:
    """The target on at most 50 000 rows drawn at random, with folds at random and folds of neighbouring rows.

    Rows of one group are in one fold: else a column that names the group would seem to predict the target.
    """
    source = np.random.default_rng(seed)
    there = np.flatnonzero(held.codes >= 0)
    if there.size > MOST_ROWS:
        there = np.sort(source.choice(there, MOST_ROWS, replace=False))
    codes = held.codes[there].astype(np.int64)
    if len(classes) > MOST_CLASSES:  # the rarest together
        codes, classes = np.minimum(codes, MOST_CLASSES - 1), (*classes[: MOST_CLASSES - 1], "others")
    rank = (stats.rankdata(codes) - 0.5) / max(1, codes.size)
    unit = np.arange(there.size) if group is None else np.unique(group[there], return_inverse=True)[1]
    folds = source.permutation(np.arange(int(unit.max(initial=0)) + 1) % FOLDS)[unit]
    blocks = np.arange(there.size) * FOLDS // max(1, there.size)
    return Outcome(held.name, there, classes, codes, rank, folds, blocks, _is_serial(codes, rank, bool(classes)))


def _is_serial(codes: Codes, rank: Array, nominal: bool) -> bool:
    if codes.size < 10 or np.ptp(codes) == 0:
        return False
    if sortedness(codes, nominal) >= 0.9:
        return False
    same = codes[1:] == codes[:-1] if nominal else -((rank[1:] - rank[:-1]) ** 2)
    drawn = np.random.default_rng(0).permutation(codes.size)
    mixed = codes[drawn][1:] == codes[drawn][:-1] if nominal else -((rank[drawn][1:] - rank[drawn][:-1]) ** 2)
    difference = float(np.mean(same) - np.mean(mixed))
    return difference > 3 * math.sqrt((float(np.var(same)) + float(np.var(mixed))) / codes.size)


def associate(held: Held, target: Outcome) -> Association:
    """The association of a column with the target."""
    levels, value = _levels(held, target), _ordinals(held, target)
    if target.classes:
        return _with_classes(held, levels, value, target)
    fitted = _fitted_ranks(levels, target.rank, target.folds)
    if _is_fine(held):
        between = _interpolated(value, target.rank, target.folds)
        fitted = max(fitted, between, key=lambda each: _r2(each, target.rank))
    strength, steady = _r2(fitted, target.rank), math.nan
    if target.serial and strength >= 0.9:
        blocked = _r2(_fitted_ranks(levels, target.rank, target.blocks), target.rank)
        straight = _extrapolated(value, target.rank, target.blocks)
        steady = max(blocked, straight, 2 * _neighbours(held, value, target.rank) - 1)
    return Association(held.name, "R²", strength, _correlation_p(fitted, target.rank), steady)


def gap(held: Held, target: Outcome) -> Gap | None:
    """How much the target differs between rows with and without a value; None where there is nothing to compare."""
    absent = held.codes[target.rows] < 0
    some = int(absent.sum())
    if min(some, target.size - some) < 5:
        return None
    if not target.classes:
        found, of_class, p = area(target.rank, absent), "", area_p(target.rank, absent)
    else:
        gone = absent.astype(np.float64)
        each = {k: area(gone, target.codes == k) for k in np.unique(target.codes).tolist()}
        best = max(each, key=lambda k: (round(abs(each[k] - 0.5), 9), each[k]))
        found, of_class = each[best], target.classes[best]
        p = min(1.0, max(1, len(each) - 1) * area_p(gone, target.codes == best))
    return Gap(held.name, some / target.size, found, p, of_class)


def _with_classes(held: Held, levels: Codes, value: Array, target: Outcome) -> Association:
    count = len(target.classes)
    scores = _fitted_shares(levels, target.codes, count, target.folds)
    if count == 2 and _is_fine(held):
        is_second = (target.codes == 1).astype(np.float64)
        between = _interpolated(value, is_second, target.folds)
        if area(between, target.codes == 1) > area(scores[:, 1], target.codes == 1):
            scores = np.stack([1 - between, between], axis=1)
    wanted = [1] if count == 2 else list(range(count))
    areas = {k: area(scores[:, k], target.codes == k) for k in wanted}
    sizes = np.bincount(target.codes, minlength=count)
    eligible = {k: a for k, a in areas.items() if sizes[k] >= 0.05 * target.size and sizes[k] >= 5} or areas
    best = max(eligible, key=lambda k: eligible[k])
    p = min(1.0, len(wanted) * area_p(scores[:, best], target.codes == best, exact=eligible[best] >= 0.7))
    if count == 2:
        measure, strength = "AUC", areas[1]
    else:
        measure = "share of right classes beyond the commonest"
        commonest = sizes.max() / target.size
        right = float(np.mean(scores.argmax(axis=1) == target.codes))
        strength = (right - commonest) / (1 - commonest) if commonest < 1 else math.nan
    steady = math.nan
    if target.serial and max(strength, eligible[best]) >= 0.9:
        blocked = _fitted_shares(levels, target.codes, count, target.blocks)
        near = _neighbours(held, value, (target.codes == best).astype(np.float64))
        steady = max(area(blocked[:, best], target.codes == best), near)
    labels = tuple(str(value) for value in held.values[:200]) if held.stored == "text" else ()
    return Association(held.name, measure, strength, p, steady, target.classes[best], eligible[best], labels)


# --- levels


def _levels(held: Held, target: Outcome) -> Codes:
    """The level of each row: its value where there are few, its quantile bin where there are many; missing is 0."""
    codes = held.codes[target.rows].astype(np.int64)
    most = min(BINS, max(2, target.size // 10))
    if held.stored == "text" or held.distinct <= most:
        return codes + 1
    cumulated = np.cumsum(held.counts) - held.counts / 2
    bins = np.minimum((cumulated * most / held.counts.sum()).astype(np.int64), most - 1)
    # A value that many rows share is a level of its own, else a code such as 0 would hide among its neighbours.
    spikes = held.counts >= held.counts.sum() / most
    bins[spikes] = most + np.arange(int(spikes.sum()))
    return np.append(bins + 1, 0)[codes]


def _is_fine(held: Held) -> bool:
    return held.stored in ("number", "date") and held.distinct > 10


def _ordinals(held: Held, target: Outcome) -> Array:
    """The place of each row's value in the order of values; missing in the middle."""
    codes = held.codes[target.rows].astype(np.float64)
    codes[codes < 0] = (held.distinct - 1) / 2
    return codes


# --- cross-fitting


def _fitted_shares(levels: Codes, codes: Codes, count: int, folds: Codes) -> Array:
    """For each row the share of every class among the rows of its level in the other folds, drawn to the overall."""
    levels = np.unique(levels, return_inverse=True)[1]
    prior = np.bincount(codes, minlength=count) / codes.size
    beside = _elsewhere(levels, folds) + 1
    fitted = np.empty((codes.size, count))
    for k in range(count):  # class by class, so that many labels and many classes fit into memory
        fitted[:, k] = ((_elsewhere(levels, folds, codes == k) + prior[k]) / beside)[folds, levels]
    return fitted


def _fitted_ranks(levels: Codes, rank: Array, folds: Codes) -> Array:
    """For each row the mean rank of the target among the rows of its level in the other folds."""
    others, beside = _elsewhere(levels, folds, rank), _elsewhere(levels, folds)
    return np.where(beside > 0, others / np.maximum(beside, 1), 0.5)[folds, levels]


def _elsewhere(levels: Codes, folds: Codes, weight: NDArray[Any] | None = None) -> NDArray[Any]:
    """For each fold and level the rows of that level in the other folds, or the sum of their weights."""
    size = int(levels.max()) + 1
    held = np.bincount(folds * size + levels, weight, minlength=FOLDS * size).reshape(FOLDS, size)
    return held.sum(axis=0) - held


def _interpolated(value: Array, truth: Array, folds: Codes) -> Array:
    """For each row the target between the next lower and the next higher value in the other folds.

    Rows with the very same value are left aside: they may be the same case again. Follows any smooth function, and
    needs fewer rows than bins do.
    """
    fitted = np.full(truth.size, float(truth.mean()))
    for fold in range(FOLDS):
        here, other = folds == fold, folds != fold
        places, inverse, rows = np.unique(value[other], return_inverse=True, return_counts=True)
        if places.size < 3 or not here.any():
            continue
        means = np.bincount(inverse, truth[other]) / rows
        below = np.clip(np.searchsorted(places, value[here], side="left") - 1, 0, places.size - 1)
        above = np.clip(np.searchsorted(places, value[here], side="right"), 0, places.size - 1)
        fitted[here] = (means[below] + means[above]) / 2
    return fitted


def _r2(fitted: Array, rank: Array) -> float:
    total = float(np.sum((rank - rank.mean()) ** 2))
    return 1 - float(np.sum((rank - fitted) ** 2)) / total if total else math.nan


def _extrapolated(value: Array, rank: Array, blocks: Codes) -> float:
    """R² of a straight line through ranks, fitted to other stretches of rows."""
    x = (stats.rankdata(value) - 0.5) / value.size
    fitted = np.empty_like(rank)
    for block in range(FOLDS):
        here, other = blocks == block, blocks != block
        if not here.any() or np.ptp(x[other]) == 0:
            return 0.0
        slope, level = np.polyfit(x[other], rank[other], 1)
        fitted[here] = level + slope * x[here]
    return _r2(fitted, rank)


def _neighbours(held: Held, value: Array, truth: Array) -> float:
    """How often, of neighbouring rows with different targets, the value has their order, or its reverse; ties half."""
    change, moved = np.diff(truth), np.diff(value)
    differ = change != 0
    if held.stored == "text" or differ.sum() < 10:
        return 0.0
    right = float(np.mean(np.where(moved == 0, 0.5, np.sign(moved) == np.sign(change))[differ]))
    return max(right, 1 - right)


# --- areas and p-values


def area(score: Array, positive: NDArray[np.bool_]) -> float:
    """AUC: how often a case of the class scores above one of the others, ties half.

    >>> area(np.array([0.1, 0.4, 0.4]), np.array([False, True, False]))
    0.75
    """
    hits = int(positive.sum())
    if not 0 < hits < positive.size:
        return math.nan
    ranks = stats.rankdata(score)
    return float((ranks[positive].sum() - hits * (hits + 1) / 2) / (hits * (positive.size - hits)))


def area_p(score: Array, positive: NDArray[np.bool_], *, exact: bool = False) -> float:
    """Two-sided p-value of an AUC by the normal distribution (with ties); `exact` permutes where rows are few."""
    hits, size = int(positive.sum()), positive.size
    if not 0 < hits < size or np.ptp(score) == 0:
        return 1.0
    ranks = stats.rankdata(score)
    found = abs(ranks[positive].sum() - hits * (size + 1) / 2)
    spread = math.sqrt(hits * (size - hits) / (size * (size - 1)) * float(np.sum((ranks - ranks.mean()) ** 2)))
    tail = 2 * float(stats.norm.sf(max(0.0, found - 0.5) / spread)) if spread else 1.0
    return _permuted_p(ranks, positive.astype(np.float64), tail) if exact and size <= _SMALL else tail


def _permuted_p(a: Array, b: Array, tail: float) -> float:
    """The share of permutations with at least as large a covariance; beyond their reach, the normal tail."""
    source = np.random.default_rng(0)
    centred, other = a - a.mean(), b - b.mean()
    found = abs(float(centred @ other)) * (1 - 1e-12)
    drawn = source.permuted(np.broadcast_to(other, (_PERMUTATIONS, other.size)), axis=1)
    reached = int(np.sum(np.abs(drawn @ centred) >= found))
    return (1 + reached) / (1 + _PERMUTATIONS) if reached else min(tail, 1 / (1 + _PERMUTATIONS))


def _correlation_p(a: Array, b: Array) -> float:
    if a.size < 4 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return 1.0
    r = float(np.corrcoef(a, b)[0, 1])
    if r <= 0:
        return 1.0
    t = r * math.sqrt((a.size - 2) / max(1e-300, 1 - r * r))
    return float(stats.t.sf(t, a.size - 2))


def rank_p(a: Array, b: Array) -> tuple[float, float]:
    """Spearman's rank correlation and its p-value by permutation; beyond their reach, that of Student's t.

    >>> rank_p(np.arange(30.0), np.arange(30.0))[0]
    1.0
    """
    x, y = stats.rankdata(a), stats.rankdata(b)
    if x.size < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan, 1.0
    rho = round(float(np.corrcoef(x, y)[0, 1]), 12)
    t = abs(rho) * math.sqrt((x.size - 2) / max(1e-300, 1 - rho * rho))
    tail = 2 * float(stats.t.sf(t, x.size - 2))
    if abs(rho) < 0.3:  # weaker than anything that is reported: the approximation will do
        return rho, tail
    few = slice(None) if x.size <= 1000 else np.linspace(0, x.size - 1, 1000).astype(int)
    return rho, _permuted_p(x[few], y[few], tail)
