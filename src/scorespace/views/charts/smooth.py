"""Smooth ROC curves beside plain ones, and the zones of hard and easy cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from scorespace.curves import Curve, SmoothCurve, roc
from scorespace.decisions.cases import ZONES, Zones
from scorespace.errors import DataError
from scorespace.results import Row, decimals, grouped
from scorespace.tables import ScoreTable, ratio
from scorespace.tables.pair import two_names
from scorespace.views.charts.curves import curve_layers, named_rule, points_of
from scorespace.views.charts.marks import Spec, field, layered, mark
from scorespace.views.charts.theme import FAINT, GRID, SOFT, UNIT, axis, coloured, points, scale, short, themed

BINS: Final = 40
ZONE_NAMES: Final = {"easy": "easy", "rescued": "rescued", "hard": "hard", "error": "confident error"}
"""The zones as a legend names them."""
_PLACE: Final[Spec] = {"x": "x:Q", "y": "y:Q"}
_OUTLINE: Final[Spec] = _PLACE | {"order": "place:Q"}
_ZONE_COLOURS: Final = ("#56b4e9", "#009e73", "#e69f00", "#d55e00")


def smooth_chart(curves: Mapping[str, SmoothCurve]) -> Spec:
    """Smooth ROC curves with their hulls, and the plain ROC curves of the same models as thin lines.

    A single model also shows the hull of its plain curve.
    """
    if not curves:
        raise DataError("there is no curve to draw.", hint="at least one model with cases of both classes")
    below = [_hulls({name: curve.hull() for name, curve in curves.items()})]
    words = "thick: smooth ROC · grey: its hull"
    scaled = all(curve.normalised for curve in curves.values())
    if scaled:
        plain = {name: roc(curve.given) for name, curve in curves.items()}
        if len(plain) == 1:
            below.append(_hulls({name: curve.hull() for name, curve in plain.items()}))
        thin = _OUTLINE | {"color": coloured("name", curves)}
        below.append(mark("line", _outlines(plain), thin, strokeWidth=1, opacity=0.9, aria=False))
        words = f"thick: smooth ROC · thin: ROC · grey: hull{'s' if len(plain) == 1 else ''}"
    # What the lines mean, in the corner where curves seldom run.
    corner = [{"x": 0.99, "y": 0.02, "label": words}]
    key = mark("text", corner, _PLACE | {"text": "label:N"}, align="right", baseline="bottom", aria=False)
    return themed(curve_layers(curves, below=below, above=[key] if scaled else []))


def zones_chart(table: ScoreTable, zones: Zones) -> Spec:
    """Scores of the positives upwards and of the others downwards, coloured by how hard the cases are."""
    rows = _bars(table, zones)
    if not rows:
        raise DataError("there are no scores to draw.", hint="at least one case")
    tops = {1: 0.0, -1: 0.0}
    for row in rows:
        tops[row["sign"]] = max(tops[row["sign"]], row["height"])
    room = 0.16 * (tops[1] + tops[-1])
    ends = (-tops[-1] - room, tops[1] + room)
    names = list(ZONE_NAMES.values())
    encoding = {
        "x": field("low:Q", bin="binned", title="Score", axis=axis(UNIT), scale=scale(UNIT)),
        "x2": "high",
        "y": field(
            "signed:Q",
            title="Share of class",
            axis={"labelExpr": "format(abs(datum.value), '.0%')", "tickCount": 5, "grid": False},
            scale=scale(ends),
            stack="zero",
        ),
        "color": field(
            "zone:N",
            title=None,
            scale={"domain": names, "range": list(_ZONE_COLOURS)},
            legend={"columns": 4, "symbolType": "square", "symbolStrokeWidth": 0, "symbolSize": 140},
        ),
        "order": "order:Q",
        "tooltip": [
            field("class:N", title="Class"),
            field("zone:N", title="Cases"),
            field("span:N", title="Scores"),
            field("share:Q", title="Share of class", format=".1%"),
        ],
    }
    doubt = [{"low": short(zones.low), "high": short(zones.high)}]
    layers = [
        mark("rect", doubt, {"x": "low:Q", "x2": "high"}, color=GRID, opacity=0.6, aria=False),
        mark("bar", rows, encoding, binSpacing=1),
        mark("rule", [{}], {"y": {"datum": 0}}, color=FAINT),
        # A label beyond the edge would be cut.
        *named_rule(zones.midpoint, f"midpoint {zones.midpoint:.3g}", left=zones.midpoint > 0.7),
        _class_name(table, up=True),
        _class_name(table, up=False),
    ]
    about = (
        f"Scores of both classes around the midpoint {decimals(zones.midpoint)}, coloured by how hard the cases are."
    )
    return themed(layered(layers, 560, 260, description=about))


def _outlines(curves: Mapping[str, Curve]) -> list[Row]:
    rows: list[Row] = []
    for name, curve in curves.items():  # of a thin line few points, both ends among them
        size = curve.x.size
        kept = np.unique(np.linspace(0, size - 1, min(size, points_of(len(curves)))).astype(np.intp))
        rows += points(curve.x[kept], curve.y[kept], name=name)
    return rows


def _hulls(hulls: Mapping[str, Curve]) -> Spec:
    each = _OUTLINE | {"detail": "name:N"}
    return mark("line", _outlines(hulls), each, color=FAINT, strokeWidth=1.2, aria=False)


def _class_name(table: ScoreTable, *, up: bool) -> Spec:
    negative, positive = two_names(table.classes, table.positive)
    label = f"▲ {positive} ({grouped(float(table.n_pos))})" if up else f"▼ {negative} ({grouped(float(table.n_neg))})"
    place = {"text": "label:N", "x": {"value": "width"}, "y": {"value": 2 if up else "height"}}
    return mark("text", [{"label": label}], place, align="right", baseline="top" if up else "bottom", dx=-4, color=SOFT)


def _bars(table: ScoreTable, zones: Zones) -> list[Row]:
    """The histogram of each class, split by zone; empty bars are left out."""
    edges = np.linspace(0, 1, BINS + 1)
    sides = ((1, table.classes[table.positive], table.pos, table.n_pos), (-1, "the others", table.neg, table.n_neg))
    bins = np.clip(np.searchsorted(edges, table.score, side="right") - 1, 0, BINS - 1)  # a score of 1 is in the last
    rows: list[Row] = []
    for sign, label, weight, total in sides:
        kinds = np.asarray(zones.kind(table.score, sign > 0))
        counts = np.bincount(kinds * BINS + bins, weight, minlength=len(ZONES) * BINS)
        stack = np.nan_to_num(ratio(counts.reshape(len(ZONES), BINS), total))
        heights = stack.sum(axis=0)
        rows += [
            {
                "class": label,
                "zone": ZONE_NAMES[ZONES[k]],
                "order": int(k),
                "low": short(edges[place]),
                "high": short(edges[place + 1]),
                "span": f"{edges[place]:.3g} to {edges[place + 1]:.3g}",
                "share": short(stack[k, place]),
                "signed": short(sign * stack[k, place]),
                "sign": sign,
                "height": short(heights[place]),
            }
            for k, place in zip(*np.nonzero(stack), strict=True)
        ]
    return rows
