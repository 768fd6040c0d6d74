"""Charts of few cases, in which every case, threshold and segment is labelled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from scorespace.curves import RocCurve
from scorespace.errors import DataError
from scorespace.report.chart_theme import (
    CLASSES,
    COLOURS,
    INK,
    Spec,
    datum,
    field,
    layered,
    mark,
    panel_title,
    points,
    themed,
)
from scorespace.report.curve_charts import curve_layers
from scorespace.results import Row, decimals, grouped, percent
from scorespace.tables import Array, ScoreTable
from scorespace.tables.paired import binary_class_names
from scorespace.tables.threshold import threshold_text

FEW: Final = 30
"""Maximum number of cases that are labelled one by one."""

Labels = Mapping[float, str]
"""Names of the cases at each score."""

_POSITION: Final[Spec] = {"x": "x:Q", "y": "y:Q"}
_PANEL: Final = 300


def has_few_cases(table: ScoreTable) -> bool:
    """Whether the table counts at most 30 unweighted cases."""
    counts = np.concatenate([table.pos, table.neg])
    return bool(0 < table.total <= FEW and (counts == np.rint(counts)).all() and table.bins is None)


def threshold_labels(curve: RocCurve, labels: Labels | None = None) -> list[Spec]:
    """Layers of a ROC curve of few cases: a dot at each threshold with its label, and the most accurate one."""
    inner = np.isfinite(curve.threshold)
    rows = [
        {**row, "label": _point_label(threshold, labels)}
        for row, threshold in zip(points(curve.x[inner], curve.y[inner]), curve.threshold[inner].tolist(), strict=True)
    ]
    style = {"align": "left", "baseline": "top", "dx": 5, "dy": 4, "fontSize": 10, "aria": False}
    layers = [
        mark("point", rows, _POSITION, filled=True, size=45, color=INK, opacity=1, aria=False),
        mark("text", rows[:-1], _POSITION | {"text": "label:N"}, **style),
        mark("text", rows[-1:], _POSITION | {"text": "label:N"}, **style | {"align": "right", "dx": -5}),
    ]
    counts = curve.table.sweep
    accuracy = (counts.tp + counts.tn) / (counts.p + counts.n)
    best = int(np.argmax(accuracy))
    note = f"best accuracy {percent(float(accuracy[best]), 0)} at {threshold_text(float(curve.threshold[best]))}"
    corner = {"x": {"value": "width"}, "y": {"value": "height"}, "text": "label:N"}
    ring = [{"x": datum(float(curve.x[best])), "y": datum(float(curve.y[best])), "label": note}]
    layers.append(mark("point", ring, _POSITION, size=190, color=COLOURS[1], strokeWidth=2.4, opacity=1, aria=False))
    corner_style = {"align": "right", "baseline": "bottom", "dx": -8, "dy": -8, "color": COLOURS[1], "fontWeight": 600}
    return [*layers, mark("text", ring, corner, **corner_style)]


def _point_label(threshold: float, labels: Labels | None) -> str:
    return threshold_text(threshold) if labels is None else labels.get(threshold, "")


def rank_staircase_chart(name: str, table: ScoreTable) -> Spec:
    """Mann-Whitney U in three steps: ranks as bars, those of positives as a staircase, and U in its rectangle."""
    require_few(table, "the ranks of single cases")
    if not (table.n_pos and table.n_neg):
        raise DataError("Mann-Whitney U needs both classes.", hint="cases of the other class")
    score, is_positive = single_cases(table)
    rank = _mid_ranks(score)
    n_pos, n_neg = int(is_positive.sum()), int((~is_positive).sum())
    rank_sum = float(rank[is_positive].sum())
    triangle, rectangle = n_pos * (n_pos + 1) / 2, n_pos * n_neg
    u = rank_sum - triangle
    negative, positive = binary_class_names(table.classes, table.positive)
    side = np.where(is_positive, CLASSES["up"], CLASSES["down"]).tolist()
    # The right edge of the positives is a staircase of one rank per step; what is left of it counts negatives.
    right = n_neg + np.arange(n_pos, 0, -1)
    left = right - rank[is_positive]
    u_bars = _bars(left, np.full(n_pos, n_neg), [CLASSES["up"]] * n_pos)
    u_text = (0.62 * n_neg, n_pos // 4 + 0.5, f"U = {grouped(u)}")
    n_all = n_pos + n_neg
    all_bars = [
        row | {"score": datum(s), "rank": datum(r), "class": positive if p else negative}
        for row, s, r, p in zip(_bars(np.zeros(n_all), rank, side), score, rank, is_positive, strict=True)
    ]
    classes = [
        _texts([(0.97 * n_all, (0.86 + 0.07 * k) * n_all, f"■ {label}")], colour, "right")
        for k, (label, colour) in enumerate(((positive, CLASSES["up"]), (negative, CLASSES["down"])))
    ]
    frame = [{"low": 0, "high": n_neg, "top": 0, "bottom": n_pos}]
    dashed = mark("rect", frame, _RANGES, fillOpacity=0, stroke=INK, strokeDash=[6, 4], strokeWidth=2)
    panels = [
        _bar_panel("1. Ranks of all scores", all_bars, (n_all, n_all), classes),
        _bar_panel(
            f"2. R1 − n1 (n1 + 1) / 2 = {grouped(rank_sum)} − {grouped(triangle)}",
            u_bars + _bars(np.full(n_pos, n_neg), right, [_LIGHT] * n_pos),
            (n_all, n_pos),
            [_texts([u_text, (n_neg + n_pos / 3, n_pos // 4 + 0.5, grouped(triangle))])],
        ),
        _bar_panel(
            f"3. AUC = U / (n1 · n2) = {grouped(u)} / {grouped(rectangle)} = {decimals(u / rectangle)}",
            u_bars,
            (n_neg, n_pos),
            [dashed, _texts([u_text])],
        ),
    ]
    description = (
        f"Mann-Whitney U of {name}: rank sum {grouped(rank_sum)} of the positives, minus the triangle "
        f"{grouped(triangle)}, is U = {grouped(u)} of {grouped(rectangle)} pairs."
    )
    return themed({"hconcat": panels, "spacing": 36, "description": description})


_LIGHT: Final = "#f3c9a8"
_RANGES: Final[Spec] = {"x": "low:Q", "x2": "high", "y": "top:Q", "y2": "bottom"}


def _bars(low: Array, high: Array, colours: list[str]) -> list[Row]:
    """Horizontal bars, from the top down."""
    ends = zip(low.tolist(), high.tolist(), colours, strict=True)
    return [
        {"low": datum(a), "high": datum(b), "top": k, "bottom": k + 1, "fill": colour}
        for k, (a, b, colour) in enumerate(ends)
    ]


def _bar_panel(title: str, rows: list[Row], ends: tuple[int, int], above: list[Spec]) -> Spec:
    """Horizontal bars with whole numbers on the axis."""
    step = max(1, round(ends[0] / 10))
    ticks = {"values": list(range(0, ends[0] + 1, step)), "format": "d", "grid": False}
    encoding = _RANGES | {
        "x": field("low:Q", title="Rank", axis=ticks, scale={"domain": [0, ends[0]], "nice": False}),
        "y": field("top:Q", title=None, axis=None, scale={"domain": [ends[1], 0], "nice": False}),
        "fill": field("fill:N", scale=None),
    }
    layers = [mark("rect", rows, encoding, stroke="white", strokeWidth=1), *above]
    return layered(layers, _PANEL, _PANEL, title=panel_title(title))


def _texts(texts: list[tuple[float, float, str]], colour: str = INK, align: str = "center") -> Spec:
    rows = [{"x": x, "y": y, "label": label} for x, y, label in texts]
    style = {"color": colour, "align": align, "fontSize": 15, "fontWeight": 600}
    return mark("text", rows, _POSITION | {"text": "label:N"}, **style)


def require_few(table: ScoreTable, what: str) -> ScoreTable:
    """The table, if it has few single cases."""
    if not has_few_cases(table):
        raise DataError(
            f"{what} is drawn for at most {FEW} unweighted cases.",
            seen=f"{grouped(float(table.total))} cases",
            hint="a part of the data, such as --where 'id <= 20'",
        )
    return table


def single_cases(table: ScoreTable) -> tuple[Array, Array]:
    """Score and class of each case, from the highest score; of equal scores, positives first."""
    score = np.concatenate([np.repeat(table.score, side.astype(np.intp)) for side in (table.pos, table.neg)])
    is_positive = np.repeat([True, False], [int(table.n_pos), int(table.n_neg)])
    order = np.lexsort((~is_positive, -score))
    return score[order], is_positive[order]


def _mid_ranks(score: Array) -> Array:
    """Ranks from 1 at the lowest score; equal scores share their mean rank."""
    return (1 + (score[:, None] > score).sum(axis=1) + (score[:, None] >= score).sum(axis=1)) / 2


def counts_chart(curves: Mapping[str, RocCurve], above: list[Spec]) -> Spec:
    """ROC curves in counts, with one scale on both axes, so that the chart is square only for equal classes."""
    n_neg, n_pos = (
        max(float(axis[-1]) for axis in side) for side in zip(*((c.x, c.y) for c in curves.values()), strict=True)
    )
    unit = 420 / max(n_neg, n_pos)
    spec = curve_layers(curves, above=above) | {
        "width": max(120, round(unit * n_neg)),
        "height": max(120, round(unit * n_pos)),
    }
    for layer in spec["layer"]:
        for side, end in (("x", n_neg), ("y", n_pos)):
            encoding = layer.get("encoding", {}).get(side, {})
            if "scale" in encoding:
                encoding["scale"] = {"domain": [0, end], "nice": False}
                encoding["axis"] = {"tickMinStep": 1, "format": "d"} | (
                    {"values": list(range(int(end) + 1))} if end <= 12 else {}
                )
    return themed(spec)
