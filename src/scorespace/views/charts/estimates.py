"""Estimates with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

from scorespace.errors import DataError
from scorespace.measures import MeasureSpec
from scorespace.resampling.estimate import Estimate
from scorespace.results import Row
from scorespace.tables import Top
from scorespace.tables.threshold import threshold_text
from scorespace.views.charts.marks import Spec, field, layered, mark
from scorespace.views.charts.theme import INK, coloured, short, themed


def measures_chart(by_measure: Sequence[Sequence[Estimate]]) -> Spec:
    """Several measures, each in a panel with a scale of its own, one below the other."""
    if not by_measure or not all(by_measure):
        raise DataError("there is no estimate to draw.", hint="at least one measure that is defined")
    panels = [_panel(estimates) for estimates in by_measure]
    about = "; ".join(str(panel["description"]).rstrip(".") for panel in panels)
    apart = {"scale": {"x": "independent", "y": "independent"}}
    return themed({"vconcat": panels, "resolve": apart, "description": f"{about}."})


def _panel(estimates: Sequence[Estimate]) -> Spec:
    """One measure of every model as a dot, with its interval as a whisker."""
    measured = _words(estimates[0].spec)
    tooltip = [field("model:N", title="Model"), field("text:N", title=measured)]
    if any(estimate.reason for estimate in estimates):
        tooltip.append(field("reason:N", title="Reason"))
    two_lines = {"labelExpr": r"split(datum.value, '\n')", "labelLimit": 170, "labelOffset": -8}
    of_model = {
        "y": field("label:N", sort=None, title=None, axis={**two_lines, "labelColor": INK, "ticks": False}),
        "color": coloured("model", dict.fromkeys(estimate.model for estimate in estimates), legend=False),
        "tooltip": tooltip,
    }
    title = f"{measured} ({100 * estimates[0].level:g} % interval)"
    value = field("value:Q", title=title, axis={"tickCount": 6}, scale={"zero": False, "padding": 12})
    layers = [
        mark("rule", None, {**of_model, "x": "low:Q", "x2": "high"}, strokeWidth=2.4),
        mark("point", None, {**of_model, "x": value}, filled=True, size=110, opacity=1),
    ]
    told = "; ".join(f"{estimate.model} {estimate.text}" for estimate in estimates)
    data = {"values": list(map(_row, estimates))}
    return layered(layers, 420, {"step": 48}, data=data, description=f"{measured}: {told}.")


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
    at = ""
    if spec.at is not None:
        at = f" at {spec.at}" if isinstance(spec.at, Top) else f" at threshold {threshold_text(spec.at)}"
    return f"{spec.measure.title}{of}{at}"
