"""What is certain of a number from a coarse table, whatever the order of the cases inside its bins.

A measure says beside its formula how it is bounded: `certain=by_order` and the like, or a function of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scorespace.measures.average import ALL_AVERAGES
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.measure import Bounds
from scorespace.tables import Counts, Table

UNCERTAIN = "not certified: no bounds are known for it on coarse scores"


def certified(spec: MeasureSpec, table: Table) -> Bounds | None:
    """The lowest and the highest value that a measure of a coarse table can have; None where none are known.

    >>> from scorespace.measures.catalog import parse
    >>> from scorespace.tables import score_table
    >>> certified(parse("auc"), score_table([1, 0, 1, 0], [0.9, 0.41, 0.4, 0.1]).rounded(51))
    (0.75, 1.0)
    """
    measure, options = spec.measure, dict(spec.options)
    if spec.of in ALL_AVERAGES and spec.of not in table.class_names:
        return None
    found = measure.fit(table, spec.of, spec.at, str(spec))
    if found.kind is Counts:
        corners = _corners(table, found.table, spec)
        if corners is None:
            return _ends(found.function(found.table, **options))
        return _ends(found.function(corners, **options)) if measure.monotone else None
    bounds = None if measure.certain is None else measure.certain(found.function, found.table, **options)
    return None if bounds is None else _ends(bounds)


def _corners(table: Table, exact: Any, spec: MeasureSpec) -> Counts | None:
    """The four extremes of the outcomes at a threshold inside a bin; None where they are known."""
    if spec.at is None or not table.coarse:
        return None
    most, fewest = table.around(spec.at, spec.of)
    tp = np.array([most.tp, most.tp, fewest.tp, fewest.tp], dtype=np.float64)  # type: ignore[attr-defined]
    fp = np.array([most.fp, fewest.fp, most.fp, fewest.fp], dtype=np.float64)  # type: ignore[attr-defined]
    if tp[0] == tp[2] and fp[0] == fp[1]:
        return None
    return Counts(tp, fp, exact.p - tp, exact.n - fp)


def _ends(values: Any) -> Bounds:
    """The lowest and the highest of some values; undefined where one of them is."""
    found = np.asarray(values, dtype=np.float64)
    return float(found.min()), float(found.max())
