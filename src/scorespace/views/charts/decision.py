"""A decision in ROC space and in cost space."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt

from scorespace.curves import Curve, Hull, iso_line
from scorespace.decisions import Choice, Decision
from scorespace.results import Row
from scorespace.tables import Array
from scorespace.views.charts.curves import curve_layers
from scorespace.views.charts.theme import FAINT, INK, SOFT, coloured, short, themed


def hull_chart(curves: Mapping[str, Curve], hull: Hull, decision: Decision | None = None) -> alt.LayerChart:
    """ROC curves under their common hull; with a decision, its line of equal cost and the chosen point."""
    outline = alt.Chart(_points(hull.x.tolist(), hull.y.tolist())).mark_line(color=INK, strokeWidth=1.2, opacity=0.75)
    marks = [outline.encode(x="x:Q", y="y:Q", order="place:Q")]
    if decision is not None:
        marks += _chosen(decision.best, decision.slope)
    return themed(curve_layers(curves, above=marks))


def cost_chart(curves: Mapping[str, Curve], decision: Decision, *, chosen: bool = True) -> alt.LayerChart:
    """Cost curves, with a band that names the best model of each condition and a rule at the chosen one."""
    rows = _bands(decision)
    band = alt.Chart(alt.InlineData(values=rows)).mark_rect(opacity=0.85, height=9)
    models = [row["name"] for row in rows if row["name"] in curves]
    tip = [alt.Tooltip("name:N", title="Best model"), alt.Tooltip("slopes:N", title="Slope")]
    height = alt.value(315)  # along the bottom of the plot, in pixels: the axis of costs stays free
    above = [
        band.encode(x="low:Q", x2="high:Q", y=height, color=coloured("name", curves), tooltip=tip).transform_filter(
            alt.FieldOneOfPredicate("name", models)
        ),
        band.mark_rect(color=FAINT, opacity=0.6, height=9)
        .encode(x="low:Q", x2="high:Q", y=height, tooltip=tip)
        .transform_filter({"not": alt.FieldOneOfPredicate("name", models)}),
    ]
    if chosen:
        at = short(1 / (1 + decision.slope))
        here = alt.Chart(alt.InlineData(values=[{"x": at, "label": "these costs"}])).encode(x="x:Q")
        above += [
            here.mark_rule(color=INK, strokeWidth=1.5),
            here.mark_text(align="left", baseline="top", dx=5, color=INK).encode(text="label:N", y=alt.value(2)),
        ]
    return themed(curve_layers(curves, above=above))


def cost_space_chart(curves: Mapping[str, Curve], lines: Mapping[str, Array]) -> alt.LayerChart:
    """Cost curves as the lower envelopes of faint lines, one for each threshold."""
    rows = [
        {"name": name, "line": f"{name} {place}", "x": x, "y": short(float(y))}
        for name, ends in lines.items()
        for place, pair in enumerate(ends)
        for x, y in enumerate(pair)
    ]
    faint = alt.Chart(alt.InlineData(values=rows)).mark_line(strokeWidth=0.7, opacity=0.25, clip=True, aria=False)
    below = [faint.encode(x="x:Q", y="y:Q", detail="line:N", color=coloured("name", curves))]
    return themed(curve_layers(curves, below=below))


def _chosen(best: Choice, slope: float) -> list[alt.Chart]:
    counts = best.counts
    fpr, tpr = float(counts.fp / counts.n), float(counts.tp / counts.p)
    line = iso_line(slope, fpr, tpr)
    iso = alt.Chart(_points(list(line.fpr), list(line.tpr))).mark_line(color=SOFT, strokeWidth=1.5, strokeDash=[6, 4])
    point = alt.Chart(alt.InlineData(values=[{"x": short(fpr), "y": short(tpr), "label": best.model}]))
    place = point.encode(x="x:Q", y="y:Q")
    return [
        iso.encode(x="x:Q", y="y:Q", order="place:Q"),
        place.mark_point(filled=True, size=120, color=INK, opacity=1),
        place.mark_text(align="left", baseline="top", dx=9, dy=5, color=INK, fontWeight=600).encode(text="label:N"),
    ]


def _bands(decision: Decision) -> list[Row]:
    """Each model's range of conditions, on the axis of the cost curve: x = 1 / (1 + slope)."""
    return [
        {
            "name": model,
            "low": short(1 / (1 + high)),
            "high": short(1 / (1 + low)),
            "slopes": f"{low:.3g} to {high:.3g}".replace("inf", "∞"),
        }
        for model, low, high in decision.model_ranges()
    ]


def _points(x: list[float], y: list[float]) -> alt.InlineData:
    return alt.InlineData(
        values=[{"x": short(a), "y": short(b), "place": k} for k, (a, b) in enumerate(zip(x, y, strict=True))]
    )
