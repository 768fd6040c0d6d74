"""Association rules: a table of rules with their measures, and a chart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scorespace.measures.rules import confidence, rule_lift, support
from scorespace.report.chart_theme import COLOURS, FAINT, Spec, datum, field, layered, mark, themed
from scorespace.report.document import Block, Document, Grid, Notes, Picture, Section, Verdict
from scorespace.results import Row, count_noun, format_p_cell, grouped
from scorespace.unsupervised.rules import LIKELY, MEASURES, Rule, Rules


def rule_chart(rules: Rules) -> Spec:
    """Confidence against support of the rules; grey squares are not significant."""
    rows: list[Row] = [
        {
            "rule": rule.text,
            "support": datum(float(support(rule.table))),
            "confidence": datum(float(confidence(rule.table))),
            "lift": datum(float(rule_lift(rule.table))),
            "holds": "significant" if rule.p_adjusted < LIKELY else "not significant",
        }
        for rule in rules.rules
        if float(rule.table.antecedent) > 0
    ]
    colours = {"domain": ["significant", "not significant"], "range": [COLOURS[0], FAINT]}
    encoding = {
        "x": field("support:Q", title="Support", axis={"format": "~g", "tickCount": 6}),
        "y": field("confidence:Q", title="Confidence", scale={"domain": [0, 1]}),
        "size": field("lift:Q", title="Lift", scale={"range": [30, 500], "zero": False}, legend=None),
        "color": field("holds:N", title=None, scale=colours, legend={"symbolSize": 120}),
        "shape": field("holds:N", title=None, scale={"domain": colours["domain"], "range": ["circle", "square"]}),
        "tooltip": [
            field("rule:N"),
            *(field(f"{name}:Q", format=".3~f") for name in ("support", "confidence", "lift")),
        ],
    }
    layers = [mark("point", rows, encoding, filled=False, strokeWidth=2, opacity=0.8)]
    return themed(layered(layers, 440, 340, description="Confidence against support of each rule."))


_MAX_RULES_IN_TEXT: Final = 20
_MEASURES_IN_TEXT: Final = ("confidence", "rule_lift")
_MAX_MEASURES_IN_TEXT: Final = 4


def document(rules: Rules) -> Document:
    """Document of rules; text output shows the first rules and the main measures."""
    brief: list[Block] = [_short(rules)] if rules.rules else []
    brief += [Verdict(rules.words), *([Notes(rules.notes)] if rules.notes else [])]
    blocks: list[Block] = [Verdict(rules.words)]
    if rules.rules:
        blocks.append(_grid(rules, rules.rules, [str(estimate.spec) for estimate in rules.rules[0].estimates]))
    notes = (Section("notes", "Notes", (Notes(rules.notes),)),) if rules.notes else ()
    n_drawn = sum(float(rule.table.antecedent) > 0 for rule in rules.rules)
    sections = (
        Section("rules", "Rules", tuple(blocks), brief=True, short=tuple(brief)),
        *notes,
        *((Section("picture", "Support and confidence", (picture(rules),)),) if n_drawn > 1 else ()),
    )
    return Document(rules.name, facts(rules), sections)


def facts(rules: Rules) -> str:
    parts = [count_noun(rules.transactions, "transaction"), count_noun(rules.items, "item")]
    if rules.min_support is not None:
        parts.append(f"support ≥ {rules.min_support:g}")
        parts.append(count_noun(rules.found, "rule"))
    return "   ".join(parts)


def _short(rules: Rules) -> Grid:
    """Text version: confidence with its interval and the lift, or the requested measures."""
    computed = [str(estimate.spec) for estimate in rules.rules[0].estimates]
    first, *others = _MEASURES_IN_TEXT if computed == list(MEASURES) else computed[:_MAX_MEASURES_IN_TEXT]
    table = _grid(rules, rules.rules[:_MAX_RULES_IN_TEXT], [first, *others])
    value_columns = range(4, 4 + len(others))
    rows = (
        tuple(cell.split(" [")[0] if column in value_columns else cell for column, cell in enumerate(row))
        for row in table.rows
    )
    return Grid(table.columns, tuple(rows), table.caption)


def _grid(result: Rules, rules: Sequence[Rule], measures: Sequence[str]) -> Grid:
    rows = [
        (
            rule.text,
            grouped(float(rule.table.both)),
            format_p_cell(rule.p_adjusted),
            *(rule[name].text for name in measures),
        )
        for rule in rules
    ]
    if len(rules) < result.found:
        rows.append((f"… {grouped(result.found - len(rules))} more", *[""] * (len(measures) + 2)))
    measures_by_name = {str(estimate.spec): estimate.spec.measure for estimate in result.rules[0].estimates}
    columns = [f"{name} {measures_by_name[name].arrow}".rstrip() for name in measures]
    caption = f"Both: transactions with both sides. Value and {100 * result.level:g} % confidence interval; p of "
    caption += "independence of both sides, adjusted for all rules examined."
    return Grid(("rule", "both", "p", *columns), tuple(rows), caption)


def picture(rules: Rules) -> Picture:
    """Chart of confidence against support."""
    caption = "Support (x), confidence (y) and lift (size) of each rule."
    return Picture(lambda: rule_chart(rules), "Confidence against support of each rule.", caption)
