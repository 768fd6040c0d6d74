"""Raters in pictures: their smooth ROC curves together, and their scores instance by instance."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np

from scorespace.results import Row
from scorespace.samples.agreement import Agreement, RaterPair
from scorespace.views.charts.marks import Spec, field, layered, mark
from scorespace.views.charts.panel import curve_panel
from scorespace.views.charts.theme import COLOURS, FAINT, UNIT, axis, headed, scale, short, themed

INSTANCES: Final = 2000
"""Most instances drawn per pair."""

_SAME, _OTHER = "same decision", "different decisions"


def agreement_chart(agreement: Agreement) -> Spec:
    """The smooth ROC curves of all raters, then for each pair the scores of one against those of the other."""
    panels = [draw() for draw in _panels(agreement)]
    apart = {"color": "independent", "strokeDash": "independent", "shape": "independent"}
    about = f"Smooth ROC curves and scores of the raters {', '.join(rater.name for rater in agreement.raters)}."
    return themed({"concat": panels, "columns": 2, "spacing": 40, "resolve": {"scale": apart}, "description": about})


def agreement_panels(agreement: Agreement) -> list[Callable[[], Spec]]:
    """The same panels as charts of their own: side by side, a narrow page would shrink them."""
    return [lambda draw=draw: themed(draw()) for draw in _panels(agreement)]  # type: ignore[misc]


def _panels(agreement: Agreement) -> list[Callable[[], Spec]]:
    curves = {rater.name: rater.curve for rater in agreement.raters if np.isfinite(rater.curve.y).all()}
    drawn = [partial(curve_panel, curves, "Smooth ROC of each rater's own decisions", 360, "rater")] if curves else []
    return [*drawn, *(partial(_scatter, agreement, pair) for pair in agreement.pairs)]


def _scatter(agreement: Agreement, pair: RaterPair) -> Spec:
    """Each instance at the scores of both raters; in the band they agree within the tolerance."""
    rows, tolerance = _instances(agreement, pair), agreement.tolerance
    ends = [
        {"x": short(x), "low": short(max(0.0, x - tolerance)), "high": short(min(1.0, x + tolerance))}
        for x in sorted({0.0, tolerance, 1 - tolerance, 1.0})
    ]
    band = mark("area", ends, {"x": "x:Q", "y": "low:Q", "y2": "high"}, color=FAINT, opacity=0.18, aria=False)
    kinds = [_SAME, _OTHER]
    dots = mark(
        "point",
        rows,
        {
            "x": field("a:Q", title=f"Score of {pair.a}", axis=axis(UNIT), scale=scale(UNIT)),
            "y": field("b:Q", title=f"Score of {pair.b}", axis=axis(UNIT), scale=scale(UNIT)),
            "color": field(
                "kind:N",
                title=None,
                scale={"domain": kinds, "range": [COLOURS[4], COLOURS[1]]},
                legend={"symbolSize": 90, "symbolStrokeWidth": 0},
            ),
            "shape": field("kind:N", title=None, scale={"domain": kinds, "range": ["circle", "diamond"]}),
            "tooltip": [
                field("id:N", title="Instance"),
                field("a:Q", title="First score", format=".3f"),
                field("b:Q", title="Second score", format=".3f"),
                field("kind:N", title="They made the"),
            ],
        },
        filled=True,
        size=70,
        opacity=0.75,
    )
    words = f"{pair.a} and {pair.b}; band: scores within {tolerance:g}"
    return layered([band, dots], 360, 360, title=headed(words))


def _instances(agreement: Agreement, pair: RaterPair) -> list[Row]:
    """The instances, or evenly chosen ones when there are too many to draw."""
    raters = {rater.name: rater for rater in agreement.raters}
    a, b = raters[pair.a], raters[pair.b]
    chosen = np.unique(np.linspace(0, agreement.cases - 1, min(agreement.cases, INSTANCES)).astype(np.int64))
    same = a.decision == b.decision
    return [
        {
            "id": str(agreement.ids[k]),
            "a": short(float(a.score[k])),
            "b": short(float(b.score[k])),
            "kind": _SAME if same[k] else _OTHER,
        }
        for k in chosen.tolist()
    ]
