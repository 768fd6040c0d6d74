"""Intervals from replicates of a table: percentile, bias-corrected and accelerated (BCa), and studentised."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from scipy.special import ndtr, ndtri

from scorespace.resampling.draw import REPLICATES, bootstrap, replicated, resampler
from scorespace.results import Progress, grouped
from scorespace.tables import Array, ClassTable, ConfusionTable, Counts, ScoreTable

MOST_ROWS: Final = 10_000
CONDENSED: Final = 2048
MOST_SCORES: Final = 40_000
FEWEST: Final = 200  # cases of a class that stay when only a part is drawn from
CELLED: Final = (Counts, ConfusionTable, ScoreTable)
"""The tables whose cases stand in cells, so that one can be left out."""
Function = Callable[[Any], Array]
_CELLS_AT_ONCE: Final = 2_000_000
_MOST_INNER_CELLS: Final = 200_000_000  # counts to go through for a jackknife in every replicate: some seconds


@dataclass(frozen=True)
class Interval:
    """Bounds, how they were found, and what has to be said about them; no method: there are none."""

    low: float
    high: float
    method: str | None
    reason: str | None = None


@dataclass(frozen=True)
class Resampling:
    """What is resampled: the formula, its table and value there, and how often."""

    function: Function
    table: Any
    value: float
    level: float = 0.95
    replicates: int = REPLICATES
    seed: int = 0
    progress: Progress | None = None
    shift: float = 0.0
    scale: float = 1.0
    stratified: bool = True

    def lightened(self) -> Resampling:
        """The same on a table that is small enough to resample.

        Thousands of rows of equal weight spread like millions: draw those, and centre on the exact value.
        Of the scores of several classes, which cannot be merged, a part of the cases is drawn from; values
        then spread by a factor more.
        """
        if self._in_part:
            return self._part()
        if not (isinstance(self.table, ScoreTable) and self.table.score.size > MOST_ROWS):
            return self
        drawn = self.table.condensed(CONDENSED)
        value = float(np.asarray(self.function(drawn)))
        return replace(self, table=drawn, value=value, shift=self.value - value)

    @property
    def _in_part(self) -> bool:
        return isinstance(self.table, ClassTable) and thinning(self.table) > 1

    def _part(self) -> Resampling:
        """The same on every k-th case of each class, whose values spread √k times as much."""
        step = thinning(self.table)
        drawn = thinned(self.table, step)
        value = float(np.asarray(self.function(drawn)))
        shift = self.value - value
        return replace(self, table=drawn, value=value, shift=shift, scale=1 / math.sqrt(step))

    def named(self, method: str) -> str:
        """The method, with the remark that the table was condensed."""
        if isinstance(self.table, ClassTable) and self.table.group is not None:
            return f"{method} of groups"
        if self._in_part:
            return f"{method}, part of the cases"
        light = isinstance(self.table, ScoreTable) and self.table.score.size > MOST_ROWS
        return f"{method}, condensed" if light else method

    @property
    def tails(self) -> Array:
        return np.array([(1 - self.level) / 2, (1 + self.level) / 2])

    def draws(self) -> Array:
        """The value in every replicate."""
        return bootstrap(
            self.function,
            self.table,
            replicates=self.replicates,
            seed=self.seed,
            progress=self.progress,
            stratified=self.stratified,
        )


def thinning(table: ClassTable) -> int:
    """Of how many cases one is enough to draw from: 1 where all are drawn, as with groups and rare classes."""
    if table.group is not None:
        return 1
    present = table.class_totals[table.class_totals > 0]
    rarest = int(present.min()) if present.size else 0
    return max(1, min(math.ceil(table.score.size / MOST_SCORES), rarest // FEWEST))


def thinned(table: ClassTable, step: int) -> ClassTable:
    """Every step-th case of each class."""
    return table.taken(np.sort(np.argsort(table.label, kind="stable")[step // 2 :: step]))


def percentile(plan: Resampling) -> Interval:
    """The quantiles of the replicates at (1 ∓ level) / 2; moved onto the value when they leave it out.

    >>> from scorespace.measures.ranking import ap
    >>> from scorespace.tables import score_table
    >>> table = score_table([1, 0, 1, 0], [0.9, 0.8, 0.6, 0.1])
    >>> found = percentile(Resampling(ap, table, ap(table), replicates=200))
    >>> found.low <= ap(table) <= found.high
    True
    """
    light = plan.lightened()
    values = light.value + light.scale * (light.draws() - light.value) + light.shift
    defined = values[np.isfinite(values)]
    if not defined.size:
        return _none("the measure is undefined in every replicate")
    low, high = np.quantile(defined, plan.tails)
    method = "bootstrap"
    if not low <= plan.value <= high:  # drawing cases twice lifts maxima such as KS above the value itself
        method, middle = "bootstrap, centred", float(np.median(defined))
        low, high = low - middle + plan.value, high - middle + plan.value
    return Interval(float(low), float(high), plan.named(method), _left_out(values.size, defined.size))


def bca(plan: Resampling) -> Interval:
    """Quantiles at Φ(z₀ + (z₀ + z) / (1 − a (z₀ + z))): z₀ from the share of replicates below the value.

    The acceleration a = Σ U³ / 6 (Σ U²)^1.5 is the skewness of the cases' influence U on the value,
    by leaving out each in turn. Replicates equal to the value count half to either side.

    >>> from scorespace.measures.ranking import ap
    >>> from scorespace.tables import score_table
    >>> table = score_table([1, 0, 1, 0], [0.9, 0.8, 0.6, 0.1])
    >>> bca(Resampling(ap, table, ap(table), replicates=200)).method
    'bca'
    """
    light = plan.lightened()
    values = light.draws()
    defined = values[np.isfinite(values)]
    if not defined.size:
        return _none("the measure is undefined in every replicate")
    beyond = _signs(defined, light.value)
    if not beyond.any():
        return Interval(plan.value, plan.value, plan.named("bca"), "the measure is the same in every replicate")
    share = 0.5 - beyond.mean() / 2  # below, and half of those equal
    if not 0 < share < 1:
        return _none("all replicates lie on one side of the value, so BCa cannot correct their bias")
    accelerated = acceleration(light.function, light.table)
    if math.isnan(accelerated):
        return _none("leaving out one case makes the measure undefined, so BCa has no acceleration")
    bias = ndtri(share)
    steps = bias + ndtri(plan.tails)
    stretch = 1 - accelerated * steps
    if not (stretch > 0).all():
        return _none("the cases' influence is too skewed for BCa")
    low, high = np.quantile(defined, ndtr(bias + steps / stretch)) + light.shift
    return Interval(float(low), float(high), plan.named("bca"), _left_out(values.size, defined.size))


def studentised(plan: Resampling, error: Function, kind: str, limits: tuple[float, float]) -> Interval:
    """Bootstrap-t: value − t·se, with t the quantiles of (replicate − value) / se of the replicate.

    `error` is the standard error of the formula on a table, `kind` its name, and `limits` what no
    bound exceeds. A constant factor of the error cancels.
    """
    light = plan.lightened()
    spread = float(np.asarray(error(light.table)))
    if not (math.isfinite(spread) and spread > 0):
        why = "is zero" if spread == 0 else "is undefined"
        return _none(f"the standard error ({kind}) {why}, so nothing can be studentised")

    def both(drawn: Any) -> Array:
        return np.stack([light.function(drawn), error(drawn)], axis=-1)

    cells = cells_of(light.table).size * (1 + (case_cells(light.table).size if kind == "jackknife" else 0))
    pairs = replicated(
        resampler(light.table), both, cells, replicates=plan.replicates, seed=plan.seed, progress=plan.progress
    )
    values, errors = pairs[:, 0], pairs[:, 1]
    usable = np.isfinite(values) & np.isfinite(errors) & (errors > 0)
    if not usable.any():
        return _none(f"the standard error ({kind}) is zero or undefined in every replicate")
    ratios = (values[usable] - light.value) / errors[usable]
    high, low = plan.value - np.quantile(ratios, plan.tails) * spread
    reason = _left_out(values.size, int(usable.sum()), "replicates without a standard error")
    if not _signs(values[usable], light.value).any():
        reason = "the measure is the same in every replicate"
    low, high = np.clip([low, high], *limits)
    return Interval(float(low), float(high), plan.named(f"studentised, {kind}"), reason)


def acceleration(function: Function, table: Any) -> float:
    """BCa's acceleration a = Σ U³ / 6 (Σ U²)^1.5, with U = (n − 1)(mean − left out)/n within each class.

    0 when no case has influence; NaN when the measure needs a case that is left out.

    >>> from scorespace.tables import Counts
    >>> round(acceleration(lambda c: c.tp / c.p, Counts(tp=9, fp=0, fn=1, tn=0)), 4)
    -0.1405
    """
    counts = cells_of(table)
    cells = case_cells(table)
    values = _left_out_values(function, table, counts, cells)
    if not np.isfinite(values).all():
        return math.nan
    weights, row = counts.ravel()[cells], cells // counts.shape[-1]
    sizes = counts.sum(axis=-1, dtype=np.float64)
    means = np.bincount(row, weights * values, minlength=sizes.size) / np.maximum(sizes, 1)
    influence = (sizes - 1)[row] / sizes[row] * (means[row] - values)
    squares = float(weights @ influence**2)
    return float(weights @ influence**3) / (6 * squares**1.5) if squares > 0 else 0.0


def jackknife_error(function: Function, base: Any) -> Function:
    """Standard errors √Σ (n − 1)/n Σ (left out − mean)², summed over classes, of replicates of a table.

    Cases of one cell have the same value when left out, so there is one evaluation per cell of the
    base table that holds cases. NaN when a left-out case makes the measure undefined.

    >>> from scorespace.tables import Counts
    >>> table = Counts(tp=8, fp=0, fn=2, tn=0)
    >>> round(float(jackknife_error(lambda c: c.tp / c.p, table)(table)), 4)
    0.1333
    """
    cells = case_cells(base)

    def error(table: Any) -> Array:
        counts = cells_of(table)
        lead = counts.shape[:-2]
        flat = counts.reshape(*lead, -1)
        weights = flat[..., cells].astype(np.float64)
        values = np.asarray(function(rebuilt(table, _without_one(counts, cells))), dtype=np.float64)
        values = np.where(weights > 0, values, 0.0)  # a cell without cases has none to leave out
        row = cells // counts.shape[-1]
        sizes = counts.sum(axis=-1, dtype=np.float64)
        member = (row[:, None] == np.arange(sizes.shape[-1])).astype(np.float64)
        means = (weights * values) @ member / np.maximum(sizes, 1)
        spread = (weights * (values - means @ member.T) ** 2) @ member
        return np.sqrt((spread * (1 - 1 / np.maximum(sizes, 1))).sum(axis=-1))

    return error


def jackknife_is_affordable(table: Any, replicates: int) -> bool:
    """Whether leaving out every case of every replicate takes seconds and not hours."""
    work = replicates * cells_of(table).size
    return work <= _MOST_INNER_CELLS and work * case_cells(table).size <= _MOST_INNER_CELLS


def cells_of(table: Any) -> Array:
    """The table's counts of cases (…, classes, cells): cases are resampled and left out within a class."""
    if isinstance(table, Counts):
        return np.stack([np.stack([table.tp, table.fn], axis=-1), np.stack([table.fp, table.tn], axis=-1)], axis=-2)
    return table.matrix if isinstance(table, ConfusionTable) else table.counts


def rebuilt(table: Any, cells: Array) -> Any:
    """The table with other counts."""
    if isinstance(table, Counts):
        return Counts(tp=cells[..., 0, 0], fn=cells[..., 0, 1], fp=cells[..., 1, 0], tn=cells[..., 1, 1])
    return replace(table, **{"matrix" if isinstance(table, ConfusionTable) else "counts": cells})


def case_cells(table: Any) -> Array:
    """The cells (of the flattened counts) that hold cases which can be left out: of classes of at least two."""
    counts = cells_of(table)
    return np.flatnonzero((counts > 0) & (counts.sum(axis=-1, keepdims=True, dtype=np.float64) > 1))


def _left_out_values(function: Function, table: Any, counts: Array, cells: Array) -> Array:
    """The value without one case of each cell, in pieces of bounded size."""
    size = max(1, _CELLS_AT_ONCE // max(1, counts.size))
    pieces = [cells[start : start + size] for start in range(0, cells.size, size)]

    def piece(chosen: Array) -> Array:
        return np.asarray(function(rebuilt(table, _without_one(counts, chosen))), dtype=np.float64)

    if len(pieces) <= 1:
        return piece(cells) if cells.size else np.empty(0)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return np.concatenate(list(pool.map(piece, pieces)))


def _without_one(counts: Array, cells: Array) -> Array:
    """The counts (…, classes, cells) once for each chosen cell, with one case fewer there if it holds any."""
    flat = counts.reshape(*counts.shape[:-2], 1, -1)
    copies = np.repeat(flat, cells.size, axis=-2)
    copy = np.arange(cells.size)
    copies[..., copy, cells] -= (copies[..., copy, cells] > 0).astype(copies.dtype)
    return copies.reshape(*counts.shape[:-2], cells.size, *counts.shape[-2:])


def _signs(values: Array, value: float) -> Array:
    """1 above the value, −1 below, 0 when equal but for rounding, which must not decide a tie."""
    gaps = values - value
    return np.where(np.abs(gaps) <= 1e-12 * max(1.0, abs(value)), 0.0, np.sign(gaps))


def _none(why: str) -> Interval:
    return Interval(math.nan, math.nan, None, f"no interval: {why}")


def _left_out(drawn: int, used: int, what: str = "undefined replicates") -> str | None:
    lost = drawn - used
    return f"interval leaves out {grouped(lost)} of {grouped(drawn)} {what}" if lost else None
