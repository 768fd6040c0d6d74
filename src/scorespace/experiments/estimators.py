"""Bridge to scikit-learn: measures as scorers, and predictions of estimators as columns; imports nothing of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np

from scorespace.errors import DataError, MeasureError, PositiveError, ScoreSpaceError, listing
from scorespace.measures import MeasureSpec, parse
from scorespace.measures.request import bind
from scorespace.results import Note, Row
from scorespace.tables import Array, ConfusionTable, Counts, Table, class_table, residual_table
from scorespace.tables.array_tables import by_class, has_labels, is_regression_truth, table_of_arrays
from scorespace.tables.case_costs import COST_TABLES
from scorespace.tables.labels import positive_index
from scorespace.tables.rankings import RankTable

FOLD: Final = "fold"
DEFAULT_MODEL_NAME: Final = "model"
"""Name of a model that was not named."""
_CV_RESULT_KEYS: Final = ("estimator", "indices")


@dataclass(frozen=True)
class Scorer:
    """A measure as scikit-learn scorer: of a fitted estimator, features and truth; higher is better.

    Measures whose low values are good are negated. Whether decisions, scores, probabilities or numbers are predicted
    follows from the measure. Undefined values are NaN.
    """

    measure: str
    positive: Any = None

    @cached_property
    def spec(self) -> MeasureSpec:
        return parse(self.measure)

    @property
    def sign(self) -> int:
        """1 if high values are good, −1 if low ones are."""
        return -1 if self.spec.best == "low" else 1

    def __call__(self, estimator: Any, features: Any, truth: Any, sample_weight: Any = None) -> float:
        table = table_of_estimator(estimator, features, truth, self.spec, positive=self.positive, weight=sample_weight)
        return self.sign * bind(self.spec, table).value

    def __repr__(self) -> str:
        positive = "" if self.positive is None else f", positive={self.positive!r}"
        return f"scorer({self.measure!r}{positive})"


def scorer(measure: str, *, positive: Any = None) -> Scorer:
    """Make a scikit-learn scorer of a measure, for `cross_validate`, `GridSearchCV` and others.

    Parameters
    ----------
    measure : str
        The measure, such as ``"f1@0.3"``.
    positive : object, optional
        The positive class; inferred only for {0, 1}, {-1, 1} and booleans.

    Returns
    -------
    Scorer
        A scorer; measures of which low values are good are negated.

    Examples
    --------
    >>> scorer("brier"), scorer("brier").sign
    (scorer('brier'), -1)
    """
    spec = parse(measure)
    if spec.best is None:
        raise MeasureError(
            f"{spec} has no best direction, so it cannot select a model.", hint='scorer("auc"), for example'
        )
    return Scorer(str(spec), positive)


def table_of_estimator(
    estimator: Any, features: Any, truth: Any, spec: MeasureSpec, *, positive: Any = None, weight: Any = None
) -> Table:
    """Table of an estimator's predictions, as the measure needs it."""
    kinds = tuple(spec.measure.functions)
    predictions = predict_scores(estimator, features, decisions=decides_by_highest_score(spec))
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return residual_table(truth, predictions, weight=weight)
    if np.ndim(predictions) == 2 and spec.of is not None:  # an average over classes needs both
        return class_table(truth, by_class(truth, predictions, classes), weight=weight)
    table = table_of_arrays(truth, predictions, kinds, positive=positive, weight=weight, classes=classes)
    if len(table.class_names) == 2 and table.positive_name is None and table.scores_classes:
        positive_index(table.class_names)  # raises if the positive class is unknown
    return table


def decides_by_highest_score(spec: MeasureSpec) -> bool:
    """Whether a measure of decisions has no threshold, so that the highest score decides."""
    # Costs of cases and rankings only refine a measure of decisions.
    kinds = {*spec.measure.functions} - {*COST_TABLES, RankTable}
    return spec.at is None and kinds <= {Counts, ConfusionTable}


def predict_scores(estimator: Any, features: Any, *, decisions: bool = False) -> Array:
    """Predict numbers, or for classifiers scores (cases, K); `decisions` asks for decisions.

    Scores are probabilities if available, otherwise the decision function.
    """
    score_methods = ("predict_proba", "decision_function") if hasattr(estimator, "classes_") and not decisions else ()
    for method in score_methods:
        if hasattr(estimator, method):
            scores = np.asarray(getattr(estimator, method)(features))
            return scores if scores.ndim == 2 else np.stack([-scores, scores], axis=-1)
    if not hasattr(estimator, "predict"):
        raise ScoreSpaceError(f"{type(estimator).__name__} has no method predict.", hint="a fitted estimator")
    return np.asarray(estimator.predict(features))


# --- inputs of `evaluate`


@dataclass(frozen=True)
class EstimatorColumns:
    """Columns and their roles for `evaluate`; `ratio` is that of test to training cases, if known."""

    columns: dict[str, Any]
    roles: Row = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    ratio: float | None = None


def columns_of_arrays(
    truth: Any, predictions: Any, positive: Any = None, *, classes: Any = None, role: str | None = None
) -> EstimatorColumns:
    """Columns of a truth and of predictions by model: scores, class scores, decisions or numbers.

    Without a `role`, text means decisions, and numbers mean scores unless the truth is fractional.

    >>> columns_of_arrays([1, 0], {"lr": [[0.2, 0.8], [0.7, 0.3]]}).roles
    {'truth': 'truth', 'scores': {'lr': 'lr'}}
    """
    models = predictions if isinstance(predictions, Mapping) else {DEFAULT_MODEL_NAME: predictions}
    if not models:
        raise DataError("there is nothing to evaluate: no model.", hint='evaluate(y, {"lr": p})')
    name = next(column for column in ("truth", "actual", "the truth") if column not in models)
    columns: dict[str, Any] = {name: truth}
    roles: Row = {"truth": name}
    for model, prediction in models.items():
        by_class_scores = (
            by_class(truth, prediction, classes)
            if isinstance(prediction, Mapping) or np.ndim(prediction) == 2
            else None
        )
        single_class = None if by_class_scores is None else _sufficient_class(by_class_scores, positive)
        if by_class_scores is None or single_class is not None:
            columns[model] = (
                prediction if by_class_scores is None or single_class is None else by_class_scores[single_class]
            )
            default_role = (
                "predictions" if is_regression_truth(truth) else "decisions" if has_labels(columns[model]) else "scores"
            )
            roles.setdefault(role or default_role, {})[model] = model
        else:
            columns |= {f"{model}_{label}": values for label, values in by_class_scores.items()}
            roles.setdefault("scores", {})[model] = {label: f"{model}_{label}" for label in by_class_scores}
    sizes = {column: np.size(values) for column, values in columns.items()}
    if len({*sizes.values()}) > 1:
        seen = ", ".join(f"{size} in {column}" for column, size in sizes.items())
        raise DataError("the arrays differ in length.", seen=seen, hint="one value per case in every array")
    return EstimatorColumns(columns, roles)


def _sufficient_class(scores: Mapping[str, Any], positive: Any) -> str | None:
    """Of two classes, the positive one, whose scores suffice, if it is known."""
    names = tuple(scores)
    try:
        return names[positive_index(names, positive)] if len(names) == 2 else None
    except PositiveError:
        if positive is not None:
            raise
        return None


def columns_of_estimators(models: Any, features: Any, truth: Any, positive: Any = None) -> EstimatorColumns:
    """Columns of the predictions of fitted estimators."""
    named = models if isinstance(models, Mapping) else {estimator_name(models): models}
    if not named:
        raise DataError("there is nothing to evaluate: no estimator.", hint="evaluate_estimator(model, X, y)")
    return _merge_columns(
        [_columns_of_estimator(name, model, features, truth, positive) for name, model in named.items()]
    )


def _columns_of_estimator(name: str, estimator: Any, features: Any, truth: Any, positive: Any) -> EstimatorColumns:
    classes = getattr(estimator, "classes_", None)
    role = "predictions" if classes is None else None
    return columns_of_arrays(truth, {name: predict_scores(estimator, features)}, positive, classes=classes, role=role)


def _merge_columns(parts: list[EstimatorColumns]) -> EstimatorColumns:
    columns: dict[str, Any] = {}
    roles: Row = {}
    for part in parts:
        columns |= part.columns
        for role, columns_of_role in part.roles.items():
            roles[role] = (
                {**roles.get(role, {}), **columns_of_role} if isinstance(columns_of_role, dict) else columns_of_role
            )
    return EstimatorColumns(columns, roles)


def estimator_name(estimator: Any) -> str:
    """Class name of an estimator, of the last step of a pipeline, or of a search's best estimator."""
    inner = getattr(estimator, "best_estimator_", estimator)
    steps = getattr(inner, "steps", None)
    return type(steps[-1][1] if steps else inner).__name__


def is_cross_validated(data: Any) -> bool:
    """Whether data is the result of scikit-learn's `cross_validate`."""
    return isinstance(data, Mapping) and {"fit_time", "score_time"} <= {*data}


def has_arrays(roles: Mapping[str, Any]) -> bool:
    """Whether roles hold arrays of predictions rather than column names."""
    values = (value for role in roles.values() if isinstance(role, Mapping) for value in role.values())
    return any(not isinstance(value, str | Mapping) for value in values)


def columns_of_inputs(
    data: Any, arrays: tuple[Any, ...], roles: Mapping[str, Any], positive: Any = None
) -> EstimatorColumns:
    """Columns of truth and predictions, or of a cross-validation with its features and truth."""
    if is_cross_validated(data):
        if len(arrays) != 2:
            raise DataError(
                "results of a cross-validation need the features and the truth.", hint="evaluate(results, X, y)"
            )
        return columns_of_cross_validation(data, *arrays, positive)
    if len(arrays) > 1:
        raise DataError("there are more arrays than a truth and predictions.", hint='evaluate(y, {"lr": p, "tree": q})')
    parts = [columns_of_arrays(data, array, positive) for array in arrays]
    parts += [columns_of_arrays(data, models, positive, role=role) for role, models in roles.items() if models]
    return _merge_columns(parts)


def columns_of_cross_validation(
    results: Mapping[str, Any], features: Any, truth: Any, positive: Any = None
) -> EstimatorColumns:
    """Columns of out-of-fold predictions of a cross-validation."""
    missing = [name for name in _CV_RESULT_KEYS if name not in results]
    if missing:
        options = ", ".join(f"return_{name}=True" for name in _CV_RESULT_KEYS)
        raise DataError(
            f"the results of the cross-validation lack {listing(missing)}.",
            seen=listing(results),
            hint=f"cross_validate(…, {options})",
        )
    parts = []
    for number, (model, cases) in enumerate(zip(results["estimator"], results["indices"]["test"], strict=True)):
        part = _columns_of_estimator(
            estimator_name(model), model, take_cases(features, cases), take_cases(truth, cases), positive
        )
        parts.append(
            EstimatorColumns(part.columns | {FOLD: np.full(len(cases), number + 1)}, part.roles | {"fold": FOLD})
        )
    names = {*parts[0].columns}
    different = next((part for part in parts if {*part.columns} != names), None)
    if different is not None:
        raise DataError(
            "the estimators of the folds were trained on different classes.",
            seen=f"{listing(sorted(names))}; {listing(sorted(different.columns))}",
            hint="use stratified folds",
        )
    columns = {name: np.concatenate([np.asarray(part.columns[name]) for part in parts]) for name in parts[0].columns}
    return EstimatorColumns(columns, parts[0].roles)


def take_cases(values: Any, cases: Array) -> Any:
    """Select cases of an array, list or frame of any library."""
    if hasattr(values, "iloc"):
        return values.iloc[cases]
    if hasattr(values, "gather") or type(values).__module__.startswith("polars"):
        return values[cases]
    return values[cases] if hasattr(values, "shape") else [values[int(k)] for k in cases]
