"""Predicted numbers: RROC space, truths and errors against predictions, quantiles of errors, and their sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from scorespace.curves import Curve, RrocCurve
from scorespace.decisions import ShiftDecision
from scorespace.errors import DataError
from scorespace.results import Row
from scorespace.results import short as shift_text
from scorespace.tables import Array, ResidualTable
from scorespace.views.charts.curves import curve_layers
from scorespace.views.charts.marks import Spec, by_model, field, layered, mark
from scorespace.views.charts.theme import FAINT, INK, SOFT, coloured, points, reference, scale, short, shortened, themed

POINTS: Final = 1200
"""Cases that are drawn one by one; more of them are counted in cells."""
CELLS: Final = 48
"""Cells to a side."""
PARTS: Final = 40
"""Parts of a histogram of errors."""
_PLACE: Final[Spec] = {"x": "x:Q", "y": "y:Q"}


def rroc_chart(curves: Mapping[str, RrocCurve], decision: ShiftDecision | None = None) -> Spec:
    """RROC curves with each model as it is; with a decision, its line of equal loss and the chosen shift."""
    if not curves:
        raise DataError("there is no curve to draw.", hint="at least one model with predictions")
    own = [
        {"name": name, "x": short(curve.own[0]), "y": short(curve.own[1]), "label": f"{name} as it is"}
        for name, curve in curves.items()
    ]
    dots = _PLACE | {"color": coloured("name", curves), "tooltip": field("label:N", title="Model")}
    above = [mark("point", own, dots, filled=True, size=110, opacity=1, shape="diamond")]
    if decision is not None:
        above += _chosen(curves[decision.best.model], decision)
    spec = curve_layers(curves, above=above)
    low, high = min(float(c.y.min()) for c in curves.values()), max(float(c.x.max()) for c in curves.values())
    reach = _near(curves, low, high)
    for layer in spec["layer"]:
        # Where everything is on one side nothing is decided: the part near the corner is what matters.
        for side, ends in (("x", (0.0, reach)), ("y", (-reach, 0.0))):
            if "scale" in layer.get("encoding", {}).get(side, {}):
                layer["encoding"][side]["scale"] = scale(ends)
    return themed(spec)


def _near(curves: Mapping[str, RrocCurve], low: float, high: float) -> float:
    """How far the axes reach: twice the largest error of a model as it is, or as far as the curves go."""
    most = max(max(curve.own[0], -curve.own[1], -curve.best(0.5).under) for curve in curves.values())
    farthest = max(high, -low)
    return min(farthest, 2.5 * most) if most > 0 else farthest or 1.0


def _chosen(curve: RrocCurve, decision: ShiftDecision) -> list[Spec]:
    best, (slope, height) = curve.best(decision.condition.alpha), curve.iso_cost(decision.condition.alpha)
    ends = [{"x": 0.0, "y": short(height)}, {"x": short(-height / slope), "y": 0.0}]
    point = [
        {
            "x": short(best.over),
            "y": short(-best.under),
            "label": f"{decision.best.model} {shift_text(best.shift, sign=True)}",
        }
    ]
    # In the corner that curves leave free.
    name = {"align": "right", "baseline": "bottom", "dx": -6, "dy": -6, "color": INK, "fontWeight": 600}
    corner = {"x": {"value": "width"}, "y": {"value": "height"}, "text": "label:N"}
    return [
        mark("line", ends, _PLACE, color=SOFT, strokeWidth=1.5, strokeDash=[6, 4], clip=True),
        mark("point", point, _PLACE, filled=True, size=120, color=INK, opacity=1),
        mark("text", point, corner, **name),
    ]


def error_chart(tables: Mapping[str, ResidualTable]) -> Spec:
    """How many cases of each model miss by how much: histograms over parts that all models share."""
    errors = {name: table.numbers.error for name, table in tables.items()}
    every = np.concatenate([np.quantile(one, [0.005, 0.995]) for one in errors.values()])
    low, high = float(every.min()), float(every.max())
    edges = np.linspace(low, high if high > low else low + 1, PARTS + 1)
    rows: list[Row] = []
    for name, error in errors.items():
        counts, _ = np.histogram(error, edges, weights=tables[name].weight)
        shares = np.append(counts / float(tables[name].total), 0.0)
        rows += points(edges, shares, name=name)
    place = {
        "x": field("x:Q", title="Error: prediction less truth", scale=scale((float(edges[0]), float(edges[-1])))),
        "y": field("y:Q", title="Share of cases", scale=scale(None, zero=True)),
        "color": coloured("name", errors),
        "order": "place:Q",
    }
    layers = [mark("line", rows, place, interpolate="step-after", clip=True)]
    return themed(layered(layers, 420, 420, description=f"Errors of {', '.join(errors)}."))


def scatter_chart(curves: Mapping[str, Curve], *, diagonal: bool, words: str) -> Spec:
    """The cases of each model in a panel of its own, with the line that perfect predictions lie on."""
    if not curves:
        raise DataError("there are no cases to draw.", hint="at least one case")
    rows: list[Row] = []
    for place, (name, curve) in enumerate(curves.items()):
        rows += [{"place": place, "model": name, **row} for row in _cells(curve.x, curve.y)]
        low, high = float(curve.x.min()), float(curve.x.max())
        if diagonal:
            low, high = min(low, float(curve.y.min())), max(high, float(curve.y.max()))
        ends = [(low, low), (high, high)] if diagonal else [(low, 0.0), (high, 0.0)]
        rows += [{"place": place, "model": name, "x": short(x), "y": short(y), "line": 1} for x, y in ends]
    first = next(iter(curves.values()))
    sides = {
        "x": field("x:Q", title=first.x_title, scale=scale(None), axis={"tickCount": 3, "labelFlush": True}),
        "y": field("y:Q", title=first.y_title, scale=scale(None)),
    }
    many = max(row.get("cases", 1) for row in rows)
    size = field("cases:Q", scale={"range": [8, 120], "domain": [1, max(2, many)]}, legend=None)
    dots = {
        **sides,
        "color": coloured("model", curves, legend=False),
        "size": size if many > 1 else {"value": 22},
        "tooltip": [
            field("x:Q", title=first.x_title),
            field("y:Q", title=first.y_title),
            field("cases:Q", title="Cases"),
        ],
    }
    layers = [
        mark("line", None, sides, where="datum.line", color=FAINT, strokeWidth=1.2, strokeDash=[2, 3], aria=False),
        mark("point", None, dots, where="datum.cases", filled=True, opacity=0.45),
    ]
    panel = layered(layers, *((280, 280) if diagonal else (420, 220)))
    return themed(by_model(rows, panel, 2, f"{words}: {', '.join(curves)}."))


def _cells(x: Array, y: Array) -> list[Row]:
    """The points, or where they are many the middle of those in each cell and how many they are."""
    if x.size <= POINTS:
        return [{"x": a, "y": b, "cases": 1} for a, b in zip(shortened(x), shortened(y), strict=True)]
    cell = _part(x) * CELLS + _part(y)
    counts = np.bincount(cell, minlength=CELLS * CELLS)
    held = np.flatnonzero(counts)
    middle = [np.bincount(cell, side, minlength=CELLS * CELLS)[held] / counts[held] for side in (x, y)]
    found = zip(shortened(middle[0]), shortened(middle[1]), counts[held].tolist(), strict=True)
    return [{"x": a, "y": b, "cases": count} for a, b, count in found]


def _part(values: Array) -> Array:
    """Which of the parts between the lowest and the highest value each is in."""
    low, width = float(values.min()), float(np.ptp(values)) or 1.0
    return np.minimum((values - low) * (CELLS / width), CELLS - 1).astype(np.intp)


def isotonic_chart(curves: Mapping[str, Curve]) -> Spec:
    """The mean truth for each prediction, with the line on which calibrated numbers lie."""
    low = min(float(min(curve.x.min(), curve.y.min())) for curve in curves.values())
    high = max(float(max(curve.x.max(), curve.y.max())) for curve in curves.values())
    line = [{"x": short(low), "y": short(low)}, {"x": short(high), "y": short(high)}]
    return themed(curve_layers(curves, below=[reference(line)]))


def quantile_chart(curves: Mapping[str, Curve]) -> Spec:
    """The quantiles of errors, each with the line of a normal distribution that has the same quartiles."""
    below = []
    for name, curve in curves.items():
        low, high = (float(np.interp(share, curve.threshold, curve.y)) for share in (0.25, 0.75))
        left, right = (float(np.interp(share, curve.threshold, curve.x)) for share in (0.25, 0.75))
        if right > left:
            ends = np.array([curve.x.min(), curve.x.max()])
            heights = low + (ends - left) * (high - low) / (right - left)
            rows = points(ends, heights, name=name)
            look = {"strokeWidth": 1.2, "strokeDash": [2, 3], "opacity": 0.7, "aria": False}
            below.append(mark("line", rows, _PLACE | {"color": coloured("name", curves)}, **look))
    return themed(curve_layers(curves, below=below))
