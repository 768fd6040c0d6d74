"""Styles and sizes of chart files: for slides and for papers, in centimetres."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from scorespace.errors import DataError
from scorespace.report.chart_files import svg, svg_size
from scorespace.report.chart_theme import COLOURS, FAINT, GRID, INK, SOFT, Spec

StyleName = Literal["slide", "paper"]

POINTS_PER_CM: Final = 72 / 2.54
LABEL_SIZE: Final = 12
"""Font size of axis labels without a style, in points; titles and legends are one point larger."""


@dataclass(frozen=True)
class Style:
    """Size of the chart in cm, enlargement of fonts, lines and points, resolution of PNG files, and colours."""

    size: tuple[float, float]
    factor: float
    dots_per_inch: int
    colours: dict[str, str]


_GREYS: Final = ("#000000", "#555555", "#a0a0a0", "#303030", "#c4c4c4", "#7a7a7a")
_INKS: Final = {INK: "#000000", SOFT: "#000000", FAINT: "#808080", GRID: "#e8e8e8"}

STYLES: Final[dict[StyleName, Style]] = {
    "slide": Style((32.0, 18.0), 1.5, 150, {}),
    "paper": Style((12.0, 8.0), 2 / 3, 300, _INKS | dict(zip(COLOURS, _GREYS, strict=True))),
}
"""Slides have axis labels of 18 points, papers of 8 points and greys that differ by lightness and dashes."""

_SCALED: Final = {
    *("fontSize", "labelFontSize", "titleFontSize", "strokeWidth", "symbolStrokeWidth", "strokeDash"),
    *(
        "labelPadding",
        "titlePadding",
        "labelSeparation",
        "tickSize",
        "offset",
        "columnPadding",
        "rowPadding",
        "spacing",
    ),
    *("dx", "dy", "lineHeight", "labelLimit", "titleLimit", "cornerRadius"),
}
_AREAS: Final = {"size", "symbolSize"}
_PANELS: Final = {"width", "height"}
_ROWS: Final = {"facet", "concat", "vconcat"}


def parse_size(text: str) -> tuple[float, float]:
    """Width and height in cm, typed as 12x8cm.

    >>> parse_size("12x8cm"), parse_size("120x80mm"), parse_size("5x4in")
    ((12.0, 8.0), (12.0, 8.0), (12.7, 10.16))
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*[x×]\s*(\d+(?:\.\d+)?)\s*(cm|mm|in)?\s*", text)
    if found is None:
        raise DataError(f"{text!r} is not a size.", hint="width × height, such as 12x8cm")
    in_cm = {"cm": 1.0, "mm": 0.1, "in": 2.54, None: 1.0}[found[3]]
    width, height = (round(float(side) * in_cm, 6) for side in (found[1], found[2]))
    if not (2 <= width <= 200 and 2 <= height <= 200):
        raise DataError(f"a chart cannot be {text.strip()} large.", hint="sides from 2 to 200 cm, such as 12x8cm")
    return width, height


def styled(spec: Spec, style: StyleName | None = None, size: str | None = None) -> Spec:
    """The chart in a style and size; charts with square panels keep them square and may be smaller."""
    if style is None and size is None:
        return spec
    look = Style((0, 0), 1.0, 150, {}) if style is None else STYLES[style]
    width, height = look.size if size is None else parse_size(size)
    if size is None and style == "paper" and _ROWS & spec.keys():
        height = math.inf  # several panels keep their shape
    spec = _scaled(spec, look.factor)
    spec["config"] = spec["config"] | {"padding": 5 * look.factor}
    if look.colours:
        spec = _recoloured(spec, look.colours)
    spec = _fitted(spec, width * POINTS_PER_CM, height * POINTS_PER_CM)
    return spec | {"usermeta": {"points": True, "dots_per_inch": look.dots_per_inch}}


def _scaled(part: Any, factor: float, key: str = "") -> Any:
    """The chart with larger or smaller fonts, lines and points; its data stay as they are."""
    if isinstance(part, dict):
        return {name: value if name in _DATA else _scaled(value, factor, name) for name, value in part.items()}
    if isinstance(part, (list, tuple)):
        return [_scaled(value, factor, key) for value in part]
    if isinstance(part, bool) or not isinstance(part, (int, float)):
        return part
    return part * factor if key in _SCALED else part * factor**2 if key in _AREAS else part


_DATA: Final = {"datasets", "values", "data", "domain"}


def _recoloured(part: Any, colours: dict[str, str]) -> Any:
    if isinstance(part, dict):
        return {name: _recoloured(value, colours) for name, value in part.items()}
    if isinstance(part, (list, tuple)):
        return [_recoloured(value, colours) for value in part]
    return colours.get(part, part) if isinstance(part, str) else part


def _fitted(spec: Spec, width: float, height: float) -> Spec:
    """The chart with panels as large as fit; labels and legends keep their sizes.

    Of the places for the legend, above in one or more columns or at the right, that with the largest panels is taken.
    """
    above = [_with_legend_columns(spec, columns) for columns in (None, 2, 1)]
    beside = _with_legend_columns(spec, 1)
    beside["config"]["legend"] |= {"orient": "right"}
    layouts = [*above, beside]
    if "concat" in spec:
        layouts.append(spec | {"columns": len(spec["concat"])})
    return max((_with_panels(one, width, height) for one in layouts), key=lambda fitted: fitted[0])[1]


def _with_legend_columns(part: Any, columns: int | None) -> Any:
    """The chart with at most this number of columns in legends."""
    if isinstance(part, (list, tuple)):
        return [_with_legend_columns(value, columns) for value in part]
    if not isinstance(part, dict):
        return part
    changed = {name: value if name in _DATA else _with_legend_columns(value, columns) for name, value in part.items()}
    if columns is not None and "columns" in (changed.get("legend") or {}):
        changed["legend"]["columns"] = min(columns, changed["legend"]["columns"])
    return changed


def _with_panels(spec: Spec, width: float, height: float) -> tuple[tuple[bool, float], Spec]:
    """The chart with the panels that give these outer sizes, which are linear in those of the panels up to breaks.

    Returned with whether it fits, and the area of the panels.
    """
    is_square = math.isinf(height) or _is_square(spec)
    tried = [(1.0, 1.0), (0.7, 0.7)]
    sizes = [svg_size(svg(_resized(spec, *factors))) for factors in tried]
    for _ in range(4):
        across, up = (
            _secant([one[side] for one in tried[-2:]], [one[side] for one in sizes[-2:]], target)
            for side, target in ((0, width), (1, height))
        )
        if is_square:
            across = up = min(across, up)
        if max(abs(across - tried[-1][0]), abs(up - tried[-1][1])) < _ENOUGH:
            break
        tried.append((across, up))
        sizes.append(svg_size(svg(_resized(spec, across, up))))
    fits = sizes[-1][0] <= width + 1 and sizes[-1][1] <= height + 1
    across, up = tried[-1]
    return (fits, across * up), _resized(spec, across, up)


def _secant(factors: list[float], sizes: list[float], target: float) -> float:
    """The factor at which a size reaches its target; without limit for a size that does not depend on it."""
    if factors[0] == factors[1]:
        return factors[1]
    if sizes[0] == sizes[1]:
        return factors[1] if sizes[1] > target else _MAX_FACTOR
    slope = (sizes[1] - sizes[0]) / (factors[1] - factors[0])
    return min(_MAX_FACTOR, max(_MIN_FACTOR, factors[1] + (target - sizes[1]) / slope))


_ENOUGH: Final = 0.002
_MIN_FACTOR: Final = 0.15
_MAX_FACTOR: Final = 10.0


def _panels(part: Spec, action: Callable[[Spec], Spec]) -> Spec:
    """The chart with its panels changed."""
    part = action(part) if _PANELS & part.keys() else dict(part)
    for name in ("concat", "hconcat", "vconcat"):
        if name in part:
            part[name] = [_panels(panel, action) for panel in part[name]]
    if "spec" in part:
        part["spec"] = _panels(part["spec"], action)
    return part


def _resized(spec: Spec, across: float, up: float) -> Spec:
    def resize(panel: Spec) -> Spec:
        return panel | {side: _times(panel[side], factor) for side, factor in _sides(panel, across, up)}

    return _panels(spec, resize)


def _sides(panel: Spec, across: float, up: float) -> list[tuple[str, float]]:
    return [(side, factor) for side, factor in (("width", across), ("height", up)) if side in panel]


def _times(length: Any, factor: float) -> Any:
    """A length, or the step of a discrete axis, times a factor."""
    return {"step": length["step"] * factor} if isinstance(length, dict) else length * factor


def _is_square(spec: Spec) -> bool:
    """Whether any panel is square."""
    found: list[bool] = []

    def note(panel: Spec) -> Spec:
        found.append(panel.get("width") == panel.get("height"))
        return panel

    _panels(spec, note)
    return any(found)
