"""A small picture of one column: a histogram of numbers, bars of labels."""

from __future__ import annotations

from typing import Any, Final

from scorespace.auditing.column import Profile
from scorespace.results import Row
from scorespace.views.charts.marks import field
from scorespace.views.charts.theme import COLOURS, INK, SCHEMA, THEME, short

_HEIGHT: Final = 110
_WIDTH: Final = 220
_SMALL: Final = {"labelFlush": True, "labelFontSize": 11, "labelLimit": 90, "labelOverlap": True, "labelPadding": 2}
_TITLE: Final = {"anchor": "start", "color": INK, "fontSize": 13, "fontWeight": 600, "limit": 240, "offset": 8}
_CONFIG: Final[Row] = {**THEME, "axis": {**THEME["axis"], **_SMALL, "tickSize": 3, "title": None}, "title": _TITLE}
_ROWS: Final = {"field": "rows", "type": "quantitative", "axis": {"tickCount": 3, "format": "~s"}}
_COUNTED: Final = field("rows:Q", title="rows", format=",d")


def column_chart(column: Profile, *, warned: bool = False) -> Row:
    """The picture of a column as a Vega-Lite spec; `warned` columns are drawn in the colour of warnings."""
    colour = COLOURS[1] if warned else COLOURS[0]
    bars = column.bars
    rows = [{"low": short(one.low), "high": short(one.high), "rows": one.rows, "label": one.label} for one in bars]
    numbers = any(one.high > one.low for one in bars)
    return {
        "$schema": SCHEMA,
        "config": _CONFIG,
        "title": {"text": [column.name]},
        "width": _WIDTH,
        "height": _HEIGHT,
        "data": {"values": rows},
        "mark": {"type": "bar", "color": colour},
        "encoding": _histogram(column) if numbers else _labels(column),
    }


def _histogram(column: Profile) -> Row:
    scale = {"zero": False, "nice": False}
    axis: dict[str, Any] = {"grid": False, "tickCount": 4}
    if column.kind == "date" and column.high.count("-") > 1:
        axis |= {"labelExpr": "timeFormat(datum.value * 1000, '%Y-%m')"}
    return {
        "x": {"field": "low", "bin": "binned", "type": "quantitative", "scale": scale, "axis": axis},
        "x2": {"field": "high"},
        "y": _ROWS,
        "tooltip": [field("low:Q", title="from"), field("high:Q", title="to"), _COUNTED],
    }


def _labels(column: Profile) -> Row:
    label = {"field": "label", "type": "nominal", "sort": None}
    told = [field("label:N", title="value"), _COUNTED]
    if column.low:  # numbers stand side by side, words below each other
        return {"x": {**label, "axis": {"labelAngle": 0}}, "y": _ROWS, "tooltip": told}
    return {"y": label, "x": _ROWS, "tooltip": told}
