"""Differences of any measure between models on the same cases: bootstrap and permutation."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from scorespace.comparisons.comparison import Comparison
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.request import bind
from scorespace.resampling.draw import REPLICATES, WITHIN_CLASSES, Resampler, replicated
from scorespace.resampling.estimate import Estimate
from scorespace.results import Progress, grouped
from scorespace.tables import Array, DrawnCases, ScoreTable
from scorespace.tables.pair import PairTable


def paired_bootstrap(
    pairs: PairTable,
    i: int,
    j: int,
    spec: MeasureSpec,
    *,
    level: float = 0.95,
    replicates: int = REPLICATES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """The difference of a measure with its percentile interval, and twice the share of replicates beyond zero as p.

    The same cases are drawn with replacement for both models: within classes for measures that do not
    depend on how common these are, else from all; whole groups where cases are grouped.
    """
    two = pairs.only(pairs.models[i], pairs.models[j])
    names = (two.models[0], two.models[1])
    observed = tuple(_value(spec, table) for table in two.tables)
    difference = float(observed[0] - observed[1])
    test = "bootstrap" if pairs.group is None else "bootstrap of groups"
    found = Comparison(*names, test, str(spec), difference, level=level)
    if math.isnan(difference):
        return replace(found, reason=spec.measure.reason(math.nan))
    if two.group is not None:
        draw = _groups(two)
    elif DrawnCases in spec.measure.functions and spec.of is None:
        draw = _pairs(two)
    elif spec.name in WITHIN_CLASSES:
        draw = _cases(two)
    else:
        draw = _all_cases(two)

    def gaps(tables: tuple[ScoreTable | DrawnCases, ScoreTable | DrawnCases]) -> Array:
        return _value(spec, tables[0]) - _value(spec, tables[1])

    cells = two.cases + sum(table.counts.size for table in two.tables)
    values = replicated(draw, gaps, cells, replicates=replicates, seed=seed, progress=progress)
    return judged(found, values, "both models behave alike on every case")


def judged(found: Comparison, drawn: Array, alike: str | None = None) -> Comparison:
    """The comparison with interval, statistic and p from replicates of its difference.

    `alike` says why p is 1 when the difference is 0 in all of them; without it, equal replicates say nothing.

    >>> judged(Comparison("a", "b", "bootstrap", "auc", 0.1), np.array([0.05, 0.1, 0.15, -0.01])).p
    0.8
    """
    values = drawn[np.isfinite(drawn)]
    lost = drawn.size - values.size
    left_out = f"leaves out {grouped(lost)} of {grouped(drawn.size)} undefined replicates" if lost else None
    if not values.size:
        return replace(found, reason="the measure is undefined in every replicate")
    level, difference = found.level, found.difference
    low, high = (float(q) for q in np.quantile(values, [(1 - level) / 2, (1 + level) / 2]))
    error = float(values.std(ddof=1)) if np.ptp(values) > 1e-12 else 0.0  # equal ones differ by rounding
    if error == 0:
        if alike is None:
            nothing = "the measure is the same in every replicate, from which nothing follows about chance"
            return replace(found, reason=nothing)
        same = abs(difference) <= 1e-12
        reason = alike if same else "the difference is the same in every replicate"
        z, p = (0.0, 1.0) if same else (math.nan, math.nan)
        return replace(found, low=low, high=high, statistic=z, p=p, reason=reason)
    if not low <= difference <= high:  # drawing cases twice lifts maxima such as KS above the value itself
        shift = difference - float(np.median(values))
        values, low, high = values + shift, low + shift, high + shift
        found = replace(found, test=f"{found.test}, centred")
    # The share of replicates on the other side of zero, so that p and the interval agree.
    beyond = min(int((values <= 0).sum()), int((values >= 0).sum()))
    p = min(1.0, 2 * (1 + beyond) / (1 + values.size))
    return replace(found, low=low, high=high, statistic=difference / error, p=p, reason=left_out)


def estimate_by_groups(
    pairs: PairTable,
    model: str,
    spec: MeasureSpec,
    *,
    level: float = 0.95,
    replicates: int = REPLICATES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Estimate:
    """A measure of one model with its percentile interval over draws of whole groups of cases."""
    one = pairs.only(model)
    value = float(_value(spec, one.tables[0]))
    found = Estimate(model, spec, value, math.nan, math.nan, level, None, spec.measure.reason(value))
    if found.reason is not None:
        return found

    values = drawn_by_groups(one, spec, replicates=replicates, seed=seed, progress=progress)
    defined = values[np.isfinite(values)]
    if not defined.size:
        return replace(found, reason="no interval: the measure is undefined in every replicate")
    low, high = (float(q) for q in np.quantile(defined, [(1 - level) / 2, (1 + level) / 2]))
    lost = values.size - defined.size
    reason = f"interval leaves out {grouped(lost)} of {grouped(values.size)} undefined replicates" if lost else None
    return replace(found, low=low, high=high, method="bootstrap of groups", reason=reason)


def drawn_by_groups(
    one: PairTable,
    spec: MeasureSpec,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Array:
    """A measure of the first model in replicates that draw whole groups of cases."""

    def again(tables: tuple[ScoreTable, ...]) -> Array:
        return _value(spec, tables[0])

    cells = one.cases + one.tables[0].counts.size
    return replicated(_groups(one), again, cells, replicates=replicates, seed=seed, progress=progress)


def permutation(
    pairs: PairTable,
    i: int,
    j: int,
    spec: MeasureSpec,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Whether the difference of a measure survives swapping the models' scores case by case.

    Ranking measures swap ranks within each model, since their scores may be on different scales;
    measures at a threshold swap the scores. p = (1 + #{|swapped| ≥ |observed|}) / (1 + replicates).
    """
    two = pairs.only(pairs.models[i], pairs.models[j])
    names = (two.models[0], two.models[1])
    grid, places = _common_grid(two, ranks=spec.at is None and not spec.measure.probability)
    observed = _tables(grid, places[:, None, :], two)
    difference = float((_value(spec, observed[0]) - _value(spec, observed[1]))[0])
    if math.isnan(difference):
        reason = spec.measure.reason(math.nan)
        return Comparison(*names, "permutation", str(spec), difference, reason=reason)

    def swap(rng: np.random.Generator, count: int) -> tuple[ScoreTable, ScoreTable]:
        swapped = rng.integers(0, 2, (count, two.cases), dtype=np.uint8).view(bool)
        mixed = np.stack([np.where(swapped, places[1], places[0]), np.where(swapped, places[0], places[1])])
        return _tables(grid, mixed, two)

    def gaps(tables: tuple[ScoreTable, ScoreTable]) -> Array:
        return _value(spec, tables[0]) - _value(spec, tables[1])

    cells = 2 * two.cases + 4 * grid.size
    values = replicated(swap, gaps, cells, replicates=replicates, seed=seed, progress=progress)
    # Rounding must not decide a tie between a swapped and the observed difference; an undefined one counts as extreme.
    extreme = int((~(np.abs(values) < abs(difference) - 1e-12)).sum())
    p = (1 + extreme) / (1 + replicates)
    return Comparison(*names, "permutation", str(spec), difference, statistic=difference, p=p)


def _value(spec: MeasureSpec, table: ScoreTable | DrawnCases) -> Array:
    if isinstance(table, DrawnCases):
        return np.asarray(spec.measure.functions[DrawnCases](table), dtype=np.float64)
    found = bind(spec, table)
    return np.asarray(found.formula(found.table), dtype=np.float64)


def _cases(two: PairTable) -> Resampler:
    """Draws cases with replacement within each class, the same for both models."""
    members = [np.flatnonzero(two.label == label) for label in (0, 1)]

    def draw(rng: np.random.Generator, count: int) -> tuple[ScoreTable, ...]:
        chosen = [
            rows[rng.integers(0, rows.size, (count, rows.size), dtype=np.uint32)] if rows.size else rows
            for rows in members
        ]
        return tuple(
            replace(table, counts=np.stack([_counted(place, cases, count, table) for cases in chosen], axis=1))
            for place, table in zip(two.place, two.tables, strict=True)
        )

    return draw


def _all_cases(two: PairTable) -> Resampler:
    """Draws cases with replacement, whatever their class, the same for both models."""

    def draw(rng: np.random.Generator, count: int) -> tuple[ScoreTable, ...]:
        times = _times(two.cases, rng, count)
        return tuple(
            replace(table, counts=_weighted(place, two.label, times, table))
            for place, table in zip(two.place, two.tables, strict=True)
        )

    return draw


def _pairs(two: PairTable) -> Resampler:
    """Draws the same cases as `_cases`, for measures that need no more than the pairs: no table is filled."""
    negatives, positives = (np.flatnonzero(two.label == label) for label in (0, 1))
    sizes = float(positives.size), float(negatives.size)
    ranked = []
    for place in two.place:
        order = np.argsort(place[positives])
        rows, others = place[positives][order], place[negatives]
        above, level = np.searchsorted(rows, others, side="left"), np.searchsorted(rows, others, side="right")
        ranked.append((order, above, above if np.array_equal(above, level) else level))

    def draw(rng: np.random.Generator, count: int) -> tuple[DrawnCases, ...]:
        neg, pos = _times(negatives.size, rng, count), _times(positives.size, rng, count)
        return tuple(
            DrawnCases(np.take(pos, order, axis=1), neg, above, level, *sizes) for order, above, level in ranked
        )

    return draw


def _times(cases: int, rng: np.random.Generator, count: int) -> Array:
    """How often each case was drawn, per replicate."""
    chosen = rng.integers(0, cases, (count, cases), dtype=np.uint32) + (np.arange(count) * cases)[:, None]
    return np.bincount(chosen.ravel(), minlength=count * cases).reshape(count, cases)


def _counted(place: Array, cases: Array, count: int, table: ScoreTable) -> Array:
    """How often each score was drawn, per replicate."""
    size = table.score.size
    if not cases.size:
        return np.zeros((count, size), dtype=np.int64)
    cells = place[cases] + (np.arange(count) * size)[:, None]
    return np.bincount(cells.ravel(), minlength=count * size).reshape(count, size)


def _groups(two: PairTable) -> Resampler:
    """Draws whole groups with replacement."""
    group = two.group
    assert group is not None
    size = int(group.max()) + 1

    def draw(rng: np.random.Generator, count: int) -> tuple[ScoreTable, ...]:
        times = rng.multinomial(size, np.full(size, 1 / size), count)[:, group]
        return tuple(
            replace(table, counts=_weighted(place, two.label, times, table))
            for place, table in zip(two.place, two.tables, strict=True)
        )

    return draw


def _weighted(place: Array, label: Array, times: Array, table: ScoreTable) -> Array:
    count, size = times.shape[0], table.score.size
    cells = label.astype(np.int64) * size + place + (np.arange(count) * 2 * size)[:, None]
    return np.bincount(cells.ravel(), times.ravel(), minlength=count * 2 * size).reshape(count, 2, size)


def _common_grid(two: PairTable, ranks: bool) -> tuple[Array, Array]:
    """One descending axis for both models' scores or midranks, and each case's place on it."""
    levels = [_midranks(table) if ranks else table.score for table in two.tables]
    grid, inverse = np.unique(np.concatenate(levels), return_inverse=True)
    split = levels[0].size
    descending = grid.size - 1 - inverse
    places = np.stack([descending[:split][two.place[0]], descending[split:][two.place[1]]])
    return grid[::-1], places


def _midranks(table: ScoreTable) -> Array:
    size = table.pos + table.neg
    return size.sum() - np.cumsum(size) + (size + 1) / 2


def _tables(grid: Array, places: Array, two: PairTable) -> tuple[ScoreTable, ScoreTable]:
    """Score tables of the two models over replicates: places (2, replicates, cases) on the grid."""
    count = places.shape[1]
    offset = two.label.astype(np.int64) * grid.size + (np.arange(count) * 2 * grid.size)[:, None]
    counts = [
        np.bincount((place + offset).ravel(), minlength=count * 2 * grid.size).reshape(count, 2, grid.size)
        for place in places
    ]
    first, second = (replace(two.tables[0], score=grid, counts=each) for each in counts)
    return first, second
