"""`scorespace compare`: tests between models on the same cases, on two samples, or against a value."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Final

import typer

from scorespace.cli import options, output, runs
from scorespace.declaration import call_text
from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.evaluation.enter import evaluate
from scorespace.evaluation.evaluation import Evaluation
from scorespace.measures import parse
from scorespace.results import grouped
from scorespace.views import comparison as view

_WHAT = "What to compare"
_MOST_COUNTED: Final = 10_000_000


def _known(incomplete: str) -> list[str]:
    """The tests whose names begin so, for completion."""
    from scorespace.comparisons.test import TESTS  # loads only when a shell asks

    return [kind.name for kind in TESTS if kind.name.startswith(incomplete)]


def compare(
    data: options.MaybeData = None,
    truth: options.MaybeTruth = None,
    score: options.Score = [],  # noqa: B006 - Typer copies defaults
    decision: options.Decision = [],  # noqa: B006
    prediction: options.Prediction = [],  # noqa: B006
    positive: options.Positive = None,
    name: options.Name = [],  # noqa: B006
    model: options.Model = [],  # noqa: B006
    weight: options.Weight = None,
    group: options.Group = None,
    fold: options.Fold = None,
    time: options.Time = None,
    repeat: options.Repeat = None,
    order: options.Order = "",
    scale: options.Scale = None,
    dataset: options.Dataset = None,
    missing: options.MissingRows = options.Missing.error,
    where: options.Where = None,
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
    at_least: Annotated[
        list[str],
        typer.Option(
            metavar="MEASURE=X",
            help="Compare the best value of --measure over the thresholds that keep this bound, such as tpr=0.9.",
            rich_help_panel=_WHAT,
        ),
    ] = [],  # noqa: B006
    at_most: Annotated[
        list[str],
        typer.Option(metavar="MEASURE=X", help="The same with a bound from above.", rich_help_panel=_WHAT),
    ] = [],  # noqa: B006
    counts: Annotated[
        str | None,
        typer.Option(
            metavar="N00,N01,N10,N11",
            help="Instead of DATA: cases that both models get wrong, only a, only b, and neither.",
            rich_help_panel=_WHAT,
        ),
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
    memory: options.Memory = None,
    precision: options.Precision = None,
    engine: options.Engine = None,
    master: options.Master = None,
    alternative: options.Alternative = options.Sided.two,
    adjust: options.Adjust = "holm",
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

    measure = _under(measure, at_least, at_most)
    if runs.several(data, dataset):
        named = {"--truth": truth, "--decision": decision, "--prediction": prediction, "--group": group, "--fold": fold}
        others = {
            "--repeat": repeat,
            "--weight": weight,
            "--with": other,
            "--against": against,
            "--at": at,
            "--rope": rope,
        }
        runs.refuse({**named, **others, "--counts": counts, "--memory": memory})
        runs.compare(str(data), measure, score, positive, test, alternative.value, adjust, level, format)
        return
    if (data is None) == (counts is None):
        raise ScoreSpaceError(
            "name the data, or the counts of right and wrong decisions instead.",
            hint="DATA --truth COL, or --counts 20,40,20,120",
        )
    if counts is not None and (score or decision or truth is not None or other is not None or against is not None):
        raise ScoreSpaceError("--counts are all that is known of two models.", hint="no columns beside --counts")
    table = None if counts is None else _told(counts)
    decision, truth = (decision, truth) if table is None else (["a", "b"], "truth")

    def evaluated(source: Any) -> Evaluation:
        return evaluate(
            source,
            truth=truth,
            scores=score,
            decisions=decision,
            predictions=prediction,
            time=time,
            positive=positive,
            names=options.renames(name),
            models=options.models(model),
            weight=weight,
            group=group,
            fold=fold,
            repeat=repeat,
            order=order,
            scale=scale,
            dataset=dataset,
            where=where,
            missing=missing.value,
            paired=True,
            at=_thresholds(at, measure),
            memory=memory,
            precision=precision,
            engine=engine,
            master=master,
            level=level,
            seed=seed,
            progress=progress,
        )

    judged: dict[str, Any] = {"alternative": alternative.value, "adjust": adjust}
    with output.progress("resampling") as progress:
        evaluation, second = evaluated(table or data), None if other is None else evaluated(other)
        if second is not None:
            found = evaluation.compare_with(second, test=test, measure=measure, **judged)
        elif against is not None:
            found = evaluation.compare_against(against, test=test, measure=measure, **judged)
        else:
            found = evaluation.compare(test=test, measure=measure, at=at, rope=rope, **judged)
    page = view.document(evaluation, found, second)
    if table is not None:  # of which only right and wrong is known, and no class
        page = replace(page, title="counts", facts=f"{grouped(evaluation.models.rows)} cases")
    output.write(page, found.to_dict(), format)


def _under(measure: str | None, at_least: list[str], at_most: list[str]) -> str | None:
    """The measure to compare, under the bounds that are stated."""
    if not at_least and not at_most:
        return measure
    if measure is None:
        raise MeasureError("bounds are kept while a measure is compared.", hint="--at-least tpr=0.9 --measure ppv")
    from scorespace.measures.sweep import best

    bounds = {"at_least": " ".join(at_least), "at_most": " ".join(at_most)}
    return call_text(best.name, (("measure", measure), *((name, text) for name, text in bounds.items() if text)))


def _thresholds(at: float | None, measure: str | None) -> list[float]:
    """The thresholds that must be exact where scores are counted in bins."""
    asked = None if measure is None else parse(measure).at
    return [one for one in (at, asked) if isinstance(one, float)]


def _told(counts: str) -> dict[str, Any]:
    """The decisions of models a and b with so many cases wrong by both, by a alone, by b alone, and by neither."""
    import numpy as np

    try:
        sizes = [int(part) for part in counts.split(",")]
    except ValueError:
        sizes = []
    if len(sizes) != 4 or min(sizes) < 0 or not sum(sizes):
        raise ScoreSpaceError(
            f"--counts {counts} are no four counts.",
            hint="cases that both get wrong, only a, only b, neither: --counts 20,40,20,120",
        )
    if sum(sizes) > _MOST_COUNTED:
        raise ScoreSpaceError(
            f"--counts {counts} are more cases than can be listed.",
            seen=f"{sum(sizes)} cases",
            hint="smaller counts in the same proportions",
        )
    right = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}
    told = {model: np.repeat(np.array(["wrong", "right"])[np.array(marks)], sizes) for model, marks in right.items()}
    return {"truth": np.repeat(["right"], sum(sizes)), **told}
