"""`scorespace compare`: tests of differences between models, between two samples, or from a value."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from scorespace.cli import options, output, runs
from scorespace.cli.common_options import DataOptions
from scorespace.cli.options import flag
from scorespace.cli.verbs import verb
from scorespace.comparisons.margin import MarginKind
from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.measures import parse_list
from scorespace.options import format_call
from scorespace.report import comparison as view
from scorespace.results import grouped

_WHAT = "Comparison"


def _complete_test(incomplete: str) -> list[tuple[str, str]]:
    from scorespace.comparisons.test import TESTS  # needed for shell completion only

    return TESTS.completed(incomplete)


@verb("Evaluate models", 2)
def compare(
    data_options: Annotated[DataOptions, {"weights", "baseline"}],
    other: Annotated[
        str | None,
        flag(
            "OTHER",
            "Second sample with the same columns: compare every model with itself on the two samples.",
            _WHAT,
            "--with",
        ),
    ] = None,
    against: Annotated[
        float | None, flag("X", "Compare every model's AUC (or --measure) with this value.", _WHAT)
    ] = None,
    measure: Annotated[
        str | None,
        flag(
            "LIST",
            "Measures to compare, such as auc, pauc(fpr_high=0.1) or auc,f1@0.3; p is adjusted over all of them.",
            _WHAT,
            autocompletion=options.measure_names,
        ),
    ] = None,
    at: Annotated[float | None, flag("T", "Compare the predicted classes at this threshold.", _WHAT)] = None,
    at_least: Annotated[
        list[str],
        flag(
            "MEASURE=X",
            "Compare the best --measure over the thresholds that satisfy this lower bound, such as tpr=0.9.",
            _WHAT,
        ),
    ] = [],
    at_most: Annotated[list[str], flag("MEASURE=X", "The same with an upper bound.", _WHAT)] = [],
    counts: Annotated[
        str | None,
        flag(
            "N00,N01,N10,N11",
            "Instead of DATA, counts for McNemar's test: both models wrong (N00), only a correct (N01), only b correct "
            "(N10), both correct (N11).",
            _WHAT,
        ),
    ] = None,
    test: Annotated[
        str | None,
        flag(
            "TEST",
            (
                "Such as delong, 'mcnemar(method=exact)' or 'bootstrap(replicates=5000)'; by default the first valid "
                "one. scorespace tests lists them."
            ),
            _WHAT,
            autocompletion=_complete_test,
        ),
    ] = None,
    margin: Annotated[
        float | None,
        flag(
            "M",
            "Test that the first model of a pair is not worse by more than this, in units of the measure.",
            "Hypothesis test",
        ),
    ] = None,
    margin_kind: Annotated[
        MarginKind | None,
        flag("KIND", "With --margin: noninferior (default) or equivalent (differ by less).", "Hypothesis test"),
    ] = None,
    alternative: options.Alternative = "two-sided",
    adjust: Annotated[
        str | None,
        flag(
            "METHOD",
            "Correction for multiple tests: holm (default), hochberg, bonferroni, finner or, for all pairs, shaffer or "
            "max_t (joint intervals; default for means of values per case).",
            "Hypothesis test",
        ),
    ] = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    all: options.AllTables = False,
    notes: options.AllNotes = False,
    report: options.Report = None,
    format: options.OutputFormat = "table",
) -> None:
    """Test whether models differ: from each other on the same cases, between two samples, or from a value.

    Example: scorespace compare credit.csv --truth outcome --positive bad --score naive_bayes --score tree
    """
    if other is not None and against is not None:
        raise ScoreSpaceError("--with and --against are different comparisons.", hint="pass one of them")
    reference = "--with" if other is not None else "--against" if against is not None else None
    if reference is not None:
        for name, value in {"--fold": data_options.fold, "--repeat": data_options.repeat}.items():
            if value is not None:
                problem = f"{name} applies to models compared with each other."
                raise ScoreSpaceError(problem, hint=f"leave out {reference}")
        if at is not None:
            problem = f"--at compares predicted classes case by case, which {reference} does not."
            raise ScoreSpaceError(problem, hint=f"--measure acc@{at:g}")
    options.check_output(report, (".html",), *data_options.files, other)
    measure = _constrained(measure, at_least, at_most)
    if runs.has_many_datasets(data_options.data, data_options.dataset):
        other_options: dict[str, Any] = {"--with": other, "--against": against, "--at": at, "--counts": counts}
        other_options |= {"--margin": margin, "--margin-kind": margin_kind, "--report": report}
        runs.refuse(data_options, "truth decision prediction group fold repeat weight memory", other_options)
        test_settings = {"test": test, "alternative": alternative, "adjust": None if adjust == "holm" else adjust}
        runs.compare(data_options, format, measure=measure, level=level, **test_settings)
        return
    has_data = data_options.data is not None or bool(data_options.matrix)
    if has_data == (counts is not None):
        raise ScoreSpaceError(
            "pass the data, or the counts of correct and wrong predictions.",
            hint="DATA --truth COL, or --counts 20,40,20,120",
        )
    has_columns = data_options.score or data_options.decision or data_options.truth is not None
    if counts is not None and (has_columns or reference is not None):
        raise ScoreSpaceError("--counts replaces the data of two models.", hint="leave out the columns")
    table = None
    if counts is not None:
        from scorespace.comparisons.mcnemar import decisions_from_counts, name_cells

        table = decisions_from_counts(_four(counts))
        data_options = data_options._replace(decision=["a", "b"], truth="truth")
    test_options: dict[str, Any] = {"test": test, "measure": measure, "alternative": alternative, "adjust": adjust}
    test_options |= {"margin": margin, "margin_kind": margin_kind}
    if reference is not None:
        test_options["adjust"] = adjust or "holm"
    # Binned scores must be exact at these thresholds.
    exact = [
        threshold
        for threshold in (at, *(spec.at for spec in parse_list(measure or "")))
        if isinstance(threshold, float)
    ]
    with output.progress("resampling") as progress:
        evaluate = partial(data_options.evaluate, paired=True, at=exact, level=level, seed=seed, progress=progress)
        evaluation = evaluate(table)
        second = None if other is None else evaluate(other)
        if second is not None:
            comparisons = evaluation.compare_with(second, **test_options)
        elif against is not None:
            comparisons = evaluation.compare_against(against, **test_options)
        else:
            comparisons = evaluation.compare(at=at, **test_options)
    page = view.document(evaluation, comparisons, second, full=all or counts is not None, every_note=notes)
    whole = view.report(evaluation, comparisons, second)
    if counts is not None:  # only correct and wrong is known, not the class
        a, b = evaluation.models
        cells = name_cells(_four(counts), (a, b))
        counted = f"{grouped(evaluation.models.rows)} cases: {cells}"
        page, whole = (replace(one, title="counts", facts=counted) for one in (page, whole))
    output.write_page(whole, report)
    output.write(page, comparisons.to_dict(), format)
    output.list_files(format, report=report)


def _four(counts: str) -> list[str]:
    """The counts of 20,40,20,120 or of a table, '20 40; 20 120'."""
    return re.split(r"[\s,;]+", counts.strip())


def _constrained(measure: str | None, at_least: list[str], at_most: list[str]) -> str | None:
    """The measures to compare, maximised over the thresholds that satisfy the bounds."""
    if not at_least and not at_most:
        return measure
    if measure is None:
        raise MeasureError(
            "--at-least and --at-most need a measure to compare.", hint="--at-least tpr=0.9 --measure ppv"
        )
    from scorespace.measures.threshold_curves import best

    bounds = {"at_least": " ".join(at_least), "at_most": " ".join(at_most)}
    stated = [(name, text) for name, text in bounds.items() if text]
    return ",".join(format_call(best.name, (("measure", str(spec)), *stated)) for spec in parse_list(measure))
