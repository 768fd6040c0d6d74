"""`scorespace evaluate`: the main job."""

from __future__ import annotations

import math
import operator
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

from scorespace.cli import options, output, runs
from scorespace.cli.given import Given, Stakes
from scorespace.cli.options import flag, switch
from scorespace.errors import MeasureError
from scorespace.evaluation.evaluation import Evaluation
from scorespace.later import soon
from scorespace.measures import parse
from scorespace.resampling.interval import INTERVALS
from scorespace.results import Row, decimals, plain
from scorespace.tables.pieces import limited
from scorespace.views import classes

_REQUIREMENT = re.compile(r"(?P<measure>.+?)\s*(?P<sign>>=|<=|>|<)\s*(?P<bound>[^<>=]+)")
_PAIRS: Final = ("scorespace.evaluation.comparisons",)
_PAGE: Final = (
    *("numpy.random", "concurrent.futures.thread", "numpy.ma"),
    *("scorespace.probabilities.summary", "rich.console", "scorespace.views.terminal"),
)
"""What the page of an evaluation needs besides its numbers, of one model and of several."""
_OF_BASELINE = re.compile(r"baseline(?:\s*(?P<side>[+-])\s*(?P<margin>chance|[^\s%]+)\s*(?P<percent>%)?)?")


class Bound(NamedTuple):
    """What a number is required to reach: a value, or that of the baseline and a margin, a share of it or chance."""

    text: str
    margin: float
    relative: bool = False
    percent: bool = False
    chance: bool = False

    def over(self, baseline: float) -> float:
        """The value itself, given that of the baseline."""
        return baseline + (abs(baseline) * self.margin / 100 if self.percent else self.margin)


def evaluate(
    given: Annotated[Given, {"baseline"}],
    stakes: Annotated[Stakes, {"slope"}],
    by: options.By = [],
    measures: Annotated[
        str,
        flag("LIST", 'Which measures, such as "auc,ppv@0.5,fbeta(beta=2)@0.3".', autocompletion=options.measure_names),
    ] = "",
    require: Annotated[
        list[str],
        flag("RULE", 'Exit with 1 unless it holds for every model, such as "auc>=0.8" or "auc>=baseline-0.01".'),
    ] = [],
    baseline: Annotated[
        list[str],
        flag(
            "FILE.json|COL|VALUE",
            "A saved evaluation to compare every number with. Of predicted numbers, also what relative errors are "
            "relative to: a column, a value, or the mean of these truths.",
        ),
    ] = [],
    save: Annotated[
        Path | None, flag("FILE.json", "Also save numbers and tables, to be the --baseline of later evaluations.")
    ] = None,
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
            "METHOD|[MODEL=]LOW,HIGH,LEVEL",
            (
                f"How intervals are made, where it suits: {', '.join(one.name for one in INTERVALS)}. Or the columns "
                "of a model's prediction intervals with their nominal level, such as low,high,0.9."
            ),
            "Output",
            autocompletion=lambda incomplete: [one.name for one in INTERVALS if one.name.startswith(incomplete)],
        ),
    ] = [],
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    format: options.OutputFormat = "table",
) -> None:
    """Evaluate models: verdict, measures with intervals, notes.

    A saved evaluation is the baseline of later ones: --save FILE.json, then --baseline FILE.json.

    Example: scorespace evaluate credit.csv --truth outcome --positive bad --score naive_bayes --score tree

    Example: scorespace evaluate patients.csv --truth ill --positive yes --score marker --by sex --where "age >= 18"
    """
    read = *given.files, stakes.costs, *baseline
    options.check_output(report, (".html",), *read)
    options.check_output(save, (".json",), *read)
    rules = [_rule(text) for text in require]
    if runs.several(given.data, given.dataset):
        asked = {"--require": require, "--by-class": by_class, "--spread": spread, "--interval": interval, "--by": by}
        asked |= {"--baseline": baseline, "--save": save}
        runs.refuse(given, "truth decision prediction weight group fold repeat matrix where", asked)
        runs.refuse(stakes, "cost_fp cost_fn costs prevalence")
        runs.evaluate(given, report, format, measure=measures or None, level=level)
        return
    method, intervals = options.intervals(interval)
    if not measures and not limited():
        soon(*_PAGE, *(_PAIRS if given.several else ()))
    with output.progress("bootstrap") as progress:
        evaluation = given.evaluated(
            intervals=intervals,
            measures=measures,
            further=[measure for measure, _, _ in rules],
            condition=stakes.condition(given.rows),
            costs=stakes.costs,
            baseline=baseline,
            by=by,
            interval=method,
            level=level,
            seed=seed,
            progress=progress,
        )
        evaluation.check([parse(measure) for measure, _, _ in rules])
        if evaluation.before is None and any(bound.relative for _, _, bound in rules):
            raise MeasureError("a requirement speaks of a baseline, and there is none.", hint="--baseline FILE.json")
        evaluation.summary  # noqa: B018 - computed here, under the progress bar
        evaluation.slices  # noqa: B018
        evaluation.changes  # noqa: B018
        spreads = evaluation.spread() if spread else None
        failed = [text for measure, sign, bound in rules for text in _failures(evaluation, measure, sign, bound)]
    if save is not None:  # before anything is shown, as the report is
        evaluation.save(save)
    show(evaluation, report, format, title, section, by_class=by_class, spreads=spreads)
    output.wrote(format, saved=save)
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
        evaluation.report(report, title=title, sections=sections, command=output.command())
    document, content = evaluation.brief, evaluation.to_dict()
    first, *rest = document.sections
    if by_class:
        rest = [section for section in rest if section.title != "Classes"]  # the same in short
        rest.insert(0, classes.detailed_section(evaluation))
        content |= {"classes": classes.detailed_rows(evaluation)}
    if spreads is not None:
        from scorespace.views.smooth import spread_section

        rest.insert(0, spread_section(spreads))
        content |= {"spread": spreads}
    if form == "csv" and evaluation.changes is not None:  # a table of its own elsewhere
        content |= {"rows": _beside(content["rows"], evaluation.changes.rows())}
    output.write(replace(document, sections=(first, *rest)), plain(content), form)
    output.wrote(form, report=report)


def _beside(rows: Sequence[Row], changed: Sequence[Row]) -> list[Row]:
    """The rows of the numbers with what changed since the baseline; behind them those at thresholds of the baseline."""
    names = ("slice", "model", "measure", "at", "class")
    since = {tuple(map(row.get, names)): row for row in changed}
    found = [{**row, **since.pop(tuple(map(row.get, names)), {})} for row in rows]
    return [*found, *since.values()]


def _rule(text: str) -> tuple[str, str, Bound]:
    match = _REQUIREMENT.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError
        measure, sign, bound = str(parse(match["measure"])), match["sign"], _bound(match["bound"].strip())
        if bound.chance and ("-" in bound.text) != (">" in sign):  # nobody can be asked for more than chance explains
            allowed = "baseline-chance" if ">" in sign else "baseline+chance"
            raise MeasureError(f"{text!r} allows for no chance.", hint=f'--require "{measure}{sign}{allowed}"')
        return measure, sign, bound
    except ValueError as error:
        if isinstance(error, MeasureError):
            raise
        raise MeasureError(
            f"the requirement {text!r} cannot be read.",
            hint='such as --require "auc>=0.8", or "auc>=baseline-0.01" with --baseline FILE.json',
        ) from None


def _bound(text: str) -> Bound:
    """A number, or `baseline`, with a margin as a number, in percent of it, or as what chance explains."""
    of_baseline = _OF_BASELINE.fullmatch(text)
    if of_baseline is None:
        value = float(text)
        if math.isnan(value):
            raise ValueError
        return Bound(f"{value:g}", value)
    side, margin, percent = of_baseline["side"], of_baseline["margin"], of_baseline["percent"]
    if margin == "chance":
        if percent is not None:
            raise ValueError
        return Bound(text, 0.0, relative=True, chance=True)
    size = float(margin) if margin else 0.0
    if not 0 <= size < math.inf:
        raise ValueError
    return Bound(text, -size if side == "-" else size, relative=True, percent=percent is not None)


def _failures(evaluation: Evaluation, measure: str, sign: str, bound: Bound) -> list[str]:
    """The models that do not meet a requirement; what is undefined does not meet it.

    A cost at a threshold that these cases chose is required of cases that did not.
    """
    holds = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}[sign]
    if bound.relative:
        return _below_baseline(evaluation, measure, sign, bound, holds)
    found = evaluation.measures(measure)
    silent = [name for name in evaluation.models if name not in {one.model for one in found}]
    failed = [f"{name} has no {measure}, so it is not {sign} {bound.text}" for name in silent]
    for one in found:
        judged = None if parse(measure).at is not None else evaluation.judged(one)
        if not holds(one.value if judged is None else judged.value, bound.margin):
            seen = decimals(one.value, 6)
            if judged is not None:
                seen = f"{decimals(judged.value, 6)}, cross-fitted (apparent {seen})"
            failed.append(f"{one.model} {one.spec} is {one.reason or seen}, not {sign} {bound.text}")
    return failed


def _below_baseline(
    evaluation: Evaluation, measure: str, sign: str, bound: Bound, holds: Callable[[float, float], bool]
) -> list[str]:
    """The same beside the baseline, at its thresholds; a margin of chance is missed where p or the interval says so."""
    changes = evaluation.changed(measure)
    found = {one.estimate.model: one for one in changes.gaps}
    failed = []
    for name in evaluation.models:
        one = found.get(name)
        if one is None:
            failed.append(f"{name} has no {measure} in the baseline, so it is not {sign} {bound.text}")
            continue
        now, then, test = one.estimate.value, one.rest, one.test
        if holds(now, bound.over(then)) or (bound.chance and changes.by_chance(one)):
            continue
        what = f"{name} {one.estimate.spec}"
        if math.isnan(now):
            failed.append(f"{what} is {one.estimate.reason or test.reason}, not {sign} {bound.text}")
            continue
        if math.isnan(then):
            failed.append(f"{what} is beside no number ({test.reason}), so it is not {sign} {bound.text}")
            continue
        chance = f" ({test.reason})" if math.isnan(test.p) else f", {test.judgement}"
        failed.append(
            f"{what} is {decimals(now, 6)}, not {sign} {bound.text} (baseline {decimals(then, 6)}): "
            f"it differs by {test.size}{chance}"
        )
    return failed
