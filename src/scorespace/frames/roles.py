"""Which column plays which role: truth, scores, decisions, predictions, weight, group, fold, time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from typing import Any

from scorespace.arguments import check
from scorespace.errors import ColumnError, did_you_mean, listing
from scorespace.frames.source import Source
from scorespace.frozen import dataclass
from scorespace.tables.columns import MOST_SIZE, nominal_level
from scorespace.tables.kind import read_kind
from scorespace.tables.labels import label_text

Columns = str | Sequence[str] | Mapping[str, str | Mapping[str, str]]
"""One column, several, {model: column}, or {model: {class: column}} for scores of several classes."""


@dataclass(frozen=True)
class Roles:
    """The columns that an evaluation reads; scores and decisions by the name of their model.

    `starred` names, of models whose scores a pattern took, the models that the columns are if they are no scores of
    classes: that is known with the classes. `known` lists classes that there are although no row may be of them, as a
    baseline tells.
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

    def number_columns(self) -> list[str]:
        """The columns of numbers beside the truth: predictions, the ends of their intervals, the baseline."""
        ends = (end for low, high, _ in self.intervals.values() for end in (low, high))
        base = [self.baseline] if isinstance(self.baseline, str) else []
        return list(dict.fromkeys([*(column for _, column in self.numbers.values()), *ends, *base]))

    @property
    def models(self) -> list[str]:
        """All models by name."""
        return [*self.scores, *self.class_scores, *self.decisions, *self.numbers]

    def class_columns(self) -> list[str]:
        """The columns of models that score several classes."""
        return [column for by_class in self.class_scores.values() for column in by_class.values()]

    @property
    def summed(self) -> bool:
        """Whether there are numbers, and sums of their errors are enough: none has an interval or another kind."""
        plain = all(kind == "residual" for kind, _ in self.numbers.values())
        return bool(self.numbers) and plain and not self.intervals

    @property
    def scores_alone(self) -> bool:
        """Whether every model is one score, without weights, folds and repeats."""
        others = self.decisions, self.class_scores, self.numbers, self.weight, self.fold, self.repeat
        return bool(self.scores) and not any(others)

    def columns(self) -> Iterator[tuple[str, str]]:
        """Each role with its column; a column that two models share comes once.

        >>> list(Roles("outcome", scores={"nb": "p_nb"}).columns())
        [('truth', 'outcome'), ('score', 'p_nb')]
        """
        yield ("number" if self.numbers else "truth"), self.truth
        yield from (("number", column) for column in self.number_columns())
        scores = dict.fromkeys([*self.scores.values(), *self.class_columns()])
        yield from (("score", column) for column in scores)
        yield from (("decision", column) for column in dict.fromkeys(self.decisions.values()))
        for role in ("weight", "group", "fold", "repeat", "time"):
            column = getattr(self, role)
            if column is not None:
                yield role, column


def _told(role: str) -> str:
    """A role in the words of its option."""
    return "prediction" if role == "number" else role


def roles(
    source: Source,
    *,
    truth: str,
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
    intervals: Mapping[str, Sequence[Any]] | Sequence[Any] | None = None,
    baseline: str | float | None = None,
    time: str | None = None,
    known: tuple[str, ...] = (),
) -> Roles:
    """The roles of the columns, each checked to be there; `names` renames models by their column.

    `weights`: a weighted row is one of the `cases`, or its weight counts the `copies` of a case. `models` names
    further ones by KIND(COLUMN), whose truth is a number, as it is for `predictions`; `intervals` holds the columns
    and the nominal level of their prediction intervals by model, `baseline` a column or a number that relative errors
    are relative to, and `time` orders the rows; `known` are classes that may be absent.

    >>> from scorespace.frames import read
    >>> source = read({"outcome": [1, 0], "p_nb": [0.9, 0.2]})
    >>> roles(source, truth="outcome", scores="p_nb", names={"p_nb": "nb"}).scores
    {'nb': 'p_nb'}
    """
    columns = source.columns
    check("names", names, Mapping[str, str] | None)
    renames = dict(names or {})
    scored = _by_model(scores, columns, renames)
    decided = _each(_by_model(decisions, columns, renames), renames, "a decision")
    predicted = _each(_by_model(predictions, columns, renames), renames, "a prediction")
    by_star = {model: column for model, column in scored if isinstance(column, _Starred)}
    numbers = _numbers(models or {}, predicted, bool(scored or decided))
    if numbers and positive is not None:
        raise ColumnError(
            f"positive={positive!r} names a class, and the truth of predicted numbers is none.",
            hint="leave it out; scores=… and decisions=… are for classes",
        )
    found = Roles(
        truth,
        {model: column for model, column in scored if isinstance(column, str)},
        dict(decided),
        weight,
        group,
        fold,
        positive,
        {model: column for model, column in scored if not isinstance(column, str)},
        repeat,
        _are_copies(weights, weight),
        numbers,
        _intervals(intervals or {}, predicted),
        _baseline(baseline, columns),
        time,
        {model: {renames.get(one, one): one for one in found.values()} for model, found in by_star.items()},
        known,
    )
    if not scored and not decided and not found.numbers:
        raise ColumnError(
            "there is nothing to evaluate: no score and no decision is named.",
            seen=listing(columns),
            hint="scores=… for numbers, decisions=… for labels, predictions=… where the truth is a number",
        )
    named = [model for model, _ in (*scored, *decided, *predicted)]
    for i, model in enumerate(named):
        if model in named[:i]:
            raise ColumnError(f"model {model!r} is named twice.", seen=listing(named), hint="a name for each model")
    taken_by_star = [column for columns_of in by_star.values() for column in columns_of.values()]
    used = [*found.scores.values(), *found.decisions.values(), *(column for _, column in predicted), *taken_by_star]
    _refuse_idle_renames(renames, used, named)
    taken: dict[str, str] = {}
    for role, column in found.columns():
        check_columns([column], source)
        if column in taken:
            raise ColumnError(
                f"column {column!r} cannot be both {taken[column]} and {_told(role)}.",
                seen=listing(columns),
                hint=f"another column as {_told(role)}",
            )
        taken[column] = _told(role) if taken else "truth"
    return found


def _numbers(
    models: Mapping[str, str], predicted: Sequence[tuple[str, str]], classes: bool
) -> dict[str, tuple[str, str]]:
    """The kind and the column of each model whose truth is a number."""
    found = {name: read_kind(text) for name, text in models.items()}
    if (found or predicted) and classes:
        raise ColumnError(
            "the truth is a class for scores and decisions, and a number for other models.",
            hint="evaluate predicted numbers on their own",
        )
    return {model: ("residual", column) for model, column in predicted} | {
        name: (kind.name, column) for name, (kind, column) in found.items()
    }


def _each(
    found: Sequence[tuple[str, str | dict[str, str]]], renames: Mapping[str, str], what: str
) -> list[tuple[str, str]]:
    """Models that have one column each: a pattern names several of them."""
    each: list[tuple[str, str]] = []
    for model, column in found:
        if isinstance(column, _Starred):
            each += [(renames.get(one, one), one) for one in column.values()]
        elif isinstance(column, str):
            each.append((model, column))
        else:
            raise ColumnError(
                f"{model} names several columns, and {what} is one.",
                seen=listing(column.values()),
                hint="one column for each model",
            )
    return each


def _intervals(
    given: Mapping[str, Sequence[Any]] | Sequence[Any], predicted: Sequence[tuple[str, str]]
) -> dict[str, tuple[str, str, float]]:
    """The columns and level of each model's prediction interval; without a name, those of the only model."""
    models = [model for model, _ in predicted]
    if not isinstance(given, Mapping):
        if len(models) != 1:
            raise ColumnError("whose prediction interval is it?", seen=listing(models), hint="MODEL=LOW,HIGH,0.9")
        given = {models[0]: given}
    found = {}
    for model, ends in given.items():
        if model not in models:
            raise ColumnError(
                f"there is no prediction {model!r} to have an interval.",
                seen=listing(models),
                hint="the name of a prediction, as in MODEL=LOW,HIGH,0.9",
            )
        if isinstance(ends, str) or len(ends) != 3:
            raise ColumnError(
                f"the prediction interval of {model!r} needs two columns and its nominal level.",
                seen=f"{ends!r}",
                hint="LOW,HIGH,0.9 for intervals that were made to hold 90 % of the truths",
            )
        found[model] = (str(ends[0]), str(ends[1]), nominal_level(ends[2]))
    return found


def _baseline(given: str | float | None, columns: Sequence[str]) -> str | float | None:
    """A column, a number, or None for the mean of the truths."""
    if given is None or given in columns:
        return given
    if given == "mean":
        return None
    try:
        number = float(given)
    except ValueError:
        number = float("nan")
    if not abs(number) < float("inf"):
        hint = "mean, a column, a number such as the mean of the training targets, or a file that --save wrote"
        raise ColumnError(f"baseline={given!r} is neither a column nor a number.", seen=listing(columns), hint=hint)
    if abs(number) > MOST_SIZE:
        raise ColumnError(f"baseline={given} is beyond 1e70, whose square cannot be added up.", hint="baseline=0")
    return number


def _are_copies(weights: str, weight: str | None) -> bool:
    if weights not in ("cases", "copies"):
        raise ColumnError(f"weights={weights!r} is no kind of weights.", hint='weights="cases" or weights="copies"')
    if weights == "copies" and weight is None:
        raise ColumnError("weights are said to be copies, but no column of weights is named.", hint="weight=…")
    return weights == "copies"


def score_models(
    source: Source, scores: Columns, names: Mapping[str, str] | None = None
) -> dict[str, str | dict[str, str]]:
    """The column of each model, or its columns by class, where no truth is needed.

    >>> from scorespace.frames import read
    >>> score_models(read({"nb_a": [0.9], "nb_b": [0.1]}), "nb_*")
    {'nb': {'a': 'nb_a', 'b': 'nb_b'}}
    """
    return dict(_by_model(scores, source.columns, dict(names or {})))


def _refuse_idle_renames(renames: Mapping[str, str], used: Sequence[str], models: Sequence[str]) -> None:
    for column, name in renames.items():
        if column not in used and name not in models:
            raise ColumnError(
                f"names={column!r} renames a column that is neither a score nor a decision nor a prediction.",
                seen=listing(used),
                hint="names={column: model}",
            )


def _by_model(
    given: Columns | None, columns: Sequence[str], renames: Mapping[str, str]
) -> list[tuple[str, str | dict[str, str]]]:
    """Pairs of model and column, or of model and columns by class, in the order given."""
    if given is None:
        return []
    check("scores or decisions", given, str | Sequence | Mapping)
    listed: Sequence[Any] = [given] if isinstance(given, str) else list(given)
    found: list[tuple[str, str | dict[str, str]]] = []
    for one in listed:
        model, column = str(one), given[one] if isinstance(given, Mapping) else one
        name = str(column)
        if isinstance(column, Mapping):
            found.append((model, {label_text(label): str(each) for label, each in column.items()}))
        elif "*" in name and name not in columns:
            bare = name.replace("*", "").strip("_-. ") if model == name else model
            found.append((renames.get(name, bare or name), _by_class(name, columns)))
        else:
            found.append((renames.get(name, model), name))
    return found


class _Starred(dict[str, str]):
    """The columns that a pattern took, by what its star stands for."""


def _by_class(pattern: str, columns: Sequence[str]) -> _Starred:
    """The columns that a pattern such as nb_* takes, by the class that the star stands for."""
    before, _, after = pattern.partition("*")
    found = _Starred(
        (column[len(before) : len(column) - len(after)], column)
        for column in columns
        if column.startswith(before) and column.endswith(after) and len(column) > len(before) + len(after)
    )
    if not found:
        raise ColumnError(
            f"no column is named like {pattern!r}.", seen=listing(columns), hint="the star stands for the class label"
        )
    return found


def check_columns(names: Iterable[str | None], source: Source) -> None:
    """Refuse columns that are not there, and one whose name means all columns to the engine."""
    for name in (one for one in names if one is not None):
        if name not in source.columns:
            raise absent_column(name, source)
        refuse_star(name)


def matching(patterns: Sequence[str], source: Source, without: Sequence[str] = ()) -> list[str]:
    """The columns that are named, or that patterns such as x* take, which take none of some others."""
    chosen: dict[str, None] = {}
    for pattern in patterns:
        like = [name for name in source.columns if fnmatchcase(name, pattern) and name not in without]
        found = [pattern] if pattern in source.columns else like
        if not found:
            raise absent_column(pattern, source)
        chosen |= dict.fromkeys(found)
    return list(chosen)


def refuse_star(column: str) -> None:
    """Refuse a column whose name means all columns to the engine."""
    if column == "*":
        raise ColumnError("a column named '*' cannot be told from all columns.", hint="rename the column")


def truth_unnamed(source: Source) -> ColumnError:
    """The error where nobody says which column holds the truth, with those there are."""
    usual = ("truth", "target", "outcome", "label", "class", "y", "y_true", "actual")
    folded = {column.casefold(): column for column in source.columns}
    likely = next((folded[name] for name in usual if name in folded), "…")
    return ColumnError(
        "the column with the actual class is not named.",
        seen=f"columns {listing(source.columns)}",
        hint=f'truth="{likely}"' if likely != "…" else "truth=…",
    )


def absent_column(column: str, source: Source) -> ColumnError:
    """The error for a column that is not there, with the nearest one that is."""
    if {"actual", "decided", "squares", "model"} <= set(source.columns):
        return ColumnError(
            f"{source.where} holds tables, and this needs the cases.", hint="the data that the tables were counted from"
        )
    parts = [part.strip() for part in column.split(",")]
    if len(parts) > 1 and all(part in source.columns for part in parts):
        several = ", ".join(f'"{part}"' for part in parts)
        problem = f"{column!r} is not one column of {source.where}, but several."
        return ColumnError(problem, seen=listing(source.columns), hint=f"scores=[{several}]")
    hint = did_you_mean(column, source.columns, "one of these columns", quoted=True)
    seen = listing(source.columns) or "no columns"
    return ColumnError(f"column {column!r} is not in {source.where}.", seen=seen, hint=hint)
