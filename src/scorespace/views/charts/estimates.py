"""Estimates with their intervals."""

from __future__ import annotations

from collections.abc import Iterable

import altair as alt

from scorespace.errors import DataError
from scorespace.measures import MeasureSpec
from scorespace.resampling.estimate import Estimate
from scorespace.results import Row
from scorespace.views.charts.theme import INK, coloured, short, themed


def interval_chart(estimates: Iterable[Estimate]) -> alt.LayerChart:
    """One measure of every model as a dot, with its interval as a whisker."""
    estimates = list(estimates)
    if not estimates:
        raise DataError("there is no estimate to draw.")
    measured = _words(estimates[0].spec)
    tooltip = [alt.Tooltip("model:N", title="Model"), alt.Tooltip("text:N", title=measured)]
    if any(estimate.reason for estimate in estimates):
        tooltip.append(alt.Tooltip("reason:N", title="Reason"))
    label = alt.Axis(labelExpr=r"split(datum.value, '\n')", labelLimit=170, labelOffset=-8, labelColor=INK, ticks=False)
    base = alt.Chart(alt.InlineData(values=list(map(_row, estimates)))).encode(
        y=alt.Y("label:N", sort=None, title=None, axis=label),
        color=coloured("model", dict.fromkeys(estimate.model for estimate in estimates), legend=False),
        tooltip=tooltip,
    )
    title = f"{measured} ({100 * estimates[0].level:g} % interval)"
    value = alt.X("value:Q", title=title, axis=alt.Axis(tickCount=6), scale=alt.Scale(zero=False, padding=12))
    whiskers = base.mark_rule(strokeWidth=2.4).encode(x="low:Q", x2="high:Q")
    dots = base.mark_point(filled=True, size=110, opacity=1).encode(x=value)
    told = "; ".join(f"{estimate.model} {estimate.text}" for estimate in estimates)
    chart = alt.LayerChart(layer=[whiskers, dots]).properties(
        width=420, height=alt.Step(48), description=f"{measured}: {told}."
    )
    return themed(chart)


def _row(estimate: Estimate) -> Row:
    return {
        "model": estimate.model,
        # Two lines per label: the name, and the numbers that dot and whisker stand for.
        "label": f"{' '.join(estimate.model.split())}\n{estimate.text}",
        "text": estimate.text,
        "reason": estimate.reason or "",
        "value": short(estimate.value),
        "low": short(estimate.low),
        "high": short(estimate.high),
    }


def _words(spec: MeasureSpec) -> str:
    """The measure in plain words, with its class and threshold."""
    of = "" if spec.of is None else f" of {spec.of}"
    at = "" if spec.at is None else f" at threshold {spec.at:g}"
    return f"{spec.measure.title}{of}{at}"
