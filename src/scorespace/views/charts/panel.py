"""Curves as one panel of several, in which nothing follows the pointer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scorespace.curves import Curve
from scorespace.views.charts.marks import Spec, field, layered, mark
from scorespace.views.charts.theme import UNIT, axis, coloured, dashed, headed, points, reference, scale

_POINTS: Final = 300


def curve_panel(curves: Mapping[str, Curve], title: str, size: int, what: str) -> Spec:
    """Curves between 0 and 1 with the line of chance, unthemed; `what` is the field that names them."""
    first = next(iter(curves.values()))
    thin = {name: curve.thinned(_POINTS) for name, curve in curves.items()}
    rows = [row for name, curve in thin.items() for row in points(curve.x, curve.y, **{what: name})]
    encoding = {
        "x": field("x:Q", title=first.x_title, axis=axis(UNIT), scale=scale(UNIT)),
        "y": field("y:Q", title=first.y_title, axis=axis(UNIT), scale=scale(UNIT)),
        "color": coloured(what, curves),
        "strokeDash": dashed(what, curves),
        "order": "place:Q",
        "tooltip": [field(f"{what}:N"), field("x:Q", format=".3f"), field("y:Q", format=".3f")],
    }
    layers = [reference([{"x": 0, "y": 0}, {"x": 1, "y": 1}]), mark("line", rows, encoding, clip=True)]
    return layered(layers, size, size, title=headed(title))
