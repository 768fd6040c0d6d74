"""Two samples in pictures: the scores of each class, and the curves, before and after."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np

from scorespace.curves import roc
from scorespace.results import Row
from scorespace.samples.moved import Drift, ModelDrift
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.views.charts.marks import Spec, field, layered, mark
from scorespace.views.charts.panel import curve_panel
from scorespace.views.charts.theme import FAINT, axis, coloured, dashed, headed, scale, short, themed, unit_or_none

SAMPLES: Final = ("before", "after")
_BINS: Final = 20


def drift_chart(drift: Drift) -> Spec:
    """For each model: the scores within the classes, and the ROC and smooth ROC curves, of both samples."""
    rows = [{"hconcat": [draw() for draw in _panels(drift, one)], "spacing": 28} for one in drift.models]
    names = ", ".join(one.model for one in drift.models)
    return themed({"vconcat": rows, "spacing": 36, "description": f"Scores and curves before and after: {names}."})


def drift_panels(drift: Drift) -> list[Callable[[], Spec]]:
    """The same panels as charts of their own: side by side, a narrow page would shrink them."""
    return [lambda draw=draw: themed(draw()) for one in drift.models for draw in _panels(drift, one)]  # type: ignore[misc]


def _panels(drift: Drift, one: ModelDrift) -> list[Callable[[], Spec]]:
    of_model = f"{one.model}: " if len(drift.models) > 1 else ""
    curves = {"ROC": tuple(map(roc, one.tables))} if drift.labelled else {}
    if one.curves is not None:
        curves["Smooth ROC, at the prevalence before"] = one.curves
    drawn = {title: pair for title, pair in curves.items() if all(np.isfinite(curve.y).all() for curve in pair)}
    both = (
        partial(curve_panel, dict(zip(SAMPLES, pair, strict=True)), title, 300, "sample")
        for title, pair in drawn.items()
    )
    return [partial(_distributions, one, drift.labelled, of_model), *both]


def _distributions(one: ModelDrift, labelled: bool, of_model: str) -> Spec:
    """The share of each sample's cases by score: upwards those of the positive class, downwards of the others."""
    before, after = one.tables
    scores = np.concatenate([before.score, after.score])
    span = unit_or_none(scores)
    low, high = span or (float(scores.min()), float(scores.max()))
    edges = np.linspace(low, high if high > low else low + 1, _BINS + 1)
    rows = [row for k, table in enumerate(one.tables) for row in _steps(SAMPLES[k], table, edges, labelled)]
    share = {"labelExpr": "format(abs(datum.value), '.0%')", "tickCount": 5, "grid": False}
    encoding = {
        "x": field("x:Q", title="Score", axis=axis(span), scale=scale(span)),
        "y": field("y:Q", title="Share of class" if labelled else "Share of cases", axis=share),
        "color": coloured("sample", SAMPLES),
        "strokeDash": dashed("sample", SAMPLES),
        "detail": "side:N",
        "order": "place:Q",
        "tooltip": [field("sample:N"), field("class:N"), field("share:Q", format=".1%")],
    }
    layers = [
        mark("rule", [{}], {"y": {"datum": 0}}, color=FAINT),
        mark("line", rows, encoding, interpolate="step-after", strokeWidth=2),
    ]
    if labelled:
        positive = before.classes[before.positive]
        others = [name for name in before.classes if name != positive]
        layers += [_name(f"▲ {positive}", "top"), _name(f"▼ {', '.join(others)}", "bottom")]
    words = f"{of_model}{'Scores within the classes' if labelled else 'Scores'}"
    return layered(layers, 330, 300, title=headed(words))


def _name(text: str, side: str) -> Spec:
    inside = 4 if side == "top" else -4
    place = {"text": "text:N", "x": {"value": "width"}, "y": {"value": 0 if side == "top" else "height"}}
    return mark("text", [{"text": text}], place, align="right", baseline=side, dx=-4, dy=inside)


def _steps(sample: str, table: ScoreTable, edges: Array, labelled: bool) -> list[Row]:
    both = [("up", table.pos, 1), ("down", table.neg, -1)] if labelled else [("up", table.pos + table.neg, 1)]
    names = {"up": table.classes[table.positive], "down": f"not {table.classes[table.positive]}"}
    rows: list[Row] = []
    # A score on an edge belongs above it, also where 3 · 0.05 is a little more than 0.15.
    bins = np.append(edges[:-1] - 1e-9, edges[-1] + 1e-9)
    for side, weight, sign in both:
        shares = np.nan_to_num(ratio(np.histogram(table.score, bins=bins, weights=weight)[0], weight.sum()))
        heights = np.append(shares, shares[-1])  # the last step needs an end
        rows += [
            {
                "sample": sample,
                "side": side,
                "class": names[side],
                "place": place,
                "x": short(float(x)),
                "share": short(float(height)),
                "y": short(sign * float(height)),
            }
            for place, (x, height) in enumerate(zip(edges, heights, strict=True))
        ]
    return rows
