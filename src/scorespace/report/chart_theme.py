"""Common style of all charts: colours, dashes, axes and fonts, and helpers for Vega-Lite specs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from scorespace.results import Row
from scorespace.tables import Array

Spec = dict[str, Any]
"""A Vega-Lite chart, or a part of one."""

_TYPES: Final = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}
_COMPOSITIONS: Final = ("layer", "concat", "hconcat", "vconcat")


def field(name: str, **settings: Any) -> Spec:
    """A field of the data with its type, if it needs one.

    >>> field("x:Q", title="Score"), field("high")
    ({'field': 'x', 'type': 'quantitative', 'title': 'Score'}, {'field': 'high'})
    """
    column, _, kind = name.partition(":")
    return {"field": column, **({"type": _TYPES[kind]} if kind else {}), **settings}


def mark(
    kind: str,
    rows: Iterable[Row] | None,
    encoding: Mapping[str, Any],
    *,
    where: Any = None,
    **style: Any,
) -> Spec:
    """A layer: rows drawn with one mark, each channel encoded by a field or a value; without rows, those of the chart.

    >>> mark("rule", [{"x": 0.5}], {"x": "x:Q"}, color="red")["mark"]
    {'type': 'rule', 'color': 'red'}
    """
    layer: Spec = {} if rows is None else {"data": {"values": rows}}
    layer["mark"] = {"type": kind, **style}
    if where is not None:
        layer["transform"] = [{"filter": where}]
    layer["encoding"] = {
        channel: field(value) if isinstance(value, str) else value for channel, value in encoding.items()
    }
    return layer


def layered(layers: list[Spec], width: int, height: int | Spec, **settings: Any) -> Spec:
    """A layered chart."""
    return {"width": width, "height": height, **settings, "layer": layers}


def by_model(rows: list[Row], panel: Spec, columns: int, description: str) -> Spec:
    """A panel per model, in the order of `place`."""
    header = {"labelAnchor": "start", "labelPadding": 4}
    facet = field("model:N", sort={"field": "place", "op": "min"}, header=header)
    layout = {"columns": columns, "spacing": 18, "description": description}
    return {"data": {"values": rows}, "facet": facet, "spec": panel, **layout}


def with_tables(spec: Spec) -> Spec:
    """The chart with named datasets, each stored once even if several layers use it."""
    tables: dict[int, list[Row]] = {}

    def name_data(part: Spec) -> Spec:
        part = dict(part)
        if "values" in part.get("data", ()):
            rows = part["data"]["values"]
            tables[id(rows)] = rows
            part["data"] = {"name": f"table {list(tables).index(id(rows)) + 1}"}
        for key in _COMPOSITIONS:
            if key in part:
                part[key] = list(map(name_data, part[key]))
        return part

    spec = name_data(spec)
    return {**spec, "datasets": {f"table {index}": rows for index, rows in enumerate(tables.values(), start=1)}}


COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""Palette of Okabe and Ito (2008) for colour-blind readers, without yellow and black."""

MORE_COLOURS: Final = ("#332288", "#882255", "#117733", "#999933", "#aa4499", "#661100", "#44aa99", "#6699cc")
"""Further colours for more than six names, from the palettes of Tol (2021)."""

DASHES: Final = ((1, 0), (7, 3), (3, 2), (10, 3, 2, 3), (5, 2, 1, 2, 1, 2))
"""Dash patterns, so that models differ without colour; 5 patterns and 14 colours give 70 combinations."""

# The style sheet replaces these four colours in dark mode.
INK: Final = "#2b323b"
SOFT: Final = "#5d6773"
FAINT: Final = "#98a2ae"
GRID: Final = "#e3e7ec"

SELECTED: Final = "#0072b2"
"""The selected model in charts that are linked to a panel; the others are grey."""

OTHER: Final = "#98a2ae"

CLASSES: Final = {"up": "#d55e00", "down": "#009e73"}
"""Colours of the positive and the negative class."""

UNIT: Final = (0.0, 1.0)

THEME: Final[Mapping[str, Any]] = {
    "background": "white",
    "font": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "domainColor": FAINT,
        "gridColor": GRID,
        "labelColor": SOFT,
        "labelFlush": False,
        "labelFontSize": 12,
        "labelPadding": 6,
        "labelSeparation": 6,
        "tickColor": FAINT,
        "tickSize": 4,
        "titleColor": INK,
        "titleFontSize": 13,
        "titleFontWeight": 500,
        "titlePadding": 10,
    },
    "header": {"labelColor": INK, "labelFontSize": 13, "labelFontWeight": 600, "title": None},
    "legend": {
        "columnPadding": 20,
        "labelColor": INK,
        "labelFontSize": 13,
        "labelLimit": 280,
        "offset": 22,
        "orient": "top",
        "rowPadding": 4,
        "symbolOpacity": 1,
        "symbolSize": 500,
        "symbolStrokeWidth": 2.4,
        "symbolType": "stroke",
        "title": None,
    },
    "line": {"strokeCap": "butt", "strokeJoin": "round", "strokeWidth": 2.4},
    "text": {"color": SOFT, "fontSize": 12},
}

SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v6.json"


def themed(spec: Spec) -> Spec:
    """The chart with the common style."""
    return {"$schema": SCHEMA, "config": THEME, **with_tables(spec)}


def coloured(
    column: str,
    names: Iterable[str],
    *,
    legend: bool = True,
    of: Mapping[str, str] | None = None,
    areas: bool = False,
) -> Spec:
    """Colour encoding by position, so that a model has the same colour in all charts.

    `of` maps a name to the model whose colour it shares; with `areas`, the legend shows the areas of the parameter.
    """
    names = list(names)
    scale = {"domain": names, "range": [_colour(index) for index in _style_indices(names, of)]}
    legend_settings: Spec | None = {"columns": _legend_columns(names)} if legend else None
    if legend_settings is not None and areas:
        legend_settings["labelExpr"] = "datum.label + (areas[datum.label] ? '  ' + areas[datum.label] : '')"
    return field(f"{column}:N", title=None, scale=scale, legend=legend_settings)


def _colour(index: int) -> str:
    """Colour of a position; those that share one differ by their dashes."""
    every = (*COLOURS, *MORE_COLOURS)
    return every[index % len(every)]


def dashed(column: str, names: Iterable[str], *, of: Mapping[str, str] | None = None) -> Spec:
    """Dash encoding by position; `of` maps a name to the one whose dashes it shares."""
    names = list(names)
    scale = {"domain": names, "range": [list(DASHES[index % len(DASHES)]) for index in _style_indices(names, of)]}
    return field(f"{column}:N", title=None, scale=scale)


def _style_indices(names: Sequence[str], model_of: Mapping[str, str] | None) -> list[int]:
    """Index of each name, or of the name it shares a style with."""
    model_of = model_of or {}
    reference_names = dict.fromkeys((*(name for name in names if name not in model_of), *model_of.values()))
    places = {name: index for index, name in enumerate(reference_names)}
    return [places[model_of.get(name, name)] for name in names]


def axis(ends: tuple[float, float] | None) -> Spec:
    """Axis with few ticks for the unit interval, otherwise the default."""
    return {"values": [0, 0.2, 0.4, 0.6, 0.8, 1], "format": ".1f"} if ends == UNIT else {}


def scale(ends: tuple[float, float] | None, *, zero: bool = False) -> Spec:
    """Scale with a fixed domain, or that of the data, optionally including zero."""
    return {"zero": zero} if ends is None else {"domain": list(ends), "nice": False}


def unit_or_none(values: Array) -> tuple[float, float] | None:
    """The unit interval if it contains all values, as for probabilities; otherwise None."""
    return UNIT if values.size and values.min() >= 0 and values.max() <= 1 else None


def unit_or_less(*score_arrays: Array) -> tuple[float, float] | None:
    """Domain for probabilities: the unit interval, or for rare events up to the next round number.

    >>> import numpy as np
    >>> unit_or_less(np.array([0.7, 0.1])), unit_or_less(np.array([0.13, 0.01])), unit_or_less(np.array([3.0]))
    ((0.0, 1.0), (0.0, 0.2), None)
    """
    if any(unit_or_none(values) is None for values in score_arrays):
        return None
    max_value = max(float(values.max()) for values in score_arrays)
    if not 0 < max_value <= 0.5:
        return UNIT
    power = 10.0 ** math.floor(math.log10(max_value))
    return 0.0, min(round(step * power, 12) for step in (1, 2, 5, 10) if step * power >= max_value)


def datum(value: float) -> float | None:
    """Six significant digits, enough for charts at half the file size.

    >>> datum(1 / 3), datum(float("inf"))
    (0.333333, None)
    """
    return float(f"{value:.6g}") if math.isfinite(value) else None


def data_values(values: Array) -> list[float | None]:
    """`datum` of all values."""
    return [datum(value) for value in values.tolist()]


def points(x: Array, y: Array, **constants: Any) -> list[Row]:
    """One row per finite point of a line, with constant fields.

    >>> import numpy as np
    >>> points(np.array([0.0, 1.0]), np.array([np.nan, 0.5]), name="nb")
    [{'name': 'nb', 'place': 1, 'x': 1.0, 'y': 0.5}]
    """
    indexed = enumerate(zip(data_values(x), data_values(y), strict=True))
    return [{**constants, "place": k, "x": a, "y": b} for k, (a, b) in indexed if a is not None and b is not None]


def reference(ends: Sequence[Row]) -> Spec:
    """A faint reference line, such as chance or perfect predictions."""
    encoding = {"x": "x:Q", "y": "y:Q"}
    return mark("line", ends, encoding, color=FAINT, strokeWidth=1.2, strokeDash=[2, 3], aria=False)


def panel_title(text: str) -> Spec:
    """Title of a panel."""
    return {"text": text, "anchor": "start", "color": INK}


def _legend_columns(names: Sequence[str]) -> int:
    """Number of legend columns that fit a narrow page, at about 6.2 pixels per character."""
    for columns in range(len(names), 1, -1):
        widths = (46 + 6.2 * max(map(len, names[column::columns])) for column in range(columns))
        if sum(widths) <= 370:
            return columns
    return 1
