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
from scorespace.cli.given import Given, Stakes
from scorespace.cli.options import flag, switch
from scorespace.errors import MeasureError
from scorespace.evaluation.evaluation import Evaluation
from scorespace.measures import parse
from scorespace.resampling.interval import INTERVALS
from scorespace.results import decimals, plain
from scorespace.views import classes

_REQUIREMENT = re.compile(r"(?P<measure>.+?)\s*(?P<sign>>=|<=|>|<)\s*(?P<bound>[^<>=]+)")


def evaluate(
    given: Annotated[Given, {"repeat"}],
    stakes: Annotated[Stakes, {"slope"}],
    by: options.By = [],
    measures: Annotated[
        str,
        flag("LIST", 'Which measures, such as "auc,ppv@0.5,fbeta(beta=2)@0.3".', autocompletion=options.measure_names),
    ] = "",
    require: Annotated[
        list[str], flag("RULE", 'Exit with 1 unless it holds for every model, such as "auc>=0.8".')
    ] = [],
    by_class: Annotated[bool, switch("--by-class", "Also the detailed accuracy by class, as WEKA has it.")] = False,
    spread: Annotated[
        bool, switch("--spread", "Also the standard deviation of each measure, all over the same resamples.")
    ] = False,
    report: Annotated[Path | None, flag("FILE.html", "Also write the report, one page.")] = None,
    title: Annotated[str | None, flag("TEXT", "The title of the report.")] = None,
    section: Annotated[list[str], flag("NAME", "Show only this section of the report; repeatable.")] = [],
    interval: Annotated[
        list[str],
        flag(
            "METHOD|[MODEL=]LOW,HIGH",
            (
                f"How intervals are made, where it suits: {', '.join(one.name for one in INTERVALS)}. Or the columns "
                "of a model's prediction intervals, to be judged."
            ),
            "Output",
            autocompletion=lambda incomplete: [one.name for one in INTERVALS if one.name.startswith(incomplete)],
        ),
    ] = [],
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    format: options.OutputFormat = options.Format.table,
) -> None:
    """Evaluate models: verdict, measures with intervals, notes.

    Example: scorespace evaluate credit.csv --truth outcome --positive bad --score nb --score tree

    Example: scorespace evaluate credit.csv --truth outcome --positive bad --score nb --by sex --where "age >= 18"
    """
    options.check_output(report, (".html",), *given.files, stakes.costs)
    rules = [_rule(text) for text in require]
    if runs.several(given.data, given.dataset):
        asked = {"--require": require, "--by-class": by_class, "--spread": spread, "--interval": interval, "--by": by}
        runs.refuse(given, "truth decision prediction weight group fold matrix where", asked)
        runs.refuse(stakes, "cost_fp cost_fn costs prevalence")
        runs.evaluate(str(given.data), measures or None, given.score, given.positive, level, report, format)
        return
    method, intervals = options.intervals(interval)
    with output.progress("bootstrap") as progress:
        evaluation = given.evaluated(
            intervals=intervals,
            measures=measures,
            further=[measure for measure, _, _ in rules],
            condition=stakes.condition,
            by=by,
            interval=method,
            level=level,
            seed=seed,
            progress=progress,
        )
        evaluation.check([parse(measure) for measure, _, _ in rules])
        evaluation.summary  # noqa: B018 - computed here, under the progress bar
        evaluation.slices  # noqa: B018
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
