"""Batches over time in pictures: how the evidence that something moved grows, and how the numbers went."""

from __future__ import annotations

from scorespace.samples.monitor import ALARM, NUMBERS, Monitoring
from scorespace.views.charts.marks import Spec, field, layered, mark
from scorespace.views.charts.theme import FAINT, INK, SOFT, coloured, short, themed

_LEAST = 1e-4
_NAMED = 60  # batches whose names an axis can hold


def monitor_chart(found: Monitoring) -> Spec:
    """The evidence after each batch on a logarithmic axis, the bound, and the batch of the alarm."""
    values = [min(max(value, _LEAST), 1e9) for value in found.evidence.tolist()]
    rows = [
        {"place": place, "batch": one.name, "cases": one.cases, "evidence": float(f"{value:.4g}")}
        for place, (one, value) in enumerate(zip(found.batches, values, strict=True), start=1)
    ]
    # The bound is in sight whatever the evidence is.
    span = [min(_LEAST * 100, *values), max(100.0, *values)]
    encoding = {
        "x": _across(len(rows)),
        "y": field("evidence:Q", title="Evidence", scale={"type": "log", "domain": span}, axis={"tickCount": 6}),
        "tooltip": [field("batch:N"), field("cases:Q"), field("evidence:Q")],
    }
    bound = {"y": {"datum": ALARM}}
    layers = [
        mark("rule", [{}], bound, color=SOFT, strokeDash=[4, 4]),
        mark(
            "text", [{"text": "alarm"}], {**bound, "x": {"value": 4}, "text": "text:N"}, align="left", dy=-7, color=SOFT
        ),
        mark("line", rows, encoding, color=INK, strokeWidth=2, point={"color": INK, "size": 26}),
    ]
    if found.alarm is not None:
        name = {"x": encoding["x"], "y": encoding["y"], "text": "batch:N"}
        layers.append(mark("text", [rows[found.alarm]], name, align="right", dx=-8, dy=-8, color=INK, fontWeight=600))
        layers.append(mark("rule", [rows[found.alarm]], {"x": encoding["x"]}, color=FAINT))
    about = f"Evidence that something moved since {found.before}."
    return themed({**layered(layers, 560, 260), "description": about})


def course_chart(found: Monitoring, name: str) -> Spec:
    """A number of each batch as a dot with its interval, model by model, and that of the sample before as a line."""
    models = [model for model, one in found.seen if one == name]
    rows = [
        {
            "place": place,
            "batch": one.name,
            "model": model,
            "value": short(seen.value),
            "low": short(seen.low),
            "high": short(seen.high),
        }
        for place, one in enumerate(found.batches, start=1)
        for model in models
        if (seen := one.seen.get((model, name))) is not None
    ]
    several = len(models) > 1
    names = found.models if several else models
    colour = {"color": coloured("model", names, legend=several)}
    shared = {"x": _across(len(found.batches)), **colour}
    shared |= {"xOffset": field("model:N", sort=None)} if several and len(found.batches) <= _NAMED else {}
    title = NUMBERS[name][0].upper() + NUMBERS[name][1:]
    up = {"title": title, "scale": {"zero": False, "nice": True}, "axis": {"tickCount": 6}}
    tooltip = [field("batch:N"), *([field("model:N")] if several else []), field("value:Q", title=title)]
    before = [{"model": model, "before": short(found.seen[model, name].value)} for model in models]
    layers = [
        mark("rule", before, {"y": field("before:Q", **up), **colour}, strokeDash=[4, 4], opacity=0.8),
        mark("rule", rows, {**shared, "y": field("low:Q", **up), "y2": "high"}, strokeWidth=1.4, opacity=0.6),
        mark("point", rows, {**shared, "y": field("value:Q", **up), "tooltip": tooltip}, filled=True, opacity=1),
    ]
    about = f"{title} of each batch; the dashed line is that of {found.before}."
    return themed({**layered(layers, 520, 200), "description": about})


def _across(batches: int) -> Spec:
    """The axis of the batches: by name, while there is room for these."""
    if batches <= _NAMED:
        return field("batch:O", title="Batch", sort=None, axis={"labelOverlap": True, "labelAngle": 0, "grid": False})
    return field("place:Q", title="Batch", axis={"tickMinStep": 1, "grid": False})
