"""Charts of convex hulls in ROC space: the common hull, named classifiers, and iso-cost lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from scorespace.curves import Hull, RocCurve, iso_line
from scorespace.decisions import Decision
from scorespace.report.chart_theme import FAINT, INK, SOFT, Spec, datum, field, mark, points, themed
from scorespace.report.curve_charts import curve_layers, is_crisp, neutral
from scorespace.results import short

_POSITION: Final[Spec] = {"x": "x:Q", "y": "y:Q"}
_ORDERED: Final[Spec] = _POSITION | {"order": "place:Q"}
_BESIDE: Final[Spec] = {"align": "left", "baseline": "top", "dx": 6, "dy": 6}
_NAME: Final[Spec] = {"align": "left", "baseline": "top", "dx": 8, "dy": 4, "fontWeight": 600}


def hull_chart(curves: Mapping[str, Any], hull: Hull, decisions: Sequence[Decision] = ()) -> Spec:
    """ROC curves below their common hull, crisp classifiers as named points, and the iso-cost line of each decision.

    Crisp classifiers inside the hull, which are never the best, are grey.
    """
    scored = {name: curve for name, curve in curves.items() if not is_crisp(curve)}
    rows = [
        {"name": name, "x": datum(float(curve.x[1])), "y": datum(float(curve.y[1])), "best": name in hull.model}
        for name, curve in curves.items()
        if is_crisp(curve)
    ]
    below = [_gap(next(iter(scored.values())), hull)] if len(scored) == 1 and not rows else []
    heavy = mark("line", points(hull.x, hull.y), _ORDERED, color=INK, strokeWidth=3.4 if rows else 2)
    above = []
    for is_best, style in ((True, {"size": 130, "color": INK}), (False, {"size": 80, "color": FAINT})):
        some = [row for row in rows if row["best"] == is_best]
        encoding = _POSITION | {"tooltip": [field("name:N", title="Model")]}
        names = _POSITION | {"text": "name:N"}
        above += [
            mark("point", some, encoding, filled=True, opacity=1, **style),
            mark("text", some, names, color=INK if is_best else FAINT, **_NAME),
        ]
    above = [heavy, *above, *chosen_marks(*decisions)]
    if scored:
        return themed(curve_layers(scored, below=below, above=above))
    spec = curve_layers({"convex hull": hull}, above=above)
    return themed(spec | {"layer": [neutral(layer) for layer in spec["layer"]]})


def _gap(curve: RocCurve, hull: Hull) -> Spec:
    """The area between a ROC curve and its hull: what calibration of the scores could gain."""
    x, y = np.append(hull.x, curve.x[::-1]), np.append(hull.y, curve.y[::-1])
    style = {"filled": True, "strokeWidth": 0, "interpolate": "linear-closed", "opacity": 0.9, "aria": False}
    return mark("line", points(x, y), _ORDERED, color="#c3ccd6", **style)


def chosen_marks(*decisions: Decision) -> list[Spec]:
    """The chosen point of each decision in ROC space, its name, and its iso-cost line with the slope."""
    layers: list[Spec] = []
    for decision in decisions:
        best, slope = decision.best, decision.slope
        fpr, tpr = float(best.counts.fp / best.counts.n), float(best.counts.tp / best.counts.p)
        line = iso_line(slope, fpr, tpr)
        iso = points(np.array(line.fpr), np.array(line.tpr))
        point = [{"x": datum(fpr), "y": datum(tpr), "label": best.model}]
        end = [iso[-1] | {"label": f"slope {short(slope)}"}]
        style = {"align": "left", "baseline": "bottom", "dx": 4, "dy": -4} if iso[-1]["y"] > 0.999 else _BESIDE
        layers += [
            mark("line", iso, _ORDERED, color=SOFT, strokeWidth=1.5, strokeDash=[6, 4]),
            mark("text", end, _POSITION | {"text": "label:N"}, **style),
            mark("point", point, _POSITION, filled=True, size=120, color=INK, opacity=1),
            mark("text", point, _POSITION | {"text": "label:N"}, color=INK, **_NAME),
        ]
    return layers
