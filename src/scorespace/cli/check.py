"""`scorespace check`: which confusion matrices give printed numbers."""

from __future__ import annotations

from typing import Annotated

import typer

from scorespace.cli import options, output
from scorespace.cli.options import flag, split_pair, switch
from scorespace.cli.verbs import verb
from scorespace.errors import DataError


@verb("Reference and tools", 7)
def check(
    numbers: Annotated[
        list[str],
        typer.Argument(
            metavar="MEASURE=NUMBER…", help="Numbers as printed, with all their decimals: acc=.85 recall=80%."
        ),
    ],
    n: Annotated[int | None, flag("N", "Number of cases.", None, "--n", "-n")] = None,
    positives: Annotated[int | None, flag("P", "Number of positive cases; by default any.")] = None,
    cut: Annotated[bool, switch("--cut", "The numbers are truncated, not rounded.")] = False,
    report: options.Report = None,
    format: options.OutputFormat = "table",
) -> None:
    """Check whether printed numbers add up: find the confusion matrices of N cases that give all of them.

    Works for numbers that come from one confusion matrix, not for macro averages, means over folds or bootstrap means.
    An AUC is checked against the decisions by a threshold of its score. Exits with 1 if there is no such matrix.

    Example: scorespace check --n 100 --positives 40 acc=.85 tpr=.80 tnr=.88
    """
    from scorespace.audit.printed_numbers import consistent_tables
    from scorespace.report.printed_numbers import document

    options.check_output(report, (".html",))
    if n is None:
        raise DataError("the number of cases is missing.", hint="--n 100")
    pairs = [split_pair(text, "the number", "MEASURE=NUMBER, such as acc=.85", last=True) for text in numbers]
    twice = [name for k, (name, _) in enumerate(pairs) if name in dict(pairs[:k])]
    if twice:
        raise DataError(f"{twice[0]} is stated twice.", hint="each measure once")
    found = consistent_tables(n, dict(pairs), positives=positives, cut=cut)
    output.write_result(document(found), found.to_dict(), format, report=report)
    if not found.consistent:
        raise typer.Exit(1)
