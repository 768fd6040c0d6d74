"""Curves over folds: averaged at the same rate or at the same threshold, with bands from their spread."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, Literal, get_args

import numpy as np

from scorespace.comparisons.folds import fold_cells, fold_places, held_out_ratio
from scorespace.curves import hull, pr, rejection, roc, rroc, smooth
from scorespace.curves.brier import brier_curve, interventions_avoided, net_benefit, standardised_net_benefit
from scorespace.curves.cost import cost_curve
from scorespace.curves.curve import Addition, Curve, CurveKind
from scorespace.curves.gain import gain, lift_curve
from scorespace.errors import CurveError, DataError, listing
from scorespace.frozen import dataclass
from scorespace.resampling.band import POINTS, Band, precision_at, tpr_at
from scorespace.results import grouped
from scorespace.special import stdtrit
from scorespace.tables import Array, Counts, ScoreTable, ratio
from scorespace.tables.pair import PairTable

How = Literal["vertical", "threshold"]
HOWS: Final = get_args(How)


@dataclass(frozen=True, eq=False)
class Swept:
    """A model's outcomes in every fold (folds, thresholds), at +inf and at the scores of all folds, falling."""

    counts: Counts
    score: Array

    def at(self, threshold: Array) -> Counts:
        """The outcomes where scores ≥ threshold are positive (folds, thresholds)."""
        place = np.searchsorted(-self.score, -threshold, side="right")
        c = self.counts
        return Counts.along(c.tp[..., place], c.fp[..., place], c.p[..., :1], c.n[..., :1])


at_rates: Addition[Callable[[Swept, Array], Array]] = Addition()
"""By kind of curve: its height at places on its x axis, for every fold."""

at_thresholds: Addition[Callable[[Counts], tuple[Array, Array]]] = Addition()
"""By kind of curve: both its coordinates at every threshold, for every fold."""

read_off: Addition[Callable[[Curve, Array], Array]] = Addition()
"""By kind of curve that is traced in every fold by itself: its height at places on its x axis."""


@read_off(hull)
@read_off(smooth)
@read_off(rejection)
@read_off(rroc)
def _height(curve: Curve, x: Array) -> Array:
    known = np.isfinite(curve.x) & np.isfinite(curve.y)  # scores of other folds have no weight here
    return np.interp(x, curve.x[known], curve.y[known])


@at_rates(roc)
def _roc(swept: Swept, x: Array) -> Array:
    return tpr_at(swept.counts, x)


@at_rates(pr)
def _pr(swept: Swept, x: Array) -> Array:
    return precision_at(swept.counts, x)


@at_rates(gain)
def _gain(swept: Swept, x: Array) -> Array:
    return _interpolated(*_targeted(swept.counts), x)


@at_rates(lift_curve)
def _lift(swept: Swept, x: Array) -> Array:
    return _interpolated(*_lifted(swept.counts), x)


@at_rates(cost_curve)
def _cost(swept: Swept, x: Array) -> Array:
    missed, alarmed = ratio(swept.counts.fn, swept.counts.p), ratio(swept.counts.fp, swept.counts.n)
    return np.stack([(each * missed + (1 - each) * alarmed).min(axis=-1) for each in x], axis=-1)


@at_rates(brier_curve)
def _brier(swept: Swept, x: Array) -> Array:
    c = swept.at(x)
    return 2 * ratio((1 - x) * c.fn + x * c.fp, c.total)


@at_rates(net_benefit)
def _benefit(swept: Swept, x: Array) -> Array:
    c = swept.at(x)
    return ratio(c.tp - ratio(c.fp * x, 1 - x), c.total)  # at 1 a false alarm weighs infinitely much


@at_rates(standardised_net_benefit)
def _share_of_benefit(swept: Swept, x: Array) -> Array:
    c = swept.at(x)
    return ratio(_benefit(swept, x), ratio(c.p, c.total))


@at_rates(interventions_avoided)
def _avoided(swept: Swept, x: Array) -> Array:
    c = swept.at(x)
    return ratio(c.tn - ratio(c.fn * (1 - x), x), c.total)


@at_thresholds(roc)
def _rates(c: Counts) -> tuple[Array, Array]:
    return ratio(c.fp, c.n), ratio(c.tp, c.p)


@at_thresholds(pr)
def _precisions(c: Counts) -> tuple[Array, Array]:
    return ratio(c.tp, c.p), ratio(c.tp, c.pp)


@at_thresholds(gain)
def _targeted(c: Counts) -> tuple[Array, Array]:
    return ratio(c.pp, c.total), ratio(c.tp, c.p)


@at_thresholds(lift_curve)
def _lifted(c: Counts) -> tuple[Array, Array]:
    return ratio(c.pp, c.total), ratio(ratio(c.tp, c.pp), ratio(c.p, c.total))


@dataclass(frozen=True)
class Averaged:
    """The mean of a model's curves within folds, and the band that their spread gives at each point.

    `vertical`: mean height at the same rate. `threshold`: mean of both coordinates at the same threshold, which only
    scores of one scale allow. `undefined` folds, with one class alone, are left out.
    """

    how: How
    curve: Curve
    band: Band
    folds: int
    undefined: int

    def __repr__(self) -> str:
        left = f", {self.undefined} undefined" if self.undefined else ""
        return f"{self.curve.kind}, averaged by {self.how} over {grouped(self.folds)} folds{left}; {self.band!r}"


def average(
    pairs: PairTable,
    model: str,
    kind: CurveKind[Any],
    how: str = "vertical",
    *,
    of: str | None = None,
    level: float = 0.95,
    **options: Any,
) -> Averaged:
    """A model's curves within folds, averaged; the band is mean ± t √(1/J + n_te/n_tr) s at every point.

    As for the corrected t-test, n_te/n_tr is that of a run, or 1/(k − 1) for k folds: they share training cases. Where
    neither is known, it is 1/J + 1. `of` names one of several classes, and `options` are those of the curve.
    """
    _check(kind, how, options)
    threshold: Array
    if read_off.of(kind) is not None:
        x, heights, count = _traced(pairs, model, kind, of, options)
        threshold, undefined = np.full(x.size, np.nan), count - len(heights)
    else:
        table, swept, count = _swept(pairs, model, kind, of)
        undefined = count - len(swept.counts.tp)
        if how == "vertical":
            x, threshold = np.linspace(0.0, 1.0, POINTS), np.full(POINTS, np.nan)
            heights = at_rates.functions[kind.name](swept, x)
        else:
            across, heights = at_thresholds.functions[kind.name](swept.counts)
            x, threshold = _mean(across), table.thresholds
    known = held_out_ratio(pairs)
    factor = float(stdtrit(len(heights) - 1, (1 + level) / 2))
    factor *= math.sqrt(1 / len(heights) + (known if math.isfinite(known) else 1.0))
    y = _mean(heights)
    wide = factor * _spread(heights)
    drawn = np.isfinite(x) & np.isfinite(y)  # where nothing is predicted positive, there is no precision
    x, y, wide, threshold = x[drawn], y[drawn], wide[drawn], threshold[drawn]
    least, most = (None if options else kind.y_ends) or (-np.inf, np.inf)  # an option may choose other axes
    low, high = np.clip(y - wide, least, most), np.clip(y + wide, least, most)
    curve = Curve(kind.name, x, y, threshold, kind.x, kind.y)
    method = f"spread over {grouped(len(heights))} folds, corrected"
    band = Band(kind.name, x, y, low, high, level, method, simultaneous=False)
    return Averaged(how, curve, band, count, undefined)  # type: ignore[arg-type]


def _check(kind: CurveKind[Any], how: str, options: dict[str, Any]) -> None:
    """Refuse what has no mean over folds, and say why."""
    vertical = [*at_rates.functions, *read_off.functions]
    if how not in HOWS:
        raise CurveError(f"average={how!r} is no way to.", seen=" or ".join(HOWS), hint="one of these")
    if kind.name not in vertical:
        raise CurveError(
            f"{kind.name} is not averaged over folds: its points lie elsewhere in every fold.",
            seen=f"{listing(vertical)} can",
            hint="one of these, or the folds pooled, without average",
        )
    if options and kind.name in at_rates.functions:
        raise CurveError(
            f"{kind.name} is averaged as it is, without options.", seen=listing(options), hint=f"{kind.name} alone"
        )
    if how == "threshold" and kind.name not in at_thresholds.functions:
        raise CurveError(
            f"{kind.name} is not averaged by threshold: its points are no outcomes at a threshold.",
            seen=f"{listing(at_thresholds.functions)} can",
            hint="vertical",
        )


def _swept(pairs: PairTable, model: str, kind: CurveKind[Any], of: str | None) -> tuple[ScoreTable, Swept, int]:
    """The scores of a model, or of one of its classes, with the outcomes in every fold of both classes; all folds."""
    held, cells, _ = fold_cells(pairs, model)
    if not held.thresholded and of is None:
        raise CurveError(
            f"{model} has no scores of one class to draw {kind.name} from.",
            seen=held.described(),
            hint="a model with scores, and the positive class",
        )
    table: Any = kind.fit(held.with_cells(cells), of, model).table
    swept = table.sweep
    defined = (swept.p[..., -1] > 0) & (swept.n[..., -1] > 0)
    _refuse_few(int(defined.sum()), defined.size, kind, model)
    kept = Counts.along(swept.tp[defined], swept.fp[defined], swept.p[defined], swept.n[defined])
    return table, Swept(kept, table.score), defined.size


def _traced(
    pairs: PairTable, model: str, kind: CurveKind[Any], of: str | None, options: dict[str, Any]
) -> tuple[Array, Array, int]:
    """Places on the x axis, the heights there of the curve in every fold that has one, and the number of folds."""
    place, (repeats, folds) = fold_places(pairs)
    curves = []
    for fold in range(repeats * folds):
        part = pairs.only(model).part(np.flatnonzero(place == fold))
        try:
            found = kind.fit(part.tables[0], of, model)
            one = found.function(found.table, **options)
        except DataError:  # of one class alone
            continue
        if (np.isfinite(one.x) & np.isfinite(one.y)).sum() > 1:
            curves.append(one)
    _refuse_few(len(curves), repeats * folds, kind, model)
    first, last = (None if options else kind.x_ends) or (0.0, min(float(one.x.max()) for one in curves))
    x = np.linspace(first, last, POINTS)
    return x, np.stack([read_off.functions[kind.name](one, x) for one in curves]), repeats * folds


def _refuse_few(known: int, count: int, kind: CurveKind[Any], model: str) -> None:
    if known < 2:
        raise CurveError(
            f"{kind.name} of {model} is defined in fewer than two folds.",
            seen=f"{count} folds",
            hint="fewer folds, so that each has both classes",
        )


def _interpolated(x: Array, y: Array, places: Array) -> Array:
    """The heights at places of curves that are straight between their points (folds, points)."""
    known = np.isfinite(x) & np.isfinite(y)
    return np.stack([np.interp(places, a[k], b[k]) for a, b, k in zip(x, y, known, strict=True)])


def _mean(values: Array) -> Array:
    """The mean over folds of what is defined there."""
    known = np.isfinite(values)
    return ratio(np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0))


def _spread(values: Array) -> Array:
    """The standard deviation over folds of what is defined there; 0 where one value alone is."""
    known = np.isfinite(values)
    count = known.sum(axis=0)
    squares = np.where(known, values - _mean(values), 0.0) ** 2
    return np.sqrt(squares.sum(axis=0) / np.maximum(count - 1, 1))
