"""Curves of models, and measures against the threshold."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from scorespace.curves import Curve, RocCurve, sweep
from scorespace.curves.curve import CURVES, Frame
from scorespace.errors import DataError
from scorespace.measures import Measure
from scorespace.resampling.band import Band
from scorespace.results import Row
from scorespace.tables import ScoreTable
from scorespace.tables.threshold import rounded_among, threshold_text
from scorespace.views.charts.marks import Spec, field, layered, mark
from scorespace.views.charts.theme import (
    INK,
    UNIT,
    axis,
    coloured,
    dashed,
    points,
    reference,
    scale,
    short,
    shortened,
    themed,
    unit_or_less,
    unit_or_none,
)

POINTS: Final = 400
"""Most points drawn per curve."""

_OF_MANY: Final = 900  # points of more than three curves together
_BENDS: Final = 16  # points between two others for a power of ten on a log axis
_FEWEST: Final = 60  # of one of them

Parts = Mapping[str, tuple[str, str]]
"""The model of each curve, and what it shows, where there are several of both."""

HOVER: Final = "hover"
"""Name of the layer that only a pointer can see."""

_NEAREST: Final = {
    "name": "nearest",
    "select": {"type": "point", "on": "pointerover", "nearest": True, "clear": "pointerout"},
    "views": [HOVER],
}


def curve_chart(
    curves: Mapping[str, Curve], *, bands: Mapping[str, Band] | None = None, below: Sequence[Spec] = (), **more: Any
) -> Spec:
    """One line per model, with the line of chance and, where given, the bands around the lines and further layers."""
    if not curves:
        raise DataError("there is no curve to draw.", hint="at least one model with cases of both classes")
    return themed(curve_layers(curves, below=[*below, *band_layers(curves, bands or {})], **more))


def curve_layers(
    curves: Mapping[str, Curve],
    *,
    what: str = "Model",
    baseline: float | None = None,
    below: Sequence[Spec] = (),
    above: Sequence[Spec] = (),
    of: Mapping[str, str] | None = None,
    parts: Parts | None = None,
    log_from: float | None = None,
) -> Spec:
    """The unthemed chart of curves, with further layers drawn below and above; `what` a curve is the curve of.

    `baseline` is the height that chance reaches in PR space. `of` names the model of each curve that belongs beside
    another, so that both have one colour. `parts` names the model of each curve and what it shows: then the model has
    the dashes, and what is shown the colour. From `log_from` on, x is drawn on a log scale: false alarms are many where
    positives are rare.
    """
    first = next(iter(curves.values()))
    frame = _frame(first.kind)
    y_title = first.y_title
    if len({curve.y_title for curve in curves.values() if curve.kind == first.kind}) > 1:  # several measures
        y_title = CURVES.find(first.kind).y
    if baseline is not None and math.isfinite(baseline):
        frame = replace(frame, chance=((0.0, baseline), (1.0, baseline)))
    if first.chance:
        frame = replace(frame, chance=first.chance)
    lines = _lines(curves, frame, first.x_title, y_title, what, of, log_from, parts)
    title = f"{y_title} against {first.x_title.lower()}: {', '.join(curves)}."
    width, height = (420, 420) if frame.square else (560, 320)
    layers = [*_chance(frame, log_from), *below, *lines, *above]
    params = [_NEAREST, *_areas(curves)]
    return layered(layers, width, height, description=title, params=params)


def _areas(curves: Mapping[str, Curve]) -> list[Spec]:
    """The area of each curve for the legend, as values that no expression reads as more than text."""
    told = {name: curve for name, curve in curves.items() if (kind := CURVES.nouns.get(curve.kind)) and kind.area}
    areas = {name: curve.area_text for name, curve in told.items()}
    return [{"name": "areas", "value": {name: area for name, area in areas.items() if area != "–"}}]


def _frame(kind: str) -> Frame:
    """How a kind of curve is framed, by its declaration; a curve that is of no declared kind, by its points."""
    declared = CURVES.nouns.get(kind)
    return Frame() if declared is None else declared.frame


def threshold_chart(table: ScoreTable, measures: Sequence[Measure], span: tuple[float, float] | None = None) -> Spec:
    """Several measures of decisions against the threshold; `span` of all scores."""
    if not measures:
        raise DataError("there is no measure to draw.", hint="at least one measure")
    shares = all(measure.range[0] >= 0 and measure.range[1] <= 1 for measure in measures)
    frame = replace(_frame("threshold"), x_ends=span or unit_or_less(table.score), y_ends=UNIT if shares else None)
    curves = {measure.title: sweep(table, measure) for measure in measures}
    layers = _lines(curves, frame, "Threshold", measures[0].title if len(measures) == 1 else "Value", "Measure")
    title = f"{', '.join(curves)} against the threshold."
    return themed(layered(layers, 560, 320, description=title, params=[_NEAREST]))


def named_rule(at: float, words: str, *, left: bool = False) -> list[Spec]:
    """A rule from bottom to top, and what it means above it, where no curve runs."""
    rows = [{"x": short(at), "label": words}]
    name = {"x": "x:Q", "text": "label:N", "y": {"value": -4}}
    return [
        mark("rule", rows, {"x": "x:Q"}, color=INK, strokeWidth=1.5),
        mark("text", rows, name, align="right" if left else "center", baseline="bottom", color=INK),
    ]


def _lines(
    curves: Mapping[str, Curve],
    frame: Frame,
    x_title: str,
    y_title: str,
    what: str,
    of: Mapping[str, str] | None = None,
    log_from: float | None = None,
    parts: Parts | None = None,
) -> list[Spec]:
    """The curves as lines, and under the pointer the nearest point with its numbers."""
    y_ends = frame.y_ends
    if frame.dip is not None:
        top = max((float(curve.y[np.isfinite(curve.y)].max(initial=0.0)) for curve in curves.values()), default=0.0)
        y_ends = (-frame.dip * (top or 1.0), 1.05 * (top or 1.0))
        # What falls without end would take all points from where readers look, and no picture can hold it.
        curves = {name: replace(curve, y=np.maximum(curve.y, 2 * y_ends[0])) for name, curve in curves.items()}
    most = points_of(len(curves))
    rows = [row for name, curve in curves.items() for row in _points(name, curve, most, log_from)]
    x_ends = frame.x_ends or unit_or_none(np.array([row["x"] for row in rows]))
    across = {"axis": axis(x_ends), "scale": scale(x_ends)}
    if log_from is not None:
        ends = {"type": "log", "domain": [log_from, 1], "clamp": True, "nice": False}
        across = {
            "axis": {"format": "~g", "tickCount": 5, "labelOverlap": "greedy", "labelSeparation": 8},
            "scale": ends,
        }
    place = {
        "x": field("x:Q", title=x_title, **across),
        "y": field("y:Q", title=y_title, axis=axis(y_ends), scale=scale(y_ends, zero=frame.from_zero)),
        "color": coloured(
            "name", curves, of=of if parts is None else {one: parts[one][1] for one in parts}, areas=True
        ),
    }
    dashes = dashed("name", curves, of=None if parts is None else {one: parts[one][0] for one in parts})
    line = {**place, "strokeDash": dashes, "order": "place:Q"}
    seen = {"condition": {"param": "nearest", "value": 1, "empty": False}, "value": 0}
    dot = {"filled": True, "size": 90, "clip": True, "aria": False, "tooltip": _tooltip(what, x_title, y_title)}
    return [
        mark("line", rows, line, interpolate="step-after" if frame.steps else "linear", clip=True),
        {"name": HOVER, **mark("point", rows, {**place, "opacity": seen}, **dot)},
    ]


def part_layers(curves: Mapping[str, RocCurve]) -> list[Spec]:
    """The partial area of each ROC curve, faint in its colour: below it, or to its right for a range of TPR."""
    layers = []
    for name, curve in curves.items():
        if not curve.part:
            continue
        across = any(end.startswith("tpr") for end in curve.part)
        edge = curve.outline()
        sides = [(1.0, y) if across else (x, 0.0) for x, y in edge[[-1, 0]]]
        x, y = np.concatenate([edge, sides]).T
        rows = [{**row, "place": place} for place, row in enumerate(points(x, y, name=name))]
        # A filled line keeps the order of its points; an area sorts them, and mixes up those of a step.
        place = {"x": "x:Q", "y": "y:Q", "color": coloured("name", curves), "order": "place:Q"}
        look = {"filled": True, "strokeWidth": 0, "interpolate": "linear-closed", "opacity": 0.18}
        layers.append(mark("line", rows, place, aria=False, **look))
    return layers


def crisp_points(curves: Mapping[str, RocCurve]) -> list[Spec]:
    """The point of each model that only decides: where it is, while the lines to the corners are mixtures."""
    rows = [
        {"name": name, "x": short(float(curve.x[1])), "y": short(float(curve.y[1]))}
        for name, curve in curves.items()
        if curve.table.score.tolist() == [1.0, 0.0]
    ]
    place = {"x": "x:Q", "y": "y:Q", "color": coloured("name", curves)}
    return [mark("point", rows, place, filled=True, size=90, opacity=1, aria=False)] if rows else []


def band_layers(curves: Mapping[str, Curve], bands: Mapping[str, Band]) -> list[Spec]:
    """Each band as a faint area in the colour of its model."""
    rows = [
        {"name": name, "x": x, "low": low, "high": high}
        for name, band in bands.items()
        for x, low, high in zip(*map(shortened, (band.x, band.low, band.high)), strict=True)
        if low is not None and high is not None
    ]
    if not rows:
        return []
    ends = {"x": "x:Q", "y": "low:Q", "y2": "high", "color": coloured("name", curves)}
    return [mark("area", rows, ends, opacity=0.13, aria=False)]


def points_of(curves: int) -> int:
    """How many points are drawn of each of so many curves: three have all, of more the page would grow without end."""
    return POINTS if curves <= 3 else max(_FEWEST, _OF_MANY // curves)


def _points(name: str, curve: Curve, most: int = POINTS, log_from: float | None = None) -> list[Row]:
    """The points of a curve that can be drawn, few enough for a page."""
    whole = curve.line()
    curve = whole.thinned(most - 1)  # thinning may add the last point
    curve = curve if log_from is None else bent(curve, log_from)
    drawn = np.isfinite(curve.x) & np.isfinite(curve.y)
    cuts = rounded_among(curve.threshold[drawn].tolist(), whole.threshold[~np.isnan(whole.threshold)])
    points = zip(shortened(curve.x[drawn]), shortened(curve.y[drawn]), cuts, strict=True)
    return [
        {"name": name, "place": place, "x": x, "y": y, "threshold": _place_text(threshold)}
        for place, (x, y, threshold) in enumerate(points)
    ]


def bent(curve: Curve, log_from: float) -> Curve:
    """The curve with points between its own for a log axis, on which its straight lines are bent."""
    x, y, threshold = [curve.x[:1]], [curve.y[:1]], [curve.threshold[:1]]
    for k in range(1, curve.x.size):
        (left, right), (low, high) = curve.x[k - 1 : k + 1], curve.y[k - 1 : k + 1]
        start = max(left, log_from)
        steps = int(_BENDS * math.log10(right / start)) if right > start and low != high else 0
        between = np.geomspace(start, right, steps + 2)[:-1] if steps else np.empty(0)
        x += [between, curve.x[k : k + 1]]
        y += [low + (high - low) * (between - left) / (right - left), curve.y[k : k + 1]]
        threshold += [np.full(between.size, math.nan), curve.threshold[k : k + 1]]
    points = np.concatenate(x), np.concatenate(y), np.concatenate(threshold)
    return Curve(curve.kind, *points, curve.x_title, curve.y_title)


def _place_text(threshold: float) -> str:
    return "between two" if math.isnan(threshold) else threshold_text(threshold)


def _tooltip(what: str, x_title: str, y_title: str) -> Spec:
    """What the pointer shows, written out: around a nearest point Vega-Lite loses the fields that are text."""
    point = "(datum.datum || datum)"
    shown = {
        what: f"{point}.name",
        x_title: f"format({point}.x, '.4~g')",
        y_title: f"format({point}.y, '.4~g')",
        "Threshold": f"{point}.threshold",
    }
    return {"expr": f"{{{', '.join(f'{json.dumps(title)}: {value}' for title, value in shown.items())}}}"}


def _chance(frame: Frame, log_from: float | None = None) -> list[Spec]:
    """The line that guessing would draw, with its name beside the plot, where no curve runs."""
    if not frame.chance:
        return []
    x, y = zip(*frame.chance, strict=True)
    along = np.asarray(x) if log_from is None else np.geomspace(log_from, 1, 60)  # on a log axis it is bent
    line = [{"x": short(a), "y": short(b)} for a, b in zip(along, np.interp(along, x, y), strict=True)]
    name = [{"x": line[-1]["x"], "y": line[-1]["y"], "label": frame.chance_name}]
    place = {"x": "x:Q", "y": "y:Q"}
    return [
        reference(line),
        mark("text", name, {**place, "text": "label:N"}, align="left", baseline="middle", dx=6),
    ]
