"""What is drawn from: one table alone, or the cases of several models together; of many of them a lighter part."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.frozen import dataclass
from scorespace.resampling.multinomial import cells_drawer, class_drawer, counts_drawn, group_times, spread_out
from scorespace.resampling.time_series import block_counts, longest_block
from scorespace.tables import Array, Table
from scorespace.tables.pair import PairTable

MOST_ROWS: Final = 10_000  # cases of several models beyond which a part of them is drawn from
ROWS: Final = 512  # rows of a condensed table
MOST_SCORES: Final = 40_000  # scores of several classes beyond which a part of the cases is drawn from
FEWEST: Final = 200  # cases of a class that stay when only a part is drawn from
_GROUPED_ROWS: Final = 20_000  # rows of groups in bins that are drawn from

Draw = Callable[["np.random.Generator", int], Any]
Kept = dict[int, Any]


@dataclass(frozen=True)
class Drawer:
    """Draws that many replicates, and fills the tables of models from what was drawn."""

    draw: Draw
    fill: Callable[[Any, Collection[str]], Mapping[str, Any]]
    models: Collection[str]

    def __call__(self, rng: np.random.Generator, count: int) -> Mapping[str, Any]:
        """The tables of all models."""
        return self.fill(self.draw(rng, count), self.models)


def alone(model: str, table: Any) -> Source:
    """A model drawn by itself: of many distinct scores a condensed table, which spreads alike; of many cases a part."""
    if table.by_case and not table.copies:
        cells = np.arange(table.strata.size, dtype=np.int32)[None, :]
        return together(
            PairTable((model,), (table,), cells, table.strata, (), None, table.grouping, weight=table.weight)
        )
    light = table.condensed(ROWS) if table.cells.size > 4 * ROWS else table.uncertain()
    return Alone({model: light}, light is not table)


@dataclass(frozen=True, eq=False)
class Alone:
    """One table whose cells are drawn: whole groups, weighted cases, or as many cases as its weights count.

    `lighter`: it is another table than the model's own; `part`: of a part of the cases; `scale` narrows its spread;
    `drawn` is what was drawn, by how it was.
    """

    tables: Mapping[str, Any]
    lighter: bool
    part: bool = False
    scale: float = 1.0
    drawn: dict[Any, Kept] = field(default_factory=dict, repr=False)

    @property
    def grouped(self) -> bool:
        """Whether whole groups are drawn, so that nothing is drawn within classes."""
        return any(table.grouping is not None for table in self.tables.values())

    @property
    def cost(self) -> int:
        """About how many numbers a replicate takes."""
        return max(table.size for table in self.tables.values())

    def drawer(self, within: bool) -> Drawer:
        """What draws the tables of that many replicates, by model."""
        ((model, table),) = self.tables.items()
        return Drawer(cells_drawer(table, within), lambda drawn, _: {model: table.with_cells(drawn)}, self.tables)


def together(pairs: PairTable) -> Together:
    """All models drawn case by case; of many cases a part, those of each class as evenly as can be."""
    light = pairs.condensed(ROWS) if pairs.cases > 2 * ROWS else pairs
    light = pairs if all(a is b for a, b in zip(light.tables, pairs.tables, strict=True)) else light
    most = min(MOST_ROWS, max(1, MOST_SCORES * pairs.cases // max(1, _scores(light))))
    times = pairs.times
    if (pairs.cases <= most or pairs.time is not None) and times is None:
        return Together(light, np.ones(pairs.cases, dtype=np.int64), lighter=light is not pairs)
    if pairs.group is not None:
        return _part_of_groups(light, pairs.group, most)
    sizes = np.bincount(pairs.code, times).astype(np.int64)
    limit = _fair_limit(sizes, most)
    chosen, stand_for = [], []
    for code, size in enumerate(sizes):
        members = np.flatnonzero(pairs.code == code)
        kept = min(size, limit)
        places = (np.arange(kept) * size) // max(1, kept)
        # Of rows that stand for many cases, that in which the case with this number is.
        rows = places if times is None else np.searchsorted(np.cumsum(times[members]), places, side="right")
        chosen.append(members[rows])
        stand_for.append(np.diff(places, append=size))
    cases, weight = np.concatenate(chosen), np.concatenate(stand_for)
    order = np.argsort(cases)
    return Together(replace(light.part(cases[order]), times=None), weight[order], lighter=True, part=True)


def _part_of_groups(pairs: PairTable, group: NDArray[np.int32], most: int) -> Together:
    """Every k-th group where there are many, and where they are few every k-th case of each."""
    groups = int(group.max()) + 1
    step = max(1, min(math.ceil(pairs.cases / most), groups // FEWEST))
    kept = np.flatnonzero(group % step == step // 2)
    if pairs.times is not None:
        return _part_of_rows(pairs, kept, group, 1 / math.sqrt(step))
    inner = max(1, kept.size // most)
    order = np.lexsort((pairs.code[kept], group[kept]))
    cases = np.sort(kept[order][inner // 2 :: inner])
    numbers = np.unique(group[cases], return_inverse=True)[1].astype(np.int32)
    part = replace(pairs.part(cases), group=numbers)
    return Together(part, np.ones(cases.size), 1 / math.sqrt(step), lighter=True, part=True)


def _part_of_rows(pairs: PairTable, kept: NDArray[np.intp], group: NDArray[np.int32], scale: float) -> Together:
    """Rows of groups that each stand for their cases; of too many rows, those that every k-th case is in."""
    times = np.asarray(pairs.times)[kept].astype(np.float64)
    if kept.size > _GROUPED_ROWS:
        order = np.lexsort((pairs.code[kept], group[kept]))
        reached = np.cumsum(times[order])
        places = (np.arange(_GROUPED_ROWS) + 0.5) * reached[-1] / _GROUPED_ROWS
        kept = kept[order][np.searchsorted(reached, places, side="right")]
        times = np.full(kept.size, reached[-1] / kept.size)
    numbers = np.unique(group[kept], return_inverse=True)[1].astype(np.int32)
    return Together(replace(pairs.part(kept), group=numbers, times=None), times, scale, lighter=True, part=True)


@dataclass(frozen=True, eq=False)
class Together:
    """The cases of several models, drawn once for all of them; each stands for `weight` cases like it.

    So many are drawn for it on average, each by itself: what stands for many cases spreads no more than they do. Of a
    part of the groups each is drawn as one, and `scale` narrows what they spread.
    """

    pairs: PairTable
    weight: Array
    scale: float = 1.0
    lighter: bool = False
    part: bool = False
    drawn: dict[Any, Kept] = field(default_factory=dict, repr=False)

    @property
    def grouped(self) -> bool:
        return self.pairs.group is not None or self.pairs.time is not None

    @property
    def tables(self) -> Mapping[str, Any]:
        """The tables of the cases that are drawn from."""
        if not self.lighter:
            return dict(zip(self.pairs.models, self.pairs.tables, strict=True))
        weight = self.weight if self.pairs.weight is None else self.weight * self.pairs.weight
        drawn = self._filled(weight[None, :], self.pairs.models)
        return {model: table.with_cells(table.cells[0]) for model, table in drawn.items()}

    @property
    def cost(self) -> int:
        return 2 * self.pairs.cases  # however many models there are: blocks of draws must not change with them

    def drawer(self, within: bool) -> Drawer:
        weight, times = self.pairs.weight, self._times(within)

        def draw(rng: np.random.Generator, count: int) -> Array:
            drawn = times(rng, count)
            if weight is not None:
                return drawn * weight
            whole = drawn.dtype.kind in "iu"
            return drawn.astype(np.min_scalar_type(int(drawn.max(initial=0)))) if whole else drawn

        return Drawer(draw, self._filled, self.pairs.models)

    def _filled(self, times: Array, models: Collection[str]) -> dict[str, Any]:
        return {model: self._scatters[model].table(times) for model in models}

    @cached_property
    def _scatters(self) -> dict[str, _Scatter]:
        held = zip(self.pairs.models, self.pairs.tables, self.pairs.cell, strict=True)
        return {model: _Scatter(table, cell) for model, table, cell in held}

    def _times(self, within: bool) -> Draw:
        """How often each case, with those it stands for, is drawn (count, cases)."""
        pairs, weight = self.pairs, self.weight
        if pairs.group is not None:
            group, size = pairs.group, int(pairs.group.max()) + 1
            one = bool((weight == 1).all())
            return lambda rng, count: group_times(size, rng, count)[:, group] * (1 if one else weight)
        if pairs.time is not None:
            place = np.unique(pairs.time, return_inverse=True)[1]
            size, length = int(place.max()) + 1, longest_block(pairs)
            return lambda rng, count: block_counts(size, length, rng, count)[:, place]
        return class_drawer(weight, pairs.code) if within else lambda rng, count: counts_drawn(weight, rng, count)


Source = Alone | Together
"""What is drawn from: the tables of one or several models, perhaps lighter ones than their own."""


class _Scatter:
    """Puts how often cases were drawn into the cells of a model's table; the cases are sorted by cell once."""

    def __init__(self, table: Table, cell: NDArray[np.int32]) -> None:
        self._table = table
        self._order = np.argsort(cell, kind="stable")
        ordered = cell[self._order]
        starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if cell.size else np.empty(0, np.intp)
        self._filled = ordered[starts]
        self._starts = None if starts.size == cell.size else starts
        self._size = int(table.cells.shape[-1])

    def table(self, times: Array) -> Any:
        """The model's table for every replicate."""
        drawn = np.take(times, self._order, axis=1)
        if self._starts is not None:
            wide = np.float64 if drawn.dtype.kind == "f" else np.int32
            drawn = np.add.reduceat(drawn, self._starts, axis=1, dtype=wide)
        return self._table.with_cells(spread_out(drawn, self._filled, self._size))


def _scores(pairs: PairTable) -> int:
    """How many scores a case has at most, times the cases: tables of several classes hold one for each."""
    return max((table.size for table in pairs.tables), default=0)


def _fair_limit(sizes: Array, most: int) -> int:
    """How many cases of a class stay so that at most so many stay in all, the small classes whole."""
    limit = FEWEST
    for taken in np.sort(sizes):
        rest = sizes[sizes >= taken]
        limit = max(FEWEST, int((most - sizes[sizes < taken].sum()) // rest.size))
        if taken > limit:
            break
    return limit
