"""A small picture of one column: a histogram of numbers, bars of labels."""

from __future__ import annotations

from typing import Any, Final

from scorespace.auditing.column import Profile
from scorespace.results import Row
from scorespace.views.charts.theme import COLOURS, FAINT, GRID, INK, SOFT, short

_SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v6.json"
_HEIGHT: Final = 110
_WIDTH: Final = 220
_CONFIG: Final[Row] = {
    "background": "white",
    "font": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
    "view": {"stroke": None},
    "title": {"anchor": "start", "color": INK, "fontSize": 13, "fontWeight": 600, "limit": 240, "offset": 8},
    "axis": {
        "domainColor": FAINT,
        "gridColor": GRID,
        "labelColor": SOFT,
        "labelFontSize": 11,
        "labelLimit": 90,
        "labelOverlap": True,
        "tickColor": FAINT,
        "tickSize": 3,
        "title": None,
    },
}


def column_chart(column: Profile, *, warned: bool = False) -> Row:
    """The picture of a column as a Vega-Lite spec; `warned` columns are drawn in the colour of warnings."""
    colour = COLOURS[1] if warned else COLOURS[0]
    return {
        "$schema": _SCHEMA,
        "config": _CONFIG,
        "title": {"text": [column.name]},
        "width": _WIDTH,
        "height": _HEIGHT,
        "data": {"values": [_bar(bar.low, bar.high, bar.rows, bar.label) for bar in column.bars]},
        "mark": {"type": "bar", "color": colour},
        "encoding": _histogram(column) if _is_histogram(column) else _labels(column),
    }


def _bar(low: float, high: float, rows: int, label: str) -> Row:
    return {"low": short(low), "high": short(high), "rows": rows, "label": label}


def _is_histogram(column: Profile) -> bool:
    return any(bar.high > bar.low for bar in column.bars)


def _histogram(column: Profile) -> Row:
    scale = {"zero": False, "nice": False}
    axis: dict[str, Any] = {"grid": False, "tickCount": 4}
    if column.kind == "date" and column.high.count("-") > 1:
        axis |= {"labelExpr": "timeFormat(datum.value * 1000, '%Y-%m')"}
    return {
        "x": {"field": "low", "bin": "binned", "type": "quantitative", "scale": scale, "axis": axis},
        "x2": {"field": "high"},
        "y": {"field": "rows", "type": "quantitative", "axis": {"tickCount": 3, "format": "~s"}},
        "tooltip": [
            {"field": "low", "type": "quantitative", "title": "from"},
            {"field": "high", "type": "quantitative", "title": "to"},
            {"field": "rows", "type": "quantitative", "title": "rows", "format": ",d"},
        ],
    }


def _labels(column: Profile) -> Row:
    label = {"field": "label", "type": "nominal", "sort": None}
    rows = {"field": "rows", "type": "quantitative", "axis": {"tickCount": 3, "format": "~s"}}
    told = [
        {"field": "label", "type": "nominal", "title": "value"},
        {"field": "rows", "type": "quantitative", "title": "rows", "format": ",d"},
    ]
    if column.low:  # numbers stand side by side, words below each other
        return {"x": {**label, "axis": {"labelAngle": 0}}, "y": rows, "tooltip": told}
    return {"y": label, "x": rows, "tooltip": told}
