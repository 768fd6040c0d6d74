"""Predicted numbers under costs of too low and too high: the panel in which a shift is moved, and the tables.

The panel is computed here, over the kept shifts; the script of the page looks up a row, and multiplies and adds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from scorespace.conditions import Asymmetry
from scorespace.curves import RrocCurve
from scorespace.curves.rroc import rroc
from scorespace.decisions import ShiftDecision, Value
from scorespace.frozen import dataclass
from scorespace.results import Row, short, whole_percent
from scorespace.tables import Array, ResidualTable
from scorespace.views.answers import Answers
from scorespace.views.charts.here import following
from scorespace.views.charts.numbers import error_chart
from scorespace.views.charts.theme import colour_of
from scorespace.views.document import Block, Grid, Panel, Picture, Text
from scorespace.views.panel import packed, share_kept


@dataclass(frozen=True)
class Shifted:
    """A model at each of its kept shifts, rising: by how much it is then too high and too low, per case."""

    name: str
    colour: str
    shift: Array
    over: Array
    under: Array
    high: Array
    low: Array
    honest: Value | None = None

    @property
    def own(self) -> int:
        """The place of the model as it is."""
        return int(np.searchsorted(self.shift, 0.0))


@dataclass(frozen=True)
class Shifting:
    """Predicted numbers at all their shifts, and what too low and too high cost: a panel of the page."""

    models: tuple[Shifted, ...]
    condition: Asymmetry
    stated: bool
    start: int

    template, script = "shift.html", "shift.js"

    @property
    def ratio(self) -> float:
        """How many times as much too low costs as too high."""
        return self.condition.under / self.condition.over

    def losses(self, model: int, ratio: float | None = None) -> Array:
        """What each kept shift costs per case."""
        one = self.models[model]
        return self.condition.over * ((self.ratio if ratio is None else ratio) * one.under + one.over)

    def best(self, model: int, ratio: float | None = None) -> int:
        """The place of least loss; of equal ones the first, up to rounding."""
        losses = self.losses(model, ratio)
        return int(np.argmax(losses <= losses.min() + 1e-12 * np.abs(losses).max()))

    def said(self, model: int, place: int, ratio: float | None = None) -> dict[str, str]:
        """What the panel says of a model at a shift, under costs; the script says the same."""
        one, losses = self.models[model], self.losses(model, ratio)
        ratio = self.ratio if ratio is None else ratio
        known = one.honest is not None and ratio == self.ratio
        return {
            "model": one.name,
            "shift": short(float(one.shift[place]), sign=True),
            "loss": short(float(losses[place])),
            "as it is": short(float(losses[one.own])),
            "alpha": f"{ratio / (1 + ratio):.3g}",
            "honest": f" At its best shift, cross-fitted loss {one.honest!r}." if known else "",
            "over": short(float(one.over[place])),
            "under": short(float(one.under[place])),
            "high": whole_percent(float(one.high[place])),
            "low": whole_percent(float(one.low[place])),
            "mean": short(float(one.over[place] - one.under[place]), sign=True),
            "size": short(float(one.over[place] + one.under[place])),
        }

    def opening(self) -> dict[str, str]:
        """What it says where the page opens."""
        return self.said(self.start, self.opened)

    @property
    def opened(self) -> int:
        """Where the page opens: at the best shift where costs are stated, else at none."""
        return self.best(self.start) if self.stated else self.models[self.start].own

    def here(self) -> Row:
        """The row of numbers that the marks of charts are drawn from, where the page opens."""
        one, place = self.models[self.start], self.opened
        x, y, slope, right = float(one.over[place]), -float(one.under[place]), 1 / self.ratio, self.reach
        return {
            "model": one.name,
            "over": x,
            "under": y,
            "error": -float(one.shift[place]),
            "left": 0,
            "right": right,
            "at_left": y - slope * x,
            "at_right": y + slope * (right - x),
        }

    @property
    def reach(self) -> float:
        """How far lines of equal loss are drawn to the right."""
        return max(float(one.over[-1]) for one in self.models)

    def content(self) -> Row:
        """All that the script of the page needs, arrays as base64."""
        return {
            "ratio": self.ratio,
            "unit": self.condition.over,
            "stated": self.stated,
            "start": self.start,
            "reach": self.reach,
            "models": [
                {
                    "name": one.name,
                    "own": one.own,
                    "words": self.said(place, one.own)["honest"],
                    **{side: packed(getattr(one, side)) for side in ("shift", "over", "under", "high", "low")},
                }
                for place, one in enumerate(self.models)
            ],
        }


def shifting(evaluation: Answers) -> Shifting | None:
    """The models of predicted numbers at all their shifts; None where there are none."""
    models = evaluation.models
    names = [name for name, table in models.items() if rroc.fits(table) is not None]
    if not names:
        return None
    decision = evaluation.decision if isinstance(evaluation.decision, ShiftDecision) else None
    condition = Asymmetry() if decision is None else decision.condition
    judged = {} if decision is None else {one.model: one.honest for one in decision.choices if one.honest.known}
    most = share_kept(len(names))
    found = tuple(
        _kept(name, colour_of(name, models), models[name], condition, most, judged.get(name)) for name in names
    )
    panel = Shifting(found, condition, decision is not None, 0)
    best = [float(panel.losses(place)[panel.best(place)]) for place in range(len(found))]
    return replace(panel, start=int(np.argmin(best)))


def _kept(name: str, colour: str, table: Any, condition: Asymmetry, most: int, honest: Value | None) -> Shifted:
    """The corners of the curve that are kept: all of few; of many as many as a pixel can show, and the best one."""
    residuals: ResidualTable = table.inside(ResidualTable)
    curve: RrocCurve = rroc(residuals)
    kept = np.arange(curve.x.size)
    if kept.size > most:
        even = np.linspace(0, kept.size - 1, 2 * most // 3)
        ends = float(curve.threshold[0]), float(curve.threshold[-1])
        spread = np.searchsorted(curve.threshold, np.linspace(*ends, most - 2 * most // 3 - 3))
        best = np.searchsorted(curve.threshold, curve.best(condition.alpha).shift)
        kept = np.unique(np.concatenate([even, spread, [best]]).astype(np.intp))
    shift, over, under = curve.threshold[kept], curve.x[kept], -curve.y[kept]
    if not (shift == 0).any():  # the model as it is lies between two corners
        where = int(np.searchsorted(shift, 0.0))
        own = (0.0, curve.own[0], -curve.own[1])
        shift, over, under = (np.insert(side, where, at) for side, at in zip((shift, over, under), own, strict=True))
    error = np.sort(residuals.numbers.error) if residuals.weight is None else residuals.numbers.error
    high, low = _sides(error, residuals.weight, shift)
    return Shifted(name, colour, shift, over, under, high, low, honest)


def _sides(error: Array, weight: Array | None, shift: Array) -> tuple[Array, Array]:
    """The shares of the cases that are too high and too low when all predictions are shifted."""
    order = np.argsort(error, kind="stable")
    reached = np.append(0.0, np.cumsum(np.ones(error.size) if weight is None else weight[order]))
    below = np.searchsorted(error[order], -shift, side="left")
    upto = np.searchsorted(error[order], -shift, side="right")
    return 1 - reached[upto] / reached[-1], reached[below] / reached[-1]


def shift_panel(evaluation: Answers) -> Sequence[Block]:
    """The shift to move, with the curve it moves along and the errors it moves."""
    found = shifting(evaluation)
    if found is None:
        return []

    tables = {one.name: evaluation.models[one.name].inside(ResidualTable) for one in found.models}
    about = "RROC curve of each model, with the shift and the line of equal loss; diamonds are the models as they are."
    errors = "Errors of each model as it is: those right of the line are too high once it is shifted."
    pictures = (
        Picture(lambda: following(evaluation.drawing(rroc.name), "rroc", found.here()), about, drag=True),
        Picture(lambda: following(error_chart(tables), "errors", found.here()), errors, errors),
    )
    return [Panel(found, pictures)]


def shift_grids(decision: ShiftDecision) -> Sequence[Block]:
    """What is asked, each model at its shift of least loss, and the ranges of costs in which each is best."""
    condition = decision.condition
    words = (
        f"Predicting too low costs {condition.under:g} per unit, too high {condition.over:g}: {condition.alpha:.3g} of "
        "the loss is for too low (alpha), and so that share of the predictions should be too high."
    )
    return [Text(words), _choices(decision), _ranges(decision)]


def _choices(decision: ShiftDecision) -> Grid:
    apparent = "apparent" if decision.fitted is None else f"apparent, on {decision.fitted}"
    kind = "cross-fitted" if decision.fitted is None else "external"
    columns = ("at least loss", "shift", f"loss/case, {kind}", apparent, "without shift", "too high")
    rows = [
        (
            one.model,
            short(one.shift, sign=True),
            short(one.loss) if math.isnan(one.honest.value) else repr(one.honest),
            short(one.loss),
            short(one.as_is),
            f"{100 * one.share:.0f} %",
        )
        for one in sorted(decision.choices, key=lambda one: one.loss)
    ]
    return Grid(columns, tuple(rows))


def _ranges(decision: ShiftDecision) -> Grid:
    rows = [
        (
            one.model,
            f"{_ratio(one.alpha_low)} to {_ratio(one.alpha_high)}",
            f"{one.alpha_low:.3g} to {one.alpha_high:.3g}",
        )
        for one in decision.ranges
    ]
    rows += [(name, "never on these cases", "never on these cases") for name in decision.dominated]
    return Grid(("best model", "when too low costs so many times too high", "alpha"), tuple(rows))


def _ratio(alpha: float) -> str:
    return "∞" if alpha >= 1 else short(alpha / (1 - alpha))
