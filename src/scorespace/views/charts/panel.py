"""Curves as one panel of several, in which nothing follows the pointer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scorespace.curves import Curve
from scorespace.results import Row
from scorespace.views.charts.marks import Spec, field, layered, mark
from scorespace.views.charts.theme import FAINT, INK, UNIT, axis, coloured, dashed, scale, shortened

_POINTS: Final = 300


def curve_panel(curves: Mapping[str, Curve], title: str, size: int, what: str) -> Spec:
    """Curves between 0 and 1 with the line of chance, unthemed; `what` is the field that names them."""
    first = next(iter(curves.values()))
    rows = [row for name, curve in curves.items() for row in _points(name, curve, what)]
    encoding = {
        "x": field("x:Q", title=first.x_title, axis=axis(UNIT), scale=scale(UNIT)),
        "y": field("y:Q", title=first.y_title, axis=axis(UNIT), scale=scale(UNIT)),
        "color": coloured(what, curves),
        "strokeDash": dashed(what, curves),
        "order": "place:Q",
        "tooltip": [field(f"{what}:N"), field("x:Q", format=".3f"), field("y:Q", format=".3f")],
    }
    ends, look = [{"x": 0, "y": 0}, {"x": 1, "y": 1}], {"strokeWidth": 1.2, "strokeDash": [2, 3], "aria": False}
    layers = [
        mark("line", ends, {"x": "x:Q", "y": "y:Q"}, color=FAINT, **look),
        mark("line", rows, encoding, clip=True),
    ]
    return layered(layers, size, size, title={"text": title, "anchor": "start", "color": INK})


def _points(name: str, curve: Curve, what: str) -> list[Row]:
    thin = curve.thinned(_POINTS)
    return [
        {what: name, "place": place, "x": x, "y": y}
        for place, (x, y) in enumerate(zip(shortened(thin.x), shortened(thin.y), strict=True))
        if x is not None and y is not None
    ]
