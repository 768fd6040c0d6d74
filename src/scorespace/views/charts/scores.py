"""Where the scores of the classes lie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from scorespace.errors import DataError
from scorespace.results import Row, grouped
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.pair import two_names
from scorespace.views.charts.marks import Spec, by_model, field, layered, mark
from scorespace.views.charts.theme import (
    FAINT,
    INK,
    axis,
    coloured,
    points,
    scale,
    short,
    themed,
    unit_or_less,
    unit_or_none,
)

BINS: Final = 40
"""Most bars drawn per class."""

MOST_STEPS: Final = 400
"""Most steps of stacked ranks; neighbours are merged to their mean, which leaves the area as it is."""


def distribution_chart(tables: Mapping[str, ScoreTable]) -> Spec:
    """Scores of both classes, one panel per model: shares of the positives upwards, of the others downwards."""
    if not tables:
        raise DataError("there are no scores to draw.", hint="at least one case")
    span = unit_or_less(*(table.score for table in tables.values()))
    rows = [row for place, (name, table) in enumerate(tables.items()) for row in _bars(place, name, table, span)]
    zero = mark("rule", None, {"y": {"datum": 0}}, color=FAINT)
    layers = [_histogram(rows, tables, span), zero, _label("up"), _label("down")]
    about = f"Distribution of the scores of both classes: {', '.join(tables)}."
    panels = by_model(rows, layered(layers, 560, 140), 1, about)
    if span is None:
        panels["resolve"] = {"scale": {"x": "independent"}}
    return themed(panels)


def scores_chart(tables: Mapping[str, ScoreTable], model: str) -> Spec:
    """The same for one model in a panel as wide as a curve; a page may set another `model`."""
    span = unit_or_less(*(table.score for table in tables.values()))
    rows = [row for place, (name, table) in enumerate(tables.items()) for row in _bars(place, name, table, span)]
    zero = mark("rule", [{}], {"y": {"datum": 0}}, color=FAINT)
    layers = [_histogram(rows, tables, span), zero]
    names = list(dict.fromkeys(row["label"] for row in rows if "label" in row))
    names = names if len(names) == 2 else ["▲ the class", "▼ the others"]  # which one, the page says
    look = {"anchor": "start", "color": INK, "fontSize": 13, "fontWeight": 500, "offset": 12, "limit": 330}
    title = {"text": "   ".join(names), **look}
    looked_at = [{"filter": "datum.model === model"}]
    about = f"Distribution of the scores of both classes by {model}."
    shown = {"data": {"values": rows}, "transform": looked_at, "title": title, "description": about}
    return themed(layered(layers, 420, 420, **shown))


def stacked_ranks_chart(tables: Mapping[str, ScoreTable]) -> Spec:
    """Below each positive, from the highest, the negatives that it outranks: the area is Mann and Whitney's U.

    Ties count one half. As a share of all pairs of a positive and a negative, U is the AUC.
    """
    if not tables:
        raise DataError("there are no scores to draw.", hint="at least one case")
    found = {name: _outranked(table) for name, table in tables.items()}
    rows = [row for name, (across, heights) in found.items() for row in points(across, heights, name=name)]
    up = field("y:Q", title="Negatives ranked below")
    place = {
        "x": field("x:Q", title="Positives, from the highest score", scale={"nice": False}),
        "y": up,
        "color": coloured("name", tables, areas=True),
    }
    layers = [
        mark("area", rows, {**place, "y": {**up, "stack": None}}, interpolate="step-after", opacity=0.13, aria=False),
        mark("line", rows, {**place, "order": "place:Q"}, interpolate="step-after"),
    ]
    sums = {name: float((np.diff(across) * heights[:-1]).sum()) for name, (across, heights) in found.items()}
    areas = [{"name": "areas", "value": {name: f"U = {grouped(u)}" for name, u in sums.items()}}]
    pairs = {name: float(table.n_pos * table.n_neg) for name, table in tables.items()}
    told = "; ".join(f"{name} {grouped(sums[name])} of {grouped(pairs[name])} pairs" for name in tables)
    about = f"Negatives that each positive outranks; the area is U: {told}."
    return themed(layered(layers, 560, 320, params=areas, description=about))


def _outranked(table: ScoreTable) -> tuple[Array, Array]:
    """How many negatives lie below the positives of each score, and where these begin among all positives."""
    pos, neg = table.pos, table.neg
    below = float(table.n_neg) - np.cumsum(neg) + neg / 2
    held = pos > 0
    size = int(held.sum())
    parts = np.unique(np.linspace(0, size, min(size, MOST_STEPS) + 1).astype(np.intp))
    weight, height = pos[held], below[held]
    merged = np.add.reduceat(weight, parts[:-1])
    means = np.add.reduceat(weight * height, parts[:-1]) / merged
    return np.append(0.0, np.cumsum(merged)), np.append(means, means[-1])


def _histogram(rows: list[Row], names: Mapping[str, object], span: tuple[float, float] | None) -> Spec:
    lowest, highest = min(row["signed"] for row in rows), max(row["signed"] for row in rows)
    room = 0.15 * (highest - lowest) or 1.0  # above and below the bars, for the names of the classes
    share = {"labelExpr": "format(abs(datum.value), '.0%')", "tickCount": 4, "grid": False}
    ends = scale((lowest - room, highest + room))
    encoding = {
        "x": field("low:Q", bin="binned", title="Score", axis=axis(span), scale=scale(span)),
        "x2": "high",
        "y": field("signed:Q", title="Share of class", axis=share, scale=ends),
        "color": coloured("model", names, legend=False),
        "opacity": field("side:O", scale={"domain": ["up", "down"], "range": [1, 0.45]}, legend=None),
        "tooltip": [
            field("model:N", title="Model"),
            field("class:N", title="Class"),
            field("span:N", title="Scores"),
            field("share:Q", title="Share of class", format=".1%"),
        ],
    }
    return mark("bar", None, encoding, binSpacing=1)


def _label(side: str) -> Spec:
    """The name of a class in the corner that its bars leave free."""
    up = side == "up"
    corner = {"x": {"value": 6 if up else "width"}, "y": {"value": 2 if up else "height"}}
    where = f"datum.label && datum.side == '{side}'"
    look = {"align": "left" if up else "right", "baseline": "top" if up else "bottom"}
    return mark("text", None, {"text": "label:N", **corner}, where=where, **look)


def _bars(place: int, name: str, table: ScoreTable, span: tuple[float, float] | None) -> list[Row]:
    """The histogram of each class on the same bins, the others' shares negative."""
    negative, positive = two_names(table.classes, table.positive)
    edges = _edges(table.score, span)
    above = table.at(edges[:-1])  # what lies from each edge on; scores are sorted already
    sides = (("up", "▲", positive, above.tp, table.n_pos, 1), ("down", "▼", negative, above.fp, table.n_neg, -1))
    rows: list[Row] = []
    for side, arrow, label, from_there, total, sign in sides:
        shares = np.nan_to_num(ratio(from_there - np.append(from_there[1:], 0.0), total))
        rows += [
            {
                "place": place,
                "model": name,
                "class": label,
                "side": side,
                "low": short(low),
                "high": short(high),
                "span": f"{low:.3g} to {high:.3g}",
                "share": short(share),
                "signed": short(sign * share),
            }
            for low, high, share in zip(edges[:-1], edges[1:], shares, strict=True)
        ]
        rows[-1]["label"] = f"{arrow} {label} ({grouped(float(total))})"
    return rows


def _edges(score: Array, span: tuple[float, float] | None) -> Array:
    """The edges of the bins: all over the span of probabilities, else from the lowest to the highest score."""
    low, high = span or unit_or_none(score) or (float(score.min()), float(score.max()))
    # Neighbouring floats leave no room for 40 bins, so equal edges become one.
    edges = np.unique(np.linspace(low, high, BINS + 1))
    margin = max(0.5, abs(low) / 2)
    return edges if edges.size > 1 else np.array([low - margin, low + margin])
