"""Bands around ROC and precision-recall curves: an interval at each rate, or one band for the whole curve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from scorespace.curves import pr, roc
from scorespace.curves.curve import Addition, CurveKind
from scorespace.errors import ScoreSpaceError
from scorespace.frozen import dataclass
from scorespace.resampling.draw import REPLICATES, Asked, Draws
from scorespace.resampling.estimate import UNCOUNTED, check_level
from scorespace.resampling.limits import tails
from scorespace.resampling.share import normal_quantile
from scorespace.results import SCHEMA, ByValue, Note, Row, grouped, plain
from scorespace.tables import Array, Counts, ScoreTable, ratio
from scorespace.tables.counts import class_factors

POINTS: Final = 101
CurveAt = Callable[[Counts, Array], Array]
ErrorAt = Callable[[ScoreTable, Array, Array], Array]
Side = Literal["left", "right"]


@dataclass(frozen=True, eq=False)
class Band(ByValue):
    """Bounds of a curve over a grid of rates, around its own values y there; NaN with a reason when undefined.

    `simultaneous`: the whole curve lies inside with the given level, and not each point by itself.
    """

    kind: str
    x: Array
    y: Array
    low: Array
    high: Array
    level: float
    method: str | None
    simultaneous: bool
    reason: str | None = None

    @property
    def notes(self) -> tuple[Note, ...]:
        return ()

    def rows(self) -> list[Row]:
        """One row per rate of the grid."""
        columns = (plain(values) for values in (self.x, self.y, self.low, self.high))
        return [{"x": x, "y": y, "low": low, "high": high} for x, y, low, high in zip(*columns, strict=True)]

    def to_dict(self) -> Row:
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "level": self.level,
            "simultaneous": self.simultaneous,
            "method": self.method,
            "reason": self.reason,
            "rows": self.rows(),
        }

    def __repr__(self) -> str:
        name = f"{self.kind} band"
        if self.method is None:
            return f"{name}: {self.reason}"
        scope = "for the whole curve" if self.simultaneous else "at each point"
        wide = f"at most {np.max(self.high - self.low):.3f} wide"
        return f"{name}: {100 * self.level:g} % {scope}, {grouped(self.x.size)} points, {wide}, {self.method}"


band: Addition[Callable[..., Band]] = Addition()
"""How the band around a kind of curve is drawn: from the table of the curve and with its options, besides `level`,
`simultaneous` and `seed`."""


@band(roc)
def roc_band(
    table: ScoreTable,
    *,
    level: float = 0.95,
    simultaneous: bool = False,
    grid: ArrayLike | None = None,
    draws: Draws | None = None,
    model: str = "",
    replicates: int = REPLICATES,
    seed: int = 0,
    normalised: bool = True,
    fpr_low: float | None = None,
    fpr_high: float | None = None,
    tpr_low: float | None = None,
    tpr_high: float | None = None,
) -> Band:
    """A band of the TPR over a grid of FPR: quantiles of the replicates, or y ± c·se for the whole curve.

    Not `normalised`, it is the same band in counts; the part whose area is told has no band of its own.

    c is the quantile of max |replicate − y| / se over the grid, and no less than the normal one. se is
    the error of the replicates, and no less than that of counting positives and negatives with two
    cases added on either side: where no replicate varies the curve is still uncertain. (Quantiles have
    no width there.) A band for the whole curve is then cut to what a rising curve allows. Every curve
    passes (0, 0) and (1, 1), so bands reach down to 0 at FPR 0 and close at FPR 1.

    >>> from scorespace.tables import score_table
    >>> table = score_table([1, 0, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.3, 0.2, 0.1])
    >>> band = roc_band(table, grid=[0, 0.5, 1], replicates=200)
    >>> band.y, float(band.low[-1])
    (array([0.33333333, 0.66666667, 1.        ]), 1.0)
    """
    reason = None if table.n_pos > 0 and table.n_neg > 0 else "undefined: only one class is present"
    drawn = draws or Draws({model: table}, replicates=replicates, seed=seed)
    found = _drawn(roc, table, grid, tpr_at, _roc_error, drawn, model, level, simultaneous, reason, within=True)
    if found.reason is not None:
        return found
    at, y, low, high = found.x, found.y, found.low, found.high
    if simultaneous:
        low, high = np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
    low, high = np.where(at == 0, 0.0, low), np.where(at == 0, np.maximum(high, y), high)
    low, high = np.where(at == 1, 1.0, low), np.where(at == 1, 1.0, high)
    across, up = (1.0, 1.0) if normalised else (float(table.n_neg), float(table.n_pos))
    return replace(found, x=across * at, y=up * y, low=up * low, high=up * high)


@band(pr)
def pr_band(
    table: ScoreTable,
    *,
    level: float = 0.95,
    simultaneous: bool = False,
    grid: ArrayLike | None = None,
    draws: Draws | None = None,
    model: str = "",
    replicates: int = REPLICATES,
    seed: int = 0,
    prevalence: float | None = None,
) -> Band:
    """A band of the precision over a grid of recall: quantiles of the replicates, or y ± c·se as in `roc_band`.

    Between thresholds TP and FP grow in proportion, as on the curve; where a recall is held while
    false positives come in, the highest precision counts. Prevalence is that of the table, or the stated one;
    every curve ends with it, so bands reach down to it at recall 1.

    >>> from scorespace.tables import score_table
    >>> pr_band(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]), grid=[0, 0.75, 1], replicates=50).y
    array([1.        , 0.75      , 0.66666667])
    """
    reason = None if table.n_pos > 0 else "undefined: there are no positive cases"
    drawn = draws or Draws({model: table}, replicates=replicates, seed=seed)
    curve, error, end = precision_at, _pr_error, float(ratio(table.n_pos, table.total))
    stated = prevalence is not None
    if prevalence is not None:
        curve, error, end = partial(precision_for, prevalence), partial(_pr_error_for, prevalence), prevalence
    found = _drawn(pr, table, grid, curve, error, drawn, model, level, simultaneous, reason, within=stated)
    low = np.where(found.x == 1, np.minimum(found.low, end), found.low)
    return found if found.reason is not None else replace(found, low=low)


def _drawn(
    kind: CurveKind[Any],
    table: ScoreTable,
    grid: ArrayLike | None,
    curve: CurveAt,
    error: ErrorAt,
    draws: Draws,
    model: str,
    level: float,
    simultaneous: bool,
    reason: str | None,
    *,
    within: bool,
) -> Band:
    """The band that replicates give on a grid: their quantiles, or y ± c·se; for a reason, none."""
    check_level(level)
    at = np.linspace(0, 1, POINTS) if grid is None else np.asarray(grid, dtype=np.float64)
    if at.ndim != 1 or not at.size or not ((at >= 0) & (at <= 1)).all() or (np.diff(at) <= 0).any():
        raise ScoreSpaceError("grid holds no rising rates.", seen=f"{grid!r:.60}", hint="numbers from 0 to 1, rising")
    if reason is not None or not table.counted:
        nothing = np.full(at.shape, np.nan)
        return Band(kind.name, at, nothing, nothing, nothing, level, None, simultaneous, reason or UNCOUNTED)
    name = f"{curve!r} on {at.size} points, {hash(at.tobytes())}"
    (values,) = draws.all([Asked(model, name, lambda drawn: curve(drawn.sweep, at), within)])
    values = np.clip(values[np.isfinite(values).all(axis=1)], 0, 1)  # a replicate may lack a class
    y, method = curve(table.sweep, at), f"bootstrap{draws.how(model)}"
    if simultaneous:
        low, high = _around(y, values, error(table, at, y), level)
        return Band(kind.name, at, y, low, high, level, f"{method}, largest studentised deviation", simultaneous)
    low, high = at_each_point(values, level)
    return Band(kind.name, at, y, low, high, level, method, simultaneous)


def at_each_point(values: Array, level: float) -> tuple[Array, Array]:
    """Bounds that hold the share `level` of the replicates at each point by itself."""
    low, high = np.quantile(values, tails(level), axis=0)
    return low, high


def _around(y: Array, values: Array, least: Array, level: float) -> tuple[Array, Array]:
    """The band y ± c·se that holds the share `level` of the replicates over their whole length."""
    error = np.maximum(values.std(axis=0, ddof=1) if len(values) > 1 else 0.0, least)
    largest = (np.abs(values - y) / error).max(axis=1)
    factor = max(float(np.quantile(largest, level)), normal_quantile(level))
    return np.maximum(y - factor * error, 0.0), np.minimum(y + factor * error, 1.0)


def _roc_error(table: ScoreTable, at: Array, y: Array) -> Array:
    """The error of the TPR from counting positives, and from the FPR's own error: half the curve's rise over it."""
    n_pos, n_neg = float(table.n_pos), float(table.n_neg)
    sideways = _binomial_error(at * n_neg, n_neg)
    before, after = at - sideways, at + sideways
    rise = tpr_at(table.sweep, after) - np.where(before > 0, tpr_at(table.sweep, np.maximum(before, 0)), 0.0)
    return np.hypot(_binomial_error(y * n_pos, n_pos), rise / 2)


def _pr_error(table: ScoreTable, at: Array, y: Array) -> Array:
    """The error of the precision from counting what is predicted positive, and from the recall's own error."""
    n_pos = float(table.n_pos)
    sideways = _binomial_error(at * n_pos, n_pos)
    before, after = np.maximum(at - sideways, 0), at + sideways
    ending = np.where(after < 1, precision_at(table.sweep, np.minimum(after, 1)), table.n_pos / table.total)
    hits = at * n_pos
    predicted = np.divide(hits, y, out=np.zeros_like(y), where=y > 0)
    counting = _binomial_error(predicted * y, predicted)
    return np.hypot(counting, (precision_at(table.sweep, before) - ending) / 2)


def _pr_error_for(prevalence: float, table: ScoreTable, at: Array, y: Array) -> Array:
    """The same for a stated prevalence: times the slope of the precision there in that of the sample."""
    here = precision_at(table.sweep, at)
    pos, neg = class_factors(table.n_pos, table.n_neg, prevalence)
    return np.asarray(_pr_error(table, at, here) * pos * neg / (here * pos + (1 - here) * neg) ** 2)


def _binomial_error(hits: Array, trials: Array | float) -> Array:
    """The binomial error after adding two hits and two misses (Agresti and Coull): never 0."""
    share = (hits + 2) / (trials + 4)
    return np.sqrt(share * (1 - share) / (trials + 4))


def tpr_at(counts: Counts, fpr: Array) -> Array:
    """The highest TPR at each FPR, for every replicate: `RocCurve.tpr_at` along the last axis; NaN without a class."""
    negatives, positives = (np.where(part > 0, part, np.nan) for part in (counts.n[..., -1:], counts.p[..., -1:]))
    # How many false positives the rate allows, by the same comparison of quotients as on the curve.
    allowed = np.floor(fpr * negatives)
    allowed += (allowed + 1) / negatives <= fpr
    allowed -= allowed / negatives > fpr
    after = _place(counts.fp, allowed, "right").clip(1, counts.fp.shape[-1] - 1)
    x = [np.take_along_axis(counts.fp, place, axis=-1) / negatives for place in (after - 1, after)]
    y = [np.take_along_axis(counts.tp, place, axis=-1) / positives for place in (after - 1, after)]
    width = x[1] - x[0]
    share = np.divide(fpr - x[0], width, out=np.ones_like(width), where=width > 0).clip(0, 1)
    found = np.where(fpr >= 1, 1.0, y[0] + share * (y[1] - y[0]))
    return np.where(np.isnan(negatives), np.nan, found)


def precision_at(counts: Counts, recall: Array) -> Array:
    """The highest precision at each recall, for every replicate; at recall 0 that of the first scores."""
    positives = np.where(counts.p[..., -1:] > 0, counts.p[..., -1:], 1.0)  # a draw without positives needs none
    needed = np.ceil(recall * positives)
    needed -= (needed > 0) & ((needed - 1) / positives >= recall)
    needed += needed / positives < recall
    after = _place(counts.tp, needed, "left").clip(1, counts.tp.shape[-1] - 1)
    tp = [np.take_along_axis(counts.tp, place, axis=-1) for place in (after - 1, after)]
    fp = [np.take_along_axis(counts.fp, place, axis=-1) for place in (after - 1, after)]
    gained = tp[1] - tp[0]
    share = np.divide(recall * positives - tp[0], gained, out=np.ones_like(gained), where=gained > 0).clip(0, 1)
    hits = tp[0] + share * gained
    precision = ratio(hits, hits + fp[0] + share * (fp[1] - fp[0]))
    first = np.argmax(counts.pp > 0, axis=-1)[..., None]  # scores without weight predict nothing
    start = ratio(*(np.take_along_axis(part, first, axis=-1) for part in (counts.tp, counts.pp)))
    return np.where(recall == 0, start, precision)


def precision_for(prevalence: float, counts: Counts, recall: Array) -> Array:
    """The same where positives have a stated share: the odds of being right change as those of the shares."""
    here = precision_at(counts, recall)
    pos, neg = class_factors(counts.p[..., -1:], counts.n[..., -1:], prevalence)
    return ratio(here * pos, here * pos + (1 - here) * neg)


def _place(rising: Array, wanted: Array, side: Side) -> Array:
    """Where the wanted whole numbers fit in rising ones, row by row in one search: row k is lifted above all before."""
    flat, size = rising.reshape(-1, rising.shape[-1]), rising.shape[-1]
    sought = np.broadcast_to(wanted, (*rising.shape[:-1], wanted.shape[-1])).reshape(len(flat), -1)
    row = np.arange(len(flat))[:, None]
    lift = row * (flat[:, -1].max() + 1)  # exact: whole numbers far below 2^53
    place = np.searchsorted((flat + lift).ravel(), (sought + lift).ravel(), side=side).reshape(sought.shape)
    return (place - row * size).reshape(*rising.shape[:-1], -1)
