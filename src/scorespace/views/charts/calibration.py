"""The reliability diagram: observed rates against scores, with where calibrated scores would lie."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import altair as alt
import numpy as np

from scorespace.curves import CalibrationCurve
from scorespace.curves import calibration as grouped_scores
from scorespace.errors import DataError
from scorespace.resampling.band import Band
from scorespace.results import Row, grouped
from scorespace.tables import ScoreTable
from scorespace.views.charts.curves import band_layers, curve_layers
from scorespace.views.charts.theme import coloured, short, themed

BARS: Final = 25
"""Bins of the histogram of scores at the foot."""
_TALLEST: Final = 0.14  # of the height of the picture


def calibration_chart(
    curves: Mapping[str, CalibrationCurve], tables: Mapping[str, ScoreTable], bands: Mapping[str, Band] | None = None
) -> alt.LayerChart:
    """Observed rates against scores, one line per model, with the histogram of its scores at the foot.

    Bands are areas for curves by isotonic regression, and whiskers for those by bins.
    """
    if not curves:
        raise DataError("there is no curve to draw.")
    isotonic = {name: band for name, band in (bands or {}).items() if curves[name].by == "isotonic"}
    binned = {name: band for name, band in (bands or {}).items() if name not in isotonic}
    below = [_histogram(curves, tables), *band_layers(curves, isotonic)]
    lines = {name: curve.line() for name, curve in curves.items()}
    return themed(curve_layers(lines, below=below, above=_bins(curves, binned)))


def _histogram(names: Mapping[str, object], tables: Mapping[str, ScoreTable]) -> alt.Chart:
    """How the scores are spread: bars of all models side by side in each bin."""
    rows = [row for place, name in enumerate(names) for row in _bars(name, tables[name], place, len(names))]
    tallest = max(row["share"] for row in rows)
    for row in rows:
        row["height"] = short(_TALLEST * row["share"] / tallest)
    bars = alt.Chart(alt.InlineData(values=rows)).mark_rect(opacity=0.35)
    return bars.encode(
        x="low:Q",
        x2="high:Q",
        y=alt.Y("foot:Q"),
        y2="height:Q",
        color=coloured("name", names),
        tooltip=[
            alt.Tooltip("name:N", title="Model"),
            alt.Tooltip("span:N", title="Scores"),
            alt.Tooltip("cases:N", title="Cases"),
        ],
    )


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


def _bins(curves: Mapping[str, CalibrationCurve], bands: Mapping[str, Band]) -> list[alt.Chart]:
    """The points of bins, with whiskers where there are intervals."""
    points = [
        {"name": name, "x": short(x), "y": short(y), "cases": grouped(float(cases))}
        for name, curve in curves.items()
        if curve.by != "isotonic"
        for x, y, cases in zip(curve.x, curve.y, curve.cases, strict=True)
    ]
    whiskers = [
        {"name": name, "x": short(x), "low": short(low), "high": short(high)}
        for name, band in bands.items()
        for x, low, high in zip(band.x, band.low, band.high, strict=True)
        if math.isfinite(low) and math.isfinite(high)
    ]
    layers = []
    if whiskers:
        rules = alt.Chart(alt.InlineData(values=whiskers)).mark_rule(strokeWidth=1.6, opacity=0.7)
        layers.append(rules.encode(x="x:Q", y="low:Q", y2="high:Q", color=coloured("name", curves)))
    if points:
        shown = [
            alt.Tooltip("name:N", title="Model"),
            alt.Tooltip("x:Q", title="Mean score", format=".4~g"),
            alt.Tooltip("y:Q", title="Observed rate", format=".4~g"),
            alt.Tooltip("cases:N", title="Cases"),
        ]
        dots = alt.Chart(alt.InlineData(values=points)).mark_point(filled=True, size=60, opacity=1)
        layers.append(dots.encode(x="x:Q", y="y:Q", color=coloured("name", curves), tooltip=shown))
    return layers
