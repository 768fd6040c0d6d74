"""What the verbs about models are given: data or matrices with their roles, and what decisions cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args, get_type_hints

import typer

from scorespace.cli import options
from scorespace.cli.options import COSTS, ROLES, flag
from scorespace.errors import ConditionError, DataError
from scorespace.tables.kind import TABLE_KINDS

if TYPE_CHECKING:
    from scorespace.conditions import Asymmetry, Condition, CostMatrix
    from scorespace.evaluation.evaluation import Evaluation
    from scorespace.results import Note

_KINDS = ", ".join(one.name for one in TABLE_KINDS)
_MATRIX_HELP = "A model's confusion matrix, in a file or as 'TP FN; FP TN'; instead of DATA or beside it; repeatable."


class Given(NamedTuple):
    """Data or matrices, and which column is what."""

    data: Annotated[str | None, typer.Argument(metavar="DATA", help=options.DATA_HELP)] = None
    truth: options.MaybeTruth = None
    score: options.Score = []
    decision: options.Decision = []
    prediction: Annotated[list[str], flag("COL", "A model's predictions of a numeric truth; repeatable.", ROLES)] = []
    positive: options.Positive = None
    name: options.Name = []
    model: Annotated[
        list[str], flag("NAME=KIND(COL)", f"A model of a kind, plug-ins' included: {_KINDS}; repeatable.", ROLES)
    ] = []
    weight: options.Weight = None
    weights: options.Weights = "cases"
    group: options.Group = None
    fold: options.Fold = None
    baseline: Annotated[
        str | None,
        flag("mean|COL|VALUE", "What relative errors are relative to; the mean of these truths if not stated.", ROLES),
    ] = None
    time: Annotated[str | None, flag("COL", "The time of each row, where predictions are of a series.", ROLES)] = None
    repeat: Annotated[
        str | None, flag("COL", "The repeat each row belongs to: a case has one row in every repeat.", ROLES)
    ] = None
    dataset: options.Dataset = None
    matrix: Annotated[list[str], flag("NAME=FILE.csv", _MATRIX_HELP, ROLES)] = []
    rows: Annotated[
        options.Side | None,
        flag(None, "What the rows of --matrix and of --costs are; actual if nothing says so.", ROLES),
    ] = None
    order: options.Order = ""
    scale: options.Scale = None
    missing: options.MissingRows = "error"
    where: options.Where = None
    allow_remote: options.AllowRemote = False
    memory: options.Memory = None
    precision: options.Precision = None
    engine: options.Engine = None
    master: options.Master = None

    @property
    def files(self) -> tuple[Any, ...]:
        """What is read, and must not be written over."""
        return (self.data, *options.matrix_files(self.matrix))

    @property
    def several(self) -> bool:
        """Whether more than one model is named."""
        return len([*self.score, *self.decision, *self.prediction, *self.model, *self.matrix]) > 1

    def evaluated(self, source: Any = None, costs: Path | None = None, **asked: Any) -> Evaluation:
        """The evaluation of what is given, or of another source with the same columns.

        `costs` is the file of a cost matrix, of which a note says how it was read.
        """
        from scorespace.evaluation.enter import evaluate

        tables: Any = {}
        sides: dict[str, options.Side] = {}
        if self.rows is not None and not self.matrix and costs is None:
            problem = "--rows says what the rows of a matrix are, and there is none."
            raise DataError(problem, hint="--matrix NAME=FILE.csv")
        if source is None:
            source, tables, sides = options.data_and_matrices(self.data, self.matrix, self.rows, self.positive)
        roles = {name: getattr(self, name) for name in _SAME_NAME}
        roles |= {"scores": self.score, "decisions": self.decision, "predictions": self.prediction}
        roles |= {"names": options.renames(self.name), "models": options.models(self.model), "tables": tables}
        roles |= {"weights": self.weights, "missing": self.missing}
        found = evaluate(source, **roles | asked)
        if costs is not None:
            from scorespace.frames.matrix import read_matrix

            sides["the costs"] = read_matrix(costs, self.rows).rows
        return replace(found, sample_notes=(*found.sample_notes, *_row_notes(sides)))


def _row_notes(sides: Mapping[str, options.Side]) -> Iterator[Note]:
    """How matrices were read: what their rows were, and that they are actual classes in what is shown."""
    from scorespace.results import joined, note

    if not sides:
        return
    held = {
        side: joined([name for name, one in sides.items() if one == side]) for side in dict.fromkeys(sides.values())
    }
    read = "; ".join(f"rows: {side} class in {names}" for side, names in held.items())
    turned = "" if set(held) == {"actual"} else "; tables shown here have rows: actual class"
    yield note("SS099", f"{read}{turned}.")


_SAME_NAME = (
    *("truth", "positive", "weight", "group", "fold", "baseline", "time", "repeat", "dataset", "order", "scale"),
    *("where", "memory", "precision", "engine", "master"),
)


def only(*names: str) -> set[str]:
    """What a verb that takes these alone leaves out of `Given`."""
    return {*Given._fields} - {*names}


class Stakes(NamedTuple):
    """What decisions cost."""

    cost_fp: Annotated[float | None, flag("X", "Cost of a false positive.", COSTS)] = None
    cost_fn: Annotated[float | None, flag("X", "Cost of a false negative.", COSTS)] = None
    cost_tp: Annotated[float | None, flag("X", "Cost of a true positive; a gain is negative.", COSTS)] = None
    cost_tn: Annotated[float | None, flag("X", "Cost of a true negative; a gain is negative.", COSTS)] = None
    prevalence: Annotated[
        float | None, flag("P", "Share of positives where the model will be used; else that of the data.", COSTS)
    ] = None
    costs: Annotated[
        Path | None,
        flag(
            "FILE.csv", "Cost matrix, labels as header and index; rows actual, columns decided, or see --rows.", COSTS
        ),
    ] = None
    slope: Annotated[
        float | None,
        flag(
            "M",
            "Instead of costs: the slope of lines of equal cost, cost-fp · negatives / (cost-fn · positives).",
            COSTS,
        ),
    ] = None
    cost_under: Annotated[float | None, flag("X", "Cost of a unit by which a number is predicted too low.", COSTS)] = (
        None
    )
    cost_over: Annotated[float | None, flag("X", "Cost of a unit by which a number is predicted too high.", COSTS)] = (
        None
    )

    def condition(self, rows: options.Side | None = None) -> Condition | CostMatrix | Asymmetry | None:
        """The operating condition, or None: nothing is stated, or a slope, which waits for the prevalence.

        `rows` is what the rows of a cost matrix are, as of every other matrix.
        """
        from scorespace.conditions import CostMatrix, condition_of

        if self.slope is not None and any(getattr(self, name) is not None for name in (*_TWO_CLASSES, "costs")):
            raise ConditionError(
                "--slope stands for the costs and the prevalence.",
                hint="either --slope 2, or --cost-fp 1 --cost-fn 5",
            )

        def matrix() -> CostMatrix:
            from scorespace.frames.matrix import read_matrix

            return CostMatrix(*read_matrix(str(self.costs), rows)[:2])

        names = (*_TWO_CLASSES, "cost_under", "cost_over")
        stated = {name.replace("_", "-"): getattr(self, name) for name in names}
        return condition_of(stated, None if self.costs is None else matrix)


_TWO_CLASSES = ("cost_fp", "cost_fn", "cost_tp", "cost_tn", "prevalence")


def spelt_out(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with a parameter for every option of the groups that it takes, but for those it names.

    A group is a named tuple, such as `Given` and `Stakes`.

    >>> def verb(stakes: Annotated[Stakes, {"slope", "costs"}]) -> None: ...
    >>> list(signature(spelt_out(verb)).parameters)[:5]
    ['cost_fp', 'cost_fn', 'cost_tp', 'cost_tn', 'prevalence']
    """
    groups: dict[str, tuple[Any, list[str]]] = {}
    parameters = []
    hints = get_type_hints(function, include_extras=True)
    for one in signature(function).parameters.values():
        hint = hints[one.name]
        kind, *said = get_args(hint) or (hint,)
        if not hasattr(kind, "_field_defaults"):
            parameters.append(one.replace(annotation=hint))
            continue
        names = [name for name in kind._fields if not any(name in each for each in said)]
        groups[one.name] = kind, names
        own = get_type_hints(kind, include_extras=True)
        parameters += [
            one.replace(name=name, default=kind._field_defaults[name], annotation=own[name]) for name in names
        ]

    def called(**values: Any) -> Any:
        for name, (kind, names) in groups.items():
            values[name] = kind(**{each: values.pop(each) for each in names})
        return function(**values)

    called.__doc__, called.__name__ = function.__doc__, function.__name__
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    by_name = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in parameters]
    called.__signature__ = Signature(by_name)  # type: ignore[attr-defined]
    return called
