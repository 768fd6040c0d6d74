"""Curves and optima of measures over thresholds: kinds of curves that depend on the catalogue of measures."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from scorespace.curves.bounds import Bounds, at_points
from scorespace.curves.curve import Curve, certified_bounds, curve
from scorespace.curves.threshold import Sweep, sweep
from scorespace.errors import MeasureError
from scorespace.measures.catalog import MeasureSpec, parse, read_bound
from scorespace.measures.measure import Best
from scorespace.measures.measure import measure as declared
from scorespace.options import AcceptsList
from scorespace.tables import Array, Counts, ScoreTable

OfDecisions = Annotated[str, "a measure of binary decisions, with its options: f1, fbeta(beta=2)"]


@curve(title="Measure over thresholds", x="Threshold", y="Value", aliases=("sweep",), steps=True)
def threshold(
    table: ScoreTable,
    *,
    measure: Annotated[
        str,
        "measures of binary decisions, with their options: f1, fbeta(beta=2); separated by commas, in quotes",
        AcceptsList,
    ] = "f1",
) -> Sweep:
    """A measure of binary decisions at every threshold, +inf first; constant between two scores.

    >>> from scorespace.tables import score_table
    >>> threshold(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]), measure="ppv").y
    array([       nan, 1.        , 0.66666667, 0.5       ])
    """
    spec = _parse_binary(measure)
    return sweep(table, spec.measure, **dict(spec.options))


@curve(title="One measure against another", x="First measure", y="Second measure", aliases=("against",))
def space(table: ScoreTable, *, x: OfDecisions = "fpr", y: OfDecisions = "tpr") -> Curve:
    """Two measures of binary decisions against each other, one point per threshold, +inf first.

    >>> from scorespace.tables import score_table
    >>> curve = space(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]), x="fpr", y="err")
    >>> curve.x, curve.y
    (array([0. , 0. , 0.5, 1. ]), array([0.5 , 0.25, 0.25, 0.5 ]))
    """
    first, second = _parse_binary(x), _parse_binary(y)
    values = [np.asarray(s.measure(table.sweep, **dict(s.options)), dtype=np.float64) for s in (first, second)]
    return Curve(space.name, values[0], values[1], table.thresholds, first.measure.title, second.measure.title)


@certified_bounds(space)
def _space_bounds(table: ScoreTable, traced: Curve, *, x: str = "fpr", y: str = "tpr") -> Bounds:
    return _measure_bounds(table, traced, measure=y)


@certified_bounds(threshold)
def _measure_bounds(table: ScoreTable, traced: Curve, *, measure: str = "f1") -> Bounds:
    """Bounds of a measure inside each bin, if it is monotone in TP and in FP."""
    spec = parse(measure)
    if not spec.measure.monotone:
        return np.full(traced.y.shape, np.nan), np.full(traced.y.shape, np.nan)
    return at_points(table, traced, lambda counts, _: spec.measure.function(counts, **spec.arguments))


def _range_of_best(measure: str = "ppv", **bounds: str | None) -> tuple[float, float]:
    return parse(measure).measure.range


def _direction_of_best(measure: str = "ppv", **bounds: str | None) -> Best | None:
    return parse(measure).best


@declared(
    title="Best value over thresholds",
    range=(-np.inf, np.inf),
    range_with=_range_of_best,
    best_with=_direction_of_best,
    best="high",
    interval="bias-corrected",
    undefined="no threshold satisfies the constraints",
    biased="too good in small samples: the threshold is chosen on the same cases",
    shorthands={
        **dict.fromkeys(("best_f1", "max_f1"), "best(measure=f1)"),
        "precision_at_recall": "best(measure=ppv, at_least=tpr=0.9)",
        "recall_at_precision": "best(measure=tpr, at_least=ppv=0.9)",
        "specificity_at_sensitivity": "tnr@tpr=0.9",
    },
)
def best(
    t: ScoreTable,
    *,
    measure: Annotated[str, "the measure of binary decisions to optimise"] = "ppv",
    at_least: Annotated[str | None, "constraints separated by blanks; tpr=0.9 by default for ppv"] = None,
    at_most: Annotated[str | None, "constraints separated by blanks, such as fpr=0.1"] = None,
) -> Array:
    """Optimal value of a measure over all thresholds, or those that satisfy constraints: ppv subject to tpr ≥ 0.9.

    >>> from scorespace.tables import score_table
    >>> best(score_table([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]), measure="ppv", at_least="tpr=0.9")
    0.6666666666666666
    >>> best(score_table([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]), measure="f1")
    0.8
    """
    spec = _parse_binary(measure)
    if spec.best is None:
        raise MeasureError(
            f"{spec} has no optimum: neither direction is better.", hint="a measure with a direction, such as f1"
        )
    sign = 1.0 if spec.best == "high" else -1.0
    counts = t.sweep
    values = sign * np.asarray(spec.measure(counts, **spec.arguments), dtype=np.float64)
    if at_least is at_most is None and spec.name == "ppv":  # its unconstrained optimum would be at almost no recall
        at_least = "tpr=0.9"
    for text, sign_of_bound in ((at_least, 1.0), (at_most, -1.0)):
        for constraint, bound in _constraints(text or ""):
            constrained = np.asarray(constraint.measure(counts, **dict(constraint.options)), dtype=np.float64)
            # The tolerance lets 27/30 satisfy a bound of 0.9.
            values = np.where(sign_of_bound * (constrained - bound) >= -1e-12, values, np.nan)
    return sign * np.fmax.reduce(values, axis=-1)


def _constraints(text: str) -> list[tuple[MeasureSpec, float]]:
    """Parse constraints MEASURE=NUMBER, separated by blanks."""
    return [(_parse_binary(name), number) for name, number in map(read_bound, text.split())]


def _parse_binary(text: str) -> MeasureSpec:
    """Parse a measure of binary decisions, which has a value at every threshold."""
    spec = parse(text)
    if spec.measure.table is not Counts:
        raise MeasureError(f"{spec} covers all thresholds, so it has no curve over them.", hint="such as f1 or ppv")
    if spec.of is not None or spec.at is not None:
        what = "a class" if spec.of is not None else "a threshold"
        raise MeasureError(f"{spec} names {what}, but its curve is over all thresholds.", hint=spec.label)
    option = spec.measure.threshold_option
    if option is not None and option not in dict(spec.options):
        hint = f"curve --kind net_benefit, or {spec.name}({option}=0.2)"
        raise MeasureError(f"{option} of {spec} changes with the threshold.", hint=hint)
    return spec
