"""`scorespace audit`: what is in the data, before any number is believed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from scorespace.cli import options, output
from scorespace.cli.given import Given, only
from scorespace.cli.options import flag
from scorespace.errors import DataError


def audit(
    data: options.Data,
    *,
    target: Annotated[str | None, flag("COL", "The column to be predicted.", options.ROLES)] = None,
    test: Annotated[
        str | None, flag("OTHER", "A sample that should share no case with the data.", options.ROLES)
    ] = None,
    given: Annotated[Given, only("score", "positive", "group", "fold", "where", "allow_remote")],
    kind: Annotated[
        list[str],
        flag(
            "COL=KIND",
            "Overrule what a column is taken for, such as size=ordinal(small,medium,large); repeatable.",
            options.ROLES,
        ),
    ] = [],
    fail_on: Annotated[list[str], flag("CODE", "Exit with 1 on this code, or on warning or info; repeatable.")] = [],
    report: Annotated[
        Path | None, flag("FILE.html", "Also write a page with a picture per column.", options.OUTPUT)
    ] = None,
    seed: Annotated[int, flag(None, "Seed of folds and permutations.", options.OUTPUT, min=0)] = 0,
    format: options.OutputFormat = "table",
) -> None:
    """Look at every column before any model does: what it is, and what would fool you.

    Example: scorespace audit train.csv --target price --test holdout.csv --report audit.html
    """
    from scorespace.auditing.audit import HEADER  # loads SciPy
    from scorespace.auditing.audit import audit as audit_data
    from scorespace.views import audit as view

    options.check_output(report, (".html",), data, test)
    if given.score and target is None:
        raise DataError("scores are judged beside a target.", hint="--target COL")
    with output.progress("looking at the columns") as progress:
        found = audit_data(
            options.chosen(data, given.where),
            target=target,
            test=test,
            scores=given.score,
            positive=given.positive,
            group=given.group,
            fold=given.fold,
            kinds=dict(options.parted(one, "--kind", "--kind 'size=ordinal(small,medium,large)'") for one in kind),
            seed=seed,
            progress=progress,
        )
    failing = found.failing(fail_on)  # a code that does not exist is told before anything is written
    flat = {"rows": found.rows()} if format == "csv" else {}
    output.result(view.document(found), found.to_dict() | flat, format, report=report, header=HEADER)
    if failing:
        sys.stderr.write("".join(f"found {one.code}: {one.text}\n" for one in failing))
        raise typer.Exit(1)
