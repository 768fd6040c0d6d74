"""Curves of measures: over the thresholds, and against each other; the kinds that need to know measures."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from scorespace.curves.curve import Curve, curve
from scorespace.curves.sweep import Sweep, sweep
from scorespace.declaration import Several
from scorespace.errors import MeasureError
from scorespace.measures.catalog import MeasureSpec, parse
from scorespace.tables import Counts, ScoreTable

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


def _of_decisions(text: str) -> MeasureSpec:
    """A measure that has a value at every threshold; refused with the reason where it has none."""
    spec = parse(text)
    if spec.measure.table is not Counts:
        raise MeasureError(f"{spec} covers all thresholds, so it has no curve over them.", hint="such as f1 or ppv")
    if spec.of is not None or spec.at is not None:
        what = "a class" if spec.of is not None else "a threshold"
        raise MeasureError(f"{spec} names {what}, but its curve is over all thresholds.", hint=spec.label)
    return spec
