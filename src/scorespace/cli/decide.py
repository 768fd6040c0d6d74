"""`scorespace decide`: the model and threshold for a condition."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from scorespace.cli import options, output
from scorespace.conditions import Condition
from scorespace.decisions import Decision
from scorespace.errors import ConditionError, MeasureError
from scorespace.evaluation.enter import evaluate as evaluate_data
from scorespace.evaluation.evaluation import Evaluation
from scorespace.measures import parse
from scorespace.views import decision as view

_CONSTRAINTS = "Or other ways to decide"


def decide(
    data: options.MaybeData = None,
    truth: options.MaybeTruth = None,
    score: options.Score = [],  # noqa: B006 - Typer copies defaults
    decision: options.Decision = [],  # noqa: B006
    prediction: options.Prediction = [],  # noqa: B006
    positive: options.Positive = None,
    name: options.Name = [],  # noqa: B006
    weight: options.Weight = None,
    dataset: options.Dataset = None,
    matrix: options.Matrix = [],  # noqa: B006
    rows: options.RowsAre = None,
    order: options.Order = "",
    missing: options.MissingRows = options.Missing.error,
    where: options.Where = None,
    allow_remote: options.AllowRemote = False,
    cost_fp: options.CostFp = None,
    cost_fn: options.CostFn = None,
    cost_tp: options.CostTp = None,
    cost_tn: options.CostTn = None,
    prevalence: options.Prevalence = None,
    costs: options.Costs = None,
    slope: options.Slope = None,
    cost_under: options.CostUnder = None,
    cost_over: options.CostOver = None,
    at_least: Annotated[
        list[str],
        typer.Option(metavar="MEASURE=X", help="A bound to keep, such as tpr=0.9.", rich_help_panel=_CONSTRAINTS),
    ] = [],  # noqa: B006
    at_most: Annotated[
        list[str],
        typer.Option(metavar="MEASURE=X", help="A bound to keep, such as fpr=0.1.", rich_help_panel=_CONSTRAINTS),
    ] = [],  # noqa: B006
    maximise: Annotated[
        str | None,
        typer.Option(
            metavar="MEASURE",
            help="What should be high.",
            rich_help_panel=_CONSTRAINTS,
            autocompletion=options.measure_names,
        ),
    ] = None,
    minimise: Annotated[
        str | None,
        typer.Option(
            metavar="MEASURE",
            help="What should be low.",
            rich_help_panel=_CONSTRAINTS,
            autocompletion=options.measure_names,
        ),
    ] = None,
    reject: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Chow's rule: handing a case over costs X, an error 1 or as stated.",
            rich_help_panel=_CONSTRAINTS,
        ),
    ] = None,
    mix: Annotated[
        str | None,
        typer.Option(
            metavar="RATE=X", help="The mixture of two classifiers at fpr=X or tpr=X.", rich_help_panel=_CONSTRAINTS
        ),
    ] = None,
    fit: Annotated[
        str | None,
        typer.Option(
            metavar="OTHER",
            help="Choose on these data, with the same columns, and judge on DATA.",
            rich_help_panel=_CONSTRAINTS,
        ),
    ] = None,
    memory: options.Memory = None,
    precision: options.Precision = None,
    engine: options.Engine = None,
    master: options.Master = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The picture: the hull, the line of equal cost, the choice. .png .svg …"),
    ] = None,
    format: options.OutputFormat = options.Format.table,
) -> None:
    """Choose the model and the threshold: for your costs, under a constraint, with rejection, or by lot.

    What they cost is told for cases that did not choose them.

    Example: scorespace decide credit.csv --truth outcome --positive bad --score nb --cost-fp 1 --cost-fn 5
    """
    options.check_output(out, options.PICTURES, data, fit, costs, *options.matrix_files(matrix))
    given = {"fp": cost_fp, "fn": cost_fn, "tp": cost_tp, "tn": cost_tn, "costs": costs}
    stated = None if slope is not None else options.condition(cost_fp, cost_fn, cost_tp, cost_tn, prevalence, costs)
    options.refuse_beside_slope(slope, given, prevalence)
    condition = options.any_condition(stated, cost_under, cost_over)
    bounded = bool(at_least or at_most or maximise or minimise)
    ways = [
        (condition is not None and reject is None) or slope is not None,
        bounded,
        reject is not None,
        mix is not None,
    ]
    if sum(ways) != 1:
        problem = "these are several ways to decide." if any(ways) else "it is not stated what decides."
        raise ConditionError(problem, hint="--cost-fp 1 --cost-fn 5, or --at-least tpr=0.9 --maximise ppv")
    if fit is not None and (reject is not None or mix is not None or not data or matrix):
        raise ConditionError("--fit chooses a threshold, by costs or under a constraint, for data.", hint="no --fit")
    source, tables = options.data_and_matrices(data, matrix, rows, positive)
    with output.progress("bootstrap") as progress:

        def read(sample: Any) -> Evaluation:
            return evaluate_data(
                sample,
                tables=tables,
                truth=truth,
                scores=score,
                decisions=decision,
                predictions=prediction,
                positive=positive,
                names=options.renames(name),
                weight=weight,
                order=order,
                dataset=dataset,
                condition=None if reject is not None else condition,
                where=where,
                missing=missing.value,
                memory=memory,
                precision=precision,
                engine=engine,
                master=master,
                level=level,
                seed=seed,
                progress=progress,
            )

        evaluation = read(source)
        other = None if fit is None else read(fit)
        found: view.AnyDecision
        if slope is not None:
            condition = Condition.of_slope(slope, (other or evaluation).models.prevalence)
        if reject is not None:
            if condition is not None and not isinstance(condition, Condition):
                raise ConditionError("a rejection is weighed against --cost-fp and --cost-fn.", hint="no --costs")
            found = evaluation.reject(reject, condition)
        elif condition is not None:
            found = evaluation.decide(condition, fit=other)
        elif mix is not None:
            found = evaluation.mix(**_rate(mix))
        else:
            objective = _objective(maximise, minimise)
            found = evaluation.choose(objective, at_least=_bounds(at_least), at_most=_bounds(at_most), fit=other)
    if out is not None:
        _draw(evaluation, found, out)
    output.write(view.document(evaluation, found), found.to_dict(), format)
    if out is not None:
        typer.echo(f"picture  {out}", err=True)


def _draw(evaluation: Evaluation, found: view.AnyDecision, out: Path) -> None:
    """Write the picture of a decision by costs."""
    if not isinstance(found, Decision):
        raise ConditionError("only a decision between two classes by costs has a picture.", hint="no --out")
    from scorespace.views.charts import hull_chart, save

    save(hull_chart(evaluation.curves("roc"), found.hull, found), out)


def _objective(maximise: str | None, minimise: str | None) -> str:
    wanted = maximise or minimise
    if wanted is None or (maximise and minimise):
        raise MeasureError("state one measure to be high or low.", hint="--maximise ppv, or --minimise fpr")
    best = parse(wanted).measure.best
    if best == ("low" if maximise else "high"):
        flag = "--minimise" if maximise else "--maximise"
        raise MeasureError(f"{wanted} is better when {'lower' if maximise else 'higher'}.", hint=f"{flag} {wanted}")
    return wanted


def _rate(pair: str) -> dict[str, float]:
    found = _bounds([pair])
    if set(found) - {"fpr", "tpr"}:
        raise MeasureError(f"a mixture is not found by {pair!r}.", hint="fpr=0.1 or tpr=0.9")
    return found


def _bounds(pairs: list[str]) -> dict[str, float]:
    found = {}
    for pair in pairs:
        measure, equals, bound = pair.rpartition("=")
        try:
            found[measure] = float(bound)
        except ValueError:
            equals = ""
        if not equals:
            raise MeasureError(f"the bound {pair!r} cannot be read.", hint="MEASURE=NUMBER, such as tpr=0.9")
    return found
