"""`scorespace decide`: the model and threshold for a condition."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from scorespace.cli import options, output
from scorespace.cli.given import Given, Stakes
from scorespace.cli.options import flag
from scorespace.conditions import Asymmetry, Condition
from scorespace.decisions import Decision
from scorespace.errors import ConditionError, MeasureError
from scorespace.evaluation.evaluation import Evaluation
from scorespace.measures import parse
from scorespace.measures.catalog import read_bound
from scorespace.results import Row
from scorespace.views import decision as view

_CONSTRAINTS = "Or other ways to decide"
_NOT_TAKEN = {"model", "weights", "fold", "baseline", "time", "repeat", "scale"}


def decide(
    given: Annotated[Given, _NOT_TAKEN],
    stakes: Stakes,
    at_least: Annotated[list[str], flag("MEASURE=X", "A bound to keep, such as tpr=0.9.", _CONSTRAINTS)] = [],
    at_most: Annotated[list[str], flag("MEASURE=X", "A bound to keep, such as fpr=0.1.", _CONSTRAINTS)] = [],
    maximise: Annotated[
        str | None, flag("MEASURE", "What should be high.", _CONSTRAINTS, autocompletion=options.measure_names)
    ] = None,
    minimise: Annotated[
        str | None, flag("MEASURE", "What should be low.", _CONSTRAINTS, autocompletion=options.measure_names)
    ] = None,
    reject: Annotated[
        float | None,
        flag("X", "Chow's rule: handing a case over costs X, an error 1 or as stated, by --costs too.", _CONSTRAINTS),
    ] = None,
    mix: Annotated[
        str | None, flag("RATE=X", "The mixture of two classifiers at fpr=X or tpr=X.", _CONSTRAINTS)
    ] = None,
    fit: Annotated[
        str | None, flag("OTHER", "Choose on these data, with the same columns, and judge on DATA.", _CONSTRAINTS)
    ] = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    out: Annotated[
        Path | None, flag("FILE", "The picture: the hull, the line of equal cost, the choice. .png .svg …")
    ] = None,
    format: options.OutputFormat = "table",
) -> None:
    """Choose the model and the threshold: for your costs, under a constraint, with rejection, or by lot.

    What they cost is told for cases that did not choose them.

    Example: scorespace decide credit.csv --truth outcome --positive bad --score naive_bayes --cost-fp 1 --cost-fn 5
    """
    options.check_output(out, options.PICTURES, *given.files, fit, stakes.costs)
    condition, slope = stakes.condition(given.rows), stakes.slope
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
    if fit is not None and (reject is not None or mix is not None or not given.data or given.matrix):
        raise ConditionError("--fit chooses a threshold, by costs or under a constraint, for data.", hint="no --fit")
    with output.progress("bootstrap") as progress:
        asked: dict[str, Any] = {"level": level, "seed": seed, "progress": progress}
        asked["condition"] = None if reject is not None else condition
        evaluation = given.evaluated(costs=stakes.costs, **asked)
        other = None if fit is None else given.evaluated(fit, costs=stakes.costs, **asked)
        found: view.AnyDecision
        if slope is not None:
            condition = Condition.of_slope(slope, (other or evaluation).models.prevalence)
        if reject is not None:
            if isinstance(condition, Asymmetry):
                raise ConditionError("a rejection is of decisions, and these are costs of numbers.", hint="no --reject")
            found = evaluation.reject(reject, condition)
        elif condition is not None:
            found = evaluation.decide(condition, fit=other)
        elif mix is not None:
            rate = dict([read_bound(mix)])
            if not {*rate} <= {"fpr", "tpr"}:
                raise MeasureError(f"a mixture is not found by {mix!r}.", hint="fpr=0.1 or tpr=0.9")
            found = evaluation.mix(**rate)
        else:
            objective = _objective(maximise, minimise)
            least, most = (dict(map(read_bound, bounds)) for bounds in (at_least, at_most))
            found = evaluation.choose(objective, at_least=least, at_most=most, fit=other)
    output.save(out, lambda: _drawn(evaluation, found))
    further = [one.to_dict() for one in view.notes_on_input(evaluation)]
    content = found.to_dict()
    output.write(view.document(evaluation, found), content | {"notes": content["notes"] + further}, format)
    output.wrote(None, picture=out)


def _drawn(evaluation: Evaluation, found: view.AnyDecision) -> Row:
    """The picture of a decision by costs."""
    if not isinstance(found, Decision):
        raise ConditionError("only a decision between two classes by costs has a picture.", hint="no --out")
    from scorespace.views.charts.decision import hull_chart

    return hull_chart(evaluation.curves("roc"), found.hull, found)


def _objective(maximise: str | None, minimise: str | None) -> str:
    wanted = maximise or minimise
    if wanted is None or (maximise and minimise):
        raise MeasureError("state one measure to be high or low.", hint="--maximise ppv, or --minimise fpr")
    best = parse(wanted).measure.best
    if best == ("low" if maximise else "high"):
        flag = "--minimise" if maximise else "--maximise"
        raise MeasureError(f"{wanted} is better when {'lower' if maximise else 'higher'}.", hint=f"{flag} {wanted}")
    return wanted
