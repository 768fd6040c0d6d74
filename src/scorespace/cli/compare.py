"""`scorespace compare`: tests between models on the same cases, on two samples, or against a value."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from scorespace.cli import options, output, runs
from scorespace.cli.given import Given
from scorespace.cli.options import flag
from scorespace.declaration import call_text
from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.measures import parse
from scorespace.results import grouped
from scorespace.views import comparison as view

_WHAT = "What to compare"


def _known(incomplete: str) -> list[tuple[str, str]]:
    from scorespace.comparisons.test import TESTS  # loads only when a shell asks

    return TESTS.completed(incomplete)


def compare(
    given: Annotated[Given, {"weights", "baseline", "matrix", "rows"}],
    other: Annotated[
        str | None,
        flag(
            "OTHER",
            "Instead of each other: every model with itself on another sample of cases, with the same columns.",
            _WHAT,
            "--with",
        ),
    ] = None,
    against: Annotated[float | None, flag("X", "Instead: every model's AUC or --measure with a value.", _WHAT)] = None,
    measure: Annotated[
        str | None,
        flag(
            "NAME",
            "What to compare, such as auc, pauc(fpr_high=0.1) or f1@0.3.",
            _WHAT,
            autocompletion=options.measure_names,
        ),
    ] = None,
    at: Annotated[float | None, flag("T", "Compare the decisions at this threshold.", _WHAT)] = None,
    at_least: Annotated[
        list[str],
        flag(
            "MEASURE=X",
            "Compare the best value of --measure over the thresholds that keep this bound, such as tpr=0.9.",
            _WHAT,
        ),
    ] = [],
    at_most: Annotated[list[str], flag("MEASURE=X", "The same with a bound from above.", _WHAT)] = [],
    counts: Annotated[
        str | None,
        flag(
            "N00,N01,N10,N11",
            "Instead of DATA: how many cases both models get wrong (N00), only a gets right (N01), only b gets right "
            "(N10), and both get right (N11).",
            _WHAT,
        ),
    ] = None,
    test: Annotated[
        str | None,
        flag(
            "TEST",
            (
                "Such as delong, 'mcnemar(method=exact)' or 'bootstrap(replicates=5000)'; the suiting one if not "
                "stated. scorespace tests lists them."
            ),
            _WHAT,
            autocompletion=_known,
        ),
    ] = None,
    alternative: options.Alternative = "two-sided",
    adjust: Annotated[
        str,
        flag(
            "METHOD",
            "How p-values of several tests are adjusted: holm, hochberg, bonferroni, finner or, of pairs, shaffer.",
            "How to judge",
        ),
    ] = "holm",
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    format: options.OutputFormat = "table",
) -> None:
    """Test whether models differ: from each other on the same cases, between two samples, or from a value.

    Example: scorespace compare credit.csv --truth outcome --positive bad --score naive_bayes --score tree
    """
    if other is not None and against is not None:
        raise ScoreSpaceError("--with and --against are two comparisons.", hint="one of them at a time")
    alone = "--with" if other is not None else "--against" if against is not None else None
    if alone is not None:
        for name, value in {"--fold": given.fold, "--repeat": given.repeat}.items():
            if value is not None:
                problem = f"{name} is for models that are compared with each other."
                raise ScoreSpaceError(problem, hint=f"leave out {alone}")
        if at is not None:
            problem = f"--at compares decisions case by case, and not {alone}."
            raise ScoreSpaceError(problem, hint=f"--measure acc@{at:g}")
    measure = _under(measure, at_least, at_most)
    if runs.several(given.data, given.dataset):
        others = {"--with": other, "--against": against, "--at": at, "--counts": counts}
        runs.refuse(given, "truth decision prediction group fold repeat weight memory", others)
        judged = {"test": test, "alternative": alternative, "adjust": None if adjust == "holm" else adjust}
        runs.compare(given, format, measure=measure, level=level, **judged)
        return
    if (given.data is None) == (counts is None):
        raise ScoreSpaceError(
            "name the data, or the counts of right and wrong decisions instead.",
            hint="DATA --truth COL, or --counts 20,40,20,120",
        )
    if counts is not None and (given.score or given.decision or given.truth is not None or alone is not None):
        raise ScoreSpaceError("--counts are all that is known of two models.", hint="no columns beside --counts")
    table = None
    if counts is not None:
        from scorespace.comparisons.mcnemar import decisions_from_counts, name_cells

        table = decisions_from_counts(counts.split(","))
        given = given._replace(decision=["a", "b"], truth="truth")
    asked: dict[str, Any] = {"test": test, "measure": measure, "alternative": alternative, "adjust": adjust}
    # Where scores are counted in bins, these thresholds must be exact.
    exact = [one for one in (at, None if measure is None else parse(measure).at) if isinstance(one, float)]
    with output.progress("resampling") as progress:
        given_with = partial(given.evaluated, paired=True, at=exact, level=level, seed=seed, progress=progress)
        evaluation = given_with(table)
        second = None if other is None else given_with(other)
        if second is not None:
            found = evaluation.compare_with(second, **asked)
        elif against is not None:
            found = evaluation.compare_against(against, **asked)
        else:
            found = evaluation.compare(at=at, **asked)
    page = view.document(evaluation, found, second)
    if counts is not None:  # only right and wrong is known, and no class
        a, b = evaluation.models
        cells = name_cells(counts.split(","), (a, b))
        page = replace(page, title="counts", facts=f"{grouped(evaluation.models.rows)} cases: {cells}")
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
