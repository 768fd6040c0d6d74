"""Charts as plain SVG, for pages whose scripts do not run: the part of Vega-Lite that our own charts speak.

Drawing them by Vega itself takes a tenth of a second each, and this a hundredth of that. What it does not understand it
leaves out: a still picture need not have what a pointer finds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final

from scorespace.frozen import dataclass
from scorespace.results import Row, grouped

Spec = dict[str, Any]

# The colours of the charts' axes and words; the style sheet of the page knows them.
INK, SOFT, FAINT, GRID = "#2b323b", "#5d6773", "#98a2ae", "#e3e7ec"
_LEFT: Final = 62
_RIGHT: Final = 90
_BELOW: Final = 46
_LINE: Final = 20
_CLAUSE: Final = re.compile(r"datum\.(\w+)(?: (===?|!=) (?:'([^']*)'|(model)))?")
_LETTER: Final = 6.6  # pixels


def svg(spec: Spec) -> str:
    """The chart as an SVG element; text from data is escaped."""
    params = {one["name"]: one.get("value") for one in spec.get("params", ())}
    chart = _Chart(spec.get("datasets", {}), params)
    if "facet" in spec:
        rows, by = chart.rows(spec, []), spec["facet"]["field"]
        parts = [
            chart.panel(spec["spec"] | {"title": {"text": str(name)}}, [row for row in rows if row[by] == name])
            for name in dict.fromkeys(row[by] for row in rows)
        ]
    else:
        panels = spec.get("concat") or spec.get("vconcat") or spec.get("hconcat") or [spec]
        parts = [chart.panel(panel, []) for panel in panels]
    width, height, drawn = max(w for w, _, _ in parts), 0.0, []
    for _, tall, content in parts:
        drawn.append(f'<g transform="translate(0 {height:g})">{content}</g>')
        height += tall
    label = escape(str(spec.get("description", "Chart")))
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" {size}>{"".join(drawn)}</svg>'


@dataclass(frozen=True)
class _Scale:
    """From values to pixels: numbers along a line or its logarithm, names in steps."""

    ends: tuple[float, float]
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    names: tuple[str, ...] = ()

    def __call__(self, value: Any) -> float | None:
        first, last = self.ends
        if self.names:
            return first + (last - first) * (self.names.index(value) + 0.5) / len(self.names)
        if value is None:
            return None
        if self.log:
            share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / ((self.high - self.low) or 1.0)
        return first + (last - first) * min(max(share, -0.5), 1.5)

    @property
    def step(self) -> float:
        return abs(self.ends[1] - self.ends[0]) / max(1, len(self.names))

    def ticks(self) -> list[float]:
        if self.log:
            return [10.0**k for k in range(round(math.log10(self.low)), round(math.log10(self.high)) + 1)]
        low, high = sorted((self.low, self.high))  # ranks run from the last to the first
        rough = (high - low) / 5 or 1.0
        power = 10.0 ** math.floor(math.log10(rough))
        step = power * next(one for one in (1, 2, 5, 10) if one * power >= rough * 0.999)
        first = math.ceil(low / step - 1e-9)
        return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class _Chart:
    """The tables and parameters that all layers of a chart share."""

    tables: Mapping[str, list[Row]]
    params: Mapping[str, Any]

    def rows(self, part: Spec, given: list[Row]) -> list[Row]:
        data = part.get("data")
        found = given if data is None else self.tables.get(data.get("name", ""), data.get("values", []))
        for one in part.get("transform", ()):
            found = [row for row in found if self.holds(one.get("filter", ""), row)]
        return found

    def holds(self, test: Any, row: Row) -> bool:
        """Whether a filter takes a row; only the forms that our charts use are known."""
        if isinstance(test, dict):
            return not self.holds(test["not"], row) if "not" in test else row.get(test["field"]) in test["oneOf"]
        for clause in str(test).split(" && "):
            found = _CLAUSE.fullmatch(clause.strip())
            if found is None:
                continue
            name, sign, text, param = found.groups()
            wanted = self.params.get("model") if param else text
            if (row.get(name) == wanted) == (sign == "!=") if sign else not row.get(name):
                return False
        return True

    def panel(self, spec: Spec, given: list[Row]) -> tuple[float, float, str]:
        """One plot with its axes, title and legend: its width, its height, and the drawing."""
        rows = self.rows(spec, given)
        layers = [(one, self.rows(one, rows)) for one in spec.get("layer", [spec]) if not _hidden(one)]
        names = _names(layers, "y")
        wide = float(spec.get("width", 420))
        given_height = spec.get("height", 320)
        tall = given_height["step"] * len(names) if isinstance(given_height, dict) else float(given_height)
        across = self.scale(layers, "x", (0.0, wide))
        up = self.scale(layers, "y", (0.0, tall) if names else (tall, 0.0))
        broad = 0.0 if names else max(0.0, _LETTER * max((len(_label(one)) for one in up.ticks()), default=0) - 32)
        left = _LEFT + broad
        left += min(150.0, _LETTER * max(len(part) for n in names for part in n.split("\n"))) if names else 0
        legend, above = self.legend(layers)
        title = spec.get("title", {}).get("text", "")
        heads = [*([_text(0, -above - 12, str(title), color=INK, weight=600)] if title else [])]
        above += _LINE if title else 0
        above += 14 + (_LINE if names and _names(layers, "x") else 0)
        frame = _axis(across, tall, layers, "x") + _axis(up, wide, layers, "y", broad)
        marks = "".join(self.marks(layer, its, across, up, (wide, tall)) for layer, its in layers)
        content = f'<g transform="translate({left:g} {above:g})">{"".join(heads)}{legend}{frame}{marks}</g>'
        return left + wide + _RIGHT, above + tall + _BELOW, content

    def scale(self, layers: Sequence[tuple[Spec, list[Row]]], side: str, ends: tuple[float, float]) -> _Scale:
        names = _names(layers, side)
        if names:
            return _Scale(ends, names=names)
        stated = [one["encoding"][side].get("scale") or {} for one, _ in layers if side in one.get("encoding", {})]
        first: Spec = next((one for one in stated if one), {})
        if "domain" in first:
            low, high = first["domain"]
            return _Scale(ends, float(low), float(high), log=first.get("type") == "log")
        fields = [
            (one["encoding"][channel]["field"], rows)
            for one, rows in layers
            for channel in (side, f"{side}2")
            if "field" in one.get("encoding", {}).get(channel, {})
        ]
        values = [row[name] for name, rows in fields for row in rows if isinstance(row.get(name), (int, float))]
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        room = 0.04 * (high - low)
        zero = first.get("zero", side == "y")
        return _Scale(ends, min(low, 0.0) if zero else low - room, high + room)

    def legend(self, layers: Sequence[tuple[Spec, list[Row]]]) -> tuple[str, float]:
        """What the colours mean, above the plot, and how high that is."""
        found = next((c for one, _ in layers if (c := one.get("encoding", {}).get("color", {})).get("legend")), None)
        if found is None or len(found["scale"]["domain"]) < 2:
            return "", 0.0
        areas = self.params.get("areas") or {}
        dashes = _dashes(layers)
        drawn, x, line = [], 0.0, 0
        for name, colour in zip(found["scale"]["domain"], found["scale"]["range"], strict=False):
            label = f"{name}  {areas[name]}" if name in areas else str(name)
            if x and x + 34 + _LETTER * len(label) > 480:
                x, line = 0.0, line + 1
            y = -16.0 - _LINE * line
            dash = " ".join(map(str, dashes.get(name, [])))
            drawn.append(
                f'<path d="M{x:g} {y - 4:g}h24" stroke="{colour}" stroke-width="2.4" stroke-dasharray="{dash}"/>'
            )
            drawn.append(_text(x + 30, y, label, color=INK))
            x += 54 + _LETTER * len(label)
        return "".join(drawn), _LINE * (line + 1.0)

    def marks(self, layer: Spec, rows: list[Row], across: _Scale, up: _Scale, size: tuple[float, float]) -> str:
        look, encoding = layer.get("mark", {}), layer.get("encoding", {})
        look = {"type": look} if isinstance(look, str) else look
        draw = _MARKS.get(look.get("type", ""))
        if draw is None or not rows:
            return ""
        spot = _Spot(encoding, across, up, size)
        groups: dict[Any, list[Row]] = {}
        if look["type"] in ("line", "area"):
            by = encoding.get("detail", encoding.get("color", {})).get("field", "")
            for row in rows:
                groups.setdefault(row.get(by), []).append(row)
        else:
            groups = {place: [row] for place, row in enumerate(rows)}
        parts = []
        for each in groups.values():
            ordered = sorted(each, key=lambda row: row.get("place") or 0) if "order" in encoding else each
            paint = _paint(look, encoding, ordered[0], self.opacity(look, encoding, ordered[0]))
            parts.append(draw(spot, ordered, look, paint))
        drawn = "".join(filter(None, parts))
        if not look.get("clip"):
            return drawn
        return f'<svg width="{size[0]:g}" height="{size[1]:g}" overflow="hidden">{drawn}</svg>'

    def opacity(self, look: Spec, encoding: Spec, row: Row) -> float:
        given = encoding.get("opacity", {})
        if "condition" in given:
            return float(
                given["condition"]["value"] if self.holds(given["condition"].get("test", ""), row) else given["value"]
            )
        if "scale" in given:
            return float(dict(zip(given["scale"]["domain"], given["scale"]["range"], strict=True))[row[given["field"]]])
        return float(look.get("opacity", 1))


@dataclass(frozen=True)
class _Spot:
    """Where the channels of a row lie, in pixels."""

    encoding: Spec
    across: _Scale
    up: _Scale
    size: tuple[float, float]

    def at(self, channel: str, row: Row) -> float | None:
        given = self.encoding.get(channel)
        if given is None:
            return None
        whole = self.size["y" in channel]
        if "value" in given:
            return {"width": self.size[0], "height": self.size[1]}.get(str(given["value"])) or (
                0.0 if isinstance(given["value"], str) else float(given["value"])
            )
        scale = self.up if channel.startswith("y") else self.across
        if "datum" in given:
            return scale(given["datum"])
        if channel in ("x", "y") and "field" not in given:
            return whole
        return scale(row.get(given["field"]))


def _paint(look: Spec, encoding: Spec, row: Row, opacity: float) -> tuple[str, str, float]:
    """Colour, dashes and opacity of a row."""
    colour, given = look.get("color", SOFT), encoding.get("color") or encoding.get("fill") or {}
    if "field" in given:
        own = row.get(given["field"])
        scale = given.get("scale")
        colour = own if scale is None else dict(zip(scale["domain"], scale["range"], strict=False)).get(own, colour)
    dash = look.get("strokeDash") or []
    given = encoding.get("strokeDash", {})
    if "scale" in given:
        dash = dict(zip(given["scale"]["domain"], given["scale"]["range"], strict=False)).get(
            row.get(given["field"]), []
        )
    return escape(str(colour)), " ".join(f"{one:g}" for one in dash), opacity


def _draw_line(spot: _Spot, rows: Sequence[Row], look: Spec, paint: tuple[str, str, float]) -> str:
    points = _points(spot, rows, "y")
    if look.get("interpolate") == "step-after":
        points = [spot for a, b in zip(points, [*points[1:], points[-1]], strict=True) for spot in (a, (b[0], a[1]))]
    if points and look.get("filled"):
        return f'<path d="{_path(points)}Z" fill="{paint[0]}" fill-opacity="{paint[2]:g}"/>'
    width = look.get("strokeWidth", 2.2)
    return f'<path d="{_path(points)}" fill="none" {_stroke(paint, width)}/>' if points else ""


def _draw_area(spot: _Spot, rows: Sequence[Row], look: Spec, paint: tuple[str, str, float]) -> str:
    outline = [*_points(spot, rows, "y"), *reversed(_points(spot, rows, "y2"))]
    return f'<path d="{_path(outline)}Z" fill="{paint[0]}" fill-opacity="{paint[2]:g}"/>' if outline else ""


def _draw_rule(spot: _Spot, rows: Sequence[Row], look: Spec, paint: tuple[str, str, float]) -> str:
    (row,) = rows
    x, y = spot.at("x", row), spot.at("y", row)
    x2, y2 = spot.at("x2", row), spot.at("y2", row)
    if x is None and y is None:
        return ""
    ends = [x if x is not None else 0.0, y if y is not None else 0.0]
    ends += [x2 if x2 is not None else spot.size[0] if x is None else x]
    ends += [y2 if y2 is not None else spot.size[1] if y is None else y or 0.0]
    line = "M{:.1f} {:.1f}L{:.1f} {:.1f}".format(*ends)
    return f'<path d="{line}" {_stroke(paint, look.get("strokeWidth", 1))}/>'


def _draw_rect(spot: _Spot, rows: Sequence[Row], look: Spec, paint: tuple[str, str, float]) -> str:
    (row,) = rows
    sides = []
    for channel, scale, whole in (("x", spot.across, spot.size[0]), ("y", spot.up, spot.size[1])):
        first, second = spot.at(channel, row), spot.at(f"{channel}2", row)
        if first is None:
            first, second = 0.0, whole
        elif scale.names:
            first, second = first - scale.step / 2 + 0.5, first + scale.step / 2 - 0.5
        elif second is None:
            second = first - look["height"] if "height" in look else scale(0.0)
        if second is None:
            return ""
        sides.append((min(first, second), abs(second - first)))
    (x, w), (y, h) = sides
    size = f'x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}"'
    faint = f' fill-opacity="{paint[2]:g}"' if paint[2] < 1 else ""
    return f'<rect {size} fill="{paint[0]}"{faint}/>' if w and h else ""


def _draw_point(spot: _Spot, rows: Sequence[Row], look: Spec, paint: tuple[str, str, float]) -> str:
    (row,) = rows
    x, y = spot.at("x", row), spot.at("y", row)
    if x is None or y is None:
        return ""
    size = math.sqrt(look.get("size", 40) / math.pi)
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}" fill="{paint[0]}" fill-opacity="{paint[2]:g}"/>'


def _draw_text(spot: _Spot, rows: Sequence[Row], look: Spec, paint: tuple[str, str, float]) -> str:
    (row,) = rows
    x, y = spot.at("x", row), spot.at("y", row)
    x, y = spot.size[0] / 2 if x is None else x, 0.0 if y is None else y
    words = str(row.get(spot.encoding["text"]["field"]) or "")
    down = {"top": 11, "bottom": -2}.get(look.get("baseline", "middle"), 4)
    anchor = {"left": "start", "right": "end"}.get(look.get("align", "center"), "middle")
    place = x + look.get("dx", 0), y + look.get("dy", 0) + down
    return _text(*place, words, color=paint[0], anchor=anchor, size=look.get("fontSize", 12))


_MARKS: Final[Mapping[str, Callable[..., str]]] = {
    "line": _draw_line,
    "area": _draw_area,
    "rule": _draw_rule,
    "rect": _draw_rect,
    "bar": _draw_rect,
    "point": _draw_point,
    "text": _draw_text,
}


def _points(spot: _Spot, rows: Sequence[Row], channel: str) -> list[tuple[float, float]]:
    found = ((spot.at("x", row), spot.at(channel, row)) for row in rows)
    return [(x, y) for x, y in found if x is not None and y is not None]


def _path(points: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _stroke(paint: tuple[str, str, float], width: float) -> str:
    colour, dash, opacity = paint
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'stroke="{colour}" stroke-width="{width:g}" stroke-opacity="{opacity:g}"{dashes}'


def _text(
    x: float, y: float, words: str, *, color: str, anchor: str = "start", size: float = 12, weight: int = 400
) -> str:
    look = f'fill="{color}" font-size="{size:g}" font-weight="{weight}" text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{escape(words)}</text>' if words else ""


def _hidden(layer: Spec) -> bool:
    """Whether only a pointer can see it."""
    return "param" in layer.get("encoding", {}).get("opacity", {}).get("condition", {})


def _names(layers: Sequence[tuple[Spec, list[Row]]], side: str) -> tuple[str, ...]:
    """The names along an axis of names, in the order stated or in that of the rows."""
    for one, rows in layers:
        given = one.get("encoding", {}).get(side, {})
        if given.get("type") in ("nominal", "ordinal"):
            own = dict.fromkeys(str(row[given["field"]]) for row in rows)
            stated = given.get("sort")
            return tuple(stated) if isinstance(stated, list) else tuple(own)
    return ()


def _dashes(layers: Sequence[tuple[Spec, list[Row]]]) -> dict[str, list[float]]:
    for one, _ in layers:
        scale = one.get("encoding", {}).get("strokeDash", {}).get("scale")
        if scale:
            return dict(zip(scale["domain"], scale["range"], strict=False))
    return {}


def _label(place: float) -> str:
    """A number at a tick, never in powers of ten."""
    return grouped(place) if 1000 <= abs(place) < 1e15 else f"{place:.4g}"


def _axis(scale: _Scale, across: float, layers: Sequence[tuple[Spec, list[Row]]], side: str, broad: float = 0.0) -> str:
    """Ticks with their labels, and the title; `across` is how far the other axis reaches, `broad` for wide labels."""
    given = next((e for one, _ in layers if (e := one.get("encoding", {}).get(side, {})).get("axis", 0) is None), None)
    if given is not None:
        return ""
    stated: Spec = next((e for one, _ in layers if (e := one.get("encoding", {}).get(side, {})).get("title")), {})
    signed = "abs" in str(stated.get("axis", {}).get("labelExpr", ""))
    level, parts = side == "x", []
    for place in scale.names or scale.ticks():
        spot = scale(place) or 0.0
        label = place if isinstance(place, str) else f"{100 * abs(place):.3g} %" if signed else _label(place)
        if not scale.names:
            line = f"M{spot:.1f} 0V{across:g}" if level else f"M0 {spot:.1f}H{across:g}"
            parts.append(f'<path d="{line}" stroke="{GRID}"/>')
        lines = label.split("\n")
        if level:
            parts.append(_text(spot, -8 if scale.names else across + 16, lines[0], color=SOFT, anchor="middle"))
        else:
            parts += [
                _text(-8, spot + 4 + 14 * (k - (len(lines) - 1) / 2), line, color=SOFT, anchor="end")
                for k, line in enumerate(lines)
            ]
    title = str(stated.get("title") or "")
    if level:
        parts.append(f'<path d="M0 {across:g}H{scale.ends[1]:g}" stroke="{FAINT}"/>')
        parts.append(_text(scale.ends[1] / 2, across + 36, title, color=INK, anchor="middle"))
    elif title and not scale.names:
        words, middle = _text(0, 0, title, color=INK, anchor="middle"), sum(scale.ends) / 2
        parts.append(f'<g transform="translate({-46 - broad:g} {middle:g}) rotate(-90)">{words}</g>')
    return "".join(parts)
