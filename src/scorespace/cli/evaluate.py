"""`scorespace evaluate`: the main job."""

from __future__ import annotations

import math
import operator
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from scorespace.cli import options, output, runs
from scorespace.errors import MeasureError
from scorespace.evaluation.enter import evaluate as evaluate_data
from scorespace.evaluation.evaluation import Evaluation
from scorespace.measures import parse
from scorespace.resampling.interval import INTERVALS
from scorespace.results import decimals, plain
from scorespace.views import classes

_REQUIREMENT = re.compile(r"(?P<measure>.+?)\s*(?P<sign>>=|<=|>|<)\s*(?P<bound>[^<>=]+)")


def evaluate(
    data: options.MaybeData = None,
    truth: options.MaybeTruth = None,
    score: options.Score = [],  # noqa: B006 - Typer copies defaults
    decision: options.Decision = [],  # noqa: B006
    prediction: options.Prediction = [],  # noqa: B006
    positive: options.Positive = None,
    name: options.Name = [],  # noqa: B006
    model: options.Model = [],  # noqa: B006
    weight: options.Weight = None,
    weights: options.Weights = options.Weighing.cases,
    group: options.Group = None,
    fold: options.Fold = None,
    baseline: options.Baseline = None,
    time: options.Time = None,
    dataset: options.Dataset = None,
    matrix: options.Matrix = [],  # noqa: B006
    rows: options.RowsAre = None,
    order: options.Order = "",
    scale: options.Scale = None,
    missing: options.MissingRows = options.Missing.error,
    where: options.Where = None,
    allow_remote: options.AllowRemote = False,
    memory: options.Memory = None,
    precision: options.Precision = None,
    engine: options.Engine = None,
    master: options.Master = None,
    measures: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help='Which measures, such as "auc,ppv@0.5,fbeta(beta=2)@0.3".',
            autocompletion=options.measure_names,
        ),
    ] = "",
    require: Annotated[
        list[str], typer.Option(metavar="RULE", help='Exit with 1 unless it holds for every model, such as "auc>=0.8".')
    ] = [],  # noqa: B006
    by_class: Annotated[
        bool, typer.Option("--by-class", help="Also the detailed accuracy by class, as WEKA has it.")
    ] = False,
    spread: Annotated[
        bool,
        typer.Option("--spread", help="Also the standard deviation of each measure, all over the same resamples."),
    ] = False,
    report: Annotated[Path | None, typer.Option(metavar="FILE.html", help="Also write the report, one page.")] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="The title of the report.")] = None,
    section: Annotated[
        list[str], typer.Option(metavar="NAME", help="Show only this section of the report; repeatable.")
    ] = [],  # noqa: B006
    cost_fp: options.CostFp = None,
    cost_fn: options.CostFn = None,
    cost_tp: options.CostTp = None,
    cost_tn: options.CostTn = None,
    prevalence: options.Prevalence = None,
    costs: options.Costs = None,
    cost_under: options.CostUnder = None,
    cost_over: options.CostOver = None,
    interval: Annotated[
        list[str],
        typer.Option(
            metavar="METHOD|[MODEL=]LOW,HIGH",
            autocompletion=lambda incomplete: [one.name for one in INTERVALS if one.name.startswith(incomplete)],
            help=f"How intervals are made, where it suits: {', '.join(one.name for one in INTERVALS)}. Or the columns "
            "of a model's prediction intervals, to be judged.",
            rich_help_panel="Output",
        ),
    ] = [],  # noqa: B006
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    format: options.OutputFormat = options.Format.table,
) -> None:
    """Evaluate models: verdict, measures with intervals, notes.

    Example: scorespace evaluate credit.csv --truth outcome --positive bad --score nb --score tree
    """
    options.check_output(report, (".html",), data, costs, *options.matrix_files(matrix))
    rules = [_rule(text) for text in require]
    if runs.several(data, dataset):
        named = {"--truth": truth, "--decision": decision, "--prediction": prediction, "--weight": weight}
        asked = {"--require": require, "--by-class": by_class, "--spread": spread, "--interval": interval}
        costly = {"--cost-fp": cost_fp, "--cost-fn": cost_fn, "--costs": costs, "--prevalence": prevalence}
        runs.refuse({**named, "--group": group, "--fold": fold, "--matrix": matrix, **asked, **costly})
        runs.evaluate(str(data), measures or None, score, positive, level, report, format)
        return
    source, tables = options.data_and_matrices(data, matrix, rows, positive)
    method, intervals = options.intervals(interval)
    with output.progress("bootstrap") as progress:
        evaluation = evaluate_data(
            source,
            tables=tables,
            order=order,
            scale=scale,
            truth=truth,
            scores=score,
            decisions=decision,
            predictions=prediction,
            intervals=intervals,
            baseline=baseline,
            time=time,
            dataset=dataset,
            positive=positive,
            names=options.renames(name),
            models=options.models(model),
            weight=weight,
            weights=weights.value,
            group=group,
            fold=fold,
            measures=measures,
            further=[measure for measure, _, _ in rules],
            condition=options.any_condition(
                options.condition(cost_fp, cost_fn, cost_tp, cost_tn, prevalence, costs), cost_under, cost_over
            ),
            where=where,
            missing=missing.value,
            memory=memory,
            precision=precision,
            engine=engine,
            master=master,
            interval=method,
            level=level,
            seed=seed,
            progress=progress,
        )
        evaluation.check([parse(measure) for measure, _, _ in rules])
        evaluation.summary  # noqa: B018 - computed here, under the progress bar
        spreads = evaluation.spread() if spread else None
    show(evaluation, report, format, title, section, by_class=by_class, spreads=spreads)
    failed = [text for measure, sign, bound in rules for text in _failures(evaluation, measure, sign, bound)]
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
) -> None:
    """Write the evaluation to stdout and, if asked, its report to a file."""
    if report is not None:  # first: no result is shown before an error
        command = shlex.join(["scorespace", *sys.argv[1:]])
        evaluation.report(report, title=title, sections=sections, command=command)
    document, content = evaluation.brief, evaluation.to_dict()
    if by_class:
        first, *rest = document.sections
        rest = [section for section in rest if section.title != "Classes"]  # the same in short
        document = replace(document, sections=(first, classes.detailed_section(evaluation), *rest))
        content |= {"classes": classes.detailed_rows(evaluation)}
    if spreads is not None:
        from scorespace.views.smooth import spread_section

        first, *rest = document.sections
        document = replace(document, sections=(first, spread_section(spreads), *rest))
        content |= {"spread": spreads}
    output.write(document, plain(content), form)
    if report is not None:
        typer.echo(f"report  {report}", err=form is not options.Format.table)


def _rule(text: str) -> tuple[str, str, float]:
    match = _REQUIREMENT.fullmatch(text.strip())
    try:
        bound = math.nan if match is None else float(match["bound"])
        if match is None or math.isnan(bound):
            raise ValueError
        return str(parse(match["measure"])), match["sign"], bound
    except ValueError as error:
        if isinstance(error, MeasureError):
            raise
        raise MeasureError(f"the requirement {text!r} cannot be read.", hint='such as --require "auc>=0.8"') from None


def _failures(evaluation: Evaluation, measure: str, sign: str, bound: float) -> list[str]:
    """The models that do not meet a requirement; what is undefined does not meet it.

    A cost at a threshold that these cases chose is required of cases that did not.
    """
    holds = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}[sign]
    found = evaluation.measures(measure)
    silent = [name for name in evaluation.models if name not in {one.model for one in found}]
    failed = [f"{name} has no {measure}, so it is not {sign} {bound:g}" for name in silent]
    for one in found:
        judged = None if parse(measure).at is not None else evaluation.judged(one)
        if not holds(one.value if judged is None else judged.value, bound):
            seen = decimals(one.value, 6)
            if judged is not None:
                seen = f"{decimals(judged.value, 6)} on cases that did not choose the threshold ({seen} on these)"
            failed.append(f"{one.model} {one.spec} is {one.reason or seen}, not {sign} {bound:g}")
    return failed
