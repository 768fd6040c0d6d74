"""The picture of each kind of curve, for all models of an evaluation."""

from __future__ import annotations

from typing import Any

from scorespace.curves import SmoothCurve, optimal_curve
from scorespace.curves.brier import net_benefit_of_all
from scorespace.curves.cost import cost_lines
from scorespace.views.answers import Answers
from scorespace.views.calibration import calibration_picture
from scorespace.views.charts import cost_space_chart, curve_chart, smooth_chart
from scorespace.views.classes import class_curves


def plot(evaluation: Answers, kind: str, measure: str, band: bool = False, **options: Any) -> Any:
    """The curves of that kind as an Altair chart, with what belongs beside them."""
    only = next(iter(evaluation.models.values())) if len(evaluation.models) == 1 else None
    if kind in ("roc", "pr") and only is not None and only.scores_classes and not band:
        return class_curves(only, kind)
    curves = evaluation.curves(kind, measure=measure, **options)
    if kind == "smooth":
        return smooth_chart({name: curve for name, curve in curves.items() if isinstance(curve, SmoothCurve)})
    if kind == "cost":
        return cost_space_chart(curves, {name: cost_lines(evaluation.models.score_table(name)) for name in curves})
    if kind == "brier":  # the gap to the best threshold of each cost is what calibration loses
        best = {f"{name}, recalibrated": optimal_curve(evaluation.models.score_table(name)) for name in curves}
        return curve_chart({**curves, **best})
    if kind == "net_benefit":
        return curve_chart({**curves, "acting on all": net_benefit_of_all(evaluation.models.prevalence)})
    if kind == "calibration":
        return calibration_picture(evaluation, list(curves), band=band, **options)
    bands = {name: evaluation.band(kind, name, simultaneous=True) for name in curves} if band else {}
    return curve_chart(curves, bands=bands, baseline=evaluation.models.prevalence if kind == "pr" else None)
