"""The curve of a measure over the thresholds: the one kind of curve that needs to know measures."""

from __future__ import annotations

from typing import Annotated

from scorespace.curves.curve import Curve, curve
from scorespace.curves.sweep import sweep
from scorespace.errors import MeasureError
from scorespace.measures.catalog import parse
from scorespace.tables import Counts, ScoreTable


@curve(title="Measure over thresholds", x="Threshold", y="Value", aliases=("sweep",), steps=True)
def threshold(
    table: ScoreTable,
    *,
    measure: Annotated[str, "a measure of decisions, with its options: f1, fbeta(beta=2)"] = "f1",
) -> Curve:
    """A measure of decisions at every threshold, +inf first; between two scores nothing changes.

    >>> from scorespace.tables import score_table
    >>> threshold(score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]), measure="ppv").y
    array([       nan, 1.        , 0.66666667, 0.5       ])
    """
    spec = parse(measure)
    if spec.measure.table is not Counts:
        raise MeasureError(f"{spec} covers all thresholds, so it has no curve over them.", hint="such as f1 or ppv")
    if spec.of is not None or spec.at is not None:
        what = "a class" if spec.of is not None else "a threshold"
        raise MeasureError(f"{spec} names {what}, but its curve is over all thresholds.", hint=spec.label)
    return sweep(table, spec.measure, **dict(spec.options))
