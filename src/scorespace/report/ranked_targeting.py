"""Targeting section: positives among the cases with the highest scores, as curves and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scorespace.report.document import Block, Grid, Picture, Text
from scorespace.report.linked_charts import curves_picture
from scorespace.report.protocol import MAX_SENTENCES, EvaluationView
from scorespace.results import decimals, percent

SHARES: Final = (1, 5, 10, 20, 50)
"""Percentages of top-ranked cases in the table."""

_MAIN_SHARE: Final = 10  # percentage in the summary sentence


def blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """Targeting section, for models with scores of both classes."""
    names = [name for name in evaluation.models.thresholded if evaluation.models[name].both_classes.all()]
    if not names:
        return []
    recall = {name: evaluation.value(name, f"tpr@top{_MAIN_SHARE}%") for name in names}
    best_models = sorted(names, key=lambda name: -recall[name])[: MAX_SENTENCES + 1]
    recalls = ", ".join(f"{percent(recall[name])} with {name}" for name in best_models)
    rows = tuple((f"{share} %", *(_cell(evaluation, name, share) for name in names)) for share in SHARES)
    return [
        Text(f"The {_MAIN_SHARE} % of cases with the highest scores contain, of all positives, {recalls}."),
        curves_picture(
            evaluation,
            "gain",
            "Cumulative gain: share of positives found against the share of cases selected, by model.",
            "Cumulative gain: share of positives found when this share of cases, highest scores first, is selected.",
        ),
        Picture(
            lambda: evaluation.drawing("lift"),
            "Lift against the share of cases selected, highest scores first, by model.",
            "Lift: positive rate among the selected cases divided by the prevalence.",
        ),
        Grid(
            ("highest scores", *names),
            rows,
            "Recall, precision and lift of the selected cases; tied cases are selected proportionally.",
        ),
    ]


def _cell(evaluation: EvaluationView, model: str, share: int) -> str:
    recall, precision, lift = (evaluation.value(model, f"{name}@top{share}%") for name in ("tpr", "ppv", "lift"))
    return f"recall {percent(recall)}, precision {percent(precision)}, lift {decimals(lift, 2)}"
