"""Measures of decisions under costs, and their distance from perfection."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import numpy as np

from scorespace.conditions import check_cost, check_prevalence, read_costs
from scorespace.errors import MeasureError
from scorespace.measures.measure import INF, measure
from scorespace.tables import Array, ConfusionTable, Counts, ratio

_ONE_CLASS = "a class has no cases"
_under_condition = partial(
    measure, best="low", conditioned=True, within_classes=lambda prevalence=None, **_: prevalence is not None
)

FpCost = Annotated[float, "cost of a false positive"]
FnCost = Annotated[float, "cost of a false negative"]
TpCost = Annotated[float, "cost of a true positive; a gain is negative"]
TnCost = Annotated[float, "cost of a true negative; a gain is negative"]
Prevalence = Annotated[float | None, "share of positives where the model is used; that of the data unless stated"]
Matrix = Annotated[
    str | None, "of several classes instead: a row of costs for each actual class, '0 5 1; 1 0 1; 9 1 0'"
]


@_under_condition(
    title="Cost per case",
    range=(-INF, INF),
    undefined="there are no cases, or none of a class whose share is stated",
    aliases=("expected_cost",),
)
def cost(
    c: Counts,
    *,
    fp: FpCost = 1.0,
    fn: FnCost = 1.0,
    tp: TpCost = 0.0,
    tn: TnCost = 0.0,
    prevalence: Prevalence = None,
    matrix: Matrix = None,
) -> Array:
    """Mean cost of the decisions, gains negative: (c_FP·FP + c_FN·FN + c_TP·TP + c_TN·TN) / all.

    With a prevalence, the cost in a population that has this share of positives; then both classes
    must have cases. Costs that are not stated are those of the operating condition, where one is.
    """
    check_prevalence(prevalence)
    for name, each in {"fp": fp, "fn": fn, "tp": tp, "tn": tn}.items():
        check_cost(name, each)
    if matrix is not None:
        raise MeasureError(
            "cost(matrix=…) is for several classes, none of them positive.", hint="cost(fp=1, fn=5), for example"
        )
    on_negatives, on_positives = fp * c.fp + tn * c.tn, fn * c.fn + tp * c.tp
    if prevalence is None:
        return ratio(on_negatives + on_positives, c.total)
    return prevalence * ratio(on_positives, c.p) + (1 - prevalence) * ratio(on_negatives, c.n)


@cost.on
def _cost(t: ConfusionTable, **stated: Any) -> Array:
    """Mean cost of decisions between classes, cell by cell: Σ costs ∘ counts / all; without costs, every error is 1."""
    matrix: str | None = stated.pop("matrix", None)
    for name in (name for name, value in stated.items() if value is not None):
        raise MeasureError(
            f"cost({name}={stated[name]:g}) is for a positive class, and here are {len(t.classes)} classes.",
            hint="cost(matrix=0 5 1; 1 0 1; 9 1 0), or a class: cost(fp=1, fn=5)[" + t.classes[0] + "]",
        )
    size = len(t.classes)
    costs = 1 - np.eye(size) if matrix is None else read_costs(matrix, size)
    return ratio((t.matrix * costs).sum(axis=(-2, -1)), t.total)


@_under_condition(
    title="Normalised expected cost",
    range=(0, 1),
    undefined=_ONE_CLASS,
    aliases=("normalised_cost", "normalized_cost", "normalised_expected_cost", "normalized_expected_cost"),
)
def nec(c: Counts, *, fp: FpCost = 1.0, fn: FnCost = 1.0, prevalence: Prevalence = None) -> Array:
    """Cost as a share of that of making every error: x·FNR + (1−x)·FPR, x = π·c_FN / (π·c_FN + (1−π)·c_FP)."""
    check_prevalence(prevalence)
    check_cost("fp", fp)
    check_cost("fn", fn)
    share = ratio(c.p, c.total) if prevalence is None else np.asarray(prevalence)
    weight = ratio(share * fn, share * fn + (1 - share) * fp)
    return weight * ratio(c.fn, c.p) + (1 - weight) * ratio(c.fp, c.n)


@measure(
    title="Distance to the corner",
    range=(0, float(np.sqrt(2))),
    best="low",
    undefined=_ONE_CLASS,
    aliases=("distance_to_corner", "closest_topleft", "topleft"),
    within_classes=True,
)
def corner(c: Counts) -> Array:
    """Distance from the perfect corner of ROC space, not the same as Youden's index: √(FPR² + FNR²)."""
    return np.hypot(ratio(c.fp, c.n), ratio(c.fn, c.p))
