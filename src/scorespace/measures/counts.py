"""Measures of decisions: counts of the outcomes TP, FP, FN and TN."""

from __future__ import annotations

from functools import partial

from scorespace.measures.measure import INF, NO_CASES, NOT_SIMULATED, measure
from scorespace.tables import Array, Counts

_count = partial(measure, range=(0, INF), undefined=NO_CASES, coverage_note=NOT_SIMULATED, count=True)


@_count(title="True positives", best="high", aliases=("true_positives", "hits", "hit"))
def tp(c: Counts) -> Array:
    """Positives predicted positive: TP."""
    return c.tp


@_count(
    title="False positives",
    best="low",
    aliases=(
        *("false_positives", "false_alarms", "false_alarm", "type_1_errors", "type_1_error", "type_I_error"),
        "overestimation",
    ),
)
def fp(c: Counts) -> Array:
    """Negatives predicted positive: FP."""
    return c.fp


@_count(
    title="False negatives",
    best="low",
    aliases=(
        *("false_negatives", "misses", "miss", "type_2_errors", "type_2_error", "type_II_error"),
        "underestimation",
    ),
)
def fn(c: Counts) -> Array:
    """Positives predicted negative: FN."""
    return c.fn


@_count(title="True negatives", best="high", aliases=("true_negatives", "correct_rejections", "correct_rejection"))
def tn(c: Counts) -> Array:
    """Negatives predicted negative: TN."""
    return c.tn


@_count(title="Positives", best=None, aliases=("positives", "actual_positives"))
def p(c: Counts) -> Array:
    """Cases that are positive: P = TP + FN."""
    return c.p


@_count(title="Negatives", best=None, aliases=("negatives", "actual_negatives"))
def n(c: Counts) -> Array:
    """Cases that are negative: N = FP + TN."""
    return c.n


@_count(title="Predicted positives", best=None, aliases=("predicted_positives", "alarms", "alerts"))
def pp(c: Counts) -> Array:
    """Cases predicted positive: PP = TP + FP."""
    return c.pp


@_count(title="Predicted negatives", best=None, aliases=("predicted_negatives",))
def pn(c: Counts) -> Array:
    """Cases predicted negative: PN = FN + TN."""
    return c.pn
