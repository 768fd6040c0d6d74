"""Roles of columns: truth, scores, decisions, predictions, weight, group, fold, repeat and time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from scorespace.argument_checks import check_type
from scorespace.case_costs import CaseCosts
from scorespace.errors import ColumnError, ConditionError, did_you_mean, listing
from scorespace.io.role_options import are_frequency_weights, parse_baseline, prediction_intervals, refuse_together
from scorespace.io.source import Source
from scorespace.tables.labels import label_text
from scorespace.tables.table_kind import read_kind

Columns = str | Sequence[str] | Mapping[str, str | Mapping[str, str]]
"""One column, several, {model: column}, or {model: {class: column}} for multiclass scores."""


@dataclass(frozen=True)
class Roles:
    """The columns an evaluation reads; scores and decisions by model. Values per case have no truth, which is then "".

    `starred`: for patterns such as nb_*, the models that the columns are if they turn out not to be class scores.
    `known` lists classes that may be absent from the data, as in a saved baseline.
    """

    truth: str
    scores: Mapping[str, str] = field(default_factory=dict)
    decisions: Mapping[str, str] = field(default_factory=dict)
    weight: str | None = None
    group: str | None = None
    fold: str | None = None
    positive: Any = None
    class_scores: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    repeat: str | None = None
    copies: bool = False
    numbers: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    intervals: Mapping[str, tuple[str, str, float]] = field(default_factory=dict)
    baseline: str | float | None = None
    time: str | None = None
    starred: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    known: tuple[str, ...] = ()
    costs: CaseCosts | None = None
    period: str | None = None
    limits: tuple[float, float] | None = None
    lower_is_better: bool = False
    query: str | None = None
    distributions: Mapping[str, tuple[tuple[str, ...], tuple[float, ...] | None]] = field(default_factory=dict)
    history: Any = None

    def number_columns(self) -> list[str]:
        """Numeric columns besides the truth: predictions, prediction intervals, quantiles, baseline."""
        parts = (column for columns, _ in self.distributions.values() for column in columns)
        ends = (end for low, high, _ in self.intervals.values() for end in (low, high))
        base = [self.baseline] if isinstance(self.baseline, str) else []
        return list(dict.fromkeys([*(column for _, column in self.numbers.values()), *ends, *parts, *base]))

    @property
    def models(self) -> list[str]:
        """Names of all models."""
        return [*self.scores, *self.class_scores, *self.decisions, *self.numbers]

    def class_columns(self) -> list[str]:
        """Columns of multiclass scores."""
        return [column for by_class in self.class_scores.values() for column in by_class.values()]

    @property
    def summed(self) -> bool:
        """Whether sums of errors suffice: only plain predictions, without prediction intervals."""
        plain = all(kind == "residual" for kind, _ in self.numbers.values())
        return bool(self.numbers) and plain and not (self.intervals or self.distributions) and self.history is None

    @property
    def scores_alone(self) -> bool:
        """Whether every model has one score, without weights, folds and repeats."""
        others = self.decisions, self.class_scores, self.numbers, self.weight, self.fold, self.repeat, self.costs
        return bool(self.scores) and not any(others)

    def columns(self) -> Iterator[tuple[str, str]]:
        """Yield each role with its column; a column that two models share comes once.

        >>> list(Roles("outcome", scores={"nb": "p_nb"}).columns())
        [('truth', 'outcome'), ('score', 'p_nb')]
        """
        if self.truth:
            yield ("number" if self.numbers else "truth"), self.truth
        kind = "ranked" if self.query else "number" if self.truth else "value"
        yield from ((kind, column) for column in self.number_columns())
        scores = dict.fromkeys([*self.scores.values(), *self.class_columns()])
        yield from (("score", column) for column in scores)
        yield from (("decision", column) for column in dict.fromkeys(self.decisions.values()))
        yield from (("cost", column) for column in (() if self.costs is None else self.costs.columns))
        for role in ("weight", "group", "fold", "repeat", "time", "period", "query"):
            column = getattr(self, role)
            if column is not None:
                yield role, column


def _role_name(role: str) -> str:
    """Name of a role as in its option."""
    return {"number": "prediction", "ranked": "score"}.get(role, role)


def resolve_roles(
    source: Source,
    *,
    truth: str = "",
    scores: Columns | None = None,
    decisions: Columns | None = None,
    positive: Any = None,
    weight: str | None = None,
    group: str | None = None,
    fold: str | None = None,
    repeat: str | None = None,
    names: Mapping[str, str] | None = None,
    weights: str = "cases",
    models: Mapping[str, str] | None = None,
    predictions: Columns | None = None,
    values: Columns | None = None,
    intervals: Mapping[str, Sequence[Any]] | Sequence[Any] | None = None,
    baseline: str | float | None = None,
    time: str | None = None,
    known: tuple[str, ...] = (),
    costs: CaseCosts | None = None,
    period: str | None = None,
    limits: tuple[float, float] | None = None,
    lower_is_better: bool = False,
    query: str | None = None,
    distributions: Mapping[str, tuple[tuple[str, ...], tuple[float, ...] | None]] | None = None,
) -> Roles:
    """Resolve and check the role of each column; `names` renames models by their column.

    `query` names the query of each row, whose scores rank its documents; `values` names columns of values per case,
    without a truth, within `limits`. `costs` names columns of costs, `period` the period of each case. `weights`:
    "cases" if a weighted row is one case, "copies" if its weight is a frequency. `models` adds regression models as
    KIND(COLUMN), and `predictions` plain ones. `intervals` gives columns and nominal level of prediction intervals by
    model, `distributions` columns and levels of quantiles, `baseline` a column or number that relative errors refer to,
    `time` orders the rows, and `known` lists classes that may be absent.

    >>> from scorespace.io import read
    >>> source = read({"outcome": [1, 0], "p_nb": [0.9, 0.2]})
    >>> resolve_roles(source, truth="outcome", scores="p_nb", names={"p_nb": "nb"}).scores
    {'nb': 'p_nb'}
    """
    columns = source.columns
    check_type("names", names, Mapping[str, str] | None)
    renames = dict(names or {})
    score_columns = _columns_by_model(scores, columns, renames)
    decision_columns = _one_column_each(_columns_by_model(decisions, columns, renames), renames, "a decision")
    prediction_columns = _one_column_each(_columns_by_model(predictions, columns, renames), renames, "a prediction")
    value_columns = _one_column_each(_columns_by_model(values, columns, renames), renames, "a value")
    pattern_models = {model: column for model, column in score_columns if isinstance(column, _PatternColumns)}
    numbers = _regression_models(models or {}, prediction_columns, bool(score_columns or decision_columns))
    if lower_is_better and not value_columns:
        raise ColumnError("lower_is_better is for values per case.", hint="values=…")
    if value_columns:
        stated = {"scores": scores, "decisions": decisions, "predictions": predictions, "models": [*numbers]}
        stated |= {"truth": truth, "positive": positive, "fold": fold, "time": time}
        refuse_together("values per case, which were computed elsewhere", stated)
        numbers = {model: ("value", column) for model, column in value_columns}
    ranked: list[tuple[str, str]] = []
    if query is not None:
        stated = {"decisions": decisions, "predictions": predictions, "values": values, "positive": positive}
        stated |= {"group": group, "fold": fold, "repeat": repeat, "time": time}
        refuse_together("rankings per query, which have scores and graded relevance", stated)
        ranked = _one_column_each(score_columns, renames, "a ranking")
        numbers, score_columns, pattern_models = {model: ("ranking", one) for model, one in ranked}, [], {}
    if numbers and positive is not None:
        raise ColumnError(
            f"positive={positive!r} is a class, but predictions=… is for numeric truths.",
            hint="omit it, or use scores=… or decisions=… for classes",
        )
    resolved = Roles(
        truth,
        {model: column for model, column in score_columns if isinstance(column, str)},
        dict(decision_columns),
        weight,
        group,
        fold,
        positive,
        {model: column for model, column in score_columns if not isinstance(column, str)},
        repeat,
        are_frequency_weights(weights, weight),
        numbers,
        prediction_intervals(intervals or {}, prediction_columns),
        parse_baseline(baseline, columns),
        time,
        {
            model: {renames.get(name_of_column, name_of_column): name_of_column for name_of_column in resolved.values()}
            for model, resolved in pattern_models.items()
        },
        known,
        costs,
        period,
        limits,
        lower_is_better,
        query,
        distributions or {},
    )
    if baseline is not None and not (distributions or {kind for kind, _ in numbers.values()} - {"value", "ranking"}):
        raise ColumnError(
            f"baseline={baseline!r} is the reference of relative errors, and there are no predictions of numbers.",
            hint='predictions=…, or baseline="FILE.json", which --save wrote',
        )
    if period is not None and (resolved.numbers or resolved.class_scores or weight is not None):
        raise ColumnError(
            "limits per period need scores of two classes, without weights.",
            seen=listing(resolved.models),
            hint="leave out --per",
        )
    if costs is not None:
        _refuse_unused_costs(resolved)
    if not score_columns and not decision_columns and not resolved.numbers:
        raise ColumnError(
            "there is nothing to evaluate: no scores, decisions or predictions are given.",
            seen=listing(columns),
            hint="scores=… for numbers, decisions=… for labels, predictions=… if the truth is a number",
        )
    model_names = [
        model for model, _ in (*score_columns, *decision_columns, *prediction_columns, *value_columns, *ranked)
    ]
    for i, model in enumerate(model_names):
        if model in model_names[:i]:
            raise ColumnError(
                f"model {model!r} is named twice.",
                seen=listing(model_names),
                hint="use a different name for each model",
            )
    pattern_columns = [column for columns_of in pattern_models.values() for column in columns_of.values()]
    used = [
        *resolved.scores.values(),
        *resolved.decisions.values(),
        *(column for _, column in (*prediction_columns, *value_columns, *ranked)),
        *pattern_columns,
    ]
    _refuse_unused_renames(renames, used, model_names)
    role_by_column: dict[str, str] = {}
    for role, column in resolved.columns():
        check_columns([column], source)
        if column in role_by_column:
            raise ColumnError(
                f"column {column!r} cannot be both {role_by_column[column]} and {_role_name(role)}.",
                seen=listing(columns),
                hint=f"choose another column as {_role_name(role)}",
            )
        role_by_column[column] = _role_name(role) if role_by_column or not truth else "truth"
    return resolved


def _refuse_unused_costs(roles: Roles) -> None:
    """Refuse costs per case for models without a positive class."""
    if roles.numbers or roles.class_scores:
        raise ConditionError(
            "costs per case need models of two classes, with one score or decision for each case.",
            seen=listing(roles.models),
            hint="leave out the columns of costs",
        )


def _regression_models(
    models: Mapping[str, str], predicted: Sequence[tuple[str, str]], has_class_models: bool
) -> dict[str, tuple[str, str]]:
    """Kind and column of each model whose truth is a number."""
    custom = {name: read_kind(text) for name, text in models.items()}
    if (custom or predicted) and has_class_models:
        raise ColumnError(
            "scores and decisions need a class as truth, predictions a number.",
            hint="evaluate predictions of numbers separately",
        )
    return {model: ("residual", column) for model, column in predicted} | {
        name: (kind.name, column) for name, (kind, column) in custom.items()
    }


def _one_column_each(
    requested: Sequence[tuple[str, str | dict[str, str]]], renames: Mapping[str, str], role_text: str
) -> list[tuple[str, str]]:
    """Models with one column each; a pattern gives one model per column."""
    pairs: list[tuple[str, str]] = []
    for model, column in requested:
        if isinstance(column, _PatternColumns):
            pairs += [(renames.get(name, name), name) for name in column.values()]
        elif isinstance(column, str):
            pairs.append((model, column))
        else:
            raise ColumnError(
                f"{model} has several columns, but {role_text} needs one.",
                seen=listing(column.values()),
                hint="one column for each model",
            )
    return pairs


def resolve_scores(
    source: Source, scores: Columns, names: Mapping[str, str] | None = None
) -> dict[str, str | dict[str, str]]:
    """Column of each model, or its columns by class, without needing a truth.

    >>> from scorespace.io import read
    >>> resolve_scores(read({"nb_a": [0.9], "nb_b": [0.1]}), "nb_*")
    {'nb': {'a': 'nb_a', 'b': 'nb_b'}}
    """
    return dict(_columns_by_model(scores, source.columns, dict(names or {})))


def _refuse_unused_renames(renames: Mapping[str, str], used: Sequence[str], models: Sequence[str]) -> None:
    for column, name in renames.items():
        if column not in used and name not in models:
            raise ColumnError(
                f"names={column!r} renames a column that is not a score, decision or prediction.",
                seen=listing(used),
                hint="names={column: model}",
            )


def _columns_by_model(
    requested: Columns | None, columns: Sequence[str], renames: Mapping[str, str]
) -> list[tuple[str, str | dict[str, str]]]:
    """Pairs of model and column, or of model and columns by class, in the requested order."""
    if requested is None:
        return []
    check_type("scores or decisions", requested, str | Sequence | Mapping)
    items: Sequence[Any] = [requested] if isinstance(requested, str) else list(requested)
    pairs: list[tuple[str, str | dict[str, str]]] = []
    for item in items:
        model, column = str(item), requested[item] if isinstance(requested, Mapping) else item
        name = str(column)
        if isinstance(column, Mapping):
            pairs.append((model, {label_text(label): str(class_column) for label, class_column in column.items()}))
        elif "*" in name and name not in columns:
            bare = name.replace("*", "").strip("_-. ") if model == name else model
            pairs.append((renames.get(name, bare or name), _match_classes(name, columns)))
        else:
            pairs.append((renames.get(name, model), name))
    return pairs


class _PatternColumns(dict[str, str]):
    """Columns matched by a pattern, by the text that its star matched."""


def _match_classes(pattern: str, columns: Sequence[str]) -> _PatternColumns:
    """Columns that match a pattern such as nb_*, by the class that the star matched."""
    before, _, after = pattern.partition("*")
    matches = _PatternColumns(
        (column[len(before) : len(column) - len(after)], column)
        for column in columns
        if column.startswith(before) and column.endswith(after) and len(column) > len(before) + len(after)
    )
    if not matches:
        raise ColumnError(f"no column matches {pattern!r}.", seen=listing(columns), hint="* matches the class label")
    return matches


def check_columns(names: Iterable[str | None], source: Source) -> None:
    """Refuse columns that do not exist, and a column named *."""
    for name in (column for column in names if column is not None):
        if name not in source.columns:
            raise missing_column_error(name, source)
        refuse_star_column(name)


def match_columns(patterns: Sequence[str], source: Source, excluded: Sequence[str] = ()) -> list[str]:
    """Columns that are named or match patterns such as x*, excluding some."""
    selected: dict[str, None] = {}
    for pattern in patterns:
        matching = [name for name in source.columns if fnmatchcase(name, pattern) and name not in excluded]
        matches = [pattern] if pattern in source.columns else matching
        if not matches:
            raise missing_column_error(pattern, source)
        selected |= dict.fromkeys(matches)
    return list(selected)


def refuse_star_column(column: str) -> None:
    """Refuse a column named *, which the engine reads as all columns."""
    if column == "*":
        raise ColumnError("a column named '*' would select all columns.", hint="rename the column")


def truth_not_named_error(source: Source) -> ColumnError:
    """Error if no truth column is given, with the most likely column as hint."""
    usual = ("truth", "target", "outcome", "label", "class", "y", "y_true", "actual")
    folded = {column.casefold(): column for column in source.columns}
    likely = next((folded[name] for name in usual if name in folded), "…")
    return ColumnError(
        "no column with the actual class is given.",
        seen=f"columns {listing(source.columns)}",
        hint=f'truth="{likely}"' if likely != "…" else "truth=…",
    )


def missing_column_error(column: str, source: Source) -> ColumnError:
    """Error for a column that does not exist, with the nearest name as hint."""
    if {"actual", "decided", "squares", "model"} <= set(source.columns):
        return ColumnError(
            f"{source.where} holds count tables, but individual cases are needed.",
            hint="use the data that the tables were counted from",
        )
    parts = [part.strip() for part in column.split(",")]
    if len(parts) > 1 and all(part in source.columns for part in parts):
        quoted = ", ".join(f'"{part}"' for part in parts)
        problem = f"{column!r} is several columns of {source.where}, not one."
        return ColumnError(problem, seen=listing(source.columns), hint=f"scores=[{quoted}]")
    hint = did_you_mean(column, source.columns, "one of these columns", quoted=True)
    seen = listing(source.columns) or "no columns"
    return ColumnError(f"column {column!r} is not in {source.where}.", seen=seen, hint=hint)
