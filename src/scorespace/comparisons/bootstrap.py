"""The stratified bootstrap, on the counts of a table: replicates are an axis, not a loop."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import singledispatch
from typing import Any, Final

import numpy as np

from scorespace.results import Progress
from scorespace.tables import Array, ConfusionTable, Counts, ScoreTable

REPLICATES: Final = 2000
Resampler = Callable[[np.random.Generator, int], Any]
_CELLS_AT_ONCE: Final = 2_000_000  # numbers drawn per piece of work: some 16 MB, so that caches help


def bootstrap(
    function: Callable[[Any], Array],
    table: Any,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Array:
    """The function's value on that many tables, each drawn from the cases with replacement within classes.

    Work is cut into pieces that depend on the table alone and each has its own stream of random
    numbers, so the same seed gives the same replicates on any number of processors.

    >>> from scorespace.measures.ranking import auc
    >>> from scorespace.tables import score_table
    >>> bootstrap(auc, score_table([1, 0, 1, 0], [0.9, 0.4, 0.5, 0.1]), replicates=3)
    array([1., 1., 1.])
    """
    return replicated(resampler(table), function, _cells(table), replicates=replicates, seed=seed, progress=progress)


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
    def draw(rng: np.random.Generator, count: int) -> ConfusionTable:
        return replace(table, matrix=np.stack([_drawn(row, rng, count) for row in table.matrix], axis=1))

    return draw


@resampler.register
def _(table: ScoreTable) -> Resampler:
    present = [np.flatnonzero(weights) for weights in table.counts]  # found once, not in every replicate
    weights = [column[cells] for column, cells in zip(table.counts, present, strict=True)]
    # A replicate has no more cases than the table, so 32 bits hold all its counts; less memory, more speed.
    kind = np.int32 if table.total < 2**31 else np.int64

    def draw(rng: np.random.Generator, count: int) -> ScoreTable:
        counts = np.zeros((count, *table.counts.shape), dtype=kind)
        for column, cells in enumerate(present):
            counts[:, column, cells] = _drawn(weights[column], rng, count)
        return replace(table, counts=counts)

    return draw


def _drawn(weights: Array, rng: np.random.Generator, count: int) -> Array:
    """Multinomial counts (count, cells) of as many cases as the weights hold."""
    total = int(weights.sum(dtype=np.float64))
    if total == 0 or weights.size < 2:
        return np.broadcast_to(np.asarray(weights, dtype=np.int64), (count, weights.size))
    if weights.size * 8 < total or total * count >= 2**32:  # few cells: a binomial for each is cheaper
        return rng.multinomial(total, weights / total, count)
    chosen = rng.integers(0, total, (count, total), dtype=np.uint32)
    if weights.size < total:  # several cases share a cell
        chosen = np.repeat(np.arange(weights.size, dtype=np.uint32), weights.astype(np.intp))[chosen]
    if count > 1:
        chosen += (np.arange(count, dtype=np.uint32) * np.uint32(weights.size))[:, None]
    return np.bincount(chosen.ravel(), minlength=count * weights.size).reshape(count, weights.size)


def _cells(table: Any) -> int:
    held = {Counts: "tp", ConfusionTable: "matrix", ScoreTable: "counts"}[type(table)]
    return int(getattr(table, held).size)
