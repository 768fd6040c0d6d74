"""Cost measures of decisions: expected cost, and the distance to the ideal point of ROC space."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import numpy as np

from scorespace.case_costs import SIDES
from scorespace.costs import check_cost, check_prevalence, parse_cost_matrix
from scorespace.errors import MeasureError
from scorespace.measures.measure import INF, NOT_SIMULATED, measure
from scorespace.tables import Array, ConfusionTable, Counts, ratio
from scorespace.tables.case_costs import CostSums

_ONE_CLASS = "a class has no cases"


def _table_of_costs(**options: Any) -> type | None:
    """Costs of cases are needed where one of the costs is a column."""
    return CostSums if any(isinstance(options.get(side), str) for side in SIDES) else None


_under_condition = partial(measure, conditioned=True, stratified=lambda prevalence=None, **_: prevalence is not None)

FpCost = Annotated[float | str, "cost of a false positive, or its column"]
FnCost = Annotated[float | str, "cost of a false negative, or its column"]
TpCost = Annotated[float | str, "cost of a true positive; a gain is negative"]
TnCost = Annotated[float | str, "cost of a true negative; a gain is negative"]
Prevalence = Annotated[float | None, "prevalence where the model is used; by default that of the data"]
Matrix = Annotated[str | None, "multiclass costs, a row for each actual class: '0 5 1; 1 0 1; 9 1 0'"]


@_under_condition(
    title="Cost per case",
    best="low",
    range=(-INF, INF),
    undefined="there are no cases, or a class of stated share has none",
    aliases=("expected_cost",),
    table_with=_table_of_costs,
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
    that are not given are those of the operating condition, if one is stated. A cost that is a column differs from case
    to case.
    """
    check_prevalence(prevalence)
    fp, fn, tp, tn = _numbers(fp=fp, fn=fn, tp=tp, tn=tn)
    if matrix is not None:
        raise MeasureError("cost(matrix=…) is for multiclass decisions.", hint="cost(fp=1, fn=5), for example")
    on_negatives, on_positives = fp * c.fp + tn * c.tn, fn * c.fn + tp * c.tp
    if prevalence is None:
        return ratio(on_negatives + on_positives, c.total)
    return prevalence * ratio(on_positives, c.p) + (1 - prevalence) * ratio(on_negatives, c.n)


def _numbers(**costs: float | str) -> list[float]:
    """Costs that all cases share, checked."""
    found = []
    for name, value in costs.items():
        if isinstance(value, str):
            raise MeasureError(f"cost({name}={value}) needs the costs of each case.", hint=f"{name}=1, for example")
        check_cost(name, value)
        found.append(value)
    return found


@cost.on
def _cost_of_cases(t: CostSums, **stated: Any) -> Array:
    """Mean cost of the decisions, where each case has costs of its own."""
    _check_columns(t, stated)
    return np.asarray(t.mean)


def _check_columns(t: CostSums, stated: dict[str, Any]) -> None:
    """Refuse costs other than those that the table holds."""
    wanted = {name: stated.get(name) or 0.0 for name in SIDES}
    held = {name: getattr(t.stated, name) or 0.0 for name in SIDES}
    if wanted != held:
        raise MeasureError(
            "the costs of these cases are others than the requested ones.",
            seen=f"{t.stated.describe()} in the table",
            hint="leave out the costs of the measure, or state them once: --cost-fp 5 --cost-fn COL",
        )


@_under_condition(
    title="Savings",
    best="high",
    range=(-INF, 1),
    undefined="acting on all cases or on none costs nothing",
    aliases=("relative_savings",),
    table_with=_table_of_costs,
    coverage_note=NOT_SIMULATED,
)
def savings(
    c: Counts, *, fp: FpCost = 1.0, fn: FnCost = 1.0, tp: TpCost = 0.0, tn: TnCost = 0.0, prevalence: Prevalence = None
) -> Array:
    """Share of cost saved against the cheaper of acting on all cases and on none: 1 − C / min(C_all, C_none).

    Reference: Bahnsen et al. (2015), "Example-dependent cost-sensitive decision trees", Expert Systems with
    Applications 42.
    """
    stated: dict[str, Any] = {"fp": fp, "fn": fn, "tp": tp, "tn": tn, "prevalence": prevalence}
    none, every = Counts(0 * c.tp, 0 * c.fp, c.p, c.n), Counts(c.p, c.n, 0 * c.tp, 0 * c.fp)
    base = np.minimum(cost.function(none, **stated), cost.function(every, **stated))
    return 1 - ratio(cost.function(c, **stated), np.where(base > 0, base, np.nan))


@savings.on
def _savings_of_cases(t: CostSums, **stated: Any) -> Array:
    """Share of cost saved, where each case has costs of its own."""
    _check_columns(t, stated)
    base = min(t.mean_of_acting, t.mean_of_waiting)
    return np.asarray(1 - t.mean / base if base > 0 else np.nan)


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
    best="low",
    range=(0, 1),
    undefined=_ONE_CLASS,
    aliases=("normalised_cost", "normalized_cost", "normalised_expected_cost", "normalized_expected_cost"),
)
def nec(c: Counts, *, fp: FpCost = 1.0, fn: FnCost = 1.0, prevalence: Prevalence = None) -> Array:
    """Normalised expected cost: x·FNR + (1−x)·FPR, x = π·c_FN / (π·c_FN + (1−π)·c_FP) (Drummond & Holte 2006)."""
    check_prevalence(prevalence)
    fp, fn = _numbers(fp=fp, fn=fn)
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
