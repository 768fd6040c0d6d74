"""The reliability diagram: observed rates against scores, with where calibrated scores would lie."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import numpy as np

from scorespace.curves import CalibrationCurve
from scorespace.curves import calibration as grouped_scores
from scorespace.errors import DataError
from scorespace.resampling.band import Band
from scorespace.results import Row, grouped
from scorespace.tables import ScoreTable
from scorespace.views.charts.curves import band_layers, curve_layers
from scorespace.views.charts.marks import Spec, field, mark
from scorespace.views.charts.theme import coloured, short, shortened, themed

BARS: Final = 25
"""Bins of the histogram of scores at the foot."""
_TALLEST: Final = 0.14  # of the height of the picture


def calibration_chart(
    curves: Mapping[str, CalibrationCurve], tables: Mapping[str, ScoreTable], bands: Mapping[str, Band] | None = None
) -> Spec:
    """Observed rates against scores, one line per model, with the histogram of its scores at the foot.

    Bands are areas for curves by isotonic regression, and whiskers for those by bins; of several areas one is shown
    at a time, that of the `model` chosen.
    """
    if not curves:
        raise DataError("there is no curve to draw.", hint="at least one model with cases of both classes")
    isotonic = {name: band for name, band in (bands or {}).items() if curves[name].by == "isotonic"}
    binned = {name: band for name, band in (bands or {}).items() if name not in isotonic}
    below = [_histogram(curves, tables), *band_layers(curves, isotonic)]
    lines = {name: curve.line() for name, curve in curves.items()}
    spec = curve_layers(lines, below=below, above=_bins(curves, binned))
    if len(isotonic) > 1:
        below[-1]["transform"] = [{"filter": "datum.name === model"}]
        choice = {"input": "select", "options": list(isotonic), "name": "Band of "}
        spec["params"].append({"name": "model", "value": next(iter(isotonic)), "bind": choice})
    return themed(spec)


def _histogram(names: Mapping[str, object], tables: Mapping[str, ScoreTable]) -> Spec:
    """How the scores are spread: bars of all models side by side in each bin."""
    rows = [row for place, name in enumerate(names) for row in _bars(name, tables[name], place, len(names))]
    tallest = max(row["share"] for row in rows)
    for row in rows:
        row["height"] = short(_TALLEST * row["share"] / tallest)
    encoding = {
        "x": "low:Q",
        "x2": "high",
        "y": "foot:Q",
        "y2": "height",
        "color": coloured("name", names),
        "tooltip": [
            field("name:N", title="Model"),
            field("span:N", title="Scores"),
            field("cases:N", title="Cases"),
        ],
    }
    return mark("rect", rows, encoding, opacity=0.35)


def _bars(name: str, table: ScoreTable, place: int, models: int) -> list[Row]:
    spread = grouped_scores(table, by="width", bins=BARS)
    edges = np.arange(BARS + 1) / BARS
    first = (np.searchsorted(edges, spread.threshold, side="right") - 1).clip(0, BARS - 1)
    width = 0.84 / BARS / models
    total = float(table.total)
    return [
        {
            "name": name,
            "low": short(edges[k] + 0.08 / BARS + place * width),
            "high": short(edges[k] + 0.08 / BARS + (place + 1) * width),
            "foot": 0,
            "share": float(cases) / total,
            "span": f"{edges[k]:.3g} to {edges[k + 1]:.3g}",
            "cases": grouped(float(cases)),
        }
        for k, cases in zip(first, spread.cases, strict=True)
    ]


def _bins(curves: Mapping[str, CalibrationCurve], bands: Mapping[str, Band]) -> list[Spec]:
    """The points of bins, with whiskers where there are intervals."""
    points = [
        {"name": name, "x": x, "y": y, "cases": grouped(float(cases))}
        for name, curve in curves.items()
        if curve.by != "isotonic"
        for x, y, cases in zip(shortened(curve.x), shortened(curve.y), curve.cases, strict=True)
    ]
    whiskers = [
        {"name": name, "x": short(x), "low": short(low), "high": short(high)}
        for name, band in bands.items()
        for x, low, high in zip(band.x, band.low, band.high, strict=True)
        if math.isfinite(low) and math.isfinite(high)
    ]
    layers = []
    if whiskers:
        ends = {"x": "x:Q", "y": "low:Q", "y2": "high", "color": coloured("name", curves)}
        layers.append(mark("rule", whiskers, ends, strokeWidth=1.6, opacity=0.7))
    if points:
        shown = [
            field("name:N", title="Model"),
            field("x:Q", title="Mean score", format=".4~g"),
            field("y:Q", title="Observed rate", format=".4~g"),
            field("cases:N", title="Cases"),
        ]
        place = {"x": "x:Q", "y": "y:Q", "color": coloured("name", curves), "tooltip": shown}
        layers.append(mark("point", points, place, filled=True, size=60, opacity=1))
    return layers
