"""Regret over a range of cost ratios: its table, and cost curves with the range and the thresholds' lines."""

from __future__ import annotations

import math
from collections.abc import Mapping

from scorespace.curves import Curve
from scorespace.decisions import CostRegion, RegionChoice, Regret
from scorespace.report.chart_theme import FAINT, INK, Spec, coloured, datum, field, mark, themed
from scorespace.report.curve_charts import curve_layers
from scorespace.report.document import Block, Grid, Text
from scorespace.results import short
from scorespace.tables.threshold import threshold_text


def region_blocks(region: CostRegion) -> list[Block]:
    """What the regret is relative to, and the table of all models."""
    share = region.prevalence if region.in_use is None else region.in_use
    source = "as in the data" if region.in_use is None else "in use"
    how = "thresholds chosen on other folds" if region.stated else "the lowest apparent cost, so rather too high"
    costs = f"A false negative costs {_span(region)} false positives; {100 * share:.3g} % positives {source}."
    text = (
        f"{costs} Regret is the cost above the lowest of any threshold of the same model, largest at an end of the "
        "range; "
        f"{'cross-fitted, ' * (not region.stated)}compared with {how}."
    )
    columns = (
        "model",
        "threshold" if region.stated else "minimax threshold",
        *(f"regret at {short(ratio)}" for ratio in dict.fromkeys(region.ratios)),
        "apparent",
        f"within {100 * region.within:g} %",
    )
    rows = tuple(
        (
            choice.model,
            threshold_text(choice.threshold),
            *(_cell(choice, end) for end in choice.ends[: len(columns) - 4]),
            choice.text(choice.apparent),
            "" if math.isnan(choice.within[0]) else f"{short(choice.within[0])} to {short(choice.within[1])}",
        )
        for choice in region.choices
    )
    return [Text(text), Grid(columns, rows).without_blanks()]


def _span(region: CostRegion) -> str:
    """The range of cost ratios, or the only one."""
    return " to ".join(map(short, dict.fromkeys(region.ratios)))


def _cell(choice: RegionChoice, end: Regret) -> str:
    return "–" if math.isnan(end.value) else f"{choice.text(end.value)}, ≤ {choice.text(end.high)}"


def region_chart(curves: Mapping[str, Curve], region: CostRegion) -> Spec:
    """Cost curves with the range of cost ratios as a band, and the line of each threshold, straight from FPR to FNR."""
    low, high = map(region.position, region.ratios)
    shown = [choice for choice in region.choices if choice.model in curves]
    ends = {choice.model: (choice.counts.fp / choice.counts.n, choice.counts.fn / choice.counts.p) for choice in shown}
    lines = [
        {"name": name, "x": x, "y": datum(float(y)), "line": name}
        for name, pair in ends.items()
        for x, y in enumerate(pair)
    ]
    band = [{"low": datum(low), "high": datum(high)}]
    below = [mark("rect", band, {"x": "low:Q", "x2": "high"}, color=FAINT, opacity=0.35, aria=False)]
    label = [{"x": datum((low + high) / 2), "label": f"FN : FP {_span(region)}"}]
    encoding: Spec = {"x": "x:Q", "y": "y:Q", "detail": "line:N", "color": coloured("name", curves)}
    encoding["tooltip"] = [field("name:N", title="Threshold of")]
    above = [
        mark("line", lines, encoding, strokeWidth=1.5, strokeDash=[6, 4], clip=True),
        mark("text", label, {"x": "x:Q", "y": {"value": 10}, "text": "label:N"}, color=INK, align="center"),
    ]
    return themed(curve_layers(curves, below=below, above=above))
