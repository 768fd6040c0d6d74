"""`scorespace rules`: association rules between items."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

from scorespace.cli import options, output
from scorespace.cli.common_options import CHART_AS_DRAWN, FigureOptions
from scorespace.cli.options import flag, switch
from scorespace.cli.verbs import verb

_RULES = "Rules"


class RuleOptions(NamedTuple):
    """Options of `rules` in the library, under the same names."""

    transaction: Annotated[
        str | None, flag("COL", "Transaction of each row, if each row holds one item.", options.ROLES)
    ] = None
    items: Annotated[
        list[str],
        flag(
            "COL",
            "Column of the item; without --transaction, item columns or patterns (by default all columns).",
            options.ROLES,
            "--item",
        ),
    ] = []
    weight: Annotated[
        str | None, flag("COL", "Number of identical transactions that a row represents.", options.ROLES)
    ] = None
    missing: options.MissingRows = "error"
    given: Annotated[
        list[str], flag("'A, B => C'", "Evaluate this rule instead of searching; repeatable.", _RULES, "--rule")
    ] = []
    min_support: Annotated[float, flag(None, "Minimum support of a rule.", _RULES)] = 0.01
    max_size: Annotated[int, flag(None, "Maximum number of items in a rule, both sides together.", _RULES)] = 3
    max_consequent: Annotated[int, flag(None, "Maximum number of items in the consequent.", _RULES)] = 1
    at_least: Annotated[
        list[str], flag("MEASURE=X", "Minimum of a measure, such as confidence=0.5; repeatable.", _RULES)
    ] = []
    redundant: Annotated[
        bool, switch("--redundant", "Keep rules that a shorter antecedent matches in confidence.", _RULES)
    ] = False
    order: Annotated[str, flag("LIST", "Measures to sort by; -NAME sorts in reverse.", _RULES)] = "leverage,confidence"
    top: Annotated[int, flag(None, "Maximum number of rules, in this order; 0 for all.", _RULES)] = 50
    measures: Annotated[str | None, flag("LIST", "Such as support,confidence,rule_lift,mcc.", options.OUTPUT)] = None
    level: options.Level = 0.95
    seed: options.Seed = 0


@verb("Data, clusters, learners", 3)
def rules(
    data: options.Data,
    rule_options: RuleOptions,
    where: options.Where = None,
    sheet: options.Sheet = None,
    no_header: options.NoHeader = False,
    allow_remote: options.AllowRemote = False,
    report: options.Report = None,
    out: Annotated[Path | None, flag("FILE", "Chart of the rules: .png .svg .pdf .html.", options.OUTPUT)] = None,
    figure: FigureOptions = CHART_AS_DRAWN,
    format: options.OutputFormat = "table",
) -> None:
    """Mine association rules, or evaluate given ones: support, confidence, lift, and significance.

    Example: scorespace rules baskets.csv --transaction id --item product --at-least confidence=0.3
    """
    options.check_output(report, (".html",), data)
    options.check_output(out, options.PICTURES, data)
    figure.check(out)
    from scorespace.measures.catalog import read_bound
    from scorespace.report import rules as view
    from scorespace.unsupervised.rules import MEASURES
    from scorespace.unsupervised.rules import rules as find

    with output.progress("counting item sets") as progress:
        settings = rule_options._asdict() | {
            "given": rule_options.given or None,
            "measures": rule_options.measures or MEASURES,
        }
        settings["at_least"] = dict(read_bound(text, "confidence=0.5") for text in rule_options.at_least)
        result = find(options.filter_rows(data, where), **settings, progress=progress)
    content = result.to_dict() | ({"rows": result.rows()} if format == "csv" else {})
    page, draw = view.document(result), view.picture(result).draw
    output.write_result(page, content, format, report=report, out=out, draw=figure.drawing(draw), header=result.columns)
