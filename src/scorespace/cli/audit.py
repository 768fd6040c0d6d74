"""`scorespace audit`: check a data set before modelling."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from scorespace.cli import options, output
from scorespace.cli.common_options import DataOptions, only
from scorespace.cli.options import flag
from scorespace.cli.verbs import verb
from scorespace.errors import DataError


@verb("Data, clusters, learners", 1)
def audit(
    data: options.Data,
    *,
    target: Annotated[str | None, flag("COL", "Column to predict.", options.ROLES)] = None,
    test: Annotated[
        str | None, flag("OTHER", "Test set; cases that also occur in DATA are reported.", options.ROLES)
    ] = None,
    data_options: Annotated[DataOptions, only("score", "positive", "group", "fold", "where", "allow_remote")],
    kind: Annotated[
        list[str],
        flag(
            "COL=KIND",
            "Set the type of a column, such as size=ordinal(small,medium,large); repeatable.",
            options.ROLES,
        ),
    ] = [],
    fail_on: Annotated[list[str], flag("CODE", "Exit with 1 on this code, on warning or on info; repeatable.")] = [],
    report: Annotated[
        Path | None, flag("FILE.html", "Also write an HTML report with a chart per column.", options.OUTPUT)
    ] = None,
    seed: Annotated[int, flag(None, "Seed of folds and permutations.", options.OUTPUT, min=0)] = 0,
    format: options.OutputFormat = "table",
) -> None:
    """Check a data set before modelling: column types, missing values, duplicates, leakage, and train/test overlap.

    Example: scorespace audit train.csv --target price --test holdout.csv --report audit.html
    """
    from scorespace.audit.audit import FINDING_COLUMNS  # loads SciPy
    from scorespace.audit.audit import audit as audit_data
    from scorespace.report import audit as view

    options.check_output(report, (".html",), data, test)
    if data_options.score and target is None:
        raise DataError("checks of scores need a target.", hint="--target COL")
    with output.progress("checking columns") as progress:
        result = audit_data(
            options.filter_rows(data, data_options.where),
            target=target,
            test=test,
            scores=options.split_columns(data_options.score, data),
            positive=data_options.positive,
            group=data_options.group,
            fold=data_options.fold,
            kinds=dict(
                options.split_pair(text, "--kind", "--kind 'size=ordinal(small,medium,large)'") for text in kind
            ),
            seed=seed,
            progress=progress,
        )
    failing = result.failing(fail_on)  # rejects unknown codes before anything is written
    flat = {"rows": result.rows()} if format == "csv" else {}
    output.write_result(view.document(result), result.to_dict() | flat, format, report=report, header=FINDING_COLUMNS)
    if failing:
        sys.stderr.write("".join(f"found {finding.code}: {finding.text}\n" for finding in failing))
        raise typer.Exit(1)
