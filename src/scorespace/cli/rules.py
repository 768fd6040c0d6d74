"""`scorespace rules`: which items go with which, how often, and whether that is more than chance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scorespace.cli import options, output
from scorespace.errors import MeasureError

_ROLES, _RULES, _OUTPUT = "Which column is what", "Which rules", "Output"


def rules(
    data: options.Data,
    transaction: Annotated[
        str | None,
        typer.Option(
            metavar="COL", help="The transaction of each row, where a row is one item.", rich_help_panel=_ROLES
        ),
    ] = None,
    item: Annotated[
        list[str],
        typer.Option(
            metavar="COL",
            help="The column that names the item; without --transaction, columns or patterns of items, else all.",
            rich_help_panel=_ROLES,
        ),
    ] = [],  # noqa: B006 - Typer copies defaults
    weight: Annotated[
        str | None,
        typer.Option(metavar="COL", help="How many transactions alike a row stands for.", rich_help_panel=_ROLES),
    ] = None,
    missing: options.MissingRows = options.Missing.error,
    where: options.Where = None,
    allow_remote: options.AllowRemote = False,
    rule: Annotated[
        list[str],
        typer.Option(
            metavar="'A, B => C'",
            help="Measure this rule instead of looking for any; repeatable.",
            rich_help_panel=_RULES,
        ),
    ] = [],  # noqa: B006
    min_support: Annotated[
        float, typer.Option(help="Share of the transactions that all items of a rule need.", rich_help_panel=_RULES)
    ] = 0.01,
    max_size: Annotated[int, typer.Option(help="Items in a rule, both sides together.", rich_help_panel=_RULES)] = 3,
    max_consequent: Annotated[int, typer.Option(help="Items in a consequent.", rich_help_panel=_RULES)] = 1,
    at_least: Annotated[
        list[str],
        typer.Option(
            metavar="MEASURE=X",
            help="Only rules with that much, such as confidence=0.5; repeatable.",
            rich_help_panel=_RULES,
        ),
    ] = [],  # noqa: B006
    redundant: Annotated[
        bool,
        typer.Option(
            "--redundant", help="Keep rules that are as confident with fewer antecedents.", rich_help_panel=_RULES
        ),
    ] = False,
    order: Annotated[
        str, typer.Option(metavar="LIST", help="Measures to sort by, -NAME for the reverse.", rich_help_panel=_RULES)
    ] = "leverage,confidence",
    top: Annotated[
        int, typer.Option(help="Rules to measure, the first in order; 0: all.", rich_help_panel=_RULES)
    ] = 50,
    measures: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Such as support,confidence,rule_lift,mcc.", rich_help_panel=_OUTPUT),
    ] = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Also write the page.", rich_help_panel=_OUTPUT)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to draw the rules: .png .svg .pdf .html.", rich_help_panel=_OUTPUT),
    ] = None,
    format: options.OutputFormat = options.Format.table,
) -> None:
    """Find rules between items, or measure given ones: support, confidence, lift, and whether it is chance.

    Example: scorespace rules baskets.csv --transaction id --item product --at-least confidence=0.3
    """
    options.check_output(report, (".html",), data)
    options.check_output(out, options.PICTURES, data)
    from scorespace.groups.rules import MEASURES
    from scorespace.groups.rules import rules as find
    from scorespace.views import report as page
    from scorespace.views import rules as view

    with output.progress("counting") as progress:
        found = find(
            options.chosen(data, where),
            transaction=transaction,
            items=item,
            weight=weight,
            given=rule or None,
            min_support=min_support,
            max_size=max_size,
            max_consequent=max_consequent,
            at_least=dict(map(_bound, at_least)),
            order=order,
            measures=measures or MEASURES,
            redundant=redundant,
            top=top,
            missing=missing.value,
            level=level,
            seed=seed,
            progress=progress,
        )
    shown = view.document(found)
    if report is not None:  # first: no result is shown before an error
        page.write(shown, report)
    if out is not None:
        from scorespace.views.charts.files import save
        from scorespace.views.charts.rules import rule_chart

        save(rule_chart(found), out)
    content = found.to_dict()
    flat = {"rows": found.rows()} if format is options.Format.csv else {}
    output.write(shown.brief(), content | flat, format, header=found.columns)
    output.wrote(format, report=report, picture=out)


def _bound(text: str) -> tuple[str, float]:
    name, equals, bound = text.rpartition("=")
    try:
        value = float(bound)
    except ValueError:
        value = float("nan")
    if not (name and equals) or value != value:
        raise MeasureError(f"--at-least {text} cannot be read.", hint="--at-least confidence=0.5")
    return name.strip(), value
