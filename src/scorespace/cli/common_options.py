"""Option groups of the verbs that evaluate models: data and column roles, and the costs of decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, get_args, get_type_hints

import typer

from scorespace.cli import options
from scorespace.cli.options import COSTS, ROLES, flag, number, number_or_column, switch
from scorespace.errors import ConditionError, DataError
from scorespace.tables.table_kind import TABLE_KINDS

StyleName = Literal["slide", "paper"]

if TYPE_CHECKING:
    from scorespace.case_costs import CaseCosts
    from scorespace.costs import Asymmetry, Condition, CostMatrix
    from scorespace.evaluation.evaluation import Evaluation
    from scorespace.results import Note

_KINDS = ", ".join(kind.name for kind in TABLE_KINDS)
_MATRIX_HELP = (
    "Confusion matrix of a model: NAME=FILE.csv, or 'TP FN; FP TN'; instead of or in addition to DATA; repeatable."
)


class DataOptions(NamedTuple):
    """Data or confusion matrices, and the roles of columns."""

    data: Annotated[str | None, typer.Argument(metavar="DATA", help=options.DATA_HELP)] = None
    truth: options.MaybeTruth = None
    score: options.Score = []
    decision: options.Decision = []
    prediction: Annotated[
        list[str], flag("COL", "Predictions of a numeric truth (regression); repeatable.", ROLES)
    ] = []
    quantiles: Annotated[
        list[str],
        flag(
            "[MODEL=]COLS",
            "Columns of predicted quantiles that end in their levels, such as 'q*' or q05,q50,q95; repeatable.",
            ROLES,
        ),
    ] = []
    ensemble: Annotated[
        list[str], flag("[MODEL=]COLS", "Columns of the members of an ensemble, such as 'member_*'; repeatable.", ROLES)
    ] = []
    train: Annotated[
        str | None,
        flag("FILE", "Training series with the column of the truth, to whose naive forecast mase is relative.", ROLES),
    ] = None
    value: Annotated[
        list[str],
        flag("COL", "One number per case, computed elsewhere, instead of truth and predictions; repeatable.", ROLES),
    ] = []
    lower_is_better: Annotated[bool, switch("--lower-is-better", "Low values of --value are better.", ROLES)] = False
    query: Annotated[
        str | None,
        flag("COL", "Query of each row: scores rank its documents, --truth is their graded relevance.", ROLES),
    ] = None
    qrels: Annotated[
        str | None,
        flag("FILE", "TREC relevance judgements: DATA are then TREC runs, such as 'runs/*.run' or a.run,b.run.", ROLES),
    ] = None
    positive: options.Positive = None
    name: options.Name = []
    model: Annotated[
        list[str], flag("NAME=KIND(COL)", f"Model of another kind, including plug-ins: {_KINDS}; repeatable.", ROLES)
    ] = []
    weight: options.Weight = None
    weights: options.Weights = "cases"
    group: options.Group = None
    fold: options.Fold = None
    baseline: Annotated[
        str | None,
        flag("mean|COL|VALUE", "Baseline prediction of relative errors; by default the mean of the truth.", ROLES),
    ] = None
    time: Annotated[str | None, flag("COL", "Time of each row, for predictions of a time series.", ROLES)] = None
    repeat: Annotated[
        str | None, flag("COL", "Repeat of a repeated cross-validation; each case has one row per repeat.", ROLES)
    ] = None
    dataset: options.Dataset = None
    matrix: Annotated[list[str], flag("[NAME=]MATRIX", _MATRIX_HELP, ROLES)] = []
    rows: Annotated[
        options.Side | None,
        flag(None, "Whether rows of --matrix and --costs are actual or predicted classes; actual by default.", ROLES),
    ] = None
    order: options.Order = ""
    per: options.Per = None
    scale: options.Scale = None
    missing: options.MissingRows = "error"
    where: options.Where = None
    profile: options.ProfileName = None
    sheet: options.Sheet = None
    no_header: options.NoHeader = False
    allow_remote: options.AllowRemote = False
    memory: options.Memory = None
    precision: options.Precision = None
    engine: options.Engine = None
    master: options.Master = None

    @property
    def files(self) -> tuple[Any, ...]:
        """Input files, which outputs must not overwrite."""
        return (self.data, self.qrels, self.train, *options.matrix_files(self.matrix))

    def evaluate(self, source: Any = None, costs: Path | None = None, **settings: Any) -> Evaluation:
        """Evaluate the data, or another source with the same columns.

        `costs` is the file of a cost matrix; a note says whether its rows are actual or predicted classes.
        """
        from scorespace.evaluation.assemble import evaluate_data

        tables: Any = {}
        sides: dict[str, options.Side] = {}
        if self.rows is not None and not self.matrix and costs is None:
            problem = "--rows describes a matrix, but none is passed."
            raise DataError(problem, hint="--matrix NAME=FILE.csv")
        if source is None:
            source, tables, sides = options.data_and_matrices(self.data, self.matrix, self.rows, self.positive)
        if self.qrels is not None:
            return self._of_runs(source, settings)
        roles = {name: getattr(self, name) for name in _SAME_NAME}
        columns = {
            "scores": self.score,
            "decisions": self.decision,
            "predictions": self.prediction,
            "values": self.value,
        }
        roles |= {role: options.split_columns(names, source) for role, names in columns.items()}
        roles["scores"] = options.class_columns(roles["scores"], self.truth, source) or roles["scores"]
        roles |= {"names": options.renames(self.name), "models": options.model_kinds(self.model), "tables": tables}
        roles |= {"quantiles": options.by_model(self.quantiles), "ensemble": options.by_model(self.ensemble)}
        roles |= {"weights": self.weights, "missing": self.missing}
        evaluation = evaluate_data(source, **roles | settings)
        if costs is not None:
            from scorespace.io.matrix import read_matrix

            sides["the cost matrix"] = read_matrix(costs, self.rows).rows
        return replace(evaluation, sample_notes=(*evaluation.sample_notes, *_row_notes(sides)))

    def _of_runs(self, runs: Any, settings: dict[str, Any]) -> Evaluation:
        """Evaluate TREC runs: all of them, or those named as scores."""
        from scorespace.io.trec import read_trec

        if self.truth is not None or self.query is not None:
            raise DataError("--qrels has the queries and their relevance.", hint="leave out --truth and --query")
        columns = read_trec(runs, self.qrels or "")
        scores = self.score or [name for name in columns if name not in ("query", "document", "relevance")]
        stated = self._replace(qrels=None, truth="relevance", query="query", score=scores)
        found = stated.evaluate(columns, **settings)
        return replace(found, models=replace(found.models, name=str(runs)))


def _row_notes(sides: Mapping[str, options.Side]) -> Iterator[Note]:
    """Note on the orientation of confusion matrices as read and as shown."""
    from scorespace.results import join_words, note

    if not sides:
        return
    models_by_side = {
        side: join_words([name for name, row_side in sides.items() if row_side == side])
        for side in dict.fromkeys(sides.values())
    }
    read = "; ".join(f"rows are {side} classes in {names}" for side, names in models_by_side.items())
    shown = "" if set(models_by_side) == {"actual"} else "; in the tables below, rows are actual classes"
    yield note("SS099", f"{read[0].upper()}{read[1:]}{shown}.")


_SAME_NAME = (
    *("truth", "positive", "weight", "group", "fold", "baseline", "time", "repeat", "dataset", "order", "scale", "per"),
    *("where", "train", "memory", "precision", "engine", "master", "profile", "lower_is_better", "query"),
)


OF_VALUES = frozenset({"value", "lower_is_better", "query", "qrels"})
"""Fields of `DataOptions` for values per case and rankings, which verbs about thresholds leave out."""


def only(*names: str) -> set[str]:
    """Fields of `DataOptions` that a verb with only these options leaves out; how files are read stays."""
    return {*DataOptions._fields} - {*names, "sheet", "no_header"}


def _cost_flag(help_text: str) -> Any:
    """Declare the cost of an outcome: a number, or a column."""
    return flag("X|COL", help_text, COSTS, parser=number_or_column)


class CostOptions(NamedTuple):
    """Costs of decisions."""

    cost_fp: Annotated[Any, _cost_flag("Cost of a false positive: a number, or a column of costs per case.")] = None
    cost_fn: Annotated[Any, _cost_flag("Cost of a false negative.")] = None
    cost_tp: Annotated[Any, _cost_flag("Cost of a true positive; a gain is negative.")] = None
    cost_tn: Annotated[Any, _cost_flag("Cost of a true negative; a gain is negative.")] = None
    prevalence: Annotated[
        float | None,
        flag("P", "Prevalence where the model will be used; by default that of the data.", COSTS, parser=number),
    ] = None
    costs: Annotated[
        Path | None,
        flag("FILE.csv", "Cost matrix with class labels; rows actual, columns predicted (or see --rows).", COSTS),
    ] = None
    slope: Annotated[
        float | None,
        flag(
            "M",
            "Instead of costs: slope of the iso-cost lines, cost-fp · negatives / (cost-fn · positives).",
            COSTS,
            parser=number,
        ),
    ] = None
    cost_under: Annotated[
        float | None, flag("X", "Cost per unit of underprediction (regression).", COSTS, parser=number)
    ] = None
    cost_over: Annotated[
        float | None, flag("X", "Cost per unit of overprediction (regression).", COSTS, parser=number)
    ] = None

    @property
    def has_only_prevalence(self) -> bool:
        """Whether the prevalence is stated without costs."""
        return self.prevalence is not None and all(
            value is None for name, value in self._asdict().items() if name != "prevalence"
        )

    def condition(
        self, rows: options.Side | None = None, rule: str | None = None
    ) -> Condition | CostMatrix | Asymmetry | CaseCosts | None:
        """The operating condition; None if no costs are stated, or only a slope, which also needs the prevalence.

        `rows` says whether rows of a cost matrix are actual or predicted classes, `rule` how cases with costs of their
        own are acted on.
        """
        from scorespace.case_costs import case_costs_from_flags
        from scorespace.costs import CostMatrix, condition_from_flags

        if self.slope is not None and any(getattr(self, name) is not None for name in (*_BINARY_FIELDS, "costs")):
            raise ConditionError(
                "--slope replaces the costs and the prevalence.",
                hint="either --slope 2, or --cost-fp 1 --cost-fn 5",
            )

        def matrix() -> CostMatrix:
            from scorespace.io.matrix import read_matrix

            return CostMatrix(*read_matrix(str(self.costs), rows)[:2])

        names = (*_BINARY_FIELDS, "cost_under", "cost_over")
        stated = {name.replace("_", "-"): getattr(self, name) for name in names}
        by_case = case_costs_from_flags(stated, rule)
        if by_case is not None:
            return by_case
        return condition_from_flags(stated, None if self.costs is None else matrix)


class FigureOptions(NamedTuple):
    """Style and size of a chart that is written to a file."""

    style: Annotated[
        StyleName | None,
        flag(
            None,
            "Style of the chart: slide (32 × 18 cm, labels of 18 points) or paper (12 × 8 cm, 8 points, greys).",
            options.OUTPUT,
        ),
    ] = None
    size: Annotated[str | None, flag("WxH", "Size of the chart, such as 12x8cm.", options.OUTPUT)] = None

    def check(self, out: Path | None) -> None:
        """Reject a style or a size without a chart, before any computation."""
        from scorespace.report.chart_styles import parse_size

        if any(self) and (out is None or out.suffix.lower() not in options.PICTURES):
            raise DataError("--style and --size describe a chart.", hint="--out FILE.png, .svg or .pdf")
        if self.size is not None:
            parse_size(self.size)

    def drawing(self, draw: Callable[[], Any] | None) -> Callable[[], Any] | None:
        """The function that draws the chart in this style and size."""
        if draw is None or not any(self):
            return draw
        from scorespace.report.chart_styles import styled

        return lambda: styled(draw(), self.style, self.size)


CHART_AS_DRAWN: Final = FigureOptions()

_BINARY_FIELDS = ("cost_fp", "cost_fn", "cost_tp", "cost_tn", "prevalence")


def expand_option_groups(function: Callable[..., Any]) -> Callable[..., Any]:
    """Replace each parameter that is an option group by one parameter per option, except the excluded ones.

    An option group is a named tuple, such as `DataOptions` or `CostOptions`.

    >>> def verb(cost_options: Annotated[CostOptions, {"slope", "costs"}]) -> None: ...
    >>> list(signature(expand_option_groups(verb)).parameters)[:5]
    ['cost_fp', 'cost_fn', 'cost_tp', 'cost_tn', 'prevalence']
    """
    groups: dict[str, tuple[Any, list[str]]] = {}
    parameters = []
    hints = get_type_hints(function, include_extras=True)
    for parameter in signature(function).parameters.values():
        hint = hints[parameter.name]
        kind, *exclusions = get_args(hint) or (hint,)
        if not hasattr(kind, "_field_defaults"):
            parameters.append(parameter.replace(annotation=hint))
            continue
        names = [name for name in kind._fields if not any(name in excluded for excluded in exclusions)]
        groups[parameter.name] = kind, names
        annotations = get_type_hints(kind, include_extras=True)
        parameters += [
            parameter.replace(name=name, default=kind._field_defaults[name], annotation=annotations[name])
            for name in names
        ]

    def command(**values: Any) -> Any:
        for name, (kind, names) in groups.items():
            values[name] = kind(**{option: values.pop(option) for option in names})
        return function(**values)

    command.__doc__, command.__name__ = function.__doc__, function.__name__
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    by_name = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in parameters]
    command.__signature__ = Signature(by_name)  # type: ignore[attr-defined]
    return command
