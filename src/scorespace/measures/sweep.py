"""Curves of measures: over the thresholds, and against each other; the kinds that need to know measures."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from scorespace.curves.certain import Ends, at_points
from scorespace.curves.curve import Curve, bounded, curve
from scorespace.curves.sweep import Sweep, sweep
from scorespace.declaration import Several
from scorespace.errors import MeasureError
from scorespace.measures.catalog import MeasureSpec, parse, read_bound
from scorespace.measures.measure import measure as declared
from scorespace.tables import Array, Counts, ScoreTable

OfDecisions = Annotated[str, "a measure of decisions, with its options: f1, fbeta(beta=2)"]


@curve(title="Measure over thresholds", x="Threshold", y="Value", aliases=("sweep",), steps=True)
def threshold(
    table: ScoreTable,
    *,
    measure: Annotated[
        str, "a measure of decisions, with its options: f1, fbeta(beta=2); several with commas, in quotes", Several
    ] = "f1",
) -> Sweep:
    """A measure of decisions at every threshold, +inf first; between two scores nothing changes.

    >>> from scorespace.tables import score_table
    >>> threshold(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]), measure="ppv").y
    array([       nan, 1.        , 0.66666667, 0.5       ])
    """
    spec = _of_decisions(measure)
    return sweep(table, spec.measure, **dict(spec.options))


@curve(title="One measure against another", x="First measure", y="Second measure", aliases=("against",))
def space(table: ScoreTable, *, x: OfDecisions = "fpr", y: OfDecisions = "tpr") -> Curve:
    """Two measures of decisions against each other, a point for every threshold, +inf first.

    >>> from scorespace.tables import score_table
    >>> found = space(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]), x="fpr", y="err")
    >>> found.x, found.y
    (array([0. , 0. , 0.5, 1. ]), array([0.5 , 0.25, 0.25, 0.5 ]))
    """
    across, up = _of_decisions(x), _of_decisions(y)
    values = [np.asarray(one.measure(table.sweep, **dict(one.options)), dtype=np.float64) for one in (across, up)]
    return Curve(space.name, values[0], values[1], table.thresholds, across.measure.title, up.measure.title)


@bounded(space)
def _of_second(table: ScoreTable, traced: Curve, *, x: str = "fpr", y: str = "tpr") -> Ends:
    return _of_measure(table, traced, measure=y)


@bounded(threshold)
def _of_measure(table: ScoreTable, traced: Curve, *, measure: str = "f1") -> Ends:
    """What a measure lies between inside each bin, where it goes one way with TP and with FP."""
    spec = parse(measure)
    if not spec.measure.monotone:
        return np.full(traced.y.shape, np.nan), np.full(traced.y.shape, np.nan)
    return at_points(table, traced, lambda counts, _: spec.measure.function(counts, **dict(spec.options)))


def _range_of_best(measure: str = "ppv", **bounds: str | None) -> tuple[float, float]:
    return parse(measure).measure.range


@declared(
    title="Best value over thresholds",
    range=(-np.inf, np.inf),
    range_with=_range_of_best,
    best="high",
    interval="corrected",
    undefined="no threshold keeps the bounds",
    biased="too good on small samples: the threshold is chosen on the same cases",
    spelled={
        **dict.fromkeys(("best_f1", "max_f1"), "best(measure=f1)"),
        "precision_at_recall": "best(measure=ppv, at_least=tpr=0.9)",
        "recall_at_precision": "best(measure=tpr, at_least=ppv=0.9)",
        "specificity_at_sensitivity": "best(measure=tnr, at_least=tpr=0.9)",
    },
)
def best(
    t: ScoreTable,
    *,
    measure: Annotated[str, "the measure of decisions that should be best"] = "ppv",
    at_least: Annotated[str | None, "bounds to keep, with blanks between; tpr=0.9 for ppv alone"] = None,
    at_most: Annotated[str | None, "bounds to keep, with blanks between, such as fpr=0.1"] = None,
) -> Array:
    """The best value of a measure over all thresholds, or over those at which others keep bounds: ppv with tpr ≥ 0.9.

    >>> from scorespace.tables import score_table
    >>> best(score_table([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]), measure="ppv", at_least="tpr=0.9")
    0.6666666666666666
    >>> best(score_table([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]), measure="f1")
    0.8
    """
    spec = _of_decisions(measure)
    if spec.measure.best is None:
        raise MeasureError(
            f"{spec} has no best value: neither direction is better.", hint="a measure with a best end, such as f1"
        )
    sign = 1.0 if spec.measure.best == "high" else -1.0
    counts = t.sweep
    values = sign * np.asarray(spec.measure(counts, **dict(spec.options)), dtype=np.float64)
    if at_least is at_most is None and spec.name == "ppv":  # which is highest where next to nothing is found
        at_least = "tpr=0.9"
    for text, least in ((at_least, 1.0), (at_most, -1.0)):
        for one, bound in _bounds(text or ""):
            found = np.asarray(one.measure(counts, **dict(one.options)), dtype=np.float64)
            # A bound typed with few decimals must not fail by rounding: 0.9 is kept by 27/30.
            values = np.where(least * (found - bound) >= -1e-12, values, np.nan)
    highest = np.fmax.reduce(values, axis=-1)
    return sign * highest


def _bounds(text: str) -> list[tuple[MeasureSpec, float]]:
    """Bounds on measures from MEASURE=NUMBER pieces."""
    return [(_of_decisions(name), number) for name, number in map(read_bound, text.split())]


def _of_decisions(text: str) -> MeasureSpec:
    """A measure that has a value at every threshold; refused with the reason where it has none."""
    spec = parse(text)
    if spec.measure.table is not Counts:
        raise MeasureError(f"{spec} covers all thresholds, so it has no curve over them.", hint="such as f1 or ppv")
    if spec.of is not None or spec.at is not None:
        what = "a class" if spec.of is not None else "a threshold"
        raise MeasureError(f"{spec} names {what}, but its curve is over all thresholds.", hint=spec.label)
    return spec
