"""Charts of regression models: RROC space, predictions and errors, normal quantiles, and error sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from scorespace.curves import Curve, RrocCurve
from scorespace.decisions import ShiftDecision
from scorespace.errors import DataError
from scorespace.report.chart_theme import (
    FAINT,
    INK,
    SOFT,
    Spec,
    by_model,
    coloured,
    data_values,
    datum,
    field,
    layered,
    mark,
    points,
    reference,
    scale,
    themed,
)
from scorespace.report.curve_charts import curve_layers
from scorespace.report.few_cases import FEW
from scorespace.results import Row
from scorespace.results import short as shift_text
from scorespace.tables import Array, ResidualTable

MAX_POINTS: Final = 1200
"""Maximum number of cases drawn singly; more are binned into cells."""
CELLS: Final = 48
"""Cells per side."""
ERROR_BINS: Final = 40
"""Bins of a histogram of errors."""
_POSITION: Final[Spec] = {"x": "x:Q", "y": "y:Q"}


def rroc_chart(
    curves: Mapping[str, RrocCurve], decision: ShiftDecision | None = None, *, explained: bool = True
) -> Spec:
    """RROC curves with the unshifted models; with a decision, its iso-loss line and the chosen shift.

    `explained`: the marks are explained inside the chart, and not in a caption.
    """
    if not curves:
        raise DataError("there is no curve to draw.", hint="at least one model with predictions")
    unshifted = [
        {"name": name, "x": datum(curve.own[0]), "y": datum(curve.own[1]), "label": f"{name}, not shifted"}
        for name, curve in curves.items()
    ]
    encoding = _POSITION | {"color": coloured("name", curves), "tooltip": field("label:N", title="Model")}
    above = [
        mark("point", unshifted, encoding, filled=True, size=110, opacity=1, shape="diamond"),
        *_shift_labels(curves),
        *([_note("diamond: not shifted; numbers: shifts", 22)] if explained else []),
    ]
    if decision is not None:
        above += _chosen(curves[decision.best.model], decision)
    spec = curve_layers(curves, above=above)
    low, high = (
        min(float(curve.y.min()) for curve in curves.values()),
        max(float(curve.x.max()) for curve in curves.values()),
    )
    axis_end = _axis_end(curves, low, high)
    for layer in spec["layer"]:
        # Large shifts with errors on one side only are of no interest: zoom to the corner.
        for side, domain in (("x", (0.0, axis_end)), ("y", (-axis_end, 0.0))):
            if "scale" in layer.get("encoding", {}).get(side, {}):
                layer["encoding"][side]["scale"] = scale(domain)
        layer["mark"]["clip"] = layer["mark"]["type"] == "line" or layer["mark"].get("clip", False)
    return themed(spec)


def _axis_end(curves: Mapping[str, RrocCurve], low: float, high: float) -> float:
    """End of the axes: 2.5 times the largest error of an unshifted model, or the extent of the curves."""
    max_error = max(max(curve.own[0], -curve.own[1], -curve.best(0.5).under) for curve in curves.values())
    max_extent = max(high, -low)
    return min(max_extent, 2.5 * max_error) if max_error > 0 else max_extent or 1.0


def _chosen(curve: RrocCurve, decision: ShiftDecision) -> list[Spec]:
    best, (slope, height) = curve.best(decision.condition.alpha), curve.iso_cost(decision.condition.alpha)
    line_ends = [{"x": 0.0, "y": datum(height)}, {"x": datum(-height / slope), "y": 0.0}]
    point = [
        {
            "x": datum(best.over),
            "y": datum(-best.under),
            "label": f"{decision.best.model} {shift_text(best.shift, sign=True)}",
        }
    ]
    alpha = decision.condition.alpha
    return [
        mark("line", line_ends, _POSITION, color=SOFT, strokeWidth=1.5, strokeDash=[6, 4], clip=True),
        mark("point", point, _POSITION, filled=True, size=120, color=INK, opacity=1),
        _note(f"least loss: {point[0]['label']}", 6, color=INK, fontWeight=600),
        _note(f"dashed: equal loss at α = {alpha:.3g}, slope {slope:.3g}", 38),
    ]


def _note(text: str, above: int, **style: Any) -> Spec:
    """A line of text in the lower right corner, which curves do not reach."""
    corner = {"x": {"value": "width"}, "y": {"value": "height"}, "text": "label:N"}
    style = {"align": "right", "baseline": "bottom", "dx": -6, "dy": -above, "color": SOFT} | style
    return mark("text", [{"label": text}], corner, **style)


def _shift_labels(curves: Mapping[str, RrocCurve]) -> list[Spec]:
    """Some points of the only curve with their shift: all of up to 30 cases, else nine quantiles of the errors."""
    if len(curves) > 1:
        return []
    (curve,) = curves.values()
    count = curve.x.size
    places = np.arange(count) if count <= FEW else np.linspace(0, count - 1, 11).astype(np.intp)[1:-1]
    rows = [
        {"x": datum(curve.x[k]), "y": datum(curve.y[k]), "label": shift_text(float(curve.threshold[k]), sign=True)}
        for k in places.tolist()
    ]
    style = {"align": "left", "baseline": "top", "dx": 5, "dy": 4, "fontSize": 10, "clip": True, "aria": False}
    return [
        mark("point", rows, _POSITION, filled=True, size=45, color=INK, opacity=1, clip=True, aria=False),
        mark("text", rows, _POSITION | {"text": "label:N"}, **style),
    ]


def error_chart(tables: Mapping[str, ResidualTable]) -> Spec:
    """Histograms of errors with common bins."""
    errors = {name: table.numbers.error for name, table in tables.items()}
    quantiles = np.concatenate([np.quantile(error, [0.005, 0.995]) for error in errors.values()])
    low, high = float(quantiles.min()), float(quantiles.max())
    edges = np.linspace(low, high if high > low else low + 1, ERROR_BINS + 1)
    rows: list[Row] = []
    for name, error in errors.items():
        counts, _ = np.histogram(error, edges, weights=tables[name].weight)
        shares = np.append(counts / float(tables[name].total), 0.0)
        rows += points(edges, shares, name=name)
    encoding = {
        "x": field("x:Q", title="Error (prediction − truth)", scale=scale((float(edges[0]), float(edges[-1])))),
        "y": field("y:Q", title="Proportion of cases", scale=scale(None, zero=True)),
        "color": coloured("name", errors),
        "order": "place:Q",
    }
    layers = [mark("line", rows, encoding, interpolate="step-after", clip=True)]
    return themed(layered(layers, 420, 420, description=f"Errors of {', '.join(errors)}."))


def scatter_chart(curves: Mapping[str, Curve], *, diagonal: bool, title: str) -> Spec:
    """Scatter plot of each model in a panel, with the line of perfect predictions."""
    if not curves:
        raise DataError("there are no cases to draw.", hint="at least one case")
    rows: list[Row] = []
    for panel_index, (name, curve) in enumerate(curves.items()):
        rows += [{"place": panel_index, "model": name, **row} for row in _cells(curve.x, curve.y)]
        low, high = float(curve.x.min()), float(curve.x.max())
        if diagonal:
            low, high = min(low, float(curve.y.min())), max(high, float(curve.y.max()))
        line_ends = [(low, low), (high, high)] if diagonal else [(low, 0.0), (high, 0.0)]
        rows += [{"place": panel_index, "model": name, "x": datum(x), "y": datum(y), "line": 1} for x, y in line_ends]
    first = next(iter(curves.values()))
    axes = {
        "x": field("x:Q", title=first.x_title, scale=scale(None), axis={"tickCount": 3, "labelFlush": True}),
        "y": field("y:Q", title=first.y_title, scale=scale(None)),
    }
    max_cases = max(row.get("cases", 1) for row in rows)
    size = field("cases:Q", scale={"range": [8, 120], "domain": [1, max(2, max_cases)]}, legend=None)
    dots = {
        **axes,
        "color": coloured("model", curves, legend=False),
        "size": size if max_cases > 1 else {"value": 22},
        "tooltip": [
            field("x:Q", title=first.x_title),
            field("y:Q", title=first.y_title),
            field("cases:Q", title="Cases"),
        ],
    }
    layers = [
        mark("line", None, axes, where="datum.line", color=FAINT, strokeWidth=1.2, strokeDash=[2, 3], aria=False),
        mark("point", None, dots, where="datum.cases", filled=True, opacity=0.45),
    ]
    panel = layered(layers, *((280, 280) if diagonal else (420, 220)))
    return themed(by_model(rows, panel, 2, f"{title}: {', '.join(curves)}."))


def _cells(x: Array, y: Array) -> list[Row]:
    """Single points, or for many points the mean and number of those in each cell."""
    if x.size <= MAX_POINTS:
        return [{"x": a, "y": b, "cases": 1} for a, b in zip(data_values(x), data_values(y), strict=True)]
    cell = _cell_index(x) * CELLS + _cell_index(y)
    counts = np.bincount(cell, minlength=CELLS * CELLS)
    occupied = np.flatnonzero(counts)
    means = [np.bincount(cell, side, minlength=CELLS * CELLS)[occupied] / counts[occupied] for side in (x, y)]
    rows = zip(data_values(means[0]), data_values(means[1]), counts[occupied].tolist(), strict=True)
    return [{"x": a, "y": b, "cases": count} for a, b, count in rows]


def _cell_index(values: Array) -> Array:
    """Index of the cell of each value."""
    low, width = float(values.min()), float(np.ptp(values)) or 1.0
    return np.minimum((values - low) * (CELLS / width), CELLS - 1).astype(np.intp)


def isotonic_chart(curves: Mapping[str, Curve]) -> Spec:
    """Isotonic regression of the truth on the prediction, with the line of perfect calibration."""
    low = min(float(min(curve.x.min(), curve.y.min())) for curve in curves.values())
    high = max(float(max(curve.x.max(), curve.y.max())) for curve in curves.values())
    line = [{"x": datum(low), "y": datum(low)}, {"x": datum(high), "y": datum(high)}]
    return themed(curve_layers(curves, below=[reference(line)]))


def quantile_chart(curves: Mapping[str, Curve]) -> Spec:
    """Normal quantile-quantile plot of errors, each with the line through the quartiles."""
    below = []
    for name, curve in curves.items():
        low, high = (float(np.interp(share, curve.threshold, curve.y)) for share in (0.25, 0.75))
        left, right = (float(np.interp(share, curve.threshold, curve.x)) for share in (0.25, 0.75))
        if right > left:
            line_x = np.array([curve.x.min(), curve.x.max()])
            heights = low + (line_x - left) * (high - low) / (right - left)
            rows = points(line_x, heights, name=name)
            style = {"strokeWidth": 1.2, "strokeDash": [2, 3], "opacity": 0.7, "aria": False}
            below.append(mark("line", rows, _POSITION | {"color": coloured("name", curves)}, **style))
    return themed(curve_layers(curves, below=below))
