"""`scorespace decide`: choose the model and threshold for given costs or constraints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from scorespace.case_costs import CaseCosts
from scorespace.cli import options, output
from scorespace.cli.common_options import CHART_AS_DRAWN, OF_VALUES, CostOptions, DataOptions, FigureOptions
from scorespace.cli.options import COSTS, flag, number
from scorespace.cli.verbs import verb
from scorespace.costs import Asymmetry, Condition
from scorespace.decisions import CostRegion, Decision, ShiftDecision
from scorespace.decisions.cost_region import TOLERANCE
from scorespace.errors import ConditionError, MeasureError
from scorespace.evaluation.evaluation import Evaluation
from scorespace.measures import parse
from scorespace.measures.catalog import read_bound
from scorespace.options import parse_number
from scorespace.report import decision as view
from scorespace.report.cost_region import region_chart
from scorespace.results import Row

_CONSTRAINTS = "Instead of costs"
_EXCLUDED = {"model", "weights", "fold", "baseline", "time", "repeat", "scale", *OF_VALUES}


@verb("Evaluate models", 3)
def decide(
    data_options: Annotated[DataOptions, _EXCLUDED],
    cost_options: CostOptions,
    at_least: Annotated[list[str], flag("MEASURE=X", "Lower bound, such as tpr=0.9.", _CONSTRAINTS)] = [],
    at_most: Annotated[list[str], flag("MEASURE=X", "Upper bound, such as fpr=0.1.", _CONSTRAINTS)] = [],
    maximise: Annotated[
        str | None, flag("MEASURE", "Measure to maximise.", _CONSTRAINTS, autocompletion=options.measure_names)
    ] = None,
    minimise: Annotated[
        str | None, flag("MEASURE", "Measure to minimise.", _CONSTRAINTS, autocompletion=options.measure_names)
    ] = None,
    reject: Annotated[
        float | None,
        flag(
            "X", "Reject option (Chow's rule): rejecting a case costs X, an error 1 or its stated cost.", _CONSTRAINTS
        ),
    ] = None,
    mix: Annotated[
        str | None, flag("RATE=X", "Randomised mixture of two classifiers with fpr=X or tpr=X.", _CONSTRAINTS)
    ] = None,
    ratio: Annotated[
        str | None,
        flag("LOW:HIGH", "Range of cost ratios FN : FP, such as 3:10: the threshold of smallest regret.", _CONSTRAINTS),
    ] = None,
    at: Annotated[float | None, flag("T", "Threshold to evaluate over the costs of --ratio.", _CONSTRAINTS)] = None,
    within: Annotated[
        float | None,
        flag(
            "X",
            "With --ratio: report the cost ratios in which the cost is at most this share above the lowest; "
            "default 0.03.",
            _CONSTRAINTS,
            parser=number,
        ),
    ] = None,
    fit: Annotated[
        str | None, flag("OTHER", "Choose on these data (same columns) and evaluate the choice on DATA.", _CONSTRAINTS)
    ] = None,
    rule: Annotated[
        Literal["score", "casewise", "expected_gain"] | None,
        flag(None, "Costs per case: act by a threshold of the score (default) or by the expected gain.", COSTS),
    ] = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    out: Annotated[
        Path | None,
        flag("FILE", "Chart of the choice in ROC, RROC or cost space: .png .svg .pdf .html."),
    ] = None,
    figure: FigureOptions = CHART_AS_DRAWN,
    all: options.AllTables = False,
    notes: options.AllNotes = False,
    report: options.Report = None,
    format: options.OutputFormat = "table",
) -> None:
    """Choose model and threshold by costs, constraints, a reject option or a mixture.

    Costs are cross-fitted: each threshold is evaluated on cases that were not used to choose it.

    Example: scorespace decide credit.csv --truth outcome --positive bad --score naive_bayes --cost-fp 1 --cost-fn 5

    Example: scorespace decide credit.csv --truth outcome --positive bad --score naive_bayes --ratio 3:10
    """
    options.check_output(out, options.PICTURES, *data_options.files, fit, cost_options.costs)
    figure.check(out)
    options.check_output(report, (".html",), *data_options.files, fit, cost_options.costs)
    ratios = _ratios(ratio, at, within)
    if ratios is not None and cost_options.has_only_prevalence:
        condition, slope = None, None
    else:
        condition, slope = cost_options.condition(data_options.rows, rule), cost_options.slope
    has_constraint = bool(at_least or at_most or maximise or minimise)
    modes = [
        (condition is not None and reject is None) or slope is not None,
        has_constraint,
        reject is not None,
        mix is not None,
        ratios is not None,
    ]
    if sum(modes) != 1:
        problem = "more than one decision rule is stated." if any(modes) else "no decision rule is stated."
        raise ConditionError(problem, hint="--cost-fp 1 --cost-fn 5, or --at-least tpr=0.9 --maximise ppv")
    if fit is not None and (any(modes[2:]) or not data_options.data or data_options.matrix):
        raise ConditionError("--fit needs data, and costs or a constraint.", hint="leave out --fit")
    with output.progress("bootstrap") as progress:
        settings: dict[str, Any] = {"level": level, "seed": seed, "progress": progress}
        settings["condition"] = None if reject is not None else condition
        if ratios is not None:
            settings["prevalence"] = cost_options.prevalence
        evaluation = data_options.evaluate(costs=cost_options.costs, **settings)
        other = None if fit is None else data_options.evaluate(fit, costs=cost_options.costs, **settings)
        decision: view.AnyDecision
        if slope is not None:
            condition = Condition.of_slope(slope, (other or evaluation).models.prevalence)
        if ratios is not None:
            decision = evaluation.regret(ratios, at=at, within=TOLERANCE if within is None else within)
        elif reject is not None:
            if isinstance(condition, CaseCosts):
                raise ConditionError("--reject needs costs that all cases share.", hint="--cost-fp 1 --cost-fn 5")
            if isinstance(condition, Asymmetry):
                raise ConditionError(
                    "--reject applies to classification, but these are costs of regression.", hint="leave out --reject"
                )
            decision = evaluation.reject(reject, condition)
        elif condition is not None:
            decision = evaluation.decide(condition, fit=other)
        elif mix is not None:
            rate = dict([read_bound(mix)])
            if not {*rate} <= {"fpr", "tpr"}:
                raise MeasureError(f"--mix {mix} cannot be parsed.", hint="fpr=0.1 or tpr=0.9")
            decision = evaluation.mix(**rate)
        else:
            objective = _objective(maximise, minimise)
            least, most = (dict(map(read_bound, bounds)) for bounds in (at_least, at_most))
            decision = evaluation.choose(objective, at_least=least, at_most=most, fit=other)
    output.save(out, figure.drawing(lambda: _draw(evaluation, decision)))
    output.write_page(view.report(evaluation, decision), report)
    further = [note.to_dict() for note in view.notes_on_input(evaluation)]
    content = decision.to_dict()
    page = view.document(evaluation, decision, full=all, every_note=notes)
    output.write(page, content | {"notes": content["notes"] + further}, format)
    output.list_files(None, picture=out)
    output.list_files(format, report=report)


def _draw(evaluation: Evaluation, decision: view.AnyDecision) -> Row:
    """Draw a decision by costs in ROC space, one by asymmetric costs in RROC space, a range of costs as cost curves."""
    if isinstance(decision, ShiftDecision):
        from scorespace.report.regression_charts import rroc_chart

        return rroc_chart(decision.curves, decision)
    if isinstance(decision, CostRegion):
        return region_chart(evaluation.curves("cost"), decision)
    if not isinstance(decision, Decision):
        raise ConditionError("this decision has no chart.", hint="leave out --out")
    from scorespace.report.hull_charts import hull_chart

    return hull_chart(evaluation.curves("roc"), decision.hull, [decision])


def _ratios(ratio: str | None, at: float | None, within: float | None) -> tuple[float, float] | None:
    """The range of cost ratios; the options that need it are refused without it."""
    if ratio is None:
        stated = "--at" if at is not None else "--within" if within is not None else None
        if stated is not None:
            raise ConditionError(f"{stated} needs a range of cost ratios.", hint="add --ratio 3:10")
        return None
    ends = ratio.split(":")
    try:
        low, high = parse_number(ends[0]), parse_number(ends[-1])
    except ValueError:
        low = high = -1.0
    if len(ends) > 2 or min(low, high) <= 0:
        raise ConditionError(f"--ratio {ratio} is not a range of cost ratios FN : FP.", hint="--ratio 3:10")
    return low, high


def _objective(maximise: str | None, minimise: str | None) -> str:
    measure = maximise or minimise
    if measure is None or (maximise and minimise):
        raise MeasureError("state one measure to maximise or minimise.", hint="--maximise ppv, or --minimise fpr")
    spec = parse(measure)
    if spec.name == "best" and [option for option, _ in spec.options] == [
        "measure"
    ]:  # the best value is what is sought
        return _objective(*(str(spec.options[0][1]) if side else None for side in (maximise, minimise)))
    best = spec.measure.best
    if best == ("low" if maximise else "high"):
        flag = "--minimise" if maximise else "--maximise"
        raise MeasureError(f"{measure} is better when {'lower' if maximise else 'higher'}.", hint=f"{flag} {measure}")
    return measure
