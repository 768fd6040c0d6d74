"""Numeric predictions at all shifts, with the loss of over- and underprediction, for the panel of the page.

All values are computed here at the kept shifts; the script of the report looks them up and recomputes the loss, which
is linear in the costs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scorespace.costs import Asymmetry
from scorespace.curves import RrocCurve
from scorespace.curves.rroc import rroc
from scorespace.decisions import CostEstimate, ShiftDecision
from scorespace.evaluation.panel_measures import encode_array
from scorespace.evaluation.panel_thresholds import max_thresholds
from scorespace.report.protocol import ResultsView
from scorespace.results import Row, format_whole_percent, short
from scorespace.tables import Array, ResidualTable


@dataclass(frozen=True)
class ShiftedModel:
    """A model at its kept shifts, in increasing order: mean over- and underprediction per case."""

    name: str
    shift: Array
    over: Array
    under: Array
    high: Array
    low: Array
    cross_fitted: CostEstimate | None = None

    @property
    def unshifted(self) -> int:
        """Index of the model without a shift."""
        return int(np.searchsorted(self.shift, 0.0))


@dataclass(frozen=True)
class ShiftPanel:
    """Content of the interactive panel of shifts and costs."""

    models: tuple[ShiftedModel, ...]
    condition: Asymmetry
    stated: bool
    start: int

    template, script = "shift.html", "shift.js"

    @property
    def ratio(self) -> float:
        """Cost ratio of underprediction to overprediction."""
        return self.condition.under / self.condition.over

    def losses(self, model: int, ratio: float | None = None) -> Array:
        """Loss per case of each kept shift."""
        shifted = self.models[model]
        return self.condition.over * ((self.ratio if ratio is None else ratio) * shifted.under + shifted.over)

    def best(self, model: int, ratio: float | None = None) -> int:
        """Index of minimum loss; at ties, up to rounding, the first."""
        losses = self.losses(model, ratio)
        return int(np.argmax(losses <= losses.min() + 1e-12 * np.abs(losses).max()))

    def texts(self, model: int, index: int, ratio: float | None = None) -> dict[str, str]:
        """Texts of the panel at a shift, for a cost ratio; the script computes the same."""
        shifted, losses = self.models[model], self.losses(model, ratio)
        ratio = self.ratio if ratio is None else ratio
        has_cross_fitted = shifted.cross_fitted is not None and ratio == self.ratio
        return {
            "model": shifted.name,
            "shift": short(float(shifted.shift[index]), sign=True),
            "loss": short(float(losses[index])),
            "as it is": short(float(losses[shifted.unshifted])),
            "alpha": f"{ratio / (1 + ratio):.3g}",
            "cross_fitted": f" At its best shift, the cross-fitted loss is {shifted.cross_fitted!r}."
            if has_cross_fitted
            else "",
            "over": short(float(shifted.over[index])),
            "under": short(float(shifted.under[index])),
            "high": format_whole_percent(float(shifted.high[index])),
            "low": format_whole_percent(float(shifted.low[index])),
            "mean": short(float(shifted.over[index] - shifted.under[index]), sign=True),
            "size": short(float(shifted.over[index] + shifted.under[index])),
        }

    def initial_texts(self) -> dict[str, str]:
        """Texts when the report opens."""
        return self.texts(self.start, self.initial_index)

    @property
    def initial_index(self) -> int:
        """Index of the initial shift: the best one for stated costs, otherwise none."""
        return self.best(self.start) if self.stated else self.models[self.start].unshifted

    def marker_row(self) -> Row:
        """Coordinates of the operating point in charts when the report opens."""
        shifted, index = self.models[self.start], self.initial_index
        x, y, slope, right = float(shifted.over[index]), -float(shifted.under[index]), 1 / self.ratio, self.reach
        return {
            "model": shifted.name,
            "over": x,
            "under": y,
            "error": -float(shifted.shift[index]),
            "left": 0,
            "right": right,
            "at_left": y - slope * x,
            "at_right": y + slope * (right - x),
        }

    @property
    def reach(self) -> float:
        """Right end of the iso-loss lines."""
        return max(float(shifted.over[-1]) for shifted in self.models)

    def content(self) -> Row:
        """Data of the panel for the script, arrays as base64."""
        return {
            "ratio": self.ratio,
            "unit": self.condition.over,
            "stated": self.stated,
            "start": self.start,
            "reach": self.reach,
            "models": [
                {
                    "name": shifted.name,
                    "own": shifted.unshifted,
                    "words": self.texts(index, shifted.unshifted)["cross_fitted"],
                    **{
                        side: encode_array(getattr(shifted, side)) for side in ("shift", "over", "under", "high", "low")
                    },
                }
                for index, shifted in enumerate(self.models)
            ],
        }


def shift_panel(evaluation: ResultsView) -> ShiftPanel | None:
    """The panel of regression models at all shifts; None if there are none."""
    models = evaluation.models
    names = [name for name, table in models.items() if rroc.fits(table) is not None]
    if not names:
        return None
    decision = evaluation.decision if isinstance(evaluation.decision, ShiftDecision) else None
    condition = Asymmetry() if decision is None else decision.condition
    cross_fitted = (
        {}
        if decision is None
        else {choice.model: choice.out_of_sample for choice in decision.choices if choice.out_of_sample.known}
    )
    max_points = max_thresholds(len(names))
    shifted_models = tuple(
        _shifted_model(name, models[name], condition, max_points, cross_fitted.get(name)) for name in names
    )
    panel = ShiftPanel(shifted_models, condition, decision is not None, 0)
    best = [float(panel.losses(index)[panel.best(index)]) for index in range(len(shifted_models))]
    return replace(panel, start=int(np.argmin(best)))


def _shifted_model(
    name: str, table: Any, condition: Asymmetry, max_points: int, cross_fitted: CostEstimate | None
) -> ShiftedModel:
    """The model at the corners of its RROC curve; of many corners, evenly spaced ones and the best."""
    residuals: ResidualTable = table.inside(ResidualTable)
    curve: RrocCurve = rroc(residuals)
    kept_index = np.arange(curve.x.size)
    if kept_index.size > max_points:
        evenly_spaced = np.linspace(0, kept_index.size - 1, 2 * max_points // 3)
        shift_range = float(curve.threshold[0]), float(curve.threshold[-1])
        along_shift = np.searchsorted(curve.threshold, np.linspace(*shift_range, max_points - 2 * max_points // 3 - 3))
        best = np.searchsorted(curve.threshold, curve.best(condition.alpha).shift)
        kept_index = np.unique(np.concatenate([evenly_spaced, along_shift, [best]]).astype(np.intp))
    shift, over, under = curve.threshold[kept_index], curve.x[kept_index], -curve.y[kept_index]
    if not (shift == 0).any():  # the unshifted model lies between two corners
        position = int(np.searchsorted(shift, 0.0))
        unshifted = (0.0, curve.own[0], -curve.own[1])
        shift, over, under = (
            np.insert(side, position, value) for side, value in zip((shift, over, under), unshifted, strict=True)
        )
    error = np.sort(residuals.numbers.error) if residuals.weight is None else residuals.numbers.error
    high, low = _sides(error, residuals.weight, shift)
    return ShiftedModel(name, shift, over, under, high, low, cross_fitted)


def _sides(error: Array, weight: Array | None, shift: Array) -> tuple[Array, Array]:
    """Proportions of over- and underpredicted cases after each shift."""
    order = np.argsort(error, kind="stable")
    cumulative = np.append(0.0, np.cumsum(np.ones(error.size) if weight is None else weight[order]))
    below = np.searchsorted(error[order], -shift, side="left")
    not_above = np.searchsorted(error[order], -shift, side="right")
    return 1 - cumulative[not_above] / cumulative[-1], cumulative[below] / cumulative[-1]
