"""The stratified bootstrap, on the counts of a table: replicates are an axis, not a loop."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import singledispatch
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.measures.measure import Measure
from scorespace.results import Progress
from scorespace.tables import Array, ClassTable, ConfusionTable, Counts, DrawnCases, ScoreTable

REPLICATES: Final = 2000
WITHIN_CLASSES: Final = frozenset(
    {"tpr", "fpr", "tnr", "fnr", "bacc", "youden", "gmean", "lr_pos", "lr_neg", "dor", "corner", "auc", "gini", "u"}
    | {"pauc", "auch", "ks", "tpr_at", "fpr_at", "sauc", "prob_auc"}
)
"""Measures that do not depend on how common the classes are: drawing within classes leaves out no chance."""
Resampler = Callable[[np.random.Generator, int], Any]
_BLOCK: Final = 4096  # cases per block when many are drawn; its counts fit the fastest cache
_CELLS_AT_ONCE: Final = 2_000_000  # numbers drawn per piece of work: some 16 MB, so that caches help


def bootstrap(
    function: Callable[[Any], Array],
    table: Any,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    progress: Progress | None = None,
    stratified: bool = True,
) -> Array:
    """The function's value on that many tables, each drawn from the cases with replacement within classes.

    Not `stratified`, from all cases together, so that the shares of the classes are left to chance too.

    Work is cut into pieces that depend on the table alone and each has its own stream of random
    numbers, so the same seed gives the same replicates on any number of processors.

    >>> from scorespace.measures.ranking import auc
    >>> from scorespace.tables import score_table
    >>> bootstrap(auc, score_table([1, 0, 1, 0], [0.9, 0.4, 0.5, 0.1]), replicates=3)
    array([1., 1., 1.])
    """
    of_pairs = isinstance(function, Measure) and DrawnCases in function.functions and isinstance(table, ScoreTable)
    within = _pairs_resampler if of_pairs else resampler
    draw = within(table) if stratified else mixed_resampler(table)
    return replicated(draw, function, _cells(table), replicates=replicates, seed=seed, progress=progress)


def replicated(
    draw: Resampler,
    function: Callable[[Any], Array],
    cells: int,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Array:
    """The function's value on that many draws, each of so many cells, in pieces of bounded size."""
    size = max(1, min(replicates, _CELLS_AT_ONCE // max(1, cells)))
    sizes = [min(size, replicates - start) for start in range(0, replicates, size)]
    streams = np.random.SeedSequence(seed).spawn(len(sizes))

    def piece(count: int, stream: np.random.SeedSequence) -> Array:
        values = function(draw(np.random.Generator(np.random.SFC64(stream)), count))
        return np.asarray(values, dtype=np.float64)

    if len(sizes) == 1:
        values = piece(sizes[0], streams[0])
        if progress is not None:
            progress(1.0)
        return values
    parts = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # the drawing and counting release the GIL
        for done, part in enumerate(pool.map(piece, sizes, streams), start=1):
            parts.append(part)
            if progress is not None:
                progress(done / len(sizes))
    return np.concatenate(parts)


@singledispatch
def resampler(table: Any) -> Resampler:
    """What draws replicates of a table along a new first axis, each with the same number of cases per class."""
    raise TypeError(f"cannot resample a {type(table).__name__}")


@resampler.register
def _(table: Counts) -> Resampler:
    def draw(rng: np.random.Generator, count: int) -> Counts:
        def hits(right: Array, total: Array) -> Array:
            return rng.binomial(np.asarray(total, dtype=np.int64), right / np.maximum(total, 1), (count, *right.shape))

        tp, fp = hits(table.tp, table.p), hits(table.fp, table.n)
        return Counts(tp=tp, fp=fp, fn=table.p - tp, tn=table.n - fp)

    return draw


@resampler.register
def _(table: ConfusionTable) -> Resampler:
    cases = table.class_totals.astype(np.int64)
    shares = table.matrix / np.maximum(cases, 1)[:, None]  # a class without cases has none to draw

    def draw(rng: np.random.Generator, count: int) -> ConfusionTable:
        return replace(table, matrix=rng.multinomial(cases, shares, (count, cases.size)).astype(np.float64))

    return draw


@resampler.register
def _(table: ScoreTable) -> Resampler:
    present = [np.flatnonzero(weights) for weights in table.counts]  # found once, not in every replicate
    weights = [column[cells] for column, cells in zip(table.counts, present, strict=True)]

    def draw(rng: np.random.Generator, count: int) -> ScoreTable:
        drawn = [_drawn(column, rng, count) for column in weights]
        # Counts are mostly below ten: bytes hold them, and memory is what takes the time.
        counts = np.zeros(
            (count, *table.counts.shape), dtype=np.min_scalar_type(max(int(d.max(initial=0)) for d in drawn))
        )
        for column, cells in enumerate(present):
            counts[:, column, cells] = drawn[column]
        return replace(table, counts=counts)

    return draw


@resampler.register
def _(table: ClassTable) -> Resampler:
    weight = table.case_weight
    if table.group is not None:
        return _whole_groups(table, table.group)
    cases = [np.flatnonzero((table.label == k) & (weight > 0)) for k in range(len(table.classes))]

    def draw(rng: np.random.Generator, count: int) -> ClassTable:
        drawn = np.zeros((count, table.label.size))
        for of_class in cases:
            drawn[:, of_class] = _drawn(weight[of_class], rng, count)
        return table.with_cells(drawn)

    return draw


def mixed_resampler(table: Any) -> Resampler:
    """What draws replicates from all cases together, whatever their class."""
    if isinstance(table, Counts):
        four = np.array([table.tp, table.fp, table.fn, table.tn])

        def draw_counts(rng: np.random.Generator, count: int) -> Counts:
            return Counts(*rng.multinomial(int(four.sum()), four / four.sum(), count).T)

        return draw_counts
    if isinstance(table, ClassTable):
        held = np.flatnonzero(table.case_weight)
        times = table.case_weight[held]

        def draw_cases(rng: np.random.Generator, count: int) -> ClassTable:
            weight = np.zeros((count, table.label.size))
            weight[:, held] = _drawn(times, rng, count)
            return table.with_cells(weight)

        return draw_cases
    name = "matrix" if isinstance(table, ConfusionTable) else "counts"
    cells = getattr(table, name)
    filled = np.flatnonzero(cells)
    weights = cells.ravel()[filled]

    def draw(rng: np.random.Generator, count: int) -> Any:
        drawn = np.zeros((count, cells.size))
        drawn[:, filled] = _drawn(weights, rng, count)
        return replace(table, **{name: drawn.reshape(count, *cells.shape)})

    return draw


def _whole_groups(table: ClassTable, group: NDArray[np.int32]) -> Resampler:
    size = int(group.max()) + 1

    def draw(rng: np.random.Generator, count: int) -> ClassTable:
        return table.with_cells(rng.multinomial(size, np.full(size, 1 / size), count)[:, group] * table.case_weight)

    return draw


def _pairs_resampler(table: ScoreTable) -> Resampler:
    """As the resampler of score tables, for measures that need no more than the pairs."""
    pos, neg = table.columns
    places = np.flatnonzero(pos), np.flatnonzero(neg)
    of_pos, of_neg = pos[places[0]], neg[places[1]]
    above = np.searchsorted(places[0], places[1], side="left")
    level = np.searchsorted(places[0], places[1], side="right")
    level = above if np.array_equal(above, level) else level
    sizes = float(table.n_pos), float(table.n_neg)

    def draw(rng: np.random.Generator, count: int) -> DrawnCases:
        return DrawnCases(_drawn(of_pos, rng, count), _drawn(of_neg, rng, count), above, level, *sizes)

    return draw


def _drawn(weights: Array, rng: np.random.Generator, count: int) -> Array:
    """Multinomial counts (count, cells) of as many cases as the weights hold."""
    total = int(weights.sum(dtype=np.float64))
    if total == 0 or weights.size < 2:
        return np.broadcast_to(np.asarray(weights, dtype=np.int64), (count, weights.size))
    if weights.size * 8 < total or total * count >= 2**32:  # few cells: a binomial for each is cheaper
        return rng.multinomial(total, weights / total, count)
    chosen = _chosen(total, rng, count)
    if weights.size < total:  # several cases share a cell
        chosen = np.repeat(np.arange(weights.size, dtype=np.uint32), weights.astype(np.intp))[chosen]
    if count > 1:
        chosen += (np.arange(count, dtype=np.uint32) * np.uint32(weights.size))[:, None]
    return np.bincount(chosen.ravel(), minlength=count * weights.size).reshape(count, weights.size)


def _chosen(total: int, rng: np.random.Generator, count: int) -> NDArray[np.uint32]:
    """As many draws of cases as there are cases, with replacement, for each replicate; in no order.

    Many cases are drawn block by block: first how many fall into each block, then which of its
    cases. That is the same distribution, and counting the draws then stays within the cache.
    """
    if total < 16 * _BLOCK:
        return rng.integers(0, total, (count, total), dtype=np.uint32)
    starts = np.arange(0, total, _BLOCK, dtype=np.uint32)
    sizes = np.diff(starts, append=np.uint32(total))
    falls = rng.multinomial(total, sizes / total, count)
    start = np.repeat(np.tile(starts, count), falls.ravel())
    # Raw bits, four draws of 16 bits from each word: a block of 4096 needs twelve of them.
    within = rng.bit_generator.random_raw(start.size // 4 + 1).view(np.uint16)[: start.size] & np.uint16(_BLOCK - 1)
    if sizes[-1] < _BLOCK:  # the last block is shorter
        last = np.flatnonzero(start == starts[-1])
        within[last] = rng.integers(0, sizes[-1], last.size, dtype=np.uint16)
    start += within
    return start.reshape(count, total)


def _cells(table: Any) -> int:
    return int(table.score.size if isinstance(table, ClassTable) else table.cells.size)
