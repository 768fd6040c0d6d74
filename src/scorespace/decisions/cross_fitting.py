"""Repeated cross-fitting of thresholds on tables: each case is decided by a threshold chosen without its fold."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scorespace.costs import Condition
from scorespace.curves.hull import hull_edges
from scorespace.decisions.out_of_sample import OUTCOMES, CostEstimate, OutOfSampleCounts, mean_loss
from scorespace.tables import Array, ConfusionTable, Counts, ScoreTable, ratio
from scorespace.tables.paired import PairTable
from scorespace.tables.score_arrays import cumulate

Models = Mapping[str, ScoreTable | ConfusionTable]
Criterion = Callable[[Counts], tuple[Array, Array]]
"""Constraint violation and price of outcomes; the lowest price among the least violations is chosen."""

REPEATS: Final = 20
FOLDS: Final = 10
NOT_WHOLE: Final = "the weights are not whole numbers, so cases cannot be assigned to folds"
WEIGHTED: Final = "the cases have weights, which are not numbers of copies"
TOO_FEW_CASES: Final = "a class has fewer than two cases, so there are none to choose a threshold on"
_QUANTILES: Final = 1000  # quantiles per class that tables are condensed to
_MAX_SPLIT_CASES: Final = 2_000_000  # total number of cases over all repeats; with many cases fewer repeats are needed


@dataclass(frozen=True)
class CrossFit:
    """Out-of-sample outcomes of each model, and of the procedure that also chooses the model.

    `discordant` counts, for each model, positives and negatives that only the procedure (tp, fp) or only the model
    (fn, tn) predicts positive.
    """

    models: Mapping[str, OutOfSampleCounts]
    chosen: OutOfSampleCounts
    discordant: Mapping[str, Counts] = field(default_factory=dict)

    def over(self, model: str, condition: Condition, level: float = 0.95) -> CostEstimate:
        """Saving of the procedure against a single model with its cross-fitted thresholds."""
        if model not in self.discordant or self.chosen.counts is None:
            procedure_cost, model_cost = self.chosen.cost(condition, level), self.models[model].cost(condition, level)
            return CostEstimate(
                model_cost.value - procedure_cost.value, reason="the cases of the models are not matched"
            )
        c, counts = condition, self.chosen.counts
        savings = c.fn - c.tp, c.tn - c.fp, c.tp - c.fn, c.fp - c.tn
        sizes = float(counts.p), float(counts.n)
        return mean_loss(self.discordant[model], savings, sizes, c.prevalence, spread=self.chosen.spread, level=level)


def crossfit(
    models: Models,
    criterion: Criterion,
    *,
    pairs: PairTable | None = None,
    stratified: bool = False,
    repeats: int = REPEATS,
    folds: int = FOLDS,
    seed: int = 0,
) -> CrossFit:
    """Choose thresholds on nine folds and apply them to the tenth, for all folds and repeats; models are not refitted.

    Cases are assigned to folds at random, jointly for all models if `pairs` matches them; with fewer cases than folds
    each is left out alone. `stratified` (for a stated prevalence): folds have the same share of both classes. Otherwise
    they must not, since the prevalence is estimated as well.

    >>> from scorespace.tables import score_table
    >>> t = score_table([1, 1, 0, 1, 0, 0] * 20, list(range(6, 0, -1)) * 20)
    >>> crossfit({"nb": t}, lambda c: (0 * c.tp, c.fp + 5 * c.fn)).chosen.cost(Condition(fp=1, fn=5))
    0.167 [0.108, 0.357]
    """
    tables = {name: table.inside(ScoreTable) for name, table in models.items()}
    reason = _infeasible_reason(tables)
    if reason is not None:
        undefined = OutOfSampleCounts(None, reason=reason)
        return CrossFit(dict.fromkeys(tables, undefined), undefined)
    is_hard = [not table.thresholded for table in models.values()]
    pairs = None if pairs is None else pairs.only(*models)
    fold_counts, split = _count_folds(tables, pairs, stratified, repeats, folds, seed)
    thresholds = [
        _choose_thresholds(item, criterion, stratified, fixed) for item, fixed in zip(fold_counts, is_hard, strict=True)
    ]
    winner = argmin_price(
        *(np.stack([getattr(item, side) for item in thresholds], axis=-1) for side in ("missed", "price"))
    )
    # Training folds overlap, so the effective sample size is taken as nine tenths of the cases.
    variance_factor = folds / (folds - 1)
    outcomes = [
        OutOfSampleCounts(_sum_over_folds(item.outcomes), folds, 1.0 if is_fixed else variance_factor)
        for item, is_fixed in zip(thresholds, is_hard, strict=True)
    ]
    stacked = (np.stack([getattr(item.outcomes, side) for item in thresholds], axis=-1) for side in OUTCOMES)
    chosen = Counts(*(np.take_along_axis(item, winner[..., None], axis=-1)[..., 0] for item in stacked))
    # If every fold chooses the same model, the procedure is that model.
    single_model = int(winner.flat[0]) if (winner == winner.flat[0]).all() else None
    procedure = (
        OutOfSampleCounts(_sum_over_folds(chosen), folds, variance_factor)
        if single_model is None
        else outcomes[single_model]
    )
    if pairs is None or split is None or (len(models) == 1 and pairs.group is None):
        return CrossFit(dict(zip(models, outcomes, strict=True)), procedure)
    predictions = np.stack([_predict(pairs, k, item, split) for k, item in enumerate(thresholds)])
    model_of_case = np.take_along_axis(winner, split.astype(np.intp), axis=1)
    procedure_predictions = np.take_along_axis(predictions, model_of_case[None], axis=0)[0]
    outcomes = [
        replace(item, spread=item.spread * _design_effect(pairs, prediction))
        for item, prediction in zip(outcomes, predictions, strict=True)
    ]
    discordant = {
        name: count_discordant(pairs.label, procedure_predictions, prediction)
        for name, prediction in zip(models, predictions, strict=True)
    }
    procedure = replace(procedure, spread=procedure.spread * _design_effect(pairs, procedure_predictions))
    return CrossFit(dict(zip(models, outcomes, strict=True)), procedure, discordant)


@dataclass(frozen=True)
class JointOutcomes:
    """Cases of each class (repeats, 4) by the decisions of a cross-fitted and of a fixed threshold.

    The cells: positive by both, by the cross-fitted threshold only, by the fixed one only, by neither. `spread` is the
    design effect; where there are no outcomes, `reason` says why.
    """

    positives: Array
    negatives: Array
    spread: float = 1.0
    reason: str | None = None


def crossfit_against(
    table: ScoreTable,
    criterion: Criterion,
    cut: int,
    *,
    pairs: PairTable | None = None,
    stratified: bool = False,
    seed: int = 0,
) -> JointOutcomes:
    """Cross-fit a threshold, and count its decisions jointly with those of a fixed one with `cut` scores above it.

    With more than 2 000 distinct scores, the fixed threshold is rounded to a quantile.

    >>> from scorespace.tables import score_table
    >>> table = score_table([1, 1, 0, 1, 0, 0] * 20, list(range(6, 0, -1)) * 20)
    >>> crossfit_against(table, lambda c: (0 * c.tp, c.fp + 5 * c.fn), 2).positives[0]
    array([40., 20.,  0.,  0.])
    """
    reason = _infeasible_reason({"": table}) or (None if table.squares is None else WEIGHTED)
    if reason is not None:
        return JointOutcomes(np.empty((0, 4)), np.empty((0, 4)), reason=reason)
    (counts,), _ = _count_folds({"": table}, pairs, stratified, REPEATS, FOLDS, seed)
    chosen = _choose_thresholds(counts, criterion, stratified).cut
    fixed = np.full_like(chosen, int(counts.row[cut - 1]) + 1 if cut else 0)

    def cells(side: Array) -> Array:
        above = cumulate(side).astype(np.float64)
        both, mine, other = (
            np.take_along_axis(above, place[..., None], axis=-1)[..., 0]
            for place in (np.minimum(chosen, fixed), chosen, fixed)
        )
        rest = above[..., -1] - mine - other + both
        return np.asarray(np.stack([both, mine - both, other - both, rest], axis=-1).sum(axis=1))

    spread = 1.0 if pairs is None else _design_effect(pairs, pairs.place[0][None] < cut)
    return JointOutcomes(cells(counts.pos), cells(counts.neg), spread)


@dataclass(frozen=True)
class CostPath:
    """Cross-fitted outcomes of the threshold of minimum cost, as a function of the cost ratio FN : FP.

    For a cost ratio above `worth[k − 1]` and up to `worth[k]`, there are `tp[k]` true and `fp[k]` false positives.

    >>> from scorespace.tables import score_table
    >>> path = cost_paths({"nb": score_table([1, 1, 0, 1, 0, 0] * 20, list(range(6, 0, -1)) * 20)})["nb"]
    >>> float(path.fp[np.searchsorted(path.worth, 5.0)])  # as with crossfit for a cost ratio of 5
    20.0
    """

    worth: Array
    tp: Array
    fp: Array

    def thinned(self, most: int) -> CostPath:
        """Return the path with at most `most` changes; with many cases neighbouring choices hardly differ in cost."""
        if self.worth.size <= most:
            return self
        indices = np.linspace(0, self.worth.size - 1, most).astype(np.intp)
        segments = np.append(indices, self.worth.size)
        return CostPath(self.worth[indices], self.tp[segments], self.fp[segments])


def cost_paths(
    models: Models, *, pairs: PairTable | None = None, stratified: bool = False, seed: int = 0
) -> dict[str, CostPath]:
    """Return cross-fitted outcomes for all cost ratios at once; empty where cross-fitting is not possible.

    The threshold of minimum cost without a fold is a vertex of the ROC convex hull: it changes at the cost ratio given
    by the slope of each edge.
    """
    tables = {name: table.inside(ScoreTable) for name, table in models.items()}
    if _infeasible_reason(tables) is not None:
        return {}
    pairs = None if pairs is None else pairs.only(*models)
    fold_counts, _ = _count_folds(tables, pairs, stratified, REPEATS, FOLDS, seed)
    return {
        name: _path(counts, stratified, fixed=not models[name].thresholded)
        for name, counts in zip(models, fold_counts, strict=True)
    }


def _path(fold_counts: _FoldCounts, stratified: bool, fixed: bool) -> CostPath:
    repeats, folds, rows = fold_counts.pos.shape
    tp, fp = (cumulate(side).reshape(repeats * folds, rows + 1) for side in (fold_counts.pos, fold_counts.neg))
    if fixed:
        totals = (side[:, fold_counts.hard_threshold].sum(keepdims=True) / repeats for side in (tp, fp))
        return CostPath(np.empty(0), *totals)
    training = [
        (side.sum(axis=1, keepdims=True) - side).reshape(-1, rows) for side in (fold_counts.pos, fold_counts.neg)
    ]
    edges = hull_edges(*training)
    worth = ratio(edges.neg, edges.pos)
    if stratified:  # relative to the class sizes left by the fold
        n_pos, n_neg = (side.sum(axis=1) for side in training)
        worth = worth * (n_pos / n_neg)[edges.owner] * (fold_counts.neg[0].sum() / fold_counts.pos[0].sum())
    before = np.where(np.append(True, edges.owner[1:] != edges.owner[:-1]), 0, np.append(0, edges.end[:-1] + 1))
    steps = [side[edges.owner, edges.end + 1] - side[edges.owner, before] for side in (tp, fp)]
    worth, place = np.unique(worth, return_inverse=True)
    sums = (np.cumsum(np.bincount(place, side, minlength=worth.size)) / repeats for side in steps)
    return CostPath(worth[np.isfinite(worth)], *(np.append(0.0, side)[: np.isfinite(worth).sum() + 1] for side in sums))


def argmin_price(missed: Array, price: Array) -> Array:
    """Return the index (last axis) of the lowest price among the least violations; the first of ties.

    Ties are up to rounding, so that three costs of 0.1 equal one of 0.3. NaN is chosen only if everything is NaN.

    >>> int(argmin_price(np.zeros(3), np.array([0.5, 0.1 * 3, 0.3])))
    1
    """
    is_candidate = missed <= missed.min(axis=-1, keepdims=True)
    price = np.where(is_candidate & ~np.isnan(price), price, np.inf)
    tolerance = 1e-12 * np.abs(np.where(np.isinf(price), 0.0, price)).max(axis=-1, keepdims=True)
    return np.asarray(np.argmax(is_candidate & (price <= price.min(axis=-1, keepdims=True) + tolerance), axis=-1))


@dataclass(frozen=True)
class _FoldCounts:
    """Cases of each class per fold (repeats, folds, rows); `row` maps table rows to condensed rows."""

    pos: Array
    neg: Array
    row: Array
    hard_threshold: int


@dataclass(frozen=True)
class _FoldThresholds:
    """Thresholds chosen without each fold (repeats, folds), their violation and price, and the outcomes in the fold."""

    cut: Array
    missed: Array
    price: Array
    outcomes: Counts
    row: Array


def _infeasible_reason(tables: Mapping[str, ScoreTable]) -> str | None:
    if not all(table.whole for table in tables.values()):
        return NOT_WHOLE
    return TOO_FEW_CASES if any(min(table.n_pos, table.n_neg) < 2 for table in tables.values()) else None


def _count_folds(
    tables: Mapping[str, ScoreTable], pairs: PairTable | None, within: bool, repeats: int, folds: int, seed: int
) -> tuple[list[_FoldCounts], NDArray[np.uint8] | None]:
    """Return the cases of every model by fold, and the fold of each case if cases are matched."""
    if pairs is None:
        # The same seed for all models: the i-th highest positive of each model is in the same fold. With independent
        # folds, the model that is lucky in nine folds would win, and be unlucky in the tenth for that very reason.
        return [
            _count_rows(table, within, repeats, folds, np.random.default_rng(seed)) for table in tables.values()
        ], None
    split = split_cases(pairs, within, repeats, folds, np.random.default_rng(seed))
    return [_count_cases(pairs, k, split) for k in range(len(tables))], split


def split_cases(
    pairs: PairTable, stratified: bool, repeats: int, folds: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Assign every case to a fold (repeats, cases); groups stay together."""
    repeats = min(repeats, max(2, _MAX_SPLIT_CASES // pairs.cases))
    if pairs.group is not None:
        return assign_folds(int(pairs.group.max()) + 1, 0, repeats, folds, rng)[:, pairs.group]
    if not stratified:
        return assign_folds(pairs.cases, 0, repeats, folds, rng)
    fold = np.empty((repeats, pairs.cases), dtype=np.uint8)
    positive = pairs.label == 1
    positives = int(positive.sum())
    fold[:, positive] = assign_folds(positives, 0, repeats, folds, rng)
    fold[:, ~positive] = assign_folds(pairs.cases - positives, positives, repeats, folds, rng)
    return fold


def assign_folds(size: int, first: int, repeats: int, folds: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Assign folds evenly and shuffle them (repeats, size); `first` continues the numbering of another class."""
    fold = ((first + np.arange(size)) % folds).astype(np.uint8)
    return rng.permuted(np.tile(fold, (repeats, 1)), axis=1)


def _count_cases(pairs: PairTable, model: int, fold: NDArray[np.uint8]) -> _FoldCounts:
    table = pairs.tables[model]
    row, rows = condensed_rows(table)
    shape = (fold.shape[0], int(fold.max()) + 1, rows)
    cell = (np.arange(shape[0])[:, None] * shape[1] + fold) * rows + row[pairs.place[model]]
    pos, neg = (
        np.bincount(cell[:, pairs.label == label].ravel(), minlength=math.prod(shape)).reshape(shape)
        for label in (1, 0)
    )
    return _FoldCounts(pos, neg, row, _hard_threshold(table, row))


def _count_rows(table: ScoreTable, stratified: bool, repeats: int, folds: int, rng: np.random.Generator) -> _FoldCounts:
    row, rows = condensed_rows(table)
    pos, neg = (np.bincount(row, weights=column, minlength=rows).astype(np.int64) for column in (table.pos, table.neg))
    if stratified:
        split = [_split_rows(pos, 0, repeats, folds, rng), _split_rows(neg, int(pos.sum()), repeats, folds, rng)]
    else:
        split = np.split(_split_rows(np.concatenate([pos, neg]), 0, repeats, folds, rng), 2, axis=-1)
    return _FoldCounts(split[0], split[1], row, _hard_threshold(table, row))


def _split_rows(counts: NDArray[np.int64], first: int, repeats: int, folds: int, rng: np.random.Generator) -> Array:
    """Split the counts of every row into folds (repeats, folds, rows) of equal size: multivariate hypergeometric."""
    total, rows = int(counts.sum()), counts.size
    if total * repeats > _MAX_SPLIT_CASES:  # with many cases, folds of random size are equivalent
        return np.moveaxis(rng.multinomial(counts, np.full(folds, 1 / folds), (repeats, rows)), -1, 1)
    fold = assign_folds(total, first, repeats, folds, rng)
    cell = (np.arange(repeats)[:, None] * folds + fold) * rows + np.repeat(np.arange(rows), counts)
    return np.bincount(cell.ravel(), minlength=repeats * folds * rows).reshape(repeats, folds, rows)


def condensed_rows(table: ScoreTable) -> tuple[NDArray[np.intp], int]:
    """Return the condensed row of each table row, and the number of condensed rows.

    Rows are quantiles of each class rather than of all cases, so that rare positives keep rows of their own.
    """
    size = table.score.size
    if size <= 2 * _QUANTILES:
        return np.arange(size), size
    is_new = np.zeros(size, dtype=bool)
    for column in (table.pos, table.neg):
        quantile = ((np.cumsum(column) - column / 2) * (_QUANTILES / column.sum())).astype(np.int64)
        is_new[1:] |= quantile[1:] != quantile[:-1]
    row = np.cumsum(is_new)
    return row, int(row[-1]) + 1


def _hard_threshold(table: ScoreTable, row: Array) -> int:
    """Row of the threshold of a hard decision, which has scores of 1 and 0; one of them need not occur."""
    above = int(np.count_nonzero(table.score >= 0.5))
    return int(row[above - 1]) + 1 if above else 0


def _choose_thresholds(
    fold_counts: _FoldCounts, criterion: Criterion, stratified: bool = False, fixed: bool = False
) -> _FoldThresholds:
    """Choose the best threshold on all other folds, for each fold, and return its outcomes in the fold."""
    tp, fp = cumulate(fold_counts.pos), cumulate(fold_counts.neg)
    counts = Counts(tp=tp, fp=fp, fn=tp[..., -1:] - tp, tn=fp[..., -1:] - fp)
    totals = [getattr(counts, side).sum(axis=1, keepdims=True) for side in OUTCOMES]
    training = Counts(*(total - getattr(counts, side) for total, side in zip(totals, OUTCOMES, strict=True)))
    if stratified:  # unequal folds must not act as another prevalence
        pos_factor, neg_factor = ratio(totals[0] + totals[2], training.p), ratio(totals[1] + totals[3], training.n)
        training = Counts(
            training.tp * pos_factor, training.fp * neg_factor, training.fn * pos_factor, training.tn * neg_factor
        )
    missed, price = np.broadcast_arrays(*criterion(training))
    cut = np.full(price.shape[:-1], fold_counts.hard_threshold) if fixed else argmin_price(missed, price)
    selected = [
        np.take_along_axis(values, cut[..., None], axis=-1)[..., 0]
        for values in (missed, price, *(getattr(counts, side) for side in OUTCOMES))
    ]
    return _FoldThresholds(cut, selected[0], selected[1], Counts(*selected[2:]), fold_counts.row)


def _sum_over_folds(outcomes: Counts) -> Counts:
    """Sum outcomes over folds: every case once per repeat."""
    return Counts(*(getattr(outcomes, side).sum(axis=1) for side in OUTCOMES))


def _predict(pairs: PairTable, model: int, thresholds: _FoldThresholds, split: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which cases (repeats, cases) are predicted positive by the threshold chosen without their fold."""
    cut = np.take_along_axis(thresholds.cut, split.astype(np.intp), axis=1)
    return np.asarray(thresholds.row[pairs.place[model]] < cut)


def count_discordant(label: NDArray[np.uint8], a: Array, b: Array) -> Counts:
    """Count discordant positives and negatives, predicted positive only by a or only by b, in each repeat."""
    only_a, only_b = (a & ~b).astype(np.float64), (b & ~a).astype(np.float64)
    return Counts(tp=only_a @ label, fp=only_a @ (1 - label), fn=only_b @ label, tn=only_b @ (1 - label))


def _design_effect(pairs: PairTable, predictions: NDArray[np.bool_]) -> float:
    """Design effect: factor by which grouping increases the variance of the error rate."""
    if pairs.group is None:
        return 1.0
    errors = (predictions != (pairs.label == 1)).mean(axis=0)
    errors -= errors.mean()
    independent = float(errors @ errors)
    return max(1.0, float((np.bincount(pairs.group, weights=errors) ** 2).sum()) / independent) if independent else 1.0
