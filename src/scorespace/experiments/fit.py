"""One learner, one split: fitted to the training rows, asked about the test rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import FitError, MeasureError, ScoreSpaceError, in_one_line, listing, shown
from scorespace.experiments.data import PREFIX, Dataset
from scorespace.experiments.estimators import Scorer, answers, taken
from scorespace.experiments.golden import Rows, Split
from scorespace.experiments.learners import Fitting
from scorespace.frozen import dataclass
from scorespace.measures import parse
from scorespace.parts import required
from scorespace.results import grouped

Array = NDArray[np.float64]

_MOST_WARNINGS: Final = 5


@dataclass(frozen=True, eq=False)
class Predicted:
    """What a fitted model says of rows: a column per class, or one of predictions; with the model that says it."""

    test: Array = field(repr=False)
    train: Array | None = field(repr=False)
    model: Any = field(repr=False)


@dataclass(frozen=True, eq=False)
class Done:
    """The columns of a finished job, and what happened on the way.

    `inner` are the scores that a choice inside the training rows promised, by the measure `chosen_by`.
    """

    columns: dict[str, NDArray[Any]] = field(repr=False)
    splits: tuple[tuple[int, int, int, int, float], ...]
    errors: tuple[tuple[int, int, str], ...] = ()
    warned: tuple[str, ...] = ()
    inner: tuple[tuple[int, int, float], ...] = ()
    chosen_by: str = ""


def check_task(learner: Fitting, data: Dataset) -> None:
    """Refuse a learner of classes on numbers, and the reverse."""
    if learner.tasks and data.task not in learner.tasks:
        other = "numbers" if data.task == "classes" else "classes"
        raise ScoreSpaceError(
            f"{learner.name} predicts {other}, and the target of {data.name} holds {data.task}.",
            seen=f"{listing(data.classes)}" if data.task == "classes" else "numbers",
            hint=f'another learner, or task="{other}" if that is meant',
        )


def fit_predict(
    learner: Fitting,
    data: Dataset,
    split: Split,
    seed: int = 0,
    *,
    train: bool = False,
    truth: NDArray[Any] | None = None,
) -> Predicted:
    """Fit to the training rows and predict the test rows, and with `train` the training rows, too.

    `truth` are other labels to learn from, by row, such as permuted ones: codes of classes, or numbers.
    """
    with told(learner, int(split.train.size)):
        return _fit_predict(learner, data, split, seed, train=train, truth=truth)


@contextmanager
def told(learner: Fitting, rows: int) -> Iterator[None]:
    """Whatever a learner does when it is fitted, told by its name."""
    try:
        yield
    except ScoreSpaceError:
        raise
    except (Exception, SystemExit) as error:
        raise FitError(
            f"{learner.name} cannot be fitted to {grouped(rows)} rows.",
            seen=in_one_line(error, 300),
            hint="other options of the learner, or more rows",
        ) from error


def _fit_predict(
    learner: Fitting, data: Dataset, split: Split, seed: int, *, train: bool, truth: NDArray[Any] | None = None
) -> Predicted:
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
    model.fit(taken(design, split.train), target[split.train])
    in_training = np.unique(split.train) if train or not split.test.size else None
    return Predicted(
        _answers(model, design, split.test, order),
        None if in_training is None else _answers(model, design, in_training, order),
        model,
    )


def fit_seed(seed: int, split: Split) -> int:
    """The seed of one fit: the same for all learners, another for each split."""
    return int(np.random.SeedSequence([seed, split.repeat + 1, split.fold]).generate_state(1)[0])


def fit_all(learner: Fitting, data: Dataset, splits: Sequence[Split], seed: int, *, train: bool = False) -> Done:
    """All splits of a job one after the other, on one thread; one that fails is recorded and does not stop the rest."""
    control = required("threadpoolctl", "experiments")
    tables: list[dict[str, NDArray[Any]]] = []
    about, errors, warned = [], [], dict[str, None]()
    inner, chosen_by = [], ""
    with warnings.catch_warnings(record=True) as said, control.threadpool_limits(1):  # else sums depend on the cores
        warnings.simplefilter("always")
        for split in splits:
            began = time.perf_counter()
            try:
                found = _fit_predict(learner, data, split, seed, train=train)
                parts = [_table(data, split, split.test, found.test, "test")]
                if found.train is not None:
                    parts.append(_table(data, split, np.unique(split.train), found.train, "train"))
                tables += parts
                if (promised := inner_score(found.model)) is not None:
                    inner.append((split.repeat, split.fold, promised.value))
                    chosen_by = promised.measure
            except (Exception, SystemExit) as error:  # whatever a learner does must not stop the others
                errors.append((split.repeat, split.fold, shown(in_one_line(error, 500))))
            about.append(
                (split.repeat, split.fold, split.train.size, split.test.size, round(time.perf_counter() - began, 6))
            )
        for one in said:
            warned[f"{one.category.__name__}: {one.message}".split("\n")[0][:200]] = None
    told = tuple(about), tuple(errors), tuple(warned)[:_MOST_WARNINGS], tuple(inner)
    return Done(_stacked(tables, data), *told, chosen_by)


class Promised(NamedTuple):
    """A score on inner folds, and its measure; nothing where that is none of ours."""

    value: float
    measure: str


def inner_score(model: Any) -> Promised | None:
    """What a fitted estimator that chose something inside its training rows promises; None where it chose nothing.

    A search of scikit-learn has `best_score_`, for which high is always good; estimators of ours have `inner_score_`,
    in the units of their measure.
    """
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if hasattr(last, "inner_score_"):
        return Promised(float(last.inner_score_), str(last.measure))
    if not hasattr(last, "best_score_"):
        return None
    name, sign = _scored_by(last)
    return Promised(sign * float(last.best_score_), name)


def _scored_by(search: Any) -> tuple[str, int]:
    """The measure that a search chooses by, and the sign of its scores; scikit-learn's names are aliases of ours."""
    scorer, named = getattr(search, "scorer_", None), getattr(search, "scoring", None)
    if isinstance(scorer, Mapping):  # of several scores, `refit` names the one that chose
        scorer, named = (
            scorer.get(search.refit),
            named.get(search.refit) if isinstance(named, Mapping) else search.refit,
        )
    if isinstance(scorer, Scorer):
        return scorer.measure, scorer.sign
    if named is None and hasattr(search, "best_estimator_"):  # then by the estimator's own score
        return ("acc" if hasattr(search, "classes_") else "r2"), 1
    name = str(named).removeprefix("neg_")
    try:
        return parse(name).canonical, -1 if name != named else 1
    except MeasureError:
        return "", 1


def _answers(model: Any, design: Any, rows: Rows, order: NDArray[Any]) -> Array:
    """(rows, classes) scores in the order of the classes, 0 for one that training lacked; or (rows, 1) predictions."""
    if not rows.size:
        return np.zeros((0, max(1, order.size)))
    said = answers(model, taken(design, rows), decided=not order.size)
    if not order.size:
        found = said.astype(np.float64).reshape(-1, 1)
    elif said.ndim == 1:
        found = (said[:, None] == order).astype(np.float64)
    else:
        found = np.full((len(said), order.size), 0.0 if hasattr(model, "predict_proba") else float(said.min()))
        place = {name: column for column, name in enumerate(order.tolist())}
        found[:, [place[name] for name in np.asarray(model.classes_).tolist()]] = said
    if found.shape[0] != rows.size or not np.isfinite(found).all():
        raise ValueError("the predictions are not a finite number for every row")
    return found


def _table(data: Dataset, split: Split, rows: Rows, answers: Array, part: str) -> dict[str, NDArray[Any]]:
    return {
        "row": rows.astype(np.int64),
        "repeat": np.full(rows.size, split.repeat, dtype=np.int32),
        "fold": np.full(rows.size, split.fold, dtype=np.int32),
        "part": np.full(rows.size, part == "train", dtype=bool),
        **{name: answers[:, column] for column, name in enumerate(columns_of(data))},
    }


def columns_of(data: Dataset) -> list[str]:
    """The names of the columns with predictions."""
    return [f"{PREFIX}{name}" for name in data.classes] if data.task == "classes" else ["prediction"]


def _stacked(tables: list[dict[str, NDArray[Any]]], data: Dataset) -> dict[str, NDArray[Any]]:
    """One table of all, with the truth by its place among the classes, or as a number, and the group of each row."""
    if not tables:
        nothing = np.zeros(0, dtype=np.int64)
        tables = [_table(data, Split(0, 0, nothing, nothing), nothing, np.zeros((0, len(columns_of(data)))), "test")]
    whole = {name: np.concatenate([one[name] for one in tables]) for name in tables[0]}
    truth = data.codes if data.task == "classes" else data.truth.astype(np.float64)
    alone = next(iter(data.groups.values())) if len(data.groups) == 1 else None  # of crossed ones none is the unit
    grouping = {} if alone is None else {"group": alone[whole["row"]].astype(np.int64)}
    return {**whole, "truth": truth[whole["row"]], **grouping}
