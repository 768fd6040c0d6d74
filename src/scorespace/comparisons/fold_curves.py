"""Curves averaged over folds, at the same rate or at the same threshold, with confidence bands."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import numpy as np
from scipy.special import stdtrit

from scorespace.comparisons.folds import fold_cells, fold_indices, held_out_ratio
from scorespace.curves import hull, pr, rejection, roc, rroc, smooth
from scorespace.curves.brier import brier_curve, interventions_avoided, net_benefit, standardised_net_benefit
from scorespace.curves.cost import cost_curve
from scorespace.curves.curve import Curve, CurveExtension, CurveKind
from scorespace.curves.gain import gain, lift_curve
from scorespace.errors import CurveError, DataError, listing
from scorespace.inference.bands import POINTS, Band, precision_at, tpr_at
from scorespace.results import grouped
from scorespace.tables import Array, Counts, ScoreTable, ratio
from scorespace.tables.paired import PairTable

How = Literal["vertical", "threshold"]
METHODS: Final = get_args(How)


@dataclass(frozen=True, eq=False)
class FoldOutcomes:
    """Outcomes of a model in every fold (folds, thresholds), at +inf and at the scores of all folds, decreasing."""

    counts: Counts
    score: Array

    def at(self, threshold: Array) -> Counts:
        """Outcomes with scores ≥ threshold predicted positive (folds, thresholds)."""
        place = np.searchsorted(-self.score, -threshold, side="right")
        c = self.counts
        return Counts.along(c.tp[..., place], c.fp[..., place], c.p[..., :1], c.n[..., :1])


at_rates: CurveExtension[Callable[[FoldOutcomes, Array], Array]] = CurveExtension()
"""Registers, by kind of curve, its height at given x in every fold."""

at_thresholds: CurveExtension[Callable[[Counts], tuple[Array, Array]]] = CurveExtension()
"""Registers, by kind of curve, both coordinates at every threshold in every fold."""

read_off: CurveExtension[Callable[[Curve, Array], Array]] = CurveExtension()
"""Registers, by kind of curve computed separately in every fold, its height at given x."""


@read_off(hull)
@read_off(smooth)
@read_off(rejection)
@read_off(rroc)
def _interpolate_curve(curve: Curve, x: Array) -> Array:
    is_defined = np.isfinite(curve.x) & np.isfinite(curve.y)  # scores of other folds have no weight here
    return np.interp(x, curve.x[is_defined], curve.y[is_defined])


@at_rates(roc)
def _roc(outcomes: FoldOutcomes, x: Array) -> Array:
    return tpr_at(outcomes.counts, x)


@at_rates(pr)
def _pr(outcomes: FoldOutcomes, x: Array) -> Array:
    return precision_at(outcomes.counts, x)


@at_rates(gain)
def _gain(outcomes: FoldOutcomes, x: Array) -> Array:
    return _interpolate(*_gain_points(outcomes.counts), x)


@at_rates(lift_curve)
def _lift(outcomes: FoldOutcomes, x: Array) -> Array:
    return _interpolate(*_lift_points(outcomes.counts), x)


@at_rates(cost_curve)
def _cost(outcomes: FoldOutcomes, x: Array) -> Array:
    fnr, fpr = ratio(outcomes.counts.fn, outcomes.counts.p), ratio(outcomes.counts.fp, outcomes.counts.n)
    return np.stack([(weight * fnr + (1 - weight) * fpr).min(axis=-1) for weight in x], axis=-1)


@at_rates(brier_curve)
def _brier(outcomes: FoldOutcomes, x: Array) -> Array:
    c = outcomes.at(x)
    return 2 * ratio((1 - x) * c.fn + x * c.fp, c.total)


@at_rates(net_benefit)
def _net_benefit(outcomes: FoldOutcomes, x: Array) -> Array:
    c = outcomes.at(x)
    return ratio(c.tp - ratio(c.fp * x, 1 - x), c.total)  # at threshold 1 a false positive has infinite weight


@at_rates(standardised_net_benefit)
def _standardised_benefit(outcomes: FoldOutcomes, x: Array) -> Array:
    c = outcomes.at(x)
    return ratio(_net_benefit(outcomes, x), ratio(c.p, c.total))


@at_rates(interventions_avoided)
def _interventions_avoided(outcomes: FoldOutcomes, x: Array) -> Array:
    c = outcomes.at(x)
    return ratio(c.tn - ratio(c.fn * (1 - x), x), c.total)


@at_thresholds(roc)
def _roc_points(c: Counts) -> tuple[Array, Array]:
    return ratio(c.fp, c.n), ratio(c.tp, c.p)


@at_thresholds(pr)
def _pr_points(c: Counts) -> tuple[Array, Array]:
    return ratio(c.tp, c.p), ratio(c.tp, c.pp)


@at_thresholds(gain)
def _gain_points(c: Counts) -> tuple[Array, Array]:
    return ratio(c.pp, c.total), ratio(c.tp, c.p)


@at_thresholds(lift_curve)
def _lift_points(c: Counts) -> tuple[Array, Array]:
    return ratio(c.pp, c.total), ratio(ratio(c.tp, c.pp), ratio(c.p, c.total))


@dataclass(frozen=True)
class AveragedCurve:
    """Mean of a model's curves within folds, with a pointwise confidence band.

    `vertical`: mean height at the same rate. `threshold`: mean of both coordinates at the same threshold, which needs
    scores on one scale. `undefined` folds, with only one class, are excluded.
    """

    how: How
    curve: Curve
    band: Band
    folds: int
    undefined: int

    def __repr__(self) -> str:
        undefined = f", {self.undefined} undefined" if self.undefined else ""
        return f"{self.curve.kind}, averaged by {self.how} over {grouped(self.folds)} folds{undefined}; {self.band!r}"


def average_over_folds(
    pairs: PairTable,
    model: str,
    kind: CurveKind[Any],
    how: str = "vertical",
    *,
    of: str | None = None,
    level: float = 0.95,
    **options: Any,
) -> AveragedCurve:
    """Average a model's curves within folds; the band is mean ± t √(1/J + n_te/n_tr) s at every point.

    As in the corrected t-test, n_te/n_tr is the ratio of test to training cases, known or 1/(k − 1) for k folds, since
    folds share training cases. If neither is known, it is 1. `of` names a class, and `options` are those of the curve.
    """
    _check_request(kind, how, options)
    threshold: Array
    if read_off.of(kind) is not None:
        x, heights, count = _trace_folds(pairs, model, kind, of, options)
        threshold, undefined = np.full(x.size, np.nan), count - len(heights)
    else:
        table, outcomes, count = _sweep_folds(pairs, model, kind, of)
        undefined = count - len(outcomes.counts.tp)
        if how == "vertical":
            x, threshold = np.linspace(0.0, 1.0, POINTS), np.full(POINTS, np.nan)
            heights = at_rates.functions[kind.name](outcomes, x)
        else:
            x_values, heights = at_thresholds.functions[kind.name](outcomes.counts)
            x, threshold = _nan_mean(x_values), table.thresholds
    ratio_ = held_out_ratio(pairs)
    factor = float(stdtrit(len(heights) - 1, (1 + level) / 2))
    factor *= math.sqrt(1 / len(heights) + (ratio_ if math.isfinite(ratio_) else 1.0))
    y = _nan_mean(heights)
    half_width = factor * _nan_sd(heights)
    is_defined = np.isfinite(x) & np.isfinite(y)  # precision is undefined where nothing is predicted positive
    x, y, half_width, threshold = x[is_defined], y[is_defined], half_width[is_defined], threshold[is_defined]
    y_min, y_max = (None if options else kind.y_ends) or (-np.inf, np.inf)  # an option may change the axes
    low, high = np.clip(y - half_width, y_min, y_max), np.clip(y + half_width, y_min, y_max)
    curve = Curve(kind.name, x, y, threshold, kind.x, kind.y)
    method = f"spread over {grouped(len(heights))} folds, corrected"
    band = Band(kind.name, x, y, low, high, level, method, simultaneous=False)
    return AveragedCurve(how, curve, band, count, undefined)  # type: ignore[arg-type]


def _check_request(kind: CurveKind[Any], how: str, options: dict[str, Any]) -> None:
    """Raise an error for curves that cannot be averaged over folds."""
    vertical = [*at_rates.functions, *read_off.functions]
    if how not in METHODS:
        raise CurveError(f"average={how!r} is not a way to average.", seen=" or ".join(METHODS), hint="one of these")
    if kind.name not in vertical:
        raise CurveError(
            f"{kind.name} is not averaged over folds: its points differ from fold to fold.",
            seen=f"{listing(vertical)} can",
            hint="one of these, or the folds pooled, without average",
        )
    if options and kind.name in at_rates.functions:
        raise CurveError(
            f"{kind.name} is averaged as it is, without options.", seen=listing(options), hint=f"{kind.name} alone"
        )
    if how == "threshold" and kind.name not in at_thresholds.functions:
        raise CurveError(
            f"{kind.name} is not averaged by threshold: its points do not belong to thresholds.",
            seen=f"{listing(at_thresholds.functions)} can",
            hint="vertical",
        )


def _sweep_folds(
    pairs: PairTable, model: str, kind: CurveKind[Any], of: str | None
) -> tuple[ScoreTable, FoldOutcomes, int]:
    """Return the scores of a model or class, their outcomes in every fold with both classes, and the fold count."""
    model_table, cells, _ = fold_cells(pairs, model)
    if not model_table.thresholded and of is None:
        raise CurveError(
            f"{model} has no scores of one class to draw {kind.name} from.",
            seen=model_table.described(),
            hint="a model with scores, and the positive class",
        )
    table: Any = kind.fit(model_table.with_cells(cells), of, model).table
    sweep = table.sweep
    defined = (sweep.p[..., -1] > 0) & (sweep.n[..., -1] > 0)
    _check_folds(int(defined.sum()), defined.size, kind, model)
    counts = Counts.along(sweep.tp[defined], sweep.fp[defined], sweep.p[defined], sweep.n[defined])
    return table, FoldOutcomes(counts, table.score), defined.size


def _trace_folds(
    pairs: PairTable, model: str, kind: CurveKind[Any], of: str | None, options: dict[str, Any]
) -> tuple[Array, Array, int]:
    """Return x values, the height of the curve at them in every fold where it is defined, and the fold count."""
    fold_of_case, (repeats, folds) = fold_indices(pairs)
    curves = []
    for fold in range(repeats * folds):
        fold_pairs = pairs.only(model).part(np.flatnonzero(fold_of_case == fold))
        try:
            fitted = kind.fit(fold_pairs.tables[0], of, model)
            curve = fitted.function(fitted.table, **options)
        except DataError:  # only one class
            continue
        if (np.isfinite(curve.x) & np.isfinite(curve.y)).sum() > 1:
            curves.append(curve)
    _check_folds(len(curves), repeats * folds, kind, model)
    first, last = (None if options else kind.x_ends) or (0.0, min(float(curve.x.max()) for curve in curves))
    x = np.linspace(first, last, POINTS)
    return x, np.stack([read_off.functions[kind.name](curve, x) for curve in curves]), repeats * folds


def _check_folds(known: int, count: int, kind: CurveKind[Any], model: str) -> None:
    if known < 2:
        raise CurveError(
            f"{kind.name} of {model} is defined in fewer than two folds.",
            seen=f"{count} folds",
            hint="fewer folds, so that each has both classes",
        )


def _interpolate(x: Array, y: Array, at: Array) -> Array:
    """Interpolate curves (folds, points) linearly at the given x."""
    is_defined = np.isfinite(x) & np.isfinite(y)
    return np.stack([np.interp(at, a[k], b[k]) for a, b, k in zip(x, y, is_defined, strict=True)])


def _nan_mean(values: Array) -> Array:
    """Mean over folds, ignoring undefined values."""
    is_defined = np.isfinite(values)
    return ratio(np.where(is_defined, values, 0.0).sum(axis=0), is_defined.sum(axis=0))


def _nan_sd(values: Array) -> Array:
    """Standard deviation over folds, ignoring undefined values; 0 for a single value."""
    is_defined = np.isfinite(values)
    count = is_defined.sum(axis=0)
    squares = np.where(is_defined, values - _nan_mean(values), 0.0) ** 2
    return np.sqrt(squares.sum(axis=0) / np.maximum(count - 1, 1))
