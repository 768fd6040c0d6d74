"""The picture of each kind of curve, for all models of an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorespace.curves import SmoothCurve, optimal_curve
from scorespace.curves.brier import net_benefit_of_all
from scorespace.curves.cost import cost_lines
from scorespace.tables import ClassTable
from scorespace.views.calibration import calibration_picture
from scorespace.views.charts import cost_space_chart, curve_chart, smooth_chart
from scorespace.views.charts.marks import Spec
from scorespace.views.classes import class_curves

if TYPE_CHECKING:
    from scorespace.evaluation.evaluation import Evaluation


def as_altair(spec: Spec) -> Any:
    """The chart for people who go on with Altair: the same spec, not checked and not changed."""
    import altair  # loads only for them

    forms: dict[str, Any] = {
        "layer": altair.LayerChart,
        "facet": altair.FacetChart,
        "concat": altair.ConcatChart,
        "hconcat": altair.HConcatChart,
        "vconcat": altair.VConcatChart,
    }
    form = next(kind for part, kind in forms.items() if part in spec)
    return form.from_dict(spec, validate=False)


def draw(evaluation: Evaluation, kind: str = "roc", *, measure: str = "f1", band: bool = False, **options: Any) -> Spec:
    """The curves of that kind as a chart, with what belongs beside them."""
    only = next(iter(evaluation.models.values())) if len(evaluation.models) == 1 else None
    if kind in ("roc", "pr") and isinstance(only, ClassTable) and not band:
        return class_curves(only, kind)
    curves = evaluation.curves(kind, measure=measure, **options)
    if kind == "smooth":
        return smooth_chart({name: curve for name, curve in curves.items() if isinstance(curve, SmoothCurve)})
    if kind == "cost":
        return cost_space_chart(curves, {name: cost_lines(evaluation.score_table(name)) for name in curves})
    if kind == "brier":  # the gap to the best threshold of each cost is what calibration loses
        best = {f"{name}, recalibrated": optimal_curve(evaluation.score_table(name)) for name in curves}
        return curve_chart({**curves, **best})
    if kind == "net_benefit":
        return curve_chart({**curves, "acting on all": net_benefit_of_all(evaluation.prevalence)})
    if kind == "calibration":
        return calibration_picture(evaluation, list(curves), band=band, **options)
    bands = {name: evaluation.band(kind, name, simultaneous=True) for name in curves} if band else {}
    return curve_chart(curves, bands=bands, baseline=evaluation.prevalence if kind == "pr" else None)
