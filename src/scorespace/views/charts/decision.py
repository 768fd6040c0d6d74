"""A decision in ROC space and in cost space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from scorespace.curves import Curve, Hull, iso_line
from scorespace.decisions import Decision
from scorespace.results import Row
from scorespace.tables import Array
from scorespace.views.charts.curves import curve_layers, named_rule
from scorespace.views.charts.marks import Spec, field, mark
from scorespace.views.charts.theme import FAINT, INK, SOFT, coloured, points, short, themed

_PLACE: Final[Spec] = {"x": "x:Q", "y": "y:Q"}


def hull_chart(curves: Mapping[str, Curve], hull: Hull, decision: Decision | None = None) -> Spec:
    """ROC curves under their common hull; with a decision, its line of equal cost and the chosen point."""
    order = _PLACE | {"order": "place:Q"}
    marks = [mark("line", points(hull.x, hull.y), order, color=INK, strokeWidth=1.2, opacity=0.75)]
    if decision is not None:
        marks += chosen_marks(decision)
    return themed(curve_layers(curves, above=marks))


def cost_chart(curves: Mapping[str, Curve], decision: Decision, *, chosen: bool = True) -> Spec:
    """Cost curves, with a band that names the best model of each condition and a rule at the chosen one."""
    rows = _bands(decision)
    models = [row["name"] for row in rows if row["name"] in curves]
    named = {"field": "name", "oneOf": models}
    band = {
        "x": "low:Q",
        "x2": "high",
        "y": {"value": 315},  # along the bottom of the plot, in pixels: the axis of costs stays free
        "tooltip": [field("name:N", title="Best model"), field("slopes:N", title="Slope")],
    }
    above = [
        mark("rect", rows, {**band, "color": coloured("name", curves)}, where=named, opacity=0.85, height=9),
        mark("rect", rows, band, where={"not": named}, color=FAINT, opacity=0.6, height=9),
    ]
    if chosen:
        above += named_rule(1 / (1 + decision.slope), "these costs")
    return themed(curve_layers(curves, above=above))


def cost_space_chart(curves: Mapping[str, Curve], lines: Mapping[str, Array]) -> Spec:
    """Cost curves as the lower envelopes of faint lines, one for each threshold."""
    rows = [
        {"name": name, "line": f"{name} {place}", "x": x, "y": short(float(y))}
        for name, ends in lines.items()
        for place, pair in enumerate(ends)
        for x, y in enumerate(pair)
    ]
    lines_of = _PLACE | {"detail": "line:N", "color": coloured("name", curves)}
    below = [mark("line", rows, lines_of, strokeWidth=0.7, opacity=0.25, clip=True, aria=False)]
    return themed(curve_layers(curves, below=below))


def chosen_marks(decision: Decision) -> list[Spec]:
    """The point of a decision in ROC space, its name, and the line of all points that cost the same."""
    best, slope = decision.best, decision.slope
    counts = best.counts
    fpr, tpr = float(counts.fp / counts.n), float(counts.tp / counts.p)
    line = iso_line(slope, fpr, tpr)
    iso = points(np.array(line.fpr), np.array(line.tpr))
    point = [{"x": short(fpr), "y": short(tpr), "label": best.model}]
    name = {"align": "left", "baseline": "top", "dx": 9, "dy": 5, "color": INK, "fontWeight": 600}
    return [
        mark("line", iso, _PLACE | {"order": "place:Q"}, color=SOFT, strokeWidth=1.5, strokeDash=[6, 4]),
        mark("point", point, _PLACE, filled=True, size=120, color=INK, opacity=1),
        mark("text", point, _PLACE | {"text": "label:N"}, **name),
    ]


def _bands(decision: Decision) -> list[Row]:
    """Each model's range of conditions, on the axis of the cost curve: x = 1 / (1 + slope)."""
    return [
        {
            "name": model,
            "low": short(1 / (1 + high)),
            "high": short(1 / (1 + low)),
            "slopes": f"{low:.3g} to {high:.3g}".replace("inf", "∞"),
        }
        for model, low, high in decision.model_ranges()
    ]
