"""The chart of slices: a number of every slice with its interval, and a line where the whole sample is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scorespace.errors import DataError
from scorespace.resampling.estimate import Estimate
from scorespace.results import grouped
from scorespace.views.charts.marks import Spec, field, layered, mark
from scorespace.views.charts.theme import COLOURS, INK, SOFT, short, themed

if TYPE_CHECKING:
    from scorespace.comparisons.slices import Gap, Slices


def slices_chart(found: Slices, gaps: Sequence[Gap], whole: Estimate) -> Spec:
    """One measure of a model in every slice as a dot with a whisker; hollow dots are not told apart from the rest."""
    if not gaps:
        raise DataError("there is no slice to draw.", hint="at least one")
    first = gaps[0].estimate
    tooltip = [field("slice:N", title=found.title), field("text:N", title=str(first.spec)), field("gap:N", title="Gap")]
    of_slice = {
        "y": field("label:N", sort=None, title=None, axis={"labelColor": INK, "labelLimit": 240, "ticks": False}),
        "tooltip": tooltip,
    }
    title = f"{first.spec} of {first.model} ({100 * first.level:g} % interval)"
    value = field("value:Q", title=title, axis={"tickCount": 6}, scale={"zero": False, "padding": 12})
    sure = {"condition": {"test": "datum.sure", "value": COLOURS[0]}, "value": "white"}
    layers = [
        mark("rule", [{"whole": short(whole.value)}], {"x": "whole:Q"}, color=SOFT, strokeDash=[4, 3]),
        mark("rule", None, {**of_slice, "x": "low:Q", "x2": "high"}, strokeWidth=2.4, color=COLOURS[0]),
        mark("point", None, {**of_slice, "x": value, "fill": sure}, size=110, opacity=1, stroke=COLOURS[0]),
    ]
    rows = [
        {
            "slice": one.slice,
            "label": f"{one.slice} ({grouped(found.rows_of[one.slice])})",
            "text": one.estimate.text,
            "gap": one.test.size,
            "sure": one.sure,
            "value": short(one.estimate.value),
            "low": short(one.estimate.low),
            "high": short(one.estimate.high),
        }
        for one in gaps
    ]
    told = "; ".join(f"{one.slice} {one.estimate.text}" for one in gaps)
    about = f"{first.spec} of {first.model} by {found.title}: {told}; the whole {whole.text}."
    return themed(layered(layers, 420, {"step": 30}, data={"values": rows}, description=about))
