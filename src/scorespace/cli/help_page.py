"""The short help of a verb: the options that most people need, on one screen, and the groups of the others."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Final

from scorespace.results import join_words

ESSENTIAL: Final = (
    *("data", "before", "after", "truth", "score", "decision", "prediction", "positive", "target", "label", "feature"),
    *(
        "rater",
        "learner",
        "measures",
        "measure",
        "budget",
        "kind",
        "test",
        "method",
        "at",
        "at_least",
        "maximise",
        "cost_fp",
    ),
    *("cost_fn", "prevalence", "by", "fit", "interval", "level", "profile", "all", "out", "report", "format"),
)
"""Options that the short help shows, in this order."""
MAX_OPTIONS: Final = 14
"""A verb with fewer options shows all of them."""

_MAX_PLACEHOLDER: Final = 12


def essential_options(parameters: list[Any]) -> list[Any]:
    """The options of the short help; none if all fit."""
    if len(parameters) <= MAX_OPTIONS:
        return []
    by_name = {parameter.name: parameter for parameter in parameters}
    return [by_name[name] for name in ESSENTIAL if name in by_name]


def print_short_help(command: Any, ctx: Any) -> None:
    """Print usage, summary, essential options, the groups of the others, and the examples."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    summary, *paragraphs = (" ".join(part.split()) for part in (command.help or "").split("\n\n"))
    shown = essential_options(command.params)
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold cyan", no_wrap=True)
    table.add_column()
    for parameter in shown:
        table.add_row(Text(_usage(parameter)), Text(first_clause(parameter.help or "")))
    page = Console(highlight=False, soft_wrap=False)
    page.print(Text(f"Usage: {ctx.command_path} DATA [OPTIONS]", style="bold"))
    page.print(Text(summary), "", table, "", sep="\n")
    page.print(Text(f"More: {_further_groups(command.params, shown)}."))
    page.print(Text(f"All options: {ctx.command_path} --help-all"))
    page.print(Text(next((one for one in paragraphs if one.startswith("Example: ")), "")))


def _usage(parameter: Any) -> str:
    """Flag and placeholder of an option: --truth COL."""
    if not parameter.opts[0].startswith("-"):
        return str(parameter.metavar or parameter.name.upper())
    flag = max(parameter.opts, key=len)
    written = str(parameter.metavar or "X")
    placeholder = written if len(written) <= _MAX_PLACEHOLDER else written.split("|")[0]
    return flag if parameter.is_flag else f"{flag} {placeholder}"


def first_clause(text: str) -> str:
    r"""The first clause of a help text, with brackets as they are.

    >>> first_clause("Scores of a model; repeatable. 'nb_*': one column per class."), first_clause(r"auc\[macro], e.g.")
    ('Scores of a model.', 'auc[macro], e.g.')
    """
    clause = re.split(r"; |\. |: ", text.replace(r"\[", "["))[0].rstrip(".")
    return f"{clause}."


def _further_groups(parameters: list[Any], shown: list[Any]) -> str:
    """The groups of the options that are not shown, with their numbers."""
    hidden = [one for one in parameters if one not in shown and one.name not in ("help", "help_all")]
    groups = Counter(getattr(one, "rich_help_panel", None) or "further options" for one in hidden)
    return join_words([f"{group} ({count})" for group, count in groups.items()])
