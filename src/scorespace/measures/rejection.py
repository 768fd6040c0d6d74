"""Measures of rejection: how well the distance of a score from the threshold tells right from wrong decisions."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from scorespace.curves.rejection import margins_of, risk_area
from scorespace.measures.measure import NO_CASES, measure
from scorespace.tables import Array, ClassTable, ScoreTable
from scorespace.tables.score import grouped_scores


@measure(
    title="Area under the risk-coverage curve",
    range=(0, 1),
    best="low",
    undefined=NO_CASES,
    aliases=("risk_coverage_area", "rejection_area"),
    interval="log-t",
)
def aurc(
    t: ScoreTable, *, at: Annotated[float, "the threshold of the decisions; of several classes none"] = 0.5
) -> Array:
    """Mean error among the k most certain cases, over all k, as the others are rejected: Σ_k errors_k / k / n.

    >>> from scorespace.tables import score_table
    >>> round(aurc(score_table([1, 0, 1, 0], [0.9, 0.8, 0.3, 0.1])), 4)
    0.2083
    """
    right = np.where(t.score >= t.in_precision(at), t.pos, t.neg)
    return _area(margins_of(t.score, at), t.pos + t.neg, right)


@aurc.on
def _aurc_of_classes(t: ClassTable, *, at: float = 0.5) -> Array:
    return _area(t.lead, t.case_weight, np.where(t.decided == t.label, t.case_weight, 0.0))


def _area(margin: Array, cases: Array, right: Array) -> Array:
    _, counts = grouped_scores(margin, np.stack([cases - right, cases], axis=-2))
    return risk_area(counts[..., 0, :], counts[..., 1, :])
