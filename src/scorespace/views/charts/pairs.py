"""Two classes by their scores: the ROC curve of each against the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scorespace.results import Row
from scorespace.views.charts.marks import Spec, field, layered, mark
from scorespace.views.charts.theme import INK, UNIT, axis, reference, scale, themed

_NAMES: Final = ("row", "column")


def pair_chart(rows: Sequence[Row]) -> Spec:
    """The curve by the score of the row's class (solid) and that by the score of the column's (dashed)."""
    # In ink alone: colours are those of models.
    dashes = {"scale": {"domain": list(_NAMES), "range": [[1, 0], [6, 3]]}, "legend": None}
    place = {
        "x": field("x:Q", title="False positive rate", axis=axis(UNIT), scale=scale(UNIT)),
        "y": field("y:Q", title="True positive rate", axis=axis(UNIT), scale=scale(UNIT)),
        "strokeDash": field("name:N", **dashes),
        "detail": "name:N",
        "order": "place:Q",
    }
    layers = [
        mark("line", list(rows), place, color=INK, strokeWidth=2, clip=True),
        reference([{"x": 0, "y": 0}, {"x": 1, "y": 1}]),
    ]
    about = "ROC curve of two classes, each by its own score against the other."
    return themed(layered(layers, 300, 300, description=about))
