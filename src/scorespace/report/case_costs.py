"""Costs of each case: the tables of a decision where costs differ from case to case."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scorespace.decisions.case_cost_decision import CaseCostChoice, CaseCostDecision
from scorespace.decisions.out_of_sample import CostEstimate
from scorespace.report.document import Block, Grid, Picture, Text
from scorespace.report.protocol import EvaluationView
from scorespace.results import decimals, format_whole_percent
from scorespace.tables.threshold import threshold_text

_PROCEDURE = "model chosen too"


def case_cost_grids(decision: CaseCostDecision) -> Sequence[Block]:
    """The costs, each choice with its costs, the constant rules, and the rules by expected gain."""
    text = f"Costs per case: {decision.condition.describe()}."
    blocks: list[Block] = [Text(text), _choices(decision)]
    if decision.other_rules:
        blocks.append(_other_rules(decision))
    return blocks


def _choices(decision: CaseCostDecision) -> Grid:
    columns = ("at minimum cost", _heading(decision), f"cost/case, {decision.kind}", "apparent", "acts on", "savings")
    rows = [_row(choice) for choice in sorted(decision.choices, key=lambda choice: choice.cost_per_case)]
    if len(decision.choices) > 1 and decision.fitted is None and not math.isnan(decision.out_of_sample.value):
        rows.append((_PROCEDURE, "", decision.out_of_sample.text, "", "", _share(decision.savings)))
    rows += [
        (name, "", _cost(one), "", "100 %" if name == "act on all" else "0 %", "")
        for name, one in sorted(decision.trivial.items(), key=lambda pair: pair[1].value)
    ]
    return Grid(columns, tuple(rows)).without_blanks()


def _heading(decision: CaseCostDecision) -> str:
    return "threshold" if decision.condition.rule == "score" else "gain from"


def _row(choice: CaseCostChoice) -> tuple[str, ...]:
    is_known = not math.isnan(choice.out_of_sample.value)
    return (
        choice.model,
        "" if math.isnan(choice.threshold) else threshold_text(choice.threshold),
        choice.out_of_sample.text if is_known else "",
        decimals(choice.apparent.value) if is_known else choice.apparent.text,
        format_whole_percent(choice.acted),
        _share(choice.savings),
    )


def _share(savings: CostEstimate) -> str:
    """Savings with their interval, in percent."""
    if math.isnan(savings.value):
        return ""
    value, low, high = (f"{100 * one:.0f}".replace("-", "−") for one in (savings.value, savings.low, savings.high))
    return f"{value} [{low}, {high}] %"


def _cost(estimate: CostEstimate) -> str:
    """A cost with its interval, if that has a width."""
    return decimals(estimate.value) if estimate.low == estimate.high else estimate.text


def _other_rules(decision: CaseCostDecision) -> Grid:
    """Rules that use the costs of each case: act where the expected gain is high enough."""
    columns = ("by expected gain", "gain from", f"cost/case, {decision.kind}", "acts on", "savings")
    rows = []
    for choice in decision.other_rules:
        name, at, cost, _, acted, share = _row(choice)
        rows.append((f"{name}{', casewise' if choice.rule == 'casewise' else ''}", at, cost, acted, share))
    return Grid(columns, tuple(rows))


def case_cost_blocks(evaluation: EvaluationView, decision: CaseCostDecision) -> Sequence[Block]:
    """Costs section of the page: the recommendation, the cost over all thresholds, and the tables."""
    alt = "Cost per case of each model against the share of cases acted on."
    caption = "Cost per case if the highest-scored cases are acted on, from none (left) to all (right)."
    picture = Picture(lambda: evaluation.drawing("case_cost"), alt, caption)
    return [Text(decision.words), picture, *case_cost_grids(decision)]
