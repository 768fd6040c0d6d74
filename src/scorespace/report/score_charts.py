"""Charts of score distributions and ranks by class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from scorespace.errors import DataError
from scorespace.report.chart_theme import (
    CLASSES,
    FAINT,
    INK,
    Spec,
    axis,
    by_model,
    coloured,
    datum,
    field,
    layered,
    mark,
    points,
    scale,
    themed,
    unit_or_less,
    unit_or_none,
)
from scorespace.results import Row, grouped
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.paired import binary_class_names

BINS: Final = 40
"""Maximum number of bars per class."""

MAX_STEPS: Final = 400
"""Maximum number of steps of stacked ranks; adjacent steps are merged to their mean, which preserves the area."""


def distribution_chart(tables: Mapping[str, ScoreTable]) -> Spec:
    """Histograms of scores by class, one panel per model: positives upwards, negatives downwards."""
    if not tables:
        raise DataError("there are no scores to draw.", hint="at least one case")
    score_range = unit_or_less(*(table.score for table in tables.values()))
    rows = [
        row
        for panel_index, (name, table) in enumerate(tables.items())
        for row in _bars(panel_index, name, table, score_range)
    ]
    zero_line = mark("rule", None, {"y": {"datum": 0}}, color=FAINT)
    layers = [_histogram(rows, tables, score_range), zero_line, _class_label("up"), _class_label("down")]
    description = f"Distribution of the scores of both classes: {', '.join(tables)}."
    panels = by_model(rows, layered(layers, 560, 140), 1, description)
    if score_range is None:
        panels["resolve"] = {"scale": {"x": "independent"}}
    return themed(panels)


def scores_chart(tables: Mapping[str, ScoreTable], model: str) -> Spec:
    """The same for one model in a single panel; the script may select another `model`."""
    score_range = unit_or_less(*(table.score for table in tables.values()))
    rows = [
        row
        for model_index, (name, table) in enumerate(tables.items())
        for row in _bars(model_index, name, table, score_range)
    ]
    zero_line = mark("rule", [{}], {"y": {"datum": 0}}, color=FAINT)
    layers = [_histogram(rows, tables, score_range), zero_line]
    names = list(dict.fromkeys(row["label"] for row in rows if "label" in row))
    names = names if len(names) == 2 else ["▲ the class", "▼ the rest"]  # one-vs-rest: the panel names the class
    title_style = {"anchor": "start", "color": INK, "fontSize": 13, "fontWeight": 500, "offset": 12, "limit": 330}
    title = {"text": "   ".join(names), **title_style}
    model_filter = [{"filter": "datum.model === model"}]
    description = f"Distribution of the scores of both classes by {model}."
    settings = {"data": {"values": rows}, "transform": model_filter, "title": title, "description": description}
    return themed(layered(layers, 420, 420, **settings))


def stacked_ranks_chart(tables: Mapping[str, ScoreTable]) -> Spec:
    """Stacked ranks: below each positive, from the highest score, the negatives it outranks.

    The area is Mann-Whitney's U. Ties count one half. U divided by the number of pairs is the AUC.
    """
    if not tables:
        raise DataError("there are no scores to draw.", hint="at least one case")
    steps = {name: _rank_steps(table) for name, table in tables.items()}
    rows = [row for name, (x, heights) in steps.items() for row in points(x, heights, name=name)]
    y_field = field("y:Q", title="Negatives ranked below")
    encoding = {
        "x": field("x:Q", title="Positives, from the highest score", scale={"nice": False}),
        "y": y_field,
        "color": coloured("name", tables, areas=True),
    }
    layers = [
        mark(
            "area",
            rows,
            {**encoding, "y": {**y_field, "stack": None}},
            interpolate="step-after",
            opacity=0.13,
            aria=False,
        ),
        mark("line", rows, {**encoding, "order": "place:Q"}, interpolate="step-after"),
    ]
    sums = {name: float((np.diff(x) * heights[:-1]).sum()) for name, (x, heights) in steps.items()}
    areas = [{"name": "areas", "value": {name: f"U = {grouped(u)}" for name, u in sums.items()}}]
    pairs = {name: float(table.n_pos * table.n_neg) for name, table in tables.items()}
    sums_text = "; ".join(f"{name} {grouped(sums[name])} of {grouped(pairs[name])} pairs" for name in tables)
    description = f"Negatives that each positive outranks; the area is U: {sums_text}."
    return themed(layered(layers, 560, 320, params=areas, description=description))


def _rank_steps(table: ScoreTable) -> tuple[Array, Array]:
    """Start of each step among the positives, and the number of negatives ranked below."""
    pos, neg = table.pos, table.neg
    below = float(table.n_neg) - np.cumsum(neg) + neg / 2
    has_positives = pos > 0
    size = int(has_positives.sum())
    step_starts = np.unique(np.linspace(0, size, min(size, MAX_STEPS) + 1).astype(np.intp))
    weight, height = pos[has_positives], below[has_positives]
    merged = np.add.reduceat(weight, step_starts[:-1])
    means = np.add.reduceat(weight * height, step_starts[:-1]) / merged
    return np.append(0.0, np.cumsum(merged)), np.append(means, means[-1])


def _histogram(rows: list[Row], names: Mapping[str, object], score_range: tuple[float, float] | None) -> Spec:
    lowest, highest = min(row["signed"] for row in rows), max(row["signed"] for row in rows)
    margin = 0.15 * (highest - lowest) or 1.0  # space for the class labels
    share_axis = {"labelExpr": "format(abs(datum.value), '.0%')", "tickCount": 4, "grid": False}
    y_scale = scale((lowest - margin, highest + margin))
    encoding = {
        "x": field("low:Q", bin="binned", title="Score", axis=axis(score_range), scale=scale(score_range)),
        "x2": "high",
        "y": field("signed:Q", title="Share of class", axis=share_axis, scale=y_scale),
        "color": field("side:N", scale={"domain": list(CLASSES), "range": list(CLASSES.values())}, legend=None),
        "tooltip": [
            field("model:N", title="Model"),
            field("class:N", title="Class"),
            field("span:N", title="Scores"),
            field("share:Q", title="Share of class", format=".1%"),
        ],
    }
    return mark("bar", None, encoding, binSpacing=1)


def _class_label(side: str) -> Spec:
    """Name of a class in the corner without bars."""
    is_up = side == "up"
    position = {"x": {"value": 6 if is_up else "width"}, "y": {"value": 2 if is_up else "height"}}
    where = f"datum.label && datum.side == '{side}'"
    style = {"align": "left" if is_up else "right", "baseline": "top" if is_up else "bottom"}
    return mark("text", None, {"text": "label:N", **position}, where=where, **style)


def _bars(panel_index: int, name: str, table: ScoreTable, score_range: tuple[float, float] | None) -> list[Row]:
    """Histogram of each class with common bins; proportions of negatives are negative."""
    negative, positive = binary_class_names(table.classes, table.positive)
    edges = _edges(table.score, score_range)
    at_or_above = table.at(edges[:-1])  # counts from each edge on
    sides = (
        ("up", "▲", positive, at_or_above.tp, table.n_pos, 1),
        ("down", "▼", negative, at_or_above.fp, table.n_neg, -1),
    )
    rows: list[Row] = []
    for side, arrow, label, cumulative, total, sign in sides:
        shares = np.nan_to_num(ratio(cumulative - np.append(cumulative[1:], 0.0), total))
        rows += [
            {
                "place": panel_index,
                "model": name,
                "class": label,
                "side": side,
                "low": datum(low),
                "high": datum(high),
                "span": f"{low:.3g} to {high:.3g}",
                "share": datum(share),
                "signed": datum(sign * share),
            }
            for low, high, share in zip(edges[:-1], edges[1:], shares, strict=True)
        ]
        rows[-1]["label"] = f"{arrow} {label} ({grouped(float(total))})"
    return rows


def _edges(score: Array, score_range: tuple[float, float] | None) -> Array:
    """Bin edges over the range of probabilities, or from the lowest to the highest score."""
    low, high = score_range or unit_or_none(score) or (float(score.min()), float(score.max()))
    # Scores that differ by rounding only have fewer than 40 distinct edges.
    edges = np.unique(np.linspace(low, high, BINS + 1))
    margin = max(0.5, abs(low) / 2)
    return edges if edges.size > 1 else np.array([low - margin, low + margin])
