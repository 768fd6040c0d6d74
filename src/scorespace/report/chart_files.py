"""Charts as files: PNG, SVG, PDF, HTML or Vega-Lite JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from scorespace.curves import Curve
from scorespace.errors import DataError
from scorespace.files import write_file
from scorespace.report import html
from scorespace.report.chart_theme import (
    UNIT,
    Spec,
    axis,
    coloured,
    dashed,
    field,
    layered,
    mark,
    panel_title,
    points,
    reference,
    scale,
)
from scorespace.report.curve_charts import HOVER
from scorespace.report.document import Document, Picture, Section

ENDINGS: Final = (".png", ".svg", ".pdf", ".html", ".json")
"""File name extensions that `save` writes."""


def save(chart: Any, path: str | Path, scale: float = 2.0) -> Path:
    """Write a chart as image, HTML or Vega-Lite spec, by the file name extension; a failure leaves no file.

    `scale` applies to .png without a style. Altair charts are accepted, too.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise DataError(f"{str(path)!r} has no supported extension.", hint=f"an ending of {', '.join(ENDINGS)}")
    return write_file(path, _encode(chart if isinstance(chart, dict) else chart.to_dict(), ending, scale))


def _encode(spec: Spec, ending: str, scale: float) -> bytes:
    content: str | bytes
    styled = spec.get("usermeta", {})
    if ending == ".json":
        content = json.dumps(spec, indent=1)
    elif ending == ".html":
        picture = Picture(lambda: spec, alt=spec.get("description", "Chart"))
        content = html.render(Document("", "", (Section("chart", "", (picture,)),)))
    elif ending == ".svg":
        content = svg(spec)
        if styled:  # one unit is a point, and not a pixel of 1/96 inch
            content = _SVG_SIZE.sub(r'width="\1pt" height="\2pt"', content, count=1)
    else:
        import vl_convert  # 90 MB, needed for images only

        convert = getattr(vl_convert, f"vegalite_to_{ending[1:]}")
        scale = styled.get("dots_per_inch", 72 * scale) / 72
        content = convert(_static(spec), **({"scale": scale} if ending == ".png" else {}))
    return content.encode(errors="replace") if isinstance(content, str) else content


def svg(spec: Spec) -> str:
    """The chart as SVG."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(_static(spec)))


_SVG_SIZE: Final = re.compile(r'width="([\d.]+)" height="([\d.]+)"')


def svg_size(picture: str) -> tuple[float, float]:
    """Width and height of a chart as SVG."""
    found = _SVG_SIZE.search(picture)
    assert found is not None, "an SVG without a size"
    return float(found[1]), float(found[2])


_INVALID_XML: Final = dict.fromkeys(
    [*range(9), 11, 12, *range(14, 32), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], "\N{REPLACEMENT CHARACTER}"
)


def _without_invalid_characters(part: Any) -> Any:
    """A part of a spec without characters that are invalid in SVG, which would abort the process."""
    if isinstance(part, str):
        return part.translate(_INVALID_XML)
    if isinstance(part, dict):
        return {_without_invalid_characters(key): _without_invalid_characters(value) for key, value in part.items()}
    return [_without_invalid_characters(value) for value in part] if isinstance(part, (list, tuple)) else part


def _static(spec: Spec) -> Spec:
    """The spec without interaction and without invalid characters."""
    spec = _without_invalid_characters(spec)
    visible_layers = [layer for layer in spec.get("layer", ()) if layer.get("name") != HOVER]
    static = {**spec, "params": [param for param in spec.get("params", ()) if "select" not in param]}
    return static | {"layer": visible_layers} if visible_layers else static


_MAX_POINTS: Final = 300


def curve_panel(curves: Mapping[str, Curve], title: str, size: int, name_field: str) -> Spec:
    """Curves in the unit square with the chance diagonal, unthemed; `name_field` is the field that names them."""
    first = next(iter(curves.values()))
    thinned = {name: curve.thinned(_MAX_POINTS) for name, curve in curves.items()}
    rows = [row for name, curve in thinned.items() for row in points(curve.x, curve.y, **{name_field: name})]
    encoding = {
        "x": field("x:Q", title=first.x_title, axis=axis(UNIT), scale=scale(UNIT)),
        "y": field("y:Q", title=first.y_title, axis=axis(UNIT), scale=scale(UNIT)),
        "color": coloured(name_field, curves),
        "strokeDash": dashed(name_field, curves),
        "order": "place:Q",
        "tooltip": [field(f"{name_field}:N"), field("x:Q", format=".3f"), field("y:Q", format=".3f")],
    }
    layers = [reference([{"x": 0, "y": 0}, {"x": 1, "y": 1}]), mark("line", rows, encoding, clip=True)]
    return layered(layers, size, size, title=panel_title(title))


def concatenate(charts: Sequence[Spec], columns: int = 2) -> Spec:
    """Complete charts side by side, each with its own scales and datasets."""
    tables: dict[str, list[dict[str, object]]] = {}
    panels = []
    for index, chart in enumerate(charts, start=1):
        names = {name: f"{index} {name}" for name in chart["datasets"]}
        tables |= {names[name]: rows for name, rows in chart["datasets"].items()}
        panels.append(renamed({k: v for k, v in chart.items() if k not in _TOP_LEVEL_KEYS}, names))
    shared = {key: charts[0][key] for key in ("$schema", "config")}
    description = " ".join(str(chart.get("description", "")) for chart in charts)
    independent = {"scale": {"x": "independent", "y": "independent", "color": "independent"}}
    return {
        **shared,
        "concat": panels,
        "columns": columns,
        "resolve": independent,
        "datasets": tables,
        "description": description,
    }


_TOP_LEVEL_KEYS = ("$schema", "config", "datasets", "background")


def renamed(part: Spec, names: dict[str, str]) -> Spec:
    """The chart, or a part of it, with renamed datasets."""
    part = dict(part)
    if part.get("data", {}).get("name") in names:
        part["data"] = {"name": names[part["data"]["name"]]}
    if "layer" in part:
        part["layer"] = [renamed(layer, names) for layer in part["layer"]]
    return part
