"""The bridge to scikit-learn: a measure as a scorer, and what estimators say as columns; none of it is imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, Final

import numpy as np

from scorespace.errors import DataError, MeasureError, PositiveError, ScoreSpaceError, listing
from scorespace.frozen import dataclass
from scorespace.measures import MeasureSpec, parse
from scorespace.measures.request import bind
from scorespace.results import Note, Row
from scorespace.tables import Array, ConfusionTable, Counts, Table, class_table, residual_table
from scorespace.tables.arrays import by_class, numeric, table_of_arrays, worded
from scorespace.tables.labels import positive_index

FOLD: Final = "fold"
ALONE: Final = "model"
"""What a model is called that nobody named."""
_IN_FOLDS: Final = ("estimator", "indices")


@dataclass(frozen=True)
class Scorer:
    """A measure as scikit-learn asks for it: of a fitted estimator, features and truth; higher is always better.

    A measure that is better when it is low comes with its sign changed. What the estimator is asked for follows from
    the measure: decisions, scores or probabilities of the classes, or numbers. Undefined is NaN.
    """

    measure: str
    positive: Any = None

    @cached_property
    def spec(self) -> MeasureSpec:
        return parse(self.measure)

    @property
    def sign(self) -> int:
        """1 where high values are good, −1 where low ones are."""
        return -1 if self.spec.measure.best == "low" else 1

    def __call__(self, estimator: Any, features: Any, truth: Any, sample_weight: Any = None) -> float:
        table = table_of(estimator, features, truth, self.spec, positive=self.positive, weight=sample_weight)
        return self.sign * bind(self.spec, table).value

    def __repr__(self) -> str:
        told = "" if self.positive is None else f", positive={self.positive!r}"
        return f"scorer({self.measure!r}{told})"


def scorer(measure: str, *, positive: Any = None) -> Scorer:
    """A measure for `cross_validate`, `GridSearchCV` and whatever else takes a scorer of scikit-learn.

    >>> scorer("brier"), scorer("brier").sign
    (scorer('brier'), -1)
    """
    spec = parse(measure)
    if spec.measure.best is None:
        raise MeasureError(
            f"neither end of {spec} is best, so nothing can be chosen by it.", hint='scorer("auc"), for example'
        )
    return Scorer(str(spec), positive)


def table_of(
    estimator: Any, features: Any, truth: Any, spec: MeasureSpec, *, positive: Any = None, weight: Any = None
) -> Table:
    """The table of what an estimator says of cases, as far as a measure needs it."""
    kinds = tuple(spec.measure.functions)
    said = answers(estimator, features, decided=by_highest(spec))
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return residual_table(truth, said, weight=weight)
    if np.ndim(said) == 2 and spec.of is not None:  # one class of two would not tell the average of both
        return class_table(truth, by_class(truth, said, classes), weight=weight)
    table = table_of_arrays(truth, said, kinds, positive=positive, weight=weight, classes=classes)
    if len(table.class_names) == 2 and table.positive_name is None and table.scores_classes:
        positive_index(table.class_names)  # says what is missing
    return table


def by_highest(spec: MeasureSpec) -> bool:
    """Whether a measure is of decisions and names no threshold: then the class with the highest score is meant."""
    return spec.at is None and {*spec.measure.functions} <= {Counts, ConfusionTable}


def answers(estimator: Any, features: Any, *, decided: bool = False) -> Array:
    """What an estimator says: numbers, or of classes its decisions, else a score for each (cases, K), else decisions.

    Scores are probabilities where it has them, and else what it decides by.
    """
    scored = ("predict_proba", "decision_function") if hasattr(estimator, "classes_") and not decided else ()
    for method in scored:
        if hasattr(estimator, method):
            found = np.asarray(getattr(estimator, method)(features))
            return found if found.ndim == 2 else np.stack([-found, found], axis=-1)
    if not hasattr(estimator, "predict"):
        raise ScoreSpaceError(
            f"{type(estimator).__name__} predicts nothing.", hint="a fitted estimator, with the method predict"
        )
    return np.asarray(estimator.predict(features))


# --- what `evaluate` takes


@dataclass(frozen=True)
class Given:
    """Columns, and what `evaluate` is told of them; `ratio` is that of test to training cases, where it is known."""

    columns: dict[str, Any]
    roles: Row = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    ratio: float | None = None


def given_arrays(truth: Any, said: Any, positive: Any = None, *, classes: Any = None, role: str | None = None) -> Given:
    """The columns of a truth and of what models say, by name: scores, scores of every class, decisions or numbers.

    Where the `role` is not stated, words are decisions, and numbers are scores unless the truth has decimals.

    >>> given_arrays([1, 0], {"lr": [[0.2, 0.8], [0.7, 0.3]]}).roles
    {'truth': 'truth', 'scores': {'lr': 'lr'}}
    """
    models = said if isinstance(said, Mapping) else {ALONE: said}
    if not models:
        raise DataError("there is nothing to evaluate: no model is given.", hint='evaluate(y, {"lr": p})')
    name = next(one for one in ("truth", "actual", "the truth") if one not in models)
    columns: dict[str, Any] = {name: truth}
    roles: Row = {"truth": name}
    for model, answer in models.items():
        scored = by_class(truth, answer, classes) if isinstance(answer, Mapping) or np.ndim(answer) == 2 else None
        one = None if scored is None else _scored(scored, positive)
        if scored is None or one is not None:
            columns[model] = answer if scored is None or one is None else scored[one]
            usual = "predictions" if numeric(truth) else "decisions" if worded(columns[model]) else "scores"
            roles.setdefault(role or usual, {})[model] = model
        else:
            columns |= {f"{model}_{label}": values for label, values in scored.items()}
            roles.setdefault("scores", {})[model] = {label: f"{model}_{label}" for label in scored}
    sizes = {column: np.size(values) for column, values in columns.items()}
    if len({*sizes.values()}) > 1:
        seen = ", ".join(f"{size} in {column}" for column, size in sizes.items())
        raise DataError("the arrays differ in length.", seen=seen, hint="one value for each case in every array")
    return Given(columns, roles)


def _scored(scores: Mapping[str, Any], positive: Any) -> str | None:
    """Of two classes the one whose scores tell all: the positive one, where it is known."""
    names = tuple(scores)
    try:
        return names[positive_index(names, positive)] if len(names) == 2 else None
    except PositiveError:
        if positive is not None:
            raise
        return None


def estimated(models: Any, features: Any, truth: Any, positive: Any = None) -> Given:
    """The columns of what fitted estimators say of cases."""
    named = models if isinstance(models, Mapping) else {name_of(models): models}
    if not named:
        raise DataError("there is nothing to evaluate: no estimator is given.", hint="evaluate_estimator(model, X, y)")
    return _together([_said(name, one, features, truth, positive) for name, one in named.items()])


def _said(name: str, estimator: Any, features: Any, truth: Any, positive: Any) -> Given:
    classes = getattr(estimator, "classes_", None)
    role = "predictions" if classes is None else None
    return given_arrays(truth, {name: answers(estimator, features)}, positive, classes=classes, role=role)


def _together(parts: list[Given]) -> Given:
    columns: dict[str, Any] = {}
    roles: Row = {}
    for part in parts:
        columns |= part.columns
        for role, held in part.roles.items():
            roles[role] = {**roles.get(role, {}), **held} if isinstance(held, dict) else held
    return Given(columns, roles)


def name_of(estimator: Any) -> str:
    """The class of an estimator, or of the last step of a pipeline, or of what a search has found."""
    inner = getattr(estimator, "best_estimator_", estimator)
    steps = getattr(inner, "steps", None)
    return type(steps[-1][1] if steps else inner).__name__


def is_cross_validated(data: Any) -> bool:
    """Whether it is what `cross_validate` of scikit-learn returns."""
    return isinstance(data, Mapping) and {"fit_time", "score_time"} <= {*data}


def arrays_among(roles: Mapping[str, Any]) -> bool:
    """Whether what models say is given itself, and not the names of columns."""
    given = (each for one in roles.values() if isinstance(one, Mapping) for each in one.values())
    return any(not isinstance(each, str | Mapping) for each in given)


def columns_of(data: Any, arrays: tuple[Any, ...], roles: Mapping[str, Any], positive: Any = None) -> Given:
    """The columns of a truth and of what models say; or of a cross-validation, with its features and its truth."""
    if is_cross_validated(data):
        if len(arrays) != 2:
            raise DataError(
                "the results of a cross-validation hold neither features nor truth.", hint="evaluate(results, X, y)"
            )
        return cross_validated(data, *arrays, positive)
    if len(arrays) > 1:
        raise DataError(
            "these are more arrays than a truth and what models say.", hint='evaluate(y, {"lr": p, "tree": q})'
        )
    parts = [given_arrays(data, one, positive) for one in arrays]
    parts += [given_arrays(data, said, positive, role=role) for role, said in roles.items() if said]
    return _together(parts)


def cross_validated(results: Mapping[str, Any], features: Any, truth: Any, positive: Any = None) -> Given:
    """The columns of what the estimators of a cross-validation say of the cases that each was not fitted to."""
    missing = [name for name in _IN_FOLDS if name not in results]
    if missing:
        options = ", ".join(f"return_{name}=True" for name in _IN_FOLDS)
        raise DataError(
            f"the results of the cross-validation have no {listing(missing)}.",
            seen=listing(results),
            hint=f"cross_validate(…, {options})",
        )
    parts = []
    for number, (model, cases) in enumerate(zip(results["estimator"], results["indices"]["test"], strict=True)):
        part = _said(name_of(model), model, taken(features, cases), taken(truth, cases), positive)
        parts.append(Given(part.columns | {FOLD: np.full(len(cases), number + 1)}, part.roles | {"fold": FOLD}))
    names = {*parts[0].columns}
    odd = next((part for part in parts if {*part.columns} != names), None)
    if odd is not None:
        raise DataError(
            "the estimators of the folds know different classes.",
            seen=f"{listing(sorted(names))}; {listing(sorted(odd.columns))}",
            hint="stratified folds",
        )
    columns = {name: np.concatenate([np.asarray(part.columns[name]) for part in parts]) for name in parts[0].columns}
    return Given(columns, parts[0].roles)


def taken(values: Any, cases: Array) -> Any:
    """Some cases of an array, a list or a frame of any library."""
    if hasattr(values, "iloc"):
        return values.iloc[cases]
    if hasattr(values, "gather") or type(values).__module__.startswith("polars"):
        return values[cases]
    return values[cases] if hasattr(values, "shape") else [values[int(k)] for k in cases]
