"""Charts linked to the operating point of the interactive panel, and the panel of thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from scorespace.report.chart_files import renamed
from scorespace.report.chart_theme import (
    INK,
    OTHER,
    SELECTED,
    SOFT,
    UNIT,
    Spec,
    axis,
    datum,
    field,
    mark,
    scale,
)
from scorespace.report.curve_charts import LOG
from scorespace.report.document import Picture
from scorespace.report.protocol import EvaluationView
from scorespace.results import Row

HERE: Final = "here"
SWEEP: Final = "sweep"
MODEL: Final = "model"
MAX_NAMES: Final = 8
"""Models up to which each line has its name beside it."""

_MAX_INITIAL: Final = 200  # rows of charts of the selected model until the script replaces them
_IS_SELECTED: Final = f"datum.name === {MODEL}"
_NAME: Final = field("name:N")


def _dot(x: str, y: str, **settings: Any) -> list[Spec]:
    encoding, style = (
        {"x": f"{x}:Q", "y": f"{y}:Q"},
        {"filled": True, "size": 150, "stroke": "white", "strokeWidth": 1.5},
    )
    return [mark("point", None, encoding, color=INK, opacity=1, **style, **settings)]


def _rule(x: str) -> list[Spec]:
    return [mark("rule", None, {"x": f"{x}:Q"}, color=INK, strokeWidth=1.5, clip=True)]


def _line() -> list[Spec]:
    encoding = {"x": "left:Q", "y": "at_left:Q", "x2": "right", "y2": "at_right"}
    return [mark("rule", None, encoding, color=SOFT, strokeWidth=1.5, strokeDash=[6, 4], clip=True)]


MARKS: Final[Mapping[str, list[Spec]]] = {
    "roc": [*_line(), *_dot("fpr", "tpr")],
    "pr": _dot("tpr", "precision"),
    "gain": _dot("flagged", "tpr"),
    "cost": [*_rule("condition"), *_dot("condition", "loss")],
    "net_benefit": [*_rule("threshold"), *_dot("threshold", "benefit", clip=True)],
    "calibration": _rule("threshold"),
    "scores": _rule("threshold"),
    "threshold": _rule("threshold"),
    "price": [*_rule("threshold"), *_dot("threshold", "price")],
    "rejection": _dot("handed", "right"),
    "pair": [],
    "rroc": [*_line(), *_dot("over", "under")],
    "errors": _rule("error"),
}
"""Marks of the operating point by kind of chart; the encodings name fields of its row."""

SWEPT: Final = {"threshold": SWEEP, "pair": SWEEP, "price": "prices"}
"""Charts of the selected model only, with the dataset whose rows the script replaces."""


def link_to_panel(spec: Spec, kind: str, marker_row: Row) -> Spec:
    """Add marks at the operating point to a chart, and fade the models that are not selected."""
    layers = spec["layer"] if kind in SWEPT else _highlighted(spec)
    is_log = _has_log_axis(spec)
    if kind in SWEPT:
        dataset, *_ = spec["datasets"]
        datasets = {SWEPT[kind] if name == dataset else name: rows for name, rows in spec["datasets"].items()}
        swept = datasets[SWEPT[kind]]
        step = 1 + len(swept) // _MAX_INITIAL  # the script draws all of them; the last ones may be of other layers
        datasets[SWEPT[kind]] = [*swept[:-4:step], *swept[-4:]]
        spec = renamed(spec, {dataset: SWEPT[kind]}) | {"datasets": datasets}
        layers = spec["layer"]
    # On a log axis iso-cost lines are curved and therefore left out.
    marks = [{"data": {"name": HERE}, **layer} for layer in MARKS[kind]]
    lines = [layer for layer in marks if "x2" in layer["encoding"]] if is_log else []
    marks = [layer for layer in marks if layer not in lines]
    row = {name: datum(value) if isinstance(value, float) else value for name, value in marker_row.items()}
    return {
        **spec,
        "params": [
            *(param for param in spec.get("params", ()) if param["name"] != MODEL),
            {"name": MODEL, "value": marker_row[MODEL]},
        ],
        "layer": [*layers, *marks],
        "datasets": {**spec["datasets"], HERE: [row]},
        **({"usermeta": _linear_axis(spec, lines)} if is_log else {}),
    }


def _linear_axis(spec: Spec, layers: list[Spec]) -> Spec:
    """What the script needs to draw a chart with a log x axis on a linear one."""
    titles = [one["encoding"]["x"].get("title") for one in spec["layer"] if "x" in one.get("encoding", {})]
    title = next(filter(None, titles), "").removesuffix(f" ({LOG})")
    return {"linear": {"x": {"title": title, "axis": axis(UNIT), "scale": scale(UNIT)}, "layers": layers}}


def _has_log_axis(spec: Spec) -> bool:
    scales = (layer.get("encoding", {}).get("x", {}).get("scale") for layer in spec["layer"])
    return any(scale and scale.get("type") == "log" for scale in scales)


def _highlighted(spec: Spec) -> list[Spec]:
    """The layers with the selected model in colour and the others grey, each with its name beside its line.

    Bands of other models are hidden. The line of the selected model is drawn once more, above the others.
    """
    layers: list[Spec] = []
    names: list[str] = []
    above: list[Spec] = []
    for layer in spec["layer"]:
        encoding: dict[str, Any] = layer.get("encoding", {})
        colour = encoding.get("color", {})
        if colour.get("field") != "name":
            layers.append(layer)
            continue
        names = names or list(colour["scale"]["domain"])
        kind, own = layer["mark"]["type"], dict(encoding)
        own["color"] = {"condition": {"test": _IS_SELECTED, "value": SELECTED}, "value": OTHER}
        if kind == "area":
            own["detail"] = _NAME
        if kind == "area" and "opacity" not in encoding:
            shown = layer["mark"].get("opacity", 1)
            own["opacity"] = {"condition": {"test": _IS_SELECTED, "value": shown}, "value": 0}
        is_curve = kind == "line" and not layer["mark"].get("filled") and "detail" not in encoding
        if is_curve:
            own = {channel: value for channel, value in own.items() if channel != "strokeDash"} | {"detail": _NAME}
            copy = {channel: value for channel, value in own.items() if channel != "color"}
            selected = {**layer, "mark": {**layer["mark"], "color": SELECTED, "strokeWidth": 3}, "encoding": copy}
            above.append(selected | {"transform": [{"filter": _IS_SELECTED}]})
            layer = {**layer, "mark": {**layer["mark"], "strokeWidth": 1.5}}
            above += _names_beside(layer, spec["datasets"], names)
        layers.append({**layer, "encoding": own})
    return [*layers, *above]


def _at_length(line: Sequence[Row], share: float) -> Row:
    """The point of a line at a share of its length."""
    x, y = (np.array([row[side] for row in line]) for side in ("x", "y"))
    steps = np.abs(np.diff(x)) / (np.ptp(x) or 1.0) + np.abs(np.diff(y)) / (np.ptp(y) or 1.0)
    length = np.append(0.0, np.cumsum(steps))
    return line[int(np.searchsorted(length, share * length[-1]))]


def _names_beside(layer: Spec, datasets: Mapping[str, list[Row]], names: Sequence[str]) -> list[Spec]:
    """The name of each model at a point of its line, at another height for each model."""
    if not 1 < len(names) <= MAX_NAMES:
        return []
    lines: dict[str, list[Row]] = {name: [] for name in names}
    for row in datasets[layer["data"]["name"]]:
        if row["name"] in lines and row["x"] is not None and row["y"] is not None:
            lines[row["name"]].append(row)
    rows = []
    for place, line in enumerate(lines.values()):
        if line:
            row = _at_length(line, 0.25 + 0.5 * place / (len(names) - 1))
            rows.append({"name": row["name"], "x": row["x"], "y": row["y"]})
    text = {"x": field("x:Q"), "y": field("y:Q"), "text": field("name:N")}
    colour = {"condition": {"test": _IS_SELECTED, "value": SELECTED}, "value": SOFT}
    style = {"align": "left", "baseline": "top", "dx": 6, "dy": 4, "clip": True, "fontWeight": 600, "aria": False}
    return [{"name": "beside", **mark("text", rows, {**text, "color": colour}, **style)}]


def linked(evaluation: EvaluationView, kind: str, draw: Callable[[], Spec]) -> Callable[[], Spec]:
    """A drawing function that marks the operating point, if there is one."""

    def draw_with_marks() -> Spec:
        panel = evaluation.operating
        return draw() if panel is None else link_to_panel(draw(), kind, panel.marker_row())

    return draw_with_marks


def curves_picture(
    evaluation: EvaluationView,
    kind: str,
    alt: str,
    caption: str = "",
    *,
    band: bool = False,
    drag: bool = False,
    tab: str = "",
    models: Sequence[str] = (),
    axes: str = "linear",
) -> Picture:
    """A linked chart of the curves of a kind, of all or the named models."""
    draw = linked(evaluation, kind, lambda: evaluation.drawing(kind, band=band, models=models, axes=axes))
    return Picture(draw, alt, caption, drag=drag, tab=tab, key=kind)
