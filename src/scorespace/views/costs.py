"""The section on costs: what to use under those that are stated, and which model is best under which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from scorespace.conditions import Condition
from scorespace.decisions import CostChoice, Decision, choose
from scorespace.results import short
from scorespace.views.answers import Answers
from scorespace.views.charts.decision import cost_chart, hull_chart
from scorespace.views.decision import grids, outcome_grid, product_grid, region_grid
from scorespace.views.document import Block, Picture, Text
from scorespace.views.moving import curves_picture, moving

_OF_1000: Final = "Outcomes and costs of 1 000 cases, model by model"


def blocks(evaluation: Answers) -> Sequence[Block]:
    """The section of a report, of models that decide between classes."""
    if isinstance(evaluation.decision, CostChoice):
        return grids(evaluation.decision)
    if not evaluation.models.two_class or not 0 < evaluation.models.prevalence < 1:
        return []
    stated = isinstance(evaluation.decision, Decision)
    # Without costs, the ranges of costs in which each model is best still hold: they need the hull alone.
    models = {name: evaluation.models.deciding[name] for name in evaluation.models.two_class}
    found = evaluation.decision if isinstance(evaluation.decision, Decision) else choose(models, Condition())
    alone = stated and evaluation.operating is None  # then the choice is marked, and nothing can be moved

    hull_words = "The hull (dark) is the best that mixing thresholds and models can reach."
    line_words = " All points of the dashed line cost the same." if stated or evaluation.operating is not None else ""
    pictures = [
        Picture(
            moving(evaluation, "cost", lambda: cost_chart(evaluation.curves("cost"), found, chosen=alone)),
            "Normalised expected cost of each model over all operating conditions.",
            "Cost of each model at its best threshold, from false alarms mattering most (left) to misses mattering "
            "most (right). The band names the best model; grey needs no model.",
        ),
        Picture(
            moving(
                evaluation,
                "roc",
                lambda: hull_chart(evaluation.curves("roc"), found.hull, found if alone else None),
            ),
            "ROC curves of all models with their common convex hull.",
            hull_words + line_words,
        ),
    ]
    scored = evaluation.models.thresholded
    if scored and all(evaluation.models[name].probabilities for name in scored):
        alt = "Net benefit of each model against the threshold."
        about = "Net benefit of acting on scores from a threshold on: hits less false alarms, at its odds."
        pictures.append(curves_picture(evaluation, "net_benefit", alt, about))
    if not stated:
        return [Text(_ranges_words(found)), *pictures, region_grid(found)]
    per_thousand = (outcome_grid(found), product_grid(found))  # the panel tells the best's
    tables = (replace(one, folded=_OF_1000) if one in per_thousand else one for one in grids(found))
    return [Text(found.words), *pictures, *tables]


def _ranges_words(found: Decision) -> str:
    """For which costs each model is best, in a sentence."""
    told = [
        f"{model} while a miss costs {short(found.cost_ratio(high))} to {short(found.cost_ratio(low))} false alarms"
        for model, low, high in found.model_ranges()
        if model in {one.model for one in found.choices}
    ]
    return f"Without stated costs: best is {'; '.join(told)}." if told else "No model beats deciding all cases alike."
