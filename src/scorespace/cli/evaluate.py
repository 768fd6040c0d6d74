"""`scorespace evaluate`: measures of models with confidence intervals, findings and a report."""

from __future__ import annotations

import math
import operator
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer

from scorespace.cli import options, output, partial_truth, runs
from scorespace.cli.common_options import CostOptions, DataOptions
from scorespace.cli.options import flag, switch
from scorespace.cli.partial_truth import PartialTruthOptions
from scorespace.cli.verbs import verb
from scorespace.cli.without_labels import write_assumed
from scorespace.comparisons.calibration import find_calibration_test
from scorespace.errors import MeasureError
from scorespace.evaluation.evaluation import Evaluation
from scorespace.evaluation.ledger import Ledger, record
from scorespace.evaluation.looks import limits_at_every_look
from scorespace.inference.any_look import is_any_look
from scorespace.inference.interval import INTERVALS
from scorespace.measures import parse
from scorespace.report import confusion, screen
from scorespace.report.document import Block, Text, one_section
from scorespace.results import Row, decimals, p_text, to_json_types

_REQUIREMENT = re.compile(r"(?P<measure>.+?)\s*(?P<sign>>=|<=|>|<)\s*(?P<bound>[^<>=]+)")
_OF_BASELINE = re.compile(r"baseline(?:\s*(?P<side>[+-])\s*(?P<margin>chance|[^\s%]+)\s*(?P<percent>%)?)?")


class RequiredBound(NamedTuple):
    """Bound of a requirement: a value, or the baseline plus a margin (absolute, in percent, or statistical)."""

    text: str
    margin: float
    relative: bool = False
    percent: bool = False
    chance: bool = False

    def relative_to(self, baseline: float) -> float:
        """The bound as a value, for the baseline's value of the measure."""
        return baseline + (abs(baseline) * self.margin / 100 if self.percent else self.margin)


@verb("Evaluate models", 1)
def evaluate(
    data_options: Annotated[DataOptions, {"baseline"}],
    cost_options: Annotated[CostOptions, {"slope"}],
    partial_options: PartialTruthOptions,
    by: options.By = [],
    parity: Annotated[
        bool, switch("--parity", "With --by, also differences and ratios of rates (parity, four-fifths rule).")
    ] = False,
    measures: Annotated[
        str,
        flag("LIST", 'Measures, such as "auc,ppv@0.5,fbeta(beta=2)@0.3".', autocompletion=options.measure_names),
    ] = "",
    require: Annotated[
        list[str],
        flag(
            "RULE",
            (
                'Exit with 1 unless every model satisfies this, such as "auc>=0.8", "auc>=baseline-0.01" or '
                '"spiegelhalter>=0.05" (p).'
            ),
        ),
    ] = [],
    baseline: Annotated[
        list[str],
        flag(
            "FILE.json|COL|VALUE",
            "Saved evaluation to compare all measures with. For regression also the baseline prediction of relative "
            "errors: a column, a value, or the mean of the truth.",
        ),
    ] = [],
    save: Annotated[
        Path | None, flag("FILE.json", "Also save measures and tables, as the --baseline of later evaluations.")
    ] = None,
    by_class: Annotated[bool, switch("--by-class", "Also detailed accuracy by class, as in WEKA.")] = False,
    spread: Annotated[
        bool, switch("--spread", "Also the standard deviation of each measure over common bootstrap resamples.")
    ] = False,
    at: Annotated[float | None, flag("X", "Threshold at which decisions are shown.")] = None,
    all: Annotated[bool, switch("--all", "Show all usual measures instead of the short default.", "Output")] = False,
    notes: Annotated[bool, switch("--notes", "Show all notes, not only warnings.", "Output")] = False,
    report: Annotated[Path | None, flag("FILE.html", "Also write the HTML report, a single file.")] = None,
    title: Annotated[str | None, flag("TEXT", "Title of the report.")] = None,
    section: Annotated[list[str], flag("NAME", "Only this section of the report; repeatable.")] = [],
    interval: Annotated[
        list[str],
        flag(
            "METHOD|[MODEL=]LOW,HIGH,LEVEL",
            (
                "Method of confidence intervals, such as bootstrap, bca, wilson, clopper-pearson or delong; by default "
                "the best studied one for each measure. Or a model's prediction intervals: two columns and their "
                "nominal level, such as low,high,0.9."
            ),
            options.OUTPUT,
            autocompletion=lambda incomplete: [
                interval.name for interval in INTERVALS if interval.name.startswith(incomplete)
            ],
        ),
    ] = [],
    looks: Annotated[
        str | None,
        flag(
            "any",
            "Intervals and --require hold at every look at growing data, not only at one; any(cases=5000): tightest "
            "at 5000 cases (default 1000), to be fixed before the first look.",
            options.OUTPUT,
        ),
    ] = None,
    assume: Annotated[
        str | None,
        flag(
            "HOW",
            "Without --truth: values that follow if the scores are calibrated here (calibrated), or if only the "
            "prevalence changed since training: 'prior_shift(trained=0.3)'.",
        ),
    ] = None,
    ledger: Annotated[
        Path | None,
        flag("FILE.jsonl", "Record this look at the test set, and correct the best of all models for their number."),
    ] = None,
    ladder: Annotated[
        bool, switch("--ladder", "With --ledger: show a value only if it is a clear gain on the best one so far.")
    ] = False,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    format: options.OutputFormat = "table",
) -> None:
    """Evaluate models: a verdict, measures with confidence intervals, and warnings.

    Save an evaluation with --save FILE.json and compare later ones with it: --baseline FILE.json. With --proxy,
    --probability or --verified-by, only some rows need a truth.

    Example: scorespace evaluate credit.csv --truth outcome --positive bad --score naive_bayes --score tree

    Example: scorespace evaluate patients.csv --truth ill --positive yes --score marker --by sex --where "age >= 18"

    Example: scorespace evaluate dice.csv --value unet --value vnet --group patient --require "mean>=0.8"

    Example: scorespace evaluate search.csv --truth relevance --query query --score bm25 --measures "ndcg@10,rr"
    """
    inputs = *data_options.files, cost_options.costs, *baseline
    options.check_output(report, (".html",), *inputs)
    options.check_output(save, (".json",), *inputs)
    options.check_output(ledger, (".jsonl",), *inputs)
    if ladder and (ledger is None or require or report or save or spread or by_class):
        shown = "--ladder shows one answer, and needs --ledger."
        raise MeasureError(shown, hint="--ledger FILE.jsonl --ladder, without --require, --report and --save")
    if assume is not None and not partial_options:
        stated: dict[str, object] = {
            **{"--require": require, "--baseline": baseline, "--save": save, "--by": by, "--interval": interval},
            **{"--looks": looks, "--ledger": ledger, "--report": report, "--spread": spread},
            **{
                "--cost-fp": cost_options.cost_fp,
                "--costs": cost_options.costs,
                "--prevalence": cost_options.prevalence,
            },
        }
        write_assumed(data_options, assume, measures, level, format, stated)
        return
    rules = [_rule(text) for text in require]
    if runs.has_many_datasets(data_options.data, data_options.dataset):
        run_options = {
            "--require": require,
            "--by-class": by_class,
            "--spread": spread,
            "--interval": interval,
            "--looks": looks,
            "--ledger": ledger,
            "--by": by,
        }
        run_options |= {"--baseline": baseline, "--save": save}
        runs.refuse(data_options, "truth decision prediction weight group fold repeat matrix where", run_options)
        runs.refuse(cost_options, "cost_fp cost_fn costs prevalence")
        runs.evaluate(data_options, report, format, measure=measures or None, level=level)
        return
    if partial_options:
        others: dict[str, object] = {"--assume": assume}
        others |= {"--by": by, "--parity": parity, "--require": require, "--baseline": baseline, "--save": save}
        others |= {"--by-class": by_class, "--spread": spread, "--interval": interval, "--section": section}
        others |= {"--looks": looks, "--ledger": ledger}
        asked: dict[str, Any] = {"measures": measures, "at": at, "full": all, "level": level, "seed": seed}
        partial_truth.evaluate(
            partial_options, data_options, cost_options, others, report=report, format=format, **asked
        )
        return
    method, intervals = options.intervals(interval)
    if looks is not None:
        if method is not None:
            raise MeasureError("--looks states the method of intervals.", hint="leave out --interval, or --looks")
        method = options.looks(looks)
    only_prevalence = cost_options.has_only_prevalence
    with output.progress("bootstrap") as progress:
        evaluation = data_options.evaluate(
            intervals=intervals,
            measures=measures,
            further=[measure for measure, _, _ in rules if find_calibration_test(measure) is None],
            condition=None if only_prevalence else cost_options.condition(data_options.rows),
            prevalence=cost_options.prevalence if only_prevalence else None,
            costs=cost_options.costs,
            baseline=baseline,
            by=by,
            interval=method,
            threshold=at,
            full=all,
            parity=parity,
            level=level,
            seed=seed,
            progress=progress,
        )
        evaluation.check([parse(measure) for measure, _, _ in rules if find_calibration_test(measure) is None])
        if is_any_look(method) and any(bound.relative for _, _, bound in rules):
            raise MeasureError("a requirement with --looks cannot refer to a baseline.", hint='--require "auc>=0.8"')
        if is_any_look(method) and any(find_calibration_test(measure) for measure, _, _ in rules):
            raise MeasureError("tests of calibration hold at one look only.", hint='--require "auc>=0.8"')
        if evaluation.before is None and any(bound.relative for _, _, bound in rules):
            raise MeasureError("a requirement refers to a baseline, but none is passed.", hint="--baseline FILE.json")
        evaluation.summary  # noqa: B018 - computed here, while the progress bar is shown
        evaluation.slices  # noqa: B018
        evaluation.changes  # noqa: B018
        spreads = evaluation.spread() if spread else None
        failed = [text for measure, sign, bound in rules for text in _failures(evaluation, measure, sign, bound)]
    looked = None if ledger is None else record(evaluation, ledger, ladder=ladder)
    if looked is not None and ladder:
        output.write(
            one_section(looked.name, "the Ladder", "Ledger", (), looked.words, looked.notes), _answers(looked), format
        )
        return
    if save is not None:  # before anything is printed, like the report
        evaluation.save(save)
    show(
        evaluation, report, format, title, section, by_class=by_class, spreads=spreads, every_note=notes, ledger=looked
    )
    output.list_files(format, saved=save)
    if failed:
        sys.stderr.write("".join(f"requirement failed: {text}\n" for text in failed))
        raise typer.Exit(1)


def show(
    evaluation: Evaluation,
    report: Path | None,
    form: options.Format,
    title: str | None = None,
    sections: Sequence[str] = (),
    *,
    by_class: bool = False,
    spreads: Mapping[str, Mapping[str, float]] | None = None,
    every_note: bool = False,
    ledger: Ledger | None = None,
) -> None:
    """Write the evaluation to stdout and its report to a file, if one is named."""
    if report is not None:  # first, so that an error leaves stdout empty
        evaluation.report(report, title=title, sections=sections, command=output.command())
    content = evaluation.to_dict()
    extra: list[Block] = []
    if spreads is not None:
        from scorespace.report.smooth import spread_section

        extra += spread_section(spreads).blocks
        content |= {"spread": spreads}
    if ledger is not None:
        extra.append(Text(" ".join([ledger.words, *(one.text for one in ledger.notes)])))
        content |= {"ledger": ledger.facts()}
    if by_class:
        extra += confusion.detailed_section(evaluation).blocks
        content |= {"classes": confusion.detailed_rows(evaluation)}
    if form == "csv" and evaluation.changes is not None:  # other formats have a separate table of changes
        content |= {"rows": _merge_changes(content["rows"], evaluation.changes.rows())}
    skipped = ("class_by_class",) if by_class else ()  # a short form of the same table
    document = screen.summary_document(evaluation, every_note=every_note, extra=extra, skipped=skipped)
    output.write(document, to_json_types(content), form)
    output.list_files(form, report=report)


def _answers(ledger: Ledger) -> Row:
    """The answers of the Ladder as data, without the values of single looks."""
    content = ledger.to_dict()
    rows = [{"measure": name, "answer": value, "new": new} for name, (value, new) in (ledger.answers or {}).items()]
    return content | {"rows": rows}


def _merge_changes(rows: Sequence[Row], changed: Sequence[Row]) -> list[Row]:
    """Rows of measures with their change from the baseline, then rows at the baseline's thresholds."""
    names = ("slice", "model", "measure", "at", "class")
    changes = {tuple(map(row.get, names)): row for row in changed}
    merged = [{**row, **changes.pop(tuple(map(row.get, names)), {})} for row in rows]
    return [*merged, *changes.values()]


def _rule(text: str) -> tuple[str, str, RequiredBound]:
    match = _REQUIREMENT.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError
        of_test = find_calibration_test(match["measure"])
        measure = str(parse(match["measure"]) if of_test is None else of_test)
        sign, bound = match["sign"], _bound(match["bound"].strip())
        if of_test is not None and bound.relative:
            raise MeasureError(f"{text!r} compares a p-value with a baseline.", hint=f'--require "{measure}>=0.05"')
        if bound.chance and ("-" in bound.text) != (">" in sign):  # the margin must point away from the requirement
            allowed = "baseline-chance" if ">" in sign else "baseline+chance"
            raise MeasureError(
                f"{text!r} has its margin on the wrong side.", hint=f'--require "{measure}{sign}{allowed}"'
            )
        return measure, sign, bound
    except ValueError as error:
        if isinstance(error, MeasureError):
            raise
        raise MeasureError(
            f"the requirement {text!r} cannot be parsed.",
            hint='such as --require "auc>=0.8", or "auc>=baseline-0.01" with --baseline FILE.json',
        ) from None


def _bound(text: str) -> RequiredBound:
    """Parse a number, or `baseline` with a margin: absolute, in percent, or `chance` (not significantly worse)."""
    of_baseline = _OF_BASELINE.fullmatch(text)
    if of_baseline is None:
        value = float(text)
        if math.isnan(value):
            raise ValueError
        return RequiredBound(f"{value:g}", value)
    side, margin, percent = of_baseline["side"], of_baseline["margin"], of_baseline["percent"]
    if margin == "chance":
        if percent is not None:
            raise ValueError
        return RequiredBound(text, 0.0, relative=True, chance=True)
    size = float(margin) if margin else 0.0
    if not 0 <= size < math.inf:
        raise ValueError
    return RequiredBound(text, -size if side == "-" else size, relative=True, percent=percent is not None)


def _failures(evaluation: Evaluation, measure: str, sign: str, bound: RequiredBound) -> list[str]:
    """Messages about models that fail a requirement; an undefined value fails it.

    A cost at a threshold chosen on the same cases is replaced by its cross-fitted value.
    """
    holds = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}[sign]
    if find_calibration_test(measure) is not None:
        return _rejected(evaluation, measure, sign, bound, holds)
    if bound.relative:
        return _below_baseline(evaluation, measure, sign, bound, holds)
    if is_any_look(evaluation.interval):
        return _not_yet_shown(evaluation, measure, sign, bound, holds)
    estimates = evaluation.measures(measure)
    missing = [name for name in evaluation.models if name not in {estimate.model for estimate in estimates}]
    failed = [f"{name} has no {measure}, so it is not {sign} {bound.text}" for name in missing]
    for estimate in estimates:
        cross_fitted = None if parse(measure).at is not None else evaluation.out_of_sample_cost(estimate)
        if not holds(estimate.value if cross_fitted is None else cross_fitted.value, bound.margin):
            seen = decimals(estimate.value, 6)
            if cross_fitted is not None:
                seen = f"{decimals(cross_fitted.value, 6)}, cross-fitted (apparent {seen})"
            failed.append(f"{estimate.model} {estimate.spec} is {estimate.reason or seen}, not {sign} {bound.text}")
    return failed


def _not_yet_shown(
    evaluation: Evaluation, measure: str, sign: str, bound: RequiredBound, holds: Callable[[float, float], bool]
) -> list[str]:
    """Messages about models whose one-sided limit, which holds at every look, does not satisfy a requirement."""
    side: Literal["low", "high"] = "low" if ">" in sign else "high"
    limits = {one.model: one for one in limits_at_every_look(evaluation, measure, side)}
    failed = []
    for name in evaluation.models:
        one = limits.get(name)
        limit = math.nan if one is None else getattr(one, side)
        if not holds(limit, bound.margin):
            seen = f"has no {measure}" if one is None else f"{one.spec} is {decimals(one.value, 6)}"
            which = "lower" if side == "low" else "upper"
            reason = "" if one is None else f" ({one.reason})" if math.isnan(limit) else ""
            known = f", {which} limit {decimals(limit, 6)}{reason}" if one is not None else ""
            failed.append(f"{name} {seen}{known}, not {sign} {bound.text} at every look")
    return failed


def _rejected(
    evaluation: Evaluation, test: str, sign: str, bound: RequiredBound, holds: Callable[[float, float], bool]
) -> list[str]:
    """Messages about models whose p-value of a test of calibration fails a requirement."""
    tests = {one.a: one for one in evaluation.calibration_tests(test)}
    missing = [name for name in evaluation.models if name not in tests]
    lacking = "probabilities or prediction intervals"
    failed = [f"{name} has no {lacking}, so {test} is not {sign} {bound.text}" for name in missing]
    for name, one in tests.items():
        if not holds(one.p, bound.margin):
            seen = f"undefined ({one.reason})" if math.isnan(one.p) else p_text(one.p)
            failed.append(f"{name} {test}: {seen}, not p {sign} {bound.text}")
    return failed


def _below_baseline(
    evaluation: Evaluation, measure: str, sign: str, bound: RequiredBound, holds: Callable[[float, float], bool]
) -> list[str]:
    """Messages about models that fail a requirement relative to the baseline, at the baseline's thresholds."""
    changes = evaluation.changed(measure)
    gaps = {gap.estimate.model: gap for gap in changes.gaps}
    failed = []
    for name in evaluation.models:
        gap = gaps.get(name)
        if gap is None:
            failed.append(f"{name} has no {measure} in the baseline, so it is not {sign} {bound.text}")
            continue
        value, baseline, test = gap.estimate.value, gap.rest, gap.test
        if holds(value, bound.relative_to(baseline)) or (bound.chance and changes.by_chance(gap)):
            continue
        subject = f"{name} {gap.estimate.spec}"
        if math.isnan(value):
            failed.append(f"{subject} is {gap.estimate.reason or test.reason}, not {sign} {bound.text}")
            continue
        if math.isnan(baseline):
            failed.append(f"{subject} has no value in the baseline ({test.reason}), so it is not {sign} {bound.text}")
            continue
        chance = f" ({test.reason})" if math.isnan(test.p) else f", {test.significance_text}"
        failed.append(
            f"{subject} is {decimals(value, 6)}, not {sign} {bound.text} (baseline {decimals(baseline, 6)}): "
            f"difference {test.size}{chance}"
        )
    return failed
