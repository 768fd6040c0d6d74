"""The operating point of binary classifiers: the interactive panel with its charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from scorespace.curves import roc
from scorespace.errors import listing
from scorespace.measures import Measure
from scorespace.report.calibration import probability_picture
from scorespace.report.chart_theme import (
    SELECTED,
    Spec,
    axis,
    field,
    layered,
    mark,
    reference,
    scale,
    themed,
    unit_or_less,
)
from scorespace.report.curve_charts import curve_chart, has_rare_positives, log_start, threshold_chart
from scorespace.report.document import Block, Panel, Picture
from scorespace.report.linked_charts import curves_picture, linked
from scorespace.report.protocol import EvaluationView
from scorespace.report.score_charts import scores_chart


def threshold_panel(evaluation: EvaluationView) -> Sequence[Block]:
    """The interactive threshold with its charts, one of which is shown at a time."""
    panel = evaluation.operating
    if panel is None:
        return []
    scored = [points for points in panel.models if not points.crisp]
    tables = {points.name: points.table for points in scored}
    alt = "ROC curve of each model, with the operating point and the iso-cost line."
    if panel.classes:
        draw = linked(evaluation, "roc", lambda: curve_chart({name: roc(table) for name, table in tables.items()}))
        pictures = [Picture(draw, alt, drag=True, tab="ROC", key="roc of classes")]
    else:
        pictures = [*_curve_pictures(evaluation, alt), *_threshold_pictures(evaluation)]
    draw_scores = linked(evaluation, "scores", lambda: scores_chart(tables, panel.models[panel.start].name))
    alt = "Score distributions of both classes, with the threshold."
    pictures.append(Picture(draw_scores, alt, drag=True, tab="Scores", key="scores"))
    draw_prices = linked(evaluation, "price", lambda: price_chart(panel))
    alt = "Expected cost per case of the selected model against the threshold."
    caption = "Expected cost per case at each threshold, for the costs and the prevalence above (apparent)."
    pictures.append(Picture(draw_prices, alt, caption, drag=True, tab="Cost", key="prices"))
    return [Panel(panel, tuple(pictures))]


def has_bands(evaluation: EvaluationView) -> bool:
    """Whether curves have bands: those of more than three models are unreadable, and bands need counts of cases."""
    models, names = evaluation.models, evaluation.models.two_class
    return len(names) <= 3 and all(models[name].counted for name in names) and 0 < models.prevalence < 1


def _curve_pictures(evaluation: EvaluationView, alt: str) -> list[Picture]:
    """ROC and precision-recall curves."""
    band = has_bands(evaluation)
    level = f" The shaded area is the {100 * evaluation.level:g} % simultaneous confidence band." if band else ""
    tables = [evaluation.models[name] for name in evaluation.models.thresholded]
    is_log = has_rare_positives(tables) and log_start(tables) is not None
    iso = (
        "The axis of false positive rates is logarithmic."
        if is_log
        else "The dashed line connects points of equal cost."
    )
    pr_alt = "Precision against recall of each model, with the prevalence as chance level."
    settings: dict[str, Any] = {"band": band, "drag": True}
    return [
        curves_picture(evaluation, "roc", alt, iso + level, tab="ROC", axes="log" if is_log else "linear", **settings),
        curves_picture(evaluation, "pr", pr_alt, f"The chance level is the prevalence.{level}", tab="PR", **settings),
    ]


def _threshold_pictures(evaluation: EvaluationView) -> list[Picture]:
    """Net benefit and calibration, of the models whose scores are probabilities."""
    models = evaluation.models
    outside = [name for name in models.thresholded if not models[name].probabilities]
    if len(outside) == len(models.thresholded):
        return []
    missing = f" Not for {listing(outside)}: its scores are no probabilities." if outside else ""
    alt = "Net benefit of each model against the threshold."
    caption = f"Net benefit: TP/n − FP/n · t/(1 − t) at threshold t (Vickers & Elkin 2006).{missing}"
    inside = [name for name in models.thresholded if name not in outside]
    settings: dict[str, Any] = {"drag": True, "tab": "Decision curve", "models": inside}
    pictures = [curves_picture(evaluation, "net_benefit", alt, caption, **settings)]
    calibrated = probability_picture(evaluation)
    if calibrated is not None:
        caption = f"Observed rate against score; on the diagonal they agree.{missing}"
        pictures.append(replace(calibrated, caption=caption, drag=True, tab="Calibration"))
    return pictures


def price_chart(panel: Any) -> Spec:
    """Expected cost per case of the selected model against the threshold, with the rules that use no model."""
    points = panel.models[panel.start]
    rows = panel.prices()
    x_ends = unit_or_less(*(one.table.score for one in panel.models if not one.crisp))
    encoding = {
        "x": field("x:Q", title="Threshold", axis=axis(x_ends), scale=scale(x_ends)),
        "y": field("y:Q", title="Expected cost per case", scale={"zero": True}),
        "order": "place:Q",
    }
    is_model = "datum.kind === 'model'"
    layers = [
        mark("line", rows, encoding, where=is_model, color=SELECTED, strokeWidth=3),
        {**reference(rows), "transform": [{"filter": "datum.kind === 'all'"}]},
        {**reference(rows), "transform": [{"filter": "datum.kind === 'none'"}]},
        mark(
            "text",
            rows,
            {"x": "x:Q", "y": "y:Q", "text": "label:N"},
            where="datum.label !== null",
            align="right",
            baseline="bottom",
            dy=-4,
        ),
    ]
    description = f"Expected cost per case of {points.name} against the threshold."
    return themed(layered(layers, 560, 400, description=description))


def threshold_picture(evaluation: EvaluationView, measures: Sequence[Measure]) -> Picture:
    """Measures of the selected model against the threshold."""
    panel = evaluation.operating

    def draw() -> Spec:
        score_range = unit_or_less(*(points.table.score for points in panel.models if not points.crisp))
        points = panel.models[panel.start]
        table = (
            points.table if points.target_prevalence is None else points.table.at_prevalence(points.target_prevalence)
        )
        return threshold_chart(table, measures or [points.measures[0].spec.measure], score_range=score_range)

    alt = f"{', '.join(measure.name for measure in measures)} against the threshold."
    return Picture(linked(evaluation, "threshold", draw), alt, "Measures of the selected model at each threshold.")
