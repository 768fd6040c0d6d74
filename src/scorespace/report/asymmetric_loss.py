"""Asymmetric loss of numeric predictions: the interactive shift panel and the decision tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scorespace.curves import RrocCurve
from scorespace.decisions import ShiftDecision
from scorespace.report.document import Block, Grid, Panel, Picture, Text
from scorespace.report.linked_charts import link_to_panel
from scorespace.report.protocol import EvaluationView
from scorespace.report.regression_charts import error_chart, rroc_chart
from scorespace.results import Row, short
from scorespace.tables import ResidualTable


def shift_panel(evaluation: EvaluationView) -> Sequence[Block]:
    """The interactive shift with the RROC curve and the error distribution."""
    panel = evaluation.shift_panel
    if panel is None:
        return []
    tables = {shifted.name: evaluation.models[shifted.name].inside(ResidualTable) for shifted in panel.models}

    def draw() -> Row:
        curves = {name: curve for name, curve in evaluation.curves("rroc").items() if isinstance(curve, RrocCurve)}
        return link_to_panel(rroc_chart(curves, explained=False), "rroc", panel.marker_row())

    caption = "Diamonds: not shifted; numbers: shift of all predictions; dashed: equal loss."
    roc_alt = "RROC curve of each model, with the shift and the iso-loss line; diamonds are the unshifted models."
    error_caption = "Errors of each unshifted model: those right of the line are overpredictions after the shift."
    pictures = (
        Picture(draw, roc_alt, caption, drag=True),
        Picture(lambda: link_to_panel(error_chart(tables), "errors", panel.marker_row()), error_caption, error_caption),
    )
    return [Panel(panel, pictures)]


def shift_grids(decision: ShiftDecision) -> Sequence[Block]:
    """The costs, each model at its shift of minimum loss, and the ranges of cost ratios in which each is best."""
    condition = decision.condition
    text = (
        f"Underprediction costs {condition.under:g} per unit, overprediction {condition.over:g}: alpha = "
        f"{condition.alpha:.3g}. The optimal prediction is the alpha quantile, so this proportion "
        "of predictions should be too high."
    )
    return [Text(text), _choices(decision), _ranges(decision)]


def _choices(decision: ShiftDecision) -> Grid:
    apparent = "apparent" if decision.fitted is None else f"apparent, on {decision.fitted}"
    kind = "cross-fitted" if decision.fitted is None else "external"
    columns = ("at minimum loss", "shift", f"loss/case, {kind}", apparent, "without shift", "too high")
    rows = [
        (
            choice.model,
            short(choice.shift, sign=True),
            short(choice.loss) if math.isnan(choice.out_of_sample.value) else repr(choice.out_of_sample),
            short(choice.loss),
            short(choice.as_is),
            f"{100 * choice.share:.0f} %",
        )
        for choice in sorted(decision.choices, key=lambda choice: choice.loss)
    ]
    return Grid(columns, tuple(rows))


def _ranges(decision: ShiftDecision) -> Grid:
    rows = [
        (
            optimal_range.model,
            f"{_ratio(optimal_range.alpha_low)} to {_ratio(optimal_range.alpha_high)}",
            f"{optimal_range.alpha_low:.3g} to {optimal_range.alpha_high:.3g}",
        )
        for optimal_range in decision.ranges
    ]
    rows += [(name, "never in this sample", "never in this sample") for name in decision.dominated]
    return Grid(("best model", "cost ratio under : over", "alpha"), tuple(rows))


def _ratio(alpha: float) -> str:
    return "∞" if alpha >= 1 else short(alpha / (1 - alpha))
