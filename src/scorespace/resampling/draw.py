"""Cases drawn again: one draw of a model serves every number of it, and one of all models every difference.

Replicates are an axis of the tables and not a loop. They come in blocks that depend on the sample alone and have
their own streams of random numbers, so the same seed gives the same replicates on any number of processors; a
block goes to all who asked and is thrown away.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from scorespace.frozen import dataclass
from scorespace.measures.request import Request
from scorespace.resampling.lighter import Draw, Kept, Source, alone, together
from scorespace.results import Progress, part_of
from scorespace.tables import Array
from scorespace.tables.pair import PairTable
from scorespace.tables.pieces import threads

REPLICATES: Final = 2000
ALL: Final = ""
"""The source that all models are drawn from together."""
_CELLS_AT_ONCE: Final = 500_000  # numbers drawn per piece of work: some megabytes, so that caches help
_NUMBERS_AT_ONCE: Final = 200_000  # scores of replicates looked at together: more would be mapped anew for each step
_MOST_KEPT: Final = 32_000_000  # bytes of draws that are kept for who asks later
# The C library gives back what is freed above the size of the largest block so far, and asks for it again at the next
# step. A block that large, which nobody touches, tells it to keep what replicates take turns in.
np.empty(2**25 - 2**16, dtype=np.uint8)

Drawn = Callable[[Any], Array]


@dataclass(frozen=True)
class Asked:
    """What is asked of the replicates of a model: a function of its table, under a name that is asked for once.

    `within`: cases are drawn within classes. `value` is that on the model's own table where it is known better than
    the function tells it from coarse scores.
    Not `centred`, the values are those of the table that is drawn from: a threshold moved is no score of any case.
    """

    model: str
    name: str
    function: Drawn = field(compare=False)
    within: bool
    value: float | None = field(default=None, compare=False)
    centred: bool = True


def asked(model: str, request: Request) -> Asked:
    """A measure asked of the replicates of a model."""
    value = None if request.certified is None else request.value
    name = request.spec.canonical
    if request.stated:
        name = f"{name} for a prevalence of {request.spec.prevalence!r}"
    return Asked(model, name, request.on, request.within, value)


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
        first, second = self.together.all([asked(a, request_a), asked(b, request_b)])
        with np.errstate(invalid="ignore"):  # two infinite losses have no difference
            return first - second

    def spread(self, wanted: Sequence[tuple[str, Request]]) -> list[float]:
        """The standard deviation of each measure over the same replicates of all cases, where it is defined."""
        able = [self.tables[model].counted and not self.tables[model].undrawn(one.table) for model, one in wanted]
        kept = [
            replace(asked(*one), within=one[1].stated and one[1].within)  # a share that is not stated is chance, too
            for one, can in zip(wanted, able, strict=True)
            if can
        ]
        drawn = iter(self.all(kept))
        return [_deviation(next(drawn)) if can else math.nan for can in able]

    def all(self, wanted: Sequence[Asked]) -> list[Array]:
        """The values (replicates, …) of all that is asked; what is drawn from alike is drawn once."""
        missing = [one for one in dict.fromkeys(wanted) if one not in self.kept]
        batches: dict[tuple[int, bool], list[Asked]] = {}
        for one in missing:
            source = self.source(one.model)
            batches.setdefault((id(source), one.within and not source.grouped), []).append(one)
        for number, alike in enumerate(batches.values()):
            self._draw(alike, part_of(self.progress, number, len(batches)))
        return [self.kept[one] for one in wanted]

    @property
    def grouped(self) -> bool:
        """Whether cases come in groups, which are drawn whole."""
        return self.pairs is not None and self.pairs.group is not None

    @property
    def time(self) -> Array | None:
        """The time of each case, where cases are in time order and neighbours are resampled together."""
        return None if self.pairs is None else self.pairs.time

    @property
    def times(self) -> int:
        """How many distinct times there are; 0 where no time is named."""
        return 0 if self.time is None else int(np.unique(self.time).size)

    @cached_property
    def together(self) -> Draws:
        """The same sample with all models drawn together, from a part of the cases where they are many."""
        if self.pairs is None:
            raise ValueError("cases that are not known one by one cannot be drawn for two models alike")
        return self if ALL in self.sources else replace(self, kept={}, sources={ALL: together(self.pairs)})

    def anew(self, **changes: Any) -> Draws:
        """The same with something changed, and nothing drawn yet."""
        return replace(self, kept={}, sources={}, **changes)

    def apart(self, model: str, stream: int = 0) -> Draws:
        """A model drawn by itself, by a stream of its own: as if its cases were not those of the others."""
        tables = {model: self.tables[model]}
        return self.anew(tables=tables, pairs=None, seed=stream_seed(self.seed, stream))

    def how(self, model: str) -> str:
        """What was drawn of a model, where it was not all cases one by one."""
        source = self.source(model)
        if source.grouped:
            return " of groups" if self.time is None or self.grouped else " in blocks"
        return "" if not source.lighter else ", part of the cases" if source.part else ", condensed"

    def source(self, model: str) -> Source:
        """What a model is drawn from: for differences with the others, else alone, so that they do not change it."""
        if ALL in self.sources and self.pairs is not None and model in self.pairs.models:
            return self.sources[ALL]
        if model not in self.sources:
            pairs = None if self.pairs is None or model not in self.pairs.models else self.pairs
            related = pairs is not None and (pairs.group is not None or pairs.time is not None)
            own = together(pairs.only(model)) if pairs is not None and related else alone(model, self.tables[model])
            self.sources[model] = own
        return self.sources[model]

    def _draw(self, alike: list[Asked], progress: Progress | None) -> None:
        """Draw once for all of these, which are drawn from the same source in the same way."""
        source = self.source(alike[0].model)
        within = alike[0].within and not source.grouped
        drawer, models = source.drawer(within), dict.fromkeys(one.model for one in alike)
        rows = max(1, _NUMBERS_AT_ONCE // max(1, *(source.tables[model].size for model in models)))

        def values(drawn: Any) -> list[Array]:
            tables = drawer.fill(drawn, models)
            parts = [
                of_part({model: table.with_cells(table.cells[start : start + rows]) for model, table in tables.items()})
                for start in range(0, len(drawn), rows)
            ]
            return [np.concatenate(one) for one in zip(*parts, strict=True)]

        def of_part(tables: Mapping[str, Any]) -> list[Array]:
            return [np.asarray(one.function(tables[one.model]), dtype=np.float64) for one in alike]

        stream = [self.seed, int(within)]
        kept = source.drawn.setdefault((*stream, self.replicates), {})
        found = blocks(
            drawer.draw, values, source.cost, replicates=self.replicates, seed=stream, progress=progress, kept=kept
        )
        for one, drawn in zip(alike, found, strict=True):
            self.kept[one] = self._centred(one, source, drawn)

    def _centred(self, one: Asked, source: Source, drawn: Array) -> Array:
        """Values of a lighter table moved to where the model's own value is, and spread as its own would."""
        if not source.lighter or not one.centred:
            return drawn
        exact = one.function(self.tables[one.model]) if one.value is None else one.value
        return np.asarray(exact) + source.scale * (drawn - np.asarray(one.function(source.tables[one.model])))


def stream_seed(seed: int, stream: int) -> int:
    """The seed of a stream: the first is the seed itself."""
    return seed if stream == 0 else int(np.random.SeedSequence([seed, stream]).generate_state(1)[0])


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


def _deviation(values: Array) -> float:
    """The standard deviation of what is defined."""
    defined = values[np.isfinite(values)]
    return float(defined.std(ddof=1)) if defined.size > 1 else math.nan


def _told(progress: Progress | None, share: float) -> None:
    if progress is not None:
        progress(share)
