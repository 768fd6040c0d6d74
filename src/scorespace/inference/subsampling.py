"""Samples to resample from: the table of one model, or the cases of all models; reduced where there are many cases."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.inference.multinomial import (
    cell_sampler,
    draw_counts,
    draw_group_counts,
    scatter_cells,
    stratified_sampler,
)
from scorespace.inference.time_series import block_counts, longest_block
from scorespace.tables import Array, Table
from scorespace.tables.paired import PairTable

MAX_JOINT_CASES: Final = 10_000  # cases of several models above which a subsample is resampled
CONDENSED_ROWS: Final = 512  # rows of a condensed table
MAX_CLASS_SCORES: Final = 40_000  # multiclass scores above which a subsample is resampled
MIN_PER_CLASS: Final = 200  # minimum number of cases per class (or groups) kept in a subsample
_GROUPED_ROWS: Final = 20_000  # rows of binned groups that are resampled

Draw = Callable[["np.random.Generator", int], Any]
DrawCache = dict[int, Any]


@dataclass(frozen=True)
class Resampler:
    """Draws replicates, and fills the tables of models from the drawn counts."""

    draw: Draw
    fill: Callable[[Any, Collection[str]], Mapping[str, Any]]
    models: Collection[str]

    def __call__(self, rng: np.random.Generator, count: int) -> Mapping[str, Any]:
        """Draw the tables of all models."""
        return self.fill(self.draw(rng, count), self.models)


def single_sample(model: str, table: Any) -> Source:
    """Return the sample of one model: condensed where there are many scores, a subsample where cases are kept."""
    if table.by_case and not table.copies:
        cells = np.arange(table.strata.size, dtype=np.int32)[None, :]
        return joint_sample(
            PairTable((model,), (table,), cells, table.strata, (), None, table.grouping, weight=table.weight)
        )
    light = table.condensed(CONDENSED_ROWS) if table.cells.size > 4 * CONDENSED_ROWS else table.uncertain()
    return SingleSample({model: light}, light is not table)


@dataclass(frozen=True, eq=False)
class SingleSample:
    """One table whose cells are resampled: as whole groups, weighted cases, or single cases.

    `is_reduced`: the table differs from the model's own. `part`: it holds a subsample. `scale` rescales the spread of
    its replicates to the full sample. `drawn` caches draws by resampling scheme.
    """

    tables: Mapping[str, Any]
    is_reduced: bool
    part: bool = False
    scale: float = 1.0
    drawn: dict[Any, DrawCache] = field(default_factory=dict, repr=False)

    @property
    def grouped(self) -> bool:
        """Whether whole groups are resampled, so that stratification does not apply."""
        return any(table.grouping is not None for table in self.tables.values())

    @property
    def cost(self) -> int:
        """Approximate number of counts per replicate."""
        return max(table.size for table in self.tables.values())

    def drawer(self, within: bool) -> Resampler:
        """Return the resampler of the table."""
        ((model, table),) = self.tables.items()
        return Resampler(cell_sampler(table, within), lambda drawn, _: {model: table.with_cells(drawn)}, self.tables)


def joint_sample(pairs: PairTable) -> JointSample:
    """Return the joint sample of all models; of many cases a subsample, evenly spaced within each class."""
    light = pairs.condensed(CONDENSED_ROWS) if pairs.cases > 2 * CONDENSED_ROWS else pairs
    light = pairs if all(a is b for a, b in zip(light.tables, pairs.tables, strict=True)) else light
    most = min(MAX_JOINT_CASES, max(1, MAX_CLASS_SCORES * pairs.cases // max(1, _scores(light))))
    times = pairs.times
    if (pairs.cases <= most or pairs.time is not None) and times is None:
        return JointSample(light, np.ones(pairs.cases, dtype=np.int64), is_reduced=light is not pairs)
    if pairs.group is not None:
        return _subsample_groups(light, pairs.group, most)
    sizes = np.bincount(pairs.code, times).astype(np.int64)
    limit = _limit_per_class(sizes, most)
    chosen, stand_for = [], []
    for code, size in enumerate(sizes):
        members = np.flatnonzero(pairs.code == code)
        n_kept = min(size, limit)
        places = (np.arange(n_kept) * size) // max(1, n_kept)
        # A row may represent many cases: take the row that contains the case with this number.
        rows = places if times is None else np.searchsorted(np.cumsum(times[members]), places, side="right")
        chosen.append(members[rows])
        stand_for.append(np.diff(places, append=size))
    cases, weight = np.concatenate(chosen), np.concatenate(stand_for)
    order = np.argsort(cases)
    return JointSample(replace(light.part(cases[order]), times=None), weight[order], is_reduced=True, part=True)


def _subsample_groups(pairs: PairTable, group: NDArray[np.int32], most: int) -> JointSample:
    """Keep every k-th group where there are many groups, and where there are few every k-th case of each."""
    groups = int(group.max()) + 1
    step = max(1, min(math.ceil(pairs.cases / most), groups // MIN_PER_CLASS))
    rows = np.flatnonzero(group % step == step // 2)
    if pairs.times is not None:
        return _subsample_rows(pairs, rows, group, 1 / math.sqrt(step))
    inner = max(1, rows.size // most)
    order = np.lexsort((pairs.code[rows], group[rows]))
    cases = np.sort(rows[order][inner // 2 :: inner])
    numbers = np.unique(group[cases], return_inverse=True)[1].astype(np.int32)
    part = replace(pairs.part(cases), group=numbers)
    return JointSample(part, np.ones(cases.size), 1 / math.sqrt(step), is_reduced=True, part=True)


def _subsample_rows(pairs: PairTable, rows: NDArray[np.intp], group: NDArray[np.int32], scale: float) -> JointSample:
    """Subsample rows of groups that represent several cases each: of too many rows, those with every k-th case."""
    times = np.asarray(pairs.times)[rows].astype(np.float64)
    if rows.size > _GROUPED_ROWS:
        order = np.lexsort((pairs.code[rows], group[rows]))
        reached = np.cumsum(times[order])
        places = (np.arange(_GROUPED_ROWS) + 0.5) * reached[-1] / _GROUPED_ROWS
        rows = rows[order][np.searchsorted(reached, places, side="right")]
        times = np.full(rows.size, reached[-1] / rows.size)
    numbers = np.unique(group[rows], return_inverse=True)[1].astype(np.int32)
    return JointSample(replace(pairs.part(rows), group=numbers, times=None), times, scale, is_reduced=True, part=True)


@dataclass(frozen=True, eq=False)
class JointSample:
    """The cases of several models, resampled once for all of them; each row represents `weight` cases.

    The count of a row has mean `weight`, and its cases are drawn one by one, so that a row of many cases has their
    spread. Of a subsample of groups, each group is drawn as one unit, and `scale` reduces the spread accordingly.
    """

    pairs: PairTable
    weight: Array
    scale: float = 1.0
    is_reduced: bool = False
    part: bool = False
    drawn: dict[Any, DrawCache] = field(default_factory=dict, repr=False)

    @property
    def grouped(self) -> bool:
        return self.pairs.group is not None or self.pairs.time is not None

    @property
    def tables(self) -> Mapping[str, Any]:
        """Tables of the cases that are resampled."""
        if not self.is_reduced:
            return dict(zip(self.pairs.models, self.pairs.tables, strict=True))
        weight = self.weight if self.pairs.weight is None else self.weight * self.pairs.weight
        drawn = self._fill(weight[None, :], self.pairs.models)
        return {model: table.with_cells(table.cells[0]) for model, table in drawn.items()}

    @property
    def cost(self) -> int:
        return (
            2 * self.pairs.cases
        )  # independent of the number of models, so that adding a model does not change the draws

    def drawer(self, within: bool) -> Resampler:
        weight, times = self.pairs.weight, self._count_sampler(within)

        def draw(rng: np.random.Generator, count: int) -> Array:
            drawn = times(rng, count)
            if weight is not None:
                return drawn * weight
            is_integer = drawn.dtype.kind in "iu"
            return drawn.astype(np.min_scalar_type(int(drawn.max(initial=0)))) if is_integer else drawn

        return Resampler(draw, self._fill, self.pairs.models)

    def _fill(self, times: Array, models: Collection[str]) -> dict[str, Any]:
        return {model: self._cell_counts[model].table(times) for model in models}

    @cached_property
    def _cell_counts(self) -> dict[str, CellCounts]:
        models = zip(self.pairs.models, self.pairs.tables, self.pairs.cell, strict=True)
        return {model: CellCounts(table, cell) for model, table, cell in models}

    def _count_sampler(self, within: bool) -> Draw:
        """Return the sampler of counts per row, shape (count, rows)."""
        pairs, weight = self.pairs, self.weight
        if pairs.group is not None:
            group, size = pairs.group, int(pairs.group.max()) + 1
            is_unweighted = bool((weight == 1).all())
            return lambda rng, count: draw_group_counts(size, rng, count)[:, group] * (1 if is_unweighted else weight)
        if pairs.time is not None:
            place = np.unique(pairs.time, return_inverse=True)[1]
            size, length = int(place.max()) + 1, longest_block(pairs)
            return lambda rng, count: block_counts(size, length, rng, count)[:, place]
        return stratified_sampler(weight, pairs.code) if within else lambda rng, count: draw_counts(weight, rng, count)


Source = SingleSample | JointSample
"""A sample to resample from: the tables of one or several models, possibly reduced."""


class CellCounts:
    """Adds the counts of drawn cases to the cells of a model's table; cases are sorted by cell once."""

    def __init__(self, table: Table, cell: NDArray[np.int32]) -> None:
        self._table = table
        self._order = np.argsort(cell, kind="stable")
        ordered = cell[self._order]
        starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if cell.size else np.empty(0, np.intp)
        self._fill = ordered[starts]
        self._starts = None if starts.size == cell.size else starts
        self._size = int(table.cells.shape[-1])

    def table(self, times: Array) -> Any:
        """Return the model's table for every replicate."""
        drawn = np.take(times, self._order, axis=1)
        if self._starts is not None:
            wide = np.float64 if drawn.dtype.kind == "f" else np.int32
            drawn = np.add.reduceat(drawn, self._starts, axis=1, dtype=wide)
        return self._table.with_cells(scatter_cells(drawn, self._fill, self._size))


def _scores(pairs: PairTable) -> int:
    """Maximum number of scores of a model: multiclass tables hold one per class and case."""
    return max((table.size for table in pairs.tables), default=0)


def _limit_per_class(sizes: Array, most: int) -> int:
    """Return the cases to keep per class for a total of at most `most`, with small classes complete."""
    limit = MIN_PER_CLASS
    for taken in np.sort(sizes):
        rest = sizes[sizes >= taken]
        limit = max(MIN_PER_CLASS, int((most - sizes[sizes < taken].sum()) // rest.size))
        if taken > limit:
            break
    return limit
