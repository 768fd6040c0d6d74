"""Fit learners to the training rows of splits and predict their test rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorespace.dependencies import import_optional
from scorespace.errors import (
    FitError,
    MeasureError,
    ScoreSpaceError,
    escape_control_characters,
    listing,
    one_line_message,
)
from scorespace.experiments.data import PREFIX, Dataset
from scorespace.experiments.estimators import Scorer, predict_scores, take_cases
from scorespace.experiments.leakage_checks import Rows, TrainTestSplit
from scorespace.experiments.learners import ResolvedLearner
from scorespace.measures import parse
from scorespace.results import grouped

Array = NDArray[np.float64]

_MAX_WARNINGS: Final = 5


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of a fitted model: a column per class, or one of numbers; with the model."""

    test: Array = field(repr=False)
    train: Array | None = field(repr=False)
    model: Any = field(repr=False)


@dataclass(frozen=True, eq=False)
class FinishedJob:
    """Columns of a finished job, with timings, errors and warnings.

    `inner` holds inner scores of searches within the training rows, by the measure `chosen_by`.
    """

    columns: dict[str, NDArray[Any]] = field(repr=False)
    splits: tuple[tuple[int, int, int, int, float], ...]
    errors: tuple[tuple[int, int, str], ...] = ()
    warned: tuple[str, ...] = ()
    inner: tuple[tuple[int, int, float], ...] = ()
    chosen_by: str = ""


def check_task(learner: ResolvedLearner, data: Dataset) -> None:
    """Refuse a classifier for a numeric target, and a regressor for classes."""
    if learner.tasks and data.task not in learner.tasks:
        other = "numbers" if data.task == "classes" else "classes"
        raise ScoreSpaceError(
            f"{learner.name} predicts {other}, but the target of {data.name} holds {data.task}.",
            seen=f"{listing(data.classes)}" if data.task == "classes" else "numbers",
            hint=f'use another learner, or task="{other}"',
        )


def fit_predict(
    learner: ResolvedLearner,
    data: Dataset,
    split: TrainTestSplit,
    seed: int = 0,
    *,
    train: bool = False,
    truth: NDArray[Any] | None = None,
) -> Predictions:
    """Fit to the training rows and predict the test rows, and with `train` the training rows.

    `truth` replaces the labels, such as by permuted ones: class indices or numbers by row.
    """
    with fit_errors(learner, int(split.train.size)):
        return _fit_predict(learner, data, split, seed, train=train, truth=truth)


@contextmanager
def fit_errors(learner: ResolvedLearner, rows: int) -> Iterator[None]:
    """Convert any error of a learner into FitError with its name."""
    try:
        yield
    except ScoreSpaceError:
        raise
    except (Exception, SystemExit) as error:
        raise FitError(
            f"{learner.name} cannot be fitted to {grouped(rows)} rows.",
            seen=one_line_message(error, 300),
            hint="use other options of the learner, or more rows",
        ) from error


def _fit_predict(
    learner: ResolvedLearner,
    data: Dataset,
    split: TrainTestSplit,
    seed: int,
    *,
    train: bool,
    truth: NDArray[Any] | None = None,
) -> Predictions:
    model = learner.estimator(data, fit_seed(seed, split))
    design = learner.design(data)
    if data.task == "classes":
        codes = data.codes if truth is None else truth
        names = np.empty(len(data.classes), dtype=data.truth.dtype)
        names[data.codes] = data.truth
        target: NDArray[Any] = names[codes] if learner.labels else codes
        order: NDArray[Any] = names if learner.labels else np.arange(len(data.classes))
    else:
        target = data.truth if truth is None else truth
        order = np.zeros(0)
    model.fit(take_cases(design, split.train), target[split.train])
    in_training = np.unique(split.train) if train or not split.test.size else None
    return Predictions(
        _predict_rows(model, design, split.test, order),
        None if in_training is None else _predict_rows(model, design, in_training, order),
        model,
    )


def fit_seed(seed: int, split: TrainTestSplit) -> int:
    """Seed of one fit: the same for all learners, different for each split."""
    return int(np.random.SeedSequence([seed, split.repeat + 1, split.fold]).generate_state(1)[0])


def fit_all(
    learner: ResolvedLearner, data: Dataset, splits: Sequence[TrainTestSplit], seed: int, *, train: bool = False
) -> FinishedJob:
    """Fit all splits of a job on one thread; a failure is recorded and does not stop the rest."""
    control = import_optional("threadpoolctl", "experiments")
    tables: list[dict[str, NDArray[Any]]] = []
    timings, errors, warned = [], [], dict[str, None]()
    inner, chosen_by = [], ""
    with (
        warnings.catch_warnings(record=True) as caught,
        control.threadpool_limits(1),
    ):  # otherwise sums depend on the number of cores
        warnings.simplefilter("always")
        for split in splits:
            began = time.perf_counter()
            try:
                predictions = _fit_predict(learner, data, split, seed, train=train)
                parts = [_prediction_table(data, split, split.test, predictions.test, "test")]
                if predictions.train is not None:
                    parts.append(_prediction_table(data, split, np.unique(split.train), predictions.train, "train"))
                tables += parts
                if (inner_result := inner_score(predictions.model)) is not None:
                    inner.append((split.repeat, split.fold, inner_result.value))
                    chosen_by = inner_result.measure
            except (Exception, SystemExit) as error:  # a failing learner must not stop the others
                errors.append((split.repeat, split.fold, escape_control_characters(one_line_message(error, 500))))
            timings.append(
                (split.repeat, split.fold, split.train.size, split.test.size, round(time.perf_counter() - began, 6))
            )
        for warning in caught:
            warned[f"{warning.category.__name__}: {warning.message}".split("\n")[0][:200]] = None
    record = tuple(timings), tuple(errors), tuple(warned)[:_MAX_WARNINGS], tuple(inner)
    return FinishedJob(_stack_tables(tables, data), *record, chosen_by)


class InnerScore(NamedTuple):
    """Score of a search on inner folds, and its measure; empty if unknown to scorespace."""

    value: float
    measure: str


def inner_score(model: Any) -> InnerScore | None:
    """Inner score of an estimator that selects something within its training rows; None if it does not.

    Scikit-learn searches have `best_score_`, where high is good; estimators of scorespace have `inner_score_` in the
    units of their measure.
    """
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if hasattr(last, "inner_score_"):
        return InnerScore(float(last.inner_score_), str(last.measure))
    if not hasattr(last, "best_score_"):
        return None
    name, sign = _search_measure(last)
    return InnerScore(sign * float(last.best_score_), name)


def _search_measure(search: Any) -> tuple[str, int]:
    """Measure that a search selects by, and the sign of its scores; scikit-learn's names are aliases."""
    scorer, named = getattr(search, "scorer_", None), getattr(search, "scoring", None)
    if isinstance(scorer, Mapping):  # of several scores, `refit` names the selecting one
        scorer, named = (
            scorer.get(search.refit),
            named.get(search.refit) if isinstance(named, Mapping) else search.refit,
        )
    if isinstance(scorer, Scorer):
        return scorer.measure, scorer.sign
    if named is None and hasattr(search, "best_estimator_"):  # the default score of the estimator
        return ("acc" if hasattr(search, "classes_") else "r2"), 1
    name = str(named).removeprefix("neg_")
    try:
        return parse(name).canonical, -1 if name != named else 1
    except MeasureError:
        return "", 1


def _predict_rows(model: Any, design: Any, rows: Rows, order: NDArray[Any]) -> Array:
    """Scores (rows, classes) in class order, 0 for classes absent from training; or numbers (rows, 1)."""
    if not rows.size:
        return np.zeros((0, max(1, order.size)))
    predictions = predict_scores(model, take_cases(design, rows), decisions=not order.size)
    if not order.size:
        scores = predictions.astype(np.float64).reshape(-1, 1)
    elif predictions.ndim == 1:
        scores = (predictions[:, None] == order).astype(np.float64)
    else:
        scores = np.full(
            (len(predictions), order.size), 0.0 if hasattr(model, "predict_proba") else float(predictions.min())
        )
        index_of_class = {name: column for column, name in enumerate(order.tolist())}
        scores[:, [index_of_class[name] for name in np.asarray(model.classes_).tolist()]] = predictions
    if scores.shape[0] != rows.size or not np.isfinite(scores).all():
        raise ValueError("the predictions are not finite for every row")
    return scores


def _prediction_table(
    data: Dataset, split: TrainTestSplit, rows: Rows, predictions: Array, part: str
) -> dict[str, NDArray[Any]]:
    return {
        "row": rows.astype(np.int64),
        "repeat": np.full(rows.size, split.repeat, dtype=np.int32),
        "fold": np.full(rows.size, split.fold, dtype=np.int32),
        "part": np.full(rows.size, part == "train", dtype=bool),
        **{name: predictions[:, column] for column, name in enumerate(prediction_columns(data))},
    }


def prediction_columns(data: Dataset) -> list[str]:
    """Names of the prediction columns."""
    return [f"{PREFIX}{name}" for name in data.classes] if data.task == "classes" else ["prediction"]


def _stack_tables(tables: list[dict[str, NDArray[Any]]], data: Dataset) -> dict[str, NDArray[Any]]:
    """Concatenate tables, and add truth (class index or number) and group of each row."""
    if not tables:
        no_rows = np.zeros(0, dtype=np.int64)
        tables = [
            _prediction_table(
                data,
                TrainTestSplit(0, 0, no_rows, no_rows),
                no_rows,
                np.zeros((0, len(prediction_columns(data)))),
                "test",
            )
        ]
    stacked = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
    truth = data.codes if data.task == "classes" else data.truth.astype(np.float64)
    only_grouping = (
        next(iter(data.groups.values())) if len(data.groups) == 1 else None
    )  # crossed groupings have no single unit
    grouping = {} if only_grouping is None else {"group": only_grouping[stacked["row"]].astype(np.int64)}
    return {**stacked, "truth": truth[stacked["row"]], **grouping}
