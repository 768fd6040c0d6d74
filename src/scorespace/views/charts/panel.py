"""Curves as one panel of several, in which nothing follows the pointer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import altair as alt

from scorespace.curves import Curve
from scorespace.results import Row
from scorespace.views.charts.theme import FAINT, UNIT, axis, coloured, dashed, scale, short

_POINTS: Final = 300


def curve_panel(curves: Mapping[str, Curve], title: str, size: int, what: str) -> alt.LayerChart:
    """Curves between 0 and 1 with the line of chance, unthemed; `what` is the field that names them."""
    first = next(iter(curves.values()))
    rows = [row for name, curve in curves.items() for row in _points(name, curve, what)]
    line = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(clip=True)
        .encode(
            x=alt.X("x:Q", title=first.x_title, axis=axis(UNIT), scale=scale(UNIT)),
            y=alt.Y("y:Q", title=first.y_title, axis=axis(UNIT), scale=scale(UNIT)),
            color=coloured(what, curves),
            strokeDash=dashed(what, curves),
            order="place:Q",
            tooltip=[alt.Tooltip(f"{what}:N"), alt.Tooltip("x:Q", format=".3f"), alt.Tooltip("y:Q", format=".3f")],
        )
    )
    ends = alt.Chart(alt.InlineData(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
    chance = ends.mark_line(color=FAINT, strokeWidth=1.2, strokeDash=[2, 3], aria=False).encode(x="x:Q", y="y:Q")
    return alt.LayerChart(layer=[chance, line]).properties(
        width=size, height=size, title=alt.Title(title, anchor="start")
    )


def _points(name: str, curve: Curve, what: str) -> list[Row]:
    thin = curve.thinned(_POINTS)
    return [
        {what: name, "place": place, "x": short(float(x)), "y": short(float(y))}
        for place, (x, y) in enumerate(zip(thin.x, thin.y, strict=True))
        if math.isfinite(x) and math.isfinite(y)
    ]
