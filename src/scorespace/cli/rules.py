"""`scorespace rules`: which items go with which, how often, and whether that is more than chance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

from scorespace.cli import options, output
from scorespace.cli.options import flag, switch

_RULES = "Which rules"


class Asked(NamedTuple):
    """What is asked of the rules, by the names that `rules` of the library has for it."""

    transaction: Annotated[
        str | None, flag("COL", "The transaction of each row, where a row is one item.", options.ROLES)
    ] = None
    items: Annotated[
        list[str],
        flag(
            "COL",
            "The column that names the item; without --transaction, columns or patterns of items, else all.",
            options.ROLES,
            "--item",
        ),
    ] = []
    weight: Annotated[str | None, flag("COL", "How many transactions alike a row stands for.", options.ROLES)] = None
    missing: options.MissingRows = "error"
    given: Annotated[
        list[str], flag("'A, B => C'", "Measure this rule instead of looking for any; repeatable.", _RULES, "--rule")
    ] = []
    min_support: Annotated[float, flag(None, "Share of the transactions that all items of a rule need.", _RULES)] = 0.01
    max_size: Annotated[int, flag(None, "Items in a rule, both sides together.", _RULES)] = 3
    max_consequent: Annotated[int, flag(None, "Items in a consequent.", _RULES)] = 1
    at_least: Annotated[
        list[str], flag("MEASURE=X", "Only rules with that much, such as confidence=0.5; repeatable.", _RULES)
    ] = []
    redundant: Annotated[
        bool, switch("--redundant", "Keep rules that are as confident with fewer antecedents.", _RULES)
    ] = False
    order: Annotated[str, flag("LIST", "Measures to sort by, -NAME for the reverse.", _RULES)] = "leverage,confidence"
    top: Annotated[int, flag(None, "Rules to measure, the first in order; 0: all.", _RULES)] = 50
    measures: Annotated[str | None, flag("LIST", "Such as support,confidence,rule_lift,mcc.", options.OUTPUT)] = None
    level: options.Level = 0.95
    seed: options.Seed = 0


def rules(
    data: options.Data,
    asked: Asked,
    where: options.Where = None,
    allow_remote: options.AllowRemote = False,
    report: options.Report = None,
    out: Annotated[Path | None, flag("FILE", "Where to draw the rules: .png .svg .pdf .html.", options.OUTPUT)] = None,
    format: options.OutputFormat = "table",
) -> None:
    """Find rules between items, or measure given ones: support, confidence, lift, and whether it is chance.

    Example: scorespace rules baskets.csv --transaction id --item product --at-least confidence=0.3
    """
    options.check_output(report, (".html",), data)
    options.check_output(out, options.PICTURES, data)
    from scorespace.groups.rules import MEASURES
    from scorespace.groups.rules import rules as find
    from scorespace.measures.catalog import read_bound
    from scorespace.views import rules as view

    with output.progress("counting") as progress:
        stated = asked._asdict() | {"given": asked.given or None, "measures": asked.measures or MEASURES}
        stated["at_least"] = dict(read_bound(one, "confidence=0.5") for one in asked.at_least)
        found = find(options.chosen(data, where), **stated, progress=progress)
    content = found.to_dict() | ({"rows": found.rows()} if format == "csv" else {})
    shown, draw = view.document(found), view.picture(found).draw
    output.result(shown, content, format, report=report, out=out, draw=draw, header=found.columns)
