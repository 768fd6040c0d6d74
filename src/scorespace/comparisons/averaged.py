"""Curves over folds: averaged at the same rate or at the same threshold, with bands from their spread."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import numpy as np

from scorespace.comparisons.folds import fold_cells
from scorespace.curves import pr, roc
from scorespace.curves.curve import Addition, Curve, CurveKind
from scorespace.errors import CurveError, listing
from scorespace.resampling.band import POINTS, Band, precision_at, tpr_at
from scorespace.results import grouped
from scorespace.special import stdtrit
from scorespace.tables import Array, Counts, ScoreTable, ratio
from scorespace.tables.pair import PairTable

How = Literal["vertical", "threshold"]
HOWS: Final = get_args(How)


at_rates: Addition[Callable[[Counts, Array], Array]] = Addition()
"""By kind of curve: its height at rates, for every fold."""

at_thresholds: Addition[Callable[[Counts], tuple[Array, Array]]] = Addition()
"""By kind of curve: both its coordinates at every threshold, for every fold."""

at_rates(roc)(tpr_at)
at_rates(pr)(precision_at)


@at_thresholds(roc)
def _rates(c: Counts) -> tuple[Array, Array]:
    return ratio(c.fp, c.n), ratio(c.tp, c.p)


@at_thresholds(pr)
def _precisions(c: Counts) -> tuple[Array, Array]:
    return ratio(c.tp, c.p), ratio(c.tp, c.pp)


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
    pairs: PairTable, model: str, kind: CurveKind[Any], how: str = "vertical", *, level: float = 0.95
) -> Averaged:
    """A model's curves within folds, averaged; the band is mean ± t √(1/J + n_te/n_tr) s at every point.

    As for the corrected t-test, n_te/n_tr = 1/(k − 1) for k folds: they share training cases. Where only repeats of one
    fold are known, as in a bootstrap, it is 1/J + 1.
    """
    heights_at, points_at = at_rates.of(kind), at_thresholds.of(kind)
    if heights_at is None or points_at is None or how not in HOWS:
        problem = f"average={how!r} is no way to." if heights_at else f"{kind.name} is not averaged over folds."
        raise CurveError(
            problem, seen=f"{listing(at_rates.functions)} can, by {' or '.join(HOWS)}", hint="one of these"
        )
    held, cells, (_, folds) = fold_cells(pairs, model)
    if not held.thresholded:
        raise CurveError(
            f"{model} has no scores of one class to draw {kind.name} from.",
            seen=held.described(),
            hint="a model with scores, and the positive class",
        )
    table = held.inside(ScoreTable)
    swept = table.with_cells(cells).sweep
    defined = (swept.p[..., -1] > 0) & (swept.n[..., -1] > 0)
    if defined.sum() < 2:
        raise CurveError(
            f"{kind.name} of {model} is defined in fewer than two folds.",
            seen=f"{defined.size} folds",
            hint="fewer folds, so that each has both classes",
        )
    kept = Counts.along(swept.tp[defined], swept.fp[defined], swept.p[defined], swept.n[defined])
    count = int(defined.sum())
    factor = float(stdtrit(count - 1, (1 + level) / 2)) * math.sqrt(1 / count + (1 / (folds - 1) if folds > 1 else 1.0))
    if how == "vertical":
        x = np.linspace(0, 1, POINTS)
        heights, threshold = heights_at(kept, x), np.full(POINTS, np.nan)
    else:
        across, heights = points_at(kept)
        x, threshold = _mean(across), table.thresholds
    y = _mean(heights)
    wide = factor * _spread(heights)
    drawn = np.isfinite(x) & np.isfinite(y)  # where nothing is predicted positive, there is no precision
    x, y, wide, threshold = x[drawn], y[drawn], wide[drawn], threshold[drawn]
    low, high = np.clip(y - wide, 0, 1), np.clip(y + wide, 0, 1)
    curve = Curve(kind.name, x, y, threshold, kind.x, kind.y)
    method = f"spread over {grouped(count)} folds, corrected"
    band = Band(kind.name, x, y, low, high, level, method, simultaneous=False)
    return Averaged(how, curve, band, defined.size, int((~defined).sum()))  # type: ignore[arg-type]


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
