"""Cost measures of decisions: expected cost, and the distance to the ideal point of ROC space."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import numpy as np

from scorespace.costs import check_cost, check_prevalence, parse_cost_matrix
from scorespace.errors import MeasureError
from scorespace.measures.measure import INF, measure
from scorespace.tables import Array, ConfusionTable, Counts, ratio

_ONE_CLASS = "a class has no cases"
_under_condition = partial(
    measure, best="low", conditioned=True, stratified=lambda prevalence=None, **_: prevalence is not None
)

FpCost = Annotated[float, "cost of a false positive"]
FnCost = Annotated[float, "cost of a false negative"]
TpCost = Annotated[float, "cost of a true positive; a gain is negative"]
TnCost = Annotated[float, "cost of a true negative; a gain is negative"]
Prevalence = Annotated[float | None, "prevalence where the model is used; by default that of the data"]
Matrix = Annotated[str | None, "multiclass costs, a row for each actual class: '0 5 1; 1 0 1; 9 1 0'"]


@_under_condition(
    title="Cost per case",
    range=(-INF, INF),
    undefined="there are no cases, or a class of stated share has none",
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
    """Mean cost of the decisions, gains negative: (c_FP·FP + c_FN·FN + c_TP·TP + c_TN·TN) / n.

    With a prevalence, the expected cost in a population of that prevalence; both classes must then have cases. Costs
    that are not given are those of the operating condition, if one is stated.
    """
    check_prevalence(prevalence)
    for name, value in {"fp": fp, "fn": fn, "tp": tp, "tn": tn}.items():
        check_cost(name, value)
    if matrix is not None:
        raise MeasureError("cost(matrix=…) is for multiclass decisions.", hint="cost(fp=1, fn=5), for example")
    on_negatives, on_positives = fp * c.fp + tn * c.tn, fn * c.fn + tp * c.tp
    if prevalence is None:
        return ratio(on_negatives + on_positives, c.total)
    return prevalence * ratio(on_positives, c.p) + (1 - prevalence) * ratio(on_negatives, c.n)


@cost.on
def _cost(t: ConfusionTable, **stated: Any) -> Array:
    """Mean cost of multiclass decisions: Σ costs ∘ counts / n; by default every error costs 1."""
    matrix: str | None = stated.pop("matrix", None)
    for name in (name for name, value in stated.items() if value is not None):
        raise MeasureError(
            f"cost({name}={stated[name]:g}) needs a positive class, but there are {len(t.classes)} classes.",
            hint="cost(matrix=0 5 1; 1 0 1; 9 1 0), or a class: cost(fp=1, fn=5)[" + t.classes[0] + "]",
        )
    size = len(t.classes)
    costs = 1 - np.eye(size) if matrix is None else parse_cost_matrix(matrix, size)
    return ratio((t.matrix * costs).sum(axis=(-2, -1)), t.total)


@_under_condition(
    title="Normalised expected cost",
    range=(0, 1),
    undefined=_ONE_CLASS,
    aliases=("normalised_cost", "normalized_cost", "normalised_expected_cost", "normalized_expected_cost"),
)
def nec(c: Counts, *, fp: FpCost = 1.0, fn: FnCost = 1.0, prevalence: Prevalence = None) -> Array:
    """Normalised expected cost: x·FNR + (1−x)·FPR, x = π·c_FN / (π·c_FN + (1−π)·c_FP) (Drummond & Holte 2006)."""
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
    stratified=True,
)
def corner(c: Counts) -> Array:
    """Distance from the ideal point (0, 1) of ROC space: √(FPR² + FNR²)."""
    return np.hypot(ratio(c.fp, c.n), ratio(c.fn, c.p))
