"""Cases drawn again: one draw of a sample serves every number that is asked of it.

Replicates are an axis of the tables and not a loop. They come in blocks that depend on the sample alone and have
their own streams of random numbers, so the same seed gives the same replicates on any number of processors; a
block goes to all who asked and is thrown away.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from scorespace.measures.request import Request
from scorespace.results import Progress
from scorespace.tables import Array, DrawnCases, ScoreTable, Table
from scorespace.tables.pair import PairTable
from scorespace.tables.pieces import threads

REPLICATES: Final = 2000
MOST_ROWS: Final = 10_000  # cases of several models beyond which a part of them is drawn from
ROWS: Final = 512  # rows of a condensed table
MOST_SCORES: Final = 40_000  # scores of several classes beyond which a part of the cases is drawn from
FEWEST: Final = 200  # cases of a class that stay when only a part is drawn from
_BLOCK: Final = 4096  # cases per block when many are drawn; its counts fit the fastest cache
_CELLS_AT_ONCE: Final = 500_000  # numbers drawn per piece of work: some megabytes, so that caches help
_GROUPED_ROWS: Final = 20_000  # rows of groups in bins that are drawn from
_MOST_KEPT: Final = 32_000_000  # bytes of draws that are kept for who asks later
_LARGE: Final = 50.0  # cases in a cell from which on its count spreads like a normal deviate

Drawn = Callable[[Any], Array]
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


@dataclass(frozen=True)
class Asked:
    """What is asked of the replicates of a model: a function of its table, under a name that is asked for once.

    `within`: cases are drawn within classes. `of_pairs` computes the same from pairs alone, which is quicker.
    `value` is that on the model's own table where it is known better than the function tells it from coarse scores.
    """

    model: str
    name: str
    function: Drawn = field(compare=False)
    within: bool
    of_pairs: Drawn | None = field(default=None, compare=False)
    value: float | None = field(default=None, compare=False)


def asked(model: str, request: Request) -> Asked:
    """A measure asked of the replicates of a model."""
    quick = request.measure.functions.get(DrawnCases) if request.spec.of is None else None
    value = None if request.certified is None else request.value
    return Asked(model, request.spec.canonical, request.on, request.within, quick, value)


class Source(Protocol):
    """What is drawn from: the tables of one or several models, perhaps lighter ones than their own."""

    @property
    def tables(self) -> Mapping[str, Any]:
        """The tables that are drawn from, by model."""

    @property
    def lighter(self) -> bool:
        """Whether they are other tables than the models' own."""

    @property
    def scale(self) -> float:
        """By how much to narrow what they spread."""

    @property
    def pairwise(self) -> bool:
        """Whether pairs alone can be drawn, without filling tables."""

    @property
    def cost(self) -> int:
        """About how many numbers a replicate takes."""

    @property
    def drawn(self) -> dict[Any, Kept]:
        """What was drawn, by how it was."""

    def drawer(self, within: bool, of_pairs: bool) -> Drawer:
        """What draws the tables of that many replicates, by model."""


@dataclass(frozen=True, eq=False)
class Draws:
    """The replicates of a sample for one seed; what was asked once is kept, not drawn again.

    >>> from scorespace.measures import parse
    >>> from scorespace.measures.request import bind
    >>> from scorespace.tables import score_table
    >>> table = score_table([1, 0, 1, 0], [0.9, 0.4, 0.5, 0.1])
    >>> Draws({"nb": table}, replicates=3).of("nb", bind(parse("auc"), table))
    array([1., 1., 1.])
    """

    tables: Mapping[str, Any]
    pairs: PairTable | None = None
    replicates: int = REPLICATES
    seed: int = 0
    progress: Progress | None = None
    kept: dict[Asked, Array] = field(default_factory=dict, repr=False)
    sources: dict[str, Source] = field(default_factory=dict, repr=False)

    def of(self, model: str, request: Request) -> Array:
        """The measure of a model in every replicate, centred on its value where a lighter table was drawn."""
        return self.all([asked(model, request)])[0]

    def differences(self, a: str, b: str, request_a: Request, request_b: Request) -> Array:
        """The measure of one model minus that of another, on the same cases in every replicate."""
        both = [asked(a, request_a), asked(b, request_b)]
        if self.shared is None:
            return self.together().differences(a, b, request_a, request_b)
        first, second = self.all(both)
        return first - second

    def spread(self, wanted: Sequence[tuple[str, Request]]) -> list[float]:
        """The standard deviation of each measure over the same replicates of all cases, where it is defined."""
        able = [self.tables[model].counted and not self.tables[model].undrawn(one.table) for model, one in wanted]
        kept = [replace(asked(*one), within=False) for one, can in zip(wanted, able, strict=True) if can]
        drawn = iter(self.all(kept))
        return [_deviation(next(drawn)) if can else math.nan for can in able]

    def all(self, wanted: Sequence[Asked]) -> list[Array]:
        """The values (replicates, …) of all that is asked; what is drawn from alike is drawn once."""
        missing = [one for one in dict.fromkeys(wanted) if one not in self.kept]
        batches: dict[tuple[int, bool], list[Asked]] = {}
        for one in missing:
            batches.setdefault((id(self.source(one.model)), one.within), []).append(one)
        for number, alike in enumerate(batches.values()):
            self._draw(alike, _part_of(self.progress, number, len(batches)))
        return [self.kept[one] for one in wanted]

    @property
    def grouped(self) -> bool:
        """Whether cases come in groups, which are drawn whole."""
        return self.pairs is not None and self.pairs.group is not None

    @property
    def shared(self) -> Source | None:
        """What all models are drawn from together, where their cases are few enough or come in groups."""
        if self.pairs is None:
            return None
        if "" not in self.sources:
            if (
                self.pairs.times is not None and self.pairs.group is None
            ):  # alone each model is drawn from its own, finer table
                return None
            few = self.pairs.cases <= MOST_ROWS and _scores(self.pairs) <= MOST_SCORES
            if not few and self.pairs.group is None:
                return None
            self.sources[""] = together(self.pairs)
        return self.sources[""]

    def together(self) -> Draws:
        """The same sample with all models drawn together, from a part of the cases where they are many."""
        if self.pairs is None:
            raise ValueError("cases that are not known one by one cannot be drawn for two models alike")
        return replace(self, kept={}, sources={"": together(self.pairs)})

    def how(self, model: str) -> str:
        """What was drawn of a model, where it was not all cases one by one."""
        source = self.source(model)
        if source.tables[model].grouping is not None or (source is self.shared and self.grouped):
            return " of groups"
        return "" if not source.lighter else ", part of the cases" if source.scale != 1 else ", condensed"

    def source(self, model: str) -> Source:
        """What a model is drawn from: with the others, or alone."""
        common = self.shared
        if common is not None and model in common.tables:
            return common
        if model not in self.sources:
            self.sources[model] = alone(model, self.tables[model])
        return self.sources[model]

    def _draw(self, alike: list[Asked], progress: Progress | None) -> None:
        """Draw once for all of these, which are drawn from the same source in the same way."""
        source, within = self.source(alike[0].model), alike[0].within
        of_pairs = within and source.pairwise and all(one.of_pairs is not None for one in alike)
        drawer, models = source.drawer(within, of_pairs), dict.fromkeys(one.model for one in alike)

        def values(drawn: Any) -> list[Array]:
            tables = drawer.fill(drawn, models)
            functions = ((one.of_pairs if of_pairs else one.function, one.model) for one in alike)
            return [np.asarray(function(tables[model]), dtype=np.float64) for function, model in functions if function]

        stream = [self.seed, int(within)]
        kept = source.drawn.setdefault((*stream, self.replicates, of_pairs), {})
        found = blocks(
            drawer.draw, values, source.cost, replicates=self.replicates, seed=stream, progress=progress, kept=kept
        )
        for one, drawn in zip(alike, found, strict=True):
            self.kept[one] = self._centred(one, source, drawn)

    def _centred(self, one: Asked, source: Source, drawn: Array) -> Array:
        """Values of a lighter table moved to where the model's own value is, and spread as its own would."""
        if not source.lighter:
            return drawn
        exact = one.function(self.tables[one.model]) if one.value is None else one.value
        return np.asarray(exact) + source.scale * (drawn - np.asarray(one.function(source.tables[one.model])))


def bootstrap(
    function: Drawn,
    table: Any,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    progress: Progress | None = None,
    within: bool = True,
) -> Array:
    """The function's value on that many tables, each drawn from the cases with replacement.

    Within classes, or from all cases together, so that the shares of the classes are left to chance too.

    >>> from scorespace.measures.ranking import auc
    >>> from scorespace.tables import score_table
    >>> bootstrap(auc, score_table([1, 0, 1, 0], [0.9, 0.4, 0.5, 0.1]), replicates=3)
    array([1., 1., 1.])
    """
    source = Alone({"": table}, False)
    quick = getattr(function, "functions", {}).get(DrawnCases) if within and source.pairwise else None
    draw = source.drawer(within, quick is not None)

    def values(tables: Mapping[str, Any]) -> list[Array]:
        return [np.asarray((quick or function)(tables[""]), dtype=np.float64)]

    stream = [seed, int(within)]
    return blocks(draw, values, source.cost, replicates=replicates, seed=stream, progress=progress)[0]


def blocks(
    draw: Draw,
    values: Callable[[Any], list[Array]],
    cost: int,
    *,
    replicates: int = REPLICATES,
    seed: int | list[int] = 0,
    progress: Progress | None = None,
    kept: Kept | None = None,
) -> list[Array]:
    """All values on that many draws, each of so many numbers, in pieces of bounded size on all processors.

    What is drawn is kept by piece, where it is not too much.
    """
    size = max(1, min(replicates, _CELLS_AT_ONCE // max(1, cost)))
    sizes = [min(size, replicates - start) for start in range(0, replicates, size)]
    streams = np.random.SeedSequence(seed).spawn(len(sizes))

    def piece(number: int, count: int, stream: np.random.SeedSequence) -> list[Array]:
        drawn = None if kept is None else kept.get(number)
        if drawn is None:
            drawn = draw(np.random.Generator(np.random.SFC64(stream)), count)
            if kept is not None and getattr(drawn, "nbytes", math.inf) * len(sizes) <= _MOST_KEPT:
                kept[number] = drawn
        return values(drawn)

    parts: list[list[Array]] = []
    if len(sizes) == 1:
        parts = [piece(0, sizes[0], streams[0])]
        _told(progress, 1.0)
    else:
        with threads() as pool:  # the drawing and counting release the GIL
            for done, part in enumerate(pool.map(piece, range(len(sizes)), sizes, streams), start=1):
                parts.append(part)
                _told(progress, done / len(sizes))
    return [np.concatenate(one) for one in zip(*parts, strict=True)]


def replicated(
    draw: Draw,
    function: Drawn,
    cells: int,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Array:
    """One function's value on that many draws, each of so many cells."""

    def values(drawn: Any) -> list[Array]:
        return [np.asarray(function(drawn), dtype=np.float64)]

    return blocks(draw, values, cells, replicates=replicates, seed=seed, progress=progress)[0]


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
    """One table whose cells are drawn: whole groups, weighted cases, or as many cases as its weights count."""

    tables: Mapping[str, Any]
    lighter: bool
    scale: float = 1.0
    drawn: dict[Any, Kept] = field(default_factory=dict, repr=False)

    @property
    def pairwise(self) -> bool:
        return all(
            table.thresholded and table.cell_squares is None and table.grouping is None
            for table in self.tables.values()
        )

    @property
    def cost(self) -> int:
        return max(int(getattr(table, "score", table.cells).size) for table in self.tables.values())

    def drawer(self, within: bool, of_pairs: bool) -> Drawer:
        ((model, table),) = self.tables.items()
        if of_pairs:
            return Drawer(_pairs_of(table), lambda drawn, _: {model: drawn}, self.tables)
        return Drawer(_cells_drawer(table, within), lambda drawn, _: {model: table.with_cells(drawn)}, self.tables)


def _deviation(values: Array) -> float:
    """The standard deviation of what is defined."""
    defined = values[np.isfinite(values)]
    return float(defined.std(ddof=1)) if defined.size > 1 else math.nan


def _cells_drawer(table: Table, within: bool) -> Callable[[np.random.Generator, int], Array]:
    """What draws the cells of a table again (count, m)."""
    cells, squares, group = table.cells, table.cell_squares, table.grouping
    if group is not None:
        size = int(group.max()) + 1
        return lambda rng, count: _group_times(size, rng, count)[:, group] * cells
    filled = np.flatnonzero(cells)
    weights = cells[filled]
    if squares is not None:
        # As many equal cases as are worth the weights of a cell, each of which weighs as much as they do on average.
        unit = squares[filled] / weights
        expected = weights / unit
        classes = table.strata[filled] if within else np.zeros(filled.size, dtype=np.intp)

        def weighed(rng: np.random.Generator, count: int) -> Array:
            drawn = unit * rng.poisson(expected, (count, filled.size))
            return _spread_out(_kept_totals(drawn, weights, classes), filled, cells.size)

        return weighed
    strata = table.strata[filled] if within else np.zeros(filled.size, dtype=np.intp)
    members = [np.flatnonzero(strata == k) for k in np.unique(strata)]

    def draw(rng: np.random.Generator, count: int) -> Array:
        drawn = [_drawn(weights[of_class], rng, count) for of_class in members]
        highest = max((float(one.max(initial=0)) for one in drawn), default=0.0)
        whole = all(one.dtype.kind in "iu" for one in drawn)
        # Counts are mostly below ten: bytes hold them, and memory is what takes the time.
        out = np.zeros((count, cells.size), dtype=np.min_scalar_type(int(highest)) if whole else np.float64)
        for of_class, one in zip(members, drawn, strict=True):
            out[:, filled[of_class]] = one
        return out

    return draw


def together(pairs: PairTable) -> Together:
    """All models drawn case by case; of many cases a part, those of each class as evenly as can be."""
    light = pairs.condensed(ROWS) if pairs.cases > 2 * ROWS else pairs
    light = pairs if all(a is b for a, b in zip(light.tables, pairs.tables, strict=True)) else light
    most = min(MOST_ROWS, max(1, MOST_SCORES * pairs.cases // max(1, _scores(light))))
    times = pairs.times
    if pairs.cases <= most and times is None:
        return Together(light, np.ones(pairs.cases), 1.0, lighter=light is not pairs)
    if pairs.group is not None:
        return _part_of_groups(light, most)
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
        stand_for.append(np.full(kept, size / max(1, kept)))
    cases, weight = np.concatenate(chosen), np.concatenate(stand_for)
    order = np.argsort(cases)
    # Of every class at least so many cases stand for one: all spread at least √ of that too much.
    part = replace(light.part(cases[order]), times=None)
    return Together(part, weight[order], 1 / math.sqrt(float(weight.min())), lighter=True)


def _part_of_groups(pairs: PairTable, most: int) -> Together:
    """Every k-th group where there are many, and where they are few every k-th case of each."""
    group = np.zeros(pairs.cases, dtype=np.int32) if pairs.group is None else pairs.group
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
    return Together(part, np.ones(cases.size), 1 / math.sqrt(step), lighter=True)


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
    return Together(replace(pairs.part(kept), group=numbers, times=None), times, scale, lighter=True)


@dataclass(frozen=True, eq=False)
class Together:
    """The cases of several models, drawn once for all of them; each stands for `weight` cases like it."""

    pairs: PairTable
    weight: Array
    scale: float
    lighter: bool = False
    drawn: dict[Any, Kept] = field(default_factory=dict, repr=False)

    @property
    def pairwise(self) -> bool:
        scored = all(table.thresholded for table in self.pairs.tables)
        return scored and self.pairs.group is None and bool((self._case_weight() == 1).all())

    @property
    def tables(self) -> Mapping[str, Any]:
        """The tables of the cases that are drawn from."""
        if not self.lighter:
            return dict(zip(self.pairs.models, self.pairs.tables, strict=True))
        drawn = self._filled(self._case_weight()[None, :], self.pairs.models)
        return {model: table.with_cells(table.cells[0]) for model, table in drawn.items()}

    @property
    def cost(self) -> int:
        return self.pairs.cases + sum(int(getattr(table, "score", table.cells).size) for table in self.pairs.tables)

    def drawer(self, within: bool, of_pairs: bool) -> Drawer:
        if of_pairs:
            return Drawer(_pairs_of_all(self.pairs), lambda drawn, _: drawn, self.pairs.models)
        weight = self._case_weight()
        plain = bool((weight == 1).all())
        times = self._times(within)

        def draw(rng: np.random.Generator, count: int) -> Array:
            drawn = times(rng, count)
            return drawn.astype(np.min_scalar_type(int(drawn.max(initial=0)))) if plain else drawn * weight

        return Drawer(draw, self._filled, self.pairs.models)

    def _filled(self, times: Array, models: Collection[str]) -> dict[str, Any]:
        return {model: self._scatters[model].table(times) for model in models}

    @cached_property
    def _scatters(self) -> dict[str, _Scatter]:
        held = zip(self.pairs.models, self.pairs.tables, self.pairs.cell, strict=True)
        return {model: _Scatter(table, cell) for model, table, cell in held}

    def _case_weight(self) -> Array:
        return self.weight if self.pairs.weight is None else self.weight * self.pairs.weight

    def _times(self, within: bool) -> Draw:
        """How often each case is drawn (count, cases)."""
        pairs = self.pairs
        if pairs.group is not None:
            group, size = pairs.group, int(pairs.group.max()) + 1
            return lambda rng, count: _group_times(size, rng, count)[:, group]
        if not within:
            return lambda rng, count: _drawn(np.ones(pairs.cases, dtype=np.int64), rng, count)
        members = [np.flatnonzero(pairs.code == code) for code in np.unique(pairs.code)]

        def draw(rng: np.random.Generator, count: int) -> Array:
            out = np.empty((count, pairs.cases), dtype=np.int64)
            for of_class in members:
                out[:, of_class] = _drawn(np.ones(of_class.size, dtype=np.int64), rng, count)
            return out

        return draw


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
        return self._table.with_cells(_spread_out(drawn, self._filled, self._size))


def _kept_totals(drawn: Array, weights: Array, strata: Array) -> Array:
    """Draws scaled so that each stratum weighs as much as it did; one that was not drawn at all stays empty."""
    for stratum in np.unique(strata):
        own = strata == stratum
        totals = drawn[:, own].sum(axis=1, keepdims=True)
        drawn[:, own] *= np.divide(weights[own].sum(), totals, out=np.zeros_like(totals), where=totals > 0)
    return drawn


def _spread_out(drawn: Array, filled: Array, size: int) -> Array:
    """Values of the filled cells among all cells, the others empty."""
    if filled.size == size:
        return drawn
    out = np.zeros((drawn.shape[0], size), dtype=drawn.dtype)
    out[:, filled] = drawn
    return out


def _group_times(size: int, rng: np.random.Generator, count: int) -> Array:
    """How often each of that many groups is drawn."""
    return rng.multinomial(size, np.full(size, 1 / size), count)


def _pairs_of(table: ScoreTable) -> Draw:
    """Draws within classes for measures that need no more than the pairs: no table is filled."""
    pos, neg = table.columns
    places = np.flatnonzero(pos), np.flatnonzero(neg)
    of_pos, of_neg = pos[places[0]], neg[places[1]]
    above, level = _levels(*places)
    sizes = float(table.n_pos), float(table.n_neg)

    def draw(rng: np.random.Generator, count: int) -> DrawnCases:
        return DrawnCases(_drawn(of_pos, rng, count), _drawn(of_neg, rng, count), above, level, *sizes)

    return draw


def _pairs_of_all(pairs: PairTable) -> Draw:
    """The same for several models, for which the same cases are drawn."""
    negatives, positives = (np.flatnonzero(pairs.label == label) for label in (0, 1))
    sizes = float(positives.size), float(negatives.size)
    ranked = []
    for place in pairs.place:
        order = np.argsort(place[positives])
        ranked.append((order, *_levels(place[positives][order], place[negatives])))

    def draw(rng: np.random.Generator, count: int) -> dict[str, DrawnCases]:
        neg, pos = (_drawn(np.ones(rows.size, dtype=np.int64), rng, count) for rows in (negatives, positives))
        return {
            model: DrawnCases(np.take(pos, order, axis=1), neg, above, level, *sizes)
            for model, (order, above, level) in zip(pairs.models, ranked, strict=True)
        }

    return draw


def _levels(positives: Array, negatives: Array) -> tuple[Array, Array]:
    """For each negative, how many of the rising places of positives lie before it, and up to it; one array if alike."""
    above = np.searchsorted(positives, negatives, side="left")
    level = np.searchsorted(positives, negatives, side="right")
    return above, above if np.array_equal(above, level) else level


def _drawn(weights: Array, rng: np.random.Generator, count: int) -> Array:
    """Multinomial counts (count, cells) of as many cases as the weights hold."""
    total = int(weights.sum(dtype=np.float64))
    if total == 0 or weights.size < 2:
        return np.broadcast_to(np.asarray(weights, dtype=np.int64), (count, weights.size))
    if weights.size * 8 < total or total * count >= 2**32:  # few cells: one number for each is cheaper
        return _counts_of_cells(np.asarray(weights, dtype=np.float64), total, rng, count)
    chosen = _chosen(total, rng, count)
    if weights.size < total:  # several cases share a cell
        chosen = np.repeat(np.arange(weights.size, dtype=np.uint32), weights.astype(np.intp))[chosen]
    if count > 1:
        chosen += (np.arange(count, dtype=np.uint32) * np.uint32(weights.size))[:, None]
    return np.bincount(chosen.ravel(), minlength=count * weights.size).reshape(count, weights.size)


def _counts_of_cells(weights: Array, total: int, rng: np.random.Generator, count: int) -> Array:
    """Multinomial counts, those of many large cells as normal deviates of the same covariances that add up as well."""
    large = weights >= _LARGE
    if large.sum() <= 64:
        return rng.multinomial(total, weights / total, count)
    drawn = np.empty((count, weights.size))
    lump = weights[large].sum()
    small = rng.multinomial(total, np.append(weights[~large], lump) / total, count)
    drawn[:, ~large] = small[:, :-1]
    shares = weights[large] / lump
    expected = small[:, -1:] * shares
    noise = rng.standard_normal(expected.shape, dtype=np.float32) * np.sqrt(expected)
    noise -= noise.sum(axis=1, keepdims=True) * shares
    drawn[:, large] = np.maximum(noise + expected, 0.0)
    return drawn


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


def _scores(pairs: PairTable) -> int:
    """How many scores a case has at most, times the cases: tables of several classes hold one for each."""
    return max((int(getattr(table, "score", table.cells).size) for table in pairs.tables), default=0)


def _fair_limit(sizes: Array, most: int) -> int:
    """How many cases of a class stay so that at most so many stay in all, the small classes whole."""
    limit = FEWEST
    for taken in np.sort(sizes):
        rest = sizes[sizes >= taken]
        limit = max(FEWEST, int((most - sizes[sizes < taken].sum()) // rest.size))
        if taken > limit:
            break
    return limit


def _part_of(progress: Progress | None, number: int, parts: int) -> Progress | None:
    return None if progress is None else lambda share: progress((number + share) / parts)


def _told(progress: Progress | None, share: float) -> None:
    if progress is not None:
        progress(share)


def each(requests: Mapping[str, Iterable[Request]]) -> list[Asked]:
    """All measures asked of all models."""
    return [asked(model, request) for model, wanted in requests.items() for request in wanted]
