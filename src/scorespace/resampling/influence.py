"""Intervals of cluster indices: by the influence of each point; none where an index rests on the outermost points."""

from __future__ import annotations

import math

import numpy as np

from scorespace.measures.clusters import silhouette_influence, silhouette_rows
from scorespace.measures.request import Request
from scorespace.resampling.interval import Interval, Plan, interval, none
from scorespace.special import ndtri
from scorespace.tables.cluster import ClusterTable


def _outermost(request: Request) -> bool:
    """Whether a request rests on the outermost points, and is not asked for a mean instead."""
    return dict(request.spec.options).get("how", "max") == "max"


@interval(
    "outermost",
    "no interval: an index of the outermost points",
    suits=_outermost,
    declared=True,
    weighted=True,
    instead="outermost",
)
def extreme_interval(plan: Plan) -> Interval:
    """None: drawing points again can only lose the outermost ones, never find those beyond."""
    return none("it rests on the outermost points, and drawing these again tells nothing of those beyond")


@interval(
    "influence",
    "normal interval by the influence of each point",
    declared=True,
    weighted=True,
    instead="influence",
)
def influence_interval(plan: Plan) -> Interval:
    """v ± z √(Σ U²) / n: U is how far a point moves the mean, by its own silhouette and by those of all the others.

    Where silhouettes of a part of the points stand for all, their sampling adds to it. Points of one group move the
    mean together.
    """
    table = plan.request.table.inside(ClusterTable, plan.request.spec.of)
    if table.weight.ndim > 1 or (table.weight > 0).sum() < 3:
        return none("fewer than three points")
    rows = silhouette_rows(table, int(dict(plan.request.spec.options).get("points", 4000)))
    values, moves, stand_for = silhouette_influence(table, rows)
    asked = np.ones(rows.size, dtype=bool) if table.focus is None else table.label[rows] == table.focus
    weight = table.weight[rows]
    total = float((weight * stand_for)[asked].sum())
    moved = weight * (np.where(asked, values - plan.value, 0.0) + moves) / total
    if table.group is None:
        variance = float((stand_for * moved**2).sum())
    else:
        of_group = np.bincount(table.group[rows], stand_for * moved)
        groups = np.unique(table.group).size
        variance = float((of_group**2).sum()) * groups / max(1, groups - 1)
    if rows.size < table.label.size:
        label, part = table.label[rows[asked]], values[asked]
        kept = np.maximum(1, np.bincount(label))
        spread = np.bincount(label, part**2) / kept - (np.bincount(label, part) / kept) ** 2
        size = np.bincount(table.label, minlength=kept.size)[: kept.size]
        variance += float((size**2 / kept * np.maximum(0.0, 1 - kept / np.maximum(size, 1)) * spread).sum()) / total**2
    reach = ndtri((1 + plan.level) / 2) * math.sqrt(variance)
    how = "influence" + (" of groups" if table.group is not None else "")
    return Interval(max(-1.0, plan.value - reach), min(1.0, plan.value + reach), how)
