"""The page of rules: the rules in order with their measures, a picture, and words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scorespace.groups.rules import Rule, Rules
from scorespace.results import grouped, p_cell, so_many
from scorespace.views.charts.rules import rule_chart
from scorespace.views.document import Block, Document, Grid, Notes, Picture, Section, Verdict

_MOST_LINES: Final = 20
_BRIEF: Final = ("confidence", "rule_lift")


def document(found: Rules) -> Document:
    """The whole page; a terminal shows the first rules and the measures that matter most."""
    brief: list[Block] = [_short(found)] if found.rules else []
    brief += [Verdict(found.words), *([Notes(found.notes)] if found.notes else [])]
    whole: list[Block] = [Verdict(found.words)]
    if found.rules:
        whole.append(_grid(found, found.rules, [str(one.spec) for one in found.rules[0].estimates]))
    notes = (Section("notes", "Notes", (Notes(found.notes),)),) if found.notes else ()
    drawn = sum(float(one.table.antecedent) > 0 for one in found.rules)
    sections = (
        Section("rules", "Rules", tuple(whole), brief=True, short=tuple(brief)),
        *notes,
        *((Section("picture", "How often, and how reliably", (picture(found),)),) if drawn > 1 else ()),
    )
    return Document(found.name, facts(found), sections)


def facts(found: Rules) -> str:
    parts = [so_many(found.transactions, "transaction"), so_many(found.items, "item")]
    if found.min_support is not None:
        parts.append(f"support ≥ {found.min_support:g}")
        parts.append(so_many(found.found, "rule"))
    return "   ".join(parts)


def _short(found: Rules) -> Grid:
    """What a terminal has room for: confidence with its interval and the lift, else the first two that were asked."""
    asked = [str(one.spec) for one in found.rules[0].estimates]
    first, *others = [name for name in _BRIEF if name in asked] or asked[:2]
    whole = _grid(found, found.rules[:_MOST_LINES], [first, *others])
    plain = range(4, 4 + len(others))
    rows = (
        tuple(cell.split(" [")[0] if place in plain else cell for place, cell in enumerate(row)) for row in whole.rows
    )
    return Grid(whole.columns, tuple(rows), whole.caption)


def _grid(found: Rules, rules: Sequence[Rule], measures: Sequence[str]) -> Grid:
    rows = [
        (one.text, grouped(float(one.table.both)), p_cell(one.p_adjusted), *(one[name].text for name in measures))
        for one in rules
    ]
    if len(rules) < found.found:
        rows.append((f"… {grouped(found.found - len(rules))} more", *[""] * (len(measures) + 2)))
    named = {str(one.spec): one.spec.measure for one in found.rules[0].estimates}
    columns = [f"{name} {named[name].arrow}".rstrip() for name in measures]
    level = f"Both: transactions with both sides. Value and {100 * found.level:g} % interval; p of both sides being "
    level += "independent, adjusted for all rules that were looked at."
    return Grid(("rule", "both", "p", *columns), tuple(rows), level)


def picture(found: Rules) -> Picture:
    """The rules, by how often and how reliably they hold."""
    words = "The further right the more often, the higher the more reliably; the larger the more beyond chance (lift)."
    return Picture(lambda: rule_chart(found), "Confidence against support of each rule.", words)
