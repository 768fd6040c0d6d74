"""Charts of smooth ROC curves: the curves, their construction case by case, zones of cases, and the four sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from scorespace.curves import Curve
from scorespace.curves.smooth import SmoothCurve
from scorespace.decisions.hard_cases import SETS, ZONES, CaseZones, set_sizes
from scorespace.errors import DataError
from scorespace.report.chart_theme import (
    COLOURS,
    FAINT,
    GRID,
    INK,
    SOFT,
    UNIT,
    Spec,
    axis,
    coloured,
    datum,
    field,
    layered,
    mark,
    panel_title,
    points,
    scale,
    themed,
)
from scorespace.report.curve_charts import curve_layers, named_rule, points_of
from scorespace.report.few_cases import Labels, require_few, single_cases
from scorespace.results import Row, decimals, grouped
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.paired import binary_class_names
from scorespace.tables.threshold import threshold_text

BINS: Final = 40
ZONE_NAMES: Final = {"easy": "easy", "rescued": "rescued", "hard": "hard", "error": "confident error"}
"""Names of the zones in the legend."""
_POSITION: Final[Spec] = {"x": "x:Q", "y": "y:Q"}
_OUTLINE: Final[Spec] = _POSITION | {"order": "place:Q"}
_ZONE_COLOURS: Final = ("#56b4e9", "#009e73", "#e69f00", "#d55e00")
_SIDES: Final = {"appropriate": COLOURS[0], "inappropriate": COLOURS[1]}


def smooth_chart(curves: Mapping[str, SmoothCurve]) -> Spec:
    """Smooth ROC curves with their hulls, and the ROC curves of the same models as thin lines.

    For a single model, also the hull of its ROC curve.
    """
    if not curves:
        raise DataError("there is no curve to draw.", hint="at least one model with cases of both classes")
    below = [_hulls({name: curve.hull() for name, curve in curves.items()})]
    legend = "thick: smooth ROC · grey: its hull"
    is_normalised = all(curve.normalised for curve in curves.values())
    if is_normalised:
        roc_curves = {name: curve.roc for name, curve in curves.items()}
        if len(roc_curves) == 1:
            below.append(_hulls({name: curve.hull() for name, curve in roc_curves.items()}))
        encoding = _OUTLINE | {"color": coloured("name", curves)}
        below.append(mark("line", _outlines(roc_curves), encoding, strokeWidth=1, opacity=0.9, aria=False))
        legend = f"thick: smooth ROC · thin: ROC · grey: hull{'s' if len(roc_curves) == 1 else ''}"
    # Legend of the lines, in the corner where curves are rare.
    legend_row = [{"x": 0.99, "y": 0.02, "label": legend}]
    legend_mark = mark(
        "text", legend_row, _POSITION | {"text": "label:N"}, align="right", baseline="bottom", aria=False
    )
    return themed(curve_layers(curves, below=below, above=[legend_mark] if is_normalised else []))


def smooth_steps_chart(name: str, curve: SmoothCurve, labels: Labels | None = None) -> Spec:
    """Construction of a smooth ROC curve: each case moves it up by c and right by 1 − c; appropriate scores apart."""
    table = require_few(curve.given, "the construction of a smooth ROC curve")
    negative, positive = binary_class_names(table.classes, table.positive)
    score, is_positive = single_cases(table)
    is_appropriate = (score > curve.midpoint) == is_positive
    soft = np.where(is_appropriate, score, 1 - score)
    _, tie = np.unique(score, return_inverse=True)
    up = (np.bincount(tie, soft) / np.bincount(tie))[tie]  # equal scores make one straight line
    x, y = (np.append(0.0, np.cumsum(step)) for step in (1 - up, up))
    if curve.normalised:
        x, y = x / x[-1], y / y[-1]
    titles = curve.x_title, curve.y_title
    rows: list[Row] = []
    texts: list[Row] = []
    for case in range(score.size):
        side = "appropriate" if is_appropriate[case] else "inappropriate"
        segment = {"case": case, "side": side}
        rows += [{**segment, "place": end, "x": datum(x[case + end]), "y": datum(y[case + end])} for end in (0, 1)]
        own = "" if labels is None else f"{labels.get(float(score[case]), '')} · "
        kind = positive if is_positive[case] else negative
        texts.append(
            {
                "x": datum((x[case] + x[case + 1]) / 2),
                "y": datum((y[case] + y[case + 1]) / 2),
                "label": f"{own}{kind} · {threshold_text(float(score[case]))}",
                "below": bool(up[case] < 0.25),
            }
        )
    ends = points(x, y)
    colour = field(
        "side:N", title=None, scale={"domain": list(_SIDES), "range": list(_SIDES.values())}, legend={"columns": 2}
    )
    axes = {"x": field("x:Q", title=titles[0]), "y": field("y:Q", title=titles[1])}
    line = axes | {"color": colour, "detail": "case:N", "order": "place:Q"}
    text = _POSITION | {"text": "label:N"}
    beside, below = (
        {"align": "left", "baseline": "top", "dx": 8, "dy": 3},
        {"align": "center", "baseline": "top", "dy": 9},
    )
    layers = [
        mark("line", [{"x": 0, "y": 0}, ends[-1]], _POSITION, color=FAINT, strokeDash=[2, 3], strokeWidth=1.2),
        mark("line", rows, line, strokeWidth=3.5),
        mark("point", ends, _POSITION, filled=True, size=40, color=INK, opacity=1),
        mark("text", texts, text, where="!datum.below", fontSize=11, **beside),
        mark("text", texts, text, where="datum.below", fontSize=11, **below),
    ]
    area = decimals(curve.area()) if curve.normalised else "–"
    description = f"Smooth ROC curve of {name} case by case, with the class and score of each segment; area {area}."
    heading = f"{name}: smAUC {area}, midpoint {decimals(curve.midpoint)}" if curve.normalised else name
    return themed(layered(layers, 480, 480, title=panel_title(heading), description=description))


def zones_chart(table: ScoreTable, zones: CaseZones) -> Spec:
    """Scores of positives upwards and of negatives downwards, coloured by zone."""
    colours = dict(zip(map(ZONE_NAMES.__getitem__, ZONES), _ZONE_COLOURS, strict=True))
    uncertain_range = [{"low": datum(zones.low), "high": datum(zones.high)}]
    below = mark("rect", uncertain_range, {"x": "low:Q", "x2": "high"}, color=GRID, opacity=0.6, aria=False)
    kinds = [np.asarray(zones.kind(table.score, is_positive)) for is_positive in (True, False)]
    above = [_class_name(table, is_positive=True), _class_name(table, is_positive=False)]
    description = f"Scores of both classes around the midpoint {decimals(zones.midpoint)}, coloured by zone."
    return _mirrored_bars(table, kinds, colours, zones.midpoint, [below], above, description)


def sets_chart(table: ScoreTable, midpoint: float) -> Spec:
    """Scores of positives upwards and of negatives downwards, with the four sets beside the midpoint."""
    is_high = (table.score > midpoint).astype(np.intp)
    kinds = [1 - is_high, is_high]  # 0 is appropriate: high positives and low negatives
    negative, positive = binary_class_names(table.classes, table.positive)
    sizes = set_sizes(table, midpoint)
    above, labels = [], []
    for name in SETS:
        is_high_side, is_upper = name.startswith("high"), name.endswith("positive")
        sign = f"{name[0].upper()}{'+' if is_upper else '−'}"
        labels.append(f"{sign}  {name.split()[0]}, {positive if is_upper else negative}: {grouped(sizes[name])}")
        place = {"x": {"value": "width" if is_high_side else 0}, "y": {"value": 2 if is_upper else "height"}}
        style = {"align": "right" if is_high_side else "left", "dx": -4 if is_high_side else 4, "fontWeight": 600}
        text = {"text": "label:N", **place}
        above.append(mark("text", [{"label": labels[-1]}], text, baseline="top" if is_upper else "bottom", **style))
    description = f"The four sets around the midpoint {decimals(midpoint)}: {'; '.join(labels)}."
    return _mirrored_bars(table, kinds, _SIDES, midpoint, [], above, description)


def _mirrored_bars(
    table: ScoreTable,
    kinds: Sequence[Array],
    colours: Mapping[str, str],
    midpoint: float,
    below: list[Spec],
    above: list[Spec],
    description: str,
) -> Spec:
    """Histograms of positives upwards and negatives downwards around the midpoint, coloured by kind of case.

    `kinds` holds the kind of each distinct score, as an index into the colours, for a positive and for a negative.
    """
    rows = _bars(table, kinds, list(colours))
    if not rows:
        raise DataError("there are no scores to draw.", hint="at least one case")
    heights = {sign: max((row["height"] for row in rows if row["sign"] == sign), default=0.0) for sign in (1, -1)}
    margin = 0.16 * (heights[1] + heights[-1])
    encoding = {
        "x": field("low:Q", bin="binned", title="Score", axis=axis(UNIT), scale=scale(UNIT)),
        "x2": "high",
        "y": field(
            "signed:Q",
            title="Share of class",
            axis={"labelExpr": "format(abs(datum.value), '.0%')", "tickCount": 5, "grid": False},
            scale=scale((-heights[-1] - margin, heights[1] + margin)),
            stack="zero",
        ),
        "color": field(
            "kind:N",
            title=None,
            scale={"domain": list(colours), "range": list(colours.values())},
            legend={"columns": 4, "symbolType": "square", "symbolStrokeWidth": 0, "symbolSize": 140},
        ),
        "order": "order:Q",
        "tooltip": [
            field("class:N", title="Class"),
            field("kind:N", title="Cases"),
            field("span:N", title="Scores"),
            field("share:Q", title="Share of class", format=".1%"),
        ],
    }
    layers = [
        *below,
        mark("bar", rows, encoding, binSpacing=1),
        mark("rule", [{}], {"y": {"datum": 0}}, color=FAINT),
        # A label beyond the edge would be clipped.
        *named_rule(midpoint, f"midpoint {midpoint:.3g}", left=midpoint > 0.7),
        *above,
    ]
    return themed(layered(layers, 560, 260, description=description))


def _outlines(curves: Mapping[str, Curve]) -> list[Row]:
    rows: list[Row] = []
    for name, curve in curves.items():  # thin lines need few points, including both ends
        size = curve.x.size
        selected = np.unique(np.linspace(0, size - 1, min(size, points_of(len(curves)))).astype(np.intp))
        rows += points(curve.x[selected], curve.y[selected], name=name)
    return rows


def _hulls(hulls: Mapping[str, Curve]) -> Spec:
    encoding = _OUTLINE | {"detail": "name:N"}
    return mark("line", _outlines(hulls), encoding, color=FAINT, strokeWidth=1.2, aria=False)


def _class_name(table: ScoreTable, *, is_positive: bool) -> Spec:
    negative, positive = binary_class_names(table.classes, table.positive)
    label = (
        f"▲ {positive} ({grouped(float(table.n_pos))})"
        if is_positive
        else f"▼ {negative} ({grouped(float(table.n_neg))})"
    )
    position = {"text": "label:N", "x": {"value": "width"}, "y": {"value": 2 if is_positive else "height"}}
    return mark(
        "text",
        [{"label": label}],
        position,
        align="right",
        baseline="top" if is_positive else "bottom",
        dx=-4,
        color=SOFT,
    )


def _bars(table: ScoreTable, kinds: Sequence[Array], names: Sequence[str]) -> list[Row]:
    """Histogram of each class by kind of case; empty bars are left out."""
    edges = np.linspace(0, 1, BINS + 1)
    negative, positive = binary_class_names(table.classes, table.positive)
    sides = ((1, positive, table.pos, table.n_pos), (-1, negative, table.neg, table.n_neg))
    bins = np.clip(np.searchsorted(edges, table.score, side="right") - 1, 0, BINS - 1)  # 1 belongs to the last bin
    rows: list[Row] = []
    for (sign, label, weight, total), kind in zip(sides, kinds, strict=True):
        counts = np.bincount(kind * BINS + bins, weight, minlength=len(names) * BINS)
        stack = np.nan_to_num(ratio(counts.reshape(len(names), BINS), total))
        heights = stack.sum(axis=0)
        rows += [
            {
                "class": label,
                "kind": names[k],
                "order": int(k),
                "low": datum(edges[bin_index]),
                "high": datum(edges[bin_index + 1]),
                "span": f"{edges[bin_index]:.3g} to {edges[bin_index + 1]:.3g}",
                "share": datum(stack[k, bin_index]),
                "signed": datum(sign * stack[k, bin_index]),
                "sign": sign,
                "height": datum(heights[bin_index]),
            }
            for k, bin_index in zip(*np.nonzero(stack), strict=True)
        ]
    return rows
