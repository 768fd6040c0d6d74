"""Charts linked to the operating point of the interactive panel, and the panel of thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from scorespace.curves import roc
from scorespace.measures import Measure
from scorespace.measures.confusion import tpr
from scorespace.report.chart_files import renamed
from scorespace.report.chart_theme import INK, SOFT, Spec, datum, mark, unit_or_less
from scorespace.report.curve_charts import curve_chart, threshold_chart
from scorespace.report.document import Block, Panel, Picture
from scorespace.report.protocol import EvaluationView
from scorespace.report.score_charts import scores_chart
from scorespace.results import Row

HERE: Final = "here"
SWEEP: Final = "sweep"
MODEL: Final = "model"
_FADED: Final = 0.5  # opacity of models that are not selected


def _dot(x: str, y: str, **settings: Any) -> list[Spec]:
    encoding, style = (
        {"x": f"{x}:Q", "y": f"{y}:Q"},
        {"filled": True, "size": 150, "stroke": "white", "strokeWidth": 1.5},
    )
    return [mark("point", None, encoding, color=INK, opacity=1, **style, **settings)]


def _rule(x: str) -> list[Spec]:
    return [mark("rule", None, {"x": f"{x}:Q"}, color=INK, strokeWidth=1.5, clip=True)]


def _line() -> list[Spec]:
    encoding = {"x": "left:Q", "y": "at_left:Q", "x2": "right", "y2": "at_right"}
    return [mark("rule", None, encoding, color=SOFT, strokeWidth=1.5, strokeDash=[6, 4], clip=True)]


MARKS: Final[Mapping[str, list[Spec]]] = {
    "roc": [*_line(), *_dot("fpr", "tpr")],
    "pr": _dot("tpr", "precision"),
    "gain": _dot("flagged", "tpr"),
    "cost": [*_rule("condition"), *_dot("condition", "loss")],
    "net_benefit": [*_rule("threshold"), *_dot("threshold", "benefit", clip=True)],
    "calibration": _rule("threshold"),
    "scores": _rule("threshold"),
    "threshold": _rule("threshold"),
    "rejection": _dot("handed", "right"),
    "pair": [],
    "rroc": [*_line(), *_dot("over", "under")],
    "errors": _rule("error"),
}
"""Marks of the operating point by kind of chart; the encodings name fields of its row."""

SWEPT: Final = ("threshold", "pair")
"""Charts of the selected model only: the script replaces the rows of their dataset `sweep`."""


def link_to_panel(spec: Spec, kind: str, marker_row: Row) -> Spec:
    """Add marks at the operating point to a chart, and fade the models that are not selected."""
    layers = list(map(_fade_unselected, spec["layer"]))
    if kind in SWEPT:
        dataset, *_ = spec["datasets"]
        datasets = {SWEEP if name == dataset else name: rows for name, rows in spec["datasets"].items()}
        spec = renamed(spec, {dataset: SWEEP}) | {"datasets": datasets}
        layers = spec["layer"]
    # On a log axis iso-cost lines are curved and therefore left out.
    visible = [layer for layer in MARKS[kind] if not (_has_log_axis(spec) and "x2" in layer["encoding"])]
    marks = [{"data": {"name": HERE}, **layer} for layer in visible]
    row = {name: datum(value) if isinstance(value, float) else value for name, value in marker_row.items()}
    return {
        **spec,
        "params": [
            *(param for param in spec.get("params", ()) if param["name"] != MODEL),
            {"name": MODEL, "value": marker_row[MODEL]},
        ],
        "layer": [*layers, *marks],
        "datasets": {**spec["datasets"], HERE: [row]},
    }


def _has_log_axis(spec: Spec) -> bool:
    scales = (layer.get("encoding", {}).get("x", {}).get("scale") for layer in spec["layer"])
    return any(scale and scale.get("type") == "log" for scale in scales)


def _fade_unselected(layer: Spec) -> Spec:
    """Fade lines of models that are not selected, and hide their bands."""
    encoding: dict[str, Any] = layer.get("encoding", {})
    is_model_line = encoding.get("color", {}).get("field") == "name"
    if not is_model_line or layer["mark"]["type"] not in ("line", "area") or "opacity" in encoding:
        return layer
    opacity = layer["mark"].get("opacity", 1)
    faded_opacity = opacity * _FADED if layer["mark"]["type"] == "line" else 0
    opacity_encoding = {"condition": {"test": f"datum.name === {MODEL}", "value": opacity}, "value": faded_opacity}
    return {**layer, "encoding": {**encoding, "opacity": opacity_encoding}}


def linked(evaluation: EvaluationView, kind: str, draw: Callable[[], Spec]) -> Callable[[], Spec]:
    """A drawing function that marks the operating point, if there is one."""

    def draw_with_marks() -> Spec:
        panel = evaluation.operating
        return draw() if panel is None else link_to_panel(draw(), kind, panel.marker_row())

    return draw_with_marks


def curves_picture(
    evaluation: EvaluationView, kind: str, alt: str, caption: str = "", *, band: bool = False, drag: bool = False
) -> Picture:
    """A linked chart of the curves of a kind."""
    return Picture(linked(evaluation, kind, lambda: evaluation.drawing(kind, band=band)), alt, caption, drag=drag)


def threshold_panel(evaluation: EvaluationView) -> Sequence[Block]:
    """The interactive threshold with the ROC curve and the score distributions."""
    panel = evaluation.operating
    if panel is None:
        return []
    tables = {points.name: points.table for points in panel.models if not points.crisp}
    alt = "ROC curve of each model, with the operating point and the iso-cost line."
    curve = curves_picture(evaluation, "roc", alt, drag=True)
    if panel.classes:
        draw = linked(evaluation, "roc", lambda: curve_chart({name: roc(table) for name, table in tables.items()}))
        curve = Picture(draw, alt, drag=True)
    draw_scores = linked(evaluation, "scores", lambda: scores_chart(tables, panel.models[panel.start].name))
    return [Panel(panel, (curve, Picture(draw_scores, "Score distributions of both classes, with the threshold.")))]


def threshold_picture(evaluation: EvaluationView, measures: Sequence[Measure]) -> Picture:
    """Measures of the selected model against the threshold."""
    panel = evaluation.operating

    def draw() -> Spec:
        score_range = unit_or_less(*(points.table.score for points in panel.models if not points.crisp))
        points = panel.models[panel.start]
        table = (
            points.table if points.target_prevalence is None else points.table.at_prevalence(points.target_prevalence)
        )
        return threshold_chart(table, measures or [tpr], score_range=score_range)

    alt = f"{', '.join(measure.name for measure in measures)} against the threshold."
    return Picture(linked(evaluation, "threshold", draw), alt, "Measures of the selected model at each threshold.")
