"""Many classes: which is taken for which, and the curve of each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import altair as alt
import numpy as np

from scorespace.curves import Curve, PrCurve
from scorespace.errors import DataError
from scorespace.results import Row, decimals, grouped
from scorespace.tables import ConfusionTable, ratio
from scorespace.views.charts.curves import POINTS, curve_layers
from scorespace.views.charts.theme import COLOURS, FAINT, INK, SOFT, short, themed

SIDE: Final = 420
"""Width and height of a confusion chart, in pixels."""

TOLD_APART: Final = 6
"""Most classes that a chart of curves tells apart, as many as there are colours."""

THIN_POINTS: Final = 120
"""Most points drawn of a curve that is not told apart."""

_SMALLEST: Final = 8  # pixels of the smallest letters that can still be read
_NARROWEST: Final = 22  # pixels of a cell with a number in it; narrow pages shrink cells, but not letters
_KINDS: Final = {"roc": "ROC", "pr": "Precision-recall"}
_RIGHT, _WRONG = COLOURS[0], COLOURS[1]
_EMPTY, _NOTHING = "#f3f5f7", "#6a7079"  # a cell without cases, and its 0


def confusion_chart(table: ConfusionTable, title: str = "") -> alt.LayerChart:
    """Decisions as coloured cells with counts and shares of the row: actual classes down, decided across.

    Blue is right and orange wrong, the darker the larger the share; numbers are left out where
    cells are too small for them.
    """
    rows = _cells(table)
    places = list(table.classes)
    cell = SIDE / len(places)
    x = alt.X("decided:N", sort=places, title="Decided", axis=_labels(places, cell, across=True))
    y = alt.Y("actual:N", sort=places, title="Actual", axis=_labels(places, cell))
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y)
    layers = [
        base.mark_rect(stroke="white", strokeWidth=1 if cell >= 12 else 0.5).encode(
            fill=alt.Fill("fill:N", scale=None),
            tooltip=[
                alt.Tooltip("actual:N", title="Actual"),
                alt.Tooltip("decided:N", title="Decided"),
                alt.Tooltip("count:N", title="Cases"),
                alt.Tooltip("share:N", title="Share of the actual class"),
            ],
        )
    ]
    size = _letters([row["count"] for row in rows], cell)
    small = _letters([row["share"] for row in rows], cell, most=11)
    both = bool(size and small) and size + small + 6 <= cell
    some = base.encode(color=alt.Color("ink:N", scale=None)).transform_filter("datum.count != '0'")
    if size:
        count = some.mark_text(fontSize=size, fontWeight=600, dy=-small / 2 - 1 if both else 0, aria=False)
        none = base.mark_text(fontSize=size, color=_NOTHING, aria=False).transform_filter("datum.count == '0'")
        layers += [count.encode(text="count:N"), none.encode(text="count:N")]
    if both:
        layers.append(some.mark_text(fontSize=small, dy=size / 2 + 2, aria=False).encode(text="share:N"))
    chart = alt.LayerChart(layer=layers).properties(
        width=SIDE, height=SIDE, description=f"Decisions for each of {len(places)} classes: {', '.join(places)}."
    )
    if title:
        heading = alt.TitleParams(title, anchor="start", color=INK, fontSize=13, fontWeight=600, offset=8)
        chart = chart.properties(title=heading)
    return themed(chart)


def class_curves_chart(curves: Mapping[str, Curve], averaged: Curve | None = None, kind: str = "roc") -> alt.LayerChart:
    """The curve of each class, and broad in grey their mean; of many classes, those of least area in colour.

    Classes whose curve is undefined are not drawn.
    """
    areas = {name: curve.area() for name, curve in curves.items()}
    drawn = [name for name, area in areas.items() if math.isfinite(area)]
    if not drawn:
        raise DataError("there is no curve to draw.", seen="each class, or its rest, is without cases")
    shown = drawn if len(drawn) <= TOLD_APART else sorted(drawn, key=areas.__getitem__)[: TOLD_APART - 1]
    rest = [name for name in drawn if name not in shown]
    labelled = {f"{name} ({decimals(areas[name])})": curves[name] for name in shown}
    keys = {SOFT: f"thin: {len(rest)} other classes"} if rest else {}
    below = [_faint({name: curves[name] for name in rest})] if rest else []
    if averaged is not None and math.isfinite(averaged.area()):
        below.append(_broad(averaged))
        keys[INK] = f"broad: mean of {len(drawn)} classes ({decimals(averaged.area())})"
    chart = curve_layers(labelled, what="Class", below=below, above=_keys(keys, right=kind == "roc"))
    told = "; ".join(f"{name} {decimals(area)}" for name, area in areas.items())
    return themed(chart.properties(description=f"{_KINDS.get(kind, kind)} curve of each class with its area: {told}."))


def _cells(table: ConfusionTable) -> list[Row]:
    """One row per cell, with its colour and a colour of letters that stands out from it."""
    shares = ratio(table.matrix, table.class_totals[:, None])
    fills = _fills(np.nan_to_num(shares))
    return [
        {
            "actual": actual,
            "decided": decided,
            "count": grouped(float(table.matrix[i, k])),
            "share": "–" if np.isnan(shares[i, k]) else _percent(float(shares[i, k])),
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


def _percent(share: float) -> str:
    """A share in whole percent, but never 0 % for some or 100 % for not all."""
    if 0 < share < 0.005:
        return "<1 %"
    return ">99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def _letters(texts: Sequence[str], cell: float, most: int = 13) -> int:
    """The size of letters in which the longest text fits a cell, or 0 when that is too small to read."""
    size = min(most, int((cell - 4) / (0.6 * max(map(len, texts)))))
    return size if size >= _SMALLEST and cell >= _NARROWEST else 0


def _labels(places: Sequence[str], cell: float, *, across: bool = False) -> alt.Axis:
    """Names of the classes: all of them, slanted where they would run into each other."""
    size = max(_SMALLEST, min(12, int(0.8 * cell)))
    slanted = across and 0.6 * size * max(map(len, places)) > cell - 6
    return alt.Axis(
        domain=False,
        grid=False,
        labelAngle=-90 if slanted else 0,
        labelColor=INK,
        labelFontSize=size,
        labelLimit=140,
        labelOverlap=size > cell,  # then some are left out
        orient="top" if across else "left",
        ticks=False,
    )


def _broad(curve: Curve) -> alt.Chart:
    """The mean as a broad dark line, below those of the classes, which it would hide."""
    data = alt.InlineData(values=_line("", curve))
    line = alt.Chart(data).mark_line(color=INK, strokeWidth=6, opacity=0.55, clip=True)
    return line.encode(x="x:Q", y="y:Q", order="place:Q")


def _faint(curves: Mapping[str, Curve]) -> alt.Chart:
    """The curves that are not told apart, as thin grey lines that bear their names under the pointer."""
    rows = [row for name, curve in curves.items() for row in _line(name, curve, most=THIN_POINTS)]
    line = alt.Chart(alt.InlineData(values=rows)).mark_line(color=FAINT, strokeWidth=1, opacity=0.8, clip=True)
    tip = alt.Tooltip("name:N", title="Class")
    return line.encode(x="x:Q", y="y:Q", detail="name:N", order="place:Q", tooltip=tip)


def _line(name: str, curve: Curve, most: int = POINTS) -> list[Row]:
    curve = (curve.interpolated() if isinstance(curve, PrCurve) else curve).thinned(most - 1)
    drawn = np.isfinite(curve.x) & np.isfinite(curve.y)
    return [
        {"name": name, "place": place, "x": short(x), "y": short(y)}
        for place, (x, y) in enumerate(zip(curve.x[drawn], curve.y[drawn], strict=True))
    ]


def _keys(texts: Mapping[str, str], *, right: bool) -> list[alt.Chart]:
    """What the lines without a place in the legend mean, by colour, in the corner that curves leave free."""
    margin = -6 if right else 6
    return [
        alt.Chart(alt.InlineData(values=[{"label": text}]))
        .mark_text(
            align="right" if right else "left",
            baseline="bottom",
            color=colour,
            dx=margin,
            dy=-6 - 18 * place,
            fontWeight=600,
        )
        .encode(text="label:N", x=alt.value("width" if right else 0), y=alt.value("height"))
        for place, (colour, text) in enumerate(texts.items())
    ]
