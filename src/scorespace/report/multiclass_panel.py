"""Multiclass models: the panel of costs and rejection, with the curves that are linked to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scorespace.report.chart_theme import INK, UNIT, Spec, axis, field, layered, mark, reference, scale, themed
from scorespace.report.document import Block, Panel, Picture
from scorespace.report.linked_charts import link_to_panel
from scorespace.report.protocol import EvaluationView
from scorespace.results import Row

_NAMES: Final = ("row", "column")


def pair_chart(rows: Sequence[Row]) -> Spec:
    """ROC curves by the score of the row's class (solid) and by that of the column's class (dashed)."""
    # Without colours, which stand for models.
    dash_encoding = {"scale": {"domain": list(_NAMES), "range": [[1, 0], [6, 3]]}, "legend": None}
    encoding = {
        "x": field("x:Q", title="False positive rate", axis=axis(UNIT), scale=scale(UNIT)),
        "y": field("y:Q", title="True positive rate", axis=axis(UNIT), scale=scale(UNIT)),
        "strokeDash": field("name:N", **dash_encoding),
        "detail": "name:N",
        "order": "place:Q",
    }
    layers = [
        mark("line", list(rows), encoding, color=INK, strokeWidth=2, clip=True),
        reference([{"x": 0, "y": 0}, {"x": 1, "y": 1}]),
    ]
    description = "ROC curves of two classes, each by its own score against the other."
    return themed(layered(layers, 300, 300, description=description))


def multiclass_blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """The interactive panel with the accuracy-rejection curve and the ROC curves of two classes."""
    panel = evaluation.multiclass_panel
    if panel is None:
        return []
    alt = "Accuracy of the accepted cases against the rejection rate, by model."
    pair_alt = "ROC curves of two classes, each by its own score."
    pairs = panel.models[panel.start].pairs
    rows = [] if pairs is None or not panel.paired else pairs.rows(*panel.pair)
    curve = Picture(
        lambda: link_to_panel(evaluation.drawing("rejection"), "rejection", panel.marker_row()), alt, alt, drag=True
    )
    two = Picture(lambda: link_to_panel(pair_chart(rows), "pair", panel.marker_row()), pair_alt)
    return [Panel(panel, (*([curve] if panel.movable else []), *([two] if panel.paired else [])))]
