"""Confidence against support of each rule, larger where the lift is higher."""

from __future__ import annotations

from scorespace.groups.rules import LIKELY, Rules
from scorespace.measures.rules import confidence, rule_lift, support
from scorespace.results import Row
from scorespace.views.charts.marks import Spec, field, layered, mark
from scorespace.views.charts.theme import COLOURS, FAINT, short, themed


def rule_chart(found: Rules) -> Spec:
    """The rules that were found; those that chance may explain are grey squares."""
    rows: list[Row] = [
        {
            "rule": one.text,
            "support": short(float(support(one.table))),
            "confidence": short(float(confidence(one.table))),
            "lift": short(float(rule_lift(one.table))),
            "holds": "beyond chance" if one.p_adjusted < LIKELY else "chance may explain it",
        }
        for one in found.rules
        if float(one.table.antecedent) > 0
    ]
    held = {"domain": ["beyond chance", "chance may explain it"], "range": [COLOURS[0], FAINT]}
    encoding = {
        "x": field("support:Q", title="Support", axis={"format": "~g", "tickCount": 6}),
        "y": field("confidence:Q", title="Confidence", scale={"domain": [0, 1]}),
        "size": field("lift:Q", title="Lift", scale={"range": [30, 500], "zero": False}, legend=None),
        "color": field("holds:N", title=None, scale=held, legend={"symbolSize": 120}),
        "shape": field("holds:N", title=None, scale={"domain": held["domain"], "range": ["circle", "square"]}),
        "tooltip": [
            field("rule:N"),
            *(field(f"{name}:Q", format=".3~f") for name in ("support", "confidence", "lift")),
        ],
    }
    layers = [mark("point", rows, encoding, filled=False, strokeWidth=2, opacity=0.8)]
    return themed(layered(layers, 440, 340, description="Confidence against support of each rule."))
