"""Many classes: which is taken for which, and the curve of each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from scorespace.curves import Curve, PrCurve
from scorespace.curves.curve import CURVES
from scorespace.errors import DataError
from scorespace.results import Row, decimals, grouped, whole_percent
from scorespace.tables import ConfusionTable, ratio
from scorespace.views.charts.curves import POINTS, curve_layers
from scorespace.views.charts.marks import Spec, field, layered, mark
from scorespace.views.charts.theme import COLOURS, FAINT, INK, SOFT, points, themed

SIDE: Final = 420
"""Width and height of a confusion chart, in pixels."""

TOLD_APART: Final = 6
"""Most classes that a chart of curves tells apart, as many as there are colours."""

THIN_POINTS: Final = 120
"""Most points drawn of a curve that is not told apart."""

_SMALLEST: Final = 8  # pixels of the smallest letters that can still be read
_NARROWEST: Final = 22  # pixels of a cell with a number in it; narrow pages shrink cells, but not letters
_RIGHT, _WRONG = COLOURS[0], COLOURS[1]
_EMPTY, _NOTHING = "#f3f5f7", "#6a7079"  # a cell without cases, and its 0


def confusion_chart(table: ConfusionTable, title: str = "") -> Spec:
    """Decisions as coloured cells with counts and shares of the row: actual classes down, decided across.

    Blue is right and orange wrong, the darker the larger the share; numbers are left out where
    cells are too small for them.
    """
    rows = _cells(table)
    places = list(table.classes)
    cell = SIDE / len(places)
    place = {
        "x": field("decided:N", sort=places, title="Decided", axis=_labels(places, cell, across=True)),
        "y": field("actual:N", sort=places, title="Actual", axis=_labels(places, cell)),
    }
    tip = [
        field("actual:N", title="Actual"),
        field("decided:N", title="Decided"),
        field("count:N", title="Cases"),
        field("share:N", title="Share of the actual class"),
    ]
    cells = {**place, "fill": field("fill:N", scale=None), "tooltip": tip}
    layers = [mark("rect", None, cells, stroke="white", strokeWidth=1 if cell >= 12 else 0.5)]
    size = _letters([row["count"] for row in rows], cell)
    small = _letters([row["share"] for row in rows], cell, most=11)
    both = bool(size and small) and size + small + 6 <= cell
    inked = {**place, "color": field("ink:N", scale=None)}
    some, none = "datum.count != '0'", "datum.count == '0'"
    if size:
        look = {"fontSize": size, "aria": False}
        count = {**inked, "text": "count:N"}
        layers += [
            mark("text", None, count, where=some, fontWeight=600, dy=-small / 2 - 1 if both else 0, **look),
            mark("text", None, {**place, "text": "count:N"}, where=none, color=_NOTHING, **look),
        ]
    if both:
        share = {**inked, "text": "share:N"}
        layers.append(mark("text", None, share, where=some, fontSize=small, dy=size / 2 + 2, aria=False))
    about = f"Decisions for each of {len(places)} classes: {', '.join(places)}."
    chart = layered(layers, SIDE, SIDE, data={"values": rows}, description=about)
    if title:
        heading = {"anchor": "start", "color": INK, "fontSize": 13, "fontWeight": 600, "offset": 8}
        chart["title"] = {"text": title, **heading}
    return themed(chart)


def class_curves_chart(curves: Mapping[str, Curve], averaged: Curve | None = None, kind: str = "roc") -> Spec:
    """The curve of each class, and broad in grey their mean; of many classes, those of least area in colour.

    Classes whose curve is undefined are not drawn.
    """
    areas = {name: curve.area() for name, curve in curves.items()}
    drawn = [name for name, area in areas.items() if math.isfinite(area)]
    if not drawn:
        raise DataError(
            "there is no curve to draw.", seen="each class, or its rest, is without cases", hint="cases of two classes"
        )
    shown = drawn if len(drawn) <= TOLD_APART else sorted(drawn, key=areas.__getitem__)[: TOLD_APART - 1]
    rest = [name for name in drawn if name not in shown]
    labelled = {f"{name} ({decimals(areas[name])})": curves[name] for name in shown}
    keys = {SOFT: f"thin: {len(rest)} other classes"} if rest else {}
    below = [_faint({name: curves[name] for name in rest})] if rest else []
    if averaged is not None and math.isfinite(averaged.area()):
        below.append(_broad(averaged))
        keys[INK] = f"broad: mean of {len(drawn)} classes ({decimals(averaged.area())})"
    declared = CURVES.find(kind)
    # Where chance has a line of its own, curves run above it and leave the right corner free.
    chart = curve_layers(labelled, what="Class", below=below, above=_keys(keys, right=bool(declared.frame.chance)))
    # The names tell the areas already.
    chart["params"] = [one | {"value": {}} if one["name"] == "areas" else one for one in chart["params"]]
    told = "; ".join(f"{name} {decimals(area)}" for name, area in areas.items())
    return themed(chart | {"description": f"{declared.title} of each class with its area: {told}."})


def _cells(table: ConfusionTable) -> list[Row]:
    """One row per cell, with its colour and a colour of letters that stands out from it."""
    shares = ratio(table.matrix, table.class_totals[:, None])
    fills = _fills(np.nan_to_num(shares))
    return [
        {
            "actual": actual,
            "decided": decided,
            "count": grouped(float(table.matrix[i, k])),
            "share": "–" if np.isnan(shares[i, k]) else whole_percent(float(shares[i, k])),
            "fill": fills[i][k],
            "ink": _ink(fills[i][k]),
        }
        for i, actual in enumerate(table.classes)
        for k, decided in enumerate(table.classes)
    ]


def _fills(shares: np.ndarray) -> list[list[str]]:
    """Nearly white for none to full colour for all; by the root of the share, so that a few errors can be seen."""
    full = np.where(np.eye(len(shares), dtype=bool)[..., None], _rgb(_RIGHT), _rgb(_WRONG))
    mixed = np.rint(_rgb(_EMPTY) + (full - _rgb(_EMPTY)) * np.sqrt(shares)[..., None]).astype(int)
    return [["#{:02x}{:02x}{:02x}".format(*cell) for cell in line] for line in mixed.tolist()]


def _rgb(colour: str) -> np.ndarray:
    return np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])


def _ink(fill: str) -> str:
    """Black or white, whichever stands out: one of them always has a contrast above 4.5.

    Not the ink of the theme, which turns light on dark pages while the cells stay as they are.
    """
    linear = [(c + 0.055) ** 2.4 / 1.055**2.4 if c > 0.04045 else c / 12.92 for c in _rgb(fill) / 255]
    luminance = float(np.dot([0.2126, 0.7152, 0.0722], linear))
    return "#000000" if luminance > 0.179 else "#ffffff"


def _letters(texts: Sequence[str], cell: float, most: int = 13) -> int:
    """The size of letters in which the longest text fits a cell, or 0 when that is too small to read."""
    size = min(most, int((cell - 4) / (0.6 * max(map(len, texts)))))
    return size if size >= _SMALLEST and cell >= _NARROWEST else 0


def _labels(places: Sequence[str], cell: float, *, across: bool = False) -> Spec:
    """Names of the classes: all of them, slanted where they would run into each other."""
    size = max(_SMALLEST, min(12, int(0.8 * cell)))
    slanted = across and 0.6 * size * max(map(len, places)) > cell - 6
    return {
        "domain": False,
        "grid": False,
        "labelAngle": -90 if slanted else 0,
        "labelColor": INK,
        "labelFontSize": size,
        "labelLimit": 140,
        "labelOverlap": size > cell,  # then some are left out
        "orient": "top" if across else "left",
        "ticks": False,
    }


def _broad(curve: Curve) -> Spec:
    """The mean as a broad dark line, below those of the classes, which it would hide."""
    place = {"x": "x:Q", "y": "y:Q", "order": "place:Q"}
    return mark("line", _line("", curve), place, color=INK, strokeWidth=6, opacity=0.55, clip=True)


def _faint(curves: Mapping[str, Curve]) -> Spec:
    """The curves that are not told apart, as thin grey lines that bear their names under the pointer."""
    rows = [row for name, curve in curves.items() for row in _line(name, curve, most=THIN_POINTS)]
    tip = [field("name:N", title="Class")]
    place = {"x": "x:Q", "y": "y:Q", "detail": "name:N", "order": "place:Q", "tooltip": tip}
    return mark("line", rows, place, color=FAINT, strokeWidth=1, opacity=0.8, clip=True)


def _line(name: str, curve: Curve, most: int = POINTS) -> list[Row]:
    curve = (curve.interpolated() if isinstance(curve, PrCurve) else curve).thinned(most - 1)
    return points(curve.x, curve.y, name=name)


def _keys(texts: Mapping[str, str], *, right: bool) -> list[Spec]:
    """What the lines without a place in the legend mean, by colour, in the corner that curves leave free."""
    corner = {"text": "label:N", "x": {"value": "width" if right else 0}, "y": {"value": "height"}}
    return [
        mark(
            "text",
            [{"label": text}],
            corner,
            align="right" if right else "left",
            baseline="bottom",
            color=colour,
            dx=-6 if right else 6,
            dy=-6 - 18 * place,
            fontWeight=600,
        )
        for place, (colour, text) in enumerate(texts.items())
    ]
