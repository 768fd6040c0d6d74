"""`scorespace compare`: tests between models on the same cases, on two samples, or against a value."""

from __future__ import annotations

from typing import Annotated

import typer

from scorespace.cli import options, output
from scorespace.errors import ScoreSpaceError
from scorespace.evaluation.enter import evaluate
from scorespace.evaluation.evaluation import Evaluation
from scorespace.views import comparison as view

_WHAT = "What to compare"


def _known(incomplete: str) -> list[str]:
    """The tests whose names begin so, for completion."""
    from scorespace.comparisons.test import TESTS  # loads only when a shell asks

    return [kind.name for kind in TESTS if kind.name.startswith(incomplete)]


def compare(
    data: options.Data,
    truth: options.Truth,
    score: options.Score = [],  # noqa: B006 - Typer copies defaults
    decision: options.Decision = [],  # noqa: B006
    positive: options.Positive = None,
    name: options.Name = [],  # noqa: B006
    model: options.Model = [],  # noqa: B006
    group: options.Group = None,
    fold: options.Fold = None,
    repeat: options.Repeat = None,
    missing: options.MissingRows = options.Missing.error,
    allow_remote: options.AllowRemote = False,
    other: Annotated[
        str | None,
        typer.Option(
            "--with",
            metavar="OTHER",
            help="Instead of each other: every model with itself on another sample of cases, with the same columns.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    against: Annotated[
        float | None,
        typer.Option(metavar="X", help="Instead: every model's AUC or --measure with a value.", rich_help_panel=_WHAT),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=options.measure_names,
            help="What to compare, such as auc, pauc(fpr_high=0.1) or f1@0.3.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    at: Annotated[
        float | None,
        typer.Option(metavar="T", help="Compare the decisions at this threshold.", rich_help_panel=_WHAT),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            metavar="TEST",
            help="Such as delong, 'mcnemar(method=exact)' or 'bootstrap(replicates=5000)'; the suiting one if not "
            "stated. scorespace tests lists them.",
            autocompletion=_known,
            rich_help_panel=_WHAT,
        ),
    ] = None,
    rope: Annotated[
        float | None,
        typer.Option(metavar="W", help="For bayes_t: differences within ± W are none.", rich_help_panel=_WHAT),
    ] = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    format: options.OutputFormat = options.Format.table,
) -> None:
    """Test whether models differ: from each other on the same cases, between two samples, or from a value.

    Example: scorespace compare credit.csv --truth outcome --positive bad --score nb --score tree
    """
    alone = "--with" if other is not None else "--against"
    if other is not None and against is not None:
        raise ScoreSpaceError("--with and --against are two comparisons.", hint="one of them at a time")
    idle = {"--fold": fold, "--repeat": repeat, "--rope": rope}
    for flag, given in idle.items() if other is not None or against is not None else ():
        if given is not None:
            raise ScoreSpaceError(f"{flag} is for models that are compared with each other.", hint=f"leave out {alone}")
    if at is not None and (other is not None or against is not None):
        raise ScoreSpaceError(f"--at compares decisions case by case, and not {alone}.", hint=f"--measure acc@{at:g}")

    def evaluated(source: str) -> Evaluation:
        return evaluate(
            source,
            truth=truth,
            scores=score,
            decisions=decision,
            positive=positive,
            names=options.renames(name),
            models=options.models(model),
            group=group,
            fold=fold,
            repeat=repeat,
            missing=missing.value,
            paired=True,
            level=level,
            seed=seed,
            progress=progress,
        )

    with output.progress("resampling") as progress:
        evaluation, second = evaluated(data), None if other is None else evaluated(other)
        if second is not None:
            found = evaluation.compare_with(second, test=test, measure=measure)
        elif against is not None:
            found = evaluation.compare_against(against, test=test, measure=measure)
        else:
            found = evaluation.compare(test=test, measure=measure, at=at, rope=rope)
    output.write(view.document(evaluation, found, second), found.to_dict(), format)
