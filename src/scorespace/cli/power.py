"""`scorespace power`: how many cases an AUC, or a difference of two, takes."""

from __future__ import annotations

from typing import Annotated

import typer

from scorespace.cli import options, output
from scorespace.comparisons.power import (
    Power,
    auc_power,
    auc_sample_size,
    difference_power,
    difference_sample_size,
    split,
)
from scorespace.errors import ConditionError
from scorespace.results import decimals, grouped
from scorespace.views.document import Block, Document, Grid, Notes, Section, Verdict

_AIM, _TEST = "What to show", "How surely"


def power(
    auc: Annotated[float, typer.Option(metavar="A", help="The AUC that is expected.", rich_help_panel=_AIM)],
    prevalence: Annotated[
        float, typer.Option(metavar="P", help="Share of positives among the cases.", rich_help_panel=_AIM)
    ],
    against: Annotated[
        float | None,
        typer.Option(metavar="A", help="The value to tell it from, or another model's AUC.", rich_help_panel=_AIM),
    ] = None,
    half_width: Annotated[
        float | None,
        typer.Option(metavar="W", help="Instead: an interval of the AUC within ± W.", rich_help_panel=_AIM),
    ] = None,
    paired_correlation: Annotated[
        float | None,
        typer.Option(
            metavar="R",
            help="Two models on the same cases, whose estimated AUCs correlate by R.",
            rich_help_panel=_AIM,
        ),
    ] = None,
    unpaired: Annotated[
        bool, typer.Option("--unpaired", help="Two models, each on cases of its own.", rich_help_panel=_AIM)
    ] = False,
    wanted: Annotated[
        float | None,
        typer.Option("--power", metavar="X", help="The power to reach; 0.8 if not stated.", rich_help_panel=_TEST),
    ] = None,
    cases: Annotated[
        int | None,
        typer.Option(metavar="N", help="Instead: the power of N cases (of each model).", rich_help_panel=_TEST),
    ] = None,
    alpha: Annotated[
        float, typer.Option(metavar="X", help="The chance of a false alarm.", rich_help_panel=_TEST)
    ] = 0.05,
    one_sided: Annotated[
        bool, typer.Option("--one-sided", help="Look for a difference in one direction.", rich_help_panel=_TEST)
    ] = False,
    format: options.OutputFormat = options.Format.table,
) -> None:
    """Plan a study: the cases that show an AUC or a difference of two, or the power of those you have.

    Example: scorespace power --auc 0.8 --against 0.7 --prevalence 0.3 --paired-correlation 0.5
    """
    if wanted is not None and cases is not None:
        raise ConditionError("power and cases are both stated: one follows from the other.", hint="--power or --cases")
    if paired_correlation is not None and unpaired:
        raise ConditionError("models are judged on the same cases or on different ones.", hint="leave out --unpaired")
    two, sides = paired_correlation is not None or unpaired, 1 if one_sided else 2
    if against is None and (two or half_width is None):
        raise ConditionError("it is not stated what to show.", hint="--against 0.7, or --half-width 0.05")
    goal = 0.8 if wanted is None else wanted
    if half_width is not None or against is None:
        if against is not None or wanted is not None or cases is not None or one_sided:
            raise ConditionError("a half width needs no test.", hint="--auc, --half-width, --prevalence and --alpha")
        found = auc_sample_size(auc, half_width=half_width, prevalence=prevalence, alpha=alpha)
    elif cases is None and two:
        found = difference_sample_size(
            auc,
            against,
            correlation=paired_correlation,
            prevalence=prevalence,
            power=goal,
            alpha=alpha,
            sides=sides,
        )
    elif cases is None:
        found = auc_sample_size(auc, null=against, prevalence=prevalence, power=goal, alpha=alpha, sides=sides)
    elif two:
        sizes = split(cases, prevalence)
        found = difference_power(auc, against, *sizes, correlation=paired_correlation, alpha=alpha, sides=sides)
    else:
        found = auc_power(auc, *split(cases, prevalence), null=against, alpha=alpha, sides=sides)
    output.write(document(found), found.to_dict(), format)


def document(found: Power) -> Document:
    """The page of a plan."""
    aim = ("half width", decimals(found.half_width)) if found.design == "width" else ("power", decimals(found.power))
    rows = (
        ("positive cases", grouped(found.n_pos)),
        ("negative cases", grouped(found.n_neg)),
        ("all cases", grouped(found.cases)),
        aim,
    )
    blocks: list[Block] = [Grid(("plan", "number"), rows), Verdict(found.words)]
    if found.notes:
        blocks.append(Notes(found.notes))
    facts = "variance of Hanley and McNeil, normal approximation"
    return Document("Power", facts, (Section("power", "Power", tuple(blocks), brief=True),))
