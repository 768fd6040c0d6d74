"""A threshold chosen on the data, judged on cases that did not choose it: repeated cross-fitting on tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scorespace.conditions import Condition
from scorespace.curves.hull import hull_edges
from scorespace.decisions.judged import OUTCOMES, Judged, Value, mean_loss
from scorespace.frozen import dataclass
from scorespace.tables import Array, ConfusionTable, Counts, ScoreTable, ratio
from scorespace.tables.pair import PairTable
from scorespace.tables.score import cumulated

Models = Mapping[str, ScoreTable | ConfusionTable]
Criterion = Callable[[Counts], tuple[Array, Array]]
"""By how much outcomes miss what is asked for, and what they cost: the cheapest of those that miss least is chosen."""

REPEATS: Final = 20
FOLDS: Final = 10
NOT_WHOLE: Final = "the weights are not whole numbers, so cases cannot be kept apart"
FEW: Final = "a class has fewer than two cases, so none is left to choose on"
_PARTS: Final = 1000  # of each class that tables are condensed to: a thousandth of a class hardly moves a cost
_CASES_AT_ONCE: Final = 2_000_000  # split one by one, over all repeats; a split matters less the more cases there are


@dataclass(frozen=True)
class Crossfit:
    """What a procedure does to cases that had no part in its choices: for each model, and with the model chosen too.

    `apart` counts, where cases are known pair by pair, those on which the procedure and one model alone
    differ: positives and negatives that only the procedure (tp, fp) or only the model (fn, tn) calls positive.
    """

    models: Mapping[str, Judged]
    chosen: Judged
    apart: Mapping[str, Counts] = field(default_factory=dict)

    def over(self, model: str, condition: Condition, level: float = 0.95) -> Value:
        """By how much the procedure costs less than one model at the thresholds chosen for it."""
        if model not in self.apart or self.chosen.counts is None:
            mine, its = self.chosen.cost(condition, level), self.models[model].cost(condition, level)
            return Value(its.value - mine.value, reason="the cases are not known pair by pair")
        c, of = condition, self.chosen.counts
        spared = c.fn - c.tp, c.tn - c.fp, c.tp - c.fn, c.fp - c.tn
        sizes = float(of.p), float(of.n)
        return mean_loss(self.apart[model], spared, sizes, c.prevalence, spread=self.chosen.spread, level=level)


def crossfit(
    models: Models,
    criterion: Criterion,
    *,
    pairs: PairTable | None = None,
    within_classes: bool = False,
    repeats: int = REPEATS,
    folds: int = FOLDS,
    seed: int = 0,
) -> Crossfit:
    """Choose on nine folds and judge on the tenth, for every fold and in every repeat; no model is fitted again.

    Cases are split at random, once for all models where `pairs` says which is which; with fewer cases than
    folds each is left out alone. `within_classes`, for a stated prevalence, every fold has its share of both
    classes. Else it must not: the share of positives is then itself a guess that the threshold was fitted to.

    >>> from scorespace.tables import score_table
    >>> t = score_table([1, 1, 0, 1, 0, 0] * 20, list(range(6, 0, -1)) * 20)
    >>> crossfit({"nb": t}, lambda c: (0 * c.tp, c.fp + 5 * c.fn)).chosen.cost(Condition(fp=1, fn=5))
    0.167 [0.108, 0.357]
    """
    tables = {name: table.inside(ScoreTable) for name, table in models.items()}
    reason = _unfit(tables)
    if reason is not None:
        none = Judged(None, reason=reason)
        return Crossfit(dict.fromkeys(tables, none), none)
    crisp = [not table.thresholded for table in models.values()]
    pairs = None if pairs is None else pairs.only(*models)
    held, split = _held(tables, pairs, within_classes, repeats, folds, seed)
    found = [_chosen(one, criterion, within_classes, fixed) for one, fixed in zip(held, crisp, strict=True)]
    winner = least(*(np.stack([getattr(one, side) for one in found], axis=-1) for side in ("missed", "price")))
    # Folds share most of what they are judged by: they are taken for as many cases as choose, nine tenths.
    shared = folds / (folds - 1)
    judged = [
        Judged(_over_folds(one.outcomes), folds, 1.0 if fix else shared) for one, fix in zip(found, crisp, strict=True)
    ]
    stacked = (np.stack([getattr(one.outcomes, side) for one in found], axis=-1) for side in OUTCOMES)
    chosen = Counts(*(np.take_along_axis(one, winner[..., None], axis=-1)[..., 0] for one in stacked))
    # Where every fold chooses the same model, the procedure is that model.
    always = int(winner.flat[0]) if (winner == winner.flat[0]).all() else None
    procedure = Judged(_over_folds(chosen), folds, shared) if always is None else judged[always]
    if pairs is None or split is None or (len(models) == 1 and pairs.group is None):
        return Crossfit(dict(zip(models, judged, strict=True)), procedure)
    alarms = np.stack([_alarms(pairs, k, one, split) for k, one in enumerate(found)])
    of_case = np.take_along_axis(winner, split.astype(np.intp), axis=1)
    taken = np.take_along_axis(alarms, of_case[None], axis=0)[0]
    judged = [replace(one, spread=one.spread * _spread(pairs, each)) for one, each in zip(judged, alarms, strict=True)]
    differ = {name: apart(pairs.label, taken, each) for name, each in zip(models, alarms, strict=True)}
    procedure = replace(procedure, spread=procedure.spread * _spread(pairs, taken))
    return Crossfit(dict(zip(models, judged, strict=True)), procedure, differ)


@dataclass(frozen=True)
class Path:
    """What the threshold of least cost does to cases that did not choose it, for every worth of a hit.

    A hit that is worth more than `worth[k − 1]` false alarms, and at most `worth[k]`, leads to `tp[k]` and `fp[k]`.

    >>> from scorespace.tables import score_table
    >>> path = paths({"nb": score_table([1, 1, 0, 1, 0, 0] * 20, list(range(6, 0, -1)) * 20)})["nb"]
    >>> float(path.fp[np.searchsorted(path.worth, 5.0)])  # as crossfit finds it for a miss that costs 5
    20.0
    """

    worth: Array
    tp: Array
    fp: Array

    def thinned(self, most: int) -> Path:
        """The path with at most so many changes: of very many cases, neighbouring choices hardly differ in cost."""
        if self.worth.size <= most:
            return self
        kept = np.linspace(0, self.worth.size - 1, most).astype(np.intp)
        places = np.append(kept, self.worth.size)
        return Path(self.worth[kept], self.tp[places], self.fp[places])


def paths(
    models: Models, *, pairs: PairTable | None = None, within_classes: bool = False, seed: int = 0
) -> dict[str, Path]:
    """The outcomes of cross-fitting under all costs at once; empty where cases cannot be kept apart.

    The threshold of least cost without a fold is a corner of a hull, and only its edges matter: where a hit is worth
    as many false alarms as an edge has, the choice moves on from its first end to its second.
    """
    tables = {name: table.inside(ScoreTable) for name, table in models.items()}
    if _unfit(tables) is not None:
        return {}
    pairs = None if pairs is None else pairs.only(*models)
    held, _ = _held(tables, pairs, within_classes, REPEATS, FOLDS, seed)
    return {
        name: _path(one, within_classes, fixed=not models[name].thresholded)
        for name, one in zip(models, held, strict=True)
    }


def _path(held: _Held, within_classes: bool, fixed: bool) -> Path:
    repeats, folds, rows = held.pos.shape
    tp, fp = (cumulated(side).reshape(repeats * folds, rows + 1) for side in (held.pos, held.neg))
    if fixed:
        one = (side[:, held.crisp_cut].sum(keepdims=True) / repeats for side in (tp, fp))
        return Path(np.empty(0), *one)
    rest = [(side.sum(axis=1, keepdims=True) - side).reshape(-1, rows) for side in (held.pos, held.neg)]
    edges = hull_edges(*rest)
    worth = ratio(edges.neg, edges.pos)
    if within_classes:  # as shares of each class, whatever the fold left of it
        up, across = (side.sum(axis=1) for side in rest)
        worth = worth * (up / across)[edges.owner] * (held.neg[0].sum() / held.pos[0].sum())
    before = np.where(np.append(True, edges.owner[1:] != edges.owner[:-1]), 0, np.append(0, edges.end[:-1] + 1))
    gained = [side[edges.owner, edges.end + 1] - side[edges.owner, before] for side in (tp, fp)]
    worth, place = np.unique(worth, return_inverse=True)
    sums = (np.cumsum(np.bincount(place, side, minlength=worth.size)) / repeats for side in gained)
    return Path(worth[np.isfinite(worth)], *(np.append(0.0, side)[: np.isfinite(worth).sum() + 1] for side in sums))


def least(missed: Array, price: Array) -> Array:
    """The index (last axis) of the least price among those that miss by least; of equal ones the first.

    Equal up to rounding, so that three misses at 0.1 are no dearer than a false alarm at 0.3. What has no
    price is chosen only where nothing has.

    >>> int(least(np.zeros(3), np.array([0.5, 0.1 * 3, 0.3])))
    1
    """
    kept = missed <= missed.min(axis=-1, keepdims=True)
    price = np.where(kept & ~np.isnan(price), price, np.inf)
    slack = 1e-12 * np.abs(np.where(np.isinf(price), 0.0, price)).max(axis=-1, keepdims=True)
    return np.asarray(np.argmax(kept & (price <= price.min(axis=-1, keepdims=True) + slack), axis=-1))


@dataclass(frozen=True)
class _Held:
    """How many cases of each class each fold holds (repeats, folds, rows); `row` is where rows of the table went."""

    pos: Array
    neg: Array
    row: Array
    crisp_cut: int


@dataclass(frozen=True)
class _Chosen:
    """The cut chosen without each fold (repeats, folds), what it missed and cost there, and did to the fold."""

    cut: Array
    missed: Array
    price: Array
    outcomes: Counts
    row: Array


def _unfit(tables: Mapping[str, ScoreTable]) -> str | None:
    if not all(table.whole for table in tables.values()):
        return NOT_WHOLE
    return FEW if any(min(table.n_pos, table.n_neg) < 2 for table in tables.values()) else None


def _held(
    tables: Mapping[str, ScoreTable], pairs: PairTable | None, within: bool, repeats: int, folds: int, seed: int
) -> tuple[list[_Held], NDArray[np.uint8] | None]:
    """The cases of every model in folds, and the fold of each case where they are known pair by pair."""
    if pairs is None:
        # Splits are no bootstrap: every case is judged once, so they share nothing with the replicates of the measures.
        # One seed for all: the i-th highest positive of one model is taken for that of another. Were models split
        # apart, the one that is lucky in nine folds would win, and be unlucky in the tenth for that very reason.
        return [_held_rows(one, within, repeats, folds, np.random.default_rng(seed)) for one in tables.values()], None
    split = split_cases(pairs, within, repeats, folds, np.random.default_rng(seed))
    return [_held_cases(pairs, k, split) for k in range(len(tables))], split


def split_cases(
    pairs: PairTable, within_classes: bool, repeats: int, folds: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """The fold of every case (repeats, cases); related cases stay together."""
    repeats = min(repeats, max(2, _CASES_AT_ONCE // pairs.cases))
    if pairs.group is not None:
        return dealt(int(pairs.group.max()) + 1, 0, repeats, folds, rng)[:, pairs.group]
    if not within_classes:
        return dealt(pairs.cases, 0, repeats, folds, rng)
    fold = np.empty((repeats, pairs.cases), dtype=np.uint8)
    positive = pairs.label == 1
    positives = int(positive.sum())
    fold[:, positive] = dealt(positives, 0, repeats, folds, rng)
    fold[:, ~positive] = dealt(pairs.cases - positives, positives, repeats, folds, rng)
    return fold


def dealt(size: int, first: int, repeats: int, folds: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Folds dealt out evenly and shuffled (repeats, size); dealing goes on from where another class ended."""
    hand = ((first + np.arange(size)) % folds).astype(np.uint8)
    return rng.permuted(np.tile(hand, (repeats, 1)), axis=1)


def _held_cases(pairs: PairTable, model: int, fold: NDArray[np.uint8]) -> _Held:
    table = pairs.tables[model]
    row, rows = condensed_rows(table)
    shape = (fold.shape[0], int(fold.max()) + 1, rows)
    where = (np.arange(shape[0])[:, None] * shape[1] + fold) * rows + row[pairs.place[model]]
    pos, neg = (
        np.bincount(where[:, pairs.label == label].ravel(), minlength=math.prod(shape)).reshape(shape)
        for label in (1, 0)
    )
    return _Held(pos, neg, row, _crisp_cut(table, row))


def _held_rows(table: ScoreTable, within_classes: bool, repeats: int, folds: int, rng: np.random.Generator) -> _Held:
    row, rows = condensed_rows(table)
    pos, neg = (np.bincount(row, weights=column, minlength=rows).astype(np.int64) for column in (table.pos, table.neg))
    if within_classes:
        split = [_split_rows(pos, 0, repeats, folds, rng), _split_rows(neg, int(pos.sum()), repeats, folds, rng)]
    else:
        split = np.split(_split_rows(np.concatenate([pos, neg]), 0, repeats, folds, rng), 2, axis=-1)
    return _Held(split[0], split[1], row, _crisp_cut(table, row))


def _split_rows(counts: NDArray[np.int64], first: int, repeats: int, folds: int, rng: np.random.Generator) -> Array:
    """The counts of every row in folds (repeats, folds, rows) of equal size: multivariate hypergeometric."""
    total, rows = int(counts.sum()), counts.size
    if total * repeats > _CASES_AT_ONCE:  # folds of random size are as good as equal ones then
        return np.moveaxis(rng.multinomial(counts, np.full(folds, 1 / folds), (repeats, rows)), -1, 1)
    fold = dealt(total, first, repeats, folds, rng)
    where = (np.arange(repeats)[:, None] * folds + fold) * rows + np.repeat(np.arange(rows), counts)
    return np.bincount(where.ravel(), minlength=repeats * folds * rows).reshape(repeats, folds, rows)


def condensed_rows(table: ScoreTable) -> tuple[NDArray[np.intp], int]:
    """Where each row of a table goes when neighbours are merged, and how many rows are left.

    By shares of each class, and not of all cases: ten positives among a million keep rows of their own.
    """
    size = table.score.size
    if size <= 2 * _PARTS:
        return np.arange(size), size
    new = np.zeros(size, dtype=bool)
    for column in (table.pos, table.neg):
        part = ((np.cumsum(column) - column / 2) * (_PARTS / column.sum())).astype(np.int64)
        new[1:] |= part[1:] != part[:-1]
    row = np.cumsum(new)
    return row, int(row[-1]) + 1


def _crisp_cut(table: ScoreTable, row: Array) -> int:
    """The cut of a decision, which is a score of 1 or 0; one of both need not occur."""
    above = int(np.count_nonzero(table.score >= 0.5))
    return int(row[above - 1]) + 1 if above else 0


def _chosen(held: _Held, criterion: Criterion, within_classes: bool = False, fixed: bool = False) -> _Chosen:
    """For every fold the cut that is best on all others, and what it does to the cases of the fold."""
    tp, fp = cumulated(held.pos), cumulated(held.neg)
    here = Counts(tp=tp, fp=fp, fn=tp[..., -1:] - tp, tn=fp[..., -1:] - fp)
    whole = [getattr(here, side).sum(axis=1, keepdims=True) for side in OUTCOMES]
    rest = Counts(*(all_ - getattr(here, side) for all_, side in zip(whole, OUTCOMES, strict=True)))
    if within_classes:  # uneven folds must not pass for another prevalence
        up, across = ratio(whole[0] + whole[2], rest.p), ratio(whole[1] + whole[3], rest.n)
        rest = Counts(rest.tp * up, rest.fp * across, rest.fn * up, rest.tn * across)
    missed, price = np.broadcast_arrays(*criterion(rest))
    cut = np.full(price.shape[:-1], held.crisp_cut) if fixed else least(missed, price)
    at = [
        np.take_along_axis(one, cut[..., None], axis=-1)[..., 0]
        for one in (missed, price, *(getattr(here, side) for side in OUTCOMES))
    ]
    return _Chosen(cut, at[0], at[1], Counts(*at[2:]), held.row)


def _over_folds(outcomes: Counts) -> Counts:
    """Outcomes added up over folds: every case once in each repeat."""
    return Counts(*(getattr(outcomes, side).sum(axis=1) for side in OUTCOMES))


def _alarms(pairs: PairTable, model: int, chosen: _Chosen, split: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which cases (repeats, cases) are called positive, each by the cut chosen without its fold."""
    cut = np.take_along_axis(chosen.cut, split.astype(np.intp), axis=1)
    return np.asarray(chosen.row[pairs.place[model]] < cut)


def apart(label: NDArray[np.uint8], a: Array, b: Array) -> Counts:
    """How many positives and negatives only a, or only b, calls positive, in each repeat (repeats, cases)."""
    only_a, only_b = (a & ~b).astype(np.float64), (b & ~a).astype(np.float64)
    return Counts(tp=only_a @ label, fp=only_a @ (1 - label), fn=only_b @ label, tn=only_b @ (1 - label))


def _spread(pairs: PairTable, alarms: NDArray[np.bool_]) -> float:
    """By how much groups of related cases widen the variance of a share of errors: the design effect."""
    if pairs.group is None:
        return 1.0
    wrong = (alarms != (pairs.label == 1)).mean(axis=0)
    wrong -= wrong.mean()
    alone = float(wrong @ wrong)
    return max(1.0, float((np.bincount(pairs.group, weights=wrong) ** 2).sum()) / alone) if alone else 1.0
