"""Confidence bands of curves, pointwise or simultaneous: ROC, precision-recall, net benefit, smooth calibration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from scorespace.curves import pr, roc
from scorespace.curves.curve import CurveExtension, CurveKind
from scorespace.errors import ScoreSpaceError
from scorespace.inference.bootstrap import REPLICATES, BootstrapDraws, ReplicateRequest
from scorespace.inference.estimate import UNCOUNTED, check_level
from scorespace.inference.interval_formulas import tail_probabilities
from scorespace.inference.proportion import normal_quantile
from scorespace.results import SCHEMA, AsTable, ByValue, Note, Row, grouped, to_json_types
from scorespace.tables import Array, Counts, ScoreTable, ratio
from scorespace.tables.counts import class_factors

POINTS: Final = 101
SIMULTANEOUS: Final = "simultaneous"
BANDS: Final = (SIMULTANEOUS, "pointwise")
"""Kinds of bands by name: for the whole curve, or for each of its points."""
CurveAt = Callable[[ScoreTable, Array], Array]
ErrorAt = Callable[[ScoreTable, Array, Array], Array]
Side = Literal["left", "right"]


@dataclass(frozen=True, eq=False)
class Band(ByValue, AsTable):
    """Limits of a curve over a grid of rates, around its values y; NaN with a reason when undefined.

    `simultaneous`: the limits contain the whole curve with the given confidence, rather than each point.
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
        """Return one row per grid point."""
        columns = (to_json_types(values) for values in (self.x, self.y, self.low, self.high))
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
        scope = "simultaneous" if self.simultaneous else "pointwise"
        wide = f"maximum width {np.max(self.high - self.low):.3f}"
        return f"{name}: {100 * self.level:g} % {scope}, {grouped(self.x.size)} points, {wide}, {self.method}"


band: CurveExtension[Callable[..., Band]] = CurveExtension()
"""Registers the band of a kind of curve: a function of the table of the curve and its options, besides `level`,
`simultaneous` and `seed`."""


@band(roc)
def roc_band(
    table: ScoreTable,
    *,
    level: float = 0.95,
    simultaneous: bool = False,
    grid: ArrayLike | None = None,
    draws: BootstrapDraws | None = None,
    model: str = "",
    replicates: int = REPLICATES,
    seed: int = 0,
    normalised: bool = True,
    fpr_low: float | None = None,
    fpr_high: float | None = None,
    tpr_low: float | None = None,
    tpr_high: float | None = None,
) -> Band:
    """Confidence band of the TPR over a grid of FPR: pointwise quantiles of the replicates, or simultaneous y ± c·se.

    If not `normalised`, the same band in counts. A partial area has no band of its own.

    c is the quantile of max |replicate − y| / se over the grid, and at least the normal quantile. se is the standard
    error of the replicates, and at least the binomial error with two successes and two failures added, since the curve
    is uncertain even where replicates do not vary (pointwise quantiles have no width there). A simultaneous band
    contains the pointwise one, which is not symmetric, and is made monotone. Every curve passes through (0, 0) and
    (1, 1), so bands reach down to 0 at FPR 0 and close at FPR 1.

    >>> from scorespace.tables import score_table
    >>> table = score_table([1, 0, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.3, 0.2, 0.1])
    >>> band = roc_band(table, grid=[0, 0.5, 1], replicates=200)
    >>> band.y, float(band.low[-1])
    (array([0.33333333, 0.66666667, 1.        ]), 1.0)
    """
    reason = None if table.n_pos > 0 and table.n_neg > 0 else "undefined: only one class is present"
    drawn = draws or BootstrapDraws({model: table}, replicates=replicates, seed=seed)
    result = bootstrap_band(
        roc, table, grid, _tpr_of, _roc_error, drawn, model, level, simultaneous, reason, within=True
    )
    if result.reason is not None:
        return result
    at, y, low, high = result.x, result.y, result.low, result.high
    if simultaneous:
        low, high = np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
    low, high = np.where(at == 0, 0.0, low), np.where(at == 0, np.maximum(high, y), high)
    low, high = np.where(at == 1, 1.0, low), np.where(at == 1, 1.0, high)
    across, up = (1.0, 1.0) if normalised else (float(table.n_neg), float(table.n_pos))
    return replace(result, x=across * at, y=up * y, low=up * low, high=up * high)


@band(pr)
def pr_band(
    table: ScoreTable,
    *,
    level: float = 0.95,
    simultaneous: bool = False,
    grid: ArrayLike | None = None,
    draws: BootstrapDraws | None = None,
    model: str = "",
    replicates: int = REPLICATES,
    seed: int = 0,
    prevalence: float | None = None,
) -> Band:
    """Confidence band of the precision over a grid of recall: pointwise quantiles, or y ± c·se as in `roc_band`.

    Between thresholds TP and FP are interpolated linearly, as on the curve; where recall stays the same while false
    positives increase, the highest precision counts. The prevalence is that of the table, or the stated one; every
    curve ends at it, so bands reach down to it at recall 1.

    >>> from scorespace.tables import score_table
    >>> pr_band(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]), grid=[0, 0.75, 1], replicates=50).y
    array([1.        , 0.75      , 0.66666667])
    """
    reason = None if table.n_pos > 0 else "undefined: there are no positive cases"
    drawn = draws or BootstrapDraws({model: table}, replicates=replicates, seed=seed)
    curve, error, end = _precision_of, _pr_error, float(ratio(table.n_pos, table.total))
    stated = prevalence is not None
    if prevalence is not None:
        curve, error, end = (
            partial(_precision_of_prevalence, prevalence),
            partial(_pr_error_at_prevalence, prevalence),
            prevalence,
        )
    result = bootstrap_band(pr, table, grid, curve, error, drawn, model, level, simultaneous, reason, within=stated)
    low = np.where(result.x == 1, np.minimum(result.low, end), result.low)
    return result if result.reason is not None else replace(result, low=low)


def bootstrap_band(
    kind: CurveKind[Any],
    table: ScoreTable,
    grid: ArrayLike | None,
    curve: CurveAt,
    error: ErrorAt,
    draws: BootstrapDraws,
    model: str,
    level: float,
    simultaneous: bool,
    reason: str | None,
    *,
    within: bool,
    ends: tuple[float, float] = (0.0, 1.0),
) -> Band:
    """Compute a band from replicates on a grid: pointwise quantiles, or y ± c·se; NaN if there is a reason."""
    check_level(level)
    at = np.linspace(0, 1, POINTS) if grid is None else np.asarray(grid, dtype=np.float64)
    if at.ndim != 1 or not at.size or not ((at >= 0) & (at <= 1)).all() or (np.diff(at) <= 0).any():
        raise ScoreSpaceError(
            "grid must hold increasing rates.", seen=f"{grid!r:.60}", hint="increasing numbers from 0 to 1"
        )
    if reason is not None or not table.counted:
        undefined = np.full(at.shape, np.nan)
        return Band(kind.name, at, undefined, undefined, undefined, level, None, simultaneous, reason or UNCOUNTED)
    name = f"{curve!r} on {at.size} points, {hash(at.tobytes())}"
    (values,) = draws.all([ReplicateRequest(model, name, lambda drawn: curve(drawn, at), within)])
    values = np.clip(values[np.isfinite(values).all(axis=1)], *ends)  # a replicate may lack a class
    y, method = curve(table, at), f"bootstrap{draws.how(model)}"
    low, high = pointwise_limits(values, level)
    if simultaneous:
        lowest, highest = _simultaneous_limits(y, values, error(table, at, y), level, ends)
        low, high = np.minimum(low, lowest), np.maximum(high, highest)
        return Band(kind.name, at, y, low, high, level, f"{method}, largest studentised deviation", simultaneous)
    return Band(kind.name, at, y, low, high, level, method, simultaneous)


def pointwise_limits(values: Array, level: float) -> tuple[Array, Array]:
    """Pointwise quantiles of the replicates at the given level."""
    low, high = np.quantile(values, tail_probabilities(level), axis=0)
    return low, high


def _simultaneous_limits(
    y: Array, values: Array, min_error: Array, level: float, ends: tuple[float, float]
) -> tuple[Array, Array]:
    """Simultaneous band y ± c·se that contains the share `level` of the replicates over the whole grid."""
    error = np.maximum(values.std(axis=0, ddof=1) if len(values) > 1 else 0.0, min_error)
    largest = (np.abs(values - y) / error).max(axis=1)
    factor = max(float(np.quantile(largest, level)), normal_quantile(level))
    return np.maximum(y - factor * error, ends[0]), np.minimum(y + factor * error, ends[1])


def _roc_error(table: ScoreTable, at: Array, y: Array) -> Array:
    """Standard error of the TPR: binomial, plus half the rise of the curve over the standard error of the FPR."""
    n_pos, n_neg = float(table.n_pos), float(table.n_neg)
    sideways = _binomial_error(at * n_neg, n_neg)
    before, after = at - sideways, at + sideways
    rise = tpr_at(table.sweep, after) - np.where(before > 0, tpr_at(table.sweep, np.maximum(before, 0)), 0.0)
    return np.hypot(_binomial_error(y * n_pos, n_pos), rise / 2)


def _pr_error(table: ScoreTable, at: Array, y: Array) -> Array:
    """Standard error of the precision: binomial, plus half its change over the standard error of the recall."""
    n_pos = float(table.n_pos)
    sideways = _binomial_error(at * n_pos, n_pos)
    before, after = np.maximum(at - sideways, 0), at + sideways
    ending = np.where(after < 1, precision_at(table.sweep, np.minimum(after, 1)), table.n_pos / table.total)
    true_positives = at * n_pos
    predicted = np.divide(true_positives, y, out=np.zeros_like(y), where=y > 0)
    counting = _binomial_error(predicted * y, predicted)
    return np.hypot(counting, (precision_at(table.sweep, before) - ending) / 2)


def _pr_error_at_prevalence(prevalence: float, table: ScoreTable, at: Array, y: Array) -> Array:
    """Standard error of the precision at a stated prevalence, by the delta method."""
    sample_precision = precision_at(table.sweep, at)
    pos, neg = class_factors(table.n_pos, table.n_neg, prevalence)
    return np.asarray(
        _pr_error(table, at, sample_precision)
        * pos
        * neg
        / (sample_precision * pos + (1 - sample_precision) * neg) ** 2
    )


def _binomial_error(successes: Array, trials: Array | float) -> Array:
    """Binomial standard error after adding two successes and two failures (Agresti and Coull 1998); never 0."""
    share = (successes + 2) / (trials + 4)
    return np.sqrt(share * (1 - share) / (trials + 4))


def _tpr_of(table: ScoreTable, fpr: Array) -> Array:
    return tpr_at(table.sweep, fpr)


def _precision_of(table: ScoreTable, recall: Array) -> Array:
    return precision_at(table.sweep, recall)


def _precision_of_prevalence(prevalence: float, table: ScoreTable, recall: Array) -> Array:
    return precision_at_prevalence(prevalence, table.sweep, recall)


def tpr_at(counts: Counts, fpr: Array) -> Array:
    """Return the highest TPR at each FPR for every replicate, as `RocCurve.tpr_at` does; NaN without a class."""
    negatives, positives = (np.where(part > 0, part, np.nan) for part in (counts.n[..., -1:], counts.p[..., -1:]))
    # Number of false positives the rate allows, by the same comparison of quotients as on the curve.
    allowed = np.floor(fpr * negatives)
    allowed += (allowed + 1) / negatives <= fpr
    allowed -= allowed / negatives > fpr
    after = _search_rows(counts.fp, allowed, "right").clip(1, counts.fp.shape[-1] - 1)
    x = [np.take_along_axis(counts.fp, place, axis=-1) / negatives for place in (after - 1, after)]
    y = [np.take_along_axis(counts.tp, place, axis=-1) / positives for place in (after - 1, after)]
    width = x[1] - x[0]
    share = np.divide(fpr - x[0], width, out=np.ones_like(width), where=width > 0).clip(0, 1)
    tpr = np.where(fpr >= 1, 1.0, y[0] + share * (y[1] - y[0]))
    return np.where(np.isnan(negatives), np.nan, tpr)


def precision_at(counts: Counts, recall: Array) -> Array:
    """Return the highest precision at each recall for every replicate; at recall 0 that of the highest score."""
    positives = np.where(counts.p[..., -1:] > 0, counts.p[..., -1:], 1.0)  # a replicate without positives needs none
    needed = np.ceil(recall * positives)
    needed -= (needed > 0) & ((needed - 1) / positives >= recall)
    needed += needed / positives < recall
    after = _search_rows(counts.tp, needed, "left").clip(1, counts.tp.shape[-1] - 1)
    tp = [np.take_along_axis(counts.tp, place, axis=-1) for place in (after - 1, after)]
    fp = [np.take_along_axis(counts.fp, place, axis=-1) for place in (after - 1, after)]
    gained = tp[1] - tp[0]
    share = np.divide(recall * positives - tp[0], gained, out=np.ones_like(gained), where=gained > 0).clip(0, 1)
    true_positives = tp[0] + share * gained
    precision = ratio(true_positives, true_positives + fp[0] + share * (fp[1] - fp[0]))
    first = np.argmax(counts.pp > 0, axis=-1)[..., None]  # scores without weight have no cases
    start = ratio(*(np.take_along_axis(part, first, axis=-1) for part in (counts.tp, counts.pp)))
    return np.where(recall == 0, start, precision)


def precision_at_prevalence(prevalence: float, counts: Counts, recall: Array) -> Array:
    """Return the precision at each recall for a stated prevalence, by rescaling its odds."""
    sample_precision = precision_at(counts, recall)
    pos, neg = class_factors(counts.p[..., -1:], counts.n[..., -1:], prevalence)
    return ratio(sample_precision * pos, sample_precision * pos + (1 - sample_precision) * neg)


def _search_rows(sorted_values: Array, values: Array, side: Side) -> Array:
    """Search sorted integers row by row in one call: each row is shifted above all rows before it."""
    flat, size = sorted_values.reshape(-1, sorted_values.shape[-1]), sorted_values.shape[-1]
    sought = np.broadcast_to(values, (*sorted_values.shape[:-1], values.shape[-1])).reshape(len(flat), -1)
    row = np.arange(len(flat))[:, None]
    shift = row * (flat[:, -1].max() + 1)  # exact: whole numbers far below 2^53
    place = np.searchsorted((flat + shift).ravel(), (sought + shift).ravel(), side=side).reshape(sought.shape)
    return (place - row * size).reshape(*sorted_values.shape[:-1], -1)
