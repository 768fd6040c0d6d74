"""What moves on the charts of a page: marks at the operating point, drawn from one row of numbers called `here`.

The page replaces the row, and sets which model is looked at; curves stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from scorespace.results import Row
from scorespace.views.charts.marks import Spec, mark
from scorespace.views.charts.several import renamed
from scorespace.views.charts.theme import INK, SOFT, short

HERE: Final = "here"
SWEEP: Final = "sweep"
MODEL: Final = "model"
_ASIDE: Final = 0.5  # opacity of the models that are not looked at


def _dot(x: str, y: str, **more: Any) -> list[Spec]:
    place, look = {"x": f"{x}:Q", "y": f"{y}:Q"}, {"filled": True, "size": 150, "stroke": "white", "strokeWidth": 1.5}
    return [mark("point", None, place, color=INK, opacity=1, **look, **more)]


def _rule(x: str) -> list[Spec]:
    return [mark("rule", None, {"x": f"{x}:Q"}, color=INK, strokeWidth=1.5, clip=True)]


def _line() -> list[Spec]:
    ends = {"x": "left:Q", "y": "at_left:Q", "x2": "right", "y2": "at_right"}
    return [mark("rule", None, ends, color=SOFT, strokeWidth=1.5, strokeDash=[6, 4], clip=True)]


MARKS: Final[Mapping[str, list[Spec]]] = {
    "roc": [*_line(), *_dot("fpr", "tpr")],
    "pr": _dot("tpr", "precision"),
    "gain": _dot("flagged", "tpr"),
    "cost": [*_rule("condition"), *_dot("condition", "loss")],
    "net_benefit": [*_rule("threshold"), *_dot("threshold", "benefit", clip=True)],
    "calibration": _rule("threshold"),
    "scores": _rule("threshold"),
    "threshold": _rule("threshold"),
    "rejection": _dot("handed", "right"),
    "pair": [],
    "rroc": [*_line(), *_dot("over", "under")],
    "errors": _rule("error"),
}
"""The marks of each kind of chart, by the names in the row."""

SWEPT: Final = ("threshold", "pair")
"""The kinds of which all lines are of what is looked at: the page replaces the rows of their table `sweep`."""


def following(spec: Spec, kind: str, here: Row) -> Spec:
    """The chart with marks at the operating point, and with the model looked at before the others.

    What is swept is of that model alone.
    """
    layers = list(map(_aside, spec["layer"]))
    if kind in SWEPT:
        old, *_ = spec["datasets"]
        tables = {SWEEP if name == old else name: rows for name, rows in spec["datasets"].items()}
        spec = renamed(spec, {old: SWEEP}) | {"datasets": tables}
        layers = spec["layer"]
    # On a log axis lines of equal cost are bent, and not drawn.
    drawn = [one for one in MARKS[kind] if not (_log(spec) and "x2" in one["encoding"])]
    marks = [{"data": {"name": HERE}, **layer} for layer in drawn]
    row = {name: short(value) if isinstance(value, float) else value for name, value in here.items()}
    return {
        **spec,
        "params": [
            *(param for param in spec.get("params", ()) if param["name"] != MODEL),
            {"name": MODEL, "value": here[MODEL]},
        ],
        "layer": [*layers, *marks],
        "datasets": {**spec["datasets"], HERE: [row]},
    }


def _log(spec: Spec) -> bool:
    scales = (layer.get("encoding", {}).get("x", {}).get("scale") for layer in spec["layer"])
    return any(one and one.get("type") == "log" for one in scales)


def _aside(layer: Spec) -> Spec:
    """Lines of the models that are not looked at step back, and their bands are not shown."""
    encoding: dict[str, Any] = layer.get("encoding", {})
    named = encoding.get("color", {}).get("field") == "name"
    if not named or layer["mark"]["type"] not in ("line", "area") or "opacity" in encoding:
        return layer
    full = layer["mark"].get("opacity", 1)
    aside = full * _ASIDE if layer["mark"]["type"] == "line" else 0
    seen = {"condition": {"test": f"datum.name === {MODEL}", "value": full}, "value": aside}
    return {**layer, "encoding": {**encoding, "opacity": seen}}
