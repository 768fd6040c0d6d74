"""`scorespace compare`: tests between models on the same cases."""

from __future__ import annotations

from typing import Annotated

import typer

from scorespace.cli import options, output
from scorespace.comparisons.compare import TESTS
from scorespace.entry import evaluate
from scorespace.views import comparison as view


def compare(
    data: options.Data,
    truth: options.Truth,
    score: options.Score = [],  # noqa: B006 - Typer copies defaults
    decision: options.Decision = [],  # noqa: B006
    positive: options.Positive = None,
    name: options.Name = [],  # noqa: B006
    group: options.Group = None,
    fold: options.Fold = None,
    missing: options.MissingRows = options.Missing.error,
    test: Annotated[
        str | None, typer.Option(metavar="TEST", help=f"{', '.join(TESTS)}; the suiting one if not stated.")
    ] = None,
    measure: Annotated[
        str | None, typer.Option(metavar="NAME", help="What to compare, such as auc, pauc(fpr_high=0.1) or f1@0.3.")
    ] = None,
    at: Annotated[float | None, typer.Option(metavar="T", help="Compare the decisions at this threshold.")] = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    format: options.OutputFormat = options.Format.table,
) -> None:
    """Test whether models differ: DeLong, McNemar, bootstrap or permutation, on the same cases.

    Example: scorespace compare credit.csv --truth outcome --positive bad --score nb --score tree
    """
    with output.progress("resampling") as progress:
        evaluation = evaluate(
            data,
            truth=truth,
            scores=score,
            decisions=decision,
            positive=positive,
            names=options.renames(name),
            group=group,
            fold=fold,
            missing=missing.value,
            paired=True,
            level=level,
            seed=seed,
            progress=progress,
        )
        found = evaluation.compare(test=test, measure=measure, at=at)
    output.write(view.document(evaluation, found), found.to_dict(), format)
