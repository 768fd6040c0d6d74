"""The confusion matrix of the leading model, and decisions without scores as points in ROC space."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any, Final

import numpy as np

from scorespace.report.chart_theme import (
    UNIT,
    Spec,
    axis,
    coloured,
    datum,
    field,
    layered,
    mark,
    reference,
    scale,
    themed,
)
from scorespace.report.document import Block, Grid, Picture
from scorespace.report.protocol import EvaluationView
from scorespace.results import Row, format_whole_percent, grouped
from scorespace.tables import Array
from scorespace.tables.threshold import threshold_text

MAX_CLASSES: Final = 12
"""Classes up to which a confusion matrix fits a screen."""


def confusion_blocks(evaluation: EvaluationView) -> list[Block]:
    """The confusion matrix of the leading model, with counts and the share of each actual class."""
    found = confusion_of(evaluation, evaluation.leader)
    if found is None or len(found["classes"]) > MAX_CLASSES:
        return []
    shares = np.asarray(found["shares"], dtype=np.float64)
    cells = [
        tuple(f"{grouped(count)} ({format_whole_percent(share)})" for count, share in zip(counts, row, strict=True))
        for counts, row in zip(found["matrix"], shares.tolist(), strict=True)
    ]
    at = "" if found["threshold"] is None else f" at {threshold_text(evaluation.threshold(found['model']))}"
    rows = tuple((name, *line) for name, line in zip(found["classes"], cells, strict=True))
    return [Grid((f"{found['model']}{at}", *found["predicted"]), rows, "Actual classes in rows.")]


def confusion_of(evaluation: EvaluationView, model: str | None) -> Row | None:
    """The confusion matrix of a model as plain data; rows are actual classes, the positive one first."""
    if model is None or not evaluation.models[model].class_names:
        return None
    table = evaluation.models[model]
    if model in evaluation.models.two_class:
        counts = evaluation.counts(model)
        positive, negative = _two_names(table)
        classes: tuple[str, ...] = (positive, negative)
        predicted: tuple[str, ...] = evaluation.profile.outcomes(positive, negative)
        matrix: Array = np.array([[counts.tp, counts.fn], [counts.fp, counts.tn]], dtype=np.float64)
        threshold = float(evaluation.threshold(model)) if table.thresholded else None
    else:
        decided = table.decisions if table.scores_classes else table
        matrix, classes, threshold = np.asarray(decided.matrix, dtype=np.float64), tuple(decided.classes), None
        predicted = tuple(f"predicted {name}" for name in classes)
    totals = matrix.sum(axis=1, keepdims=True)
    shares = np.divide(matrix, totals, out=np.zeros_like(matrix), where=totals > 0)
    return {
        "model": model,
        "threshold": None if threshold is None or isnan(threshold) else threshold,
        "classes": list(classes),
        "predicted": list(predicted),
        "matrix": [[round(count) for count in line] for line in matrix.tolist()],
        "shares": shares.tolist(),
    }


def _two_names(table: Any) -> tuple[str, str]:
    positive = str(table.positive_name)
    return positive, next((str(name) for name in table.class_names if name != table.positive_name), f"not {positive}")


def decision_blocks(evaluation: EvaluationView) -> list[Block]:
    """Decisions without scores: the confusion matrix of the leading model, and all models in ROC space."""
    models = evaluation.models
    if models.thresholded or not models.two_class or not 0 < models.prevalence < 1:
        return []
    alt = "Each model in ROC space, with the confidence intervals of both rates."
    caption = "One point for each model; crosses are the confidence intervals of both rates."
    picture = Picture(lambda: points_chart(decision_points(evaluation)), alt, caption, key="points")
    return [*confusion_blocks(evaluation), picture]


def decision_points(evaluation: EvaluationView) -> list[Row]:
    """False and true positive rate of each model with their confidence intervals."""
    rates: dict[str, dict[str, Any]] = {}
    for one in (*evaluation.summary, *evaluation.everything):
        if one.spec.name in ("tpr", "tnr") and one.spec.of is None and one.model in evaluation.models.two_class:
            rates.setdefault(one.model, {}).setdefault(one.spec.name, one)
    rows = []
    for model, found in rates.items():
        tpr, tnr = found["tpr"], found["tnr"]
        x = {"x": 1 - tnr.value, "x_low": 1 - tnr.high, "x_high": 1 - tnr.low}
        ends = {**x, "y": tpr.value, "y_low": tpr.low, "y_high": tpr.high}
        text = f"true positive rate {tpr.text}, true negative rate {tnr.text}"
        rows.append({"name": model, "text": text, **{name: datum(value) for name, value in ends.items()}})
    return rows


def points_chart(rows: Sequence[Row]) -> Spec:
    """Points in ROC space with a cross of confidence intervals, and the diagonal of chance."""
    names = [row["name"] for row in rows]
    colour = coloured("name", names, legend=False)
    position = {
        "x": field("x:Q", title="False positive rate", axis=axis(UNIT), scale=scale(UNIT)),
        "y": field("y:Q", title="True positive rate", axis=axis(UNIT), scale=scale(UNIT)),
    }
    tooltip = [field("name:N", title="Model"), field("text:N", title="Rates")]
    beside = {"align": "left", "baseline": "top", "dx": 8, "dy": 6, "fontWeight": 600, "aria": False}
    layers = [
        reference([{"x": 0, "y": 0}, {"x": 1, "y": 1}]),
        mark("rule", list(rows), {**position, "x": "x_low:Q", "x2": "x_high", "color": colour}, strokeWidth=2),
        mark("rule", list(rows), {**position, "y": "y_low:Q", "y2": "y_high", "color": colour}, strokeWidth=2),
        mark("point", list(rows), {**position, "color": colour, "tooltip": tooltip}, filled=True, size=90, opacity=1),
        {"name": "beside", **mark("text", list(rows), {**position, "text": "name:N", "color": colour}, **beside)},
    ]
    description = "; ".join(f"{row['name']}: {row['text']}" for row in rows)
    return themed(layered(layers, 420, 420, description=f"Models in ROC space. {description}."))
