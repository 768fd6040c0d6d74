"""Charts of curves, and of measures against the threshold."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from scorespace.curves import Curve, RocCurve, sweep
from scorespace.curves.curve import CURVES, CurveFrame
from scorespace.errors import DataError
from scorespace.inference.bands import Band
from scorespace.measures import Measure
from scorespace.report.chart_theme import (
    INK,
    UNIT,
    Spec,
    axis,
    coloured,
    dashed,
    data_values,
    datum,
    field,
    layered,
    mark,
    points,
    reference,
    scale,
    themed,
    unit_or_less,
    unit_or_none,
)
from scorespace.results import Row
from scorespace.tables import Array, ScoreTable
from scorespace.tables.threshold import round_thresholds, threshold_text

POINTS: Final = 400
"""Maximum number of points per curve."""

_MAX_POINTS_OF_MANY: Final = 900  # points of more than three curves together
_POINTS_PER_DECADE: Final = 16  # points inserted per power of ten on a log axis
BAND_POINTS: Final = 101
_MIN_POINTS: Final = 60  # points of each of many curves

Parts = Mapping[str, tuple[str, str]]
"""Model and quantity of each curve, if there are several of both."""

RARE: Final = 0.01
"""Prevalence below which the report opens with a log axis of false positive rates."""

LOG: Final = "log scale"

HOVER: Final = "hover"
"""Name of the layer of tooltips."""

_NEAREST: Final = {
    "name": "nearest",
    "select": {"type": "point", "on": "pointerover", "nearest": True, "clear": "pointerout"},
    "views": [HOVER],
}


def curve_chart(
    curves: Mapping[str, Curve], *, bands: Mapping[str, Band] | None = None, below: Sequence[Spec] = (), **settings: Any
) -> Spec:
    """One line per model, with the chance line and, if given, confidence bands and further layers."""
    if not curves:
        raise DataError("there is no curve to draw.", hint="at least one model with cases of both classes")
    return themed(curve_layers(curves, below=[*below, *band_layers(curves, bands or {})], **settings))


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
    """The unthemed chart of curves, with further layers below and above; `what` names the curves in tooltips.

    `baseline` is the chance level in PR space. `of` maps a companion curve to the model whose colour it shares. `parts`
    gives model and quantity of each curve: models then differ by dashes, quantities by colour. With `log_from`, x has
    a log scale from there, for rare positives.
    """
    first = next(iter(curves.values()))
    frame = _frame(first.kind)
    y_title = first.y_title
    if len({curve.y_title for curve in curves.values() if curve.kind == first.kind}) > 1:  # different measures
        y_title = CURVES.find(first.kind).y
    if baseline is not None and math.isfinite(baseline):
        frame = replace(frame, chance=((0.0, baseline), (1.0, baseline)))
    if first.chance:
        frame = replace(frame, chance=first.chance)
    lines = _lines(curves, frame, first.x_title, y_title, what, of, log_from, parts)
    title = f"{y_title} against {first.x_title.lower()}: {', '.join(curves)}."
    width, height = (420, 420) if frame.square else (560, 320)
    layers = [*_chance_layers(frame, log_from), *below, *lines, *above]
    params = [_NEAREST, *_areas(curves)]
    return layered(layers, width, height, description=title, params=params)


def _areas(curves: Mapping[str, Curve]) -> list[Spec]:
    """Area of each curve for the legend, as a parameter that is never evaluated as an expression."""
    with_area = {name: curve for name, curve in curves.items() if (kind := CURVES.nouns.get(curve.kind)) and kind.area}
    areas = {name: curve.area_text for name, curve in with_area.items()}
    return [{"name": "areas", "value": {name: area for name, area in areas.items() if area != "–"}}]


def _frame(kind: str) -> CurveFrame:
    """Frame of a declared kind of curve, or the default frame."""
    curve_kind = CURVES.nouns.get(kind)
    return CurveFrame() if curve_kind is None else curve_kind.frame


def threshold_chart(
    table: ScoreTable, measures: Sequence[Measure], score_range: tuple[float, float] | None = None
) -> Spec:
    """Measures against the threshold; `score_range` is the range of all scores."""
    if not measures:
        raise DataError("there is no measure to draw.", hint="at least one measure")
    are_shares = all(measure.range[0] >= 0 and measure.range[1] <= 1 for measure in measures)
    frame = replace(
        _frame("threshold"), x_ends=score_range or unit_or_less(table.score), y_ends=UNIT if are_shares else None
    )
    curves = {measure.title: sweep(table, measure) for measure in measures}
    layers = _lines(curves, frame, "Threshold", measures[0].title if len(measures) == 1 else "Value", "Measure")
    layers = [neutral(layer) for layer in layers]  # colours stand for models
    title = f"{', '.join(curves)} against the threshold."
    return themed(layered(layers, 560, 320, description=title, params=[_NEAREST]))


def neutral(layer: Spec) -> Spec:
    """The layer with the same dark colour for all names."""
    encoding = layer["encoding"]
    if "color" not in encoding:
        return layer
    domain = encoding["color"]["scale"]["domain"]
    colour = {**encoding["color"], "scale": {"domain": domain, "range": [INK] * len(domain)}}
    return {**layer, "encoding": {**encoding, "color": colour}}


def named_rule(x: float, text: str, *, left: bool = False) -> list[Spec]:
    """A vertical rule with a label above the plot."""
    rows = [{"x": datum(x), "label": text}]
    encoding = {"x": "x:Q", "text": "label:N", "y": {"value": -4}}
    return [
        mark("rule", rows, {"x": "x:Q"}, color=INK, strokeWidth=1.5),
        mark("text", rows, encoding, align="right" if left else "center", baseline="bottom", color=INK),
    ]


def _lines(
    curves: Mapping[str, Curve],
    frame: CurveFrame,
    x_title: str,
    y_title: str,
    what: str,
    of: Mapping[str, str] | None = None,
    log_from: float | None = None,
    parts: Parts | None = None,
) -> list[Spec]:
    """The curves as lines, and the nearest point with a tooltip under the pointer."""
    y_ends = frame.y_ends
    if frame.shown_below_zero is not None:
        top = max((float(curve.y[np.isfinite(curve.y)].max(initial=0.0)) for curve in curves.values()), default=0.0)
        y_ends = (-frame.shown_below_zero * (top or 1.0), 1.05 * (top or 1.0))
        # Values that fall without bound would take most points and are outside the chart.
        curves = {name: replace(curve, y=np.maximum(curve.y, 2 * y_ends[0])) for name, curve in curves.items()}
    max_points = points_of(len(curves))
    x_ends = frame.x_ends or unit_or_none(
        np.concatenate([np.empty(0), *(c.x[np.isfinite(c.x) & np.isfinite(c.y)] for c in curves.values())])
    )
    if frame.steps and x_ends is not None:
        curves = {name: _continued(curve, *x_ends) for name, curve in curves.items()}
    rows = [row for name, curve in curves.items() for row in _points(name, curve, max_points, log_from)]
    x_axis = {"axis": axis(x_ends), "scale": scale(x_ends)}
    if log_from is not None:
        log_scale = {"type": "log", "domain": [log_from, 1], "clamp": True, "nice": False}
        x_axis = {
            "axis": {"format": "~g", "tickCount": 5, "labelOverlap": "greedy", "labelSeparation": 8},
            "scale": log_scale,
        }
    encoding = {
        "x": field("x:Q", title=x_title if log_from is None else f"{x_title} ({LOG})", **x_axis),
        "y": field("y:Q", title=y_title, axis=axis(y_ends), scale=scale(y_ends, zero=frame.from_zero)),
        "color": coloured(
            "name", curves, of=of if parts is None else {name: parts[name][1] for name in parts}, areas=True
        ),
    }
    dashes = dashed("name", curves, of=None if parts is None else {name: parts[name][0] for name in parts})
    line = {**encoding, "strokeDash": dashes, "order": "place:Q"}
    # A clipped line loses half of its width at the frame.
    is_cut = frame.shown_below_zero is not None or log_from is not None
    opacity = {"condition": {"param": "nearest", "value": 1, "empty": False}, "value": 0}
    point_style = {"filled": True, "size": 90, "clip": True, "aria": False, "tooltip": _tooltip(what, x_title, y_title)}
    return [
        mark("line", rows, line, interpolate="step-after" if frame.steps else "linear", clip=is_cut),
        {"name": HOVER, **mark("point", rows, {**encoding, "opacity": opacity}, **point_style)},
    ]


def _continued(curve: Curve, low: float, high: float) -> Curve:
    """Values at all thresholds, continued from the highest and the lowest score to the ends of the axis."""
    x, y, threshold = curve.x, curve.y, curve.threshold
    if x.size > 1 and x[0] == math.inf and x[1] < high:
        x = np.append(high, x[1:])
    if x.size and x[-1] > low:
        x, y, threshold = np.append(x, low), np.append(y, y[-1]), np.append(threshold, low)
    return Curve(curve.kind, x, y, threshold, curve.x_title, curve.y_title)


def part_layers(curves: Mapping[str, RocCurve]) -> list[Spec]:
    """Partial area of each ROC curve in its colour: below it, or to its right for a range of TPR."""
    layers = []
    for name, curve in curves.items():
        if not curve.part:
            continue
        is_tpr_range = any(end.startswith("tpr") for end in curve.part)
        edge = curve.outline()
        corners = [(1.0, y) if is_tpr_range else (x, 0.0) for x, y in edge[[-1, 0]]]
        x, y = np.concatenate([edge, corners]).T
        rows = [{**row, "place": index} for index, row in enumerate(points(x, y, name=name))]
        # A filled line keeps the order of its points; an area mark would sort them.
        encoding = {"x": "x:Q", "y": "y:Q", "color": coloured("name", curves), "order": "place:Q"}
        style = {"filled": True, "strokeWidth": 0, "interpolate": "linear-closed", "opacity": 0.18}
        layers.append(mark("line", rows, encoding, aria=False, **style))
    return layers


def is_crisp(curve: RocCurve) -> bool:
    """Whether the curve is that of a classifier without scores, which has one point."""
    return curve.table.score.size == 2 and curve.table.score.tolist() == [1.0, 0.0]


def crisp_points(curves: Mapping[str, RocCurve]) -> list[Spec]:
    """The point of each crisp classifier; the lines to the corners are mixtures with trivial rules."""
    rows = [
        {"name": name, "x": datum(float(curve.x[1])), "y": datum(float(curve.y[1]))}
        for name, curve in curves.items()
        if is_crisp(curve)
    ]
    encoding = {"x": "x:Q", "y": "y:Q", "color": coloured("name", curves)}
    return [mark("point", rows, encoding, filled=True, size=90, opacity=1, aria=False)] if rows else []


def band_layers(curves: Mapping[str, Curve], bands: Mapping[str, Band]) -> list[Spec]:
    """Each band as a translucent area in the colour of its model."""
    rows = [
        {"name": name, "x": x, "low": low, "high": high}
        for name, band in bands.items()
        for x, low, high in zip(*map(data_values, (band.x, band.low, band.high)), strict=True)
        if low is not None and high is not None
    ]
    if not rows:
        return []
    encoding = {"x": "x:Q", "y": "low:Q", "y2": "high", "color": coloured("name", curves)}
    return [mark("area", rows, encoding, opacity=0.13, aria=False, clip=True)]


def points_of(n_curves: int) -> int:
    """Maximum number of points per curve, which limits the size of the report."""
    return POINTS if n_curves <= 3 else max(_MIN_POINTS, _MAX_POINTS_OF_MANY // n_curves)


def _points(name: str, curve: Curve, max_points: int = POINTS, log_from: float | None = None) -> list[Row]:
    """Finite points of a thinned curve."""
    full_curve = curve.line()
    curve = full_curve.thinned(max_points - 1)  # thinning may add the last point
    curve = curve if log_from is None else interpolate_for_log_axis(curve, log_from)
    is_finite = np.isfinite(curve.x) & np.isfinite(curve.y)
    thresholds = round_thresholds(
        curve.threshold[is_finite].tolist(), full_curve.threshold[~np.isnan(full_curve.threshold)]
    )
    points = zip(data_values(curve.x[is_finite]), data_values(curve.y[is_finite]), thresholds, strict=True)
    return [
        {"name": name, "place": index, "x": x, "y": y, "threshold": _threshold_label(threshold)}
        for index, (x, y, threshold) in enumerate(points)
    ]


def interpolate_for_log_axis(curve: Curve, log_from: float) -> Curve:
    """The curve with inserted points, because straight lines are curved on a log axis."""
    x, y, threshold = [curve.x[:1]], [curve.y[:1]], [curve.threshold[:1]]
    for k in range(1, curve.x.size):
        (left, right), (low, high) = curve.x[k - 1 : k + 1], curve.y[k - 1 : k + 1]
        start = max(left, log_from)
        steps = int(_POINTS_PER_DECADE * math.log10(right / start)) if right > start and low != high else 0
        inserted = np.geomspace(start, right, steps + 2)[:-1] if steps else np.empty(0)
        x += [inserted, curve.x[k : k + 1]]
        y += [low + (high - low) * (inserted - left) / (right - left), curve.y[k : k + 1]]
        threshold += [np.full(inserted.size, math.nan), curve.threshold[k : k + 1]]
    points = np.concatenate(x), np.concatenate(y), np.concatenate(threshold)
    return Curve(curve.kind, *points, curve.x_title, curve.y_title)


def log_start(tables: Iterable[ScoreTable]) -> float | None:
    """Start of a log axis of false positive rates: about the rate of one case; None with fewer than two negatives."""
    negatives = max((float(table.n_neg) for table in tables), default=0.0)
    return 10.0 ** -math.ceil(math.log10(negatives)) if negatives > 1 else None


def has_rare_positives(tables: Iterable[ScoreTable]) -> bool:
    """Whether a linear axis would hide the false positive rates of interest."""
    shares = [float(table.n_pos / table.total) for table in tables if float(table.total)]
    return bool(shares) and max(shares) < RARE


def band_grid(start: float) -> Array:
    """Rates at which a band is computed for a log axis from `start`; dense on a linear axis, too."""
    return np.unique(np.concatenate([[0.0], np.geomspace(start, 1, BAND_POINTS), np.linspace(0, 1, BAND_POINTS)]))


def _threshold_label(threshold: float) -> str:
    return "between two thresholds" if math.isnan(threshold) else threshold_text(threshold)


def _tooltip(what: str, x_title: str, y_title: str) -> Spec:
    """Tooltip as an expression: Vega-Lite loses text fields in nearest-point selections."""
    point = "(datum.datum || datum)"
    fields = {
        what: f"{point}.name",
        x_title: f"format({point}.x, '.4~g')",
        y_title: f"format({point}.y, '.4~g')",
        "Threshold": f"{point}.threshold",
    }
    return {"expr": f"{{{', '.join(f'{json.dumps(title)}: {value}' for title, value in fields.items())}}}"}


def _chance_layers(frame: CurveFrame, log_from: float | None = None) -> list[Spec]:
    """The chance line with its label beside the plot."""
    if not frame.chance:
        return []
    x, y = zip(*frame.chance, strict=True)
    chance_x = np.asarray(x) if log_from is None else np.geomspace(log_from, 1, 60)  # curved on a log axis
    line = [{"x": datum(a), "y": datum(b)} for a, b in zip(chance_x, np.interp(chance_x, x, y), strict=True)]
    label = [{"x": line[-1]["x"], "y": line[-1]["y"], "label": frame.chance_name}]
    encoding = {"x": "x:Q", "y": "y:Q"}
    return [
        reference(line),
        mark("text", label, {**encoding, "text": "label:N"}, align="left", baseline="middle", dx=6),
    ]
