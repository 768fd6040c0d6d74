"""Charts of multiclass models: confusion matrices and one-vs-rest curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from scorespace.curves import Curve, PrCurve
from scorespace.curves.curve import CURVES
from scorespace.errors import DataError
from scorespace.report.chart_theme import COLOURS, FAINT, INK, SOFT, Spec, field, layered, mark, points, themed
from scorespace.report.curve_charts import POINTS, curve_layers
from scorespace.results import Row, decimals, format_whole_percent, grouped
from scorespace.tables import ConfusionTable, ratio

SIDE: Final = 420
"""Width and height of a confusion chart, in pixels."""

MAX_COLOURED_CLASSES: Final = 6
"""Maximum number of coloured classes in a chart of curves: the number of colours."""

THIN_POINTS: Final = 120
"""Maximum number of points of a curve without a colour of its own."""

_MIN_FONT_SIZE: Final = 8  # pixels
_MIN_CELL_SIZE: Final = 22  # pixels of a cell with a number; narrow pages shrink cells but not text
_CORRECT, _WRONG = COLOURS[0], COLOURS[1]
_EMPTY, _ZERO = "#f3f5f7", "#6a7079"  # fill of an empty cell, and the colour of its 0


def confusion_chart(table: ConfusionTable, title: str = "") -> Spec:
    """Confusion matrix as coloured cells with counts and row percentages; rows actual, columns predicted.

    Blue is correct and orange wrong, darker for larger proportions; numbers are left out of cells that are too small.
    """
    rows = _cells(table)
    classes = list(table.classes)
    cell = SIDE / len(classes)
    position = {
        "x": field("decided:N", sort=classes, title="Predicted", axis=_label_axis(classes, cell, is_horizontal=True)),
        "y": field("actual:N", sort=classes, title="Actual", axis=_label_axis(classes, cell)),
    }
    tooltip = [
        field("actual:N", title="Actual"),
        field("decided:N", title="Predicted"),
        field("count:N", title="Cases"),
        field("share:N", title="Percentage of the actual class"),
    ]
    cells = {**position, "fill": field("fill:N", scale=None), "tooltip": tooltip}
    layers = [mark("rect", None, cells, stroke="white", strokeWidth=1 if cell >= 12 else 0.5)]
    count_size = _font_size([row["count"] for row in rows], cell)
    share_size = _font_size([row["share"] for row in rows], cell, max_size=11)
    shows_share = bool(count_size and share_size) and count_size + share_size + 6 <= cell
    text_encoding = {**position, "color": field("ink:N", scale=None)}
    is_filled, is_empty = "datum.count != '0'", "datum.count == '0'"
    if count_size:
        style = {"fontSize": count_size, "aria": False}
        count = {**text_encoding, "text": "count:N"}
        layers += [
            mark(
                "text",
                None,
                count,
                where=is_filled,
                fontWeight=600,
                dy=-share_size / 2 - 1 if shows_share else 0,
                **style,
            ),
            mark("text", None, {**position, "text": "count:N"}, where=is_empty, color=_ZERO, **style),
        ]
    if shows_share:
        share = {**text_encoding, "text": "share:N"}
        layers.append(
            mark("text", None, share, where=is_filled, fontSize=share_size, dy=count_size / 2 + 2, aria=False)
        )
    description = f"Confusion matrix of {len(classes)} classes: {', '.join(classes)}."
    chart = layered(layers, SIDE, SIDE, data={"values": rows}, description=description)
    if title:
        heading = {"anchor": "start", "color": INK, "fontSize": 13, "fontWeight": 600, "offset": 8}
        chart["title"] = {"text": title, **heading}
    return themed(chart)


def class_curves_chart(curves: Mapping[str, Curve], averaged: Curve | None = None, kind: str = "roc") -> Spec:
    """Curve of each class, and their mean as a thick line; of many classes, those of smallest area in colour.

    Classes with an undefined curve are not drawn.
    """
    areas = {name: curve.area() for name, curve in curves.items()}
    defined = [name for name, area in areas.items() if math.isfinite(area)]
    if not defined:
        raise DataError(
            "there is no curve to draw.", seen="each class, or its rest, has no cases", hint="cases of two classes"
        )
    labelled_classes = (
        defined
        if len(defined) <= MAX_COLOURED_CLASSES
        else sorted(defined, key=areas.__getitem__)[: MAX_COLOURED_CLASSES - 1]
    )
    other_classes = [name for name in defined if name not in labelled_classes]
    labelled = {f"{name} ({decimals(areas[name])})": curves[name] for name in labelled_classes}
    legend_texts = {SOFT: f"thin: {len(other_classes)} other classes"} if other_classes else {}
    below = [_thin_lines({name: curves[name] for name in other_classes})] if other_classes else []
    if averaged is not None and math.isfinite(averaged.area()):
        below.append(_thick_line(averaged))
        legend_texts[INK] = f"thick: mean of {len(defined)} classes ({decimals(averaged.area())})"
    curve_kind = CURVES.find(kind)
    # With a chance line, curves run above it and leave the right corner free.
    chart = curve_layers(
        labelled, what="Class", below=below, above=_corner_legend(legend_texts, right=bool(curve_kind.frame.chance))
    )
    # The labels already contain the areas.
    chart["params"] = [
        parameter | {"value": {}} if parameter["name"] == "areas" else parameter for parameter in chart["params"]
    ]
    areas_text = "; ".join(f"{name} {decimals(area)}" for name, area in areas.items())
    return themed(chart | {"description": f"{curve_kind.title} of each class with its area: {areas_text}."})


def _cells(table: ConfusionTable) -> list[Row]:
    """One row per cell, with its fill colour and a text colour of sufficient contrast."""
    shares = ratio(table.matrix, table.class_totals[:, None])
    fills = _fills(np.nan_to_num(shares))
    return [
        {
            "actual": actual,
            "decided": decided,
            "count": grouped(float(table.matrix[i, k])),
            "share": "–" if np.isnan(shares[i, k]) else format_whole_percent(float(shares[i, k])),
            "fill": fills[i][k],
            "ink": _text_colour(fills[i][k]),
        }
        for i, actual in enumerate(table.classes)
        for k, decided in enumerate(table.classes)
    ]


def _fills(shares: np.ndarray) -> list[list[str]]:
    """Fill colours from nearly white (0) to the full colour (1), by the square root of the share to show few errors."""
    colour = np.where(np.eye(len(shares), dtype=bool)[..., None], _rgb(_CORRECT), _rgb(_WRONG))
    mixed = np.rint(_rgb(_EMPTY) + (colour - _rgb(_EMPTY)) * np.sqrt(shares)[..., None]).astype(int)
    return [["#{:02x}{:02x}{:02x}".format(*cell) for cell in line] for line in mixed.tolist()]


def _rgb(colour: str) -> np.ndarray:
    return np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])


def _text_colour(fill: str) -> str:
    """Black or white, whichever has the higher contrast with the fill (always above 4.5).

    Not the text colour of the theme, which becomes light in dark mode while the cells do not change.
    """
    linear = [
        (channel + 0.055) ** 2.4 / 1.055**2.4 if channel > 0.04045 else channel / 12.92 for channel in _rgb(fill) / 255
    ]
    luminance = float(np.dot([0.2126, 0.7152, 0.0722], linear))
    return "#000000" if luminance > 0.179 else "#ffffff"


def _font_size(texts: Sequence[str], cell: float, max_size: int = 13) -> int:
    """Font size in which the longest text fits a cell, or 0 if that is too small to read."""
    size = min(max_size, int((cell - 4) / (0.6 * max(map(len, texts)))))
    return size if size >= _MIN_FONT_SIZE and cell >= _MIN_CELL_SIZE else 0


def _label_axis(classes: Sequence[str], cell: float, *, is_horizontal: bool = False) -> Spec:
    """Axis with the names of all classes, rotated if they would overlap."""
    size = max(_MIN_FONT_SIZE, min(12, int(0.8 * cell)))
    is_rotated = is_horizontal and 0.6 * size * max(map(len, classes)) > cell - 6
    return {
        "domain": False,
        "grid": False,
        "labelAngle": -90 if is_rotated else 0,
        "labelColor": INK,
        "labelFontSize": size,
        "labelLimit": 140,
        "labelOverlap": size > cell,  # leaves out some labels
        "orient": "top" if is_horizontal else "left",
        "ticks": False,
    }


def _thick_line(curve: Curve) -> Spec:
    """The mean as a thick dark line below the curves of the classes."""
    encoding = {"x": "x:Q", "y": "y:Q", "order": "place:Q"}
    return mark("line", _curve_points("", curve), encoding, color=INK, strokeWidth=6, opacity=0.55, clip=True)


def _thin_lines(curves: Mapping[str, Curve]) -> Spec:
    """Curves without a colour of their own, as thin grey lines with tooltips."""
    rows = [row for name, curve in curves.items() for row in _curve_points(name, curve, max_points=THIN_POINTS)]
    tooltip = [field("name:N", title="Class")]
    encoding = {"x": "x:Q", "y": "y:Q", "detail": "name:N", "order": "place:Q", "tooltip": tooltip}
    return mark("line", rows, encoding, color=FAINT, strokeWidth=1, opacity=0.8, clip=True)


def _curve_points(name: str, curve: Curve, max_points: int = POINTS) -> list[Row]:
    curve = (curve.interpolated() if isinstance(curve, PrCurve) else curve).thinned(max_points - 1)
    return points(curve.x, curve.y, name=name)


def _corner_legend(texts: Mapping[str, str], *, right: bool) -> list[Spec]:
    """Legend texts of lines without a legend entry, in the free corner."""
    position = {"text": "label:N", "x": {"value": "width" if right else 0}, "y": {"value": "height"}}
    return [
        mark(
            "text",
            [{"label": text}],
            position,
            align="right" if right else "left",
            baseline="bottom",
            color=colour,
            dx=-6 if right else 6,
            dy=-6 - 18 * line,
            fontWeight=600,
        )
        for line, (colour, text) in enumerate(texts.items())
    ]
