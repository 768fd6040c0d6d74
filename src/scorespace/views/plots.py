"""The picture of each kind of curve, for all models of an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorespace.curves import optimal_curve
from scorespace.curves.brier import net_benefit_of_all
from scorespace.curves.cost import cost_lines
from scorespace.tables import ConfusionTable, ScoreTable
from scorespace.views.charts import cost_space_chart, curve_chart

if TYPE_CHECKING:
    from scorespace.evaluation import Evaluation


def plot(evaluation: Evaluation, kind: str, measure: str, band: bool = False) -> Any:
    """The curves of that kind as an Altair chart, with what belongs beside them."""
    curves = evaluation.curves(kind, measure=measure)
    if kind == "cost":
        return cost_space_chart(curves, {name: cost_lines(_scores(evaluation.models[name])) for name in curves})
    if kind == "brier":  # the gap to the best threshold of each cost is what calibration loses
        best = {f"{name}, recalibrated": optimal_curve(_scores(evaluation.models[name])) for name in curves}
        return curve_chart({**curves, **best})
    if kind == "net_benefit":
        return curve_chart({**curves, "acting on all": net_benefit_of_all(evaluation.prevalence)})
    bands = {name: evaluation.band(kind, name, simultaneous=True) for name in curves} if band else {}
    return curve_chart(curves, bands=bands, baseline=evaluation.prevalence if kind == "pr" else None)


def _scores(table: ScoreTable | ConfusionTable) -> ScoreTable:
    return table.score_table() if isinstance(table, ConfusionTable) else table
