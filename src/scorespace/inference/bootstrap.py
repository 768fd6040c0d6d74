"""Bootstrap replicates: each model is resampled once for all its measures, and all models jointly for differences.

Replicates are an axis of the tables, not a loop. They are drawn in blocks whose size depends only on the sample, and
each block has its own random stream, so a seed gives the same replicates on any number of processors. A block is
passed to every pending request and then discarded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from scorespace.inference.subsampling import Draw, DrawCache, Source, joint_sample, single_sample
from scorespace.measures.request import Request
from scorespace.results import Progress, partial_progress
from scorespace.tables import Array
from scorespace.tables.chunks import thread_pool
from scorespace.tables.paired import PairTable

REPLICATES: Final = 2000
ALL: Final = ""
"""Key of the sample from which all models are resampled jointly."""
_COUNTS_PER_BLOCK: Final = 500_000  # counts drawn per block: a few megabytes, so that they stay in the cache
_SCORES_PER_STEP: Final = (
    200_000  # scores of replicates evaluated at once: larger arrays are allocated anew at each step
)
_MAX_CACHE_BYTES: Final = 32_000_000  # bytes of draws that are cached for later requests

Statistic = Callable[[Any], Array]


@dataclass(frozen=True)
class ReplicateRequest:
    """A statistic to compute on every replicate of a model; requests with the same name are computed once.

    `within`: resample within classes (stratified). `value`: value on the model's full table, where it is known more
    precisely than `function` computes it from binned scores. `centred`: shift the replicates of a condensed table to
    the value on the full table; off for thresholds, since a shifted threshold is no longer an observed score.
    """

    model: str
    name: str
    function: Statistic = field(compare=False)
    within: bool
    value: float | None = field(default=None, compare=False)
    centred: bool = True


def replicate_request(model: str, request: Request) -> ReplicateRequest:
    """Return the request for a measure on the replicates of a model."""
    value = None if request.certified is None else request.value
    name = request.spec.canonical
    if request.stated:
        name = f"{name} for a prevalence of {request.spec.prevalence!r}"
    return ReplicateRequest(model, name, request.on, request.within, value)


@dataclass(frozen=True, eq=False)
class BootstrapDraws:
    """Cached bootstrap replicates of a sample for one seed.

    >>> from scorespace.measures import parse
    >>> from scorespace.measures.request import bind
    >>> from scorespace.tables import score_table
    >>> table = score_table([1, 0, 1, 0], [0.9, 0.4, 0.5, 0.1])
    >>> BootstrapDraws({"nb": table}, replicates=3).of("nb", bind(parse("auc"), table))
    array([1., 1., 1.])
    """

    tables: Mapping[str, Any]
    pairs: PairTable | None = None
    replicates: int = REPLICATES
    seed: int = 0
    progress: Progress | None = None
    kept: dict[ReplicateRequest, Array] = field(default_factory=dict, repr=False)
    sources: dict[str, Source] = field(default_factory=dict, repr=False)

    def of(self, model: str, request: Request) -> Array:
        """Return the measure in every replicate, centred on its value where a condensed table was resampled."""
        return self.all([replicate_request(model, request)])[0]

    def differences(self, a: str, b: str, request_a: Request, request_b: Request) -> Array:
        """Return the difference of a measure between two models on the same resampled cases."""
        first, second = self.joint.all([replicate_request(a, request_a), replicate_request(b, request_b)])
        with np.errstate(invalid="ignore"):  # two infinite losses have no difference
            return first - second

    def spread(self, wanted: Sequence[tuple[str, Request]]) -> list[float]:
        """Return the standard deviation of each measure over the replicates; NaN where cases cannot be resampled."""
        can_resample = [
            self.tables[model].counted and not self.tables[model].reason_not_resampled(request.table)
            for model, request in wanted
        ]
        requests = [
            # Class shares are resampled too, unless the prevalence is stated.
            replace(replicate_request(model, request), within=request.stated and request.within)
            for (model, request), possible in zip(wanted, can_resample, strict=True)
            if possible
        ]
        values = iter(self.all(requests))
        return [_standard_deviation(next(values)) if possible else math.nan for possible in can_resample]

    def all(self, wanted: Sequence[ReplicateRequest]) -> list[Array]:
        """Return the values of each request, shape (n_replicates, …); requests with the same source share the draws."""
        missing = [request for request in dict.fromkeys(wanted) if request not in self.kept]
        batches: dict[tuple[int, bool], list[ReplicateRequest]] = {}
        for request in missing:
            source = self.source(request.model)
            batches.setdefault((id(source), request.within and not source.grouped), []).append(request)
        for number, requests in enumerate(batches.values()):
            self._draw(requests, partial_progress(self.progress, number, len(batches)))
        return [self.kept[request] for request in wanted]

    @property
    def grouped(self) -> bool:
        """Whether whole groups of cases are resampled."""
        return self.pairs is not None and self.pairs.group is not None

    @property
    def time(self) -> Array | None:
        """Time of each case, where cases are in time order and blocks of neighbours are resampled."""
        return None if self.pairs is None else self.pairs.time

    @property
    def times(self) -> int:
        """Number of distinct times; 0 without a time column."""
        return 0 if self.time is None else int(np.unique(self.time).size)

    @cached_property
    def joint(self) -> BootstrapDraws:
        """The same sample with all models resampled jointly, from a subsample where there are many cases."""
        if self.pairs is None:
            raise ValueError("models can be resampled jointly only where their cases are known one by one")
        return self if ALL in self.sources else replace(self, kept={}, sources={ALL: joint_sample(self.pairs)})

    def fresh_copy(self, **changes: Any) -> BootstrapDraws:
        """Return a copy with changed fields and an empty cache."""
        return replace(self, kept={}, sources={}, **changes)

    def apart(self, model: str, stream: int = 0) -> BootstrapDraws:
        """Return the draws of one model with its own random stream, independent of the other models."""
        tables = {model: self.tables[model]}
        return self.fresh_copy(tables=tables, pairs=None, seed=stream_seed(self.seed, stream))

    def how(self, model: str) -> str:
        """Describe the resampling scheme of a model for the method's name; empty for plain resampling of cases."""
        source = self.source(model)
        if source.grouped:
            return " of groups" if self.time is None or self.grouped else " in blocks"
        return "" if not source.is_reduced else ", part of the cases" if source.part else ", condensed"

    def source(self, model: str) -> Source:
        """Return the sample of a model: joint for differences, else its own, so that other models do not matter."""
        if ALL in self.sources and self.pairs is not None and model in self.pairs.models:
            return self.sources[ALL]
        if model not in self.sources:
            pairs = None if self.pairs is None or model not in self.pairs.models else self.pairs
            dependent = pairs is not None and (pairs.group is not None or pairs.time is not None)
            sample = (
                joint_sample(pairs.only(model))
                if pairs is not None and dependent
                else single_sample(model, self.tables[model])
            )
            self.sources[model] = sample
        return self.sources[model]

    def _draw(self, requests: list[ReplicateRequest], progress: Progress | None) -> None:
        """Compute requests that share source and stratification from one set of draws."""
        source = self.source(requests[0].model)
        within = requests[0].within and not source.grouped
        drawer, models = source.drawer(within), dict.fromkeys(request.model for request in requests)
        rows = max(1, _SCORES_PER_STEP // max(1, *(source.tables[model].size for model in models)))

        def values(drawn: Any) -> list[Array]:
            tables = drawer.fill(drawn, models)
            parts = [
                evaluate_rows(
                    {model: table.with_cells(table.cells[start : start + rows]) for model, table in tables.items()}
                )
                for start in range(0, len(drawn), rows)
            ]
            return [np.concatenate(request) for request in zip(*parts, strict=True)]

        def evaluate_rows(tables: Mapping[str, Any]) -> list[Array]:
            return [np.asarray(request.function(tables[request.model]), dtype=np.float64) for request in requests]

        stream = [self.seed, int(within)]
        draw_cache = source.drawn.setdefault((*stream, self.replicates), {})
        values_by_request = run_in_blocks(
            drawer.draw,
            values,
            source.cost,
            replicates=self.replicates,
            seed=stream,
            progress=progress,
            cache=draw_cache,
        )
        for request, drawn in zip(requests, values_by_request, strict=True):
            self.kept[request] = self._centre(request, source, drawn)

    def _centre(self, request: ReplicateRequest, source: Source, values: Array) -> Array:
        """Shift and rescale replicates of a condensed table to the value and the spread of the full table."""
        if not source.is_reduced or not request.centred:
            return values
        exact = request.function(self.tables[request.model]) if request.value is None else request.value
        return np.asarray(exact) + source.scale * (values - np.asarray(request.function(source.tables[request.model])))


def stream_seed(seed: int, stream: int) -> int:
    """Return the seed of a numbered stream; stream 0 uses the seed itself."""
    return seed if stream == 0 else int(np.random.SeedSequence([seed, stream]).generate_state(1)[0])


def run_in_blocks(
    draw: Draw,
    values: Callable[[Any], list[Array]],
    cost: int,
    *,
    replicates: int = REPLICATES,
    seed: int | list[int] = 0,
    progress: Progress | None = None,
    cache: DrawCache | None = None,
) -> list[Array]:
    """Compute values on `replicates` draws of `cost` numbers each, in blocks of bounded size on all processors.

    Draws are cached by block in `cache`, unless they take too much memory.
    """
    size = max(1, min(replicates, _COUNTS_PER_BLOCK // max(1, cost)))
    sizes = [min(size, replicates - start) for start in range(0, replicates, size)]
    streams = np.random.SeedSequence(seed).spawn(len(sizes))

    def compute_block(number: int, count: int, stream: np.random.SeedSequence) -> list[Array]:
        drawn = None if cache is None else cache.get(number)
        if drawn is None:
            drawn = draw(np.random.Generator(np.random.SFC64(stream)), count)
            if cache is not None and getattr(drawn, "nbytes", math.inf) * len(sizes) <= _MAX_CACHE_BYTES:
                cache[number] = drawn
        return values(drawn)

    block_values: list[list[Array]] = []
    if len(sizes) == 1:
        block_values = [compute_block(0, sizes[0], streams[0])]
        _report_progress(progress, 1.0)
    else:
        with thread_pool() as pool:  # NumPy releases the GIL while drawing and counting
            for done, block in enumerate(pool.map(compute_block, range(len(sizes)), sizes, streams), start=1):
                block_values.append(block)
                _report_progress(progress, done / len(sizes))
    return [np.concatenate(values_of_request) for values_of_request in zip(*block_values, strict=True)]


def evaluate_replicates(
    draw: Draw,
    function: Statistic,
    cells: int,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Array:
    """Evaluate one function on every replicate, each of `cells` counts."""

    def values(drawn: Any) -> list[Array]:
        return [np.asarray(function(drawn), dtype=np.float64)]

    return run_in_blocks(draw, values, cells, replicates=replicates, seed=seed, progress=progress)[0]


def _standard_deviation(values: Array) -> float:
    """Return the standard deviation of the finite values."""
    defined = values[np.isfinite(values)]
    return float(defined.std(ddof=1)) if defined.size > 1 else math.nan


def _report_progress(progress: Progress | None, share: float) -> None:
    if progress is not None:
        progress(share)
