"""Requirements at every look: one-sided limits that hold at all of them."""

from __future__ import annotations

from typing import Literal

from scorespace.errors import MeasureError
from scorespace.evaluation.evaluation import Evaluation
from scorespace.inference.any_look import one_sided
from scorespace.inference.estimate import Estimate, estimates


def limits_at_every_look(evaluation: Evaluation, measure: str, side: Literal["low", "high"]) -> list[Estimate]:
    """A measure of each model with a one-sided limit that holds at every look, at the level of the evaluation."""
    shown = evaluation.measures(measure)
    chosen = [one for one in shown if evaluation.out_of_sample_cost(one) is not None]
    if chosen:
        raise MeasureError(
            f"{measure} is at a threshold chosen on these cases, so no limit of it holds at every look.",
            hint=f"state the threshold: {measure}@0.2",
        )
    method = one_sided(str(evaluation.interval), side)
    return estimates(
        {one.model: [one.spec] for one in shown}, evaluation.draws, level=evaluation.level, method=method, strict=False
    )
